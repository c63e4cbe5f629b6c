"""Breakpoints of the console on a real program."""

import re

import pytest
from agdbg_tests_console_stage import SMALL

from agdbg.console import CommandError

DEFAULTS = ["errors: backward-twice", "errors: inplace-modified"]


def labels(console):
    return [each["what"] for each in console.value("info breakpoints")["breakpoints"]]


def stops(console):
    """Where all the stops are, from the start to the end."""
    found, text = [], console.do("run")
    while "has ended" not in text:
        found.append(text.splitlines()[0])
        text = console.do("c")
    return found


def test_names_nodes_and_lines(console_stage):
    console = console_stage.console(SMALL)
    assert console.do("break Exp*") == "1  Exp*"
    assert console.do("b #2") == "2  node 2"
    assert console.do("break script.py:7 backward").endswith("script.py:7  in backward")
    assert stops(console) == [
        "breakpoint 1: forward, line 6 built ExpBackward0",
        "breakpoint 3: before SumBackward0, node 1 of 5 of backward()",
        "breakpoint 1: before ExpBackward0, node 2 of 5 of backward()",
        "breakpoint 2: before AccumulateGrad, node 5 of 5 of backward()",
    ]


def test_conditions_and_ignore_counts(console_stage):
    loop = SMALL.replace("loss.backward()", "for i in range(5):\n    loss.backward(retain_graph=True)")
    console = console_stage.console(loop)
    console.do("break script.py:7 backward if i == 3")
    console.do("run")
    assert console.do("p i") == "3"
    assert console.do("condition 1").endswith("script.py:7  in backward")
    console.do("restart")
    assert console.do("p i") == "0"
    assert console.do("ignore 1 2").endswith("in backward  ignores 2")
    console.do("restart")
    assert console.do("p i") == "2"
    with pytest.raises(CommandError, match="is no Python expression"):
        console.do("condition 1 i ==")
    assert console.do("info breakpoints").splitlines()[-1].endswith("in backward  ignores 2")


def test_watched_memory_keeps_its_name_when_the_program_starts_anew(console_stage):
    console = console_stage.console(
        "import agdbg_engine as ag\nw = ag.ones(2, requires_grad=True)\n(w * 2).sum().backward()\nw.data.mul_(3)\nw.detach().add_(1)\n"
    )
    console.do("start", "watch w")
    assert "w changed without a version bump" in console.do("continue")
    assert "line 5: add_ wrote to w: version 0 to 1" in console.do("continue")
    console.do("restart")
    while "add_ wrote" not in (told := console.do("continue")):
        assert "has ended" not in told
    assert "line 5: add_ wrote to w: version 0 to 1" in told


def test_a_temporary_one_stops_once(console_stage):
    console = console_stage.console(SMALL)
    assert console.do("tbreak mul") == "1  mul  temporary"
    assert stops(console) == ["breakpoint 1: forward, line 5 built MulBackward0"]
    assert labels(console) == DEFAULTS


def test_log_prints_and_goes_on(console_stage):
    console = console_stage.console(SMALL)
    assert console.do("log script.py:5 at {node.op_name}").endswith("logs 'at {node.op_name}'")
    text = console.do("run")
    assert text.splitlines()[-1] == "the program has ended with exit status 0; its recording is here"
    assert "at MulBackward0" in text


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ('"at {node.op_name}"', "at MulBackward0"),
        ("'at {node.op_name}'", "at MulBackward0"),
        (r'"say \"{node.op_name}\" \\ \n"', r'say "MulBackward0" \ \n'),
        ('"a" and "{node.op_name}"', '"a" and "MulBackward0"'),
        ('it\'s "{node.op_name}"', 'it\'s "MulBackward0"'),
        ('"{node.op_name}', '"MulBackward0'),
    ],
)
def test_quotes_around_the_message_of_a_log_are_not_printed(console_stage, written, printed):
    console = console_stage.console(SMALL)
    console.do(f"log script.py:5 {written}")
    assert printed in console.do("run").splitlines()


def test_commands_are_done_at_a_breakpoint(console_stage):
    loop = SMALL.replace("loss.backward()", "for i in range(4):\n    loss.backward(retain_graph=True)")
    console = console_stage.console(loop)
    console.do("break script.py:7 backward")
    assert console.do("commands 1 p i ; grads ; continue").endswith("does p i ; grads ; continue")
    reply = console.execute("run")
    done = [(each["command"], each["text"]) for each in reply.value["commands"]]
    assert [text for line, text in done if line == "p i"] == ["0", "1", "2", "3"]
    assert len(done) == 12
    assert done[-1][1] == "the program has ended with exit status 0; its recording is here"
    assert reply.text.count("SumBackward0, node 5, next") == 4
    with pytest.raises(CommandError, match="there is no command 'prnt'"):
        console.do("commands 1 prnt i")
    assert "does" not in console.do("commands 1")


def test_a_command_of_a_breakpoint_that_fails_is_told_and_ends_the_list(console_stage):
    console = console_stage.console(SMALL)
    console.do("tbreak script.py:7 backward", "commands 1 p nothing ; continue")
    assert console.do("run").splitlines()[-1] == "error: p nothing: NameError: name 'nothing' is not defined"
    assert console.do("next").startswith("before ExpBackward0")


def test_delete_disable_and_enable(console_stage):
    console = console_stage.console(SMALL)
    console.do("break mul", "break exp", "break script.py:7")
    assert console.do("disable 2") == "2  exp  off"
    assert re.fullmatch(r"deleted  3  .*script.py:7", console.do("delete 3 3"))
    assert labels(console)[2:] == ["mul", "exp"]
    assert [line.split(":")[0] for line in stops(console)] == ["breakpoint 1"] * 2
    assert console.do("enable 2") == "2  exp"
    assert "  off" not in console.do("enable")
    gone = console.execute("delete 1")
    assert [each["what"] for each in gone.value["deleted"]] == ["mul"]
    assert [each["what"] for each in gone.value["breakpoints"]] == labels(console)
    kept = [stop.number for stop in console.table.stops if stop.kind == "filter"]
    stay = f"errors to stop at stay; delete {kept[0]} {kept[1]} takes them away"
    assert console.do("delete").splitlines() == ["deleted  2  exp", stay]
    assert console.do("delete").splitlines() == ["no breakpoints", stay]
    assert labels(console) == ["errors: backward-twice", "errors: inplace-modified"]
    told = [line.split("  ")[::2] for line in console.do(f"delete {kept[0]} {kept[1]}").splitlines()]
    assert told == [["deleted", "errors: backward-twice"], ["deleted", "errors: inplace-modified"]]
    assert console.do("delete") == "no breakpoints"
    with pytest.raises(CommandError, match=r"^there is no breakpoint 9, nor any other; break sets one$"):
        console.do("delete 9")
    with pytest.raises(CommandError, match="'x' is no number of a breakpoint"):
        console.do("disable x")


def test_catch_errors_and_events(console_stage):
    leaf = SMALL.replace("loss.backward()", "loss.backward()\ntry:\n    x.add_(1)\nexcept RuntimeError:\n    pass")
    console = console_stage.console(leaf)
    console.do("catch leaf-inplace", "catch backward-started", "catch accumulate")
    found = stops(console)
    assert sum("backward()" in line for line in found) >= 3
    assert any(line.startswith("error: ") and "leaf-inplace" in line for line in found)
    with pytest.raises(CommandError, match="did you mean version-bump"):
        console.do("catch version-bumb")
    with pytest.raises(CommandError, match="catch what"):
        console.do("catch")
    for part, meant in (("rebased", "history-rebased"), ("view", "view-inplace or view-created")):
        with pytest.raises(
            CommandError, match=rf"^there is no error or event '{part}', did you mean {meant}\?; errors: "
        ):
            console.do(f"catch {part}")


def test_watch_stops_at_writes(console_stage):
    console = console_stage.console(
        SMALL.replace("loss.backward()", "loss.backward()\nwith torch.no_grad():\n    w.mul_(2)")
    )
    console.do("start")
    assert console.do("watch w").split("  ")[1] == "writes to w"
    assert "mul_" in console.do("c")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("break", "break where"),
        ("break a b", "break where"),
        ("break script.py:", "names no line"),
        ("break script.py:-2", "names no line"),
        ("break 'mul'", "is no name"),
        ("break [", "is no name"),
        ("break {}", "is no name"),
        ("break -1", "there is no node -1"),
        ("break 0", "there is no node 0"),
        ("watch 1+1", "is no name of a parameter"),
        ("break script.py:99", "line 99 is not in"),
        ("break nowhere.py:3", "there is no file 'nowhere.py'"),
        ("break mul if )", "is no Python expression"),
        ("log mul", "log what"),
        ('log mul ""', "log what"),
        ("watch", "watch what"),
        ("ignore 1 x", "'x' is no count"),
    ],
)
def test_what_is_refused_changes_nothing(console_stage, line, words):
    console = console_stage.console(SMALL)
    with pytest.raises(CommandError, match=words):
        console.do(line)
    assert labels(console) == DEFAULTS


def test_breakpoints_of_another_client_are_seen_and_kept(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "break mul")
    other = console_stage.joined(console.client._address)
    assert labels(other) == ["mul"]
    other.do("break exp", "catch accumulate", "log script.py:6 here")
    assert labels(console)[2:5] == ["mul", "exp", "event: accumulate"]
    assert console.do("info breakpoints").splitlines()[-1].endswith("script.py:6  logs 'here'")


def test_a_refused_one_leaves_the_good_one_alone(console_stage):
    console = console_stage.console(SMALL)
    console.do("break mul")
    with pytest.raises(CommandError, match="is no Python expression"):
        console.do("break mul if )(")
    assert console.do("info breakpoints").splitlines()[-1] == "1  mul"
    assert console.do("run").startswith("breakpoint 1: ")


def test_several_at_one_place_are_several(console_stage):
    console = console_stage.console(SMALL)
    console.do("break exp", "tbreak exp", "break sum", "log sum hit")
    assert console.do("break exp") == "1  exp"  # just that is there already
    assert labels(console)[2:] == ["exp", "exp", "sum", "sum"]
    assert console.do("run").startswith("breakpoint 1, 2: forward, line 6 built ExpBackward0")
    assert labels(console)[2:] == ["exp", "sum", "sum"]
    assert console.do("c").splitlines()[:2][-1].startswith(("breakpoint 3: ", "  "))
    assert console.do("delete 1", "c").splitlines()[0].startswith(("breakpoint 3: ", "hit"))


def test_a_filter_takes_the_place_of_the_same_and_says_so(console_stage):
    console = console_stage.console(SMALL)
    first = console.do("catch nan if step > 3")
    number = first.split()[0]
    assert console.do("catch nan") == f"{number}  errors: nan  (instead of: errors: nan  if step > 3)"


def test_one_that_was_off_keeps_its_number(console_stage):
    console = console_stage.console(SMALL)
    console.do("break mul", "break exp", "disable 1", "break sum")
    assert "1  mul  off" in console.do("info breakpoints").splitlines()
    assert console.do("enable 1") == "1  mul"
    assert console.do("info breakpoints").splitlines()[2:] == ["1  mul", "2  exp", "3  sum"]
    console.do("condition 1 x is not None")
    assert [line.split(":")[0] for line in stops(console)][:3] == ["breakpoint 1", "breakpoint 2", "breakpoint 3"]


def test_nodes_in_forward_or_backward_only(console_stage):
    console = console_stage.console(SMALL)
    assert console.do("break exp backward") == "1  exp  in backward"
    assert console.do("break mul forward") == "2  mul  in forward"
    assert stops(console) == [
        "breakpoint 2: forward, line 5 built MulBackward0",
        "breakpoint 1: before ExpBackward0, node 2 of 5 of backward()",
    ]


def test_a_watch_on_no_tensor_is_refused_and_a_name_says_what_it_waits_for(console_stage):
    console = console_stage.console(SMALL)
    console.do("start")
    for expression, words in (
        ("1 + 1", "no tensor, but of type int"),
        ("x + 1", "a new tensor"),
        ("x +", "no name|not"),
    ):
        with pytest.raises(CommandError, match=words):
            console.do(f"watch {expression}")
    told = console.do("watch nosuch.weight")
    assert "parameters and buffers called nosuch.weight" in told and "it waits" in told


def test_a_watch_in_a_program_that_has_ended_says_that_only_another_run_can_hit_it(console_stage):
    console = console_stage.console(SMALL)
    console.do("run")
    told = console.do("watch w")
    assert told.endswith("(by name, as the program has ended: nothing is written to before restart runs it anew)")
    console.do("back")  # in the recording, where a frame is looked at
    assert "before restart runs it anew" in console.do("watch x")


def test_what_is_written_to_is_called_as_it_was_asked_for(console_stage):
    console = console_stage.console(SMALL.replace("loss.backward()", "loss.backward()\nw.data.mul_(2)\nz = x * w"))
    console.do("start", "watch w[0:1]")
    text = console.do("c")
    assert "w[0:1] changed without a version bump" in text or "wrote to w[0:1]" in text
    assert "storage" not in text


def test_filters_of_errors_are_no_breakpoints_of_a_number(console_stage):
    console = console_stage.console(SMALL)
    with pytest.raises(CommandError, match=r"^there is no breakpoint 77, nor any other; break sets one$"):
        console.execute("condition 77 x")
    console.do("break mul")
    with pytest.raises(CommandError, match=r"^there is no breakpoint 77; there is 1$"):
        console.execute("condition 77 x")
    console.do("break exp")
    with pytest.raises(CommandError, match=r"^there is no breakpoint 77; there are 1, 2$"):
        console.execute("condition 77 x")
