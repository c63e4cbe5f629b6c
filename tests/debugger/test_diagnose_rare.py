"""What rare features make of an error: checkpoints, state of modules, gradients of gradients, custom Functions."""

import subprocess
import sys

import pytest

from agdbg.diagnose import diagnose
from agdbg.engines import native
from agdbg.record import Facts, Recorder, Trace

HEAD = """import agdbg_engine as ag; from agdbg_engine import nn
from agdbg_engine.autograd import Function, grad
from agdbg_engine.utils.checkpoint import checkpoint
x = ag.tensor([1., 2., 3.], requires_grad=True)
"""  # lines 1 to 4


@pytest.fixture
def found(tmp_path):
    """A function that runs a script that fails, and returns the findings."""

    def run(source, error=RuntimeError):
        file = tmp_path / "script.py"
        file.write_text(HEAD + source.strip("\n") + "\n")
        recorder = Recorder(tmp_path / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
        native.attach(recorder)
        try:
            with pytest.raises(error):
                exec(compile(file.read_text(), str(file), "exec"), {"__name__": "__main__"})
        finally:
            native.detach()
            recorder.close()
        return diagnose(Facts(Trace.open(tmp_path / "trace")))

    return run


# ----- checkpoints: what is computed again did not run again -----

CHECKPOINTED = """
def f(t):
    return t.exp()
y = checkpoint(FUNCTION, x, use_reentrant=False)
y.sum().backward()
y.sum().backward()
"""


@pytest.mark.parametrize("function", ["f", "lambda t: t.exp()"])
def test_a_checkpoint_is_no_loop(found, function):
    (finding,) = found(CHECKPOINTED.replace("FUNCTION", function))
    assert finding.kind == "backward-twice"
    told = finding.cause + finding.fix
    assert "iteration" not in told and "loop" not in told
    assert (
        "`y.sum().backward()` at line 8 freed the graph of" in finding.cause and "line 9 needs as well" in finding.cause
    )
    assert "retain_graph=True to the first call, line 8" in finding.fix


CHECKPOINTED_STATE = """
def f(t, h):
    return (t * h).tanh()
h = x * 1
for step in range(3):
    h = checkpoint(f, x, h, use_reentrant=False)
    (h * h).sum().backward()
"""


def test_state_that_is_carried_through_a_checkpoint_is_carried(found):
    (finding,) = found(CHECKPOINTED_STATE)
    assert "previous iteration" in finding.cause and "detach()" in finding.fix


# ----- state with a first value -----

STATE = """
class S(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.h = nn.Linear(3, 3), None
    def forward(s, x):
        BODY
        return s.h
m = S()
for e in range(3):
    m(x).sum().backward()
"""
BODIES = {
    "expression": "s.h = s.l(x) if s.h is None else (s.l(x) + s.h).tanh()",
    "statement": "if s.h is None: s.h = s.l(x)\n        else: s.h = (s.l(x) + s.h).tanh()",
    "two statements": "s.h = h if (h := s.h) is None else (s.l(x) + h).tanh()\n        if h is None: s.h = s.l(x)",
}


@pytest.mark.parametrize("form", BODIES)
def test_state_is_carried_however_its_first_value_is_written(found, form):
    (finding,) = found(STATE.replace("BODY", BODIES[form]))
    assert "reaches back into the previous iteration through `s.h`" in finding.cause
    assert "`m.h = m.h.detach()`" in finding.fix and "Compute it again" not in finding.fix


TWO_OF_A_CLASS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
    def forward(self, x):
        h = self.a(x).relu()
        h = self.b(h).tanh()
        return h
encoder, head = Net(), Net()
features = encoder(x)
for e in range(3):
    head(features).sum().backward()
"""


def test_a_class_that_serves_twice_carries_nothing(found):
    (finding,) = found(TWO_OF_A_CLASS)
    assert "made once" in finding.cause and "iteration" not in finding.cause


# ----- gradients of gradients -----


@pytest.mark.parametrize(
    ("source", "certainty", "cause", "fix"),
    [
        (
            "g, = grad((x**3).sum(), x)\n(g * 2).sum().backward()",
            "likely",
            "`g`, a gradient that `grad((x ** 3).sum(), x)` at line 5 computed without create_graph=True",
            "Pass create_graph=True to `grad((x ** 3).sum(), x)` at line 5.",
        ),
        (
            "(x**3).sum().backward()\n(x.grad * 2).sum().backward()",
            "likely",
            "`x.grad`, a gradient that `(x ** 3).sum().backward()` at line 5 computed without create_graph=True",
            "Pass create_graph=True to `(x ** 3).sum().backward()` at line 5.",
        ),
        (
            "g = grad((x**3).sum(), x)[0]\nloss = g.sum() * 2\nloss.backward()",
            "possible",
            "no cut was recorded; `grad((x ** 3).sum(), x)` at line 5 computed gradients without create_graph=True",
            "if this is computed from its gradients; otherwise set requires_grad",
        ),
        (
            "def of(x):\n    return grad((x**3).sum(), x)[0]\nloss = of(x).sum() * 2\nloss.backward()",
            "possible",
            "no cut was recorded; `grad((x ** 3).sum(), x)` at line 6 computed gradients without create_graph=True",
            "if this is computed from its gradients; otherwise set requires_grad",
        ),
        (
            "g, = grad((x*2).sum(), x, create_graph=True)\ngrad(g.sum(), x)",
            "likely",
            "`grad(g.sum(), x)` at line 6 starts from a tensor without a graph: `g`, a gradient that",
            "take its derivative as zero",
        ),
        (
            "g, = grad((x**3).sum(), x, create_graph=True)\ng.detach().sum().backward()",
            "possible",
            "the last cut before that is at line 6 (detach)",
            "leave out the detach()",
        ),
    ],
)
def test_a_gradient_without_a_graph(found, source, certainty, cause, fix):
    (finding,) = found(source)
    assert (finding.kind, finding.certainty) == ("no-grad-fn", certainty)
    assert cause in finding.cause and fix in finding.fix
    assert finding.evidence[-1].role == "refused"


@pytest.mark.parametrize(
    "out", ["(x * 2).detach().numpy()", "np.asarray((x * 2).detach())", "(x * 2).detach().view(3).numpy()"]
)
def test_a_detach_that_numpy_asks_for_is_not_to_be_left_out(found, out):
    (finding,) = found(f"import numpy as np\nz = ag.tensor({out})\nz.sum().backward()")
    assert "line 6 (detach, on the way to NumPy)" in finding.cause
    assert "leave out" not in finding.fix and "instead of NumPy" in finding.fix


# ----- custom Functions -----

SAVES = """
class F(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[1]
h = x * 1
z = F.apply(h)
WRITE
z.sum().backward()
"""


@pytest.mark.parametrize(
    ("write", "kept"),
    [("z.mul_(2)", "its output (`saved_tensors[1]`)"), ("h.mul_(2)", "a tensor (`saved_tensors[0]`)")],
)
def test_what_a_function_saved_is_no_argument_by_that_name(found, write, kept):
    (finding,) = found(SAVES.replace("WRITE", write))
    (saved,) = [each for each in finding.evidence if each.role == "saved"]
    assert saved.note.startswith(f"FBackward saved {kept}")


# ----- anomaly mode under agdbg run -----

ANOMALY = """
def f(t):
    return t.sqrt()
with ag.autograd.detect_anomaly():
    f(x - 2).sum().backward()
"""


@pytest.mark.parametrize("as_module", [False, True])
def test_an_anomaly_trace_ends_at_the_program(tmp_path, as_module):
    (tmp_path / "nan.py").write_text(HEAD + ANOMALY.lstrip("\n"))
    target = ["-m", "nan"] if as_module else ["nan.py"]
    command = [sys.executable, "-m", "agdbg", "run", *target]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    _, _, traced = done.stderr.partition("Traceback of forward call that caused the error:\n")
    frames = [line.rpartition("in ")[2] for line in traced.splitlines()[:8] if line.startswith("  File")]
    user = [line for line in traced.splitlines() if line.startswith("  File")]
    assert ("<frozen runpy>" in user[0]) == as_module, "as without agdbg"
    assert frames[2 * as_module :][:2] == ["<module>", "f"]
    assert "agdbg/launch" not in done.stderr and "agdbg/cli.py" not in done.stderr


# ----- what the engine refuses precisely -----

WRONG = """
class F(Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b
    @staticmethod
    def backward(ctx, g):
        return RETURNED
F.apply(x, x * 2).sum().backward()
"""


@pytest.mark.parametrize(
    ("returned", "cause", "fix"),
    [
        (
            "g, g[:2]",
            "returned a gradient of shape [2] for its argument `b`, which has shape [3].",
            "Return a gradient of shape [3]",
        ),
        ("g", "returned 1 gradient where 2 are expected.", "Return 2 values"),
    ],
)
def test_a_wrong_gradient_names_function_and_argument(found, returned, cause, fix):
    (finding,) = found(WRONG.replace("RETURNED", returned))
    assert finding.kind == "invalid-gradient" and finding.certainty == "certain"
    assert finding.cause == f"The backward() of FBackward at line 12 {cause}" and finding.fix.startswith(fix)


@pytest.mark.parametrize("inputs", ["[x, w]", "inputs=(x, w)"])
def test_an_unused_input_is_named(found, inputs):
    (finding,) = found(f"w = x.detach().requires_grad_()\ngrad((x * 2).sum(), {inputs})")
    assert finding.kind == "none-grad" and "asks for the gradient of `w`" in finding.cause
    assert "allow_unused=True" in finding.fix


def test_an_unused_input_without_a_name_is_left_to_the_error(found):
    assert found("ws = [x, x.detach().requires_grad_()]\ngrad((x * 2).sum(), ws)") == []


def test_where_nan_came_from(found):
    warning = "import warnings; warnings.simplefilter('ignore')\n"
    (finding,) = found(f"{warning}with ag.autograd.detect_anomaly():\n    y = (x - 2).sqrt()\n    y.sum().backward()")
    assert finding.kind == "nan" and "`(x - 2).sqrt()` at line 7 gives to its input has NaN in it" in finding.cause
    assert "negative" in finding.fix and "clamp(min=eps)" in finding.fix
    assert [(each.role, each.site.line) for each in finding.evidence] == [("created", 7), ("needed", 8)]


STRICT = """
with ag.autograd.graph.strict_saved_tensors():
    h = x * 1
    z = h * x
    h.add_(1)
"""


def test_a_strict_write_names_who_saved(found):
    (finding,) = found(STRICT)
    assert finding.kind == "saved-written"
    assert finding.cause.startswith("`h.add_(1)` at line 8 would write into `h`, which MulBackward0 at line 7 saved")
    assert "`h.add(1)`" in finding.fix


MOODY = """
runs = []
def moody(a):
    runs.append(1)
    if len(runs) > 1:
        return a.sum().tanh()
    return a.exp().tanh()
checkpoint(moody, x, use_reentrant=False).sum().backward()
"""


def test_a_checkpoint_that_did_something_else_names_the_first_op(found):
    (finding,) = found(MOODY)
    assert finding.kind == "checkpoint"
    assert "the first op that differs was exp at line 10 and became sum_all at line 9; `len(runs) > 1`" in finding.cause
    assert [(each.role, each.site.line) for each in finding.evidence] == [
        ("first run", 10), ("second run", 9), ("needed", 11)
    ]  # fmt: skip


ONCE = """
from agdbg_engine.function import once_differentiable
class O(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]
y = O.apply(x)
g, = grad((y * x).sum(), x, create_graph=True)
g.sum().backward()
"""


def test_a_function_that_is_differentiable_once(found):
    (finding,) = found(ONCE)
    assert finding.kind == "once-differentiable"
    assert "`g.sum().backward()` at line 17 differentiates the backward() of OBackward at line 15" in finding.cause
    assert [(each.role, each.site.line) for each in finding.evidence] == [
        ("applied", 15), ("first call", 16), ("second call", 17)
    ]  # fmt: skip
