"""backward-twice: who freed, who came second, where the graphs meet, and the right fix of several."""

import json
from dataclasses import asdict

import pytest

from agdbg.diagnose import diagnose
from agdbg.events import Kind, Outcome
from agdbg.record import Facts, Trace


def only(facts):
    (finding,) = diagnose(facts)
    assert finding.kind == "backward-twice"
    json.dumps(asdict(finding))
    return finding


def lines(finding):
    return {evidence.role: evidence.site.line for evidence in finding.evidence}


def note(finding, role):
    (evidence,) = [each for each in finding.evidence if each.role == role]
    return evidence.note


SAME = """
x = leaf()
loss = (x * x).sum()
loss.backward()
loss.backward(retain_graph=True)
"""


def same_root(made_up, retain=False):
    told = made_up(SAME)
    told.leaf("x")
    told.node("mul", "MulBackward0", 2, "x * x", ["x", "x"], self=("x", 0), other=("x", 0))
    told.node("sum", "SumBackward0", 2, "(x * x).sum()", ["mul"])
    told.backward(3, "sum", "mul", "x", expression="loss.backward()")
    told.twice(4, "sum", "mul", "sum", expression="loss.backward(retain_graph=True)" if retain else "", retain=retain)
    return told


def test_13_the_same_loss_twice(made_up):
    told = same_root(made_up)
    found = only(told.facts())
    assert found.cause == (
        "`loss.backward(retain_graph=True)` at line 4 goes through the graph that `loss.backward()` at line 3 "
        "freed: both start from the same result made at line 2."
    )
    assert found.fix == (
        "Pass retain_graph=True to the first call, line 3, or drop the second call: it would add the same "
        "gradients once more."
    )
    assert lines(found) == {"created": 2, "first call": 3, "second call": 4}
    assert found.certainty == "certain" and found.nodes == (told.nodes["mul"],)
    assert "2 nodes shared, 1 with saved tensors" in note(found, "second call")


def test_20_retain_graph_on_the_wrong_call_of_the_same_loss(made_up):
    found = only(same_root(made_up, retain=True).facts())
    assert found.fix.startswith("Move retain_graph=True from the second call to the first, line 3, which frees")
    assert "its own retain_graph=True is too late" in note(found, "second call")


def test_13_one_line_twice_on_one_result(made_up):
    told = made_up("x = leaf()\nloss = f(x)\nfor _ in range(2):\n    loss.backward()")
    told.leaf("x")
    told.node("exp", "ExpBackward0", 2, "f(x)", ["x"], result=("y", 0))
    told.backward(4, "exp", "x")
    told.twice(4, "exp", "exp")
    found = only(told.facts())
    assert found.cause == (
        "`loss.backward()` at line 4 ran again on the same result made at line 2: the first time had freed its graph."
    )
    assert found.fix == (
        "Compute the result again before each call, or pass retain_graph=True to every call but the last, line 4."
    )


def test_14_a_detach_whose_result_is_dropped(made_up):
    told = carried(made_up, last="    h.detach()")
    told.cut("detach", 7)
    assert "`h.detach()` at line 7 returns a new tensor and leaves `h` as it is." in only(told.facts()).fix


LOOP = """
w = leaf()
h = zeros()
for step in range(2):
    h = tanh(h * w)
    loss = h.sum()
    loss.backward()
"""


def carried(made_up, turns=2, last=""):
    told = made_up(LOOP + last)
    told.leaf("w", "w", "variable")
    for turn in range(1, turns + 1):
        before = f"tanh{turn - 1}" if turn > 1 else ""
        told.node(f"mul{turn}", "MulBackward0", 4, "h * w", [before, "w"], self=(f"h{turn - 1}", 0), other=("w", 0))
        told.node(f"tanh{turn}", "TanhBackward0", 4, "tanh(h * w)", [f"mul{turn}"], result=(f"h{turn}", 0))
        told.node(f"sum{turn}", "SumBackward0", 5, "h.sum()", [f"tanh{turn}"])
        own = [f"tanh{turn}", f"mul{turn}", "w"]
        if turn == 1:
            told.backward(6, "sum1", *own)
    told.twice(6, f"sum{turns}", "tanh1", f"sum{turns}", *own)
    return told


def test_14_state_carried_over(made_up):
    told = carried(made_up)
    found = only(told.facts())
    assert found.cause == (
        "The graph reaches back into the previous iteration through `h`, made at line 4: `loss.backward()` at line 6 "
        "freed that part when it ran before."
    )
    assert found.fix.startswith(
        "Detach `h` before the next iteration uses it: `h = h.detach()`, after `loss.backward()` at line 6."
    )
    assert lines(found) == {"entry": 4, "first call": 6, "second call": 6}
    assert found.certainty == "certain" and found.nodes == (told.nodes["tanh1"],)
    assert "2 nodes shared, 2 with saved tensors" in note(found, "entry")


def test_14_two_states_carried_over_are_both_named(made_up):
    told = made_up(
        "h, c = zeros(), zeros()\nfor step in range(2):\n    c = tanh(c + w)\n    h = exp(h * w)\n    f(h, c)"
    )
    told.leaf("w")
    for turn, before in ((1, ["", ""]), (2, ["c1", "h1"])):
        told.node(f"c{turn}", "TanhBackward0", 3, "tanh(c + w)", [before[0], "w"], result=(f"c{turn}", 0))
        told.node(f"h{turn}", "ExpBackward0", 4, "exp(h * w)", [before[1], "w"], result=(f"h{turn}", 0))
        told.node(f"f{turn}", "AddBackward0", 5, "f(h, c)", [f"h{turn}", f"c{turn}"])
        if turn == 1:
            told.backward(5, "f1", "h1", "c1", "w")
    told.twice(5, "f2", "h1", "f2", "h2", "c2")
    found = only(told.facts())
    assert "through `h`, made at line 4" in found.cause
    assert "etach `h` and `c` before the next iteration" in found.fix
    assert "`h = h.detach()` and `c = c.detach()`" in found.fix


def test_14_what_a_function_returned_has_no_name_here(made_up):
    told = made_up(
        "def cell(h):\n    return tanh(h * w)\nfor step in range(2):\n    state = cell(state)\n    state.backward()"
    )
    told.leaf("w")
    told.node("mul1", "MulBackward0", 2, "h * w", ["", "w"], self=("h0", 0))
    told.node("tanh1", "TanhBackward0", 2, "tanh(h * w)", ["mul1"], result=("h1", 0))
    told.backward(5, "tanh1", "mul1", "w")
    told.node("mul2", "MulBackward0", 2, "h * w", ["tanh1", "w"], self=("h1", 0))
    told.node("tanh2", "TanhBackward0", 2, "tanh(h * w)", ["mul2"], result=("h2", 0))
    told.twice(5, "tanh2", "tanh1", "tanh2", "mul2")
    found = only(told.facts())
    assert "through what `cell` returned, made at line 2 and used again as `h`: " in found.cause
    assert found.fix.startswith(
        "Detach `state`, which hands on the state that `cell` returned, in the loop after `state.backward()` at line 5: "
        "`state = state.detach()`."
    )


TWO = """
z = relu(encoder(x))
loss_a = exp(z)
loss_b = tanh(z)
loss_a.backward()
opt.step()
loss_b.backward(retain_graph=True)
"""


def two_losses(made_up, retain=False, step=False):
    told = made_up(TWO)
    told.leaf("w", "encoder.weight")
    told.node("mm", "AddmmBackward0", 1, "encoder(x)", ["", "", "w"], mat1=("x", 0))
    told.node("relu", "ReluBackward0", 1, "relu(encoder(x))", ["mm"], result=("z", 0))
    told.node("a", "ExpBackward0", 2, "exp(z)", ["relu"], result=("a", 0))
    told.node("b", "TanhBackward0", 3, "tanh(z)", ["relu"], result=("b", 0))
    told.backward(4, "a", "relu", "mm", "w")
    if step:
        told.bump("w", "SGD.step", 5, "opt.step()")
    told.twice(6, "b", "relu", "b", retain=retain)
    return told


def test_15_two_losses_share_an_encoder(made_up):
    told = two_losses(made_up)
    found = only(told.facts())
    assert found.cause == (
        "`loss_a.backward()` at line 4 freed the graph of `z`, made at line 1, which "
        "`loss_b.backward(retain_graph=True)` at line 6 needs as well."
    )
    assert found.fix == (
        "Call backward() once, on the sum: `(loss_a + loss_b).backward()`, or pass retain_graph=True to the first "
        "call, line 4."
    )
    assert lines(found) == {"entry": 1, "used": 3, "first call": 4, "second call": 6}
    assert found.certainty == "certain"
    assert "2 nodes shared, 2 with saved tensors" in note(found, "entry")


def test_20_retain_graph_on_the_wrong_call(made_up):
    found = only(two_losses(made_up, retain=True).facts())
    assert found.fix.startswith("Move retain_graph=True from the second call to the first, line 4")
    assert "(loss_a + loss_b).backward()" in found.fix


def test_15_with_an_optimizer_step_between_keeping_the_graph_is_no_help(made_up):
    found = only(two_losses(made_up, step=True).facts())
    assert found.fix == (
        "Call backward() once, on the sum: `(loss_a + loss_b).backward()`, before the optimizer step at line 5, or "
        "compute `z` again, and `loss_b` from it, after the step."
    )


def test_a_generator_and_its_critic(made_up):
    told = made_up("fake = exp(z)\nd = tanh(fake)\nd.backward()\nopt.step()\ng = relu(fake)\ng.backward()")
    told.leaf("z")
    told.node("fake", "ExpBackward0", 1, "exp(z)", ["z"], result=("fake", 0))
    told.node("d", "TanhBackward0", 2, "tanh(fake)", ["fake"], result=("d", 0))
    told.backward(3, "d", "fake", "z")
    told.bump("w", "aten::add_", 4, "opt.step()")
    told.node("g", "ReluBackward0", 5, "relu(fake)", ["fake"], result=("g", 0))
    told.twice(6, "g", "fake", "g")
    assert only(told.facts()).fix == (
        "The optimizer step at line 4 lies between the two: detach `fake` in the loss that is not meant to train "
        "what is below it, or compute `fake` again after the step."
    )


ONCE = """
features = tanh(encoder)
for step in range(2):
    loss = exp(features)
    loss.backward()
    opt.step()
"""


def features_once(made_up, stepped=(), head="head"):
    told = made_up(ONCE)
    told.leaf("encoder", "encoder.weight")
    told.leaf("head", "head.weight")
    told.node("f", "TanhBackward0", 1, "tanh(encoder)", ["encoder"], result=("f", 0))
    told.node("l1", "ExpBackward0", 3, "exp(features)", ["f", "head"], result=("l1", 0))
    told.backward(4, "l1", "f", "encoder", "head")
    for label in stepped:
        told.bump(label, "SGD.step", 5, "opt.step()")
    told.node("l2", "ExpBackward0", 3, "exp(features)", ["f", "head"], result=("l2", 0))
    told.twice(4, "l2", "f", "l2")
    return told


def test_16_features_computed_once_before_a_loop(made_up):
    found = only(features_once(made_up).facts())
    assert found.cause == (
        "`features`, made once at line 1, is part of every turn's graph: `loss.backward()` at line 4 freed it in an "
        "earlier turn."
    )
    assert found.fix == (
        "Compute it again in every turn: move line 1 into the loop, or pass retain_graph=True to every call but the "
        "last, line 4."
    )
    assert lines(found) == {"entry": 1, "used": 3, "first call": 4, "second call": 4}


def test_16_a_trained_encoder_must_be_computed_again(made_up):
    found = only(features_once(made_up, stepped=("encoder", "head")).facts())
    assert found.fix == "Compute it again in every turn: move line 1 into the loop."


OLD_POLICY = """
old = tanh(policy)
for epoch in range(2):
    new = tanh(policy)
    loss = new - old
    loss.backward()
    opt.step()
"""


def test_16_outputs_of_an_old_policy_are_stored_without_their_graph(made_up):
    told = made_up(OLD_POLICY)
    told.leaf("policy", "policy.weight")
    told.node("old", "TanhBackward0", 1, "tanh(policy)", ["policy"], result=("old", 0))
    for turn in (1, 2):
        told.node(f"new{turn}", "TanhBackward0", 3, "tanh(policy)", ["policy"], result=(f"new{turn}", 0))
        told.node(f"l{turn}", "SubBackward0", 4, "new - old", [f"new{turn}", "old"])
        if turn == 1:
            told.backward(5, "l1", "new1", "old", "policy")
            told.bump("policy", "SGD.step", 6, "opt.step()")
    told.twice(5, "l2", "old", "l2")
    found = only(told.facts())
    assert found.fix == (
        "Every turn computes something anew with the same parameters. If `old` is to stay as it was, as the log-probabilities "
        "of an old policy are, store it without its graph: `old = old.detach()`, behind what made it at line 1; otherwise "
        "compute it again in every turn: move line 1 into the loop."
    )


def test_16_an_encoder_that_is_not_trained_may_be_detached(made_up):
    found = only(features_once(made_up, stepped=("head",)).facts())
    assert found.fix.startswith("No optimizer step so far updated anything below `features`.")
    assert "no_grad() or detach() it; otherwise compute it again in every turn" in found.fix


def test_16_encoder_and_head_of_one_class_are_no_carried_state(made_up):
    told = made_up("def block(x):\n    return tanh(x)\nf = block(x)\nfor step in range(2):\n    block(f).backward()")
    told.leaf("w")
    told.node("f", "TanhBackward0", 2, "tanh(x)", ["w"], result=("f", 0))
    for turn in (1, 2):
        told.node(f"l{turn}", "TanhBackward0", 2, "tanh(x)", ["f", "w"], result=(f"l{turn}", 0))
        if turn == 1:
            told.backward(5, "l1", "f", "w")
    told.twice(5, "l2", "f", "l2")
    found = only(told.facts())
    assert found.cause.startswith("What `block` returned, made once at line 2, is part of every turn's graph")
    assert "previous iteration" not in found.cause


def test_16_rows_of_a_jacobian(made_up):
    told = made_up("y = exp(x)\nfor i in range(2):\n    grad(y[i], x)")
    told.leaf("x")
    told.node("y", "ExpBackward0", 1, "exp(x)", ["x"], result=("y", 0))
    told.node("row0", "SelectBackward0", 3, "y[i]", ["y"])
    told.backward(3, "row0", "y", call="grad")
    told.node("row1", "SelectBackward0", 3, "y[i]", ["y"])
    told.twice(3, "row1", "y", "row1", call="grad")
    found = only(told.facts())
    assert found.fix.startswith("Pass retain_graph=True to every call but the last, line 3, or compute it again")


def test_17_a_graph_without_saved_tensors_twice_is_legal(made_up):
    told = made_up("y = (x + 1).sum()\ny.backward()\ny.backward()")
    told.leaf("x")
    told.node("add", "AddBackward0", 1, "x + 1", ["x"])
    told.node("sum", "SumBackward0", 1, "(x + 1).sum()", ["add"])
    told.backward(2, "sum", "add", "x")
    told.backward(3, "sum", "add", "x")
    assert diagnose(told.facts()) == []


def test_18_grad_and_then_backward(made_up):
    told = made_up("loss = exp(w)\ng = autograd.grad(loss, w)\nloss.backward()")
    told.leaf("w")
    told.node("exp", "ExpBackward0", 1, "exp(w)", ["w"], result=("y", 0))
    told.backward(2, "exp", call="grad", expression="autograd.grad(loss, w)")
    told.twice(3, "exp", "exp")
    found = only(told.facts())
    assert found.cause == (
        "`autograd.grad(loss, w)` at line 2 freed the graph of the result made at line 1 that `loss.backward()` at "
        "line 3 starts from as well."
    )
    assert found.fix == "Pass retain_graph=True to the first call, line 2."


NESTED = """
h = exp(x)
penalty = tanh(h)
def hook(g):
    penalty.backward()
out = h * 3
loss = out.sum()
loss.backward()
"""


def nested(made_up):
    told = made_up(NESTED)
    told.leaf("x")
    told.node("h", "ExpBackward0", 1, "exp(x)", ["x"], result=("h", 0))
    told.node("penalty", "TanhBackward0", 2, "tanh(h)", ["h"], result=("p", 0))
    told.node("out", "MulBackward0", 5, "h * 3", ["h"])
    told.node("loss", "SumBackward0", 6, "out.sum()", ["out"])
    return told


def test_19_a_pass_inside_a_pass_frees_what_the_outer_one_needs(made_up):
    told = nested(made_up)
    outer = told.start(7, "loss")
    told.ran(outer, "loss")
    told.backward(4, "penalty", "h", "x", parent=outer)
    told.ran(outer, "out")
    told.fail(outer, "h", "backward-twice", 7)
    found = only(told.facts())
    assert found.cause == (
        "`penalty.backward()` at line 4 ran inside of `loss.backward()` at line 7, in the backward of MulBackward0, "
        "and freed a part of the graph that the outer call had still to go through."
    )
    assert found.fix.startswith("Pass retain_graph=True to the inner call at line 4, or give the inner call a graph")
    assert lines(found)["first call"] == 4 and lines(found)["second call"] == 7


def test_19_a_pass_inside_a_pass_needs_what_the_outer_one_freed(made_up):
    told = nested(made_up)
    outer = told.start(7, "loss")
    told.ran(outer, "loss", "out", "h")
    inner = told.twice(4, "penalty", "h", "penalty", parent=outer)
    told.error("backward-twice", 7, node="h", number=outer, slot=1)  # it comes out of the outer call as well
    told.ran(outer, "x", outcome=Outcome.ERROR)
    told.finish(outer, Outcome.ERROR)
    found = only(told.facts())
    assert found.cause == (
        "`penalty.backward()` at line 4 ran inside of `loss.backward()` at line 7, in the backward of AccumulateGrad, "
        "and needed a part of the graph that the outer call had freed already."
    )
    assert found.fix.startswith("Pass retain_graph=True to the outer call at line 7")
    assert f"pass {inner}" in note(found, "second call")


def test_the_second_call_starts_inside_of_the_first_graph(made_up):
    told = made_up("h = exp(x)\nloss = tanh(h)\nloss.backward()\nh.backward()")
    told.leaf("x")
    told.node("h", "ExpBackward0", 1, "exp(x)", ["x"], result=("h", 0))
    told.node("loss", "TanhBackward0", 2, "tanh(h)", ["h"], result=("l", 0))
    told.backward(3, "loss", "h", "x")
    told.twice(4, "h", "h")
    found = only(told.facts())
    assert found.cause == "`h.backward()` at line 4 starts inside of the graph that `loss.backward()` at line 3 freed."
    assert "(loss + h).backward()" in found.fix


def test_an_error_that_is_caught_in_a_loop_is_told_once(made_up):
    told = made_up("for i in range(9):\n    loss = exp(x)\n    loss.backward()\n    loss.backward()")
    told.leaf("x")
    for turn in range(9):
        told.node(f"exp{turn}", "ExpBackward0", 2, "exp(x)", ["x"], result=(f"y{turn}", 0))
        told.backward(3, f"exp{turn}", "x")
        told.twice(4, f"exp{turn}", f"exp{turn}")
    found = only(told.facts())
    assert "the same error came 9 times" in note(found, "second call")
    assert found.nodes == (told.nodes["exp0"], told.nodes["exp8"]), "the last one may have ended the program"


# ----- what is not known -----


def test_who_freed_is_not_recorded(made_up):
    told = made_up("loss = exp(x)\nloss.backward()")
    told.leaf("x")
    told.node("exp", "ExpBackward0", 1, "exp(x)", ["x"], result=("y", 0))
    told.twice(2, "exp", "exp")
    found = only(told.facts())
    assert found.certainty == "possible"
    assert found.cause == (
        "What `exp(x)` at line 1 had saved was gone when `loss.backward()` at line 2 needed it; no recorded call "
        "freed it."
    )
    assert set(lines(found)) == {"created", "second call"}


def test_who_freed_is_inferred_from_the_edges_when_no_run_was_recorded(made_up):
    told = made_up("loss = exp(x)\nloss.backward()\nloss.backward()")
    told.leaf("x")
    told.node("exp", "ExpBackward0", 1, "exp(x)", ["x"], result=("y", 0))
    told.finish(told.start(2, "exp"))
    told.twice(3, "exp", "exp")
    found = only(told.facts())
    assert found.certainty == "likely" and lines(found)["first call"] == 2
    assert "as the edges say" in note(found, "first call")


def test_edges_that_are_not_known_leave_the_way_open(made_up):
    told = made_up("h = exp(x)\na = tanh(h)\na.backward()\nb = relu(h)\nb.backward()")
    told.leaf("x")
    told.node("h", "ExpBackward0", 1, "exp(x)", ["x"], result=("h", 0))
    told.node("a", "TanhBackward0", 2, "tanh(h)", ["h"], result=("a", 0))
    told.backward(3, "a", "h", "x")
    told.node("b", "ReluBackward0", 4, "relu(h)", [], result=("b", 0))
    told.twice(5, "b", "h", "b")
    found = only(told.facts())
    assert found.certainty == "likely"
    assert found.cause == (
        "`a.backward()` at line 3 freed what `exp(x)` at line 1 had saved and `b.backward()` at line 5 needs."
    )
    assert "detach() it" in found.fix


def test_saved_tensors_that_the_program_read_itself(made_up):
    told = made_up("loss = exp(x)\nloss.backward()\nprint(loss.grad_fn._saved_result)")
    told.leaf("x")
    told.node("exp", "ExpBackward0", 1, "exp(x)", ["x"], result=("y", 0))
    told.backward(2, "exp", "x")
    told.error("backward-twice", 3, node="exp", slot=1)
    found = only(told.facts())
    assert found.cause == (
        "`loss.backward()` at line 2 freed what `exp(x)` at line 1 had saved, before the program read it at line 3."
    )
    assert lines(found)["second call"] == 3


def test_a_failed_call_frees_what_it_ran(made_up):
    told = made_up("h = exp(x)\nloss = f(h)\nloss.backward()\nloss.backward()")
    told.leaf("x")
    told.node("h", "ExpBackward0", 1, "exp(x)", ["x"], result=("h", 0))
    told.node("loss", "TanhBackward0", 2, "f(h)", ["h"], result=("l", 0))
    first = told.start(3, "loss")
    told.ran(first, "loss")
    told.ran(first, "h", outcome=Outcome.ERROR)
    told.finish(first, Outcome.ERROR)
    told.twice(4, "loss", "loss")
    assert "it failed later itself" in note(only(told.facts()), "first call")


def test_another_thread_is_named(made_up):
    told = made_up("loss = exp(x)\nloss.backward()\nloss.backward()")
    told.leaf("x")
    told.node("exp", "ExpBackward0", 1, "exp(x)", ["x"], result=("y", 0))
    told.backward(2, "exp", "x", thread=2)
    told.twice(3, "exp", "exp")
    assert "in another thread" in note(only(told.facts()), "first call")


# ----- traces as of PyTorch -----


def torch_facts(run):
    return Facts(Trace.open(run.path))


def test_two_losses_as_pytorch_tells_them(torch_two_losses):
    found = only(torch_facts(torch_two_losses))
    assert found.certainty == "likely", "the edges were inferred"
    assert found.cause == (
        "`loss_a.backward()` at line 4 freed the graph of `h`, made at line 1, which `loss_b.backward()` at line 5 "
        "needs as well."
    )
    assert "(loss_a + loss_b).backward()" in found.fix
    assert torch_two_losses.nodes["relu"] in found.nodes


def test_carried_state_as_pytorch_tells_it(torch_carried_state):
    found = only(torch_facts(torch_carried_state))
    assert found.certainty == "likely"
    assert "previous iteration through `h`, made at line 3" in found.cause
    assert "`h = h.detach()`" in found.fix


@pytest.mark.parametrize("kind", ["uncaught", "shape", "other"])
def test_other_errors_are_not_explained_here(made_up, kind):
    told = made_up("f(x)")
    told.error(kind, 1)
    assert diagnose(told.facts()) == []


def test_a_program_without_trouble(made_up):
    told = made_up(LOOP)
    told.leaf("w")
    for turn in (1, 2, 3):
        told.node(f"mul{turn}", "MulBackward0", 4, "h * w", ["", "w"], self=(f"h{turn}", 0))
        told.backward(6, f"mul{turn}", "w")
        told.bump("w", "SGD.step", 5, old=turn - 1, new=turn)
    assert diagnose(told.facts()) == []
    assert len(told.facts().rows(Kind.BUMP)) == 3
