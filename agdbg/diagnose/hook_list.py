"""The hooks of a trace: what each was registered on, how often it fired, when it was removed."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import place
from agdbg.diagnose.source import calls, quoted
from agdbg.diagnose.syntax import name_of
from agdbg.events import HookAction, Kind
from agdbg.record import Facts
from agdbg.record.facts import ErrorFact
from agdbg.record.hooked import HookFact, hook_at
from agdbg.record.lookup import Site

_BYTE, _ACTION = np.uint64(255), np.uint64(16)
#: Kinds that no gradient passes through, or that are no functions.
APART = ("module-forward", "module-forward-pre", "final-callback", "retain-grad")
Key = int | tuple[int, str]


@dataclass(frozen=True)
class Registered:
    """One hook.

    Attributes:
        fact: that it was registered.
        removed: the row at which it was taken away; the length of the trace when it was not.
        fired: how often it was called.
    """

    fact: HookFact
    removed: int
    fired: int


class HookList:
    """All hooks that were registered while the trace was recorded, in trace order."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        rows = facts.rows(Kind.HOOK)
        action = facts.trace.records[rows, 0] >> _ACTION & _BYTE
        self._registered = rows[action == HookAction.REGISTERED]
        self.fired_rows = rows[action == HookAction.FIRED]
        self._removed_rows = rows[action >= HookAction.REMOVED]

    @cached_property
    def all(self) -> list[Registered]:
        """Each with what became of it."""
        removed = {self.key(fact): fact.row for fact in self._facts_of(self._removed_rows)}
        end = len(self.facts.trace.records)
        found = [hook_at(self.facts, row) for row in self._registered.tolist()]
        return [Registered(fact, removed.get(self.key(fact), end), self._fired(fact)) for fact in found]

    def key(self, fact: HookFact) -> Key:
        """What tells one hook from another: its number, or from an engine that gives none its node and kind."""
        return fact.number or (fact.node, fact.kind)

    def _facts_of(self, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[HookFact]:
        return [hook_at(self.facts, row) for row in rows.tolist()]

    def _fired(self, fact: HookFact) -> int:
        if fact.number:
            return self._times.get(fact.number, 0)
        return self._unnumbered[(fact.node, fact.kind)]

    @cached_property
    def _times(self) -> dict[int, int]:
        numbers, times = np.unique(self.facts.trace.records[self.fired_rows, 5], return_counts=True)
        return dict(zip(numbers.tolist(), times.tolist(), strict=True))

    @cached_property
    def _unnumbered(self) -> Counter[tuple[int, str]]:
        rows = self.fired_rows[self.facts.trace.records[self.fired_rows, 5] == 0]
        return Counter((fact.node, fact.kind) for fact in self._facts_of(rows))

    @cached_property
    def groups(self) -> list[list[Registered]]:
        """Those that one line registered, with one kind and one function, together: a loop registers many."""
        found: dict[tuple[object, ...], list[Registered]] = {}
        for each in self.all:
            fact = each.fact
            found.setdefault((fact.site, fact.kind, fact.defined.file, fact.defined.line), []).append(each)
        return list(found.values())

    @cached_property
    def by_number(self) -> dict[int, Registered]:
        """A hook by its number."""
        return {each.fact.number: each for each in self.all if each.fact.number}


def hook_around(case: Case, error: ErrorFact) -> HookFact | None:
    """The registered hook in whose function an error was raised; None when it was not in one."""
    around = place(error.site).function
    lines = {error.site.line} if "<lambda>" in error.site.func else {around.lineno} if around is not None else set()
    hooks = [each.fact for each in HookList(case.facts).all if each.fact.row < error.row]
    return next((each for each in hooks if each.defined.file == error.site.file and each.defined.line in lines), None)


def function_name(defined: Site) -> str:
    """The name of a hook's function; empty when it has none."""
    name = defined.func.rpartition("<locals>.")[2]
    return "" if "<" in name else name


def on_name(facts: Facts, fact: HookFact) -> str:
    """What a hook is on: the tensor's name in the trace, or what the line calls it; empty when neither is known."""
    named = facts.names(fact.storage) if fact.storage else []
    leaf = facts.name_of_leaf(fact.node)
    if leaf or named:
        return leaf or named[0]
    made = [each for each in calls(fact.site) if isinstance(each.func, ast.Attribute)]
    own = [each for each in made if _registers(each)]
    return quoted(name_of(own[0].func.value)) if own and isinstance(own[0].func, ast.Attribute) else ""


def _registers(made: ast.Call) -> bool:
    return isinstance(made.func, ast.Attribute) and (
        made.func.attr.startswith("register_") or made.func.attr == "retain_grad"
    )


def hook_words(facts: Facts, fact: HookFact) -> str:
    """``the tensor hook `double` on `h` ``; of the ``backward`` of a custom Function that."""
    if fact.kind == "backward":
        node = facts.node(fact.node)
        return f"backward() of `{node.op.name.removesuffix('Backward')}`" if node is not None else "backward()"
    name, on = function_name(fact.defined), on_name(facts, fact)
    called = f" `{name}`" if name else ""
    return f"the {fact.kind} hook{called}{f' on `{on}`' if on else ''}"
