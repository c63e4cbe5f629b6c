"""Breakpoints on leaves that are in no module, by the variables that hold them; and on names that nothing has."""

import pytest

HELD = """\
import agdbg_engine as ag
class Held:
    pass
def train():
    w = ag.ones(2, requires_grad=True)
    held = {"k": ag.ones(2, requires_grad=True)}
    many = [ag.ones(2), ag.ones(2, requires_grad=True)]
    own = Held()
    own.cell = Held()
    own.cell.bias = ag.ones(2, requires_grad=True)
    for i in range(2):
        step((w * held["k"] * many[1] + own.cell.bias).sum())
    print("done", w.grad.tolist())
def step(loss):
    loss.backward()
train()
"""
GONE = """\
import agdbg_engine as ag
def loss_of(x):
    inner = ag.ones(2, requires_grad=True)
    return inner.exp().sum()
loss_of(ag.ones(2)).backward()
"""
LATE = """\
import agdbg_engine as ag
w = ag.ones(2, requires_grad=True)
for i in range(3):
    if i == 2:
        late = ag.ones(2, requires_grad=True)
    (w * 2 if i < 2 else w * late).sum().backward()
"""


@pytest.mark.parametrize("name", ["w", "held['k']", "many[1]", "own.cell.bias", "*.bias", "w[!a]*w"])
def test_a_leaf_by_the_variable_that_holds_it(stopping, name):
    program = stopping(HELD)
    assert program.on_names(name)[0]["verified"]
    wanted = [] if "!" in name else ["before AccumulateGrad"] * 2
    assert [each.partition(",")[0] for each in program.all_stops()] == wanted
    assert "done [2.0, 2.0]" in program.printed()


def test_the_leaf_is_the_one_of_that_name(stopping):
    program = stopping(HELD)
    program.on_names("own.cell.bias")
    program.run()
    assert (
        program.value(
            "node.variable is own.cell.bias", program.request("stackTrace", threadId=1)["stackFrames"][-2]["id"]
        )
        == "True"
    )


def test_a_leaf_whose_function_has_returned_goes_by_the_line_that_used_it(stopping):
    program = stopping(GONE)
    program.on_names("inner")
    assert program.run()["description"].startswith("before AccumulateGrad")


def _changes(program):
    told = [each["body"] for each in program.events if each["event"] == "breakpoint"]
    return [(each["reason"], each["breakpoint"]["id"], each["breakpoint"]["verified"]) for each in told]


def test_a_name_that_nothing_has_is_told_after_the_first_pass(stopping):
    program = stopping(LATE)
    program.on_names("late", "nobody", "w")
    stops = [program.run(), program.go()]
    assert [each["hitBreakpointIds"] for each in stops] == [[3], [3]]
    assert sorted(_changes(program)) == [("changed", 1, False), ("changed", 2, False)]
    told = next(each["body"]["breakpoint"] for each in program.events if each["event"] == "breakpoint")
    assert told["reason"] == "pending" and "is called so" in told["message"]
    program.events.clear()
    assert {number for each in (program.go(), program.go()) for number in each["hitBreakpointIds"]} == {1, 3}
    assert _changes(program) == [("changed", 1, True)]


def test_what_waits_stays_so_when_others_are_set(stopping):
    program = stopping(LATE)
    program.on_names("nobody", "w")
    program.run(), program.go()
    again = program.on_names("nobody", "w", "late")
    assert [each["verified"] for each in again] == [False, True, True]
    assert again[0]["reason"] == "pending"


def test_ops_modules_and_forward_only_names_do_not_wait(stopping):
    program = stopping(LATE)
    program.on_names({"name": "mul", "when": "forward"}, "#1", "Sum*", "AccumulateGrad")
    program.run()
    for _ in range(8):
        program.go()
    assert _changes(program) == []


def test_the_console_says_what_has_not_stopped(console_stage):
    console = console_stage.console(LATE)
    assert console.execute("break nobody").text == "1  nobody"
    console.execute("break w")
    console.execute("continue")
    assert "breakpoint 1: nobody  has not stopped: nothing that was built" in console.execute("continue").text
    listed = console.execute("info breakpoints").value["breakpoints"]
    assert [(each["what"], each["verified"]) for each in listed if each["kind"] == "name"] == [
        ("nobody", False),
        ("w", True),
    ]


def test_the_event_of_accumulating_knows_the_variable_too(stopping):
    program = stopping(HELD)
    program.on_events({"kind": "accumulate", "condition": "event.name == 'own.cell.bias'"})
    stops = program.all_stops()
    assert len(stops) == 2
    assert all(each.endswith("accumulate: a gradient goes to own.cell.bias") for each in stops)
