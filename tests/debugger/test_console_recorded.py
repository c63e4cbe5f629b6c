"""Breakpoints on a recording, and what a recording refuses, at a console."""

import pytest
from agdbg_tests_console_stage import SMALL

from agdbg.console import CommandError

LOOP = SMALL.replace("loss.backward()", "for i in range(3):\n    loss.backward(retain_graph=True)")


@pytest.fixture
def recording(console_stage):
    """A console on the recording of three passes of five nodes each."""
    console = console_stage.console(LOOP)
    console.do("run")
    return console_stage.opened(console.state.ended["trace"])


def places(console, move, count):
    """Where so many moves end: what was hit, and the node."""
    return [console.do(move).splitlines()[0].replace("in the recording: ", "") for _ in range(count)]


def test_names_stop_the_cursor_forwards_and_backwards(recording):
    recording.do("break Mul*", "goto 0")
    there = [f"breakpoint 1: MulBackward0, node 3 of 5 of backward, pass {each}" for each in (1, 2, 3)]
    assert places(recording, "c", 3) == there
    assert places(recording, "reverse", 2) == there[1::-1]
    body = recording.state.stops[recording.thread]
    assert (body["reason"], body["hitBreakpointIds"]) == ("function breakpoint", [1])


def test_without_a_hit_ahead_it_goes_as_without_breakpoints(recording):
    recording.do("break Sigmoid*", "goto 0")
    assert "AccumulateGrad, node 5 of 5 of backward, pass 1" in recording.do("c")


def test_nodes_parameters_and_lines(recording):
    recording.do("break #4", "break script.py:6", "break script.py:9", "goto 0")
    assert [each.partition(", node")[0] for each in places(recording, "c", 3)] == [
        "breakpoint 1, 2: ExpBackward0",
        "breakpoint 3: SumBackward0",
        "breakpoint 1, 2: ExpBackward0",
    ]


def test_a_temporary_one_stops_once(recording):
    recording.do("tbreak Exp*", "goto 0")
    assert recording.do("c").startswith("breakpoint 1: ")
    assert "Exp*" not in recording.do("info breakpoints")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("break Mul* if grads[0].sum() > 0", "a condition needs the program"),
        ("log Mul* {grads[0]}", "a log message needs the program"),
        ("break Mul* forward", "none is built"),
        ("break script.py:5 forward", "none is built"),
        ("catch nan", "found by the values of a program that runs"),
        ("catch save", "nothing happens anew"),
        ("watch x", "nothing is written to"),
        ("pause", "there is no program that runs here"),
    ],
)
def test_what_needs_a_program_is_refused_with_the_reason(recording, line, words):
    before = recording.do("info breakpoints")
    with pytest.raises(CommandError, match=words):
        recording.do(line)
    assert recording.do("info breakpoints") == before


def test_a_condition_on_what_was_recorded_is_answered(recording):
    recording.do("break Mul* if step == 1", "goto 0")
    assert recording.do("c").startswith("breakpoint 1: in the recording: MulBackward0, node 3 of 5 of backward, pass 2")
    assert "pass 2" in recording.do("c") and "breakpoint" not in recording.do("c")


def test_a_condition_that_was_set_while_the_program_ran_is_told_at_the_stop(console_stage):
    console = console_stage.console(LOOP)
    console.do("break Mul* if len(grads) > 70", "run")
    assert "it has a condition, which a recording cannot evaluate" in console.do("reverse")
