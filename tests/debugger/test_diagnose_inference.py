"""Data that was made in inference mode and goes into training: which line switched the mode on, and what was made there."""

import pytest

WITH = """
lin = nn.Linear(3, 1)
with ag.inference_mode():
    x = ag.randn(4, 3)
    y = x * 2
lin(y).sum().backward()
"""
DECORATED = """
@ag.inference_mode()
def data():
    return ag.randn(4, 3)
lin = nn.Linear(3, 1)
y = data()
lin(y).sum().backward()
"""
TWO = """
lin = nn.Linear(3, 1)
with ag.inference_mode():
    old = lin(ag.ones(1, 3))
with ag.inference_mode():
    goal = ag.randn(1, 1)
loss = lin(ag.ones(1, 3)) * goal
"""
WRITTEN = """
with ag.inference_mode():
    y = ag.zeros(3)
w = ag.ones(3, requires_grad=True)
y.add_(w)
"""
CASES = {  # the script, name, and the lines of the switch, what was made, and what was refused
    "with": (WITH, "y", 3, 5, 6, "certain"),
    "decorator": (DECORATED, "y", 2, 6, 7, "certain"),
    "two": (TWO, "goal", 5, 6, 7, "likely"),
    "written": (WRITTEN, "y", 2, 3, 5, "certain"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_line_of_the_mode_and_of_the_tensor(linted, lines_of, case):
    source, name, switch, made, refused, certainty = CASES[case]
    ran = linted(source)
    assert "nference" in str(ran.error)
    (found,) = ran.diagnosed
    assert (found.kind, found.certainty) == ("inference", certainty)
    assert [lines_of(found, role) for role in ("switched off", "made", "refused")] == [[switch], [made], [refused]]
    assert f"`{name}`, made in inference mode (line {switch})" in found.cause
    assert (
        f"`{name} = {name}.clone()`" in found.fix
        and f"no_grad() in place of inference_mode() at line {switch}" in found.fix
    )


@pytest.mark.parametrize(
    "source",
    [
        WITH.replace("lin(y)", "lin(y.clone())"),
        WITH.replace("inference_mode", "no_grad"),
        DECORATED.replace("y = data()", "y = data().clone()"),
    ],
)
def test_a_clone_or_no_grad_is_right(linted, source):
    ran = linted(source)
    assert ran.error is None and ran.diagnosed == []


def test_a_recording_without_the_error_tells_none(linted):
    ran = linted(
        "with ag.inference_mode():\n    y = ag.ones(3)\nw = ag.ones(3, requires_grad=True)\n(w + y).sum().backward()"
    )
    assert ran.error is None and ran.diagnosed == [] and ran.lints == []
