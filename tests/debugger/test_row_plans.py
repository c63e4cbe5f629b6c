"""Which nodes a pass has still to run, and which of those have all their gradients, live and at a place in the recording."""

import pytest

import agdbg
import agdbg_engine as ag
from agdbg.events import Kind, Outcome, pack_edge
from agdbg.graph import row_plans
from agdbg.graph.row_folds import Folding
from agdbg.hub.history import History
from agdbg.hub.moment import Moment, moment_of
from agdbg.hub.replay import Replay

SCRIPT = """
y = w * 2
a = y.exp()
b = y.tanh()
z = a * b
z.backward()
"""


@pytest.fixture
def diamond(made_up):
    """z uses a and b, which both use y, which uses the leaf w."""
    trace = made_up(SCRIPT)
    trace.leaf("w", "w")
    trace.node("y", "MulBackward0", 1, "w * 2", ["w"])
    trace.node("a", "ExpBackward0", 2, "y.exp()", ["y"])
    trace.node("b", "TanhBackward0", 3, "y.tanh()", ["y"])
    trace.node("z", "MulBackward0", 4, "a * b", ["a", "b"])
    return trace


def states(trace, at):
    """The state of each node by its label; that of the leaf is its badge's."""
    trace.recorder.flush()
    history = History(trace.recorder.path)
    labels = {number: label for label, number in trace.nodes.items()}
    rows = history.rows(0, 100, at=at)["rows"]
    badges = {badge["node"]: badge["state"] for row in rows for badge in row["badges"]}
    found = {row["node"]: row["state"] for row in rows} | badges
    return {labels[node]: state for node, state in found.items()}


def standing(*passes, before=None, begun=()):
    return Moment(passes, before, frozenset(begun))


def awaited(trace, label, at):
    """What the inspector says of the gradients that come to a node."""
    trace.recorder.flush()
    body = History(trace.recorder.path).node(trace.nodes[label], at.before, at)
    return [entry["value"] for entry in body["sections"][0]["entries"]]


def test_a_gradient_that_has_not_come_is_told_with_the_nodes_that_send_it(diamond):
    number = diamond.start(5, "z")
    ops = {"a": "Exp", "b": "Tanh", "z": "Mul"}
    a, b, z = (f"{op}Backward0 #{diamond.nodes[label]}" for label, op in ops.items())
    assert awaited(diamond, "y", standing(number)) == [f"not captured; waits for {a}, {b}"]
    assert awaited(diamond, "a", standing(number)) == [f"not captured; waits for {z}"]
    assert awaited(diamond, "z", standing(number)) == ["not captured"]  # its gradient was given to backward()
    diamond.ran(number, "z")
    diamond.ran(number, "b")
    assert awaited(diamond, "y", standing(number)) == [f"not captured; waits for {a}"]
    assert awaited(diamond, "a", standing(number)) == ["not captured"]
    assert awaited(diamond, "y", standing()) == ["not captured"]  # outside of a pass nothing is on its way


def test_at_a_stop_a_node_is_ready_when_all_that_use_it_have_run(diamond):
    number = diamond.start(5, "z")
    assert states(diamond, standing(number)) == dict.fromkeys("ywab", "waiting") | {"z": "ready"}
    diamond.ran(number, "z")
    assert states(diamond, standing(number)) == {
        "z": "freed",
        "a": "ready",
        "b": "ready",
        "y": "waiting",
        "w": "waiting",
    }
    diamond.ran(number, "b")
    assert states(diamond, standing(number))["y"] == "waiting"
    diamond.ran(number, "a")
    assert states(diamond, standing(number)) == dict.fromkeys("zab", "freed") | {"y": "ready", "w": "waiting"}


def test_without_a_place_to_stand_at_nothing_is_awaited(diamond):
    diamond.start(5, "z")
    assert set(states(diamond, None).values()) == set(states(diamond, standing()).values()) == {"pending"}


def test_what_the_pass_does_not_lead_to_is_not_awaited(diamond):
    number = diamond.start(5, "a")
    assert states(diamond, standing(number)) == {
        "z": "pending", "b": "pending", "a": "ready", "y": "waiting", "w": "waiting",
    }  # fmt: skip


def test_a_node_that_is_left_out_counts_as_run(diamond):
    number = diamond.start(5, "z")
    diamond.ran(number, "z", outcome=Outcome.SKIPPED)
    assert states(diamond, standing(number))["a"] == "ready"


def test_a_run_that_was_taken_back_does_not_count(diamond):
    number = diamond.start(5, "z")
    diamond.ran(number, "z")
    diamond.emit(Kind.UNDONE, diamond.nodes["z"], number, 0)
    assert states(diamond, standing(number)) == dict.fromkeys("ywab", "waiting") | {"z": "ready"}


@pytest.mark.parametrize("is_over", [False, True])
def test_a_pass_of_which_a_node_has_failed_runs_no_other(diamond, is_over):
    number = diamond.start(5, "z")
    diamond.ran(number, "z")
    diamond.recorder.flush()
    before = len(History(diamond.recorder.path).growing.records)
    diamond.ran(number, "b", outcome=Outcome.ERROR)
    if is_over:
        diamond.finish(number, Outcome.ERROR)
    failed = {"z": "freed", "b": "failed", "a": "pending", "y": "pending", "w": "pending"}
    assert states(diamond, standing(number)) == states(diamond, None) == failed
    assert awaited(diamond, "y", standing(number)) == ["not captured"]
    ahead = {"z": "freed", "b": "ready", "a": "ready", "y": "waiting", "w": "waiting"}
    assert states(diamond, standing(number, before=before)) == ahead
    diamond.emit(Kind.UNDONE, diamond.nodes["b"], number, 0)
    assert is_over or states(diamond, standing(number)) == ahead


def test_at_the_end_of_the_recording_of_a_pass_that_did_not_end_nothing_is_awaited(diamond):
    number = diamond.start(5, "z")
    diamond.ran(number, "z")
    diamond.recorder.flush()
    replay = Replay(History(diamond.recorder.path))
    while not (position := replay.next()).at_end:
        pass
    there = states(diamond, moment_of(position.as_stop(), position.row))
    assert there == states(diamond, None)


def test_a_pass_that_runs_fewer_nodes_than_its_roots_lead_to_does_not_tell_which(diamond):
    number = diamond.recorder.new_pass()
    root = pack_edge(diamond.nodes["z"])
    diamond.emit(Kind.PASS_STARTED, number, diamond.where(5, "grad"), root, 0, 0, 3, a=1)
    assert set(states(diamond, standing(number)).values()) == {"pending"}
    diamond.ran(number, "z", "b")
    assert states(diamond, standing(number))["a"] == "pending"


def test_one_that_is_over_has_told_which(diamond):
    number = diamond.start(5, "z")
    before = len(History(diamond.recorder.path).growing.records)
    diamond.ran(number, "z", "b")
    diamond.finish(number)
    assert states(diamond, standing(number, before=before)) == {
        "z": "ready", "b": "waiting", "a": "pending", "y": "pending", "w": "pending",
    }  # fmt: skip


def test_of_a_pass_that_is_too_long_only_what_ran_is_known(diamond, monkeypatch):
    monkeypatch.setattr(row_plans, "MOST", 4)
    number = diamond.recorder.new_pass()
    root = pack_edge(diamond.nodes["z"])
    diamond.emit(Kind.PASS_STARTED, number, diamond.where(5, "backward"), root, 0, 0, 5, a=1)
    diamond.ran(number, "z")
    assert states(diamond, standing(number)) == dict.fromkeys("abyw", "pending") | {"z": "freed"}


def test_in_the_recording_it_is_as_it_was_there(diamond):
    first = diamond.backward(5, "z", "b", "a", "y", "w", retain=True)
    second = diamond.backward(5, "z", "b", "a", "y", "w")
    diamond.recorder.close()
    replay = Replay(History(diamond.recorder.path))
    assert replay.position.pass_id == second
    seen = []
    while not replay.position.at_end:
        position = replay.next()
        seen.append("".join(each[0] for each in map(states(diamond, here(position)).get, "zbayw")))
    assert seen == ["frrww", "ffrww", "fffrw", "ffffr", "ffffr"]
    replay.goto(0)
    assert replay.position.pass_id == first
    assert states(diamond, here(replay.position)) == dict.fromkeys("bayw", "waiting") | {"z": "ready"}


def here(position):
    return moment_of(position.as_stop(), position.row)


def test_where_a_node_failed_those_behind_it_are_not_awaited(diamond):
    diamond.fail(diamond.start(5, "z"), "z", "user", 5)
    diamond.recorder.close()
    position = Replay(History(diamond.recorder.path)).position
    assert states(diamond, here(position)) == {
        "z": "failed",
        "a": "pending",
        "b": "pending",
        "y": "pending",
        "w": "pending",
    }


def test_a_node_that_is_freed_already_stays_so(diamond):
    diamond.backward(5, "z", "b", "a", "y", "w")
    number = diamond.start(5, "z")
    assert states(diamond, standing(number)) == dict.fromkeys("zbay", "freed") | {"w": "waiting"}


def test_the_node_around_an_inner_pass_is_running(diamond):
    outer = diamond.start(5, "z")
    diamond.leaf("v", "v")
    diamond.node("inner", "ExpBackward0", 2, "y.exp()", ["v"])
    inner = diamond.start(5, "inner", parent=outer)
    around = {"pass": outer, "position": 0, "node": diamond.nodes["z"]}
    stop = {"pass": inner, "outer": [around], "where": "before", "node": diamond.nodes["inner"]}
    assert states(diamond, moment_of(stop)) == {
        "z": "running", "a": "waiting", "b": "waiting", "y": "waiting", "w": "waiting", "inner": "ready", "v": "waiting",
    }  # fmt: skip


def test_inside_of_a_node_it_is_running(diamond):
    number = diamond.start(5, "z")
    stop = {"pass": number, "where": "inside", "node": diamond.nodes["z"]}
    assert states(diamond, moment_of(stop))["z"] == "running"


def test_a_fold_is_as_its_least_advanced_row(tmp_path):
    with agdbg.record(tmp_path / "trace"):
        y = ag.ones(3, requires_grad=True)
        for _ in range(9):
            y = y * 2.0
        y.sum().backward()
    history = History(tmp_path / "trace")
    replay = Replay(history)
    replay.next()
    fold, last = history.rows(0, 9, Folding(1), here(replay.position))["rows"]
    assert (fold["times"], fold["state"], last["state"]) == (9, "ready", "freed")


def test_the_engine_runs_what_is_ready(tmp_path):
    """The next node of a pass is ready at every place, and each that ran was awaited before."""
    with agdbg.record(tmp_path / "trace"):
        w, v = ag.ones(3, requires_grad=True), ag.ones(3, requires_grad=True)
        y = (w * v).exp() + (w * w).tanh() * v
        y.sum().backward(retain_graph=True)
        ag.autograd.grad(y.sum(), [v])
    history = History(tmp_path / "trace")
    replay = Replay(history)
    replay.goto(0)
    while not replay.position.at_end:
        position = replay.position
        (fate,) = history.fates([position.node], here(position))
        assert fate.state == "ready"
        replay.next()
