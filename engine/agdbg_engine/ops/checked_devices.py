"""Ops whose tensors PyTorch compares one by one before its kernel runs, and what it says of the first that is elsewhere.

Other kernels find in their loop over elements that devices differ: there a number of the CPU may stand beside tensors of a device.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..backends import on_host

KERNELS: dict[str, str] = {
    # products
    "mm": "mm self mat2", "mv": "addmv_ self=vec mat=self vec", "bmm": "bmm self mat2",
    "addmm": "addmm self mat1 mat2", "addmm_raw": "addmm self mat1 mat2",
    "addmv_raw": "addmv self mat vec", "baddbmm_raw": "baddbmm self batch1 batch2", "addbmm_raw": "_addbmm self batch1 batch2",
    "addr_raw": "_addr self vec1 vec2", "dot": "_dot self tensor", "vdot_raw": "_vdot self other",
    "cross_raw": "linalg_cross self other",
    # linear algebra
    "solve_triangular_raw": "_linalg_solve_triangular self B", "triangular_solve_raw": "triangular_solve self A",
    "lu_solve_raw": "linalg_lu_solve LU pivots B", "lu_unpack": "lu_unpack LU_data LU_pivots",
    "householder_product_raw": "_linalg_householder_product input tau", "ormqr_raw": "_ormqr self input2 input3",
    # pieces, and places in a tensor
    "cat": "cat tensors", "stack": "cat tensors", "index_select": "_index_select self index",
    "embedding_raw": "_index_select self=weight index=indices",
    "gather": "gather self index", "take": "_take self index", "put": "_put_ self index source",
    "masked_select": "_masked_select self mask", "masked_scatter": "_masked_scatter_ self mask source",
    "index_add": "index_add self index source", "index_copy": "index_copy self index source",
    "index_reduce": "index_reduce self index source", "scatter": "scatter_src self index src",
    "scatter_value": "scatter_value self index", "scatter_add": "scatter_add self index src",
    "scatter_reduce": "scatter_reduce_two self index src", "bincount": "_bincount self weights",
    "max_unpool2d_raw": "_max_unpool2d self indices", "max_unpool3d_raw": "_max_unpool3d self indices",
    "fractional_max_pool2d_raw": "fractional_max_pool2d self random_samples",
    "fractional_max_pool3d_raw": "fractional_max_pool3d self random_samples",
    "embedding_bag": "__embedding_bag weight indices=input offsets per_sample_weights",
    "embedding_bag_forward_only": "__embedding_bag_forward_only weight indices=input offsets per_sample_weights",
    "searchsorted": "Tensor_searchsorted sorted_sequence self=input", "bucketize": "Tensor_bucketize self=input boundaries",
    "isin": "isin_Tensor_Tensor elements test_elements", "equal": "_equal self=input other",
    "normal": "Tensor_Tensor_normal mean std",
    # elements
    "clamp_both": "clamp_Tensor self min max", "clamp_min_tensor": "clamp_min_Tensor self min",
    "clamp_max_tensor": "clamp_max_Tensor self max", "logaddexp": "logaddexp self other", "logaddexp2": "logaddexp2 self other",
    "gcd": "gcd self other", "lcm": "lcm self other", "igamma": "igamma self other", "igammac": "igammac self other",
    "nextafter": "nextafter self other", "complex_raw": "out_complex_out real imag", "polar_raw": "out_polar_out abs angle",
    "prelu_kernel": "__prelu_kernel self weight",
    "rrelu_with_noise": "_rrelu_with_noise self noise",
    # losses and normalisations
    "nll_loss_raw": "nll_loss_forward self target weight", "nll_loss_forward": "nll_loss_forward self target weight",
    "nll_loss2d_forward": "_nll_loss2d_forward self target weight",
    "_check_classes": "nll_loss_forward self=x target weight",
    "_check_classes of pictures": "_nll_loss2d_forward self=x target weight",
    "huber_loss": "_huber_loss self target",
    "multi_margin_loss": "_multi_margin_loss self target weight",
    "multilabel_margin_loss": "_multilabel_margin_loss_forward self target",
    "native_layer_norm": "_native_layer_norm input weight bias", "native_group_norm": "_native_group_norm input weight bias",
    "native_batch_norm": "_native_batch_norm input weight bias running_mean running_var",
    "cudnn_batch_norm": "_cudnn_batch_norm input weight bias running_mean running_var",
    "fused_rms_norm": "__fused_rms_norm input weight", "convolution": "_cudnn_convolution input weight",
}  # fmt: skip
"""By op, or function made of ops, the name of PyTorch's kernel and its tensors in the order in which it looks at them.

``theirs=ours`` where an argument has another name here.
"""


def _of_scatter(given: Mapping[str, Any]) -> str:
    return "scatter" if hasattr(given.get("src"), "_a") else "scatter_value"


def _of_embedding_bag(given: Mapping[str, Any]) -> str:
    return "embedding_bag" if given["weight"].requires_grad else "embedding_bag_forward_only"


def _of_batch_norm(given: Mapping[str, Any]) -> str:
    with_all = given["input"].ndim > 2 and {"weight", "bias"} <= given.keys()
    return "cudnn_batch_norm" if with_all else "native_batch_norm"


def _of_classes(given: Mapping[str, Any]) -> str:
    return "_check_classes of pictures" if given["x"].ndim > 2 else "_check_classes"


_CHOICES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "scatter": _of_scatter,
    "embedding_bag": _of_embedding_bag,
    "native_batch_norm": _of_batch_norm,
    "_check_classes": _of_classes,
}
"""Ops for which PyTorch has several kernels: the row of the table by the tensors that are given."""


def is_checked(op: str) -> bool:
    """Whether PyTorch compares the devices of the tensors of ``op`` before its kernel runs, those of numbers too."""
    return op in KERNELS


def differing(op: str, given: Mapping[str, Any]) -> Exception | None:
    """PyTorch's words about the first of the tensors ``given`` to ``op``, some of them in lists, that is elsewhere than others.

    ``None`` where no tensor that is looked at is.
    """
    kernel, *names = KERNELS[_CHOICES[op](given) if op in _CHOICES else op].split()
    places = []
    for theirs, _, ours in (name.partition("=") for name in names):
        x = given.get(ours or theirs)
        tensors: list[Any] = list(x) if isinstance(x, list | tuple) else [x]
        places += [(theirs, t.device) for t in tensors if hasattr(t, "_a")]
    return first_apart(kernel, places)


def first_apart(kernel: str, places: Collection[tuple[str, Any]]) -> Exception | None:
    """What PyTorch says where ``kernel`` finds one of its tensors elsewhere than those before: by name and device, in order."""
    common = next(iter(places))[1] if places else None
    name, place = next(((n, p) for n, p in places if p != common), ("", common))
    if place == common:
        return None
    kind = next(p.type for _, p in places if p.type != "cpu").upper()
    return RuntimeError(
        f"Expected all tensors to be on the same device, but got {name} is on {place}, different from other "
        f"tensors on {common} (when checking argument in method wrapper_{kind}_{kernel})"
    )


def in_place(error: Exception, method: str) -> Exception | None:
    """``error`` of an op as its in-place form ``method`` has it, whose kernel goes by another name; ``None`` where it has it so."""
    found = _KERNEL.search(str(error))
    op = method.removesuffix("_")
    if found is None or op not in found[1] or found[1].endswith("_"):
        return None
    return RuntimeError(f"{str(error)[: found.start(1)]}{found[1].replace(op, method, 1)})")


_KERNEL = re.compile(r"\(when checking argument in method wrapper_[A-Z]+_(\w+)\)$")


def of_product(given: Mapping[str, Any]) -> Exception | None:
    """The same of the operator ``@`` or ``matmul``, which calls a kernel by the dimensions of its operands."""
    a, b = given["self"], given["mat2"]
    first, second = a.device, b.device
    if b.ndim == 1:
        if a.ndim == 1:
            return first_apart("_dot", [("self", first), ("tensor", second)])
        return first_apart(
            "addmv_", [("self", second), ("mat", first), ("vec", second)]
        )  # its result lies beside the vector
    if a.ndim <= 2 < b.ndim and a.requires_grad:
        return first_apart("mm", [("self", second), ("mat2", first)])  # of both transposed
    folded = b.ndim == 2 and (a.ndim <= 2 or b.requires_grad or not on_host(a._a) or a._a.flags.c_contiguous)
    return first_apart("mm" if folded else "bmm", [("self", first), ("mat2", second)])
