"""Every move of the console on a real program: where it then stands, and that the program ends as it would have."""

import os
import signal

import pytest
from agdbg_tests_console_stage import SMALL

from agdbg.console import CommandError
from agdbg.console.places import short

PLAIN = "[60.25661087036133, 110132.3359375] [20.08553695678711, 44052.93359375]"


def test_run_goes_to_the_first_breakpoint_and_continue_to_the_next(console_stage):
    console = console_stage.console(SMALL)
    console.do("break ExpBackward0")
    assert console.do("run").splitlines() == [
        "breakpoint 1: forward, line 6 built ExpBackward0",
        f"  {short(console.script)}:6  y = h.exp()",
    ]
    assert console.do("continue").startswith("breakpoint 1: before ExpBackward0, node 2 of 5 of backward()")
    assert console.do("continue") == "the program has ended with exit status 0; its recording is here"
    assert PLAIN in console.printed


def test_start_next_and_step(console_stage):
    console = console_stage.console(SMALL)
    assert console.do("start").startswith("before SumBackward0, node 1 of 5")
    assert console.do("next").startswith("before ExpBackward0, node 2 of 5")
    assert console.do("n 2").startswith("before AccumulateGrad, node 4 of 5")
    assert console.do("s").startswith("in AccumulateGrad (accumulate), node 4 of 5")
    assert console.do("step").startswith("before AccumulateGrad, node 5 of 5")
    assert console.do("finish").startswith("backward() has run its 5 nodes and is about to return")
    assert console.grads() == PLAIN


def test_next_before_the_start_stops_on_entry(console_stage):
    console = console_stage.console(SMALL)
    assert console.do("next").startswith("before SumBackward0, node 1 of 5")


def test_next_with_a_count_stops_early_at_a_breakpoint(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "break MulBackward0")
    assert console.do("next 4").startswith("breakpoint 1: before MulBackward0, node 3 of 5")


def test_back_and_reverse(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "next 4")
    assert console.do("back 2").startswith("before MulBackward0, node 3 of 5")
    assert console.do("reverse").startswith("before ExpBackward0, node 2 of 5")
    console.do("finish")
    assert console.do("rc").startswith("before AccumulateGrad, node 5 of 5")
    assert console.grads() == PLAIN


HOOKED = SMALL.replace("loss.backward()", "h.register_hook(lambda g: g * 2)\nloss.backward()")


def test_more_moves_than_there_are_go_as_far_as_they_can(console_stage):
    console = console_stage.console(HOOKED)
    console.do("start", "next 2")
    told = console.do("back 100").splitlines()
    assert told[0].startswith("before SumBackward0, node 1 of 5") and told[-1].startswith(
        "moved 2 of 100 times: no node"
    )
    with pytest.raises(CommandError, match="no node ran before this"):
        console.do("back 100")
    console.do("next 4")
    told = console.do("back 100").splitlines()
    assert told[0].startswith("before AccumulateGrad, node 4 of 5")
    assert told[-1].startswith("moved 1 of 100 times: MulBackward0 called hooks") and "force" in told[-1]


def test_a_barrier_says_what_to_do_and_force_does_it(console_stage):
    console = console_stage.console(HOOKED)
    console.do("start", "next 3")
    with pytest.raises(CommandError, match="with the word force behind it, it is done"):
        console.do("back")
    assert console.do("back force").startswith("before MulBackward0, node 3 of 5")
    assert console.grads() == "[120.51322174072266, 220264.671875] [40.17107391357422, 88105.8671875]"


CHECKPOINTED = SMALL.replace(
    "loss.backward()",
    "from agdbg_engine.utils.checkpoint import checkpoint\n"
    "loss = checkpoint(lambda t: t * x, y, use_reentrant=True).sum()\n"
    "loss.backward()",
)


@pytest.mark.parametrize("inside", [["next 2"], ["next", "step", "step", "next", "back", "finish", "next"]])
def test_going_back_over_a_checkpoint_takes_back_what_its_pass_added(console_stage, inside):
    """Without stops in it, and after steps to and fro in its own pass."""
    plain = console_stage.console(CHECKPOINTED)
    plain.do("start")
    console = console_stage.console(CHECKPOINTED)
    console.do("start", *inside)
    assert "None" not in console.do("print x.grad")
    with pytest.raises(CommandError, match="not taken back, but for their backward passes"):
        console.do("back")
    assert console.do("back force").startswith("before CheckpointFunctionBackward, node 2 of 6")
    assert console.do("print x.grad") == "None"
    assert console.grads() == plain.grads()


# ----- until -----


def test_until_a_node_of_this_pass(console_stage):
    console = console_stage.console(SMALL)
    console.do("start")
    assert console.do("until 2").startswith("before AccumulateGrad, node 5 of 5")
    assert console.do("back 3").startswith("before ExpBackward0")  # what ran on the way is journalled
    assert console.grads() == PLAIN


def test_until_a_line_in_a_pass_and_in_forward_code(console_stage):
    console = console_stage.console(SMALL)
    console.do("tbreak script.py:5")
    console.do("run")
    assert console.do("until script.py:7").startswith("forward, line 7 built SumBackward0")
    assert console.do("until script.py:5").startswith("before MulBackward0, node 3 of 5")
    assert console.grads() == PLAIN


LOOP = """\
import agdbg_engine as torch
x = torch.tensor([1.0], requires_grad=True)
for i in range(3):
    y = x * 2 + x * 3
    y.backward()
print("done", x.grad.item())
"""


def test_until_a_line_comes_to_it_again_and_not_to_the_rest_of_it(console_stage):
    console = console_stage.console(LOOP)
    console.do("tbreak script.py:4")
    assert "line 4 built MulBackward0" in console.do("run")
    assert console.do("until script.py:4").startswith("before AddBackward0, node 1 of 4")
    assert console.do("until script.py:4").startswith("forward, line 4 built MulBackward0")
    assert console.value("info passes")["passes"][-1]["kind"] == "pass finished"
    assert "done 15.0" in console.end()


def test_until_a_node_that_is_not_built_yet(console_stage):
    console = console_stage.console(LOOP)
    console.do("tbreak script.py:4", "run")
    assert console.do("until 8").startswith("forward, line 4 built")
    assert console.node() == 8


def test_until_stops_at_a_breakpoint_on_the_way(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "break ExpBackward0")
    assert console.do("until 2").startswith("breakpoint 1: before ExpBackward0")
    assert console.do("until 4711") == "the program has ended with exit status 0; its recording is here"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("until", "until where"),
        ("until nowhere.py:3", "there is no file 'nowhere.py'"),
        ("until loss", "'loss' is no number of a node"),
    ],
)
def test_until_what_is_no_place(console_stage, line, words):
    console = console_stage.console(SMALL)
    console.do("start")
    with pytest.raises(CommandError, match=words):
        console.do(line)


# ----- skip -----


def test_skip_sends_zeros_and_is_taken_back(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "until 3")
    assert console.do("skip").startswith("before AccumulateGrad, node 4 of 5")
    assert "0: float32 [2]  min 0  max 0" in console.do("grads")
    assert console.do("back").startswith("before MulBackward0")
    console.do("skip")
    assert console.grads() == "[0.0, 0.0] [0.0, 0.0]"


def test_a_skipped_run_that_was_taken_back_leaves_nothing(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "until 3", "skip", "back")
    assert console.grads() == PLAIN


def test_skip_is_no_barrier_where_the_node_has_hooks(console_stage):
    console = console_stage.console(HOOKED)
    console.do("start", "until 3", "skip")
    assert console.do("back").startswith("before MulBackward0")


def test_what_cannot_be_skipped(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "step")
    with pytest.raises(CommandError, match="before any part of it has"):
        console.do("skip")
    console.do("finish")
    with pytest.raises(CommandError, match="only a node that is about to run"):
        console.do("skip")


# ----- forward code -----

MODULES = """\
import agdbg_engine as torch
from agdbg_engine import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.b = nn.Linear(3, 1)

    def forward(self, x):
        return self.b(self.a(x).relu())


def scaled(x):
    y = x * 2
    return y + 1


net = Net()
x = torch.ones(4, 2)
for i in range(2):
    out = scaled(net(x)).sum()
print("done")
"""


def test_next_in_forward_code_goes_from_birth_to_birth_without_any_backward(console_stage):
    console = console_stage.console(MODULES)
    console.do("tbreak script.py:12")
    text, seen = console.do("run"), []
    while "has ended" not in text:
        seen.append(text.splitlines()[0].removeprefix("breakpoint 1: "))
        text = console.do("next")
    one = [
        "forward, line 12 built TBackward0",
        "forward, line 12 built AddmmBackward0",
        "forward, line 12 built ReluBackward0",
        "forward, line 12 built TBackward0",
        "forward, line 12 built AddmmBackward0",
        "forward, line 16 built MulBackward0",
        "forward, line 17 built AddBackward0",
        "forward, line 23 built SumBackward0",
    ]
    assert seen == one * 2
    assert "done" in console.printed


# ----- the recording -----


def test_goto_looks_at_the_recording_and_continue_returns(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "next 3")
    assert console.do("goto 0").startswith("in the recording: SumBackward0, node 1 of 5")
    assert console.do("next").startswith("in the recording: ExpBackward0")
    with pytest.raises(CommandError, match="place in the recording, where nothing can be changed"):
        console.do("set grad[0] = grad * 0")
    with pytest.raises(CommandError, match="place in the recording, where nothing can be changed"):
        console.do("skip")
    assert console.do("continue").startswith("before AccumulateGrad, node 4 of 5")
    assert console.grads() == PLAIN


def test_goto_where_nothing_ran_since_is_where_the_program_stands_and_says_so(console_stage):
    console = console_stage.console(SMALL)
    console.do("start")
    told = console.do("goto 0")
    assert told.startswith("before SumBackward0, node 1 of 5")
    assert "this is where it stands, and not the recording" in told
    assert "recording" not in console.do("next")
    assert console.do("goto 0").startswith("in the recording: SumBackward0")


def test_goto_without_an_event_returns_to_the_program(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "next 3", "goto 0")
    assert console.do("goto").startswith("before AccumulateGrad, node 4 of 5")
    assert console.do("next").startswith("before AccumulateGrad, node 5 of 5")
    opened = console_stage.console(SMALL, trace="trace")
    opened.do("run")
    with pytest.raises(CommandError, match="no program runs here that would stand somewhere"):
        console_stage.opened(console_stage.directory / "trace").do("goto")


def test_a_value_that_is_asked_for_in_the_recording_is_that_of_the_stop_and_says_so(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "next 2")
    assert "where the program stands" not in console.do("p grad")
    console.do("goto 0")
    told = console.do("p grad")
    assert "this is the value where the program stands, not in the recording: before MulBackward0, node 3 of 5" in told


def test_goto_what_is_not_there(console_stage):
    console = console_stage.console(SMALL)
    console.do("start")
    with pytest.raises(CommandError, match="there is no event 99; the trace has 1, counted from 0"):
        console.do("goto 99")


def test_moves_in_a_trace(console_stage):
    console = console_stage.console(SMALL, trace="trace")
    console.do("run")
    opened = console_stage.opened(console_stage.directory / "trace")
    assert opened.do("next").startswith("in the recording: ExpBackward0, node 2 of 5")
    assert opened.do("until 2").startswith("in the recording: AccumulateGrad, node 5 of 5")
    with pytest.raises(CommandError, match="node 4 does not run behind this place of the recording"):
        opened.do("until 4")
    assert opened.do("goto 0").startswith("in the recording: SumBackward0")
    assert opened.do("until script.py:5").startswith("in the recording: MulBackward0, node 3 of 5")
    with pytest.raises(CommandError, match="there is no program to talk to: this is a trace"):
        opened.do("skip")


PASSES = SMALL.replace("loss.backward()", "for i in range(3):\n    loss.backward(retain_graph=True)")


@pytest.mark.parametrize(
    "command, where",
    [
        ("back", "in the recording: AccumulateGrad, node 5 of 5 of backward, pass 3"),
        ("reverse", "in the recording: SumBackward0, node 1 of 5 of backward, pass 3"),
        ("next", "in the recording: its end, after pass 3; the recording has ended here"),
    ],
)
def test_moves_where_the_program_has_ended_begin_at_the_end_of_the_last_pass(console_stage, command, where):
    console = console_stage.console(PASSES)
    console.do("run")
    assert console.do(command).startswith(where)


# ----- restart, pause -----


def test_restart_is_the_same_program_with_the_same_breakpoints_and_a_new_trace(console_stage):
    console = console_stage.console(SMALL, trace="trace")
    console.do("break MulBackward0", "run")
    assert console.do("restart").startswith("breakpoint 1: forward, line 5 built MulBackward0")
    assert console.value("info program")["trace"] == str(console_stage.directory / "trace-2")
    console.do("c", "c")
    assert console.do("restart").startswith("breakpoint 1: forward")
    assert console.value("info program")["trace"] == str(console_stage.directory / "trace-3")
    assert console.grads() == PLAIN
    assert (console_stage.directory / "trace" / "records.bin").exists()


def test_run_restarts_a_program_that_was_started(console_stage):
    console = console_stage.console(SMALL)
    console.do("start")
    console.do("next")
    assert console.do("run").startswith("before SumBackward0, node 1 of 5")  # it stops on entry as it did


def test_pause_stops_a_program_that_runs_and_control_is_taken_over(console_stage):
    forever = "while True:\n    loss.backward(retain_graph=True)\n"
    console = console_stage.console(SMALL.replace("loss.backward()\n", forever))
    console.do("tbreak SumBackward0", "run", "delete")
    console.client.answer(console.client.send("continue", threadId=1))
    other = console_stage.joined(console.client._address)
    with pytest.raises(CommandError, match="has control"):
        other.do("pause")
    assert other.do("control take") == "this client has control"
    assert other.do("pause").startswith("paused: ")
    assert other.do("kill") == "the program was ended by SIGTERM; its recording is here"


def test_moves_of_a_program_that_was_not_started(console_stage):
    console = console_stage.console(SMALL)
    for line in ("where", "finish", "back", "skip", "p 1", "goto 1", "node 1"):
        with pytest.raises(CommandError, match="has not been started"):
            console.do(line)


INTERRUPTED = """\
import os, pathlib, sys, traceback
import agdbg_engine as torch

def hook(kind, error, trace):
    frames = [pathlib.Path(each.filename).parent.name for each in traceback.extract_tb(trace)]
    pathlib.Path("left").write_text(" ".join([*frames, kind.__name__]))

pathlib.Path("pid").write_text(str(os.getpid()))
sys.excepthook = hook
x = torch.tensor([1.0, 2.0], requires_grad=True)
x.exp().sum().backward()
"""


@pytest.mark.parametrize("stops", [1, 2], ids=["in forward", "in a pass"])
def test_ctrl_c_at_a_stop_leaves_no_frames_of_agdbg_in_the_traceback(console_stage, stops):
    console = console_stage.console(INTERRUPTED)
    console.do("break ExpBackward0")
    for move in ("run", "continue")[:stops]:
        assert console.do(move).startswith("breakpoint 1")
    os.kill(int((console_stage.directory / "pid").read_text()), signal.SIGINT)
    console.do("continue")
    console.end()
    left = (console_stage.directory / "left").read_text().split()
    assert left[-1] == "KeyboardInterrupt" and {"ops", "agdbg_engine"} & set(left)
    assert not {"engines", "agent"} & set(left)
