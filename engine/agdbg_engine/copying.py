"""Copies of tensors by Python's ``copy`` and ``pickle``: plain data in, plain data out, no graph."""

from __future__ import annotations

import copyreg
import warnings
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from .backends import on_host
from .device import address, array_module, owner
from .several import at_home, copied
from .storage import InferenceStorage
from .subclass import SLOTS

if TYPE_CHECKING:
    from .tensor import Tensor


class Copying:
    """The part of :class:`~agdbg_engine.tensor.Tensor` that ``copy`` and ``pickle`` call."""

    __slots__ = ()
    _is_parameter = False

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Tensor:
        """A leaf on memory of its own; tensors copied together share memory as their originals do.

        Gradient and attributes are copied too (not those of a Parameter, as in PyTorch); hooks are not.
        """
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you "
                "were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001"
            )
        if id(self) in memo:
            return memo[id(self)]
        if self._is_parameter:
            memo[id(self)] = made = _made(type(self), copied(self._a), self.requires_grad, {})
            return made
        memo[id(self)] = made = _twin_of(self, _copied(self._a, memo))
        if self.requires_grad:
            made.requires_grad_()
        if self._gradient is not None:
            made.grad = deepcopy(self._gradient, memo)  # refused where only the original's grad_dtype allows it
        for name, value in _attributes(self).items():
            setattr(made, name, deepcopy(value, memo))
        return made

    def __reduce_ex__(self: Any, protocol: Any) -> tuple[Any, ...]:
        """Only the buffer, ``requires_grad`` and attributes: no history, no gradient, no hooks (a warning says so)."""
        for hook in () if self._is_parameter else (self._backward_hooks or {}).values():
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the function "
                "with @torch.utils.hooks.unserializable_hook to suppress this warning",
                UserWarning,
                stacklevel=2,
            )
        return rebuild, (type(self), self._a, self.requires_grad, _attributes(self))


class CopyingParameter:
    """What is other about the copies of a parameter."""

    __slots__ = ()

    def __copy__(self: Any) -> Any:
        """Another leaf on the same memory, which nobody has written yet as far as its counter knows."""
        function, arguments = self.__reduce_ex__(4)[:2]
        return (_made if function is rebuild else function)(*arguments)


def _twin_of(t: Any, array: Any) -> Any:
    """A tensor of the class of ``t`` on ``array``, of which another class than Tensor makes the object."""
    from .tensor import Tensor, set_up

    cls = type(t)
    if cls is Tensor:
        return rebuild(cls, array, False, {})
    made, how = (t.new_empty(()), "new_empty") if array.size else (t.clone(), "clone")
    if type(made) is not cls:
        raise RuntimeError(_OTHER_CLASS[how])
    set_up(made, array)
    _count_filling(made)
    for name in copyreg._slotnames(cls):  # type: ignore[attr-defined]  # as `copy` and `pickle` find them
        if name not in SLOTS and hasattr(t, name):
            setattr(made, name, getattr(t, name))
    return made


_OTHER_CLASS = {
    "new_empty": "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types that "
    "implement new_empty() and for which that function returns another instance of the same subclass. You should either properly "
    "implement new_empty() for your subclass or override __deepcopy__() if it is intended behavior for new_empty() to return an "
    "instance of a different type.",
    "clone": "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that implement "
    "clone() and for which cloning returns another instance of the same subclass. You should either properly implement clone() "
    "for your subclass or override __deepcopy__() if it is intended behavior for clone() to return an instance of a different "
    "type.",
}
"""By the method that did not give one what PyTorch says."""


def rebuild(cls: type[Tensor], array: Any, requires_grad: bool, attributes: dict[str, Any]) -> Tensor:
    """A leaf of type ``cls`` on ``array`` itself: what a pickled tensor is made from. Its memory was put in: version 1."""
    made = _made(cls, array, requires_grad, attributes)
    _count_filling(made)
    return made


def _count_filling(t: Tensor) -> None:
    storage = t._shared_storage()
    if not isinstance(storage, InferenceStorage):
        storage.version = 1


def _made(cls: type[Tensor], array: Any, requires_grad: bool, attributes: dict[str, Any]) -> Tensor:
    from .tensor import set_up

    made = object.__new__(cls)
    set_up(made, array)
    for name, value in attributes.items():
        setattr(made, name, value)
    return made.requires_grad_() if requires_grad else made


def _attributes(t: Any) -> dict[str, Any]:
    """What the user has put on the tensor."""
    return dict(getattr(t, "__dict__", {}))


def _copied(array: Any, memo: dict[int, Any]) -> Any:
    """A copy of ``array``, at its place in a copy of the memory that it is a part of, which is copied only once."""
    memory = owner(array)
    flags = memory.flags
    place = address(array) - address(memory)
    if not (flags.c_contiguous or flags.f_contiguous) or not flags.owndata or place % array.itemsize:
        return copied(array)
    if on_host(memory):
        return np.ndarray(array.shape, array.dtype, deepcopy(memory, memo).ravel("K"), place, array.strides)
    if id(memory) not in memo:  # not by `deepcopy`, which would take it to the host and back
        memo[id(memory)] = _flat_copy(memory)
        memo.setdefault(id(memo), []).append(memory)  # nothing else may get its id meanwhile
    return _part(memo[id(memory)], array, place)


@at_home
def _flat_copy(memory: Any) -> Any:
    """The elements of ``memory``, which are side by side, in the order in which they lie."""
    return (memory if memory.flags.c_contiguous else memory.T).reshape(-1).copy()


@at_home
def _part(flat: Any, like: Any, place: int) -> Any:
    """What lies in ``flat`` from byte ``place`` on, in the shape, dtype and strides of ``like``."""
    first = flat.view(like.dtype)[place // like.itemsize :]
    return array_module(flat).lib.stride_tricks.as_strided(first, like.shape, like.strides)
