"""Where a tensor's gradient is kept: what may be assigned to ``grad``, and the dtype that a leaf wants its gradient in."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import events
from .current import current
from .device import same_place
from .dtype import cpp_type, scalar_type
from .errors import class_name
from .hooks import node_hooks
from .meta import SAME, AutogradMeta
from .sites import caller

if TYPE_CHECKING:
    from .node import Node
    from .tensor import Tensor


_NO_GRAD_OF_NON_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during "
    "autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
    "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead."
)


class GradSlot:
    """The part of :class:`~agdbg_engine.tensor.Tensor` about ``grad``."""

    __slots__ = ()
    _a: Any
    _fn: Node | None
    _gradient: Tensor | None
    _meta: AutogradMeta | None
    _rg: Any

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient of a leaf (or of a tensor that retains it)."""
        if self._gradient is not None:
            return self._gradient
        if self._fn is None:
            if events.sink is not None and current.bp is not None and self._rg is True:
                events.sink.grad_missed(self, *caller())  # type: ignore[arg-type]  # a Tensor
        elif self._meta is None or not self._meta.retains_grad:
            if events.sink is not None:
                events.sink.grad_missed(self, *caller())  # type: ignore[arg-type]  # a Tensor
            warnings.warn(_NO_GRAD_OF_NON_LEAF, UserWarning, stacklevel=2)
        return self._gradient

    @grad.setter
    def grad(self: Any, value: Tensor | None) -> None:
        if value is not None:
            _check(self, value)
        self._gradient = value

    @grad.deleter
    def grad(self: Any) -> None:
        self._gradient = None

    @property
    def _grad(self) -> Tensor | None:
        """As ``grad``, without the warning of non-leaves."""
        return self._gradient

    @_grad.setter
    def _grad(self: Any, value: Tensor | None) -> None:
        self.grad = value

    @_grad.deleter
    def _grad(self: Any) -> None:
        self._gradient = None

    @property
    def grad_dtype(self) -> np.dtype[Any] | None:
        """The dtype that gradients of this leaf are cast to (its own unless set); ``None``: that in which they come."""
        self._check_leaf("accessed")
        return wanted_dtype(self)

    @grad_dtype.setter
    def grad_dtype(self: Any, value: Any) -> None:
        if value is not None and not isinstance(value, np.dtype):
            raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {class_name(value)}")
        grad = self._gradient
        if self._fn is not None and (self._meta is None or not self._meta.retains_grad):
            warnings.warn(
                _NO_GRAD_OF_NON_LEAF, UserWarning, stacklevel=2
            )  # PyTorch reads ``grad`` before it looks for a leaf
        self._check_leaf("set")
        if value is not None and grad is not None and grad._a.dtype != value:
            raise RuntimeError(
                f"Cannot set grad_dtype to '{scalar_type(value)}' because there is already a gradient with dtype "
                f"'{cpp_type(grad._a.dtype)}'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the "
                "new grad_dtype matches the existing gradient's dtype."
            )
        if self._meta is None:
            self._meta = AutogradMeta()
        self._meta.grad_dtype = value
        node = self._meta.accumulator() if self._meta.accumulator is not None else None
        if node is not None:
            node_hooks(node)  # so that it is run in the general way, which casts

    def _check_leaf(self, what: str) -> None:
        if self.grad_fn is not None:  # type: ignore[attr-defined]  # of Tensor
            raise RuntimeError(f"grad_dtype can only be {what} on leaf tensors.")


def wanted_dtype(t: Any) -> np.dtype[Any] | None:
    """The dtype for gradients of ``t``; ``None`` for any."""
    meta = t._meta
    wanted = SAME if meta is None else meta.grad_dtype
    return t._a.dtype if wanted is SAME else wanted


def as_wanted(t: Any, g: Any) -> Any:
    """Gradient ``g`` of leaf ``t``, a buffer or a tensor, in the dtype that ``grad_dtype`` says, if it says one."""
    meta = t._meta
    wanted = None if meta is None or meta.grad_dtype is SAME else meta.grad_dtype
    if wanted is None or g.dtype == wanted:
        return g
    return g.to(wanted) if hasattr(g, "_a") else g.astype(wanted)


def _check(t: Any, value: Any) -> None:
    """Raise PyTorch's errors for what cannot be the gradient of ``t``."""
    if not isinstance(value, GradSlot):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {class_name(value)}")
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    _check_dtype(t, value._a.dtype)
    if value.device.type != t.device.type:  # type: ignore[attr-defined]  # of Tensor
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{value.device.type}' to a tensor with device type "  # type: ignore[attr-defined]  # as above
            f"'{t.device.type}'. Please ensure that the gradient and the tensor are on the same device"
        )
    if not same_place(value._a, t._a):
        raise RuntimeError("assigned grad has data located on a different device")
    if value._a.shape != t._a.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value._a.shape)}' to a tensor of size '{list(t._a.shape)}'. "
            "Please ensure that the gradient and the tensor are the same size"
        )


def _check_dtype(t: Any, dtype: np.dtype[Any]) -> None:
    wanted = t._a.dtype if t._fn is not None else wanted_dtype(t)
    if wanted is not None and dtype != wanted:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{cpp_type(dtype)}' to a tensor with grad_dtype "
            f"'{scalar_type(wanted)}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's "
            "dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. "
            "Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream "
            "systems that assume they match."
        )
