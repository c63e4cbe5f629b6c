"""Results in another dtype than the one they were computed in: their nodes take what comes in back to that.

So is the sum of float16 and float32 that was written into the float16, and the product of float16 and a number, which is computed
in float32 and rounded once. A node does this by its class, so that all others pay nothing for it.
"""

from __future__ import annotations

import functools
from typing import Any

from ..backward import route_run
from ..node import Node
from . import graph
from .kernels import to_copy


def computed_in(node: Node, dtype: Any, given: Any = None) -> None:
    """Let ``node`` take the gradients that come in to ``dtype``, in which it computed, and those it gives to ``given``, if any."""
    cls: Any = type(node)
    node.__class__ = casting(cls, dtype, given)


@functools.cache
def casting(cls: Any, dtype: Any, given: Any = None) -> Any:
    """The subclass of ``cls`` that does so; it looks like that to everybody."""

    def on_buffers(g: Any) -> Any:
        return g if g.dtype == dtype else to_copy(g, dtype)

    def on_tensors(g: Any) -> Any:
        return g if g.dtype == dtype else graph.to_copy(g, dtype)  # type: ignore[attr-defined]  # a row

    def rounded(gradients: tuple[Any, ...], cast: Any) -> tuple[Any, ...]:
        if given is None:
            return gradients
        return tuple([g if g is None or g.dtype == given else cast(g, given) for g in gradients])

    def grads(self: Any, g: Any) -> tuple[Any, ...]:
        return rounded(cls.grads(self, on_buffers(g)), to_copy)

    def grads_graph(self: Any, g: Any) -> tuple[Any, ...]:
        return rounded(cls.grads_graph(self, on_tensors(g)), graph.to_copy)  # type: ignore[attr-defined]  # a row

    def grads_for(self: Any, g: Any, needed: list[bool], tensors: bool) -> tuple[Any, ...]:
        g = on_tensors(g) if tensors else on_buffers(g)
        cast = graph.to_copy if tensors else to_copy  # type: ignore[attr-defined]  # a row
        return rounded(cls.grads_for(self, g, needed, tensors), cast)

    body = {
        "__slots__": (), "__module__": cls.__module__, "__qualname__": cls.__qualname__, "run": route_run,
        "grads": grads, "grads_graph": grads_graph, "grads_for": grads_for,
    }  # fmt: skip
    return type(cls.__name__, (cls,), body)
