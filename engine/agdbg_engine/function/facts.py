"""What instruments are told about the forward of a custom Function: what it wrote unannounced, what it put on its context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import events
from ..storage import version_of
from ..tensor import Tensor

if TYPE_CHECKING:
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
    for name, t in _tensors_on(node):
        role = "input" if id(t) in ins else "output" if id(t) in outs else "intermediate"
        if role == "intermediate" or not name.startswith("saved_tensors["):
            sink.function_kept(node, t, name, role, node.code, node.lasti)


def _tensors_on(node: BackwardCFunction) -> Iterator[tuple[str, Tensor]]:
    """The tensors put on the context, and how the user would write them."""
    own = node.to_save if isinstance(node.to_save, tuple) else ()
    for i, t in enumerate(own):
        if isinstance(t, Tensor):
            yield f"saved_tensors[{i}]", t
    for name, value in vars(node).items():
        yield from _in(name, value)


def _in(name: str, value: Any) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, list | tuple):
        yield from ((f"{name}[{i}]", t) for i, t in enumerate(value) if isinstance(t, Tensor))
    elif isinstance(value, dict):
        yield from ((f"{name}[{key!r}]", t) for key, t in value.items() if isinstance(t, Tensor))
