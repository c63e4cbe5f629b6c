"""A state that a call hands from one iteration to the next: it has the name that it has in the loop, and the fix runs as it stands."""

import pytest

HEAD = "import agdbg_engine as ag; from agdbg_engine import nn, optim\nag.manual_seed(0)\n"
LOOP = """
opt = optim.Adam(net.parameters(), lr=.1)
{begin}
for i in range(3):
    {call}
    loss = out.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CELL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.{kind}(2, 3), nn.Linear(3, 1)
    def forward(self, x, state):
        {body}
net = Net()
"""
GRU = CELL.format(kind="GRUCell", body="h = self.cell(x, state)\n        return self.head(h), h")
LSTM = CELL.format(kind="LSTM", body="out, state = self.cell(x, state)\n        return self.head(out), state")
KEPT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.{kind}(2, 3)
        self.state = {begin}
    def forward(self, x):
        {body}
net = Net()
"""
LAST = "self.state = self.cell(x, self.state)\n        return self.state"
STEP = """
def step(x, state):
    out, state = net(x, state)
    loss = out.pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    return state
{begin}
for i in range(3):
    state = step(ag.randn(1, 2), state)
"""
APART = """
def update(out):
    loss = out.pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
def train(net, state):
    rate = 0.5
    for i in range(3):
        x = ag.randn(1, 2)
        x = x.add(rate)
        out, state = net(x, state)
        update(out)
        rate = max(rate * .5, .1)
opt = optim.SGD(net.parameters(), lr=.1)
train(net, ag.zeros(1, 3))
"""


def loop(net, begin, call):
    return f"{net}{LOOP.format(begin=begin, call=call)}"


X, XS = "ag.randn(1, 2)", "ag.randn(4, 1, 2)"
ZEROS = "ag.zeros(1, 1, 3)"
SGD = "opt = optim.SGD(net.parameters(), lr=.1)\n"

#: The program, and what the finding calls the state.
STATES = {
    "gru": (loop("net = nn.GRU(2, 3)", f"h = {ZEROS}", f"out, h = net({XS}, h)"), "`h`"),
    "gru, begins as None": (loop("net = nn.GRU(2, 3)", "h = None", f"out, h = net({XS}, hx=h)"), "`h`"),
    "lstm": (loop("net = nn.LSTM(2, 3)", "state = None", f"out, state = net({XS}, state)"), "`state`"),
    "lstm, unpacked": (
        loop("net = nn.LSTM(2, 3)", f"h, c = {ZEROS}, {ZEROS}", f"out, (h, c) = net({XS}, (h, c))"), "`h` and `c`",
    ),
    "lstm, over lines": (
        loop("net = nn.LSTM(2, 3)", "state = None", f"out, state = net(\n        {XS},\n        state,\n    )"), "`state`",
    ),
    "lstm cell": (loop("net = nn.LSTMCell(2, 3)", "s = None", f"s = net({X}, s); out = s[0]"), "`s`"),
    "rnn cell": (loop("net = nn.RNNCell(2, 3)", "h = None", f"h = net({X}, h); out = h * 2"), "`h`"),
    "copied": (loop("net = nn.GRU(2, 3)", "h = None", f"out, new = net({XS}, h); h = new"), "the result of"),
    "copied, of an lstm": (loop("net = nn.LSTM(2, 3)", "s = None", f"out, new = net({XS}, s); s = new"), "the result of"),
    "copied tuple": (
        loop("net = nn.LSTM(2, 3)", "s = None", f"out, (h, c) = net({XS}, s)\n    s = (h, c)"), "the result of",
    ),
    "module": (loop(GRU, "h = ag.zeros(1, 3)", f"out, h = net({X}, h)"), "`h`"),
    "module, another name": (loop(GRU, "memory = ag.zeros(1, 3)", f"out, memory = net({X}, memory)"), "`h`"),
    "module of an lstm": (loop(LSTM, f"hidden = ({ZEROS}, {ZEROS})", f"out, hidden = net({XS}, hidden)"), "`state`"),
    "module of an lstm, None": (loop(LSTM, "hidden = None", f"out, hidden = net({XS}, hidden)"), "`state`"),
    "module, other calls": (
        loop(GRU, "h = ag.zeros(1, 3); n = [0]\ndef inc(n): return [n[0] + 1]",
             f"n = inc(n); x = {X}; x = ag.relu(x); out, h = net(x, h)"), "`h`",
    ),
    "attribute": (loop(KEPT.format(kind="RNNCell", begin="ag.zeros(1, 3)", body=LAST), "", f"out = net({X})"), "`self.state`"),
    "attribute, None": (loop(KEPT.format(kind="RNNCell", begin="None", body=LAST), "", f"out = net({X})"), "`self.state`"),
    "attribute, tuple": (
        loop(KEPT.format(kind="LSTMCell", begin="None", body=f"{LAST}[0]"), "", f"out = net({X})"), "`self.state`",
    ),
    "attribute, of two results": (
        loop(KEPT.format(kind="GRU", begin="None", body="out, self.state = self.cell(x, self.state)\n        return out"),
             "", f"out = net({XS})"), "`self.state`",
    ),
    "attribute, stored": (
        loop(KEPT.format(kind="LSTMCell", begin="None", body="s = self.cell(x, self.state)\n        self.state = s\n        return s[0]"),
             "", f"out = net({X})"), "`s`",
    ),
    "item": (loop("net = nn.LSTMCell(2, 3)", "st = {'h': None}", f"st['h'] = net({X}, st['h']); out = st['h'][0]"), "`st['h']`"),
    "a step of its own": (GRU + SGD + STEP.format(begin="state = ag.zeros(1, 3)"), "`h`"),
    "called from the loop": (GRU + APART, "`h`"),
}  # fmt: skip


@pytest.fixture
def programs(carried):
    return carried(HEAD)


@pytest.mark.parametrize("name", STATES)
def test_a_state_is_named_and_its_fix_runs_as_it_stands(programs, name):
    text, called = STATES[name]
    said = programs.run(text).stdout
    assert f"into the previous iteration through {called}" in said, said
    fix = programs.fix_in(said)
    mended = programs.run(programs.applied(text, fix))
    assert mended.status == 0, (fix, mended.stdout)


@pytest.mark.parametrize("name", [name for name in STATES if name.startswith("attribute")])
def test_a_fix_within_the_function_runs_as_it_stands(programs, at_beginning, name):
    text, _ = STATES[name]
    fix = programs.fix(text)
    if name == "attribute, stored":
        assert "`self.state = tuple(each.detach() for each in s)` in place of `self.state = s`" in fix
        return
    mended = at_beginning(text, fix, "forward")
    assert mended is not None and ("since it begins as None" in fix) == ("ag.zeros(1, 3)" not in text), fix
    assert programs.run(mended).status == 0


NESTED = """
def step(x, states):
    new = []
    for cell, state in zip(cells, states):
        h, c = cell(x, state)
        new.append((h, c)); x = h
    return x, new
cells = [nn.LSTMCell(3, 3), nn.LSTMCell(3, 3)]
states = [(ag.zeros(1, 3), ag.zeros(1, 3)) for _ in cells]
for i in range(3):
    out, states = step(ag.randn(1, 3), states)
    out.sum().backward()
"""
DICT = """
cell = nn.RNNCell(3, 3)
def step(x, state):
    return {'h': cell(x, state['h'])}
state = {'h': ag.zeros(1, 3)}
for i in range(3):
    state = step(ag.randn(1, 3), state)
    state['h'].sum().backward()
"""
LISTED = """
cells = [nn.RNNCell(3, 3), nn.RNNCell(3, 3)]
def step(x, states):
    a = cells[0](x, states[0])
    b = cells[1](a, states[1])
    return b, [a, b]
states = [ag.zeros(1, 3), ag.zeros(1, 3)]
for i in range(3):
    out, states = step(ag.randn(1, 3), states)
    out.sum().backward()
"""


@pytest.mark.parametrize("text", [NESTED, DICT, LISTED], ids=["nested", "dict", "list"])
def test_what_holds_the_tensors_is_detached_as_it_is_built(programs, text):
    fix = programs.fix(text)
    assert programs.run(programs.applied(text, fix)).status == 0, fix


#: What is handed to a call and comes back from it, and is no state.
OTHERS = {
    "a number": "rate = .5\ndef halve(r): return r * .5\n",
    "made anew": "rate = .5\ndef halve(r): return ag.randn(1, 2)\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_where_it_is_not_clear_what_hands_it_on_nothing_is_named(programs, name):
    begin = "h = [ag.zeros(1, 3)]; a = 1; b = 2\ndef f(a): return a\n"
    text = loop(GRU, f"{OTHERS[name]}{begin}", f"a = f(a); b = f(b); out, got = net({X}, h[0]); h = [got]")
    fix = programs.fix(text)
    assert "`a`" not in fix and "`b`" not in fix and "`rate`" not in fix, fix


CORRECT = {
    "detached": loop("net = nn.LSTM(2, 3)", "s = None", f"out, s = net({XS}, s); s = tuple(e.detach() for e in s)"),
    "detached in the call": loop("net = nn.GRU(2, 3)", f"h = {ZEROS}", f"out, h = net({XS}, h.detach())"),
    "no state": loop("net = nn.GRU(2, 3)", "", f"out, h = net({XS})"),
}


@pytest.mark.parametrize("name", CORRECT)
def test_a_state_that_is_detached_is_no_finding(programs, name):
    assert programs.run(CORRECT[name]).status == 0
