"""A state whose model and first value reach the training function from outside: the fix has the form that the model returned.

So has one that begins as None in a dict, a class or an object of another one. The fix is put into the program, which then runs.
"""

import pytest

HEAD = "import agdbg_engine as ag; from agdbg_engine import nn, optim\nag.manual_seed(0)\n"
PROGRAM = """class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.cell = nn.GRUCell(2, 2)
    def forward(self, x, state):
        h = self.cell(x, {given})
        new = (h, ag.tanh(h))
        return h.pow(2), {result}
def train(model, data, state):
    opt = optim.SGD(model.parameters(), lr=.1)
    for x in data:
        y, state = model(x, state)
        opt.zero_grad()
        y.sum().backward()
        opt.step()
train(Net(), ag.randn(3, 1, 2), {begin})
"""
#: What the model takes of the state, what it returns, what it begins with; and what the fix says.
FORMS = {
    "dict": ("state['h']", "{'h': h}", "{'h': ag.zeros(1, 2)}", "{key: each.detach() for key, each in state.items()}"),
    "number": ("state[0]", "(h, state[1] + 1)", "(ag.zeros(1, 2), 0)", "each.detach() if hasattr(each, 'detach')"),
    "tuple": ("state[0]", "(h, h * 2)", "(ag.zeros(1, 2),) * 2", "`state = tuple(each.detach() for each in state)`"),
    "list": ("state[0]", "[h]", "[ag.zeros(1, 2)]", "`state = [each.detach() for each in state]`"),
    "pair": ("state[0]", "new", "(ag.zeros(1, 2), ag.zeros(1, 2))", "`state = tuple(each.detach() for each in state)`"),
    "tensor": ("state", "h", "ag.zeros(1, 2)", "`state = state.detach()`"),
}


@pytest.fixture
def programs(carried):
    return carried(HEAD)


@pytest.mark.parametrize("name", FORMS)
def test_the_model_is_a_parameter(programs, name):
    given, result, begin, how = FORMS[name]
    text = PROGRAM.format(given=given, result=result, begin=begin)
    fix = programs.fix(text)
    assert how in fix, fix
    mended = programs.run(programs.applied(text, fix))
    assert mended.status == 0, (fix, mended.stdout)


def test_a_form_that_nothing_says_is_told_in_words(programs):
    text = PROGRAM.format(given="state.h", result="State(h)", begin="State(ag.zeros(1, 2))")
    kind = "class State:\n    def __init__(self, h, log=()):\n        self.h = h; self.log = log; self.more = log\n"
    fix = programs.fix(kind + text)
    assert "each tensor in `state`" in fix or "state.h = state.h.detach()" in fix, fix


LATE = """class Memory:
    h = None
class Given:
    def __init__(self, h=None):
        self.h = h
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.cell = nn.GRUCell(2, 2)
        self.memory = {begin}
    def forward(self, x):
        {name} = self.cell(x, {read})
        return {name}.pow(2).mean()
net = Net(); opt = optim.SGD(net.parameters(), lr=.1)
for _ in range(3):
    loss = net(ag.randn(1, 2))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("begin", "name"),
    [("{'h': None}", "self.memory['h']"), ("Memory()", "self.memory.h"), ("Given()", "self.memory.h")],
    ids=["key", "class", "parameter"],
)
def test_at_the_beginning_it_may_be_none(programs, at_beginning, begin, name):
    text = LATE.format(begin=begin, name=name, read=name)
    fix = programs.fix(text)
    assert f"behind `if {name} is not None:`, since it begins as None" in fix, fix
    mended = at_beginning(text, fix, "forward")
    assert mended is not None and programs.run(mended).status == 0


def test_where_there_may_be_none_at_first_nothing_is_said_of_the_beginning(programs):
    text = LATE.format(begin="{}", name="self.memory['h']", read="self.memory.get('h')")
    fix = programs.fix(text)
    assert "at its beginning" not in fix and "`net.memory['h'] = net.memory['h'].detach()`" in fix, fix
    assert programs.run(programs.applied(text, fix)).status == 0


LAYERS = """class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.rnn = nn.{kind}(2, 2, num_layers=2); self.state = None
    def forward(self, x):
        y, self.state = self.rnn(x, self.state)
        return y
net = Net(); opt = optim.SGD(net.parameters(), lr=.1)
for x in ag.randn(3, 4, 1, 2):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_a_line_that_calls_a_layer_of_several_layers_runs_once(programs, at_beginning, kind):
    text = LAYERS.format(kind=kind)
    fix = programs.fix(text)
    assert "since `Net.forward` runs once in an iteration" in fix and "several times" not in fix, fix
    mended = at_beginning(text, fix, "forward")
    assert mended is not None and programs.run(mended).status == 0


KEEPING = """net = nn.Linear(2, 2); opt = optim.SGD(net.parameters(), lr=.1); xs = ag.randn(2, 2)
{kept}
for i in (0, 1, 0, 1):
    loss = features(i).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
LRU = """import functools
@functools.lru_cache(maxsize=None)
def features(i):
    return ag.tanh(net(xs[i]))"""
BANK = """bank = []
def features(i):
    bank.append(ag.tanh(net(xs[i])))
    return ag.stack(bank).mean(0)"""
CLOSURE = """def make():
    cache = {}
    def encode(i):
        if i not in cache:
            cache[i] = ag.tanh(net(xs[i]))
        return cache[i]
    return encode
features = make()"""


@pytest.mark.parametrize(
    ("kept", "how"),
    [(LRU, "`features.cache_clear()`"), (BANK, "`bank[:] = [each.detach() for each in bank]`")],
    ids=["lru_cache", "list"],
)
def test_what_a_function_keeps_for_good_loses_its_graph(programs, kept, how):
    text = KEEPING.format(kept=kept)
    fix = programs.fix(text)
    assert how in fix and "hands it to the next" not in fix, fix
    mended = programs.run(programs.applied(text, fix))
    assert mended.status == 0, (fix, mended.stdout)


def test_a_cache_that_the_loop_cannot_reach_is_to_be_emptied(programs):
    fix = programs.fix(KEEPING.format(kept=CLOSURE))
    assert fix.startswith("Empty `cache`, where `make.encode` keeps what trained parameters made"), fix
