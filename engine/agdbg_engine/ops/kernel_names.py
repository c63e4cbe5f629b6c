"""PyTorch's errors about dtypes that an op does not take: most name a kernel, ``"lu_cpu" not implemented for 'Int'``."""

from __future__ import annotations

from typing import Any

from ..dtype import cpp_type, scalar_type

KERNELS = {
    "gelu": "GeluKernelImpl", "gelu_tanh": "GeluKernelImpl", "celu": "elu_cpu", "celu_of_result": "elu_cpu",
    "bitwise_left_shift": "lshift_cpu", "bitwise_right_shift": "rshift_cpu", "softshrink": "softshrink_check",
    **{name: f"{name}_vml_cpu" for name in ("erf", "erfc", "erfinv", "i0", "lgamma")},
    **dict.fromkeys(("prelu_kernel", "prelu"), "prelu_cpu"), "rrelu_with_noise": "rrelu_with_noise_out_cpu",
    "leaky_relu_of_result": "leaky_relu_cpu", "rrelu_of_result": "rrelu_with_noise_out_cpu",
    "digamma": "digamma", "polygamma": "polygamma", "mvlgamma": "arange_cpu", "round_decimals": "round_cpu",
    # norms
    "native_group_norm": "GroupNormKernelImpl", "native_layer_norm": "LayerNormKernelImpl", "native_batch_norm": "batch_norm",
    # windows and images
    "im2col": "im2col_out_cpu", "col2im": "col2im_out_cpu",
    **{f"{kind}_pad{n}d": f"{kind}_pad{n}d" for kind in ("reflection", "replication") for n in (1, 2, 3)},
    "grid_sampler_2d": "grid_sampler_2d_cpu_kernel_impl", "grid_sampler_3d": "grid_sampler3d_cpu",
    # losses
    "binary_cross_entropy": "binary_cross_entropy", "binary_cross_entropy_with_logits": "log_sigmoid_cpu",
    "multi_margin_loss": "multi_margin_loss_cpu_kernel", "multilabel_margin_loss": "multilabel_margin_loss_forward_out_frame",
    "smooth_l1_loss": "smooth_l1_cpu", "huber_loss": "huber_cpu",
    **dict.fromkeys(("nll_loss_raw", "nll_loss_forward"), "nll_loss_out_frame"),
    "nll_loss2d_forward": "nll_loss2d_forward_out_frame",
    # distances
    "cdist_raw": "cdist", "euclidean_dist": "cdist", "pdist_raw": "pdist",
}  # fmt: skip
"""By op; of the others it is the name with ``_cpu``."""


def not_implemented(op: str, dtype: Any) -> NotImplementedError:
    """PyTorch's error of ``op``, which has no kernel for ``dtype``."""
    return no_kernel(KERNELS.get(op, f"{op}_cpu"), dtype)


def no_kernel(kernel: str, dtype: Any) -> NotImplementedError:
    """PyTorch's error of ``kernel``, which is not there for ``dtype``."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type(dtype)}'")


def takes(kinds: str, dtype: Any) -> bool:
    """Whether a row of these ``kinds`` is there for ``dtype``; ``w`` are the floating ones wider than half precision."""
    return dtype.kind in kinds or ("w" in kinds and dtype.kind == "f" and dtype.itemsize > 2)


def not_written(result: Any, into: Any, in_cpp: bool = False) -> RuntimeError:
    """PyTorch's error of a result of dtype ``result`` that is to be written into a tensor of dtype ``into``.

    Some say the latter by its name in C++.
    """
    shown = cpp_type(into) if in_cpp else scalar_type(into)
    return RuntimeError(f"result type {scalar_type(result)} can't be cast to the desired output type {shown}")


def type_name(dtype: Any) -> str:
    """What some of PyTorch's errors call a tensor of ``dtype``."""
    return f"CPU{scalar_type(dtype)}Type" if dtype.kind in "bc" else f"torch.{scalar_type(dtype)}Tensor"
