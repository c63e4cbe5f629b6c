"""State that an iteration computes behind its loss: its graph is run by no pass before the step that makes it stale, and detaching is
what helps.
"""

import re

import pytest

HEAD = "import agdbg_engine as ag; from agdbg_engine import nn, optim\nag.manual_seed(0)\n"
PREDICT = """
cell, head = nn.GRUCell(2, 2), nn.Linear(2, 2)
opt = optim.SGD([*cell.parameters(), *head.parameters()], lr=.1)
h = ag.zeros(1, 2)
for x in ag.randn(4, 1, 2):
    loss = (head(h) - x).pow(2).sum()
    h = cell(x, h)
    opt.zero_grad(); loss.backward(); opt.step()
"""
MODULE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.cell = nn.GRUCell(2, 2); self.head = nn.Linear(2, 2); self.h = None
    def forward(self, x):
        h = self.h if self.h is not None else ag.zeros(1, 2)
        y = self.head(h)
        self.h = self.cell(x, h)
        return y
net = Net(); opt = optim.SGD(net.parameters(), lr=.1)
for x in ag.randn(4, 1, 2):
    loss = (net(x) - x).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
VALUES = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)); opt = optim.SGD(net.parameters(), lr=.1)
v = net(ag.randn(3))
for t in range(4):
    s2 = ag.randn(3); v2 = net(s2)
    loss = (1 + .9 * v2.detach() - v).pow(2).sum()
    opt.zero_grad(); loss.backward(); opt.step()
    v = v2
"""
INNER = """
net = nn.Linear(2, 2); opt = optim.SGD(net.parameters(), lr=.1)
theta = ag.zeros(2)
for outer in range(4):
    total = 0
    for k in range(2):
        total = total + (theta - 1).pow(2).sum()
        theta = theta + net(theta)
    opt.zero_grad()
    if total.requires_grad: total.backward()
    opt.step()
"""
LEARNED = """
upd = nn.LSTMCell(1, 1); opt = optim.Adam(upd.parameters())
theta = ag.zeros(3, 1, requires_grad=True); st = (ag.zeros(3, 1), ag.zeros(3, 1))
for outer in range(3):
    total = 0
    for k in range(2):
        loss = (theta - 1).pow(2).sum(); total = total + loss
        g, = ag.autograd.grad(loss, theta, create_graph=True)
        st = upd(g, st)
        theta = theta + st[0]
    opt.zero_grad(); total.backward(); opt.step()
"""
TWO = """
a, b, head = nn.GRUCell(2, 2), nn.GRUCell(2, 2), nn.Linear(2, 2)
opt = optim.SGD([*a.parameters(), *b.parameters(), *head.parameters()], lr=.1)
h, s = ag.zeros(1, 2), ag.zeros(1, 2)
for x in ag.randn(4, 1, 2):
    loss = (head(h) + head(s) - x).pow(2).sum()
    h = a(x, h)
    s = b(x, s)
    opt.zero_grad(); loss.backward(); opt.step()
"""
PROGRAMS = {
    "predict, then update": PREDICT, "of a module": MODULE, "inner loop": INNER, "learned optimizer": LEARNED, "two states": TWO,
}  # fmt: skip


@pytest.fixture
def programs(carried):
    return carried(HEAD)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_no_pass_has_run_is_detached_and_the_fix_runs_as_it_stands(programs, name):
    said = programs.run(PROGRAMS[name]).stdout
    assert "inplace-modified, certain" in said and "the graph reaches back into an earlier iteration" in said, said
    fix = programs.fix_in(said)
    assert "retain_graph" not in fix and "Run the forward again" not in fix, fix
    fix, _, costs = fix.partition(". Then ")
    mended = programs.run(programs.applied(PROGRAMS[name], fix))
    assert "uncaught" not in mended.stdout and mended.status == (3 if costs else 0), (fix, mended.stdout)
    for parameter in re.findall(r"`([\w.]+)`", costs.partition(" no gradient")[0]):
        assert f"`{parameter}`" in mended.stdout


AGAIN = "at the beginning of the next iteration, behind `opt.step()` at line"


def test_where_nothing_would_be_left_to_train_it_is_computed_again(programs):
    fix = programs.fix(VALUES)
    assert (
        fix.startswith("Carry over no result that was computed before the step")
        and f"`net(s2)` (line 7) {AGAIN} 9" in fix
    )
    mended = (
        VALUES.replace("v = v2", "s = s2")
        .replace("    s2 =", "    v = net(s)\n    s2 =")
        .replace("v = net(ag.randn(3))", "s = ag.randn(3)")
    )
    assert programs.run(mended).status == 0
    detached = programs.run(VALUES.replace("v = v2", "v = v2.detach()"))
    assert "does not require grad" in detached.stderr


def test_what_is_trained_no_more_can_be_computed_where_its_loss_is(programs):
    fix = programs.fix(PREDICT)
    assert (
        "since `h` goes into no loss of the iteration that computes it" in fix
        and f"`cell(x, h)` (line 9) {AGAIN} 10" in fix
    )
    mended = PREDICT.replace("h = ag.zeros(1, 2)", "h = ag.zeros(1, 2); last = ag.zeros(1, 2)")
    mended = mended.replace("    h = cell(x, h)\n", "").replace(
        "    loss", "    h = cell(last, h.detach()); last = x\n    loss"
    )
    assert programs.run(mended).status == 0


def test_what_is_differentiated_by_requires_gradients_again(programs):
    fix = programs.fix(LEARNED)
    assert "`theta = theta.detach().requires_grad_()`" in fix and "`st = tuple(each.detach() for each in st)`" in fix


#: Graphs that were made before a step by a line that no iteration hands on to the next.
OTHERS = {
    "losses that wait": """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)); opt = optim.SGD(net.parameters(), lr=.1)
waiting = []
for i in range(4):
    waiting.append(net(ag.randn(3)).pow(2).sum())
    if len(waiting) > 1:
        waiting.pop(0).backward(); opt.step()
""",
    "two steps of one turn": """
net, head = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), nn.Linear(1, 1)
opt = optim.SGD([*net.parameters(), *head.parameters()], lr=.1)
for i in range(2):
    one, two = [net(ag.randn(3)) for _ in range(2)]
    head(one).sum().backward(); opt.step()
    head(two).sum().backward(); opt.step()
""",
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_one_turn_computed_before_a_step_is_no_carried_state(programs, name):
    said = programs.run(OTHERS[name]).stdout
    assert "inplace-modified, certain" in said and "earlier iteration" not in said, said
