"""Breakpoints on lines that call much: how often a line is come to, and lines that nothing comes to."""

import pytest

from agdbg.console.table import CommandError

CALLS = """\
import agdbg_engine as ag
from agdbg_engine import nn
from agdbg_engine.nn import functional as F
class Double(nn.Module):
    def forward(self, x):
        return x * 2
model = nn.Sequential(nn.Linear(2, 2), Double(), nn.Linear(2, 2), nn.Linear(2, 2))
for i in range(2):
    out = model(ag.ones(1, 2))
    for k in range(3): out = model(out)
    loss = F.cross_entropy(out @ ag.ones(2, 2), ag.tensor([0]))
    loss.backward()
print("done")
"""


@pytest.mark.parametrize(
    ("part", "times"), [("model(ag.ones", 2), ("for k in", 6), ("cross_entropy(out", 2), ("x * 2", 8)]
)
def test_a_line_is_come_to_once_whatever_it_calls(stopping, part, times):
    program = stopping(CALLS)
    program.on_lines({"line": program.line(part), "when": "forward"})
    stops = program.all_stops()
    assert len(stops) == times
    assert len(set(stops)) == 1


def test_two_breakpoints_on_a_line_are_come_to_together(stopping):
    program = stopping(CALLS)
    line = program.line("model(ag.ones")
    program.on_lines({"line": line, "when": "forward"}, {"line": line, "when": "forward", "condition": "i == 1"})
    stops = [program.run(), program.go()]
    assert [each["hitBreakpointIds"] for each in stops] == [[1], [1, 2]]
    assert program.go() is None


def test_a_tracer_of_the_program_is_left_alone(stopping):
    tracer = "import sys\ndef tracer(frame, what, arg): return tracer\nsys.settrace(tracer)\n"
    program = stopping(tracer + CALLS)
    program.on_lines({"line": program.line("x * 2"), "when": "forward"})
    assert len(program.all_stops()) == 8
    assert "done" in program.printed()


def test_until_a_line_is_come_to_again(console_stage):
    console = console_stage.console(CALLS)
    console.do("tbreak script.py:9 forward", "run")
    assert console.do("until script.py:9").startswith("before AddmmBackward0")
    assert console.do("until script.py:9").startswith("before AddmmBackward0")  # between them ran one of another line
    assert console.do("until script.py:9").startswith("forward, line 9 built TBackward0")
    assert "done" in console.end()


def test_until_the_line_that_starts_a_pass(console_stage):
    console = console_stage.console(CALLS)
    console.do("tbreak script.py:6", "run")
    assert console.do("until script.py:12").startswith("before NllLossBackward0, node 1 of")
    assert console.do("until script.py:12").startswith("before NllLossBackward0, node 1 of")
    assert console.value("info passes")["passes"][-1]["kind"] == "pass started"
    console.do("finish")
    assert ", pass 1" in console.do("goto 0")
    assert "NllLossBackward0, node 1 of 37 of backward, pass 2" in console.do("until script.py:12")
    with pytest.raises(CommandError, match="does not run behind this place"):
        console.do("until script.py:12")


@pytest.mark.parametrize("line", ["until 0", "until script.py:0"])
def test_until_what_counts_from_one(console_stage, line):
    console = console_stage.console(CALLS)
    console.do("start")
    with pytest.raises(CommandError, match=r"count from 1|of at least 1"):
        console.do(line)


# ----- lines that nothing comes to -----


def test_a_line_that_nothing_comes_to_is_told_after_the_first_pass(stopping):
    program = stopping(CALLS)
    none, calls, late = program.line("import nn"), program.line("loss.backward"), program.line("print")
    program.on_lines({"line": none}, {"line": calls}, {"line": late, "when": "forward"})
    program.run()
    program.go()
    told = {
        each["body"]["breakpoint"]["line"]: each["body"]["breakpoint"]
        for each in program.events
        if each["event"] == "breakpoint"
    }
    assert set(told) == {none, late}
    assert {each["reason"] for each in told.values()} == {"pending"}
    assert "on lines of its own" in told[none]["message"]


def test_what_is_set_in_the_middle_of_a_pass_is_told_after_the_next(stopping):
    program = stopping(CALLS)
    program.on_names("Nll*")
    program.run()
    program.go()
    (made,) = program.on_lines({"line": program.line("x * 2"), "when": "forward"})
    (late,) = program.on_names({"name": "TBackward0", "when": "forward"})
    program.go("stepOut")
    program.request("threads")
    assert made["verified"] and late["verified"]
    assert not any(each["event"] == "breakpoint" for each in program.events)
