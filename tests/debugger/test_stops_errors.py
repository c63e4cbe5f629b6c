"""Filters of errors: what they stop at, where, and what the stop says; NaN, Inf and missing gradients are no errors."""

import pytest

from agdbg.filters import KNOWN

NAN = """\
import agdbg_engine as ag
x = ag.tensor([1.0, -1.0, 4.0], requires_grad=True)
h = x * 2
y = h.log()
z = y * 3
z.sum().backward()
print("done")
"""
INF_IN_BACKWARD = """\
import agdbg_engine as ag
x = ag.tensor([1.0, 0.0], requires_grad=True)
h = x * 1
y = h.sqrt()
z = y + 1
z.sum().backward()
print("done")
"""
TRAP = """\
import agdbg_engine as ag
x = ag.tensor([0.0, 4.0], requires_grad=True)
h = x * 1
y = ag.where(h > 0, h.sqrt(), ag.zeros(2))
y.sum().backward()
print("done", x.grad.tolist())
"""
MODEL = """\
import agdbg_engine as ag
from agdbg_engine import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(2, 2)
        self.unused = nn.Linear(2, 2)
        self.frozen = nn.Linear(2, 2).requires_grad_(False)
    def forward(self, x):
        return self.used(x).sum()
model = Net()
other = nn.Linear(2, 1)
other(ag.ones(1, 2))
for i in range(3):
    model(ag.ones(3, 2)).backward()
print("done")
"""


def program_with(*lines):
    return (
        "import agdbg_engine as ag\nx = ag.tensor([1.0, 2.0], requires_grad=True)\n"
        + "\n".join(lines)
        + "\nprint('done')\n"
    )


# ----- NaN and Inf -----


def test_nan_in_forward_stops_at_the_node_that_made_it(stopping):
    program = stopping(NAN)
    program.on_errors("nan")
    stop = program.run()
    assert stop["reason"] == "exception"
    assert stop["description"] == (
        "forward, line 4 built LogBackward0; LogBackward0, built by line 4, made NaN at index [1] of finite numbers"
    )
    assert program.request("exceptionInfo", threadId=1)["exceptionId"] == "nan"
    assert program.value("h.tolist()") == "[2.0, -2.0, 8.0]"
    assert program.go() is None  # what comes of it is not accused
    assert "done" in program.printed()


def test_inf_in_backward_stops_before_anything_else_runs(stopping):
    program = stopping(INF_IN_BACKWARD)
    program.on_errors("inf", "nan")
    stop = program.run()
    assert stop["description"].startswith(
        "before MulBackward0, node 4 of 5 of backward(); SqrtBackward0, built by line 4,"
    )
    assert "made Inf at index [1] in the gradient of input 0 of finite numbers" in stop["description"]
    assert program.go("stepBack")["description"].startswith("before SqrtBackward0")
    assert program.value("grad.tolist()") == "[1.0, 1.0]"
    assert program.go("next")["description"].startswith("before MulBackward0")
    assert program.go() is None


def test_the_masked_branch_is_found_where_the_zero_meets_the_infinity(stopping):
    program = stopping(TRAP)
    program.on_errors("nan")
    stop = program.run()
    assert "SqrtBackward0, built by line 4, made NaN at index [0] in the gradient" in stop["description"]
    assert program.go() is None


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        (NAN, ["inf"]),
        (program_with("y = x * ag.tensor([float('nan'), 1.0])", "y.sum().backward()"), ["nan", "inf"]),
        (program_with("y = x + ag.tensor([float('inf'), 1.0])", "y.sum().backward()"), ["nan", "inf"]),
        (program_with("y = (x * 2).masked_fill(x > 1, float('-inf'))", "y.sum().backward()"), ["nan", "inf"]),
        (program_with("(x * ag.tensor([3, 4])).sum().backward()"), ["nan", "inf"]),
    ],
)
def test_what_was_not_finite_before_is_not_accused(stopping, text, filters):
    program = stopping(text)
    program.on_errors(*filters)
    assert program.run() is None
    assert "done" in program.printed()


def test_nan_of_infinities_is_made_there(stopping):
    program = stopping(program_with("y = x * ag.tensor([float('inf'), 1.0])", "z = y - y", "z.sum().backward()"))
    program.on_errors("nan")
    assert "SubBackward0, built by line 4, made NaN at index [0]" in program.run()["description"]


INFINITIES = {
    "in the gradient of the op above": (
        ["h = x * 0 * 2", "y = h.sqrt()", "y.sum().backward()"],
        "MulBackward0, built by line 3, made NaN at index [0] (2 of 2 elements) in the gradient of input 0 of the infinity that "
        "SqrtBackward0, built by line 4, sent",
        "y = h.sqrt()",
        "at 0 the derivative of sqrt() is infinite",
    ),
    "further up": (
        ["k = x * 0", "w = k * ag.zeros(2)", "y = (w * 3).reshape(2, 1).sqrt() * 2", "y.sum().backward()"],
        "the infinity that SqrtBackward0, built by line 5, sent",
        "y = (w * 3).reshape(2, 1).sqrt() * 2",
        "at 0 the derivative of sqrt() is infinite",
    ),
    "in forward": (
        ["y = (x * 1000).exp()", "k = y + 1", "z = k - k", "z.sum().backward()"],
        "SubBackward0, built by line 5, made NaN at index [0] (2 of 2 elements) of the infinity that ExpBackward0, built by line 3, made",
        "y = (x * 1000).exp()",
        "exp() of a large number overflows to inf",
    ),
    "saved in forward": (
        ["y = (x * 1000).exp()", "z = ag.where(y > 9, 0, y)", "z.sum().backward()"],
        "of the infinity that it had made itself",
        "y = (x * 1000).exp()",
        "exp() of a large number overflows to inf",
    ),
}


@pytest.mark.parametrize("filters", [("nan",), ("nan", "inf")])
@pytest.mark.parametrize("case", INFINITIES)
def test_who_made_the_infinity_that_became_nan_is_named(stopping, case, filters):
    lines, told, line, why = INFINITIES[case]
    program = stopping(program_with(*lines))
    program.on_errors(*filters)
    stop = program.run()
    while "made Inf" in stop["description"]:
        stop = program.go()
    assert told in stop["description"]
    finding = program.request("exceptionInfo", threadId=1)
    assert why.lower() in str(finding).lower()
    assert "what came in was finite" in str(finding)
    assert line in str(finding)


def test_an_infinity_from_outside_is_not_called_finite(stopping):
    program = stopping(program_with("y = x.masked_fill(x > 0, float('-inf'))", "y.softmax(0).sum().backward()"))
    program.on_errors("nan")
    stop = program.run()
    assert "SoftmaxBackward0, built by line 4, made NaN" in stop["description"]
    assert stop["description"].endswith("of an infinity that came in")
    assert "was finite" not in str(program.request("exceptionInfo", threadId=1))


def test_an_infinity_of_an_earlier_pass_is_not_accused(stopping):
    program = stopping(
        program_with(
            "h = x * 0",
            "y = h.sqrt()",
            "y.sum().backward(retain_graph=True)",
            "h.backward(ag.tensor([float('inf'), 1.0]))",
        )
    )
    program.on_errors("nan")
    assert "that SqrtBackward0, built by line 4, sent" in program.run()["description"]
    assert program.go()["description"].endswith("of an infinity that came in")


def test_a_write_that_makes_nan_is_found(stopping):
    program = stopping(program_with("y = x * -1", "y.log_()", "y.sum().backward()"))
    program.on_errors("nan")
    assert "LogBackward0, built by line 4, made NaN" in program.run()["description"]


TWO_OUTPUTS = """\
class Two(ag.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t * 1, t * 1e38 * 10
    @staticmethod
    def backward(ctx, a, b):
        return a
a, b = Two.apply(x)
"""


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (TWO_OUTPUTS, "TwoBackward, built by line 10, made Inf at index [0] (2 of 2 elements) of finite numbers"),
        ("u, s, v = ag.linalg.svd(ag.ones(2, 2) * x)", None),
    ],
)
def test_several_outputs_are_all_looked_at(stopping, lines, told):
    program = stopping(program_with(*lines.splitlines()))
    program.on_errors("inf")
    stop = program.run()
    if told is None:
        assert stop is None
        return
    assert told in stop["description"]
    assert program.go() is None


def test_an_overflow_while_a_gradient_is_added_up(stopping):
    program = stopping(program_with("x.grad = ag.tensor([3e38, 0.0])", "(x * 1e38).sum().backward()"))
    program.on_errors("inf")
    assert "adding to the grad of a leaf made Inf at index [0] of finite numbers" in program.run()["description"]
    assert program.go() is None


def test_a_filter_with_a_condition(stopping):
    program = stopping(NAN.replace("y = h.log()", "for i in range(3): y = h.log()"))
    assert program.on_errors(nan={"condition": "i == 2"})[0]["verified"]
    program.run()
    assert program.value("i") == "2"
    assert program.go() is None


def test_a_filter_with_a_log_message_does_not_stop(stopping):
    program = stopping(NAN)
    program.on_errors(nan={"logMessage": "bad: {node.op} {event.kind}"})
    assert program.run() is None
    assert "bad: LogBackward0 nan" in program.said()


# ----- parameters without a gradient -----


def test_a_parameter_without_gradient_is_told_at_the_end_of_the_pass_and_once(stopping):
    program = stopping(MODEL)
    program.on_errors("none-grad")
    stop = program.run()
    assert (
        "is about to return; unused.bias, unused.weight got no gradient, though others of the model did"
        in stop["description"]
    )
    assert program.request("exceptionInfo", threadId=1)["exceptionId"] == "none-grad"
    assert program.value("model.used.weight.grad is None") == "False"
    assert program.go() is None


def test_a_model_with_all_its_gradients_is_not_told_of(stopping):
    program = stopping(MODEL.replace("self.used(x)", "self.unused(self.used(x))"))
    program.on_errors("none-grad")
    assert program.run() is None


# ----- errors -----


@pytest.mark.parametrize(
    ("name", "lines", "told"),
    [
        ("backward-twice", ["y = x.exp().sum()", "y.backward()", "y.backward()"], "before SumBackward0, node 1 of 3"),
        ("inplace-modified", ["y = x.exp()", "y.add_(1)", "y.sum().backward()"], "before SumBackward0, node 1 of"),
        ("leaf-inplace", ["x.add_(1)"], "RuntimeError is about to be raised: leaf-inplace (post-mortem)"),
        ("view-inplace", ["a, b = (x * 1).unbind()", "a.add_(1)"], "about to be raised: view-inplace (post-mortem)"),
        ("no-grad-fn", ["ag.ones(1).backward()"], "about to be raised: no-grad-fn (post-mortem)"),
        ("none-grad", ["ag.autograd.grad(x.sum(), [ag.ones(1, requires_grad=True)])"], "raised: none-grad (post-mortem)"),
        ("shape", ["x + ag.ones(3)"], "about to be raised: shape (post-mortem)"),
        ("shape", ["ag.ones(2, 3) @ ag.ones(2, 3)"], "about to be raised: shape (post-mortem)"),
        ("dtype", ["ag.ones(2, 2) @ ag.ones(2, 2, dtype=ag.float64)"], "about to be raised: dtype (post-mortem)"),
        ("not-implemented", ["ag.ones(2, dtype=ag.complex64).floor()"], "not-implemented (post-mortem)"),
        ("hook-error", ["y = x * 2", "y.register_hook(lambda g: 1 / 0)", "y.sum().backward()"], "hook-error (post-mortem)"),
        ("any", ["y = x * 2", "y.register_hook(lambda g: 1 / 0)", "y.sum().backward()"], "hook-error (post-mortem)"),
        ("any", ["x + ag.ones(3)"], "shape (post-mortem)"),
    ],
)  # fmt: skip
def test_filters_of_errors(stopping, name, lines, told):
    program = stopping(program_with(*lines))
    program.on_errors(name)
    stop = program.run()
    assert stop is not None, program.printed()
    assert stop["reason"] == "exception"
    assert told in stop["description"]
    info = program.request("exceptionInfo", threadId=1)
    assert name == "any" or info["exceptionId"] == name
    while stop is not None:
        stop = program.go()
    assert program.exit == 1
    assert "Error" in program.printed()


def test_the_stack_of_an_error_of_a_hook_has_the_functions_that_it_has_left(stopping):
    program = stopping(
        program_with(
            "def helper(g):",
            "    inside = float(g.sum())",
            "    raise ValueError(f'boom {inside}')",
            "def hook(g):",
            "    return helper(g * 2)",
            "y = x * 2",
            "y.register_hook(hook)",
            "y.sum().backward()",
        )
    )
    program.on_errors(**{"hook-error": {"condition": "inside > 0"}})
    assert "hook-error (post-mortem)" in program.run()["description"]
    frames = program.request("stackTrace", threadId=1)["stackFrames"]
    names = [each["name"] for each in frames]
    assert names[-3:] == ["helper", "hook", "<module>"]
    assert program.value("inside") == program.value("inside", frames[-3]["id"]) == "4.0"
    assert program.go() is None
    assert "ValueError: boom 4.0" in program.printed()


def test_an_error_of_another_kind_does_not_stop(stopping):
    program = stopping(program_with("x + ag.ones(3)"))
    program.on_errors("dtype", "hook-error", "leaf-inplace", "nan", "inf", "none-grad")
    assert program.run() is None
    assert program.exit == 1


def test_predicted_errors_with_conditions(stopping):
    text = program_with(
        "for i in range(3):",
        "    y = (x * x).sum()",
        "    y.backward()",
        "    try: y.backward()",
        "    except RuntimeError: pass",
    )
    program = stopping(text)
    program.on_errors(**{"backward-twice": {"condition": "i == 1"}})
    program.run()
    assert program.value("i") == "1"
    assert program.go() is None
    assert program.exit == 0


def test_unknown_filters_and_bad_conditions_are_not_verified(stopping):
    program = stopping(program_with("x + 1"))
    found = program.on_errors("nam", "nan", inf={"condition": "x ="})
    assert [each["verified"] for each in found] == [False, True, False]
    assert "there is no filter 'nam'; did you mean nan?" in found[0]["message"]
    assert "is no Python expression" in found[2]["message"]


def test_the_capabilities_tell_the_truth(stopping):
    told = stopping(program_with("x + 1")).capabilities
    filters = told["exceptionBreakpointFilters"]
    assert [each["filter"] for each in filters] == list(KNOWN)
    assert all(each["description"] and each["supportsCondition"] for each in filters)
    for name in ("Conditional", "HitConditional", "Function", "Data"):
        assert told[f"supports{name}Breakpoints"]
    assert told["supportsLogPoints"] and told["supportsExceptionFilterOptions"]


# ----- errors that nobody has caught -----


@pytest.mark.parametrize(
    ("name", "line", "kind"),
    [
        ("dtype", "ag.nn.functional.cross_entropy(x[None], ag.ones(1))", "dtype"),
        ("not-implemented", "ag.nn.functional.gelu(ag.tensor([1, 2]))", "dtype"),
        ("any", "ag.nn.functional.cross_entropy(x[None], ag.ones(1))", "dtype"),
        ("any", "ag.nn.Module()()", "not-implemented"),
    ],
)
def test_what_the_engine_refuses_before_an_op_begins_is_stopped_at_when_nobody_has_caught_it(
    stopping, name, line, kind
):
    program = stopping(program_with("def f(k):", f"    return {line}", "f(7)"))
    program.on_errors(name)
    stop = program.run()
    assert stop is not None, program.printed()
    assert kind in stop["description"] and "(post-mortem" in stop["description"]
    frames = program.request("stackTrace", threadId=1)["stackFrames"]
    assert [each["name"] for each in frames if each.get("source")] == ["f", "<module>"]
    assert program.value("k + 1", frame=frames[-2]["id"]) == "8"
    assert program.go() is None
    assert program.exit == 1
    assert "Traceback" in program.printed()


def test_an_error_is_stopped_at_once_and_one_of_the_program_never(stopping):
    program = stopping(program_with("try:", "    x + ag.ones(3)", "except RuntimeError: pass", "x + ag.ones(4)"))
    program.on_errors("any")
    assert len(program.all_stops()) == 2
    program = stopping(program_with("raise ValueError('a shape of mine')"))
    program.on_errors("any", "shape")
    assert program.run() is None
    assert program.exit == 1


def test_an_error_that_ends_a_thread(stopping):
    program = stopping(
        program_with(
            "import threading",
            "def work():",
            "    ag.nn.functional.cross_entropy(x[None], ag.ones(1))",
            "t = threading.Thread(target=work)",
            "t.start()",
            "t.join()",
        )
    )
    program.on_errors("dtype")
    program.request("configurationDone")
    stop = program.wait_for("stopped")
    assert "was not caught: dtype" in stop["description"]
    program.request("continue", threadId=stop["threadId"])
    assert program.wait_for("exited") == {"exitCode": 0}
