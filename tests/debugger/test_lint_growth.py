"""Memory that grows from iteration to iteration: who holds the graphs."""

import pytest

LOOP = """
total, losses, log = 0, [], {}
for turn in range(TURNS):
    loss = (x * x).sum()
    loss.backward()
    KEEP
"""


def loop(keep, turns=8):
    return LOOP.replace("KEEP", keep).replace("TURNS", str(turns))


# ----- sums (case 42) -----


@pytest.mark.parametrize(
    "keep", ["total += loss", "total = total + loss", "total = loss + total", "log['a'] = log.get('a', 0) + loss"]
)
@pytest.mark.parametrize("turns", [5, 50])
def test_a_running_sum_of_losses(lint_script, roles, keep, turns):
    found = [each for each in lint_script(loop(keep, turns)).lints if each.kind == "graph-growth"]
    if keep.startswith("log"):
        assert len(found) == 1, "no such sum as can be read off a line, but graphs are held all the same"
        return
    assert [each.certainty for each in found] == ["certain"]
    assert (
        f"`total` at line 9 is a sum of tensors with their graphs: it keeps the graphs of {turns} iterations"
        in found[0].cause
    )
    assert "`total += loss.item()`" in found[0].fix and roles(found[0]) == [("call", 8), ("holds", 9)]


def test_a_weighted_sum(lint_script):
    assert "8 iterations" in lint_script(loop("total += loss * 0.5")).only("graph-growth").cause


def test_a_sum_without_any_pass(lint_script):
    source = "total = 0\nfor turn in range(20):\n    loss = (x * x).sum()\n    total += loss"
    found = lint_script(source).only("graph-growth")
    assert found.certainty == "likely" and "20 iterations" in found.cause


# ----- lists and dicts -----


@pytest.mark.parametrize(
    "keep", ["losses.append(loss)", "losses.append((turn, loss))", "losses += [loss]", "log[turn] = loss"]
)
def test_a_collection_of_losses(lint_script, roles, keep):
    found = lint_script(loop(keep)).only("graph-growth")
    assert found.certainty == "certain" and "7 graphs of earlier iterations" in found.cause
    assert "at line 9 keeps them" in found.cause and "`loss.item()`" in found.fix
    assert roles(found) == [("created", 7), ("holds", 9), ("call", 8)]


def test_outputs_that_are_collected(lint_script, roles):
    source = (
        "outs = []\nfor turn in range(8):\n    out = x * turn\n    (out * out).sum().backward()\n    outs.append(out)"
    )
    found = lint_script(source).only("graph-growth")
    assert "`outs.append(out)` at line 9 keeps them" in found.cause and "`out.detach()`" in found.fix
    assert ("holds", 9) in roles(found)


def test_a_moving_average_of_tensors(lint_script, roles):
    found = lint_script(loop("total = 0.9 * total + 0.1 * loss")).only("graph-growth")
    assert ("holds", 9) in roles(found) and "`0.1 * loss` at line 9 keeps them" in found.cause


def test_a_collection_elsewhere(lint_script):
    source = (
        "class Log:\n    def put(self, it):\n        self.all = [*getattr(self, 'all', []), it]\nkeeper = Log()"
        + loop("keeper.put(loss)")
    )
    assert lint_script(source).only("graph-growth").certainty in ("certain", "likely")


# ----- state that is carried over -----

CARRIED = """
h = x * 1
for turn in range(8):
    h = (h * x).tanh()
    loss = h.sum()
    loss.backward(retain_graph=True)
"""


def test_a_state_that_is_carried_over_with_its_graph(lint_script, roles):
    found = lint_script(CARRIED).only("graph-growth")
    assert (
        "goes back through all earlier iterations, through `h`" in found.cause
        and "5 nodes in the first call, 19 nodes" in found.cause
    )
    assert roles(found) == [("entry", 7), ("call", 9)] and "`h = h.detach()`" in found.fix


# ----- gradients with a graph (case 43) -----


@pytest.mark.parametrize("turns", [1, 3])
def test_a_gradient_with_a_graph_is_a_circle(lint_script, roles, turns):
    found = lint_script(f"for turn in range({turns}):\n    (x * x).sum().backward(create_graph=True)").only(
        "gradient-cycle"
    )
    assert found.certainty == "certain" and "autograd.grad" in found.fix
    assert roles(found) == [("call", 6)] and ("3 times" in found.cause) == (turns == 3)


def test_the_leaf_is_named(lint_script):
    source = "m = nn.Linear(2, 1)\nm(x.detach()).square().sum().backward(create_graph=True)"
    assert "`weight.grad`" in lint_script(source).only("gradient-cycle").cause


# ----- what is right -----

RIGHT = {
    "numbers": loop("total += loss.item()"),
    "detached": loop("total += loss.detach()"),
    "a list of numbers": loop("losses.append(loss.item())"),
    "the last loss": loop("last = loss"),
    "accumulated, then differentiated": "total = 0\nfor turn in range(20):\n    total += (x * turn).sum()\ntotal.backward()",
    "differentiated after every few": (
        "for epoch in range(4):\n    total = 0\n    for turn in range(5):\n        total = total + (x * turn).sum()\n    total.backward()"
    ),
    "many heads": "h = x * 2\nlosses = [(h * i).sum() for i in range(9)]\nfor loss in losses: loss.backward(retain_graph=True)",
    "a sum inside of a model": "h = x\nfor turn in range(30): h = h + x * turn\nh.sum().backward()",
    "reset in every turn": "for turn in range(4):\n    x.grad = None\n    (x * x).sum().backward(create_graph=True)",
    "used and reset": "(x * x).sum().backward(create_graph=True)\n(x.grad ** 2).sum().backward()\nx.grad = None",
    "grad with a graph": "for turn in range(6):\n    g, = grad((x * x * x).sum(), x, create_graph=True)\n    (g * g).sum().backward()\n    x.grad = None",
    "detached state": CARRIED.replace("retain_graph=True", "").replace("(h * x)", "(h.detach() * x)"),
    "longer and longer sequences": "for n in range(1, 9):\n    h = x\n    for step in range(n): h = (h * x).tanh()\n    h.sum().backward()",
    "optimizer": "opt = ag.optim.SGD([x], lr=0.1)\nfor turn in range(6):\n    opt.zero_grad()\n    (x * x).sum().backward()\n    opt.step()",
}


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_nothing_is_said(lint_script, source):
    assert lint_script(source).kinds() == []


KEEPING = """
kept = []
def keep(v):
    kept.append(v)
class Meter:
    def __init__(self):
        self.history = []
    def update(self, name, value):
        self.history.append((name, value))
    def mean(self):
        return sum(value for _, value in self.history) / len(self.history)
meter = Meter()
for turn in range(8):
    loss = (x * x).sum()
    loss.backward()
    KEEP
total = READ
"""


@pytest.mark.parametrize(
    ("keep", "read", "holds", "line"),
    [
        ("keep(loss)", "sum(kept)", "`kept.append(v)`", 7),
        ("meter.update('loss', loss)", "meter.mean()", "`self.history.append((name, value))`", 12),
        ("meter.update(name='loss', value=loss)", "meter.mean()", "`self.history.append((name, value))`", 12),
    ],
)
def test_a_function_that_keeps_what_it_is_given(lint_script, roles, keep, read, holds, line):
    found = lint_script(KEEPING.replace("KEEP", keep).replace("READ", read)).only("graph-growth")
    assert f"{holds} at line {line} keeps them" in found.cause and found.certainty == "certain"
    assert ("holds", line) in roles(found) and "`loss.item()`" in found.fix


def test_what_is_read_behind_the_loop_is_not_what_keeps(lint_script, roles):
    found = lint_script(KEEPING.replace("KEEP", "(lambda v: kept.append(v))(loss)").replace("READ", "sum(kept)"))
    told = found.only("graph-growth")
    assert "keeps them" not in told.cause and told.certainty == "likely" and "holds" not in dict(roles(told))


RUNNING = """
net = nn.Linear(3, 3); mean = ag.zeros(3)
for i in range(8):
    h = net(ag.randn(4, 3))
    mean = 0.9 * mean + 0.1 * h.mean(0)
    (h - mean.detach()).pow(2).mean().backward()
"""


def test_a_running_value_that_keeps_every_graph(linted, lines_of):
    found = linted(RUNNING).only("graph-growth")
    assert (
        lines_of(found, "holds") == [5] and "`mean = 0.9 * mean + 0.1 * h.mean(0)` at line 5 keeps them" in found.cause
    )
    assert "`mean = mean.detach()`" in found.fix and found.certainty == "certain"


def test_a_running_value_without_its_graph_is_right(linted):
    assert linted(RUNNING.replace("h.mean(0)", "h.mean(0).detach()")).lints == []


def test_what_a_circle_of_gradients_keeps_is_told_once(linted):
    linted("""
net = nn.Linear(3, 1); opt = optim.SGD(net.parameters(), 0.1)
for i in range(6):
    loss = net(ag.randn(4, 3)).pow(2).mean()
    loss.backward(create_graph=True)
    opt.step()
""").only("gradient-cycle")


CACHING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.cache = nn.Linear(4, 4), {}
    def forward(self, x):
        y = self.layer(x).relu()
        self.cache[KEY] = y
        return y
net = Net()
for i in range(8):
    net(ag.randn(2, 4)).sum().backward()
"""


def test_a_module_that_keeps_what_it_made(lint_script):
    found = [
        each for each in lint_script(CACHING.replace("KEY", "len(self.cache)")).lints if each.kind == "graph-growth"
    ]
    assert "`self.cache[len(self.cache)] = y` at line" in found[0].cause and "`y.detach()`" in found[0].fix
    assert [each.kind for each in lint_script(CACHING.replace("KEY", "'last'")).lints] == []


# ----- what has no name of its own -----

BUFFERED = """
import collections
q, buf = nn.Linear(3, 1), BUF
for turn in range(8):
    buf.append((q(ag.ones(3)).tanh(), turn))
    if len(buf) >= 2:
        loss = sum(each for each, _ in list(buf)[-2:]).sum()
        loss.backward(retain_graph=True)
"""


def test_a_collection_of_what_has_no_name_is_named_itself(lint_script, lines_of):
    found = lint_script(BUFFERED.replace("BUF", "[]")).only("graph-growth")
    assert "`buf.append((q(ag.ones(3)).tanh(), turn))` at line" in found.cause and len(lines_of(found, "holds")) == 1
    assert "Take out of `buf` what no backward() goes through any more, as a deque(maxlen=...)" in found.fix
    assert "loss" not in found.fix


def test_a_buffer_of_the_last_ones_does_not_grow(lint_script):
    told = lint_script(BUFFERED.replace("BUF", "collections.deque(maxlen=2)"))
    assert [each for each in told.lints if each.kind == "graph-growth"] == []
