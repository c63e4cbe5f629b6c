"""The hooks of a tensor: on its gradient, on a leaf after accumulation, and keeping the gradient of a non-leaf."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import events, inside
from ..hooks import Hook, Hooks, RemovableHandle, follow_leaf, node_hooks
from ..meta import AutogradMeta
from ..sites import caller

if TYPE_CHECKING:
    from ..node import Node
    from ..tensor import Tensor


class TensorHooks:
    """The part of :class:`~agdbg_engine.tensor.Tensor` about hooks."""

    __slots__ = ()
    _meta: AutogradMeta | None
    _nr: int

    @property
    def _backward_hooks(self) -> Hooks | None:
        """The hooks on this tensor by number; ``None`` before the first, and again after an in-place op.

        Assigned to a leaf they replace its hooks. To other tensors nothing can be assigned that would fire: as in PyTorch the
        node goes on with the hooks it has.
        """
        return None if self._meta is None else self._meta.backward_hooks

    @_backward_hooks.setter
    def _backward_hooks(self: Any, hooks: Hooks | None) -> None:
        _meta(self).backward_hooks = hooks
        _tell_accumulator(self)

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    @property
    def _post_accumulate_grad_hooks(self) -> Hooks | None:
        """The hooks that fire after accumulation, by number; ``None`` before the first."""
        return None if self._meta is None else self._meta.post_accumulate

    @_post_accumulate_grad_hooks.setter
    def _post_accumulate_grad_hooks(self: Any, hooks: Hooks | None) -> None:
        _meta(self).post_accumulate = hooks
        _tell_accumulator(self)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(grad)`` when the gradient of this tensor is complete; a tensor it returns replaces it.

        Raises :class:`RuntimeError` when this tensor does not require grad.
        """
        return register(self, hook, "tensor")

    def register_post_accumulate_grad_hook(self: Any, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(leaf)`` whenever a gradient has been added to the ``grad`` of this leaf.

        It may use up ``grad`` and set it to ``None``. Raises :class:`RuntimeError` for a tensor that does not require grad or is
        no leaf.
        """
        _check_requires_grad(self)
        if self.grad_fn is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if self._post_accumulate_grad_hooks is None:
            self._post_accumulate_grad_hooks = OrderedDict()
        node = live_accumulator(self)
        return RemovableHandle(self._post_accumulate_grad_hooks, hook, node, "post-accumulate", tensor=self)

    @property
    def retains_grad(self) -> bool:
        """Whether :meth:`retain_grad` was called on this non-leaf."""
        return self._meta is not None and self._meta.retains_grad

    def retain_grad(self: Any) -> None:
        """Keep the gradient of this non-leaf in ``grad`` too, as its hooks have left it; nothing to do for a leaf."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        inside.refuse("retain_grad()")
        if self.retains_grad:  # first, since a view that may not be remade is refused by grad_fn
            return
        if self._fn is None:  # as it stands: PyTorch does not make the node of a stale view anew for this
            return
        node = self.grad_fn
        if node is not None:
            _meta(self).retains_grad = True
            node_hooks(node).retain[self._nr] = weakref.ref(self)
            if events.sink is not None:
                events.sink.hook("registered", "retain-grad", node, *caller(), events.HookFacts(tensor=self))


def register(t: Any, hook: Hook, kind: str) -> RemovableHandle:
    """A hook on the gradient of ``t``, told of as one of ``kind``."""
    _check_requires_grad(t)
    if t._backward_hooks is None:
        node = t.grad_fn
        t._backward_hooks = OrderedDict()
        if node is not None:
            node._register_hook_dict(t)
    return RemovableHandle(t._backward_hooks, hook, t._fn or live_accumulator(t), kind, tensor=t)


def _check_requires_grad(t: Any) -> None:
    if not t.requires_grad or inside.is_dual(t):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")


def _meta(t: Any) -> AutogradMeta:
    if t._meta is None:
        t._meta = AutogradMeta()
    return t._meta


def live_accumulator(t: Any) -> Node | None:
    """The AccumulateGrad of leaf ``t`` if a graph holds one: none is made only for being hooked."""
    accumulator = _meta(t).accumulator
    return None if accumulator is None else accumulator()


def _tell_accumulator(t: Any) -> None:
    node = live_accumulator(t)
    if node is not None:
        follow_leaf(node, t)
