"""What an unpack hook returned need not be like what was saved: the gradients that an op computes from it are made to fit.

Gradients of the op table fit by construction where all that was saved comes back as it was, in its shape and dtype. A node that
hooks have packed something for runs in the general way, and here; nothing is done twice until something comes back otherwise.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from ..device import array_module, device_of
from ..hooks import node_hooks
from ..validate import of_buffer, validate_outputs

if TYPE_CHECKING:
    from ..node import Node
    from ..tensor import Tensor
    from ..validate import InputMetadata
    from .hooks import Hooked


class Misfit(Exception):
    """Raised when the formula on buffers meets something of another shape or dtype than was saved, or on another device."""


class Run:
    """One run of a node: what unpacking gave, so that each hook is called once however often the formula is computed."""

    __slots__ = ("elsewhere", "given", "misfit", "on_buffers")

    def __init__(self, on_buffers: bool) -> None:
        self.given: dict[Hooked, Tensor] = {}
        self.misfit = False
        """Whether something came back otherwise than it was saved."""
        self.elsewhere: list[str] = []
        """What came back on another device: lines for an error."""
        self.on_buffers = on_buffers

    def unpacked(self, kept: Hooked, t: Tensor, node: Node, slot: str) -> None:
        """``t`` is what came back for ``kept``, slot ``slot`` of ``node``."""
        self.given[kept] = t
        place, was = device_of(t._a), kept.array.place
        if place != was:
            self.elsewhere.append(
                f"{node.name()} saved {slot!r} on {was}, but the unpack hook returned a tensor on {place}: "
                f"let it return one on {was}, as by .to({str(was)!r})"
            )
        if self.elsewhere or t._a.shape != kept.array.shape or t._a.dtype != kept.array.dtype:
            self.misfit = True
            if self.on_buffers:
                raise Misfit


class _State(threading.local):
    run: Run | None = None


state = _State()
"""The run of this thread; ``None`` while functions of the user are called."""


def mark(node: Node) -> None:
    """Let ``node``, for which hooks packed something, be run by :func:`fitting`; custom Functions check what they return anyway."""
    from ..view import outer

    if not node.user_code:
        node_hooks(node).unpacks = True
        around = outer(node)
        if around is not None:
            node_hooks(around).unpacks = True


def fitting(node: Node, g: Any, on_tensors: bool) -> tuple[Any, ...]:
    """The gradients of ``g``, buffers or tensors, by input: fitted as in PyTorch if something came back other than saved.

    Raises the errors of ops on such tensors, and :func:`~agdbg_engine.validate.validate_outputs`'s.
    """
    before = state.run
    run = state.run = Run(not on_tensors)
    try:
        if on_tensors:
            found = node.grads_graph(g)
            return _fitted(node, run, g, found) if run.misfit else found
        try:
            return node.grads(g)
        except Misfit:
            run.on_buffers = False
        found = _fitted(node, run, g, node.grads_graph(_each(_tensor, g)))
        return tuple([None if t is None else t._a for t in found])
    except RuntimeError as error:
        if not run.elsewhere:
            raise
        raise errors.make(RuntimeError, errors.Details("other"), str(error), *run.elsewhere) from None
    finally:
        state.run = before


def _fitted(node: Node, run: Run, g: Any, found: tuple[Any, ...]) -> tuple[Any, ...]:
    """``found``, made to be like what the formula gives for tensors like those that were saved."""
    run.given = {kept: _like(kept, g) for kept in _kept(node)}
    like = node.grads(_each(lambda x: getattr(x, "_a", x), g))
    expected = [
        None if a is None or b is None else _wanted(to, a, of_buffer(b))
        for a, b, to in zip(found, like, node.next_nodes(), strict=True)
    ]
    if node.op_name == "MulBackward0":  # the only one that does: a real factor's gradient is the real part
        found = tuple(_real(a, want) for a, want in zip(found, expected, strict=True))
    return validate_outputs(node, found, expected)


def _wanted(to: Node | None, a: Any, like: InputMetadata) -> InputMetadata:
    """``like``, in the dtype that the leaf of ``to`` asks for gradients such as ``a`` in, if it does."""
    from ..pinned import wanted_for

    return like._replace(dtype=wanted_for(to, a.dtype, like.dtype)) if to is not None and to.leaf else like


def _real(a: Any, want: Any) -> Any:
    if a is None or want is None or a._a.dtype.kind != "c" or want.dtype.kind == "c":
        return a
    from ..ops import FUNCTIONS

    return FUNCTIONS["real"](a)


def _kept(node: Any) -> Iterator[Hooked]:
    from .hooks import Hooked

    inner = getattr(node, "inner", node)  # of a CopySlices
    for slot in inner.slots:
        held = getattr(inner, "s_" + slot)
        if isinstance(held, Hooked):
            yield held


def _like(kept: Hooked, g: Any) -> Tensor:
    """A tensor like that which ``kept`` stands for, in the library of ``g``; valid as an index, and as a divisor."""
    buffers = g if isinstance(g, list) else [g]
    some = next(getattr(x, "_a", x) for x in buffers if x is not None)
    library = array_module(some)
    fill = 1 if np.dtype(kept.array.dtype).kind in "fc" else 0
    return _tensor(library.broadcast_to(library.asarray(fill, kept.array.dtype), kept.array.shape))


def _tensor(buffer: Any) -> Tensor:
    from ..tensor import wrap

    return wrap(buffer)


def _each(function: Any, g: Any) -> Any:
    return [None if x is None else function(x) for x in g] if isinstance(g, list) else function(g)
