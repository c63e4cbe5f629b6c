"""Looking about: the stack, the source, the node, lists; and what the recording tells."""

import os
from pathlib import Path

import pytest
from agdbg_tests_console_stage import SMALL

from agdbg.breakpoints import EVENTS
from agdbg.console import CommandError
from agdbg.console.places import short
from agdbg.sources import WRITTEN_TO

IN_A_FUNCTION = SMALL.replace("loss.backward()", "def train():\n    scale = 2\n    loss.backward()\n\n\ntrain()")


def test_where_shows_the_node_its_line_the_call_and_the_frames(console_stage):
    console = console_stage.console(IN_A_FUNCTION)
    console.do("start", "until 3")
    file = short(console.script)
    assert console.do("where").splitlines() == [
        f"-> #0  MulBackward0, 3 of 5  {file}:5  h = x * w",
        f"   #1  created in <module>  {file}:5  h = x * w",
        f"   #2  train  {file}:10  loss.backward()",
        f"   #3  <module>  {file}:13  train()",
    ]
    assert [frame["line"] for frame in console.value("bt")["frames"]] == [5, 5, 10, 13]


def test_frames_up_and_down(console_stage):
    console = console_stage.console(IN_A_FUNCTION)
    console.do("start")
    assert console.do("up 2").startswith("#2  train")
    assert console.do("where").splitlines()[2].startswith("-> #2")
    assert console.do("locals") == "scale = 2"
    assert console.do("p scale") == "2"
    assert console.do("up").startswith("#3  <module>")
    with pytest.raises(CommandError, match="there is no frame 4; there are 4, from 0"):
        console.do("up")
    assert console.do("down 3").startswith("#0  SumBackward0")
    assert console.do("frame 1").startswith("#1  created in <module>")
    assert console.do("next").startswith("before ExpBackward0")
    assert console.do("frame").startswith("#0  ExpBackward0")  # a stop is looked at from its innermost frame


def test_list(console_stage):
    console = console_stage.console(SMALL)
    assert console.do("list").splitlines()[1] == "->     1  import agdbg_engine as torch"
    console.do("start")
    shown = console.do("list").splitlines()
    assert shown[0] == short(console.script)
    assert "->     7  loss = y.sum()" in shown
    assert len(shown) == 9
    with pytest.raises(CommandError, match="has 9 lines"):
        console.do("list")
    assert console.value("list script.py:2")["first"] == 1
    assert "->     3  x = torch.tensor([1.0, 2.0], requires_grad=True)" in console.do("list 3").splitlines()
    with pytest.raises(CommandError, match="'here' is no line"):
        console.do("list here")


def test_a_file_that_was_written_to_after_the_program_began_is_read_again_and_said_to_be(console_stage):
    console = console_stage.console(SMALL)
    console.do("start")
    assert WRITTEN_TO not in console.do("list 3") + console.do("break script.py:5")
    path = Path(console.script)
    path.write_text(SMALL.replace("3.0, 5.0", "3.0, 6.0"))
    later = path.stat().st_mtime + 60
    os.utime(path, (later, later))
    assert console.do("list 3").splitlines()[1] == console.value("list 3")["note"] == WRITTEN_TO
    assert "6.0" in console.do("list 3")
    assert console.do("tbreak script.py:6").splitlines()[1].strip() == WRITTEN_TO
    assert WRITTEN_TO not in console.do("break Mul*")


def test_node_grads_and_saved(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "until 3")
    assert console.do("grads").splitlines() == [
        "MulBackward0, node 3, next",
        "Gradients in:",
        "  0: float32 [2]  min 20.09  max 2.203e+04  mean 1.102e+04  norm 2.203e+04",
        "Gradients out:",
        "  0: not there yet: goes to x #1",
        "  1: not there yet: goes to w #2",
    ]
    assert console.do("saved").splitlines()[1:] == [
        "Saved tensors:",
        "  self: float32 [2]  min 1  max 2  mean 1.5  norm 2.236  version 0 saved, 0 now",
        "  other: float32 [2]  min 3  max 5  mean 4  norm 5.831  version 0 saved, 0 now",
    ]
    assert console.do("saved 1").splitlines() == ["AccumulateGrad, node 1, waiting", "Saved tensors: none"]
    found = console.value("node 4")
    assert (found["op"], found["state"]) == ("ExpBackward0", "freed")
    edges = next(section for section in found["sections"] if section["name"] == "Next edges")
    assert edges["entries"][0]["value"].startswith("MulBackward0 #3")
    with pytest.raises(CommandError, match="there is no node 77"):
        console.do("node 77")
    console.do("finish")
    with pytest.raises(CommandError, match="no node runs next here"):
        console.do("grads")


HOOKED = SMALL.replace("loss.backward()", "h.register_hook(lambda g: g * 2)\nloss.backward()")


def test_info(console_stage):
    console = console_stage.console(HOOKED)
    console.do("break mul if False", "start", "until 3")
    assert console.do("info breakpoints").splitlines()[-1] == "1  mul  if False"
    assert console.do("i th").startswith("1  MainThread: before MulBackward0, node 3 of 5")
    assert "tensor" in console.value("info hooks")["hooks"][0]["name"]
    assert console.do("info hooks 4") == "ExpBackward0, node 4: no hooks"
    assert console.do("info passes") == "pass started: pass 1: backward, 5 nodes"
    assert ": stopped; trace: " in console.do("info program")
    with pytest.raises(CommandError, match="write info with one of breakpoints, threads, hooks"):
        console.do("info")
    with pytest.raises(CommandError, match=r"it knows nothing of .pases., did you mean passes\?"):
        console.do("info pases")


def test_info_modules(console_stage):
    text = "import agdbg_engine as torch\nfrom agdbg_engine import nn\n"
    text += "net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())\nnet(torch.ones(1, 2)).sum().backward()\n"
    console = console_stage.console(text)
    console.do("start")
    assert console.do("info modules").splitlines() == [
        "(root)  Sequential  3 nodes",
        "  0  Linear  2 nodes",
        "    0.weight",
        "    0.bias",
        "  1  ReLU  1 node",
    ]
    assert [each["kind"] for each in console.value("info modules")["modules"]].count("parameter") == 2
    other = console_stage.console(SMALL)
    other.do("start")
    assert other.do("info modules") == "no module was called"


TWICE = SMALL.replace("loss.backward()", "loss.backward()\nloss.backward()")


def test_explain_findings_and_events(console_stage):
    console = console_stage.console(TWICE)
    text = console.do("run")
    assert text.startswith("error ahead: before SumBackward0, node 1 of 5 of backward()")
    assert "Trying to backward through the graph a second time" in text
    assert "backward-twice (certain): `loss.backward()` at line 9" in console.do("findings")
    assert "fix " in console.do("explain")
    assert console.value("explain")["findings"][0]["kind"] == "backward-twice"
    kinds = [each["kind"] for each in console.value("events all")["events"]]
    told = [kind for kind in kinds if kind.startswith(("pass", "error"))]
    assert told == ["pass started", "pass finished", "pass started", "error ahead"]
    assert console.do("events pass started 1").splitlines()[0] == "(1 before these; events pass started all lists them)"
    assert len(console.value("events pass started all")["events"]) == 2
    with pytest.raises(CommandError, match=r"there is no event .pass startd., did you mean pass started\?"):
        console.do("events pass startd")


def test_events_go_by_the_names_that_catch_takes(console_stage):
    console = console_stage.console(SMALL)
    console.do("run")
    every = console.value("events all")["events"]
    kinds = {each["kind"] for each in every}
    named = {name: console.value(f"events {name} all")["events"] for name in EVENTS}
    assert named["backward-started"] == [each for each in every if each["kind"] == "pass started"] != []
    assert console.do("events Backward_Started") == console.do("events pass started")
    assert named["backward-finished"] and not named["hook-fired"] and "hook" not in kinds
    assert console.do("events hook-fired") == "no hook-fired has been recorded"
    assert "comes with each node and is not listed; `catch save` stops there" in console.do("events save")
    with pytest.raises(CommandError, match=r"did you mean save\?"):
        console.do("events savee")


def test_hooks_are_listed_by_what_happened(console_stage):
    console = console_stage.console(
        SMALL.replace("loss.backward()", "h = loss.register_hook(abs)\nloss.backward()\nh.remove()")
    )
    console.do("run")
    for name in ("registered", "fired", "removed"):
        (found,) = console.value(f"events hook-{name}")["events"]
        assert f" {name}" in found["text"]


def test_nothing_to_explain(console_stage):
    console = console_stage.console(SMALL)
    console.do("run")
    assert console.do("findings") == "nothing was found"
    assert console.do("explain").startswith("nothing to explain: 5 nodes")


def test_graph_and_export(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "until 3")
    shown = console.do("graph 4 1").splitlines()
    assert any("ExpBackward0, freed  <- 3" in line for line in shown)
    assert any("MulBackward0" in line for line in shown)
    assert "nodes drawn into " in console.do("export out.svg")
    assert (console_stage.directory / "out.svg").read_text().startswith("<")
    with pytest.raises(CommandError, match=r"out\.svg exists"):
        console.do("export out.svg")
    with pytest.raises(CommandError, match="export where"):
        console.do("export")
    with pytest.raises(CommandError, match="graph takes the number of a node"):
        console.do("graph x")


def test_an_expression_that_fails_is_no_error_of_the_program(console_stage):
    console = console_stage.console(SMALL)
    console.do("start")
    with pytest.raises(CommandError, match="leaf Variable that requires grad"):
        console.do("print x.mul_(2)")
    console.do("continue")
    assert console.do("explain").startswith("nothing to explain")


def test_a_condition_on_gradients_does_not_stop_in_forward(console_stage):
    console = console_stage.console(SMALL)
    console.do("break Mul* if grads_in[0].sum() > 0")
    assert "before MulBackward0" in console.do("continue")
