"""Checkpointed functions that do something else when they run again: the first op that differs, and why."""

import pytest

from agdbg.engines.native_rare import RareSink

HEAD = """
import random
from agdbg_engine.utils.checkpoint import checkpoint
state = {"scale": 1.0}
calls = [0]
"""  # lines 5 to 8


def differs(lint_script, source, **how):
    return lint_script(HEAD + source, **how).only("recomputation")


def test_a_number_that_changed(lint_script, roles):
    source = "def f(t):\n    state['scale'] += 1\n    return (t * state['scale']).exp()\ncheckpoint(f, x, use_reentrant=False).sum().backward()"
    found = differs(lint_script, source)
    assert "the first op that differs was `mul with 2.0` at line 11 and became `mul with 3.0`" in found.cause
    assert "`state['scale']`" in found.cause and found.certainty == "certain"
    assert roles(found) == [("first run", 11), ("second run", 11), ("needed", 12)]


def test_a_branch(lint_script, roles):
    source = """
def f(t):
    calls[0] += 1
    if calls[0] > 1:
        return t.exp().sin()
    return t.exp().cos()
checkpoint(f, x, use_reentrant=False).sum().backward()
"""
    found = differs(lint_script, source)
    assert "the first op that differs was cos at line 14 and became sin at line 13" in found.cause
    assert "`calls[0] > 1` depends on something that changed between the two runs" in found.cause


def test_a_coin(lint_script):
    source = """
coins = iter([0.1, 0.9])
random.random = lambda: next(coins)
def f(t):
    if random.random() < 0.5:
        u = t.tanh()
    else:
        u = t.exp()
    return u
checkpoint(f, x, use_reentrant=False).sum().backward()
"""
    original = "saved = random.random\n" + source + "random.random = saved"
    assert "`random.random() < 0.5` draws random numbers that are not repeated" in differs(lint_script, original).cause


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("drawing", ["ag.rand(2)", "ag.nn.functional.dropout(ag.ones(2), 0.5)"])
def test_random_numbers_that_nobody_keeps(lint_script, reentrant, drawing):
    source = f"def f(t): return (t * {drawing}).exp()\ncheckpoint(f, x, use_reentrant={reentrant}, preserve_rng_state=False).sum().backward()"
    found = differs(lint_script, source)
    assert (
        "drew other random numbers, since preserve_rng_state=False" in found.cause
        and "preserve_rng_state=True" in found.fix
    )


def test_a_parameter_that_was_stepped_in_between(lint_script, roles):
    source = """
m = nn.Linear(2, 2)
y = checkpoint(lambda t: m(t).exp().sin(), x, use_reentrant=False).sum()
with ag.no_grad():
    m.weight.mul_(3)
try: y.backward()
except RuntimeError: pass
"""
    found = differs(lint_script, source)
    assert (
        "`weight` of AddmmBackward0 at line 11 was changed in place by mul_ at line 13 between the two runs"
        in found.cause
    )
    assert roles(found) == [("first run", 11), ("wrote", 13), ("needed", 14)]


def test_state_that_a_re_entrant_checkpoint_writes(lint_script, roles):
    source = """
count = ag.zeros(1)
def f(t):
    count.add_(1)
    return (t * count).exp()
checkpoint(f, x, use_reentrant=True).sum().backward()
"""
    found = differs(lint_script, source)
    assert "`count` of MulBackward0 at line 13 was changed in place by add_ at line 12" in found.cause
    assert roles(found) == [("wrote", 12), ("needed", 14)]


def test_values_that_no_op_tells(lint_script):
    """A new tensor in a global: the same ops on the same line, on other numbers."""
    source = """
held = [ag.tensor([1., 1.])]
def f(t):
    held[0] = held[0] * 2
    return (t * held[0]).exp().sin()
checkpoint(f, x, use_reentrant=False).sum().backward()
"""
    found = differs(lint_script, source)
    assert found.certainty == "likely" and "the first op with another result is MulBackward0 at line 13" in found.cause
    assert "recomputation" not in lint_script(HEAD + source, also=()).kinds(), "without values nobody can know"


def test_what_a_batch_of_records_parts(lint_script, monkeypatch):
    """One may end between what was computed again and the word that it was."""

    def recomputed(sink, *told):
        sink.recorder.tick(0)
        real(sink, *told)

    real = RareSink.recomputed
    monkeypatch.setattr(RareSink, "recomputed", recomputed)
    test_values_that_no_op_tells(lint_script)


def test_layers_alone_that_were_stepped_in_between(lint_script, roles):
    """What runs again has no line of the program but that of the pass."""
    source = """
net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2), nn.Tanh())
opt = ag.optim.SGD(net.parameters(), lr=0.1)
for turn in range(2):
    y = checkpoint(net, x, use_reentrant=False).sum()
    if turn: opt.step()
    try: y.backward()
    except RuntimeError: pass
    if not turn: opt.step()
"""
    found = differs(lint_script, source)
    assert (
        "parameter `0.weight` (and 3 more parameters) of AddmmBackward0 at line 13 was changed in place by the optimizer step "
        "(SGD.step) at line 14" in found.cause
    )
    assert "Step after backward(): move `opt.step()` at line 14 behind `y.backward()` at line 15" in found.fix
    assert roles(found) == [("first run", 13), ("wrote", 14), ("needed", 15)]


STEPPED = """
net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
opt = ag.optim.SGD(net.parameters(), lr=0.1)
net[0].weight.grad = ag.ones(2, 2)
t = ag.ones(3, 2, requires_grad={grad})
y = checkpoint(net, t, use_reentrant={reentrant}).sum()
{first}
{second}
"""
WRITES = {
    "opt.step()": ("the optimizer step (SGD.step)", "Step after backward(): move `opt.step()` at line 15 behind"),
    "with ag.no_grad(): net[0].weight.mul_(2)": ("mul_", "Do the update at line 15 after"),
    "net.load_state_dict({k: v + 1 for k, v in net.state_dict().items()})": (
        "`net.load_state_dict(...)`",
        "Load the state at line 15 after",
    ),
}


@pytest.mark.parametrize(("grad", "reentrant"), [(False, False), (True, True)])
@pytest.mark.parametrize("also", [(), ("values",)])
@pytest.mark.parametrize("write", WRITES)
def test_a_parameter_that_nothing_saved(lint_script, roles, write, also, grad, reentrant):
    """Its gradient needs the input only: no version tells, and no error is raised; the fix makes it right."""
    by, fix = WRITES[write]
    how = {"grad": grad, "reentrant": reentrant}
    wrong = STEPPED.format(first=write, second="y.backward()", **how)
    found = lint_script(HEAD + wrong, also=also).only("recomputation")
    assert "parameter `0.weight`" in found.cause
    assert f"was changed in place by {by} at line 15 between the two runs. Nothing was raised" in found.cause
    assert roles(found) == [("first run", 14), ("wrote", 15), ("needed", 16)]
    assert found.fix.startswith(fix)
    assert "`y.backward()` at line 16" in found.fix
    right = STEPPED.format(first="y.backward()", second=write, **how)
    assert "recomputation" not in lint_script(HEAD + right, also=also).kinds()


def test_a_step_of_the_turn_before(lint_script):
    """The step stands behind the call of backward(), so it cannot be moved there."""
    source = """
net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
opt = ag.optim.SGD(net.parameters(), lr=0.1)
before = None
for turn in range(3):
    y = checkpoint(net, ag.ones(3, 2), use_reentrant=False)
    if before is not None:
        before.sum().backward()
        opt.step()
    before = y
"""
    found = differs(lint_script, source)
    assert "changed in place by the optimizer step (SGD.step) at line 17" in found.cause
    assert found.fix.startswith(
        "Call backward() on what the checkpoint computes before `opt.step()` at line 17 runs, or run the forward"
    )


@pytest.mark.parametrize(("grad", "reentrant"), [(False, False), (True, True)])
def test_a_step_that_changes_nothing_is_no_fault(lint_script, grad, reentrant):
    still = STEPPED.format(first="opt.step()", second="y.backward()", grad=grad, reentrant=reentrant)
    assert "recomputation" not in lint_script(HEAD + still.replace("lr=0.1", "lr=0.0")).kinds()


@pytest.mark.parametrize(
    ("grad", "reentrant", "also"), [(False, False, ()), (False, False, ("values",)), (True, True, ("values",))]
)
def test_a_parameter_that_each_run_writes_to_the_same_values_is_no_fault(lint_script, grad, reentrant, also):
    source = f"""
net = nn.Linear(2, 2)
def f(t):
    with ag.no_grad(): net.weight.clamp_(-0.1, 0.1)
    return net(t)
t = ag.ones(3, 2, requires_grad={grad})
checkpoint(f, t, use_reentrant={reentrant}).tanh().sum().backward()
"""
    assert "recomputation" not in lint_script(HEAD + source, also=also).kinds()


RIGHT = {
    "statistics of a batch": (
        "m = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))\nb = ag.randn(6, 2, requires_grad=True)\n"
        "for how in (True, False): checkpoint(m, b, use_reentrant=how).sum().backward()"
    ),
    "the same": "checkpoint(lambda t: (t * 2).exp(), x, use_reentrant=False).sum().backward()",
    "random numbers that are kept": "checkpoint(lambda t: (t * ag.rand(2)).exp(), x, use_reentrant=False).sum().backward()",
    "seeded by itself": (
        "def f(t):\n    ag.manual_seed(3)\n    return (t * ag.rand(2)).exp().sin()\n"
        "checkpoint(f, x, use_reentrant=False, preserve_rng_state=False).sum().backward()"
    ),
    "nothing random": "checkpoint(lambda t: t.exp(), x, use_reentrant=False, preserve_rng_state=False).sum().backward()",
    "a layer, trained": """
m = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Tanh())
opt = ag.optim.SGD(m.parameters(), lr=0.1)
for turn in range(4):
    opt.zero_grad()
    checkpoint(m, x, use_reentrant=False).sum().backward()
    opt.step()
""",
    "re-entrant layers, trained": """
net, head = nn.Sequential(nn.Linear(2, 2), nn.Tanh()), nn.Linear(2, 1)
opt = ag.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for turn in range(3):
    b = ag.randn(5, 2, requires_grad=True)
    loss = head(checkpoint(net, b, use_reentrant=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "small blocks of layers, trained": """
blocks = nn.ModuleList([nn.Sequential(nn.Linear(2, 2), nn.Tanh()) for _ in range(3)])
opt = ag.optim.Adam(blocks.parameters())
for how in (False, True, False):
    h = ag.randn(5, 2).requires_grad_()
    for block in blocks: h = checkpoint(block, h, use_reentrant=how)
    opt.zero_grad()
    h.pow(2).sum().backward()
    opt.step()
""",
    "a function first as it is and then in both ways": """
m = nn.Linear(2, 2)
def f(t): return nn.functional.dropout(ag.tanh(m(t)), 0.5)
f(x).sum().backward()
for how in (False, True, True): checkpoint(f, x, use_reentrant=how).sum().backward()
y = f(x)
(y + checkpoint(f, x, use_reentrant=True)).sum().backward()
""",
    "a function that repeats itself": """
ws = [ag.randn(2, requires_grad=True) for _ in range(3)]
def f(t):
    out = []
    for w in ws:
        t = ag.tanh(t * w)
        out.append(t)
    return out
for part in (0, 1, 2): checkpoint(f, x, use_reentrant=False)[part].sum().backward()
""",
    "a checkpoint in a checkpoint": """
m = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
opt = ag.optim.SGD(m.parameters(), lr=0.1)
def outer(t): return m(checkpoint(m, m(t), use_reentrant=False)).exp()
for turn in range(3):
    opt.zero_grad()
    checkpoint(outer, x, use_reentrant=False).sum().backward()
    opt.step()
""",
    "re-entrant": "m = nn.Linear(2, 2)\nfor turn in range(3): checkpoint(m, x, use_reentrant=True).sum().backward()",
    "two in a row": (
        "m = nn.Linear(2, 2)\ny = checkpoint(m, checkpoint(m, x, use_reentrant=False), use_reentrant=False)\ny.exp().sum().backward()"
    ),
}


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_what_computes_the_same_is_right(lint_script, source):
    assert lint_script(HEAD + source).kinds() == []


# ----- where an error is raised (case 44) -----


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (
            "if len(calls) > 1: return t.sum().tanh()\n    return t.exp().tanh()",
            "`len(calls) > 1` depends on something that changed",
        ),
        (
            "return t.exp() if len(calls) > 1 else t.exp().tanh() * t",
            "it did less, tanh at line 12 was left out; `len(calls) > 1`",
        ),
    ],
)
def test_an_error_names_the_branch(lint_script, body, cause):
    source = f"calls.clear()\ndef f(t):\n    calls.append(1)\n    {body}\ncheckpoint(f, x, use_reentrant=False).sum().backward()"
    run = lint_script(HEAD + source, error=RuntimeError)
    (found,) = run.findings
    assert found.kind == "checkpoint" and cause in found.cause
    assert "recomputation" not in run.kinds(), "told once"


def test_a_number_of_an_object(lint_script):
    source = """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.temp = nn.Linear(2, 2), 1.0
    def forward(self, t):
        return ag.tanh(self.lin(t) * self.temp)
m = Scaled()
y = checkpoint(m, x, use_reentrant=False)
m.temp = 0.9
y.sum().backward()
"""
    assert "(`self.temp`?)" in differs(lint_script, source).cause


def test_random_numbers_of_another_library(lint_script, roles):
    source = """
import numpy as np
def f(t):
    mask = ag.from_numpy(np.random.rand(2))
    return (t.double() * mask).exp().sin()
checkpoint(f, x, use_reentrant=False).sum().backward()
"""
    found = differs(lint_script, source)
    assert "`np.random.rand(2)` at line 12 draws random numbers that are not repeated" in found.cause
    assert "draw what does not come from the engine's generator before the call" in found.fix
    assert roles(found) == [("first run", 12), ("first run", 13), ("second run", 13), ("needed", 14)]


REENTRANT = """
from agdbg_engine.utils.checkpoint import checkpoint
net = nn.Linear(3, 3); head = nn.Linear(3, 1)
h = checkpoint(BLOCK, ag.randn(2, 3), use_reentrant=True)
head(h).sum().backward()
"""


@pytest.mark.parametrize("block", ["net", "lambda x: net(x).relu()"])
def test_a_reentrant_checkpoint_without_an_input_that_requires_grad(linted, lines_of, block):
    found = linted(REENTRANT.replace("BLOCK", block)).only("no-gradient")
    assert "is reentrant, and none of its inputs requires grad" in found.cause
    assert lines_of(found, "cut") == [4] and "use_reentrant=False" in found.fix


@pytest.mark.parametrize("old, new", [("=True)", "=False)"), ("ag.randn(2, 3)", "ag.randn(2, 3).requires_grad_()")])
def test_what_the_fix_of_a_reentrant_checkpoint_says_is_right(linted, old, new):
    assert linted(REENTRANT.replace("BLOCK", "net").replace(old, new)).lints == []
