"""What a console says at stops: of NaN and missing gradients, of places without a pass, of what can be named and set."""

import pytest
from agdbg_tests_console_stage import SMALL

from agdbg.console import CommandError

ROOT = """\
import agdbg_engine as torch

x = torch.tensor([1.0, 0.0], requires_grad=True)
y = x.sqrt()
z = (y * 0).sum()
z.backward()
"""
LOG = """\
import agdbg_engine as torch

w = torch.tensor([-1.0, 4.0], requires_grad=True)
s = w.log().sum()
"""
MODEL = """\
import agdbg_engine as torch
from agdbg_engine import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        return self.a(x)


net = Net()
net(torch.ones(2, 2)).sum().backward()
"""
BAD_SEED = """\
import agdbg_engine as torch

w = torch.ones(3, requires_grad=True)
try:
    (w * 2).backward(torch.ones(5))
except RuntimeError:
    print("caught")
"""
FUNCTION = """\
import agdbg_engine as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)


def f():
    a = 1
    return (x * 3).sum()


f().backward()
"""


@pytest.mark.parametrize(
    ("program", "line", "cause", "fix"),
    [
        (ROOT, 4, "SqrtBackward0, built by line 4, made NaN at index [1] in the gradient", "derivative of sqrt() is infinite"),
        (LOG, 4, "LogBackward0, built by line 4, made NaN at index [0]", "log() of a negative number is NaN"),
    ],
)  # fmt: skip
def test_explain_at_a_nan_says_what_the_stop_knows(console_stage, program, line, cause, fix):
    console = console_stage.console(program)
    console.do("catch nan")
    assert console.do("run").count(cause) == 1  # the stop says it once
    found = console.value("explain")
    first = found["findings"][0]
    assert (first["kind"], first["certainty"]) == ("nan", "certain")
    assert first["cause"].startswith(cause) and fix in first["fix"]
    assert first["evidence"][0]["line"] == line
    assert "no autograd mistake" not in found["rendered"]
    assert console.do("findings").startswith("nan (certain): ")


BUILT_BEFORE = """\
import agdbg_engine as torch

x = torch.tensor([-1.0, 4.0], requires_grad=True)
(x.sqrt() * 2).sum().backward()
(x.log() * 2).sum().backward()
"""


def test_nan_that_is_looked_for_late_says_so_and_stops_where_a_pass_meets_it(console_stage):
    console = console_stage.console(BUILT_BEFORE)
    assert "not looked at" not in console.do("catch inf")  # the program has built nothing yet
    console.do("start")
    assert "what was built before now was not looked at" in console.do("catch nan")
    assert "not looked at" not in console.do("catch any")  # of nan it is said once
    told = console.do("continue")
    assert "SqrtBackward0, built by line 4 before this was looked for, saved what is not finite, and made NaN" in told
    found = console.value("explain")["findings"][0]
    assert found["evidence"][0]["role"] == "saved" and "Restart with the filter on" in found["fix"]
    assert "LogBackward0, built by line 5, made NaN at index [0] of finite numbers" in console.do("continue")


def test_explain_with_recorded_values_tells_what_the_lints_find(console_stage):
    console = console_stage.console(LOG + "s.backward()\n", also=["values"])
    console.do("catch nan", "catch inf")
    console.do("run")
    assert console.value("explain")["findings"][0]["kind"] in ("nan", "inf")


def test_explain_at_a_parameter_without_a_gradient(console_stage):
    console = console_stage.console(MODEL)
    console.do("catch none-grad", "run")
    first = console.value("explain")["findings"][0]
    assert first["kind"] == "none-grad" and first["cause"].startswith("b.bias, b.weight got no gradient")
    assert "requires_grad_(False)" in first["fix"]


@pytest.mark.parametrize("filter_of_errors", ["shape", "any"])
def test_a_gradient_that_does_not_fit_its_root_stops(console_stage, filter_of_errors):
    console = console_stage.console(BAD_SEED)
    console.do(f"catch {filter_of_errors}")
    assert "Mismatch in shape: grad_output[0]" in console.do("run")
    assert "caught" in console.end()


def test_an_event_in_forward_has_no_place_in_a_pass(console_stage):
    write = SMALL.replace("loss.backward()", "loss.backward()\ny = x * w\nwith torch.no_grad():\n    w.mul_(2)")
    console = console_stage.console(write)
    console.do("catch version-bump", "run")
    assert " of 0" not in console.do("where")


ELSEWHERE = """\
import agdbg_engine as torch

x = torch.tensor([1.0], requires_grad=True)
y = x * 2


def cut(t):
    return t.detach()


def hook(t):
    t.register_hook(lambda g: g)


cut(y)
hook(y)
y.add_(1)
"""


@pytest.mark.parametrize(
    ("event", "line", "place", "function"),
    [
        ("cut", "script.py:8  return t.detach()", 8, "cut"),
        ("hook-registered", "script.py:12  t.register_hook(lambda g: g)", 12, "hook"),
    ],
)
def test_what_happens_to_what_another_line_has_made_is_shown_where_it_happens(
    console_stage, event, line, place, function
):
    console = console_stage.console(ELSEWHERE)
    console.do(f"catch {event}")
    assert console.do("run").endswith(line)
    frames = console.value("where")["frames"]
    assert [(each["name"], each["line"]) for each in frames] == [
        (function, place), ("<module>", 15 if event == "cut" else 16), ("MulBackward0", 4), ("created in <module>", 4),
    ]  # fmt: skip
    assert "->" in (told := console.do("list")) and line.partition("  ")[2] in told


def test_what_the_line_of_a_node_does_is_shown_with_the_node(console_stage):
    console = console_stage.console(ELSEWHERE)
    console.do("catch history-rebased")
    assert console.do("run").endswith("script.py:17  y.add_(1)")
    assert [each["name"] for each in console.value("where")["frames"]][:2] == ["AddBackward0", "created in <module>"]


def test_print_knows_the_names_of_conditions(console_stage):
    console = console_stage.console(SMALL)
    console.do("break mul backward", "run")
    assert console.do("p node.op, node.id, step, rank") == "('MulBackward0', 3, 0, 0)"
    assert console.do("p len(grads_in), len(grads_out), event.kind") == "(1, 2, 'before')"
    assert console.do("p grads_in[0].tolist() == grads[0].tolist() == grad.tolist()") == "True"


def test_what_the_program_calls_step_is_its_own(console_stage):
    console = console_stage.console(SMALL.replace("h = x", "step = 41\nh = x"))
    console.do("start")
    assert console.do("p step") == "41"
    console.do("set step = 42")
    assert console.do("p step") == "42"


def test_log_and_conditions_know_grads_and_grad(console_stage):
    console = console_stage.console(SMALL)
    console.do(
        "log mul {grads[0].tolist() == grad.tolist()}", "break exp backward if grads[0].sum() > 0 and grad is not None"
    )
    first = console.do("run").splitlines()[0]  # nothing is said in forward, where there are no gradients
    assert first == "breakpoint 2: before ExpBackward0, node 2 of 5 of backward()"
    assert "True" in console.do("c").splitlines()


def test_a_local_of_a_running_function_cannot_be_set(console_stage):
    console = console_stage.console(FUNCTION)
    console.do("break sum forward", "run")
    with pytest.raises(CommandError, match="a cannot be set: a running function keeps its locals"):
        console.do("set a = 2")
    assert console.do("p a") == "1"


def test_conditions_that_raise_do_not_end_the_program(console_stage):
    stop = SMALL.replace("h = x", "def stop():\n    raise KeyboardInterrupt\n\n\nh = x")
    console = console_stage.console(stop)
    console.do("break mul forward if stop()", "break exp forward if x.sum().backward()")
    assert "the condition 'stop()' failed: KeyboardInterrupt" in console.do("run")
    assert "log messages run without recording gradients" in console.do("c")
    assert console.grads()


def test_a_replacement_of_another_shape_is_refused_in_plain_words(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "until 3")
    with pytest.raises(CommandError, match=r"shape \[2\]: its shape is \[3\]$"):
        console.do("set grad = [1, 2, 3]")


def test_explain_at_a_gradient_that_grad_refuses_tells_the_error_once_and_speaks_of_no_model(console_stage):
    console = console_stage.console(
        "import agdbg_engine as ag\nP = lambda: ag.ones(2, requires_grad=True)\nag.autograd.grad(P().sum(), P())\n"
    )
    console.do("catch none-grad", "run")
    told = console.value("explain")
    assert not [each for each in told["findings"] if each["kind"] == "none-grad"]
    said = console.do("explain")
    assert said.count("appears to not have been used") == 1 and "nothing was raised" not in said and ".." not in said
