"""Moves: the part of a module that changes all its tensors, to another dtype or by a function of the user."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..creation import empty_like
from ..device import device as Device
from ..dtype import is_differentiable
from ..grad_mode import no_grad
from ..memory_format import memory_format as MemoryFormat
from ..missing import refusing
from ..signatures import Guard
from ..tensor import Parameter, Tensor

if TYPE_CHECKING:
    from .module import Module

Change = Callable[[Any], Any]


class Movable:
    """What :class:`~agdbg_engine.nn.Module` offers to change all tensors at once."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    children: Callable[[], Iterator[Module]]

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Call ``fn`` on every module below this one, then on this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Change, recurse: bool = True) -> Self:
        """Put ``fn(t)`` into the place of every tensor: parameters and their gradients stay the same objects."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is not None:
                with no_grad():
                    parameter.data = fn(parameter)
                    grad = parameter._gradient
                    if grad is not None:
                        grad.data = fn(grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def float(self) -> Self:
        """Floating parameters and buffers as float32."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Self:
        """Floating parameters and buffers as float64."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Self:
        """Floating parameters and buffers as float16."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    bfloat16 = refusing("bfloat16")

    def type(self, dst_type: Any) -> Self:
        """All parameters and buffers as ``dst_type``."""
        return self._apply(lambda t: t.to(np.dtype(dst_type)))

    def cpu(self) -> Self:
        """All parameters and buffers on the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Self:
        """All parameters and buffers on a GPU: the current one unless told."""
        return self._apply(lambda t: t.cuda(device))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Parameters and buffers on ``device``, with any content."""
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def share_memory(self) -> Self:
        """Nothing to do: threads share the memory anyway, and other processes are not supported."""
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Floating and complex parameters and buffers as another dtype: ``to(dtype)``, ``to(device, dtype)``, ``to(tensor)``.

        Raises :class:`TypeError` for dtypes that are neither.
        """
        device, dtype, layout, non_blocking = _target(args, kwargs)
        if dtype is not None and not is_differentiable(dtype):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=torch.{dtype.name}"
            )
        if dtype is not None and dtype.kind == "c":
            warnings.warn(
                "Complex modules are a new feature under active development whose design may change, and some modules might not "
                "work as expected when using complex tensors as parameters or buffers.",
                UserWarning,
                stacklevel=2,
            )

        def converted(t: Any) -> Any:
            wanted = dtype if is_differentiable(t.dtype) else None
            if layout is not None and t.ndim in (4, 5):
                return t.to(dtype=wanted, device=device, non_blocking=non_blocking, memory_format=layout)
            return t.to(dtype=wanted, device=device, non_blocking=non_blocking)

        return self._apply(converted)


_ARGUMENTS = Guard("Tensor.to")


def _target(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any, bool]:
    """Device, dtype and memory format that the arguments of ``to`` ask for, and whether nobody is to wait for the copies."""
    device, dtype, tensor = (kwargs.get(name) for name in ("device", "dtype", "tensor"))
    _ARGUMENTS.examine(args, kwargs)
    if tensor is not None:
        args = (tensor, *args)
    if "copy" in kwargs or len(args) == (3 if args and isinstance(args[0], Tensor | np.dtype | type) else 4):
        raise RuntimeError(".to() does not accept copy argument")
    for given in args:
        if isinstance(given, Tensor):
            device, dtype = given.device, given.dtype
        elif isinstance(given, Device | str | int) and not isinstance(given, bool):
            device = Device(given)
        elif isinstance(given, np.dtype | type):
            dtype = given
    layout = kwargs.get("memory_format")
    assert layout is None or isinstance(layout, MemoryFormat)
    non_blocking = bool(kwargs.get("non_blocking", next((a for a in args if isinstance(a, bool)), False)))
    return device, None if dtype is None else np.dtype(dtype), layout, non_blocking
