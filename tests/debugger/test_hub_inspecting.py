"""What clients see at a stop: frames, scopes, values, rows, findings."""

import pytest

from agdbg.protocol.client import RequestFailed

VALUE = {
    "summary": "float64 [2, 3]  min 0  max 5",
    "shape": [2, 3],
    "dtype": "float64",
    "size": 6,
    "finite": True,
    "norm": 1.5,
}
VALUES = {
    "known": True,
    "in": [VALUE],
    "out": [None, VALUE],
    "saved": {"self": {"value": VALUE, "state": "modified", "version": 0, "now": 1}},
    "grad": None,
    "hooks": [{"kind": "tensor", "name": "double", "file": "/a/train.py", "line": 3}],
    "editable": True,
}


def refused(client, command, /, **arguments):
    with pytest.raises(RequestFailed) as caught:
        client.request(command, **arguments)
    return str(caught.value)


def asked(client, agent, do, body, command, /, **arguments):
    """The answer to a request for which the hub asks the agent."""
    number = client.send(command, **arguments)
    request = agent.answer(do, body)
    return client.answer(number), request


def scope_named(client, agent, name, values=VALUES):
    found, _ = asked(client, agent, "values", values, "scopes", frameId=10_000)
    return next(each for each in found["scopes"] if each["name"] == name)


# ----- frames -----


def test_frames_are_the_node_its_origin_and_the_functions(at_stop, told):
    client, _, _ = at_stop
    frames = client.request("stackTrace", threadId=1)["stackFrames"]
    assert [each["name"] for each in frames] == ["MulBackward0, 2 of 4", "created in <module>", "main"]
    assert [each["id"] for each in frames] == [10_000, 10_001, 10_002]
    assert (frames[0]["source"]["path"], frames[0]["line"]) == (str(told.file), 1)
    assert frames[1]["presentationHint"] == "label"
    assert (frames[2]["source"]["path"], frames[2]["line"]) == ("/nowhere/train.py", 7)


def test_frames_are_paged(at_stop):
    client, _, _ = at_stop
    page = client.request("stackTrace", threadId=1, startFrame=1, levels=1)
    assert ([each["id"] for each in page["stackFrames"]], page["totalFrames"]) == ([10_001], 3)


def test_outer_passes_stand_between(hub, at_stop):
    client, agent, nodes = at_stop
    client.request("next", threadId=1)
    agent.answer("resume")
    agent.stop(node=nodes["h"], outer=[{"pass": 1, "position": 0, "node": nodes["y"]}], phase="apply")
    client.wait_for("stopped")
    names = [each["name"] for each in client.request("stackTrace", threadId=1)["stackFrames"]]
    assert names == ["MulBackward0, 3 of 12, apply", "created in <module>", "main", "SumBackward0, pass 1"]


def test_outer_passes_stand_behind_what_their_nodes_have_called(hub, at_stop):
    client, agent, nodes = at_stop
    client.request("next", threadId=1)
    agent.answer("resume")
    outer = [{"pass": number, "position": 0, "node": nodes[label]} for number, label in ((2, "y"), (1, "h"))]
    called = [("helper", 0), ("hook", 0), ("callback", 2), ("train", 3), ("main", 3)]
    frames = [{"file": "/a.py", "line": 1, "name": name, "passes": passes} for name, passes in called]
    agent.stop(node=nodes["h"], outer=outer, frames=frames)
    client.wait_for("stopped")
    shown = client.request("stackTrace", threadId=1)["stackFrames"]
    names = [each["name"] for each in shown[2:]]
    assert names == ["helper", "hook", "SumBackward0, pass 2", "callback", "MulBackward0, pass 1", "train", "main"]
    request = client.send("scopes", frameId=shown[5]["id"])
    scope = client.answer(request)["scopes"][0]["variablesReference"]
    number = client.send("variables", variablesReference=scope)
    assert agent.answer("locals", {"variables": []})["frame"] == 2  # of the functions
    client.answer(number)


def test_the_end_of_a_pass_is_a_label(hub):
    client = hub.launched()
    hub.stopped(client, node=0, where="end")
    frames = client.request("stackTrace", threadId=1)["stackFrames"]
    assert [each["name"] for each in frames] == ["end of pass 1", "main"]


def test_frames_are_there_before_anything_was_recorded(hub):
    client = hub.launched()
    hub.stopped(client, node=5)
    frames = client.request("stackTrace", threadId=1)["stackFrames"]
    assert [each["name"] for each in frames] == ["node 5, 3 of 12", "created somewhere", "main"]


# ----- scopes and variables -----


def test_values_of_the_program_are_put_into_what_the_trace_knows(at_stop):
    client, agent, nodes = at_stop
    body, request = asked(client, agent, "values", VALUES, "agdbg/node", node=nodes["h"], threadId=1)
    assert body["gradient"] == 1.5
    assert request["node"] == nodes["h"]
    sections = {each["name"]: each["entries"] for each in body["sections"]}
    assert list(sections) == [
        "Gradients in",
        "Gradients out",
        "Saved tensors",
        "Storages",
        "Next edges",
        "Hooks",
        "Node",
    ]
    assert sections["Gradients in"][0]["value"] == VALUE["summary"]
    assert [each["value"] for each in sections["Gradients out"]] == ["not there yet: goes to x #1", VALUE["summary"]]
    saved = sections["Saved tensors"][0]
    assert (saved["name"], saved["state"]) == ("self", "modified")
    assert saved["value"] == f"modified: version 0 saved, 1 now  {VALUE['summary']}"  # the trace has no write
    assert sections["Hooks"][0]["value"] == "double  /a/train.py:3"


@pytest.mark.parametrize(
    ("state", "now", "text"),
    [
        ("ok", 0, "{value}  version 0 saved, 0 now"),
        ("modified", 1, "modified: version 0 saved, 1 now  {value}"),
        ("freed", 0, "freed by pass 1, backward at train.py:3, x  {value}"),
    ],
)
def test_what_became_of_a_saved_tensor_and_its_value_make_one_text(at_stop, state, now, text):
    client, agent, nodes = at_stop
    saved = {"self": {"value": VALUE, "state": state, "version": 0, "now": now}}
    body, _ = asked(client, agent, "values", VALUES | {"saved": saved}, "agdbg/node", node=nodes["h"], threadId=1)
    sections = {each["name"]: each["entries"] for each in body["sections"]}
    entry = next(each for each in sections["Saved tensors"] if each["name"] == "self")
    assert (entry["value"], entry["state"]) == (text.format(value=VALUE["summary"]), state)


def test_what_the_trace_knows_of_a_freed_tensor_comes_before_what_is_left_of_it():
    from agdbg.hub.inspector import Merged
    from agdbg.hub.references import References

    trace = {"name": "w", "value": "freed by pass 1, backward at train.py:8, w", "type": "tensor", "reference": 0}
    names = ("Gradients in", "Gradients out", "Saved tensors", "Next edges", "Hooks", "Node")
    sections = [{"name": name, "entries": []} for name in names]
    sections[2]["entries"].append(trace | {"state": "freed"})
    slots = {"value": None, "state": "freed", "version": 0, "now": 0}
    for value, tail in ((None, ""), (VALUE, f"  {VALUE['summary']}")):
        shown = [{**each, "entries": [*map(dict, each["entries"])]} for each in sections]
        body = {"node": 1, "gradient": None, "bad": False, "sections": shown}
        Merged(body, {"saved": {"w": slots | {"value": value}}}, 1, References()).merge()
        assert body["sections"][2]["entries"][0]["value"] == trace["value"] + tail


@pytest.mark.parametrize("where", ["in", "out"])
def test_what_passes_a_node_and_is_not_finite_is_told(at_stop, where):
    client, agent, nodes = at_stop
    fine, _ = asked(client, agent, "values", VALUES, "agdbg/node", node=nodes["h"], threadId=1)
    values = VALUES | {where: [None, VALUE | {"finite": False}]}
    body, _ = asked(client, agent, "values", values, "agdbg/node", node=nodes["h"], threadId=1)
    assert (fine["bad"], body["bad"]) == (False, True)


def test_a_node_that_made_a_nan_for_which_the_program_stopped_stays_marked(hub, at_stop):
    """No values are recorded, so nothing else tells of it."""
    client, agent, nodes = at_stop
    assert client.request("agdbg/firstBad")["why"] == "it failed in pass 2"
    for kind, label, where in (("nan", "h", "born"), ("none-grad", "y", "end"), ("", "y", "before")):
        client.request("next", threadId=1)
        agent.answer("resume")
        error = {"kind": kind, "text": f"{label} made it", "node": nodes[label]} if kind else None
        agent.stop(node=nodes[label], where=where, reason="exception" if kind else "step", error=error)
        client.wait_for("stopped")
        rows = client.request("agdbg/rows", start=0, count=10)["rows"]
        assert {row["node"]: row["bad"] for row in rows} == {row["node"]: row["node"] == nodes["h"] for row in rows}
        folded = client.request("agdbg/rows", start=0, count=10, folds={"depth": 1, "opened": [], "closed": []})
        assert [row["node"] for row in folded["rows"] if row["bad"]] == [nodes["h"]]
        found = client.request("agdbg/firstBad")
        assert (found["node"], found["row"], found["why"]) == (nodes["h"], 0, "h made it")
    body, _ = asked(client, agent, "values", {"known": False}, "agdbg/node", node=nodes["h"])
    assert body["bad"]


def test_a_node_that_the_program_does_not_know_is_told_by_the_trace(at_stop):
    client, agent, nodes = at_stop
    body, _ = asked(client, agent, "values", {"known": False}, "agdbg/node", node=nodes["y"])
    assert body["gradient"] is None
    assert (body["op"], body["row"], body["state"]) == ("SumBackward0", 1, "freed")
    assert body["sections"][0]["entries"][0]["value"].startswith("not captured")


def test_a_node_that_is_not_there(at_stop):
    client, _, _ = at_stop
    assert "no node 999" in refused(client, "agdbg/node", node=999)


def test_big_tensors_are_paged_through_their_elements(at_stop):
    client, agent, nodes = at_stop
    scope = scope_named(client, agent, "Gradients in")
    (gradient,) = client.request("variables", variablesReference=scope["variablesReference"])["variables"]
    assert gradient["indexedVariables"] == 6
    page, request = asked(
        client,
        agent,
        "elements",
        {"elements": ["4.0", "5.0"], "total": 6},
        "variables",
        variablesReference=gradient["variablesReference"],
        start=4,
        count=2,
    )
    wanted = {"node": nodes["h"], "what": "in", "which": 0, "start": 4, "count": 2}
    assert {name: request[name] for name in wanted} == wanted
    assert [(each["name"], each["value"]) for each in page["variables"]] == [("[1, 1]", "4.0"), ("[1, 2]", "5.0")]


def test_a_page_is_never_longer_than_a_thousand(at_stop):
    client, agent, _ = at_stop
    scope = scope_named(client, agent, "Gradients in")
    (gradient,) = client.request("variables", variablesReference=scope["variablesReference"])["variables"]
    reference = gradient["variablesReference"]
    _, request = asked(client, agent, "elements", {"elements": []}, "variables", variablesReference=reference)
    assert request["count"] == 1000
    _, request = asked(
        client, agent, "elements", {"elements": []}, "variables", variablesReference=reference, start=-5, count=10**9
    )
    assert (request["start"], request["count"]) == (0, 1000)


def test_locals_and_what_is_inside_of_them(at_stop):
    client, agent, _ = at_stop
    (scope,) = client.request("scopes", frameId=10_002)["scopes"]
    assert scope["name"] == "Locals"
    inner = {"name": "xs", "value": "[1, 2]", "type": "list", "reference": 44}
    page, request = asked(
        client, agent, "locals", {"variables": [inner]}, "variables", variablesReference=scope["variablesReference"]
    )
    assert request["frame"] == 0
    reference = page["variables"][0]["variablesReference"]
    _, request = asked(client, agent, "children", {"variables": []}, "variables", variablesReference=reference)
    assert request["reference"] == 44


def test_references_end_with_the_stop(at_stop):
    client, agent, nodes = at_stop
    scope = scope_named(client, agent, "Gradients in")
    client.request("next", threadId=1)
    agent.answer("resume")
    agent.stop(node=nodes["h"])
    client.wait_for("stopped")
    assert "out of date" in refused(client, "variables", variablesReference=scope["variablesReference"])
    assert "never given" in refused(client, "variables", variablesReference=10**6)


def test_a_frame_that_is_not_there(at_stop):
    client, _, _ = at_stop
    assert "frameId 10099" in refused(client, "scopes", frameId=10_099)
    assert "threadId 7" in refused(client, "scopes", frameId=70_000)
    assert client.request("scopes", frameId=10_001) == {"scopes": []}


# ----- evaluation and change -----


@pytest.mark.parametrize(("frame", "asked_for"), [(None, None), (10_000, None), (10_001, None), (10_002, 0)])
def test_python_is_evaluated_in_the_frame(at_stop, frame, asked_for):
    client, agent, _ = at_stop
    arguments = {} if frame is None else {"frameId": frame}
    answer = {"result": "2", "type": "int", "reference": 0, "notes": ["x was written to"]}
    body, request = asked(client, agent, "evaluate", answer, "evaluate", expression="1 + 1", **arguments)
    assert (request["expression"], request["frame"]) == ("1 + 1", asked_for)
    assert body == {"result": "2", "type": "int", "variablesReference": 0}
    note = client.wait_for("output")
    assert (note["category"], note["output"]) == ("console", "x was written to\n")


def test_an_error_in_an_evaluation_is_the_answer(at_stop):
    client, agent, _ = at_stop
    number = client.send("evaluate", expression="1 / 0")
    agent.answer("evaluate", error="ZeroDivisionError: division by zero", code="bad")
    with pytest.raises(RequestFailed, match="ZeroDivisionError"):
        client.answer(number)


def test_nothing_is_evaluated_while_the_program_runs(hub):
    assert "the program runs" in refused(hub.launched(), "evaluate", expression="1")


def test_a_gradient_is_replaced(at_stop):
    client, agent, nodes = at_stop
    scope = scope_named(client, agent, "Gradients in")
    body, request = asked(
        client,
        agent,
        "set",
        {"value": VALUE},
        "setVariable",
        variablesReference=scope["variablesReference"],
        name="0",
        value="grad * 2",
    )
    assert (request["node"], request["output"], request["expression"]) == (nodes["h"], 0, "grad * 2")
    assert body["value"] == VALUE["summary"]


def test_after_a_replacement_all_that_shows_the_gradient_shows_the_new_one(hub, at_stop):
    client, agent, _ = at_stop
    listener, deaf = hub.stranger(), hub.joined()
    listener.request("initialize", adapterID="agdbg", supportsInvalidatedEvent=True)
    listener.request("attach")
    scope = scope_named(client, agent, "Gradients in")["variablesReference"]
    old = client.request("variables", variablesReference=scope)["variables"]
    new = {**VALUE, "summary": "float64 [2, 3]  min 0  max 50"}
    asked(client, agent, "set", {"value": new}, "setVariable", variablesReference=scope, name="0", value="grad * 10")
    assert listener.wait_for("invalidated") == {"areas": ["variables"], "threadId": 1}
    deaf.request("threads")
    assert deaf.none_of("invalidated")
    known = {**VALUES, "in": [new]}
    found, _ = asked(client, agent, "values", known, "variables", variablesReference=scope)
    assert (old[0]["value"], found["variables"][0]["value"]) == (VALUE["summary"], new["summary"])
    page, request = asked(
        client,
        agent,
        "elements",
        {"elements": ["50."], "total": 6},
        "variables",
        variablesReference=old[0]["variablesReference"],
        start=5,
        count=1,
    )
    assert (request["what"], request["which"], page["variables"][0]["value"]) == ("in", 0, "50.")
    again = client.request("variables", variablesReference=scope)["variables"]
    assert again == found["variables"]  # and nobody is asked a second time


def test_what_cannot_be_replaced_says_what_can(at_stop):
    client, agent, _ = at_stop
    edges = scope_named(client, agent, "Next edges")["variablesReference"]
    said = refused(client, "setVariable", variablesReference=edges, name="0", value="1")
    assert "the entries of 'Gradients in' and 'Saved tensors' of the next node can" in said
    gradients = scope_named(client, agent, "Gradients in")["variablesReference"]
    assert "there are 0" in refused(client, "setVariable", variablesReference=gradients, name="5", value="1")


def test_a_saved_tensor_is_replaced_by_the_name_of_its_slot(at_stop):
    client, agent, _ = at_stop
    saved = scope_named(client, agent, "Saved tensors")["variablesReference"]
    told = {"value": {"summary": "float32 [2]  min 0", "dtype": "float32"}}
    body, request = asked(client, agent, "set", told, "setVariable", variablesReference=saved, name="self", value="0")
    assert body == {"value": "float32 [2]  min 0", "type": "float32"}
    assert (request["slot"], request["expression"]) == ("self", "0")


# ----- errors -----


def test_the_diagnosis_of_an_error(hub, at_stop):
    client, agent, nodes = at_stop
    assert "did not stop for an error" in refused(client, "exceptionInfo", threadId=1)
    client.request("next", threadId=1)
    agent.answer("resume")
    error = {"kind": "backward-twice", "text": "RuntimeError: twice", "predicted": False, "node": nodes["h"]}
    agent.stop(node=nodes["h"], reason="exception", error=error)
    assert client.wait_for("stopped")["text"] == "RuntimeError: twice"
    body = client.request("exceptionInfo", threadId=1)
    assert (body["exceptionId"], body["breakMode"]) == ("backward-twice", "always")
    assert body["description"].startswith("`y.backward()`")
    assert "fix" in body["details"]["message"]
    assert body["details"]["stackTrace"] == "RuntimeError: twice"


def test_an_error_that_no_diagnosis_knows_is_told_as_it_is(at_stop):
    client, agent, nodes = at_stop
    client.request("next", threadId=1)
    agent.answer("resume")
    agent.stop(node=nodes["h"], reason="exception", error={"kind": "strange", "text": "Strange: so", "node": 0})
    client.wait_for("stopped")
    body = client.request("exceptionInfo", threadId=1)
    assert (body["exceptionId"], body["description"]) == ("strange", "Strange: so")


# ----- the graph -----


def test_rows_know_the_counter_and_the_breakpoints(at_stop, told):
    client, _, nodes = at_stop
    client.request("setBreakpoints", source={"path": str(told.file)}, breakpoints=[{"line": 2}])
    body = client.request("agdbg/rows", start=0, count=10, threadId=1)
    assert (body["total"], body["pc"], body["pcNode"]) == (2, 0, nodes["h"])
    assert [(each["op"], each["state"], each["breakpoint"]) for each in body["rows"]] == [
        ("MulBackward0", "next", False),
        ("SumBackward0", "freed", True),
    ]
    client.request("setBreakpoints", source={"path": str(told.file)}, breakpoints=[])
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "w"}])
    body = client.request("agdbg/rows", start=0, count=1)
    assert [each["breakpoint"] for each in body["rows"]] == [True]


@pytest.mark.parametrize("label", ["h", "w"])
def test_what_runs_next_is_next_wherever_it_is_shown(hub, told, at_stop, label):
    client, agent, nodes = at_stop
    client.request("next", threadId=1)
    agent.answer("resume")
    agent.stop(node=nodes[label])
    client.wait_for("stopped")
    row = client.request("agdbg/rows", start=0, count=1)["rows"][0]
    drawn = client.request("agdbg/graph", start=0, count=1)["nodes"][0]
    near = client.request("agdbg/graph", node=nodes["h"], hops=0, start=0, count=1)["nodes"][0]
    body, _ = asked(client, agent, "values", VALUES, "agdbg/node", node=nodes[label])
    assert body["state"] == "next"
    for shown in (row, drawn, near):
        states = {badge["node"]: badge["state"] for badge in shown["badges"]}
        assert {nodes["h"]: shown["state"], **states}[nodes[label]] == "next"
        assert [*states.values(), shown["state"]].count("next") == 1
    agent.stop(node=nodes[label], where="end")
    client.wait_for("stopped")
    body, _ = asked(client, agent, "values", VALUES, "agdbg/node", node=nodes[label])
    assert body["state"] != "next"


@pytest.mark.parametrize("reason", ["entry", "step", "breakpoint", "pause", "exception"])
def test_breakpoints_are_named_whatever_the_reason(at_stop, reason):
    client, agent, nodes = at_stop
    client.request("next", threadId=1)
    agent.answer("resume")
    agent.stop(node=nodes["h"], reason=reason, breakpoints=[4])
    assert client.wait_for("stopped")["hitBreakpointIds"] == [4]


def test_search_place_events_and_drawing(at_stop):
    client, _, nodes = at_stop
    assert client.request("agdbg/find", text="sum", start=0, backwards=False) == {"row": 1, "node": nodes["y"]}
    assert client.request("agdbg/find", text="nowhere", start=0, backwards=False) == {"row": None, "node": None}
    assert client.request("agdbg/locate", node=nodes["y"]) == {"row": 1}
    assert client.request("agdbg/locate", node=999) == {"row": None}
    folds = {"depth": 0, "opened": [], "closed": []}
    deep = client.request("agdbg/fold", row=1, how="keep", folds=folds | {"depth": 7})
    assert deep == {"folds": folds | {"depth": 1}, "at": 1, "total": 2, "deepest": 1}
    assert client.request("agdbg/rows", start=0, count=9, folds=deep["folds"])["pc"] == 0
    with pytest.raises(RequestFailed, match="how"):
        client.request("agdbg/fold", row=1, how="shut", folds=folds)
    events = client.request("agdbg/events", start=-100, count=100)
    assert events["total"] == len(events["events"]) > 0
    drawing = client.request("agdbg/graph", start=0, count=100)
    assert {each["op"] for each in drawing["nodes"]} >= {"MulBackward0", "SumBackward0"}
    assert "no backward pass 77" in refused(client, "agdbg/graph", **{"pass": 77}, start=0, count=1)
    assert "name one" in refused(client, "agdbg/graph", **{"pass": 1}, node=1, start=0, count=1)


def test_findings(at_stop):
    client, _, _ = at_stop
    body = client.request("agdbg/findings")
    assert [each["kind"] for each in body["findings"]] == ["backward-twice"]
    assert body["rendered"].startswith("1. ")


def test_an_export(at_stop, hub):
    client, _, _ = at_stop
    body = client.request("agdbg/export", path="graph.svg")
    assert body == {"path": str(hub.directory / "graph.svg"), "nodes": 2}
    assert "exists" in refused(client, "agdbg/export", path="graph.svg")
    client.request("agdbg/export", path="graph.svg", overwrite=True)
    (hub.directory / "mine.svg").write_text("not a drawing")
    assert "no earlier export" in refused(client, "agdbg/export", path="mine.svg", overwrite=True)
    assert "no renderer" in refused(client, "agdbg/export", path="graph.xyz")
    assert "no directory" in refused(client, "agdbg/export", path="/no/such/place/graph.svg")
    assert "no backward pass 9" in refused(client, "agdbg/export", path="nine.svg", **{"pass": 9})
    assert "empty" in refused(client, "agdbg/export", path="")


def test_nothing_was_recorded_yet(hub):
    client = hub.launched()
    assert client.request("agdbg/rows", start=0, count=10)["total"] == 0
    assert client.request("agdbg/events", start=0, count=10)["total"] == 0
    assert client.request("agdbg/find", text="a", start=0, backwards=False)["row"] is None
    assert client.request("agdbg/locate", node=1)["row"] is None
    assert client.request("agdbg/timeline", start=3, count=10)["pass"] == 0
    assert client.request("agdbg/tree", start=0, count=10) == {"total": 0, "start": 0, "branches": []}
    for command, arguments in (
        ("agdbg/node", {"node": 1}),
        ("agdbg/findings", {}),
        ("agdbg/timeline", {"start": 0, "count": 1, "pass": 1}),
        ("agdbg/graph", {"start": 0, "count": 1}),
        ("agdbg/export", {"path": "graph.svg"}),
    ):
        assert "nothing was recorded so far" in refused(client, command, **arguments)
