"""A statement that a fix prints means the same where the fix puts it: an index, a variable of a function and `self` are others elsewhere.

The fix is put into the program, which then runs; where no name is the same at both places, the fix says in words what to do.
"""

import re

import pytest

HEAD = "import agdbg_engine as ag; from agdbg_engine import nn, optim\nag.manual_seed(0)\n"
END = "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
CELL = "cell = nn.GRUCell(3, 3); opt = optim.SGD(cell.parameters(), lr=.1)\n"
LSTM = "cell = nn.LSTMCell(3, 3); opt = optim.SGD(cell.parameters(), lr=.1)\n"
LIN = "lin = nn.Linear(3, 3); opt = optim.SGD(lin.parameters(), lr=.1)\n"
X = "ag.randn(1, 3)"

CACHE = """cache = {}
def embed(i):
    if i not in cache:
        cache[i] = ag.tanh(lin(ag.ones(3) * i))
    return cache[i]
for t in range(6):
    loss = (embed(t % 3) * embed((t + 1) % 3)).sum()
"""
KEYED = """mem = {'a': ag.zeros(1, 3), 'b': ag.zeros(1, 3)}
def recall(k):
    mem[k] = cell(ag.ones(1, 3), mem[k])
    return mem[k]
for t in range(3):
    loss = (recall('a') * recall('b')).sum()
"""
INLINE = """cache = {}
for t in range(6):
    k = t % 2
    if k not in cache:
        cache[k] = ag.tanh(lin(ag.ones(3) * k))
    loss = cache[k].sum()
"""
OBJECT = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3); self.cache = {}
    def forward(self, k):
        if k not in self.cache:
            self.cache[k] = self.lin(ag.ones(3) * k).tanh()
        return self.cache[k]
net = Net(); opt = optim.SGD(net.parameters(), lr=.1)
for t in range(6):
    loss = net(t % 2).sum()
"""
GIVEN = """def embed(memory, i):
    if i not in memory:
        memory[i] = ag.tanh(lin(ag.ones(3) * i))
    return memory[i]
def train():
    cache = {}
    for t in range(6):
        loss = (embed(cache, t % 3) * embed(cache, (t + 1) % 3)).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
train()
"""
NESTED = """states = {'enc': [ag.zeros(1, 3), ag.zeros(1, 3)], 'dec': ag.zeros(1, 3)}
cells = [nn.GRUCell(3, 3) for _ in range(3)]; opt = optim.SGD([p for c in cells for p in c.parameters()], lr=.1)
def run(x):
    for i, c in enumerate(cells[:2]):
        states['enc'][i] = c(x, states['enc'][i])
        x = states['enc'][i]
    states['dec'] = cells[2](x, states['dec'])
    return states['dec']
for t in range(3):
    loss = run(ag.randn(1, 3)).pow(2).sum()
"""
METHOD = """class Trainer:
    def __init__(self):
        self.state = {}
    def forward(self, k, x):
        self.state[k] = cell(x, self.state[k]) if k in self.state else cell(x)
        return self.state[k][0]
    def epoch(self):
        for i in range(3):
            loss = 0
            for k in ('l', 'r'):
                loss = loss + self.forward(k, ag.randn(2, 3)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
Trainer().epoch()
"""
CHOSEN = """old = None
for t in range(4):
    out = ag.tanh(lin(ag.ones(3)))
    {line}
    loss = (out - old.pow(2)).pow(2).sum()
"""
OUT = """class Out:
    pass
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.cell = cell
    def forward(self, x, state=None):
        o = Out()
        o.state = self.cell(x, state) if state is not None else self.cell(x)
        return o
net = Net(); state = None
for t in range(3):
    o = net(ag.randn(1, 3), state)
    loss = o.state[0].pow(2).mean()
"""
NUMBERS = """class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.cell = cell
    def forward(self, x, carry):
        h, c = self.cell(x, {given})
        return h, {result}
net = Net()
carry = {begin}
for t in range(3):
    pred, carry = net(ag.randn(1, 3), carry)
    loss = pred.pow(2).mean()
"""
DICT = NUMBERS.format(
    given="(carry['h'], carry['c'])",
    result="{'h': h, 'c': c, 'step': carry['step'] + 1}",
    begin="{'h': ag.zeros(1, 3), 'c': ag.zeros(1, 3), 'step': 0}",
)
TUPLE = NUMBERS.format(given="carry[:2]", result="(h, c, carry[2] + 1)", begin="(ag.zeros(1, 3), ag.zeros(1, 3), 0)")
SOMETIMES = """state = (ag.zeros(1, 3), ag.zeros(1, 3)); losses = []
for t in range(6):
    state = cell(ag.randn(1, 3), state)
    losses.append(state[0].pow(2).mean())
    if t % 2:
        opt.zero_grad()
        sum(losses).backward()
        opt.step(); losses = []
"""
STEP = """def step(x, h):
    h = cell(x, h)
    loss = h.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item(), h
h = ag.zeros(1, 3)
for t in range(3):
    l, h = step(ag.randn(1, 3), h)
"""
UPDATE = """def update(loss):
    opt.zero_grad()
    loss.backward()
    opt.step()
h = ag.zeros(1, 3)
for t in range(3):
    h = cell(ag.randn(1, 3), h)
    update(h.pow(2).mean())
"""
RING = """ring = [ag.zeros(1, 3), ag.zeros(1, 3)]; at = 0
for t in range(5):
    ring[at] = cell(ag.randn(1, 3), ring[at])
    loss = ring[at].pow(2).mean()
    at = (at + 1) % 2
"""
GLOBAL = """h = ag.zeros(1, 3)
def step(x):
    global h
    h = cell(x, h)
    return h
for t in range(3):
    loss = step(ag.randn(1, 3)).pow(2).sum()
"""
AGENTS = """hidden = {}
def policy(agent, x):
    h = hidden.get(agent)
    if h is None:
        h = ag.zeros(1, 3)
    h = cell(x, h)
    hidden[agent] = h
    return h
def train():
    for t in range(3):
        loss = 0
        for a in ('x', 'y'):
            loss = loss + policy(a, ag.randn(1, 3)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
train()
"""
AGENT = """class Agent:
    def __init__(self):
        self.h = ag.zeros(1, 3); self.kept = []
    def act(self, x):
        self.h = cell(x, self.h)
        self.kept.append(self.h.pow(2).mean())
    def learn(self):
        loss = sum(self.kept)
        opt.zero_grad()
        loss.backward()
        opt.step()
        self.kept = []
agent = Agent()
for t in range(3):
    for s in range(3):
        agent.act(ag.randn(1, 3))
    agent.learn()
"""
INSIDE = """class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.cell = nn.GRUCell(3, 3); self.states = {}
    def forward(self, x, key):
        if key not in self.states:
            self.states[key] = ag.zeros(1, 3)
        self.states[key] = self.cell(x, self.states[key])
        return self.states[key]
class Trainer:
    def __init__(self):
        self.model = Net(); self.opt = optim.SGD(self.model.parameters(), lr=.1)
    def fit(self):
        for t in range(3):
            loss = self.model(ag.randn(1, 3), 'a').pow(2).sum() + self.model(ag.randn(1, 3), 'b').pow(2).sum()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
Trainer().fit()
"""
OWNER = """def train():
    h = ag.zeros(1, 3)
    def step(x):
        nonlocal h
        h = cell(x, h)
        return h
    for t in range(3):
        loss = (step(ag.randn(1, 3)) + step(ag.randn(1, 3))).pow(2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
train()
"""

#: The program, and what its fix detaches.
PROGRAMS = {
    "a dict of a state each": (CELL + AGENTS, "`hidden.update({key: each.detach() for key, each in hidden.items()})`"),
    "an object whose method an inner loop calls": (CELL + AGENT, "`self.h = self.h.detach()`"),
    "an attribute of an attribute": (INSIDE, "`self.model.states = {key: each.detach() for"),
    "a key that goes on": (CELL + KEYED + END, "`mem.update({key: each.detach() for key, each in mem.items()})`"),
    "a key that goes on, given": (
        CELL + KEYED.replace("(k):", "(at, k):").replace("mem[k]", "at[k]").replace("recall(", "recall(mem, ").replace("mem, at", "at") + END,
        "`mem.update({key: each.detach() for key, each in mem.items()})`",
    ),
    "a cache in the loop": (LIN + INLINE + END, "`cache.clear()`, after `loss.backward()`"),
    "a cache of an object": (OBJECT + END, "`net.cache.clear()`"),
    "a key of a function": (LIN + CACHE + END, "Empty `cache` between two iterations, after `loss.backward()` at line 12: `cache.clear()`"),
    "a key, in what is given": (LIN + GIVEN, "Empty `cache`, which hands on the state (`memory[i]` in `embed`), in `train`"),
    "an index in a function": (NESTED + END, "`states['enc'][:] = [each.detach() for each in states['enc']]`"),
    "a key of a method": (
        LSTM + METHOD,
        "`self.state = {key: tuple(each.detach() for each in one) for key, one in self.state.items()}`",
    ),
    "an index that goes on": (CELL + RING + END, "`ring = [each.detach() for each in ring]`"),
    "chosen": (LIN + CHOSEN.format(line="old = out if old is None else .9 * old + .1 * out") + END, "`old = old.detach()`"),
    "chosen, the other way": (
        LIN + CHOSEN.format(line="old = .9 * old + .1 * out if old is not None else out") + END, "`old = old.detach()`",
    ),
    "named on the way": (LIN + CHOSEN.format(line="old = ag.tanh(old + (new := lin(old))) if t else out") + END, "`old = old.detach()`"),
    "of an object that is returned": (LSTM + OUT + END + "    state = o.state\n", "after `state = o.state` at line"),
    "a dict with a number": (LSTM + DICT + END, "each.detach() if hasattr(each, 'detach') else each"),
    "a tuple with a number": (LSTM + TUPLE + END, "each.detach() if hasattr(each, 'detach') else each"),
    "not in every turn": (LSTM + SOMETIMES, "after `sum(losses).backward()` at line"),
    "in a step": (CELL + STEP, "`h = h.detach()`, after `loss.backward()` at line"),
    "before an update": (CELL + UPDATE, "`h = h.detach()`, after `update(h.pow(2).mean())` at line"),
    "global": (CELL + GLOBAL + END, "after `loss.backward()` at line 12: `h = h.detach()`"),
    "nonlocal, with its loop": (CELL + OWNER, "after `loss.backward()` at line 13: `h = h.detach()`"),
}  # fmt: skip


@pytest.fixture
def programs(carried):
    return carried(HEAD)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_fix_runs_where_it_says(programs, name):
    text, how = PROGRAMS[name]
    fix = programs.fix(text)
    assert how in fix, fix
    mended = programs.run(programs.applied(text, fix))
    assert mended.status == 0, (fix, mended.stdout)


CLOSURE = """def make():
    h = {begin}
    def step(x):
        nonlocal h
        h = cell(x, h)
        return h
    return step
step = make()
for t in range(3):
    loss = {loss}
"""
ONE = f"step({X}).pow(2).sum()"


@pytest.mark.parametrize("begin", ["ag.zeros(1, 3)", "None"])
def test_a_variable_of_a_closure_is_detached_in_it(programs, begin):
    text = CELL + CLOSURE.format(begin=begin, loss=ONE) + END
    found = re.search(
        r"^Detach `h` at the beginning of `make.step`, behind `nonlocal h`(?: and `(.+)`)?: `(.+)`", programs.fix(text)
    )
    assert found is not None and (found[1] is not None) == (begin == "None")
    mended = text.replace("nonlocal h\n", f"nonlocal h\n        {found[1] or 'if 1:'} {found[2]}\n")
    assert programs.run(mended).status == 0


def test_where_no_name_is_known_the_fix_is_words(programs):
    fix = programs.fix(CELL + CLOSURE.format(begin="ag.zeros(1, 3)", loss=f"({ONE} + {ONE})") + END)
    assert "= h.detach()" not in fix and "`nonlocal h`" in fix, fix
    assert fix.startswith("Detach `h`, made at line 8, once in an iteration, after `loss.backward()` at line 15"), fix


KEPT = """def baseline(r, kept={'b': None}):
    kept['b'] = r if kept['b'] is None else .9 * kept['b'] + .1 * r
    return kept['b']
for t in range(4):
    r = ag.tanh(lin(ag.ones(3))).mean()
    loss = (r - baseline(r)).pow(2) + r
"""
CALLBACK = """class Ema:
    def __init__(self):
        self.avg = None
    def on_batch(self, out):
        m = out.mean(0)
        self.avg = m if self.avg is None else .9 * self.avg + .1 * m
callbacks = [Ema()]
for t in range(3):
    out = ag.tanh(lin(ag.ones(2, 3)))
    for each in callbacks:
        each.on_batch(out)
    loss = (out - callbacks[0].avg).pow(2).mean()
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (KEPT, "Detach what is kept of `r`, made at line 8, once in an iteration, after `loss.backward()` at line 11"),
        (CALLBACK, "Detach the state (`self.avg` in `Ema.on_batch`) once in an iteration"),
    ],
    ids=["default argument", "callback"],
)
def test_what_a_function_keeps_is_not_detached_by_the_name_that_it_was_given(programs, text, words):
    fix = programs.fix(LIN + text + END)
    assert fix.startswith(words) and " = " not in fix, fix
