"""The fix is right when it is taken at its word: each script is run, its fix is read, and the mended script is run."""

import os

import pytest

from agdbg.diagnose import diagnose, enclosing, owner
from agdbg.engines import native
from agdbg.record import Facts, Recorder, Trace
from agdbg.record.lookup import NO_SITE, Site

HEAD = "import agdbg_engine as ag; from agdbg_engine import nn, optim; ag.manual_seed(0)\n"  # line 1

GAN = """
G = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
D = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 1), nn.Sigmoid())
og, od = optim.Adam(G.parameters()), optim.Adam(D.parameters())
for turn in range(2):
    fake = G(ag.randn(8, 4))
    d_fake = D(fake)
    d_loss = (d_fake ** 2).mean()
    d_loss.backward(RETAIN)
    od.step()
    g_loss = ((d_fake - 1) ** 2).mean()
    g_loss.backward()
    og.step()
"""

STEP = """
net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2))
opt = optim.SGD(net.parameters(), lr=.1)
for turn in range(2):
    out = net(ag.ones(2, 3))
    one = out[:, 0].mean()
    one.backward(RETAIN)
    opt.step()
    two = (out * out).mean()
    two.backward()
"""

TBPTT = """
class RNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 4), nn.Linear(4, 4)
    def step(self, x, h):
        return ag.tanh(self.a(x) + self.b(h))
    def forward(self, xs, h):
        for t in range(3):
            h = self.step(xs[:, t], h)
        return h
def train():
    net = RNN()
    hidden = ag.zeros(2, 4)
    for chunk in range(3):
        hidden = net(ag.ones(2, 3, 3), hidden)
        loss = hidden.sum()
        loss.backward()
train()
"""

INNER_LOOP = """
w = ag.tensor([.5, .5], requires_grad=True)
h = ag.zeros(2)
for chunk in range(3):
    for t in range(2):
        h = ag.tanh(h * w + 1)
    loss = h.sum()
    loss.backward()
"""

TOTAL = """
w = ag.tensor([.5, .5], requires_grad=True)
total = 0
for step in range(3):
    loss = (w * w).sum()
    total = total + loss
    total.backward()
print(total)
"""

SAVED = "x = ag.ones(3, requires_grad=True)\ny = x.exp()\n"

HELPER = "def scale(t):\n    t *= 2\n" + SAVED + "scale(y)\ny.sum().backward()\n"
MODULE_LIKE = "class S:\n    def fit(self, t):\n        t[0] = 5.\n" + SAVED + "S().fit(y)\ny.sum().backward()\n"
RETURNED = "def scale(t):\n    t *= 2\n    return t\n" + SAVED + "y = scale(y)\ny.sum().backward()\n"
COMPREHENSION = SAVED + "acts = [y]\nacts = [a.mul_(2) for a in acts]\nacts[0].sum().backward()\n"
DROPPED = SAVED + "acts = [y]\n[a.mul_(2) for a in acts]\nacts[0].sum().backward()\n"
LAMBDA = SAVED + "double = lambda t: t.mul_(2)\ndouble(y).sum().backward()\n"
ARGUMENT = SAVED + "z = ag.relu(y.mul_(2))\nz.sum().backward()\n"
ELEMENT = SAVED + "acts = [y]\nfor a in acts:\n    a.mul_(2)\nacts[0].sum().backward()\n"
USED_ELEMENT = SAVED + "total = 0\nfor a in [y]:\n    a.mul_(2)\n    total = total + a.sum()\ntotal.backward()\n"
GLOBAL = SAVED + "def double():\n    y.mul_(2)\ndouble()\ny.sum().backward()\n"
NONLOCAL = (
    "def main():\n    x = ag.ones(3, requires_grad=True)\n    y = x.exp()\n    def double():\n        y.mul_(2)\n"
    "    double()\n    y.sum().backward()\nmain()\n"
)
DECLARED = GLOBAL.replace("    y.mul_(2)", "    global y\n    y.mul_(2)")
SEVERAL = SAVED + "y *= 2\ny += 1\ny.sum().backward()\n"
MANY = SAVED + "".join(f"y += {n}\n" for n in range(1, 7)) + "y.sum().backward()\n"
VIEWED = SAVED + "y[0] = 5.\nv = y[1:]\nv.mul_(3)\ny.sum().backward()\n"
CHAIN = SAVED + "(y\n .mul_(2)\n .add_(1))\ny.sum().backward()\n"
KEY = "x = ag.ones(3, requires_grad=True)\nh = {'y': x.exp()}\nh['y'] += 1\nh['y'].sum().backward()\n"
SAME_LOSS = """
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
opt = optim.SGD(net.parameters(), lr=.1)
loss = net(ag.ones(2, 3)).sum()
loss.backward(retain_graph=True)
opt.step()
loss.backward()
"""
SAME_LOSS_LOOP = """
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
opt = optim.SGD(net.parameters(), lr=.1)
loss = net(ag.ones(2, 3)).sum()
for turn in range(2):
    loss.backward(retain_graph=True)
    opt.step()
"""

KEPT = "retain_graph=True"

#: Script, what the fix says, and what it does to the script.
CASES = {
    "gan": (
        GAN.replace("RETAIN", ""),
        "compute it twice: once on the detached input (`D(fake.detach())`) for `d_loss`, and once freshly (`D(fake)`) "
        "after the step for `g_loss`.",
        [("d_fake = D(fake)", "d_fake = D(fake.detach())"), ("od.step()", "od.step(); d_fake = D(fake)")],
    ),
    "gan, kept": (
        GAN.replace("RETAIN", KEPT),
        "Run the forward again after `od.step()` at line 11, and compute `g_loss` from it. Only if all these losses are",
        [("od.step()", "od.step(); d_fake = D(fake)")],
    ),
    "step": (
        STEP.replace("RETAIN", ""),
        "compute `out` again after the step.",
        [("opt.step()", "opt.step(); out = net(ag.ones(2, 3))")],
    ),
    "step, kept": (
        STEP.replace("RETAIN", KEPT),
        "Run the forward again after `opt.step()` at line 9, and compute `two` from it.",
        [("opt.step()", "opt.step(); out = net(ag.ones(2, 3))")],
    ),
    "tbptt": (
        TBPTT,
        "Detach `hidden`, which hands on the state that `RNN.step` returned, in `train` after `loss.backward()` at line 19: "
        "`hidden = hidden.detach()`. Not inside `RNN.step`",
        [("        loss.backward()", "        loss.backward()\n        hidden = hidden.detach()")],
    ),
    "inner loop": (
        INNER_LOOP,
        "`h = h.detach()`, after `loss.backward()` at line 9.",
        [("    loss.backward()", "    loss.backward()\n    h = h.detach()")],
    ),
    "total": (
        TOTAL,
        "`loss.backward()` in place of `total.backward()` at line 8, and keep the running sum `total` without a graph: "
        "`total = total + loss.detach()`, or `total += loss.item()`",
        [("total.backward()", "loss.backward()"), ("total + loss", "total + loss.detach()")],
    ),
    "helper": (
        HELPER,
        "`scale` changes its caller's tensor at line 3, by `t *= 2`: let it return the new tensor (`return t * 2`) and "
        "use that at the call, or clone it before the call: `y = y.clone()`.",
        [("t *= 2", "return t * 2"), ("\nscale(y)", "\ny = scale(y)")],
    ),
    "helper, cloned": (HELPER, "`y = y.clone()`", [("\nscale(y)", "\ny = y.clone()\nscale(y)")]),
    "method": (
        MODULE_LIKE,
        "`S.fit` changes its caller's tensor at line 4, by `t[0] = 5.0`",
        [("\nS()", "\ny = y.clone()\nS()")],
    ),
    "returned": (RETURNED, "`t = t * 2`", [("t *= 2", "t = t * 2")]),
    "comprehension": (
        COMPREHENSION,
        "Use the out-of-place `a.mul(2)` as the value, instead of `a.mul_(2)` at line 5",
        [("mul_", "mul")],
    ),
    "comprehension, dropped": (
        DROPPED,
        "at line 5: `acts = [a.mul(2) for a in acts]`.",
        [("[a.mul_(2) for", "acts = [a.mul(2) for")],
    ),
    "lambda": (LAMBDA, "Use the out-of-place `t.mul(2)` as the value", [("mul_", "mul")]),
    "argument": (ARGUMENT, "Use the out-of-place `y.mul(2)` as the value", [("mul_", "mul")]),
    "element": (
        ELEMENT,
        "append `a.mul(2)` to it instead of `a.mul_(2)` at line 6",
        [("for a", "new = []\nfor a"), ("a.mul_(2)", "new.append(a.mul(2))"), ("acts[0]", "new[0]")],
    ),
    "element, used": (USED_ELEMENT, "`a = a.mul(2)`", [("a.mul_(2)", "a = a.mul(2)")]),
    "global": (
        GLOBAL,
        "say `global y` at the beginning of `double`, whose variable `y` is not, and then `y = y.mul(2)`.",
        [("y.mul_(2)", "global y; y = y.mul(2)")],
    ),
    "nonlocal": (NONLOCAL, "or say `nonlocal y`", [("y.mul_(2)", "nonlocal y; y = y.mul(2)")]),
    "declared": (DECLARED, "Write it out of place, `y = y.mul(2)`", [("y.mul_(2)", "y = y.mul(2)")]),
    "several": (
        SEVERAL,
        "Write all of it out of place: `y = y * 2` instead of `y *= 2` at line 4 and `y = y + 1` instead of `y += 1` at "
        "line 5.",
        [("y *= 2", "y = y * 2"), ("y += 1", "y = y + 1")],
    ),
    "many": (MANY, "The same goes for 2 more lines.", [(f"y += {n}", f"y = y + {n}") for n in range(1, 7)]),
    "viewed": (
        VIEWED,
        "`y = y.clone()` before line 4, and make views of it after that: the writes at line 4 and line 6 then",
        [("y[0]", "y = y.clone()\ny[0]")],
    ),
    "chain": (
        CHAIN,
        "`y = y.mul(2).add(1)`, instead of `y.mul_(2).add_(1)` at line 5.",
        [("(y\n .mul_(2)\n .add_(1))", "y = y.mul(2).add(1)")],
    ),
    "key": (KEY, "`h['y'] = h['y'] + 1`", [("h['y'] += 1", "h['y'] = h['y'] + 1")]),
    "same loss": (
        SAME_LOSS,
        "step once: move `opt.step()` at line 7 behind the last backward() that uses this graph (line 8).",
        [("opt.step()\nloss.backward()", "loss.backward()\nopt.step()")],
    ),
    "same loss, loop": (
        SAME_LOSS_LOOP,
        "step once: move `opt.step()` at line 8 behind the loop around line 7.",
        [("    opt.step()", "opt.step()")],
    ),
}


def recorded(directory, source, gone=False):
    """Run a script on the engine, in this process; what is found, and what it raised."""
    script = directory / "script.py"
    script.write_text(HEAD + source)
    recorder = Recorder(directory / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    native.attach(recorder)
    error = None
    try:
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    except RuntimeError as raised:
        error = raised
    finally:
        native.detach()
        recorder.close()
    if gone:
        script.unlink()
    return diagnose(Facts(Trace.open(recorder.path))), error


@pytest.mark.parametrize("name", CASES)
def test_the_fix_mends_the_script(tmp_path, name):
    source, says, changes = CASES[name]
    (tmp_path / "broken").mkdir()
    (found,), error = recorded(tmp_path / "broken", source)
    assert error is not None and says in found.fix, found.fix
    for old, new in changes:
        assert old in source
        source = source.replace(old, new, 1)
    (tmp_path / "mended").mkdir()
    assert recorded(tmp_path / "mended", source) == ([], None)


@pytest.mark.parametrize("name", CASES)
def test_a_script_that_is_gone_is_no_hindrance(tmp_path, name):
    (found,), _ = recorded(tmp_path, CASES[name][0], gone=True)
    assert found.fix.endswith(".")


def test_a_helper_without_its_source_is_not_told_to_rebind(tmp_path):
    (found,), _ = recorded(tmp_path, HELPER, gone=True)
    assert "let it return the new tensor (`return t * 2`)" in found.fix


def test_many_writes_are_named(tmp_path):
    (found,), _ = recorded(tmp_path, MANY)
    assert (
        "by `y += 1` at line 4, `y += 2` at line 5, `y += 3` at line 6, `y += 4` at line 7 and 2 more before"
        in found.cause
    )


def test_two_models_with_one_parameter_name(tmp_path):
    (found,), _ = recorded(tmp_path, CASES["gan, kept"][0])
    assert "updated a parameter called `2.weight` (two have this name), saved by" in found.cause


CUTS = {
    "detach": ("loss = (w * w).detach().sum()", "leave out the detach()"),
    "data": ("loss = (w * w).data.sum()", "use the tensor itself and not its .data"),
    "no_grad": ("with ag.no_grad(): loss = (w * w).sum()", "move it out of the part where gradients are switched off"),
    "integer": ("loss = (w * w > 2).sum()", "compute the loss from the floating-point values before it"),
    "item": ("loss = ag.tensor((w * w).sum().item())", "compute with the tensor itself, and use item()"),
    "numpy": (
        "loss = ag.tensor((w * w).detach().numpy()).sum()",
        "At line 3, if the loss is computed from what it makes",
    ),
}


@pytest.mark.parametrize("name", CUTS)
def test_each_kind_of_cut_has_plain_advice(tmp_path, name):
    line, says = CUTS[name]
    (found,), error = recorded(tmp_path, f"w = ag.ones(3, requires_grad=True)\n{line}\nloss.backward()\n")
    assert error is not None and says in found.fix, found.fix


@pytest.mark.parametrize(
    "line",
    [
        "try: l.backward()\nexcept ValueError: pass",
        "if 0: pass\nelse: l.backward()",
        "try: pass\nfinally: l.backward()",
    ],
)
def test_a_call_on_the_line_of_a_compound_statement_is_quoted(tmp_path, line):
    (found,), _ = recorded(tmp_path, f"x = ag.ones(3, requires_grad=True)\nl = (x * x).sum()\nl.backward()\n{line}\n")
    assert found.cause.startswith("`l.backward()` at line ")


def test_what_is_no_plain_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "long.py").write_text("y.mul_(2)\n" + "#" * enclosing.LIMIT)
    (tmp_path / "broken.py").write_text("y.mul_(2)\ndef (:")
    for file in [*map(str, tmp_path.iterdir()), "/dev/zero", str(tmp_path), "train.py", "\0", ""]:
        site = Site(file, 1, "f", 0, 9, "y.mul_(2)", 1)
        assert not enclosing.place(site).known
        assert owner.owner(site, "y", NO_SITE) == "helper"


def test_a_file_that_was_edited_since_is_not_believed(tmp_path):
    (tmp_path / "train.py").write_text("def f(y):\n    y.mul_(3)\n")
    site = Site(str(tmp_path / "train.py"), 2, "g", 4, 13, "    y.mul_(2)", 2)
    assert not enclosing.place(site).known


@pytest.mark.parametrize(
    ("line", "whose"),
    [
        ("y.mul_(2)", "rebind"),
        ("y *= 2", "rebind"),
        ("y[0] = 2", "rebind"),
        ("z = y.mul_(2)", "value"),
        ("return y.mul_(2)", "value"),
        ("[y.mul_(2) for y in ys]", "value"),
        ("z = [y.mul_(2) for y in ys]", "value"),
        ("f(lambda y: y.mul_(2))", "value"),
    ],
)
def test_a_line_without_columns_or_file(line, whose):
    site = Site("train.py", 1, "<module>", text=line)
    assert owner.owner(site, "y", NO_SITE) == whose
