"""Copies of tensors by Python's ``copy`` and ``pickle``: plain data in, plain data out, no graph."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from .backends import on_host
from .device import address, array_module, owner
from .several import at_home, copied
from .storage import InferenceStorage

if TYPE_CHECKING:
    from .tensor import Tensor


class Copying:
    """The part of :class:`~agdbg_engine.tensor.Tensor` that ``copy`` and ``pickle`` call."""

    __slots__ = ()
    _is_parameter = False

    def __copy__(self: Any) -> Tensor:
        """Another leaf on the same memory, with a version counter of its own."""
        _, arguments = self.__reduce_ex__(4)  # which warns of hooks
        return _made(*arguments) if self._is_parameter else rebuild(*arguments)

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
        memo[id(self)] = made = rebuild(type(self), _copied(self._a, memo), self.requires_grad, {})
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


def rebuild(cls: type[Tensor], array: Any, requires_grad: bool, attributes: dict[str, Any]) -> Tensor:
    """A leaf of type ``cls`` on ``array`` itself: what a pickled tensor is made from. Its memory was put in: version 1."""
    made = _made(cls, array, requires_grad, attributes)
    storage = made._shared_storage()
    if not isinstance(storage, InferenceStorage):
        storage.version = 1
    return made


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
