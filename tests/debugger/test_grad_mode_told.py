"""Whether gradients were switched off, as a trace tells it: behind what the engine itself runs without gradients they are on."""

import textwrap

import pytest

from agdbg.diagnose.case import Case
from agdbg.diagnose.writers import disabled_at
from agdbg.events import Kind

FUNCTION = """
class F(Function):
    @staticmethod
    def forward(ctx, t):
        with ag.no_grad(): y = t * 2
        return y
    @staticmethod
    def backward(ctx, g):
        return g
F.apply(x)
"""
CHECKPOINT = """
from agdbg_engine.utils.checkpoint import checkpoint
checkpoint(lambda t: t.exp(), x, use_reentrant=True).sum().backward()
"""
HOOK = """
def hook(g):
    with ag.no_grad(): g * 2
y = x * 2
y.register_hook(hook)
y.sum().backward()
"""
PACKED = """
def pack(t):
    with ag.no_grad(): return t * 1
with ag.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
    x * x
"""
LEFT_OFF = """
def hook(g):
    ag.set_grad_enabled(False)
y = x * 2
y.register_hook(hook)
y.sum().backward()
"""
LATER = "later = x.exp()\n"


def _off(run):
    """The line that had gradients switched off at the end of a program."""
    return disabled_at(Case(run.facts), len(run.facts.trace.records) - 1)


@pytest.mark.parametrize("before", [FUNCTION, CHECKPOINT, HOOK, PACKED, LEFT_OFF])
def test_gradients_are_on_behind_it(lint_script, before):
    assert _off(lint_script(before + LATER)) is None


@pytest.mark.parametrize("before", [FUNCTION, CHECKPOINT, HOOK, PACKED])
def test_and_off_where_the_program_has_them_off(lint_script, before):
    inner = textwrap.indent(before.strip(), "        ")
    run = lint_script(f"with ag.no_grad():\n    with ag.enable_grad():\n{inner}\n    later = x.exp()\n")
    found = disabled_at(Case(run.facts), int(run.facts.rows(Kind.CUT)[-1]))
    assert found is not None and found.text.strip() in ("with ag.no_grad():", "with ag.enable_grad():")


def test_no_grad_is_left_as_it_was_found(lint_script):
    assert _off(lint_script("with ag.no_grad():\n    x * 2\n" + LATER)) is None
