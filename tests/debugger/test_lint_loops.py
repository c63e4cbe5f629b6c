"""What goes wrong in every turn of a loop is one finding, which says how often; and who wrote is known, by what it did."""

import re

import pytest

DATA = """
w = ag.ones(3, requires_grad=True)
for i in range(3):
    y = ag.exp(w)
    y.data.clamp_(max=1.0)
    y.sum().backward()
"""
ARRAY = """
w = ag.ones(4, requires_grad=True)
for i in range(60):
    y = ag.exp(w)
    a = y.detach().numpy()
    a *= 2
    y.sum().backward()
"""
METHOD = """
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
    def forward(self, x):
        s = ag.sigmoid(self.lin(x))
        self.limit(s)
        return s.sum()
    @staticmethod
    def limit(t):
        raw = t.detach().numpy()
        np.minimum(raw, 0.1, out=raw)
m = Norm()
for _ in range(3):
    m(ag.ones(3, 4)).backward()
"""
HELPER = """
def fill(arr):
    arr[...] = 0.5
w = ag.ones(3, requires_grad=True)
for i in range(2):
    y = ag.tanh(w)
    fill(y.detach().numpy())
    y.sum().backward()
"""
LATE = """
w = ag.ones(3, requires_grad=True)
for i in range(3):
    y = ag.exp(w)
    y.data.mul_(1.0 if i < 2 else 2.0)
    y.sum().backward()
"""
FUNCTION = """
class Drop(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x, p):
        keep = (np.arange(x.numel()).reshape(x.shape) % 2).astype('float32')
        ctx.keep = ag.from_numpy(keep)
        x.numpy()[...] *= keep
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        return g * ctx.keep, None
lin = nn.Linear(4, 4)
for _ in range(2):
    h = ag.tanh(lin(ag.ones(2, 4)))
    Drop.apply(h, .5).pow(2).sum().backward()
"""
WRITES = {  # the script, the line that wrote, its words, how often
    "data": (DATA, 5, "`y.data.clamp_(max=1.0)` at line 5", "3 times"),
    "an array": (ARRAY, 6, "`a *= 2` at line 6", "60 times"),
    "an array in a method": (METHOD, 13, "`np.minimum(raw, 0.1, out=raw)` at line 13", "3 times"),
    "a helper that fills": (HELPER, 7, "`fill(y.detach().numpy())` at line 7", "2 times"),
    "a custom function": (FUNCTION, 7, "`x.numpy()[...] *= keep` at line 7", "2 times"),
    "only in a late turn": (LATE, 5, "`y.data.mul_(1.0 if i < 2 else 2.0)` at line 5", ""),
}


@pytest.mark.parametrize("name", WRITES)
def test_one_finding_with_its_writer(linted, lines_of, name):
    source, line, words, times = WRITES[name]
    found = linted(source).only("silent-write")
    assert lines_of(found, "wrote") == [line] and words in found.cause
    assert times in found.evidence[-1].note and ("times" in found.evidence[-1].note) == bool(times)


def test_two_lines_that_write_are_two_findings(linted, lines_of):
    source = """
w = ag.ones(3, requires_grad=True)
for i in range(2):
    y = ag.exp(w)
    if i: y.data.mul_(2.0)
    else: y.data.mul_(3.0)
    y.sum().backward()
"""
    assert sorted(lines_of(found, "wrote") for found in linted(source).lints) == [[5], [6]]


def test_a_copy_that_is_filled_from_it_is_no_writer(linted, lines_of):
    source = """
w, kept = ag.ones(3, requires_grad=True), ag.zeros(3)
y = ag.exp(w)
kept.copy_(y.detach())
y.data.mul_(2.0)
y.sum().backward()
"""
    assert lines_of(linted(source).only("silent-write"), "wrote") == [5]


def test_a_recomputation_that_differs_in_every_turn(linted):
    source = """
from agdbg_engine.utils.checkpoint import checkpoint
class State:
    k = 1.0
    def f(self, x):
        return ag.exp(x * self.k)
s, x = State(), ag.ones(3, requires_grad=True)
for i in range(30):
    y = checkpoint(s.f, x, use_reentrant=False)
    s.k += 1e-3
    y.sum().backward()
"""
    assert "the same came 30 times" in linted(source).only("recomputation").evidence[-1].note


# ----- by the op, not by the text on the line -----

STEPS = {
    "a simulator's step": (
        "a = ag.tanh(w)\nclass Env:\n    def step(self, s): return s.sum()\nEnv().step(a.mul_(2)).backward()",
        "`a.mul_(2)`",
    ),
    "one line for all": (
        "opt = optim.SGD([w], lr=.1)\n"
        "h = (w * 2).tanh(); h[h < 0] = 0; loss = h.sum(); opt.zero_grad(); loss.backward(); opt.step()",
        "`h[h < 0] = 0`",
    ),
    "a layer in place": (
        "net = nn.Sequential(nn.Sigmoid(), nn.ReLU(inplace=True))\nopt = optim.SGD([w], lr=.1)\n"
        "opt.zero_grad(); net(w * 1).sum().backward(); opt.step()",
        "`relu_`",
    ),
    "a zero_grad of its own": (
        "class S:\n    def zero_grad(self, t): return t\na = ag.sigmoid(w)\nS().zero_grad(a.add_(1)).sum().backward()",
        "`a.add_(1)`",
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_what_wrote_is_told_by_its_op(linted, name):
    source, words = STEPS[name]
    (found,) = linted("w = ag.ones(3, requires_grad=True)\n" + source).diagnosed
    assert f"was changed by {words}" in found.cause and "step" not in found.fix and "zero_grad" not in found.fix


def test_an_optimizer_on_a_line_with_other_writes_is_still_one(linted):
    (found,) = linted(
        "w = ag.ones(3, requires_grad=True)\nopt = optim.SGD([w], lr=.1)\nloss = (w * w).sum()\n"
        "loss.backward(retain_graph=True); opt.step(); loss.backward()"
    ).diagnosed
    assert found.cause.startswith("The optimizer step (SGD.step)")


BANKS = {
    "list": ("bank = []", "bank.append(z)", "ag.cat(bank)", "`bank = [each.detach() for each in bank]`"),
    "dict": (
        "bank = {}",
        "bank[i] = z",
        "ag.cat(list(bank.values()))",
        "`bank = {key: each.detach() for key, each in bank.items()}`",
    ),
}


@pytest.mark.parametrize("kind", BANKS)
def test_a_collection_hands_on_what_is_in_it(linted, kind):
    made, keep, used, fix = BANKS[kind]
    source = f"""
net = nn.Linear(3, 2); {made}
for i in range(3):
    z = ag.tanh(net(ag.randn(2, 3))); {keep}
    loss = {used}.pow(2).mean(); loss.backward(); MEND
"""
    (found,) = linted(source.replace("MEND", "pass")).diagnosed
    assert f"Detach what `bank` keeps, `{keep}`" in found.fix and fix in found.fix


@pytest.mark.parametrize("kind", BANKS)
def test_what_the_fix_of_a_collection_says_is_right(linted, kind):
    made, keep, used, fix = BANKS[kind]
    assert not linted(f"""
net = nn.Linear(3, 2); {made}
for i in range(3):
    z = ag.tanh(net(ag.randn(2, 3))); {keep}
    loss = {used}.pow(2).mean(); loss.backward(); {fix.strip("`")}
""").error


def test_a_state_that_is_collected_too_is_what_is_detached(linted):
    (found,) = linted("""
cell = nn.Linear(3, 3); h = ag.zeros(1, 3); hist = []
for i in range(3):
    h = ag.tanh(cell(h)); hist.append(h)
    h.sum().backward()
""").diagnosed
    assert "`h = h.detach()`" in found.fix


#: What begins, and a loop's body: the name that is detached is not the one that the next iteration reads.
KEPT = {
    "list": ("hist = [ag.zeros(3)]", "h = ag.tanh(hist[-1] * w + 1); hist.append(h)"),
    "by another name": ("hist = [ag.zeros(3)]", "prev = hist[-1]; h = ag.tanh(prev * w + 1); hist.append(h)"),
    "with a number": (
        "hist = [(0, ag.zeros(3))]",
        "i, prev = hist[-1]; h = ag.tanh(prev * w + 1); hist.append((i + 1, h))",
    ),
    "in front": ("hist = [ag.zeros(3)]", "h = ag.tanh(hist[0] * w + 1); hist.insert(0, h)"),
    "added": ("hist = [ag.zeros(3)]", "h = ag.tanh(hist[-1] * w + 1); hist += [h]"),
    "joined": ("hist = [ag.zeros(3)]", "h = ag.tanh(hist[-1] * w + 1); hist = hist + [h]"),
    "name": ("prev = ag.zeros(3)", "h = ag.tanh(prev * w + 1); prev = h"),
    "item": ("state = {'h': ag.zeros(3)}", "h = ag.tanh(state['h'] * w + 1); state['h'] = h"),
    "attribute": ("net = nn.Module(); net.h = ag.zeros(3)", "h = ag.tanh(net.h * w + 1); net.h = h"),
    "of a function": ("hist = [ag.zeros(3)]\ndef f(t): return ag.tanh(t * w + 1)", "h = f(hist[-1]); hist.append(h)"),
    "in a function": (
        "hist = [ag.zeros(3)]\ndef f():\n    h = ag.tanh(hist[-1] * w + 1); hist.append(h)\n    return h.sum()",
        "h = f()",
    ),
}


@pytest.mark.parametrize("begin, body", KEPT.values(), ids=KEPT)
def test_what_keeps_it_is_what_is_mended(lint_script, begin, body):
    source = f"w = ag.ones(3, requires_grad=True)\n{begin}\nfor turn in range(3):\n    {body}\n    h.sum().backward()\n"
    (found,) = lint_script(source, error=RuntimeError).findings
    new, old = re.search("^Keep `h` without its graph: `(.+?)` in place of `(.+?)` at line", found.fix).groups()
    assert source.count(old) == 1
    assert lint_script(source.replace(old, new)).findings == []


#: The same, where this iteration uses what it has kept: that is to have its graph until backward() has run.
READ_BEHIND = {
    "list": ("hist = [ag.zeros(3)]", "h = ag.tanh(hist[-1] * w + 1)\n    hist.append(h)\n    h = hist[-1] * 2"),
    "item": (
        "state = {'h': ag.zeros(3)}",
        "h = ag.tanh(state['h'] * w + 1)\n    state['h'] = h\n    h = state['h'] * 2",
    ),
    "inner loop": (
        "hist = [ag.zeros(3)]",
        "for step in range(2):\n        h = ag.tanh(hist[-1] * w + 1)\n        hist.append(h)",
    ),
}


@pytest.mark.parametrize("begin, body", READ_BEHIND.values(), ids=READ_BEHIND)
def test_what_is_kept_and_used_is_detached_behind_the_pass(lint_script, begin, body):
    source = f"w = ag.ones(3, requires_grad=True)\n{begin}\nfor turn in range(3):\n    {body}\n    h.sum().backward()\n"
    (found,) = lint_script(source, error=RuntimeError).findings
    how = re.search("before the next iteration uses it: `(.+?)`", found.fix)[1]
    assert (
        found.fix.startswith(("Detach what `", "Detach `hist` before"))
        and lint_script(f"{source}    {how}\n").findings == []
    )
