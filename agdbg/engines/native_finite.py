"""The filters ``nan`` and ``inf``: which node was the first to make of finite numbers what is not finite.

An output is looked at when its node is built, a gradient when its node has run. Only where one is bad are the inputs
looked at: those of the op in its frame, which is still there, and those of a node in the journal of the pass.

Where a NaN comes of an infinity, the node that made that is told, too: so it is noted who makes infinities and which nodes they
reach, whether they are stopped at or not.
"""

import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import CO_VARARGS
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

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
        more = f" ({self.count:,} of {self.size:,} elements)" if self.count > 1 else ""
        return f"{word}{at}{more}"


class Infinite(NamedTuple):
    """The node that was the first to make an infinity, as a person is told of it, and whether in a gradient."""

    tag: int
    words: str
    in_gradient: bool


class Infinities:
    """Who made the infinities that are on their way: in what nodes have made in forward, and in what waits at them in a pass."""

    def __init__(self) -> None:
        self._values: weakref.WeakKeyDictionary[Node, Infinite] = weakref.WeakKeyDictionary()
        self._gradients: weakref.WeakKeyDictionary[Node, tuple[int, Infinite | None]] = weakref.WeakKeyDictionary()

    def in_value(self, node: Node) -> Infinite | None:
        """Who made the infinity in what an op has made or was given."""
        nodes = (node, *(producer for producer, _ in node.edges() if producer is not None))
        return next((found for each in nodes if (found := self._values.get(each)) is not None), None)

    def in_gradient(self, walk: "Walk", node: Node) -> Infinite | None:
        """Who made the infinity in the gradient that a node of a pass was given; nodes that sent on a view were not looked at."""
        reached, order = {node}, walk.bp.order
        for each in (node, *reversed(order[: walk.bp.position])):
            if each is node or any(producer in reached for producer, _ in each.edges()):
                number, found = self._gradients.get(each, (0, None))
                if number == walk.bp.tag:
                    return found
                reached.add(each)
        return None

    def built(self, node: Node, inputs: list[Any]) -> None:
        """``node`` was built, and what its op has made is infinite somewhere."""
        found = self.in_value(node) if _any_bad(inputs) else Infinite(node.tag, _built(node), False)
        if found is not None:
            self._values[node] = found

    def sent(self, walk: "Walk", node: Node, producer: Node) -> None:
        """``node`` has sent an infinity to ``producer``."""
        found = self.came_to(walk, node)
        if found is None and not _any_bad((*_came_in(walk, node), *_was_saved(walk, node))):
            found = Infinite(node.tag, _built(node), True)
        self._gradients[producer] = walk.bp.tag, found

    def came_to(self, walk: "Walk", node: Node) -> Infinite | None:
        """Who made the infinity that a node which has run was given or had saved."""
        if _any_bad(_came_in(walk, node)):
            return self.in_gradient(walk, node)
        return self.in_value(node) if _any_bad(_was_saved(walk, node)) else None


class Finite:
    """Looks for what is wanted.

    Args:
        wanted: ``nan``, ``inf`` or both.
        before: what has looked so far, whose knowledge is kept.
        since: for each the number of the first node that is looked at as it is built.
    """

    def __init__(
        self, wanted: Iterable[str], before: "Finite | None" = None, since: Mapping[str, int] | None = None
    ) -> None:
        self._wanted = [kind for kind in ("nan", "inf") if kind in wanted]
        self.since = since or {}
        self._infinities: Infinities = before._infinities if before is not None else Infinities()
        self._leaf_was: tuple[weakref.ref[Node], bool] | None = None

    def born(self, node: Node, out: Tensor) -> dict[str, Any] | None:
        """What is wrong with what ``node``, which has just been built, has made; ``None`` when it did nothing wrong."""
        if not (node.multi or node.user_code) and all_finite(out._a):
            return None
        outputs = list(_outputs(node, out))
        if not _any_bad(each._a for each in outputs):
            return None
        bad = next((bad for each in outputs if (bad := first_bad(each._a, self._wanted))), None)
        inputs = _inputs(node) or list(_saved(node, {}))
        if any(first_bad(each._a, ("inf",)) is not None for each in outputs):
            self._infinities.built(node, inputs)
        if bad is None or excused(bad.kind, inputs):
            return None
        infinite = self._infinities.in_value(node) if _any_bad(inputs) else None
        return told(bad.kind, f"{_built(node)}, made {bad} of {_given(node, inputs, infinite)}", node, infinite)

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
            if producer is not None and g is not None and first_bad(buffer(g), ("inf",)) is not None:
                self._infinities.sent(walk, node, producer)
            if bad is None or excused(bad.kind, _came_in(walk, node)):
                continue
            built = _built(node)
            if not excused(bad.kind, _was_saved(walk, node)):
                how = " (it called functions of the program)" if runs_user_code(node) else ""
                infinite = self._infinities.came_to(walk, node)
                given = _given(node, [*_came_in(walk, node), *_was_saved(walk, node)], infinite)
                return told(
                    bad.kind, f"{built}, made {bad} in the gradient of input {i} of {given}{how}", node, infinite
                )
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
        came = _came_in(walk, node)
        infinite = self._infinities.in_gradient(walk, node) if _any_bad(came) else None
        return told(
            bad.kind, f"adding to the grad of a leaf made {bad} of {_given(node, came, infinite)}", node, infinite
        )


def told(kind: str, text: str, node: Node, infinite: Infinite | None = None) -> dict[str, Any]:
    """The error of a stop; ``infinite`` made the infinity of which a NaN came."""
    error = {"kind": kind, "text": text, "predicted": False, "node": getattr(node, "tag", 0)}
    if infinite is not None:
        error["infinite"] = {"node": infinite.tag, "gradient": infinite.in_gradient}
    return error


def _built(node: Node) -> str:
    return f"{node.op_name}, built by line {where(node.code, node.lasti).line}"


def _given(node: Node, inputs: Iterable[Any], infinite: Infinite | None) -> str:
    """Of what ``node`` has made a bad value, in words that follow "of"."""
    if infinite is None:
        return "an infinity that came in" if _any_bad(inputs) else "finite numbers"
    if infinite.tag == getattr(node, "tag", 0):
        return "the infinity that it had made itself"
    return f"the infinity that {infinite.words}, {'sent' if infinite.in_gradient else 'made'}"


def _any_bad(arrays: Iterable[Any]) -> bool:
    return any(not all_finite(array) for array in arrays)


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
