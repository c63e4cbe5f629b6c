"""Hooks that return what can be no gradient: which one, on what, and what it should have returned."""

import pytest

PROGRAM = """\
import agdbg_engine as ag
def wrong(*given):
    return ANSWER
x = ag.ones(3, requires_grad=True)
h = x * 2
WHERE
h.sum().backward()
"""
ON_H, BEFORE, AFTER = "h.register_hook(wrong)", "h.grad_fn.register_prehook(wrong)", "h.grad_fn.register_hook(wrong)"


def _program(where, answer):
    return PROGRAM.replace("WHERE", where).replace("ANSWER", answer)


@pytest.mark.parametrize(
    ("where", "answer", "cause", "fix"),
    [
        (ON_H, "given[0][:2]", "The tensor hook `wrong` on `h` at line 6 returned a gradient of shape [2] in place of one of shape [3].", "of shape [3] from `wrong`"),
        (ON_H, "given[0].double()", "returned a gradient of float64 in place of one of float32.", "Return it in float32"),
        (ON_H, "3.0", "returned a float, which is no tensor, in place of the gradient.", "Return a tensor like the gradient"),
        (BEFORE, "(given[0][0].sum(),)", "The pre hook `wrong` on `h.grad_fn` at line 6 returned a gradient of shape [] in place", "of shape [3]"),
        (BEFORE, "given[0][0]", "returned a Tensor: a hook on a node returns a tuple.", "`(gradient,)`"),
        (AFTER, "(given[0][0].repeat(2), None)", "The post hook `wrong` on `h.grad_fn` at line 6 returned a gradient of shape [6]", "of shape [3]"),
        (AFTER, "(None, None, None)", "returned 3 gradients where 2 are expected", "Return a tuple of 2"),
        ("x.register_hook(wrong)", "given[0][:1]", "The tensor hook `wrong` on `x` at line 6 returned a gradient of shape [1]", "of shape [3]"),
    ],
)  # fmt: skip
def test_what_a_hook_returned(lint_script, where, answer, cause, fix):
    run = lint_script(_program(where, answer), error=(RuntimeError, TypeError))
    (found,) = [each for each in run.findings if each.kind == "hook-error"]
    assert cause in found.cause and fix in found.fix and found.certainty == "certain"
    lines = {each.role: each.site.line for each in found.evidence}
    assert (lines["hook"], lines["registered"], lines["needed"]) == (6, 10, 11)  # behind the head of four lines


@pytest.mark.parametrize("answer", ["None", "given[0] * 2", "given[0].clone()"])
def test_what_may_be_returned_is_no_finding(lint_script, answer):
    assert not lint_script(_program(ON_H, answer)).findings


def test_of_two_hooks_the_one_that_was_wrong_is_named(lint_script):
    three = "h.register_hook(lambda g: g * 2); h.register_hook(wrong); h.register_hook(lambda g: g)"
    (found,) = lint_script(_program(three, "given[0][:2]"), error=RuntimeError).findings
    assert "The tensor hook `wrong` on `h`" in found.cause


@pytest.mark.parametrize("wanted", ["hook-error", "shape", "any"])
def test_filters_stop_there(stopping, wanted):
    program = stopping(_program(ON_H, "given[0][:2]"))
    program.on_errors(wanted)
    stop = program.run()
    assert stop["reason"] == "exception" and "has changed the size of value" in stop["text"]
    told = program.request("exceptionInfo", threadId=1)
    assert "The tensor hook `wrong` on `h`" in told["description"] + str(told.get("details"))
