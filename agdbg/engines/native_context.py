"""What custom Functions keep on their context, beside what they save: whether it is still the same when ``backward`` needs it.

Nothing has a version that is checked there: not an array of NumPy, not a tensor that is written through ``.data``, not the place in
a list. So the numbers themselves are compared, by their checksums.
"""

from __future__ import annotations

import dis
import weakref
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from agdbg.engines.native_checksum import checksum
from agdbg_engine.function.facts import held_on
from agdbg_engine.node import Node
from agdbg_engine.tensor import Tensor


class Changed(NamedTuple):
    """Something that is not what it was: its name on the context, what it is now, and whether ``backward`` is known to read it."""

    name: str
    value: Any
    is_read: bool


class Contexts:
    """The checksums of what contexts held when their ``forward`` had ended, until ``backward`` runs for the first time."""

    def __init__(self) -> None:
        self._sums: weakref.WeakKeyDictionary[Node, dict[str, int]] = weakref.WeakKeyDictionary()

    def kept(self, node: Node, name: str, value: Any) -> None:
        """``forward`` has put it there."""
        self._sums.setdefault(node, {})[name] = _sum(value)

    def changed(self, node: Node, backward: Any) -> list[Changed]:
        """What has other numbers now that ``backward`` is about to run; what is not there any more is left out."""
        sums = self._sums.pop(node, None)
        if sums is None:
            return []
        now = {name: value for name, value in held_on(node) if name in sums}
        others = {name for name, value in now.items() if _sum(value) != sums[name]}
        kept = {name for name in sums if _attribute(name) in map(_attribute, others)}
        read = Reads(backward)
        whole = {_attribute(name) for name in others} - {_attribute(name) for name in kept - others}
        return [
            Changed(name, now[name], read.surely(name) or (_attribute(name) in whole and read.somehow(name)))
            for name in now
            if name in others
        ]


class Reads:
    """What a function reads of its context, as its code shows."""

    def __init__(self, function: Any) -> None:
        self._somehow: set[str] = set()
        self._surely: set[str] = set()
        code = getattr(function, "__code__", None)
        while (inner := getattr(function, "__wrapped__", None)) is not None:
            function, code = inner, getattr(inner, "__code__", None)
        if code is not None:
            self._look(code)

    def surely(self, name: str) -> bool:
        """All of it, or this element by a number or key that stands in the code."""
        return any(name == read or name.startswith(f"{read}[") for read in self._surely)

    def somehow(self, name: str) -> bool:
        """It, or some elements of it."""
        return _attribute(name) in self._somehow

    def _look(self, code: CodeType) -> None:
        steps = [each for each in dis.get_instructions(code) if each.opname not in _NOISE]
        for at, each in enumerate(steps):
            if each.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                self._somehow.add(each.argval)
                self._surely |= set(_used(each.argval, steps[at + 1 : at + 3]))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._look(constant)


#: Instructions that mean nothing here.
_NOISE = frozenset({"CACHE", "RESUME", "EXTENDED_ARG", "NOP", "PRECALL", "COPY_FREE_VARS"})


def _used(name: str, steps: list[dis.Instruction]) -> Iterator[str]:
    """What is read where an attribute of this name is followed by these instructions."""
    following = [each.opname for each in steps]
    if following[:1] in (["UNPACK_SEQUENCE"], ["GET_ITER"]):
        yield name
    elif following == ["LOAD_CONST", "BINARY_SUBSCR"] or (
        following[:1] == ["LOAD_CONST"] and steps[1:] and steps[1].argrepr.startswith("[]")
    ):
        yield f"{name}[{steps[0].argval!r}]"


def _attribute(name: str) -> str:
    """The attribute of the context in which something lies: ``caches`` of ``caches[0]``."""
    return name.partition("[")[0]


def _sum(value: Any) -> int:
    return checksum(value._a if isinstance(value, Tensor) else value)
