"""The read-only cursor over a recording: where it starts, how it moves, what it says of where it is."""

import pytest

import agdbg_engine as ag
from agdbg.engines import native
from agdbg.events import Kind, Outcome
from agdbg.hub.cursor import Cursor
from agdbg.hub.history import History
from agdbg.hub.replay import Replay
from agdbg.record import Recorder

SCRIPT = """
y = w * 2
z = y.exp()
z.backward()
z.backward()
inner.backward()
"""


@pytest.fixture
def script(made_up):
    trace = made_up(SCRIPT)
    trace.leaf("w", "w")
    trace.node("y", "MulBackward0", 1, "w * 2", ["w"])
    trace.node("z", "ExpBackward0", 2, "y.exp()", ["y"])
    return trace


def replay(trace):
    trace.recorder.close()
    return Replay(History(trace.recorder.path))


def where(position):
    return position.pass_id, position.position, position.node


def test_it_starts_at_the_first_node_of_the_last_pass(script):
    script.backward(3, "z", "y", "w", retain=True)
    script.backward(4, "z", "y", "w")
    assert where(replay(script).position) == (2, 0, script.nodes["z"])


def test_what_is_still_recorded_is_not_said_to_have_ended_and_is_read_on(script):
    script.backward(3, "z", "y", "w", retain=True)
    script.recorder.flush()
    history, cursor = History(script.recorder.path), Cursor(1)
    said = "in the recording: its end so far, after pass 1; it is still being recorded, and n goes on to what comes"
    assert cursor.where(history).description == said
    assert cursor.move(history, "next").description == f"{said}; nothing has come since"
    script.backward(4, "z", "y", "w")
    script.recorder.flush()
    history.poll()
    assert where(cursor.move(history, "next")) == (2, 1, script.nodes["y"])
    script.recorder.close()
    history.poll()
    ends = [cursor.move(history, "stepOut").description for _ in range(2)]
    end = "in the recording: its end, after pass 2"
    assert ends == [end, f"{end}; the recording has ended here"]


def test_it_starts_where_it_failed(script):
    script.backward(3, "z", "y", "w")
    script.twice(4, "z", "y", "z")
    position = replay(script).position
    assert where(position) == (2, 0, script.nodes["y"])
    assert position.error.kind == "backward-twice" and position.description.endswith("it fails here")
    stop = position.as_stop()
    assert (stop["reason"], stop["where"], stop["error"]["kind"]) == ("exception", "raise", "backward-twice")


def test_it_starts_at_the_pass_that_would_have_failed(script):
    script.backward(3, "z", "y", "w", retain=True)
    script.emit(Kind.ERROR, script.nodes["z"], 1, script.where(4, "backward-twice"), flags=4)
    script.backward(4, "z", "y", "w")
    assert where(replay(script).position) == (1, 0, script.nodes["z"])


def test_while_the_program_is_there_it_starts_behind_all(tmp_path):
    recorder = Recorder(tmp_path / "trace", program={}, engine={}, sees=native.SEES)
    native.attach(recorder)
    try:
        z = ag.tensor([1.0], requires_grad=True).exp().sum()
        z.backward()
        recorder.flush()
        history = History(recorder.path)
        cursor = Replay(history)
        assert cursor.position.at_end
        assert history.live.node(cursor.back().node).op.name == "AccumulateGrad"
    finally:
        native.detach()
        recorder.close()


def test_whoever_saw_the_program_end_starts_behind_all(script):
    last = [script.backward(3, "z", "y", "w", retain=True) for _ in range(3)][-1]
    script.recorder.close()
    cursor = Replay(History(script.recorder.path), at_end=True)
    assert cursor.position.at_end
    assert where(cursor.back()) == (last, 2, script.nodes["w"])
    assert where(cursor.reverse()) == (last, 0, script.nodes["z"])


def test_back_from_the_end_of_what_failed_leads_to_what_failed(script):
    script.backward(3, "z", "y", "w")
    script.twice(4, "z", "y", "z")
    script.recorder.close()
    cursor = Replay(History(script.recorder.path), at_end=True)
    assert cursor.back().description.endswith("it fails here")


def test_one_node_on_and_back(script):
    first = script.backward(3, "z", "y", "w", retain=True)
    second = script.backward(4, "z", "y", "w")
    cursor, nodes = replay(script), script.nodes
    assert where(cursor.back()) == (first, 2, nodes["w"])
    assert where(cursor.next()) == (second, 0, nodes["z"])
    assert [where(cursor.next()) for _ in range(2)] == [(second, 1, nodes["y"]), (second, 2, nodes["w"])]
    end = cursor.next()
    assert end.at_end and (end.node, end.pass_id, end.position) == (0, second, 3)
    assert cursor.next() == end and end.as_stop()["where"] == "end"
    assert where(cursor.back()) == (second, 2, nodes["w"])
    for _ in range(10):
        start = cursor.back()
    assert where(start) == (first, 0, nodes["z"])


def test_to_the_end_and_the_start_of_a_pass_and_then_on(script):
    passes = [script.backward(3, "z", "y", "w", retain=True) for _ in range(3)]
    cursor, w, z = replay(script), script.nodes["w"], script.nodes["z"]
    assert [where(cursor.reverse())[::2] for _ in range(3)] == [(passes[1], z), (passes[0], z), (passes[0], z)]
    assert [where(cursor.forward_to_end())[::2] for _ in range(3)] == [(each, w) for each in passes]
    assert cursor.forward_to_end().at_end
    assert cursor.forward_to_end().at_end
    assert where(cursor.reverse())[::2] == (passes[2], z)
    assert cursor.out().at_end


def test_out_of_an_inner_pass(script):
    outer = script.start(3, "z")
    script.ran(outer, "z")
    inner = script.start(5, "y", parent=outer)
    script.ran(inner, "y", "w")
    script.finish(inner)
    script.emit(Kind.RAN, script.nodes["y"], outer, 1, 0, 0, Outcome.OK)
    script.finish(outer)
    cursor, y = replay(script), script.nodes["y"]
    assert where(cursor.position) == (outer, 0, script.nodes["z"])  # of the pass that ended last
    position = cursor.next()
    assert where(position) == (inner, 0, y)
    assert position.outer == [{"pass": outer, "position": 1, "node": y}]
    frames = [(frame["line"], frame["name"], frame["passes"]) for frame in position.frames]
    assert frames == [(5, "<module>", 1), (3, "<module>", 2)]
    assert where(cursor.out()) == (outer, 1, y)
    assert cursor.position.outer == [] and cursor.out().at_end


def test_runs_that_were_taken_back_or_skipped_are_not_there(script):
    number = script.start(3, "z")
    script.ran(number, "z", "y")
    script.emit(Kind.UNDONE, script.nodes["y"], number, 1)
    script.emit(Kind.RAN, script.nodes["w"], number, 2, 0, 0, Outcome.SKIPPED)
    cursor = replay(script)
    assert where(cursor.position) == (number, 0, script.nodes["z"])
    assert cursor.next().at_end


def test_seeking(script):
    number = script.start(3, "z")
    for order, label in enumerate("zyw"):
        script.emit(Kind.RAN, script.nodes[label], number, order, 0, 0, 0)
    script.finish(number)
    later = script.backward(4, "z", "y", "w")
    cursor = replay(script)
    assert where(cursor.seek(number, 1)) == (number, 1, script.nodes["y"])
    assert where(cursor.seek(number, 3)) == (later, 0, script.nodes["z"])
    assert cursor.seek(99, 0).at_end
    assert cursor.to_end().at_end


def test_what_is_said_of_a_place(script):
    number = script.start(3, "z")
    script.ran(number, "z", "y", "w")
    position = replay(script).position
    assert position.description == f"in the recording: ExpBackward0, node 1 of 3 of backward, pass {number}"
    assert position.planned == 3 and position.thread == 1
    assert position.frames == [{"file": str(script.file), "line": 3, "name": "<module>", "passes": 1}]


def test_nothing_ran(script):
    cursor = replay(script)
    for move in (cursor.next, cursor.back, cursor.out, cursor.forward_to_end, cursor.reverse, cursor.to_end):
        position = move()
        assert position.at_end and position.node == 0 and position.pass_id == 0
    assert "no node ran" in cursor.position.description


def test_it_stays_where_it_is_while_the_trace_grows(script):
    first = script.backward(3, "z", "y", "w", retain=True)
    script.recorder.flush()
    history = History(script.recorder.path)
    cursor = Replay(history)
    cursor.seek(first, 0)
    script.backward(4, "z", "y", "w")
    script.recorder.flush()
    history.poll()
    assert where(cursor.position) == (first, 0, script.nodes["z"])
    assert cursor.to_end().pass_id == first + 1
