"""leaf-inplace, view-inplace, no-grad-fn: small findings about what was refused at once."""

import pytest

from agdbg.diagnose import diagnose


def only(told):
    (finding,) = diagnose(told.facts())
    return finding


def lines(finding):
    return [(evidence.role, evidence.site.line) for evidence in finding.evidence]


def test_a_leaf_is_named(made_up):
    told = made_up("net(x)\nw.add_(1)")
    told.leaf("w", "0.weight")
    told.error("leaf-inplace", 2, "a leaf Variable that requires grad ...", storage="w", expression="w.add_(1)")
    found = only(told)
    assert found.cause == (
        "`w.add_(1)` at line 2 writes into `0.weight`, a leaf that requires grad, while gradients are recorded."
    )
    assert "under no_grad()" in found.fix and "`new = w.add(1)`" in found.fix
    assert found.certainty == "certain" and lines(found) == [("refused", 2)]


def test_a_leaf_without_a_name(made_up):
    told = made_up("w += 1")
    told.error("leaf-inplace", 1, expression="w += 1")
    found = only(told)
    assert "writes into `w`, a leaf" in found.cause and "`new = w + 1`" in found.fix


MULTIPLE = "Output 0 of UnbindBackward0 is a view ... the output of a function that returns multiple views."


def test_11_rows_of_a_tensor(made_up):
    told = made_up("for row in x:\n    row.clamp_(0)")
    told.leaf("x")
    told.node("unbind", "UnbindBackward0", 1, "x", ["x"])
    told.error("view-inplace", 2, MULTIPLE, node="unbind", expression="row.clamp_(0)")
    found = only(told)
    assert found.cause == (
        "`row.clamp_(0)` at line 2 writes into one of several views, made at line 1, that one op returned together."
    )
    assert lines(found) == [("view", 1), ("refused", 2)] and found.nodes == (told.nodes["unbind"],)
    assert "out of place" in found.fix


def test_12_a_view_made_under_no_grad(made_up):
    told = made_up("a = x[0]\nwith no_grad():\n    v = x[1:]\nb = x[1]\nv.mul_(2)")
    told.view("x", "select", 1, "x[0]")
    told.grad_mode("disabled", 2)
    told.view("x", "slice", 3, "x[1:]")
    told.grad_mode("enabled", 2)
    told.view("x", "select", 4, "x[1]")
    text = "A view was created in no_grad mode and is being modified inplace with grad mode enabled."
    told.error("view-inplace", 5, text, storage="x", expression="v.mul_(2)")
    found = only(told)
    assert found.cause == (
        "`v.mul_(2)` at line 5 writes into a view, made at line 3, that was made under no_grad(), while gradients are "
        "recorded."
    )
    assert found.fix == "Make the view and write to it both inside no_grad(), or both outside."
    assert found.evidence[0].note == "the view was made here, with gradients switched off"


@pytest.mark.parametrize(
    ("text", "cause", "fix"),
    [
        ("more than one element ... refers to a single memory location", "whose elements share memory", "clone() it"),
        ("a view of a leaf Variable that requires grad", "a view of a leaf that requires grad", "under no_grad()"),
    ],
)
def test_other_views(made_up, text, cause, fix):
    told = made_up("v.mul_(2)")
    told.error("view-inplace", 1, text, expression="v.mul_(2)")
    found = only(told)
    assert cause in found.cause and fix in found.fix and found.certainty == "likely", "where it was made is not known"


CUTS = "y = x.detach()\nn = (y > 0)\nprint(y.item())\nloss = y.sum()\nloss.backward()\nz = x.detach()"


def refused(told):
    told.error("no-grad-fn", 5, "element 0 of tensors does not require grad and does not have a grad_fn")


def test_30_the_last_cut_that_may_be_meant(made_up):
    told = made_up(CUTS)
    told.cut("detach", 1, 1)
    told.cut("detach", 1, 2)
    told.cut("integer", 2)
    told.cut("item", 3)
    refused(told)
    told.cut("detach", 6)
    told.cut("detach", 1, 4)  # the count goes on after the error
    found = only(told)
    assert found.certainty == "possible"
    assert found.cause == (
        "`loss.backward()` at line 5 starts from a tensor without a graph; the last cut before that is at line 1 "
        "(detach)."
    )
    assert lines(found) == [("cut", 1), ("cut", 3), ("cut", 2), ("refused", 5)]
    assert found.evidence[0].note == "detach() ended the path, at least 2 times by then"


def test_30_a_cut_of_the_same_memory_is_certain(made_up):
    told = made_up(CUTS)
    told.cut("detach", 1, storage="y")
    told.cut("no_grad", 4)
    told.error("no-grad-fn", 5, storage="y")
    found = only(told)
    assert found.certainty == "certain" and "its path was cut at line 1 (detach)" in found.cause


def test_30_gradients_are_switched_off(made_up):
    told = made_up("torch.set_grad_enabled(False)\nloss = net(x)\n\n\nloss.backward()")
    told.grad_mode("disabled", 1)
    told.cut("no_grad", 2, 7)
    refused(told)
    found = only(told)
    assert ("switched off", 1) in lines(found) and "line 2 (no_grad)" in found.cause


def test_30_nothing_required_grad(made_up):
    told = made_up(CUTS)
    refused(told)
    found = only(told)
    assert found.certainty == "possible" and "no cut was recorded" in found.cause
    assert found.fix.startswith("Set requires_grad on what should be trained")


def test_findings_come_in_the_order_of_the_trace(made_up):
    told = made_up("w.add_(1)\nv.mul_(2)\nx\nx\nloss.backward()")
    refused(told)
    told.error("view-inplace", 2)
    told.error("leaf-inplace", 1)
    told.error("view-inplace", 2)
    assert [each.kind for each in diagnose(told.facts())] == ["no-grad-fn", "view-inplace", "leaf-inplace"]
