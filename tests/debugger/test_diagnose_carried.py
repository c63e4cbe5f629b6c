"""What is carried from one iteration to the next with its graph: it is named as it is held, and the fix runs clean."""

import pytest

HEAD = """import agdbg_engine as ag; from agdbg_engine import nn, optim
ag.manual_seed(0)
lin = nn.Linear(3, 3)
opt = optim.SGD(lin.parameters(), lr=.1)
"""

GENERATOR = """
def roll():
    h = ag.zeros(3)
    while True:
        x = yield h
        h = ag.tanh(lin(h) + x)
g = roll(); next(g)
for i in range(3):
    out = g.send(ag.ones(3))
    out.sum().backward()
"""
MOMENTUM = """
w = ag.ones(3, requires_grad=True); v = ag.zeros(3)
for i in range(3):
    cur = w - 0.1 * v
    loss = (cur ** 2).sum()
    g, = ag.autograd.grad(loss, w, create_graph=True)
    v = 0.9 * v + g
    loss.backward()
"""
BUFFER = """
class Ema(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = lin
        self.register_buffer('running', ag.zeros(3))
    def forward(self, x):
        y = self.lin(x)
        self.running = 0.9 * self.running + 0.1 * y.mean(0)
        return ((y - self.running) ** 2).mean()
m = Ema()
for step in range(3):
    m(ag.ones(4, 3)).backward()
"""
ITEM = """
prev = [None]
def closure(x):
    h = lin(x if prev[0] is None else x + prev[0])
    prev[0] = h
    return h.pow(2).mean()
for _ in range(3):
    loss = closure(ag.ones(2, 3))
    loss.backward()
"""
KEY = """
cell = nn.GRUCell(2, 3)
mem = {'h': ag.zeros(1, 3)}
def step(x):
    mem['h'] = cell(x, mem['h'])
    return mem['h'].pow(2).sum()
for t in range(3):
    loss = step(ag.ones(1, 2))
    loss.backward()
"""
#: Script, what is carried, what the fix says, and what that does to the script.
CARRIED = {
    "generator": (GENERATOR, "`h`", "`h = h.detach()` behind the `yield` at line 9", "x = yield h", "; h = h.detach()"),
    "momentum": (MOMENTUM, "`v`", "Detach `v` before the next iteration uses it: `v = v.detach()`", "loss.backward()", "; v = v.detach()"),
    "buffer": (BUFFER, "`self.running`", "after `m(ag.ones(4, 3)).backward()` at line 17: `m.running = m.running.detach()`", "3)).backward()", "; m.running = m.running.detach()"),
    "buffer, inside": (BUFFER, "`self.running`", "at its beginning: `self.running = self.running.detach()`", "y = self.lin(x)", "; self.running = self.running.detach()"),
    "item": (ITEM, "`h`", "`prev[0] = h.detach()` in place of `prev[0] = h` at line 9", "prev[0] = h", ".detach()"),
    "key": (KEY, "`mem['h']`", "after `loss.backward()` at line 13: `mem['h'] = mem['h'].detach()`", "loss.backward()", "; mem['h'] = mem['h'].detach()"),
}  # fmt: skip


@pytest.fixture
def programs(carried):
    return carried(HEAD)


@pytest.mark.parametrize("name", CARRIED)
def test_what_is_carried_is_named_and_cutting_it_there_runs_clean(programs, name):
    text, carried, fix, line, more = CARRIED[name]
    said = programs.run(text).stdout
    assert f"into the previous iteration through {carried}, made at line" in said and "backward-twice, certain" in said
    assert fix in said and "Not inside" not in said and "state = state" not in said
    assert text.count(line + "\n") == 1
    assert programs.run(text.replace(line + "\n", line + more + "\n")).status == 0


SEVERAL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = lin
        self.h = ag.zeros(3)
    def step(self, x):
        self.h = ag.tanh(self.lin(self.h) + x)
        return self.h
net = Net()
for i in range(3):
    loss = sum(net.step(ag.ones(3)).sum() for _ in range(4))
    loss.backward()
"""


def test_a_state_that_several_calls_of_an_iteration_share_is_not_cut_inside(programs):
    said = programs.run(SEVERAL).stdout
    assert "`net.h = net.h.detach()`" in said and "Not inside `Net.step`: it runs several times" in said
    assert (
        programs.run(SEVERAL.replace("    loss.backward()", "    loss.backward(); net.h = net.h.detach()")).status == 0
    )


BEHIND = """
kept = []
def train():
    for i in range(3):
        out = lin(ag.ones(3)).tanh()
        out.sum().backward()
        STEP
        kept.append(out)
train()
kept[0].mean().backward()
"""


@pytest.mark.parametrize(
    ("step", "fix"),
    [
        ("pass", "Pass retain_graph=True to the first call, line 10, or compute `out` again before"),
        ("opt.step()", "changed parameters that `out` was computed with: compute `out` again after the step"),
    ],
)
def test_a_call_behind_the_loop_is_no_iteration(programs, step, fix):
    said = programs.run(BEHIND.replace("STEP", step)).stdout
    assert (
        "iteration" not in said and "which `kept[0].mean().backward()` at line 14 needs as well" in said and fix in said
    )
    if step == "pass":
        kept = BEHIND.replace("STEP", step).replace("sum().backward()", "sum().backward(retain_graph=True)")
        assert "backward-twice" not in programs.run(kept).stdout


@pytest.mark.parametrize(
    ("added", "fix"),
    [
        ("loss = (w ** 2).sum(); total = total + loss", "Call backward() on the loss of this iteration alone, `loss.backward()` in"),
        ("total = total + (w ** 2).sum()", "Name the loss of this iteration, `loss = ...`, and differentiate it alone, `loss.backward()` in"),
    ],
    ids=["named", "without a name"],
)  # fmt: skip
def test_of_a_running_sum_that_is_differentiated_what_was_added_is(programs, added, fix):
    text = f"w = ag.ones(3, requires_grad=True); total = 0\nfor i in range(3):\n    {added}\n    total.backward()\n"
    assert f"{fix} place of `total.backward()`" in programs.run(text).stdout
