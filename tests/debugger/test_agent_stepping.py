"""Stepping through backward: a real program stops, is asked, steps, goes back, and ends as it would have ended."""

import pytest
from agdbg_tests_agent_hub import SCRIPT

from agdbg.agent.control import FunctionStop, Settings
from agdbg.events import Kind
from agdbg.record import Facts, Trace


def test_a_pass_node_by_node(run_agent):
    hub = run_agent(SCRIPT)
    stop = hub.stopped()
    assert (stop["reason"], stop["where"], stop["position"], stop["planned"]) == ("entry", "before", 0, 5)
    assert [f["line"] for f in stop["frames"]] == [hub.line("loss.backward()")]
    assert stop["description"] == "before SumBackward0, node 1 of 5 of backward()"
    seen = [stop["description"].split(",")[0]]
    for _ in range(5):
        stop = hub.go("next")
        seen.append(stop["description"].split(",")[0])
    assert seen[1:5] == ["before ExpBackward0", "before MulBackward0", "before AccumulateGrad", "before AccumulateGrad"]
    assert stop["where"] == "end"
    assert stop["undo"] == 5
    status, out, err = hub.end()
    assert (status, err) == (0, "")
    assert out.split("]")[0].startswith("[60.25")


def test_gradients_and_saved_tensors(run_agent):
    hub = run_agent(SCRIPT)
    hub.stopped()
    hub.go("next")
    stop = hub.go("next")
    values = hub.ask("values", node=stop["node"])
    assert values["known"] and values["editable"]
    assert values["in"][0]["summary"].startswith("float32 [2]  min 20.09  max 2.203e+04")
    assert values["out"] == [None, None]
    assert set(values["saved"]) == {"self", "other"}
    assert values["saved"]["self"]["state"] == "ok"
    node = stop["node"]
    hub.go("next")
    values = hub.ask("values", node=node)
    assert values["saved"]["self"] == {**values["saved"]["self"], "state": "freed"}
    assert values["saved"]["self"]["value"]["summary"] == "float32 [2]  min 1  max 2  mean 1.5  norm 2.236"
    sent = ["min 60.26  max 1.101e+05", "min 20.09  max 4.405e+04"]
    assert [v["summary"].split("  mean")[0] for v in values["out"]] == [f"float32 [2]  {each}" for each in sent]
    assert hub.ask("elements", node=node, what="out", which=0, start=1, count=5) == {
        "elements": ["110132.3359375"],
        "total": 2,
    }
    assert hub.ask("values", node=999)["known"] is False


def test_back_and_again_with_another_gradient(run_agent):
    hub = run_agent(SCRIPT)
    hub.stopped()
    hub.go("next")
    stop = hub.go("next")
    assert stop["description"].startswith("before MulBackward0")
    hub.go("next")
    last = hub.go("next")
    assert last["undo"] == 4
    stop = hub.go("back")
    stop = hub.go("back")
    assert stop["description"].startswith("before MulBackward0")
    made = hub.ask("set", node=stop["node"], output=0, expression="[1.0, 10.0]", frame=None)
    assert made["value"]["summary"].startswith("float32 [2]  min 1  max 10  mean 5.5")
    status, out, _ = hub.end()
    assert status == 0
    assert out == "[3.0, 50.0] [1.0, 20.0]\n"


def test_the_trace_tells_what_was_undone_and_changed(run_agent):
    hub = run_agent(SCRIPT)
    hub.stopped()
    hub.go("next")
    stop = hub.go("back")
    hub.ask("set", node=stop["node"], output=0, expression="grad * 2", frame=None)
    hub.end()
    facts = Facts(Trace.open(hub.trace))
    assert facts.trace.problems == []
    assert [(r.node, r.order) for r in facts.runs(1)] == [(n, i) for i, n in enumerate(facts.ran(1).tolist())]
    assert [facts.words(row)[3] for row in facts.rows(Kind.UNDONE).tolist()] == [0]
    assert [facts.words(row)[1] for row in facts.rows(Kind.EDITED).tolist()] == [stop["node"]]


def test_back_at_the_first_node_is_beyond(run_agent):
    hub = run_agent(SCRIPT)
    hub.stopped()
    answer = hub.answer("resume", how="back", force=False)
    assert (answer["ok"], answer["code"]) == (False, "beyond")
    assert hub.end()[0] == 0


def test_out_goes_to_the_end_and_back_from_there(run_agent):
    hub = run_agent(SCRIPT)
    hub.stopped()
    stop = hub.go("out")
    assert (stop["where"], stop["node"], stop["undo"]) == ("end", 0, 5)
    assert hub.ask("evaluate", expression="x.grad", frame=0)["result"].startswith("tensor float32 [2]")
    stop = hub.go("reverse")
    assert stop["position"] == 0
    assert hub.ask("evaluate", expression="x.grad", frame=0)["result"] == "None"
    assert hub.end()[1].startswith("[60.25")


def test_stepping_into_a_node_with_hooks(run_agent):
    text = SCRIPT.replace(
        "loss.backward()",
        "h.register_hook(lambda g: g * 2)\nh.grad_fn.register_prehook(lambda g: None)\nloss.backward()",
    )
    hub = run_agent(text)
    hub.stopped()
    hub.go("next")
    stop = hub.go("next")
    assert "which calls hooks" in stop["description"]
    phases = []
    stop = hub.go("in")
    while stop["where"] == "inside":
        phases.append(stop["phase"])
        stop = hub.go("in")
    assert phases == ["tensor-hooks", "pre-hooks", "apply"]
    answer = hub.answer("resume", how="back", force=False)
    assert answer["code"] == "barrier"
    assert "hooks" in answer["error"]
    stop = hub.go("back", force=True)
    assert stop["description"].startswith("before MulBackward0")
    hub.go("in")
    stop = hub.go("back", force=True)
    assert (stop["where"], stop["position"]) == ("before", 2)
    assert hub.end()[1].startswith("[120.5")


HOOKED = """\
import agdbg_engine as ag
x = ag.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
y.register_hook(lambda g: g * 2)
y.grad_fn.register_prehook(lambda gs: tuple(g + 100 for g in gs))
y.grad_fn.register_hook(lambda gi, go: None)
y.sum().backward()
print(x.grad.tolist())
"""


def test_gradients_inside_of_a_node_are_as_its_hooks_have_left_them(run_agent):
    hub = run_agent(HOOKED)
    hub.stopped()
    node, seen = hub.go("next")["node"], []
    stop = hub.go("in")
    while stop["where"] == "inside":
        values = hub.ask("values", node=node)
        shown = [hub.ask("evaluate", expression=name, frame=None)["result"] for name in ("grads", "grads_out")]
        assert not values["editable"]
        refused = hub.answer("set", node=node, output=0, expression="[1.0, 10.0]", frame=None)
        assert not refused["ok"] and f"node {node} has begun to run" in refused["error"]
        least = [each and each["summary"].split("  ")[1] for each in (values["in"][0], values["out"][0])]
        seen.append((stop["phase"], *least, *shown))
        stop = hub.go("in")
    assert seen == [
        ("tensor-hooks", "min 1", None, "[tensor([1., 1.])]", "[None]"),
        ("pre-hooks", "min 2", None, "[tensor([2., 2.])]", "[None]"),
        ("apply", "min 102", None, "[tensor([102., 102.])]", "[None]"),
        ("post-hooks", "min 102", "min 306", "[tensor([102., 102.])]", "[tensor([306., 306.])]"),
    ]
    assert hub.end()[1] == "[306.0, 306.0]\n"


def test_breakpoints_by_op_and_parameter(run_agent):
    text = """\
import agdbg_engine as ag
from agdbg_engine import nn
model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
model(ag.ones(3, 2)).sum().backward()
"""
    hub = run_agent(text, Settings(functions=[FunctionStop(1, "relu"), FunctionStop(2, "2.weight")]))
    stop = hub.stopped()
    assert (stop["where"], stop["breakpoints"]) == ("born", [1])  # where the forward code builds it
    found = []
    for _ in range(2):
        stop = hub.go("continue")
        found.append((stop["reason"], stop["breakpoints"], stop["description"].split(",")[0]))
    assert found == [("breakpoint", [2], "before AccumulateGrad"), ("breakpoint", [1], "before ReluBackward0")]
    assert hub.go("reverse")["position"] < stop["position"]
    assert hub.go("continue")["breakpoints"] == [1]
    assert hub.end()[0] == 0


def test_breakpoint_on_a_line(run_agent):
    hub = run_agent("input()\n" + SCRIPT, Settings())
    hub.publish(sources=[hub.on_line("h.exp()")])
    hub.type("\n")
    stop = hub.stopped()
    assert (stop["where"], stop["frames"][0]["line"]) == ("born", hub.line("h.exp()"))
    assert hub.answer("resume", how="back", force=False)["code"] == "beyond"
    stop = hub.go("continue")
    assert (stop["where"], stop["position"], stop["undo"]) == ("before", 1, 1)
    assert hub.end()[0] == 0


def test_a_breakpoint_that_is_set_at_a_stop_keeps_the_way_back(run_agent):
    hub = run_agent(SCRIPT)
    hub.stopped()
    hub.go("next")
    hub.publish(functions=[FunctionStop(1, "AccumulateGrad")])
    stop = hub.go("continue")
    assert (stop["reason"], stop["position"], stop["undo"]) == ("breakpoint", 3, 3)
    assert hub.go("back")["position"] == 2
    hub.publish(functions=[])
    assert hub.end()[1].startswith("[60.25")


def test_next_in_forward_code(run_agent):
    hub = run_agent(SCRIPT, Settings(functions=[FunctionStop(1, "Mul*")]))
    assert hub.stopped()["where"] == "born"
    assert hub.go("next")["description"] == f"forward, line {hub.line('h.exp()')} built ExpBackward0"
    assert hub.go("next")["where"] == "born"
    stop = hub.go("next")
    assert (stop["where"], stop["position"]) == ("before", 0)
    hub.publish(functions=[])
    assert hub.end()[0] == 0


@pytest.mark.parametrize("filters", [["backward-twice"], ["any"]])
def test_backward_twice_stops_before_the_pass(run_agent, filters):
    hub = run_agent(SCRIPT + "loss.backward()\nprint('never')\n", Settings(exceptions=filters))
    stop = hub.stopped()
    assert (stop["reason"], stop["where"], stop["position"]) == ("exception", "before", 0)
    assert stop["error"]["kind"] == "backward-twice"
    assert stop["error"]["predicted"]
    assert "second time" in stop["error"]["text"]
    facts = Facts(Trace.open(hub.trace))
    assert [e.kind for e in facts.predicted] == ["backward-twice"]
    assert facts.errors == []
    status, _, err = hub.end()
    assert status == 1
    assert "Trying to backward through the graph a second time" in err
    assert [e.kind for e in Facts(Trace.open(hub.trace)).errors] == ["backward-twice"]


def test_a_write_to_a_saved_tensor_stops_before_the_pass(run_agent):
    text = SCRIPT.replace("loss.backward()", "y.mul_(2)\nloss.backward()")
    hub = run_agent(text, Settings(exceptions=["inplace-modified"]))
    stop = hub.stopped()
    assert (stop["error"]["kind"], stop["error"]["predicted"]) == ("inplace-modified", True)
    values = hub.ask("values", node=stop["error"]["node"])
    assert (values["saved"]["result"]["version"], values["saved"]["result"]["now"]) == (0, 1)
    assert values["saved"]["result"]["state"] == "modified"
    assert hub.end()[0] == 1


def test_an_error_that_was_not_foreseen_stops_where_it_is_raised(run_agent):
    hub = run_agent(SCRIPT.replace("loss.backward()", "x.add_(1)"), Settings(exceptions=["leaf-inplace"]))
    stop = hub.stopped()
    assert (stop["where"], stop["error"]["kind"], stop["pass"]) == ("raise", "leaf-inplace", 0)
    assert stop["frames"][0]["line"] == hub.line("x.add_(1)")
    assert hub.end()[0] == 1


def test_evaluate_and_locals(run_agent):
    text = """\
import agdbg_engine as ag
def train(k):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    (x * k).sum().backward()
    print(x.grad.tolist())
train(3)
count = 0
"""
    hub = run_agent(text)
    stop = hub.stopped()
    assert [f["name"] for f in stop["frames"]] == ["train", "<module>"]
    assert hub.ask("evaluate", expression="[k * i for i in range(3)]", frame=0)["result"] == "[0, 3, 6]"
    assert hub.ask("evaluate", expression="grad", frame=None)["result"] == "tensor float32 [] 1."
    assert hub.ask("evaluate", expression="count = 7", frame=1)["result"] == ""
    assert hub.ask("evaluate", expression="count", frame=1)["result"] == "7"
    refused = hub.answer("evaluate", expression="k = 9", frame=0)
    assert not refused["ok"] and "k cannot be set: a running function keeps its locals" in refused["error"]
    made = hub.ask("evaluate", expression="k = 9; x", frame=0)
    assert made["notes"] == ["a running function keeps its locals: k is forgotten again"]
    assert hub.ask("evaluate", expression="k", frame=0)["result"] == "3"
    named = {v["name"]: v for v in hub.ask("locals", frame=0, start=0, count=10)["variables"]}
    assert named["k"]["value"] == "3"
    assert named["x"]["value"] == "tensor float32 [2] [1., 2.] requires_grad"
    for expression, part in [("1 +", "not Python"), ("nope", "NameError"), ("raise SystemExit", "SystemExit")]:
        answer = hub.answer("evaluate", expression=expression, frame=0)
        assert not answer["ok"]
        assert part in answer["error"]
    found = hub.ask("evaluate", expression="x.detach().add_(1)", frame=0)
    assert found["notes"] == ["add_ wrote to a tensor: version 0 to 1"]
    made = hub.ask("evaluate", expression="{'a': [1, 2], 'b': 3}", frame=0)
    children = hub.ask("children", reference=made["reference"], start=0, count=0)
    assert [(v["name"], v["value"]) for v in children["variables"]] == [("'a'", "[1, 2]"), ("'b'", "3")]
    assert not hub.answer("children", reference=99)["ok"]
    assert hub.end()[1] == "[3.0, 3.0]\n"


def test_evaluating_something_endless_is_broken_off(run_agent):
    hub = run_agent("import agdbg.agent.evaluate as e\ne.LIMIT_S = 0.2\n" + SCRIPT)
    hub.stopped()
    answer = hub.answer("evaluate", expression="while True: pass", frame=0)
    assert "broken off" in answer["error"]
    assert hub.end()[0] == 0


def test_an_evaluation_can_be_interrupted(run_agent):
    hub = run_agent(SCRIPT)
    hub.stopped()
    text = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
    assert hub.answer("evaluate", expression=text, frame=0)["error"] == "interrupted"
    assert hub.go("next")["position"] == 1
    assert hub.end()[0] == 0


def test_a_backward_in_an_evaluation_does_not_stop(run_agent):
    hub = run_agent(SCRIPT, Settings(functions=[FunctionStop(1, "Exp*")]))
    hub.stopped()
    hub.go("continue")
    assert hub.ask("evaluate", expression="loss.backward(retain_graph=True)", frame=0)["result"] == "None"
    assert hub.end()[0] == 0


def test_a_pass_inside_of_a_hook(run_agent):
    text = """\
import agdbg_engine as ag
x = ag.tensor([1.0], requires_grad=True)
def inner(g):
    with ag.enable_grad():
        (x * 7).sum().backward()
h = x * 2
h.register_hook(inner)
h.sum().backward()
print(x.grad.tolist())
"""
    hub = run_agent(text)
    hub.stopped()
    stop = hub.go("next")
    assert stop["planned"] == 3
    assert hub.go("next")["position"] == 2  # over the inner pass
    stop = hub.go("back", force=True)
    stop = hub.go("in")
    stop = hub.go("in")
    assert stop["outer"] == [{"pass": 1, "position": 1, "node": stop["outer"][0]["node"]}]
    assert [(f["line"], f.get("passes", 1)) for f in stop["frames"]] == [(5, 1), (8, 2)]
    stop = hub.go("out")
    assert (stop["where"], len(stop["outer"])) == ("end", 1)
    stop = hub.go("next")
    assert (stop["outer"], stop["position"]) == ([], 2)
    assert hub.end()[0] == 0
