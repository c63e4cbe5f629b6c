"""Gradients made smaller where they are too large: by their norm, or element by element."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterable
from typing import Any

from ... import linalg, ops
from ...creation import tensor
from ...foreign import refuse
from ...grad_mode import no_grad
from ...tensor import Tensor


def _listed(tensors: Any, name: str) -> list[Any]:
    """The tensors that the function ``name`` was given; :class:`TypeError` for PyTorch's, which have gradients of their own."""
    refuse(tensors, name, "parameters")
    listed = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    for t in listed:
        if not isinstance(t, Tensor):
            refuse(t, name, "parameters")
    return listed


@no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """The norm of all elements together; :class:`RuntimeError` if it is not finite and ``error_if_nonfinite``."""
    listed = _listed(tensors, "get_total_norm")
    norm_type = float(norm_type)
    if not listed:
        return tensor(0.0)
    norm: Any = linalg.vector_norm
    total = norm(ops.FUNCTIONS["stack"]([norm(t, norm_type).to(listed[0].device) for t in listed]), norm_type)
    if error_if_nonfinite and not abs(total.item()) < float("inf"):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients of norm ``total_norm`` so that it is at most ``max_norm``."""
    grads = [p.grad for p in _listed(parameters, "clip_grads_with_norm_") if p.grad is not None]
    if grads:
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for g in grads:
            g.mul_(factor.to(g.device))


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Scale the gradients in place so that the norm of all together is at most ``max_norm``; gives what it was."""
    max_norm = float(max_norm)
    listed = _listed(parameters, "clip_grad_norm_")
    if isinstance(parameters, types.GeneratorType) and not listed:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", UserWarning, stacklevel=3)
    grads = [p.grad for p in listed if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total)
    return total


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Bring every element of the gradients into [-``clip_value``, ``clip_value``], in place."""
    bound = float(clip_value)
    for p in _listed(parameters, "clip_grad_value_"):
        if p.grad is not None:
            p.grad.clamp_(min=-bound, max=bound)


def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """Deprecated name of :func:`clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*args, **kwargs)
