"""What the trace of a real program tells after its pass was stepped back and run again."""

import pytest

from agdbg.agent.control import FunctionStop, Settings
from agdbg.explain.explanation import explain_facts
from agdbg.hub.history import History
from agdbg.hub.replay import Replay
from agdbg.record import Facts, Trace

SCRIPT = """\
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
w = ag.tensor([3.0, 5.0], requires_grad=True)
(x * 1).sum().backward()
uses_grad = (w * x.grad).sum()
h = x * w
y = h.exp()
loss = y.sum()
loss.backward()
"""
ORDER = ["SumBackward0", "ExpBackward0", "MulBackward0", "leaf", "leaf"]

WRITTEN = "modified: written by AccumulateGrad at script.py:10, version 0 saved, 1 now"


@pytest.fixture
def stepped(run_agent):
    """A function that starts a script and goes to its second pass, in which all nodes then ran but were not left."""

    def start(text=SCRIPT):
        hub = run_agent(text, Settings(functions=[FunctionStop(1, "ExpBackward0")]))
        while hub.stopped()["where"] == "born":
            hub.ask("resume", how="continue", force=False)
        stop = {"where": ""}
        while stop["where"] != "end":
            stop = hub.go("next")
        hub.publish(functions=[])
        return hub

    return start


def states(history):
    """Of the second pass: the state of each node, and its place, in the order of the pass."""
    rows = history.rows(4, 3)["rows"][::-1]
    assert [row["op"] for row in rows] == ORDER[:3]
    leaves = sorted(rows[-1]["badges"], key=lambda badge: badge["node"])
    return [(row["state"], row["order"]) for row in rows], [badge["state"] for badge in leaves]


def saved(history, row):
    node = history.node(history.node_at(row))
    entries = next(section["entries"] for section in node["sections"] if section["name"] == "Saved tensors")
    return {entry["name"]: (entry["value"], entry["state"]) for entry in entries}


def walked(history):
    """The nodes of the second pass as the cursor goes through the recording."""
    cursor = Replay(history)
    cursor.seek(2, 0)
    found = []
    while not cursor.position.at_end:
        found.append((cursor.position.pass_id, cursor.position.position, cursor.position.node))
        cursor.next()
    backwards = [(2, cursor.back().position, cursor.position.node) for _ in found]
    assert backwards[::-1] == found
    return found


def test_a_pass_that_stands_in_its_middle_after_going_back(stepped):
    hub = stepped()
    history = History(hub.trace)
    assert states(history) == ([("freed", 0), ("freed", 1), ("freed", 2)], ["ran", "ran"])
    assert "freed by pass 2" in saved(history, 4)["other"][0]
    assert saved(history, 2)["other"][1] == "modified"  # the pass adds to x.grad, in place
    for _ in range(4):
        stop = hub.go("back")
    assert stop["position"] == 1
    assert history.poll()
    assert states(history) == ([("freed", 0), ("pending", None), ("pending", None)], ["pending", "pending"])
    assert saved(history, 4)["other"] == ("version 0 saved, 0 now", "ok")
    assert saved(history, 2)["other"] == ("version 0 saved, 0 now", "ok")
    assert [place for _, place, _ in walked(history)] == [0]
    assert [run.pass_id for run in history.live.runs_of(history.node_at(5))] == []
    whole = Facts(Trace.open(hub.trace))
    assert whole.void == history.live.void
    assert hub.end()[0] == 0


def test_a_pass_that_was_run_again(stepped):
    hub = stepped()
    for how in ("back", "back", "back", "back", "next", "back", "in"):
        stop = hub.go(how)
    while stop["where"] != "end":
        stop = hub.go("next")
    assert hub.end()[0] == 0
    for history in (History(hub.trace), History(hub.trace)):
        assert states(history) == ([("freed", 0), ("freed", 1), ("freed", 2)], ["ran", "ran"])
        assert saved(history, 4)["other"] == (
            "freed by pass 2, backward at script.py:10",
            "freed",
        )
        value, state = saved(history, 2)["other"]
        assert (value, state) == (WRITTEN, "modified")
        places = walked(history)
        assert [place for _, place, _ in places] == [0, 1, 2, 3, 4]
        assert len({node for _, _, node in places}) == 5
    told = history.events(0, 100)["events"]
    assert [event["time_ns"] for event in told] == sorted(event["time_ns"] for event in told)
    events = [event["kind"] for event in told]
    assert (events.count("undone"), events.count("pass finished")) == (5, 2)
    explanation = explain_facts(Facts(Trace.open(hub.trace)))
    assert (explanation.findings, explanation.undiagnosed, explanation.passes) == ([], [], 2)


def test_an_error_after_a_pass_that_was_run_again_is_explained_as_ever(stepped):
    hub = stepped(SCRIPT + "loss.backward()\n")
    for how in ("back", "back", "next", "next"):
        hub.go(how)
    assert hub.end()[0] == 1
    [explained] = History(hub.trace).explanation().findings
    finding = explained.finding
    assert finding.kind == "backward-twice"
    assert {each.site.line for each in finding.evidence} >= {10, 11}


def test_the_writer_of_a_tensor_is_not_a_run_that_was_taken_back(stepped):
    hub = stepped(SCRIPT.replace("loss.backward()", "loss.backward(inputs=[w])\nx.grad.mul_(2)\nuses_grad.backward()"))
    hub.go("back")
    hub.go("next")
    assert hub.end()[0] == 1
    [explained] = History(hub.trace).explanation().findings
    finding = explained.finding
    assert finding.kind == "inplace-modified"
    assert 11 in {each.site.line for each in finding.evidence}


def test_an_edit_is_gone_when_the_gradient_is_computed_again(stepped):
    hub = stepped()

    def gradients(node):
        sections = History(hub.trace).node(node)["sections"]
        return next(each["entries"] for each in sections if each["name"] == "Gradients in")[0]["value"]

    for _ in range(3):
        stop = hub.go("back")
    node = stop["node"]  # MulBackward0
    hub.ask("set", node=node, output=0, expression="grad * 2", frame=None)
    hub.go("next")
    assert hub.go("back")["node"] == node
    assert gradients(node) == "not captured; replaced by hand in pass 2"
    hub.go("back")
    assert gradients(node) == "not captured"
    assert hub.end()[0] == 0
