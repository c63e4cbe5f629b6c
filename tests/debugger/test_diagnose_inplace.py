"""inplace-modified: who saved, who wrote, what the tensor is called, and the fix by kind of writer."""

import json
from dataclasses import asdict

import pytest

from agdbg.diagnose import diagnose
from agdbg.events import Provenance
from agdbg.record import Facts, Trace


def only(facts):
    (finding,) = diagnose(facts)
    assert finding.kind == "inplace-modified"
    json.dumps(asdict(finding))
    return finding


def lines(finding):
    return [(evidence.role, evidence.site.line) for evidence in finding.evidence]


def note(finding, role):
    (evidence,) = [each for each in finding.evidence if each.role == role]
    return evidence.note


def stain(told, line, root, label, storage, versions, slot=0, ran=()):
    """A pass from ``root`` finds what ``label`` saved changed."""
    number = told.start(line, root)
    told.ran(number, *ran)
    told.fail(number, label, "inplace-modified", line, storage, versions, slot)


def written(made_up, line, op="mul_", expression=None):
    """``y`` was saved by exp on line 1 and written by the given line."""
    told = made_up(f"y = exp(a)\n{line}\nloss = y.sum()\nloss.backward()")
    told.leaf("a")
    told.node("exp", "ExpBackward0", 1, "exp(a)", ["a"], result=("y", 0))
    told.bump("y", op, 2, line if expression is None else expression)
    told.node("sum", "SumBackward0", 3, "y.sum()", ["exp"])
    stain(told, 4, "sum", "exp", "y", (0, 1), ran=["sum"])
    return told


def test_1_an_augmented_assignment(made_up):
    told = written(made_up, "y *= 3")
    found = only(told.facts())
    assert found.cause == (
        "`y`, saved by ExpBackward0 at line 1, was changed by `y *= 3` at line 2 before `loss.backward()` at line 4 "
        "used it."
    )
    assert found.fix == "Write it out of place, `y = y * 3`, instead of `y *= 3` at line 2."
    assert lines(found) == [("saved", 1), ("wrote", 2), ("needed", 4)]
    assert note(found, "saved") == "ExpBackward0 saved its result, `y`, at version 0"
    assert note(found, "wrote") == "version 0 to 1, by mul_"
    assert note(found, "needed") == "found version 1 where it needs version 0"
    assert found.certainty == "certain" and found.nodes == (told.nodes["exp"],)


@pytest.mark.parametrize(
    ("line", "op", "expression", "fix"),
    [
        ("y.mul_(3)", "mul_", None, "Write it out of place, `y = y.mul(3)`, instead of `y.mul_(3)` at line 2."),
        ("torch.relu_(y)", "relu_", None, "Write it out of place, `y = y.relu()`, instead of"),
        (
            "y.zero_()",
            "zero_",
            None,
            "Write it out of place, `y = y.new_zeros(y.shape)`, instead of `y.zero_()` at line 2.",
        ),
        ("y[0] = 5", "fill_", "y[0]", "Clone before you write: `y = y.clone()` before line 2, or build the new value"),
        ("y[0] += 5", "add_", None, "Clone before you write: `y = y.clone()` before line 2, or build the new value"),
        ("z = f(y, inplace=True)", "f_", "f(y, inplace=True)", "Drop inplace=True at line 2."),
        ("exp(a, out=y)", "exp", None, "Drop out= at line 2 and use what the op returns."),
        ("z = net(y)", "relu_", "net(y)", "Use `relu` instead of `relu_` at line 2 (of a layer: inplace=False)."),
        ("loss.backward()", "AccumulateGrad", None, "Work on a clone() of the gradient"),
        ("opt.zero_grad(False)", "zero_", None, "Work on a clone() of the gradient, or clear it with zero_grad(set_to"),
        (
            "opt.step()",
            "aten::add_",
            None,
            "Run the forward again after `opt.step()` at line 2, and compute `loss` from it. Only",
        ),
    ],
)
def test_the_fix_depends_on_the_writer(made_up, line, op, expression, fix):
    found = only(written(made_up, line, op, expression).facts())
    assert found.fix.startswith(fix)
    assert "at line 2" in found.cause and ("wrote", 2) in lines(found)


def test_a_write_under_no_grad(made_up):
    told = made_up("y = exp(a)\nwith no_grad():\n    y -= a.grad\nloss = y.sum()\nloss.backward()")
    told.leaf("a")
    told.node("exp", "ExpBackward0", 1, "exp(a)", ["a"], result=("y", 0))
    told.grad_mode("disabled", 2)
    told.bump("y", "sub_", 3, "y -= a.grad")
    told.grad_mode("enabled", 2)
    stain(told, 5, "exp", "exp", "y", (0, 1))
    found = only(told.facts())
    assert found.fix == (
        "Do the update at line 3 after the last backward() that uses this graph (line 5), or run the forward again "
        "after it."
    )
    assert "no_grad() keeps a write out of the graph, not out of the memory" in note(found, "wrote")


NET = """
loss = net(x)
loss.backward(retain_graph=True)
optimizer.step()
loss.backward()
"""


def test_2_an_optimizer_step_between_two_passes(made_up):
    told = made_up(NET)
    told.leaf("w", "1.weight")
    told.node("t", "TBackward0", 1, "net(x)", ["w"])
    told.node("mm", "AddmmBackward0", 1, "net(x)", ["", "", "t"], mat1=("h", 0), mat2=("w", 0))
    told.backward(2, "mm", "t", "w", retain=True)
    told.bump("w", "SGD.step", 3, "optimizer.step()")
    stain(told, 4, "mm", "mm", "w", (0, 1), slot=1)
    found = only(told.facts())
    assert found.cause == (
        "The optimizer step (SGD.step) at line 3 updated parameter `1.weight`, saved by AddmmBackward0 at line 1, "
        "before `loss.backward()` at line 4 used it."
    )
    assert found.fix == (
        "Both calls are of the same result, so step once: move `optimizer.step()` at line 3 behind the last backward() "
        "that uses this graph (line 4). If you want two steps, run the forward again after the first one."
    )
    assert note(found, "saved") == "AddmmBackward0 saved its argument `mat2`, parameter `1.weight`, at version 0"


def test_8_a_parameter_is_found_behind_its_transpose_when_only_its_leaf_is_known(made_up):
    told = made_up(NET)
    told.leaf("w", "1.weight")
    told.leaf("b", "1.bias")
    told.node("t", "TBackward0", 1, "net(x)", ["w"])
    told.node("mm", "AddmmBackward0", 1, "net(x)", ["b", "", "t"], mat2=("another view of w", 0))
    told.bump("another view of w", "SGD.step", 3, "optimizer.step()")
    stain(told, 4, "mm", "mm", "another view of w", (0, 1), slot=1)
    assert "updated `1.weight`, saved by AddmmBackward0" in only(told.facts()).cause


def test_14_state_carried_over_with_the_graph_kept(made_up):
    told = made_up("for step in range(2):\n    h = tanh(h * w)\n    h.backward(retain_graph=True)\n    opt.step()")
    told.leaf("w", "w", "variable")
    for turn in (1, 2, 3):
        told.node(
            f"mul{turn}",
            "MulBackward0",
            2,
            "h * w",
            [f"tanh{turn - 1}" if turn > 1 else "", "w"],
            other=("w", turn - 1),
        )
        told.node(f"tanh{turn}", "TanhBackward0", 2, "tanh(h * w)", [f"mul{turn}"], result=(f"h{turn}", 0))
        if turn < 3:
            told.backward(3, f"tanh{turn}", f"mul{turn}", "w", retain=True)
            told.bump("w", "SGD.step", 4, "opt.step()", turn - 1, turn)
    stain(told, 3, "tanh3", "mul2", "w", (1, 2), slot=1, ran=["tanh3", "mul3", "tanh2"])
    found = only(told.facts())
    assert found.fix == (
        "Detach `h` before the next iteration uses it: `h = h.detach()`, after `h.backward(retain_graph=True)` at line 3; "
        "retain_graph=True is not needed then."
    )
    assert "here the graph reaches back into an earlier iteration" in note(found, "entry")
    assert "optimizer step (SGD.step) at line 4 updated `w`" in found.cause


def test_5_parts_of_one_memory(made_up):
    told = made_up("a = buf[:2]\nb = buf[2:]\ny = a * x\nb += 1\ny.backward()")
    told.leaf("x")
    told.view("buf", "slice", 1, "buf[:2]")
    told.view("buf", "slice", 2, "buf[2:]")
    told.node("mul", "MulBackward0", 3, "a * x", ["", "x"], self=("buf", 0))
    told.bump("buf", "add_", 4, "b += 1")
    stain(told, 5, "mul", "mul", "buf", (0, 1))
    found = only(told.facts())
    assert found.cause.startswith("`a`, saved by MulBackward0 at line 3, was changed by `b += 1` at line 4")
    assert "false alarm by design" in note(found, "view")
    assert found.fix == (
        "clone() each part of it that is used at line 3, or keep the parts in a list and join them with stack() or cat()."
    )
    assert found.certainty == "certain", "that the counter was raised is certain"


def test_5_a_write_to_the_whole_memory_is_no_false_alarm(made_up):
    told = made_up("a = buf[:2]\ny = a * x\nbuf += 1\ny.backward()")
    told.leaf("x")
    told.view("buf", "slice", 1, "buf[:2]")
    told.node("mul", "MulBackward0", 2, "a * x", ["", "x"], self=("buf", 0))
    told.bump("buf", "add_", 3, "buf += 1")
    stain(told, 4, "mul", "mul", "buf", (0, 1))
    assert "view" not in dict(lines(only(told.facts())))


def test_6_a_write_to_what_nobody_saved_is_harmless(made_up):
    told = made_up("y = x * 2\nx *= 5\ny.backward()")
    told.leaf("x")
    told.node("mul", "MulBackward0", 1, "x * 2", ["x"])
    told.bump("x", "mul_", 2, "x *= 5")
    told.backward(3, "mul", "x")
    assert diagnose(told.facts()) == []


def test_7_many_savers_of_one_exponent(made_up):
    told = made_up("for i in range(3):\n    total = total + x ** k\n    k += 1\ntotal.backward()")
    told.leaf("x")
    before = "x"
    for turn in range(3):
        told.node(f"pow{turn}", "PowBackward1", 2, "x ** k", ["x", ""], self=("x", 0), exponent=("k", turn))
        told.node(f"add{turn}", "AddBackward0", 2, "total + x ** k", [before, f"pow{turn}"])
        told.bump("k", "add_", 3, "k += 1", turn, turn + 1)
        before = f"add{turn}"
    told.node("old", "PowBackward1", 2, "x ** k", ["x", ""], exponent=("k", 0))  # in no graph of this pass
    stain(told, 4, "add2", "pow2", "k", (2, 3), slot=1, ran=["add2"])
    found = only(told.facts())
    assert found.cause.startswith("`k`, saved by PowBackward1 at line 2, was changed by `k += 1` at line 3")
    assert note(found, "saved") == "PowBackward1 saved its argument `exponent`, `k`, at version 2"
    assert note(found, "stale") == "2 more saved tensors of this graph are stale too"
    assert found.nodes == tuple(told.nodes[label] for label in ("pow2", "pow0", "pow1"))


def test_several_writers_in_trace_order(made_up):
    told = made_up("y = exp(a)\nfor i in range(3):\n    y += 1\n    y.add_(1).mul_(2)\ny.backward()")
    told.leaf("a")
    told.node("exp", "ExpBackward0", 1, "exp(a)", ["a"], result=("y", 0))
    for version in range(0, 9, 3):
        told.bump("y", "add_", 3, "y += 1", version, version + 1)
        told.bump("y", "add_", 4, "y.add_(1)", version + 1, version + 2)
        told.bump("y", "mul_", 4, "y.add_(1).mul_(2)", version + 2, version + 3)
    stain(told, 5, "exp", "exp", "y", (0, 9))
    found = only(told.facts())
    assert "`y += 1` at line 3 and `y.add_(1).mul_(2)` at line 4 before" in found.cause
    wrote = [each for each in found.evidence if each.role == "wrote"]
    assert [(each.site.line, each.note) for each in wrote[:2]] == [
        (3, "version 0 to 1, by add_"),
        (4, "version 1 to 3, by add_ and mul_, in 2 writes"),
    ]
    assert len(wrote) == 6


def test_very_many_writers_are_cut(made_up):
    told = made_up("y = exp(a)\ny += 1\ny -= 1\ny.backward()")
    told.leaf("a")
    told.node("exp", "ExpBackward0", 1, "exp(a)", ["a"], result=("y", 0))
    for version in range(100):
        told.bump("y", "add_", 2 + version % 2, "", version, version + 1)
    stain(told, 4, "exp", "exp", "y", (0, 100))
    wrote = [each for each in only(told.facts()).evidence if each.role == "wrote"]
    assert len(wrote) == 7 and wrote[-1].note == "and 94 more writes from here on"


def test_only_writes_between_the_versions_and_before_the_error_count(made_up):
    told = made_up("y += 1\ny = exp(a)\ny += 2\ny.backward()\ny += 3")
    told.leaf("a")
    told.bump("y", "add_", 1, "y += 1", 0, 1)
    told.node("exp", "ExpBackward0", 2, "exp(a)", ["a"], result=("y", 1))
    told.bump("y", "add_", 3, "y += 2", 1, 2)
    stain(told, 4, "exp", "exp", "y", (1, 2))
    told.bump("y", "add_", 5, "y += 3", 2, 3)
    assert [line for role, line in lines(only(told.facts())) if role == "wrote"] == [3]


# ----- what is not known -----


def test_nobody_was_seen_to_write(made_up):
    told = made_up("y = exp(a)\ny.backward()")
    told.leaf("a")
    told.node("exp", "ExpBackward0", 1, "exp(a)", ["a"], result=("y", 0))
    stain(told, 2, "exp", "exp", "y", (0, 2))
    found = only(told.facts())
    assert found.certainty == "possible"
    assert found.cause == (
        "`y`, saved by ExpBackward0 at line 1, was changed in place before `y.backward()` at line 2 used it; no "
        "recorded write says by whom."
    )
    assert note(found, "unknown") == "who made 2 versions of it was not recorded"


def test_some_of_the_writes_were_not_seen(made_up):
    told = made_up("y = exp(a)\ny += 1\ny.backward()")
    told.leaf("a")
    told.node("exp", "ExpBackward0", 1, "exp(a)", ["a"], result=("y", 0))
    told.bump("y", "add_", 2, "y += 1", 0, 1)
    stain(told, 3, "exp", "exp", "y", (0, 3))
    found = only(told.facts())
    assert found.certainty == "likely" and note(found, "unknown") == "who made 2 versions of it was not recorded"


def test_a_write_that_was_inferred(made_up):
    told = made_up("y = exp(a)\ny += 1\ny.backward()")
    told.leaf("a")
    told.node("exp", "ExpBackward0", 1, "exp(a)", ["a"], result=("y", 0))
    told.bump("y", "add_", 2, "y += 1", flags=Provenance.INFERRED)
    stain(told, 3, "exp", "exp", "y", (0, 1))
    assert only(told.facts()).certainty == "likely"


def test_an_error_without_storage_and_versions(made_up):
    told = made_up("y = exp(a)\ny += 1\ny.backward()")
    told.leaf("a")
    told.node("exp", "ExpBackward0", 1, "exp(a)", ["a"], result=("y", 0))
    told.bump("y", "add_", 2, "y += 1")
    stain(told, 3, "exp", "exp", "", (0, 0))
    found = only(told.facts())
    assert ("wrote", 2) in lines(found) and found.certainty == "certain"


def test_a_node_that_is_older_than_the_recording(made_up):
    told = made_up("y += 1\ny.backward()")
    told.nodes["old"] = 99
    told.bump("y", "add_", 1, "y += 1")
    stain(told, 2, "old", "old", "y", (0, 1))
    found = only(told.facts())
    assert found.cause == (
        "`y`, saved by a node that was built before the recording, was changed by `y += 1` at line 1 before "
        "`y.backward()` at line 2 used it."
    )
    assert found.certainty == "likely"


def test_lines_in_another_file_are_named_with_it(made_up):
    told = made_up("y = exp(a)\ny += 1\ny.backward()")
    told.leaf("a")
    told.node("exp", "ExpBackward0", 1, "exp(a)", ["a"], result=("y", 0))
    told.bump("y", "add_", 2, "y += 1")
    number = told.start(3, "exp")
    told.fail(number, "exp", "inplace-modified", 3, "y", (0, 1))
    facts = told.facts()
    strings = told.recorder.path / "strings.jsonl"
    strings.write_text("".join(_moved(line) for line in strings.read_text().splitlines(keepends=True)))
    assert (
        "by `y += 1` at model.py:2 before `y.backward()` at line 3" in only(Facts(Trace.open(facts.trace.path))).cause
    )


def _moved(line):
    told = json.loads(line)
    if told.get("line") == 2:
        told["file"] = "/elsewhere/model.py"
    return json.dumps(told) + "\n"


def test_an_optimizer_step_as_pytorch_tells_it(torch_optimizer_step):
    found = only(Facts(Trace.open(torch_optimizer_step.path)))
    assert found.cause == (
        "The optimizer step at line 3 updated parameter `1.weight`, saved by AddmmBackward0 at line 1, before "
        "`loss.backward()` at line 4 used it."
    )
    assert "step once: move `optimizer.step()` at line 3 behind the last backward()" in found.fix
