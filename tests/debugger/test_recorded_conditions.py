"""Conditions of breakpoints on a recording: they stop where they would have stopped the program, or it is said why they cannot."""

import re
import shutil

import pytest
from agdbg_tests_scripted_agent import stepped

import agdbg_engine as ag
from agdbg.agent.control import FunctionStop, Settings
from agdbg.hub.history import History
from agdbg.hub.recorded_conditions import condition_problem, sees_of
from agdbg.hub.recorded_stops import OnName, RecordedStops, rule_problem
from agdbg.hub.replay import Replay
from agdbg.hub.rules import Rule
from agdbg_engine import nn

ALL = {"values": True, "shapes": True}


def program():
    """Three passes of a model, one of them within another."""
    ag.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))

    def inside(grad):
        with ag.enable_grad():
            w = ag.ones(2, requires_grad=True)
            (w * 3).sum().backward()

    for i in range(3):
        h = model(ag.ones(4, 2)) * (i + 1)
        if i == 1:
            h.register_hook(inside)
        (h * h).sum().backward()


def live(name, condition):
    """Where a condition stops the program in its passes."""
    stop = FunctionStop(1, name, "backward", condition=condition)
    with stepped(Settings(functions=[stop]), also=["values", "shapes"]) as (agent, trace):
        program()
        agent.recorder.flush()
        found = [(told["pass"], told["position"]) for told in agent.stops]
        return found, recorded(History(trace), OnName(1, name, condition))


def recorded(history, breakpoint):
    """Where it stops the cursor, from the first run on, and then on the way back."""
    replay = Replay(history)
    replay.goto(0)
    stops = RecordedStops(names=(breakpoint,))
    ways = []
    for forward in (True, False):
        found = []
        while (position := replay.to_stop(stops, forward=forward)).breakpoints:
            assert "condition" not in position.description
            found.append((position.pass_id, position.position))
        replay.to_end()
        ways.append(found)
    assert ways[0] == ways[1][::-1][len(ways[1]) - len(ways[0]) :]  # the first run is where it begins
    return ways[0]


@pytest.mark.parametrize(
    "condition",
    [
        "step == 1",
        "node.op == 'MulBackward0' and step != 2",
        "node.module in ('0', '2') and event.kind == 'before'",
        "node.parameter == '2.weight'",
        "node.id % 3 == 0",
        "node.seq < 9_000_000_000_000_000_000",
        "grad.norm() > 2.5",
        "grads_in[0].shape == (4, 3) or grad.shape == ()",
        "node.op == 'TanhBackward0' and grads_out[0].norm() < 5",
        "node.line == 0",
    ],
)
def test_it_stops_where_the_program_would_have_stopped(condition):
    in_program, in_recording = live("*", condition)
    # a node whose hook starts a pass has run when that has: it is told of behind it
    assert sorted(in_recording) == sorted(place for place in in_program if place != (1, 0))
    assert in_program or condition == "node.line == 0"


def history_of(tmp_path, also=()):
    with stepped(Settings(), also=also) as (agent, trace):
        program()
        agent.recorder.flush()
        shutil.copytree(trace, tmp_path / "trace")
    return History(tmp_path / "trace")


def test_what_was_not_recorded_stops_and_says_so(tmp_path):
    replay = Replay(history_of(tmp_path, ["values", "shapes"]))
    replay.goto(0)
    position = replay.to_stop(RecordedStops(names=(OnName(7, "Addmm*", "grads_in[3].norm() > 1"),)), forward=True)
    assert position.breakpoints == (7,)
    assert "the condition 'grads_in[3].norm() > 1' failed: the norm of gradient in 3 of node" in position.description
    assert position.description.endswith("was not recorded")


def test_a_condition_that_raises_stops_and_says_so(tmp_path):
    replay = Replay(history_of(tmp_path))
    replay.goto(0)
    position = replay.to_stop(RecordedStops(names=(OnName(7, "Addmm*", "node.op < 1"),)), forward=True)
    assert "failed: TypeError: '<' not supported" in position.description


def test_what_was_set_while_the_program_ran_stops_and_says_that_it_is_unknown(tmp_path):
    history = history_of(tmp_path)
    for each in (
        OnName(7, "Addmm*", "x > 1"),
        OnName(7, "Addmm*", "grad.norm() > 1"),
        OnName(7, "Addmm*", is_counted=True),
    ):
        replay = Replay(history)
        replay.goto(0)
        position = replay.to_stop(RecordedStops(names=(each,)), forward=True)
        assert position.breakpoints == (7,)
        what = "counts its hits" if each.is_counted else "has a condition"
        assert position.description.endswith(f"; it {what}, which a recording cannot evaluate")


def test_one_without_a_condition_needs_no_words(tmp_path):
    replay = Replay(history_of(tmp_path))
    replay.goto(0)
    stops = RecordedStops(names=(OnName(7, "Pow*"), OnName(8, "Mul*", "x > 1"), OnName(9, "Mul*")))
    position = replay.to_stop(stops, forward=True)
    assert position.breakpoints == (8, 9) and "condition" not in position.description


@pytest.mark.parametrize(
    ("condition", "sees", "words"),
    [
        ("step == 1 and node.op == 'MulBackward0'", {}, ""),
        ("grad.norm() > 1", ALL, ""),
        ("grad.norm() > 1", {"values": False}, "this recording has no norms.*record with --also values"),
        ("grads[0].shape == (2,)", {"values": True}, "this recording has no shapes.*record with --also shapes"),
        ("x > 1", ALL, "needs the program if it reads x; known are step"),
        ("rank == 1", ALL, "if it reads rank"),
        ("grads_in[0].sum() > 1", ALL, r"if it reads grads_in\[0\].sum"),
        ("saved.self.norm() > 1", ALL, "if it reads saved.self.norm"),
        ("grad", ALL, "if it reads grad;"),
        ("grads_in[i].norm() > 1", ALL, "needs the program"),
        ("grad.norm(1) > 1", ALL, "needs the program"),
    ],
)
def test_what_is_refused(condition, sees, words):
    found = condition_problem(condition, sees)
    assert bool(found) == bool(words)
    assert re.search(words, found)
    assert rule_problem(Rule(condition=condition), sees, "backward") == found


def test_a_damaged_header_tells_of_nothing():
    assert sees_of({"sees": ["values"]}) == {} == sees_of({})
