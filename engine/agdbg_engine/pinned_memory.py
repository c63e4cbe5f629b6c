"""``pin_memory=True`` of the functions that make tensors: memory that a GPU can read by itself."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .arguments import check_options
from .backends import on_host
from .device import may_pin, pinning

if TYPE_CHECKING:
    from .tensor import Tensor

    Make = Callable[..., Tensor]


def pinnable(make: Make) -> Make:
    """``make``, which makes a new tensor, with a keyword ``pin_memory``."""

    @functools.wraps(make)
    def call(*args: Any, pin_memory: bool | None = False, **kwargs: Any) -> Tensor:
        if takes_sizes and "size" in kwargs:
            args = (*args, kwargs.pop("size"))
        made = make(*args, **kwargs)
        return made if pin_memory is None or pin_memory is False else pinned(make.__name__, made, pin_memory)

    given = inspect.signature(make)
    takes_sizes = any(p.kind is p.VAR_POSITIONAL for p in given.parameters.values())
    last = [p for p in given.parameters.values() if p.kind is p.VAR_KEYWORD]
    mine = inspect.Parameter("pin_memory", inspect.Parameter.KEYWORD_ONLY, default=False, annotation="bool | None")
    others = [p for p in given.parameters.values() if p not in last]
    call.__signature__ = given.replace(parameters=[*others, mine, *last])  # type: ignore[attr-defined]  # of inspect
    return call


def pinned(op: str, made: Tensor, pin_memory: Any) -> Tensor:
    """The new tensor that ``op`` made, in pinned memory if ``pin_memory`` is true.

    :class:`RuntimeError` where it is on a device, and without a GPU, in PyTorch's words.
    """
    check_options(op, {"pin_memory": pin_memory})
    if not pin_memory:
        return made
    if not on_host(made._a):
        raise RuntimeError("Only dense CPU tensors can be pinned")
    if not may_pin():
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; "
            "no pinned memory allocator is available on this system."
        )
    from .tensor import wrap

    there = wrap(pinning().pinned(made._a))
    return there._set_requires_grad(True) if made.requires_grad else there
