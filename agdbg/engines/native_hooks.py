"""Hooks as records: which were registered on what, which fired, and what they wrote to; gradients that were read too early."""

from __future__ import annotations

import functools
import inspect
import linecache
from types import CodeType
from typing import Any

from agdbg.engines.native_rare import RareSink, running
from agdbg.events import EDITED_IN_PLACE, REDRAWN, HookAction, Kind, head, pack_duration, pack_edge
from agdbg.record import Recorder
from agdbg.record.strings import absolute
from agdbg_engine.events import HookFacts
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.tensor import Tensor

_ACTIONS = {"registered": HookAction.REGISTERED, "fired": HookAction.FIRED, "removed": HookAction.REMOVED}


class HookSink(RareSink):
    """The part of the adapter about hooks."""

    def __init__(self) -> None:
        super().__init__()
        self._definitions: dict[CodeType, int] = {}

    def hook(self, what: str, kind: str, node: Node | None, code: CodeType, lasti: int, facts: HookFacts) -> None:
        tag = 0 if node is None else self._tag(node)
        tensor = node.variable if facts.tensor is None and isinstance(node, AccumulateGrad) else facts.tensor
        spent, shift = pack_duration(self.standing.just_took(facts.ns))
        self.recorder.emit(
            head(Kind.HOOK, self.recorder.thread(), EDITED_IN_PLACE * facts.edited, _ACTIONS[what], shift),
            tag,
            running(),
            self._site_op(code, lasti, kind),
            0 if tensor is None else self.storage_of(tensor),
            facts.number + 1,
            self._defined(facts.function) | spent << 32,
            self._edge_to(facts.shared_with),
        )

    def grad_missed(self, tensor: Tensor, code: CodeType, lasti: int) -> None:
        where = self._site(code, lasti)
        self._rare(Kind.GRAD_READ, self.storage_of(tensor), running(), where, self._producer(tensor))

    def redrawn(self, code: CodeType, lasti: int) -> None:
        self._recompute_flags |= REDRAWN

    def _edge_to(self, edge: Any) -> int:
        return 0 if edge is None or edge.node is None else pack_edge(self._tag(edge.node), edge.output_nr)

    def _defined(self, function: Any) -> int:
        """The site where a function is defined; 0 for what is not written in Python."""
        code = code_of(function)
        if code is None:
            return 0
        known = self._definitions.get(code)
        if known is None:
            known = self._definitions[code] = definition(self.recorder, code)
        return known


def code_of(function: Any) -> CodeType | None:
    """The code of what a user gave as a function: a function, a method, a partial, an object that is called."""
    try:
        while isinstance(function, functools.partial):
            function = function.func
        if not hasattr(function, "__code__") and not inspect.ismethod(function):
            function = vars(type(function)).get("__call__")
        found = getattr(inspect.unwrap(function), "__code__", None)
    except Exception:  # its attributes may do anything, and be a circle of wrappers
        return None
    return found if isinstance(found, CodeType) else None


def definition(recorder: Recorder, code: CodeType) -> int:
    """The site of the ``def`` of a function, behind its decorators."""
    first = code.co_firstlineno
    if code.co_name.startswith("<"):  # a lambda
        return recorder.site_at(absolute(code.co_filename), first, code.co_qualname)
    lines = [linecache.getline(code.co_filename, line).strip() for line in range(first, first + 20)]
    at = next((i for i, text in enumerate(lines) if text.startswith(("def ", "async def "))), 0)
    return recorder.site_at(absolute(code.co_filename), first + at, code.co_qualname)
