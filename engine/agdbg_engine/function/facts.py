"""What instruments are told about the forward of a custom Function: what it wrote unannounced, what it put on its context."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from .. import events
from ..backends import is_array
from ..storage import version_of
from ..tensor import Tensor

if TYPE_CHECKING:
    from ..node import Node
    from .node import BackwardCFunction


def versions_before(tensors: list[Tensor]) -> list[int]:
    """The versions of the inputs."""
    return [version_of(t) for t in tensors]


def tell(node: BackwardCFunction, inputs: tuple[Any, ...], before: list[int], raw: Any) -> None:
    """Tell the sink what ``forward`` did, which returned ``raw``."""
    from .grads import argument_names

    sink = events.sink
    if sink is None:
        return
    dirty = {id(t) for t in node.dirty_tensors} if isinstance(node.dirty_tensors, tuple) else set()
    given = [(i, t) for i, t in enumerate(inputs) if isinstance(t, Tensor)]
    for (i, t), version in zip(given, before, strict=True):
        if version_of(t) != version and id(t) not in dirty:
            sink.function_wrote(node, t, argument_names(node)[i], node.code, node.lasti)
    ins = {id(t) for _, t in given}
    outs = {id(t) for t in (raw if isinstance(raw, tuple) else (raw,)) if isinstance(t, Tensor)}
    for name, held in _saved_by(node):
        if isinstance(held, Tensor) and id(held) not in ins | outs:
            sink.function_kept(node, held, name, "intermediate", node.code, node.lasti)
    for name, held in held_on(node):
        role = "input" if id(held) in ins else "output" if id(held) in outs else "intermediate"
        sink.function_kept(node, held, name, role if isinstance(held, Tensor) else "array", node.code, node.lasti)


def _saved_by(node: BackwardCFunction) -> Iterator[tuple[str, Any]]:
    own = node.to_save if isinstance(node.to_save, tuple) else ()
    yield from ((f"saved_tensors[{i}]", t) for i, t in enumerate(own))


def held_on(node: Node) -> Iterator[tuple[str, Any]]:
    """Tensors and arrays in the attributes of a context, in lists, tuples and dicts too, and how the user would write them."""
    for name, value in list(vars(node).items()):
        yield from _in(name, value, _DEPTH)


def _in(name: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Tensor) or (is_array(value) and value.dtype.kind in _NUMBERS):
        yield name, value
    elif depth and isinstance(value, list | tuple):
        for i, each in enumerate(value[:_WIDTH]):
            yield from _in(f"{name}[{i}]", each, depth - 1)
    elif depth and isinstance(value, dict):
        for key, each in list(islice(value.items(), _WIDTH)):
            yield from _in(f"{name}[{key!r}]", each, depth - 1)


_DEPTH, _WIDTH = 3, 1000  # containers in containers, and elements of each, that are looked at
_NUMBERS = frozenset("biufc")
