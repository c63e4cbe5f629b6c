"""The filters ``nan`` and ``inf``: which node was the first to make of finite numbers what is not finite.

An output is looked at when its node is built, a gradient when its node has run. Only where one is bad are the inputs
looked at: those of the op in its frame, which is still there, and those of a node in the journal of the pass.
"""

import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import CO_VARARGS
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from agdbg.engines.native_quick import all_finite
from agdbg.engines.native_spot import buffer, gradients_in
from agdbg_engine.device import array_module
from agdbg_engine.journal import runs_user_code
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.saved import Freed, Packed, saved_slots
from agdbg_engine.several import at_home
from agdbg_engine.sites import INTERNAL, sources, where
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native_walk import Walk

FILTERS = frozenset({"nan", "inf"})
OWN = frozenset({*sources(str(Path(__file__).resolve().parents[1])), "<births>"})
"""The files of agdbg, which are no engine."""


@dataclass(frozen=True)
class Bad:
    """The first element of an array that is ``nan`` or ``inf``, and how many there are."""

    kind: str
    index: tuple[int, ...]
    count: int
    size: int

    def __str__(self) -> str:
        word = "NaN" if self.kind == "nan" else "Inf"
        at = f" at index {list(self.index)}" if self.index else ""
        more = f", {self.count:,} of {self.size:,} elements" if self.count > 1 else ""
        return f"{word}{at}{more}"


class Finite:
    """Looks for what is wanted.

    Args:
        wanted: ``nan``, ``inf`` or both.
        since: for each the number of the first node that is looked at as it is built.
    """

    def __init__(self, wanted: Iterable[str], since: Mapping[str, int] | None = None) -> None:
        self._wanted = [kind for kind in ("nan", "inf") if kind in wanted]
        self.since = since or {}
        self._leaf_was: tuple[weakref.ref[Node], bool] | None = None

    def born(self, node: Node, out: Tensor) -> dict[str, Any] | None:
        """What is wrong with what ``node``, which has just been built, has made; ``None`` when it did nothing wrong."""
        if not (node.multi or node.user_code) and all_finite(out._a):
            return None
        bad = next((bad for each in _outputs(node, out) if (bad := first_bad(each._a, self._wanted))), None)
        if bad is None:
            return None
        if excused(bad.kind, _inputs(node) or list(_saved(node, {}))):
            return None
        line = where(node.code, node.lasti).line
        return told(bad.kind, f"{node.op_name}, built by line {line}, made {bad} of finite numbers", node)

    def next(self, node: Node | None) -> None:
        """``node`` runs next."""
        self._leaf_was = None
        if isinstance(node, AccumulateGrad):
            grad = node.variable._gradient
            self._leaf_was = weakref.ref(node), grad is None or all_finite(grad._a)

    def ran(self, walk: "Walk", node: Node) -> dict[str, Any] | None:
        """What is wrong with what ``node``, which has just run, sent to its producers or added to its leaf."""
        if isinstance(node, AccumulateGrad):
            return self._accumulated(walk, node)
        for i, (producer, nr) in enumerate(node.edges()):
            g = None if producer is None else walk.bp.buffers.get((producer, nr) if nr else producer)
            bad = None if g is None else first_bad(buffer(g), self._wanted)
            if bad is None or excused(bad.kind, _came_in(walk, node)):
                continue
            built = f"{node.op_name}, built by line {where(node.code, node.lasti).line}"
            if not excused(bad.kind, _was_saved(walk, node)):
                how = " (it called functions of the program)" if runs_user_code(node) else ""
                return told(bad.kind, f"{built}, made {bad} in the gradient of input {i} of finite numbers{how}", node)
            if getattr(node, "tag", 0) < self.since.get(bad.kind, 0):
                text = f"{built} before this was looked for, saved what is not finite, and made {bad} in the gradient of input {i}"
                return {**told(bad.kind, f"{text}; forward made it, earlier", node), "late": True}
        return None

    def _accumulated(self, walk: "Walk", node: AccumulateGrad) -> dict[str, Any] | None:
        grad, was = node.variable._gradient, self._leaf_was
        bad = None if grad is None else first_bad(grad._a, self._wanted)
        if bad is None or was is None or was[0]() is not node or not was[1]:
            return None
        if excused(bad.kind, _came_in(walk, node)):
            return None
        return told(bad.kind, f"adding to the grad of a leaf made {bad} of finite numbers", node)


def told(kind: str, text: str, node: Node) -> dict[str, Any]:
    """The error of a stop."""
    return {"kind": kind, "text": text, "predicted": False, "node": getattr(node, "tag", 0)}


@at_home
def first_bad(array: Any, kinds: Iterable[str]) -> Bad | None:
    """The first element that is of one of the ``kinds``, NaN before Inf; ``None`` for none, and for integers."""
    if all_finite(array):
        return None
    xp = array_module(array)
    for kind in kinds:
        mask = xp.isnan(array) if kind == "nan" else xp.isinf(array)
        count = int(mask.sum())
        if count:
            index = xp.unravel_index(mask.reshape(-1).argmax(), array.shape)
            return Bad(kind, tuple(int(i) for i in index), count, int(array.size))
    return None


def excused(kind: str, inputs: Iterable[Any]) -> bool:
    """Whether what came in explains it: a NaN comes of a NaN, an infinity of whatever is not finite."""
    kinds = ("nan",) if kind == "nan" else ("nan", "inf")
    return any(first_bad(array, kinds) is not None for array in inputs)


def _came_in(walk: "Walk", node: Node) -> list[Any]:
    """The gradients that a node that has just run was given."""
    return [buffer(g) for g in gradients_in(walk, node) if g is not None]


def _was_saved(walk: "Walk", node: Node) -> Iterator[Any]:
    """What it had saved."""
    return _saved(node, walk.journal.saved(node) if walk.journal is not None else {})


def _saved(node: Node, kept: dict[str, Any]) -> Iterator[Any]:
    for each in saved_slots(node):
        value = kept.get(each.slot) if each.freed else each.value
        if value is not None and not isinstance(value, Freed | Packed):
            yield buffer(value)


def _outputs(node: Node, out: Tensor) -> Iterator[Tensor]:
    """What the op has made: ``out``, and where there may be more, those beside it in a variable of the function that told of it."""
    yield out
    several = node.multi or node.user_code
    frame: FrameType | None = sys._getframe(1) if several else None
    while frame is not None and frame.f_code.co_filename in INTERNAL:
        for value in list(frame.f_locals.values()) if frame.f_code.co_filename not in OWN else ():
            if isinstance(value, list | tuple) and any(each is out for each in value):
                yield from (each for each in value if isinstance(each, Tensor) and each is not out)
                return
        frame = frame.f_back


def _inputs(node: Node) -> list[Any]:
    """What the op which has made ``node`` was given: arrays and numbers among the arguments of the innermost function of the
    engine that has any.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in INTERNAL:
        found = list(_arguments(frame, node)) if frame.f_code.co_filename not in OWN else []
        if any(isinstance(each, Tensor) for each in found):
            return [buffer(each) if isinstance(each, Tensor) else np.asarray(each) for each in found]
        frame = frame.f_back
    return []


def _arguments(frame: FrameType, node: Node) -> Iterator[Any]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & CO_VARARGS)
    for name in code.co_varnames[:count]:
        value = frame.f_locals.get(name)
        for each in value if isinstance(value, list | tuple) else (value,):
            if isinstance(each, float) or (isinstance(each, Tensor) and each._fn is not node):
                yield each
