"""Ops that PyTorch has for real numbers only, with what it says about complex ones. NumPy would order those somehow."""

from __future__ import annotations

from typing import Any

from ..dtype import scalar_type
from ..errors import raise_if
from ..grad_mode import mode

_CLAMP = "clamp is not supported for complex types"
_TEXTS = {
    "maximum": "maximum not implemented for complex tensors.", "minimum": "minimum not implemented for complex tensors.",
    "fmax": "fmax not implemented for complex tensors.", "fmin": "fmin not implemented for complex tensors.",
    "sign": "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
    "relu": _CLAMP, "clamp": _CLAMP, "clamp_min": _CLAMP, "clamp_max": _CLAMP,
    "max_dim": "max(): does not support complex input", "min_dim": "min(): does not support complex input",
    "argmax": "argmax(): does not support complex input", "argmin": "argmin(): does not support complex input",
    **{name: f"{name} is not supported for complex inputs" for name in ("floor", "ceil", "trunc")},
    **{name: f"{name} is not supported for complex tensors." for name in ("deg2rad", "rad2deg")},
}  # fmt: skip
_KERNELS = {
    "round": "round_vml_cpu", "leaky_relu": "leaky_relu_cpu", "softplus": "softplus_cpu", "gelu_tanh": "GeluKernelImpl",
    "clamp_min_tensor": "maximum_cpu", "clamp_max_tensor": "minimum_cpu", "amax": "max_values_cpu", "amin": "min_values_cpu",
    "max_all": "max_all", "min_all": "min_all", "nll_loss_raw": "nll_loss_out_frame",
    "nll_loss_raw_backward": "nll_loss_backward_out_frame", "mse_loss_raw": "mse_cpu", "threshold_backward": "threshold_cpu",
    "leaky_relu_backward": "leaky_relu_backward_cpu",
    **{name: f"{name}_cpu" for name in ("lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor")},
}  # fmt: skip
_RUNTIME = {"maximum", "minimum", "fmax", "fmin", "max_dim", "min_dim", "argmax", "argmin", "deg2rad", "rad2deg"}
"""Where the error is a :class:`RuntimeError`; elsewhere it is the :class:`NotImplementedError` that is one too."""


def refuse_bools(op: str, *operands: Any) -> None:
    """Raise what PyTorch raises for ``op`` of a tensor of bools; of a product by its ``operands``."""
    if operands:
        return refuse_product(op, *operands[-2:])
    if op == "relu":
        raise RuntimeError("Boolean inputs not supported for relu")
    raise NotImplementedError(f"\"{_OF_BOOLS[op]}\" not implemented for 'Bool'")


def refuse_product(op: str, a: Any, b: Any) -> None:
    """Raise what PyTorch raises for the product ``op`` of ``a`` and ``b``, bools, unless nothing is multiplied.

    Small batches are multiplied by a loop of its own.
    """
    if op == "dot" or (a.size and b.size):
        kernel = _PRODUCTS.get(op, op)
        if a.ndim == 3 and op != "addbmm" and a.shape[1] * a.shape[2] * b.shape[2] >= _LARGE:
            kernel = _PRODUCTS["mm"]
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


_PRODUCTS = {
    **dict.fromkeys(("mm", "addmm", "addbmm"), "addmm_impl_cpu_"), **dict.fromkeys(("mv", "addmv"), "addmv_impl_cpu"),
}  # fmt: skip
"""The kernels of products that are not called as the op is."""
_LARGE = 400
"""Multiplications in a product of matrices from which PyTorch does not count it as small."""

_OF_BOOLS = {"abs": "abs_cpu", **{name: f"{name}_vml_cpu" for name in ("floor", "ceil", "round", "trunc")}}


def complex_refused(op: str, dtype: Any) -> Exception | None:
    """What PyTorch raises for ``op`` of a tensor of complex ``dtype``; ``None`` where it computes it."""
    if op in _TEXTS:
        return (RuntimeError if op in _RUNTIME else NotImplementedError)(_TEXTS[op])
    if op in _KERNELS:
        return NotImplementedError(f"\"{_KERNELS[op]}\" not implemented for '{scalar_type(dtype)}'")
    return None


def refuse_complex(op: str, dtype: Any, recorded: bool = False) -> None:
    """Raise what PyTorch raises for ``op`` of a tensor of complex ``dtype``, if it does, or if it does for ``recorded`` ones."""
    if recorded and op in ("silu", "nan_to_num"):
        raise _not_recorded(op)
    raise_if(complex_refused(op, dtype))


def refuse_recorded(op: str, *operands: Any, result: Any = None) -> None:
    """Raise PyTorch's error of ``op``, of which it records no complex result: that of ``operands``, or of dtype ``result``."""
    dtype = operands[0].dtype if result is None else result
    if dtype.kind == "c" and mode.grad and any(x.requires_grad for x in operands):
        raise _not_recorded(op)


def _not_recorded(op: str) -> Exception:
    return RuntimeError(f"{op} does not support automatic differentiation for outputs with complex dtype.")
