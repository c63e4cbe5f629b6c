"""A state that a cell of one's own makes: in an inner loop over several, in several objects of one class, in a tensor written by index.

What carries it is detached in the form that it has: the fix is put into the program, which then runs.
"""

import pytest

HEAD = "import agdbg_engine as ag; from agdbg_engine import nn, optim\nag.manual_seed(0)\n"
END = """    loss = x.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CELL = """class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)
        self.mem = None
    def forward(self, x, h=None):
        {body}
"""
TANH = "return ag.tanh(self.l(x) + h)"
CELLS = "cells = nn.ModuleList([Cell(), Cell()]); opt = optim.SGD(cells.parameters(), lr=.1)\n"
FUNCTION = """def cell(x, h, w):
    new = ag.tanh(x @ w + h)
    return new
ws = [ag.randn(3, 3, requires_grad=True) for _ in range(2)]; opt = optim.SGD(ws, lr=.1)
"""
PAIR = "c = ag.sigmoid(self.l(x)) * h[1] + ag.tanh(h[0])\n        new = ag.tanh(c)\n        return new, c"
STACK = """class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([Cell(), Cell()]); self.h = [ag.zeros(1, 3) for _ in range(2)]
    def forward(self, x):
        for i, cell in enumerate(self.cells):
            self.h[i] = x = cell(x, self.h[i])
        return x
net = Stack(); opt = optim.SGD(net.parameters(), lr=.1)
"""
KEEPING = "{first}self.mem = ag.tanh(self.l(x) + {mem})\n        return self.mem"
ZEROS = "[ag.zeros(1, 3) for _ in range(2)]"
EACH = "hs = [each.detach() for each in hs]"
AS_DICT = "hs = {key: each.detach() for key, each in hs.items()}"


def loop(begin, *body):
    """A training loop."""
    return f"{begin}\nfor t in range(3):\n    x = ag.ones(1, 3)\n" + "".join(f"    {each}\n" for each in body) + END


def memory(begin, line):
    """A module that writes into its memory by index."""
    return CELL.format(body=f"for i in range(2):\n            {line}\n        return x").replace(
        "self.mem = None", begin
    ) + loop("net = Cell(); opt = optim.SGD(net.parameters(), lr=.1)", "x = net(x)")


OVER_CELLS = "for i, cell in enumerate(cells):"
FILLED = {
    "a module in a list": (
        CELL.format(body=TANH) + CELLS
        + loop(f"hs = {ZEROS}", OVER_CELLS, "    hs[i] = cell(x, hs[i])", "    x = hs[i]"), EACH,
    ),
    "by index": (
        CELL.format(body=TANH) + CELLS + loop(f"hs = {ZEROS}", "for i in range(2):", "    hs[i] = x = cells[i](x, hs[i])"), EACH,
    ),
    "a function in a list": (
        FUNCTION + loop(f"hs = {ZEROS}", "for i in range(2):", "    hs[i] = cell(x, hs[i], ws[i])", "    x = hs[i]"), EACH,
    ),
    "a function in a dict": (
        FUNCTION + loop("hs = {k: ag.zeros(1, 3) for k in (0, 1)}", "for i, w in enumerate(ws):", "    hs[i] = x = cell(x, hs[i], w)"),
        AS_DICT,
    ),
    "a function that calls it": (
        FUNCTION + "def outer(x, h, w):\n    return cell(x, h, w)\n"
        + loop(f"hs = {ZEROS}", "for i in range(2):", "    hs[i] = x = outer(x, hs[i], ws[i])"), EACH,
    ),
    "one module for the items of a dict": (
        CELL.format(body=TANH)
        + loop("net = Cell(); opt = optim.SGD(net.parameters(), lr=.1)\nhs = {'a': ag.zeros(1, 3), 'b': ag.zeros(1, 3)}",
               "x = 0", "for k in hs:", "    hs[k] = net(ag.ones(1, 3), hs[k])", "    x = x + hs[k]"), AS_DICT,
    ),
    "only one layer keeps one": (
        CELL.format(body="new = ag.tanh(self.l(x) + (0 if h is None else h))\n        return new, new if self is cells[0] else None")
        + CELLS + loop("hs = [None, None]", OVER_CELLS, "    x, hs[i] = cell(x, hs[i])"),
        "hs = [None if each is None else each.detach() for each in hs]",
    ),
    "pairs": (
        CELL.format(body=PAIR) + CELLS
        + loop("hc = [(ag.zeros(1, 3), ag.zeros(1, 3)) for _ in range(2)]", OVER_CELLS, "    hc[i] = cell(x, hc[i])", "    x = hc[i][0]"),
        "hc = [(h.detach(), c.detach()) for h, c in hc]",
    ),
    "a stack that keeps them": (CELL.format(body=TANH) + STACK + loop("", "x = net(x)"), "net.h = [each.detach() for each in net.h]"),
    "an LSTM for each layer": (
        "layers = nn.ModuleList([nn.LSTM(3, 3), nn.LSTM(3, 3)]); opt = optim.SGD(layers.parameters(), lr=.1)\n"
        + loop("hc = [None, None]", "for i, lstm in enumerate(layers):", "    x, hc[i] = lstm(x, hc[i])"),
        "hc = [(h.detach(), c.detach()) for h, c in hc]",
    ),
    "a buffer": (
        memory("self.register_buffer('mem', ag.zeros(2, 1, 3))", "self.mem[i] = x = ag.tanh(self.l(x) + self.mem[i].clone())"),
        "net.mem = net.mem.detach()",
    ),
    "a tensor whose source is not known": (
        memory("self.mem = made()", "self.mem[i] = x = ag.tanh(self.l(x) + self.mem[i].clone())").replace(
            "class Cell", "def made():\n    return ag.zeros(2, 1, 3)\nclass Cell"),
        "net.mem = net.mem.detach()",
    ),
}  # fmt: skip


@pytest.fixture
def programs(carried):
    return carried(HEAD)


@pytest.mark.parametrize("name", FILLED)
def test_what_an_inner_loop_fills_is_detached_as_a_whole_and_the_fix_runs(programs, at_beginning, name):
    text, statement = FILLED[name]
    fix = programs.fix(text)
    assert f"`{statement}`" in fix and "several times" not in fix, fix
    assert programs.run(programs.applied(text, fix)).status == 0, fix
    last = text.rfind("class ")  # the module that keeps it comes last
    inside = at_beginning(text[last:], fix, "forward")
    assert inside is None or programs.run(text[:last] + inside).status == 0, fix


NONE = KEEPING.format(first="", mem="(0 if self.mem is None else self.mem)")
LATER = KEEPING.format(first="if self.mem is None:\n            self.mem = ag.zeros(1, 3)\n        ", mem="self.mem")
TURN = "opt = optim.SGD(net.parameters(), lr=.1)"
OBJECTS = {
    "in a sequence": CELL.format(body=LATER) + loop(f"net = nn.Sequential(Cell(), Cell()); {TURN}", "x = net(x)"),
    "in a list": CELL.format(body=NONE) + loop(f"net = nn.ModuleList([Cell(), Cell()]); {TURN}", "for each in net:", "    x = each(x)"),
    "by names": CELL.format(body=NONE)
    + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.b = Cell(), Cell()\n"
    "    def forward(self, x):\n        return self.b(self.a(x))\n" + loop(f"net = Net(); {TURN}", "x = net(x)"),
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_of_several_objects_each_detaches_its_own_at_the_beginning(programs, at_beginning, name):
    fix = programs.fix(OBJECTS[name])
    assert "each of 2 objects runs it once in an iteration" in fix and "Not inside" not in fix, fix
    mended = at_beginning(OBJECTS[name], fix, "forward")
    assert mended is not None and programs.run(mended).status == 0, fix


def test_an_object_that_runs_twice_does_not_detach_it_itself(programs):
    text = CELL.format(body=NONE) + loop(f"net = Cell(); {TURN}", "x = net(net(x))")
    fix = programs.fix(text)
    assert "`net.mem = net.mem.detach()`" in fix and "it runs several times in an iteration" in fix
    assert programs.run(programs.applied(text, fix)).status == 0, fix


def test_a_line_that_repeats_does_not_say_that_its_function_does(programs, at_beginning):
    body = "outs = []\n        for _ in range(4):\n            self.mem = ag.tanh(self.l(x) + (0 if self.mem is None else self.mem))\n"
    body += "            outs.append(self.mem)\n        return ag.stack(outs)"
    text = CELL.format(body=body) + loop(f"net = Cell(); {TURN}", "x = net(x)")
    fix = programs.fix(text)
    assert "`net.mem = net.mem.detach()`; or, since `Cell.forward` runs once" in fix, fix
    assert (
        programs.run(programs.applied(text, fix)).status == 0 == programs.run(at_beginning(text, fix, "forward")).status
    )


ROLLOUT = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.p, self.v = nn.Linear(3, 2), nn.Linear(3, 1)
    def forward(self, x):
        return self.p(x).log_softmax(-1), self.v(x).squeeze(-1)
class Agent:
    def __init__(self):
        self.net, self.values, self.logs = Net(), [], []
        self.opt = optim.SGD(self.net.parameters(), lr=.1)
    def act(self):
        logs, value = self.net(ag.ones(3))
        {put}
    def learn(self):
        loss = {loss}
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
agent = Agent()
for t in range(3):
    for _ in range(2): agent.act()
    agent.learn()
"""
ROLLOUTS = {
    "one": ("self.values.append(value)", "ag.stack(self.values).pow(2).mean()", "`self.values`, which keeps"),
    "two": (
        "self.values.append(value); self.logs.append(logs[0])",
        "(ag.stack(self.logs) * ag.stack(self.values)).mean()",
        "`self.logs` and `self.values`, which keep",
    ),
}


@pytest.mark.parametrize("name", ROLLOUTS)
def test_a_list_that_was_not_emptied_is_no_state_of_the_layers_whose_results_it_keeps(programs, name):
    put, loss, words = ROLLOUTS[name]
    text = ROLLOUT.format(put=put, loss=loss)
    fix = programs.fix(text)
    assert fix.startswith("Empty ") and "put there, after `loss.backward()`" in fix and "Net.forward" not in fix, fix
    assert words in fix or words in fix.replace("`self.values` and `self.logs`", "`self.logs` and `self.values`"), fix
    assert "backward-twice" not in programs.run(programs.applied(text, fix)).stdout, fix
