"""Modules of a program: which ran, and of which model they are a part."""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.events import Kind, ModuleEvent, a_of, thread_of
from agdbg.record.deep_facts import ModuleFact
from agdbg.record.facts import NodeFact

#: Records of modules that are looked at before a node.
_LOOKED_AT = 5000


def entered(case: Case) -> frozenset[int]:
    """The numbers of the modules that were called."""
    facts = case.facts
    rows = facts.rows(Kind.MODULE)
    words = facts.trace.records[rows]
    called = words[:, 0] >> np.uint64(16) & np.uint64(255) == ModuleEvent.ENTERED
    return frozenset(np.unique(words[called, 1]).tolist())


def root_of(case: Case, module: ModuleFact) -> ModuleFact:
    """The model that a module is a part of, itself when it is a whole one."""
    seen = {module.id}
    above = module
    while (parent := case.facts.module(above.parent)) is not None and parent.id not in seen:
        seen.add(parent.id)
        above = parent
    return above


def model_ran(case: Case, path: str) -> bool:
    """Whether a model was called as a whole that has a module of this path."""
    ran = entered(case)
    return any(root_of(case, each).id in ran for each in case.facts.modules if each.path == path)


def ran_paths(case: Case) -> frozenset[str] | None:
    """The paths of the modules that were called; None when no call was recorded."""
    ran = entered(case)
    found = [case.facts.module(number) for number in ran]
    return frozenset(each.path for each in found if each is not None) if ran else None


def enclosing_modules(case: Case, node: NodeFact) -> list[ModuleFact]:
    """The modules that were running in the node's thread when it was born, from the inside to the outside."""
    return enclosing_at(case, node.row, node.thread)


def enclosing_at(case: Case, row: int, thread: int) -> list[ModuleFact]:
    """The modules that were running in a thread at a row, from the inside to the outside."""
    facts = case.facts
    rows = facts.rows(Kind.MODULE)
    found: list[ModuleFact] = []
    depth = 0
    for before in rows[: int(rows.searchsorted(row))][::-1][:_LOOKED_AT].tolist():
        head, number, *_ = facts.words(before)
        if thread_of(head) != thread:
            continue
        if a_of(head) == ModuleEvent.LEFT:
            depth += 1
        elif a_of(head) == ModuleEvent.ENTERED:
            module = facts.module(number)
            if not depth and module is not None:
                found.append(module)
            depth = max(depth - 1, 0)
    return found
