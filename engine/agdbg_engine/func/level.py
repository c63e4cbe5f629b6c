"""One level of a function transform: its inputs are new tensors, and what belongs to it ends with it.

PyTorch gives every level a graph of its own. Here there is one graph: an input of a level is an alias of the caller's
tensor, so that the same tensor captured by the function is told apart, and afterwards a result keeps its history only
if that reaches something that is still alive: an outer level's input or a tensor that requires grad.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple

from ..foreign import hint
from ..grad_mode import enable_grad, mode, ordinary
from ..inside import ORPHANS, Inside, alive
from ..node import edge
from ..ops import _generated as ops
from ..pytree import mapped
from ..saved.hooks import disable_saved_tensors_hooks
from ..sites import caller
from ..storage import Storage
from ..tangents import forward_grad, tangents_of
from ..tensor import Tensor, wrap
from ..view import rebase_history

_HOOKS = "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use case."


class _Passed(NamedTuple):
    """A tensor of the caller's, and what the function got for it."""

    outer: Tensor
    inner: Tensor
    bare: bool = False
    """Whether it is an argument without a history, which may get one: what is written to it may depend on what is outside."""


class Level:
    """A context in which a function runs whose inputs are made by :meth:`input`."""

    def __init__(self) -> None:
        self._outer = mode.grad
        """Whether the caller records: what he switched off stays so in the results, but not inside."""
        self._passed: list[_Passed] = []
        self._ordinary = ordinary()
        self._recording = enable_grad()
        self._hooks = disable_saved_tensors_hooks(_HOOKS)
        self.inside = Inside(recording=self._outer)

    def __enter__(self) -> Level:
        self._hooks.__enter__()
        self._ordinary.__enter__()
        self._recording.__enter__()
        self.inside.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.end()
        for outer, inner, bare in self._passed if self._outer else ():
            if bare and inner._fn is not None and alive(edge(inner), self.inside):
                _write(outer, inner)
        self.inside.__exit__(kind, error, tb)
        self._recording.__exit__(kind, error, tb)
        self._ordinary.__exit__(kind, error, tb)
        self._hooks.__exit__(kind, error, tb)

    def input(self, x: Any) -> Tensor:
        """The alias of ``x`` for which this level computes derivatives."""
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}{hint(x)}")
        recorded = self._outer and x.requires_grad and not x.is_inference()
        inner = _alias(x) if recorded else _bare(counted(x), tangents_of(x))._set_requires_grad(True)
        if inner._fn is not None and inner._fn.next_nodes() == (None,):
            ORPHANS.add(inner._fn)
        self.inside.add_input(inner, x)
        if x.is_inference():
            self.inside.count(inner)
        self._passed.append(_Passed(x, inner))
        return inner

    def rest(self, tree: Any) -> Any:
        """The other arguments as the function gets them: it may write to them, as to nothing else that was there before."""
        return mapped(self._argument, tree)

    def _argument(self, x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        bare = not (self._outer and x.requires_grad) or x.is_inference()
        if bare:
            inner = _bare(x, tangents_of(x))
        elif x.is_leaf or (self.inside.outer is not None and self.inside.outer.is_input(x)):
            inner = _alias(x)
            self.inside.add_leaf(inner)
        else:
            inner = ops.alias(x)  # a view: what is written to it is part of the history of ``x``
        self.inside.add_argument(inner, x)
        self._passed.append(_Passed(x, inner, bare))
        return inner

    def end(self) -> None:
        """From now on nobody can ask for derivatives with respect to the inputs: they count as constants."""
        for _, inner, _ in self._passed:
            if inner._fn is None:
                inner._rg = False

    def result(self, tree: Any, recorded: bool = True) -> Any:
        """What the caller gets for tensors made at this level; without any history unless ``recorded``."""
        return mapped(lambda t: self._result(t, recorded and self._outer), tree)

    def _result(self, t: Any, recorded: bool) -> Tensor:
        if not isinstance(t, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(t)}{hint(t)}")
        for outer, inner, _ in self._passed:
            if t is inner:
                return outer
        return pruned(t, recorded, self.inside)


def _write(outer: Tensor, inner: Tensor) -> None:
    """What was written to ``inner``, an argument on the memory of ``outer``, is part of the history of that."""
    if not outer._is_view():
        outer._fn, outer._nr, outer._rg = inner._fn, inner._nr, True
        return
    node = ops.copy(outer, inner)._fn
    assert node is not None
    rebase_history(outer, node, "copy_", *caller())


def _alias(x: Tensor) -> Tensor:
    """``x`` at a level: what is computed from it has a history that goes on with that of ``x``, and views of it end there."""
    inner: Tensor = ops.alias(x)
    assert inner._meta is not None
    inner._meta.view = None
    return inner


def pruned(t: Tensor, recorded: bool, inside: Inside) -> Tensor:
    """``t`` and its tangents without a history that ends in nothing alive, or without any unless ``recorded``."""
    lives = not t.requires_grad or (recorded and alive(edge(t), inside))
    tangents = tangents_of(t)
    kept = {level: pruned(tangent, recorded, inside) for level, tangent in tangents.items()}
    if lives and (t.requires_grad or all(kept[level] is tangents[level] for level in kept)):
        return t
    return _bare(t, kept)


def counted(t: Tensor) -> Tensor:
    """``t``; for an inference tensor an ordinary one on its memory."""
    if not t.is_inference():
        return t
    ordinary = wrap(t._a)
    ordinary._storage = Storage()
    return ordinary


def _bare(t: Tensor, tangents: dict[int, Tensor]) -> Tensor:
    """The memory of ``t`` without history, with ``tangents``."""
    bare = wrap(t._a)
    bare._storage = t._shared_storage()
    for level, tangent in tangents.items():
        forward_grad(bare).set(level, tangent)
    return bare
