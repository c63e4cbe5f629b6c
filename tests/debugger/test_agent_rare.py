"""Stepping through what few programs use: custom Functions and hooks on saved tensors."""

import pytest

from agdbg.agent.control import FunctionStop, Settings
from agdbg.events import Kind
from agdbg.record import Facts, Trace

SCRIPT = """\
import agdbg_engine as ag
from agdbg_engine.autograd import Function, graph

class Pair(Function):
    @staticmethod
    def forward(ctx, x, y):
        a, b = x * y, x + y
        ctx.save_for_backward(x, y, a)
        return a, b

    @staticmethod
    def backward(ctx, ga, gb):
        x, y, a = ctx.saved_tensors
        return ga * y + gb, ga * x + gb

x = ag.tensor([1.0, 2.0], requires_grad=True)
y = ag.tensor([3.0, 0.5], requires_grad=True)
with graph.saved_tensors_hooks(lambda t: t.numpy(force=True).copy(), ag.from_numpy):
    h = x * y
a, b = Pair.apply(h, y)
loss = (a * b).sum()
loss.backward()
print(x.grad.tolist(), y.grad.tolist())
"""
RESULT = "[81.0, 0.625] [54.0, 4.5]\n"


def elements(hub, node, what, which):
    return hub.ask("elements", node=node, what=what, which=which, start=0, count=9)["elements"]


def at_the_function(hub):
    hub.stopped()
    hub.go("next")
    return hub.go("next")


def test_a_custom_function_shows_what_it_has(run_agent):
    hub = run_agent(SCRIPT)
    stop = at_the_function(hub)
    assert stop["description"] == "before PairBackward, node 3 of 6 of backward(), which calls functions"
    node = stop["node"]
    values = hub.ask("values", node=node)
    assert [elements(hub, node, "in", nr) for nr in (0, 1)] == [["6.0", "1.5"], ["9.0", "0.5"]]  # of both outputs
    assert values["editable"] and values["out"] == [None, None]
    saved = values["saved"]
    assert list(saved) == ["saved_tensors[0]", "saved_tensors[1]", "saved_tensors[2]"]
    assert [elements(hub, node, "saved", slot) for slot in saved] == [["3.0", "1.0"], ["3.0", "0.5"], ["9.0", "0.5"]]
    assert {s["state"] for s in saved.values()} == {"ok"}
    page = hub.ask("elements", node=node, what="saved", which="saved_tensors[2]", start=1, count=5)
    assert page == {"elements": ["0.5"], "total": 2}
    hub.go("next")
    values = hub.ask("values", node=node)
    assert {s["state"] for s in values["saved"].values()} == {"freed"}
    assert elements(hub, node, "saved", "saved_tensors[2]") == ["9.0", "0.5"]  # as it was before
    assert hub.end() == (0, RESULT, "")


def test_the_gradient_of_a_later_output_can_be_replaced(run_agent):
    hub = run_agent(SCRIPT)
    stop = at_the_function(hub)
    hub.ask("set", node=stop["node"], output=1, expression="grads[1] * 0", frame=None)
    status, out, err = hub.end()
    assert (status, out, err) == (0, "[54.0, 0.375] [36.0, 3.0]\n", "")


def test_into_a_custom_function_and_back_again(run_agent):
    hub = run_agent(SCRIPT)
    at_the_function(hub)
    stop = hub.go("in")
    assert (stop["where"], stop["phase"]) == ("inside", "apply")
    stop = hub.go("in")
    assert stop["description"].startswith("before MulBackward0")
    answer = hub.answer("resume", how="back", force=False)
    assert (answer["code"], "PairBackward called functions" in answer["error"]) == ("barrier", True)
    stop = hub.go("back", force=True)
    assert stop["description"].startswith("before PairBackward")
    saved = hub.ask("values", node=stop["node"])["saved"]
    assert {s["state"] for s in saved.values()} == {"ok"}
    assert hub.end() == (0, RESULT, "")  # it runs once more with what it had saved
    facts = Facts(Trace.open(hub.trace))
    assert facts.trace.problems == []
    assert [c.what for c in facts.function_calls] == ["forward", "backward", "backward"]
    assert len(facts.rows(Kind.UNDONE)) == 1


def test_what_hooks_keep_is_shown_without_calling_them(run_agent):
    hub = run_agent(SCRIPT.replace("ag.from_numpy)", "lambda v: (print('unpacked'), ag.from_numpy(v))[1])"))
    at_the_function(hub)
    stop = hub.go("next")
    assert stop["description"] == "before MulBackward0, node 4 of 6 of backward(), which calls hooks"
    values = hub.ask("values", node=stop["node"])
    assert {s["value"]["summary"] for s in values["saved"].values()} == {"float32 [2]  kept by hooks of the program"}
    assert not hub.answer("elements", node=stop["node"], what="saved", which="self", start=0, count=1)["ok"]
    hub.go("next")
    assert hub.answer("resume", how="back", force=False)["code"] == "barrier"
    stop = hub.go("back", force=True)
    assert stop["description"].startswith("before MulBackward0")
    status, out, err = hub.end()
    assert (status, out, err) == (0, "unpacked\n" * 4 + RESULT, "")  # twice two: not one for having been looked at


@pytest.mark.parametrize("name", ["Pair", "PairBackward"])
def test_a_breakpoint_at_a_custom_function(run_agent, name):
    hub = run_agent(SCRIPT, Settings(functions=[FunctionStop(1, name)]))
    stop = hub.stopped()
    assert (stop["where"], stop["breakpoints"]) == ("born", [1])
    stop = hub.go("continue")
    assert (stop["where"], stop["breakpoints"]) == ("before", [1])
    assert hub.end() == (0, RESULT, "")


def test_the_error_of_a_custom_function_stops_where_it_is_raised(run_agent):
    text = SCRIPT.replace("loss.backward()", "h.add_(1)\nloss.backward()")
    hub = run_agent(text, Settings(exceptions=["inplace-modified"]))
    stop = hub.stopped()
    assert (stop["where"], stop["error"]["kind"]) == ("raise", "inplace-modified")
    assert stop["frames"][0]["line"] == hub.line("= ctx.saved_tensors")
    saved = hub.ask("values", node=stop["node"])["saved"]
    assert [s["state"] for s in saved.values()] == ["modified", "ok", "ok"]
    status, _, err = hub.end()
    assert status == 1
    assert "modified by an inplace operation" in err


def test_a_reentrant_pass_inside_a_checkpoint(run_agent):
    text = """\
import agdbg_engine as ag
from agdbg_engine.utils.checkpoint import checkpoint
x = ag.tensor([1.0, 2.0], requires_grad=True)
z = checkpoint(lambda a: (a * a).exp(), x * 1, use_reentrant=True)
z.sum().backward()
print(x.grad.tolist())
"""
    hub = run_agent(text)
    hub.stopped()
    stop = hub.go("next")
    assert stop["description"].startswith("before CheckpointFunctionBackward")
    hub.go("in")
    stop = hub.go("in")
    assert (stop["where"], stop["position"], len(stop["outer"])) == ("before", 0, 1)
    assert stop["description"].startswith("before ExpBackward0")
    stop = hub.go("out")
    assert stop["where"] == "end"
    stop = hub.go("next")
    assert (stop["outer"], stop["description"].split(",")[0]) == ([], "before MulBackward0")
    status, out, err = hub.end()
    assert (status, err) == (0, "")
    assert out.startswith("[5.43656")
