"""A reentrant checkpoint none of whose inputs needed a gradient: what it calls runs under no_grad(), and gets no gradient."""

import ast

from agdbg.diagnose.case import Case
from agdbg.diagnose.source import called, calls
from agdbg.events import Kind, ModuleEvent, a_of
from agdbg.record.lookup import Site

#: What runs a function again in backward.
CHECKPOINTS = ("checkpoint", "checkpoint_sequential")


def reentrant_at(case: Case, layer: str) -> Site | None:
    """The call of a checkpoint that ran a layer with gradients switched off; None when there is none."""
    facts = case.facts
    switches, modules = facts.rows(Kind.GRAD_MODE), facts.rows(Kind.MODULE)
    for row in switches.tolist():
        site, op = facts.site_and_op(facts.words(row)[2])
        if op.name == "disabled" and _is_reentrant(site) and _entered(case, layer, modules[modules > row].tolist()):
            return site
    return None


def _entered(case: Case, layer: str, rows: list[int]) -> bool:
    """Whether the call of the first module behind a switch is one of a layer, or has one in it."""
    depth = 0
    for row in rows:
        head, number, *_ = case.facts.words(row)
        module = case.facts.module(number)
        if a_of(head) == ModuleEvent.ENTERED:
            depth += 1
            if module is not None and module.path == layer:
                return True
        elif a_of(head) == ModuleEvent.LEFT:
            depth -= 1
            if depth <= 0:
                return False
    return False


def _is_reentrant(site: Site) -> bool:
    """Whether a reentrant checkpoint is called there: ``use_reentrant=True``, or nothing said, which means the same."""
    made = [each for each in calls(site) if called(each) in CHECKPOINTS]
    given = [keyword.value for each in made for keyword in each.keywords if keyword.arg == "use_reentrant"]
    return bool(made) and all(not isinstance(each, ast.Constant) or each.value is not False for each in given)
