"""``interpolate``, ``upsample`` and their relatives as users call them."""

from __future__ import annotations

import warnings
from typing import Any

from ....tensor import Tensor
from ... import graph
from ...explain import shape_error
from ..convolution.windows import Ints
from ..declare import public
from ..pooling.adaptive import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from ..pooling.arguments import check_kind
from .upsample import scaled_size

_ROWS = {
    "nearest": {1: "nearest1d", 2: "nearest2d", 3: "nearest3d"},
    "nearest-exact": {1: "nearest_exact1d", 2: "nearest_exact2d", 3: "nearest_exact3d"},
    "linear": {1: "linear1d"}, "bilinear": {2: "bilinear2d"}, "trilinear": {3: "trilinear3d"}, "bicubic": {2: "bicubic2d"},
    "lanczos": {2: "lanczos2d"},
}  # fmt: skip
_DIMS = {"linear": 3, "bilinear": 4, "trilinear": 5}
_SMOOTH = ("bilinear", "bicubic", "lanczos")
_OF_BYTES = ("nearest", *_SMOOTH)
"""Rows that take images of bytes begin so."""


@public("nn.functional")
def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """(N, C, ...) resampled to ``size``, or by ``scale_factor``.

    ``mode`` is ``"nearest"``, ``"nearest-exact"``, ``"area"``, ``"linear"`` (3-d inputs), ``"bilinear"`` or ``"bicubic"`` (4-d),
    ``"trilinear"`` (5-d), or with ``antialias`` ``"lanczos"`` (4-d).
    """
    if align_corners is not None and mode in ("nearest", "area", "nearest-exact"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    to, scales = _sizes(input, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor or mode == "area":
        scales = (None,) * len(to)
    if antialias and not (mode in _SMOOTH and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    k = input.ndim - 2
    if mode == "area" and k in (1, 2, 3):
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[k - 1](input, to)
    if k not in _ROWS.get(mode, {}):
        raise _no_such_mode(input, mode)
    if mode == "lanczos":
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
    _check(input, to, _ROWS[mode][k])
    corners = () if mode.startswith("nearest") else (bool(align_corners),)
    row = f"upsample_{_ROWS[mode][k]}{'_aa' if antialias else ''}"
    made: Tensor = getattr(graph, row)(input, to, *corners, *scales)
    return made


def _sizes(x: Tensor, size: Any, scale_factor: Any) -> tuple[Ints, tuple[float | None, ...]]:
    """The size of the result, and the factors where they are given."""
    have = tuple(x.shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None:
        wanted = tuple(size) if isinstance(size, tuple | list) else (size,) * len(have)
        if len(wanted) != len(have):
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of "
                f"{list(have)} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and output "
                "size in (o1, o2, ...,oK) format."
            )
        if not all(hasattr(n, "__index__") for n in wanted):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size with types "
                f"{[type(n) for n in wanted]}"
            )
        return tuple(int(n) for n in wanted), (None,) * len(have)
    factors = tuple(scale_factor) if isinstance(scale_factor, tuple | list) else (scale_factor,) * len(have)
    if len(factors) != len(have):
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{list(have)} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format "
            "and scale_factor in (s1, s2, ...,sK) format."
        )
    return scaled_size(have, factors), tuple(float(f) for f in factors)


def _no_such_mode(x: Tensor, mode: str) -> Exception:
    if mode in _DIMS and x.ndim in (3, 4, 5):
        return NotImplementedError(f"Got {x.ndim}D input, but {mode} mode needs {_DIMS[mode]}D input")
    return NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {x.ndim}D) for the modes: nearest | linear | bilinear | "
        f"bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


_WEIGHED = {"linear": "linear", "cubic": "cubic"}
"""What PyTorch's kernels are called by a part of the name of the row."""


def _check(x: Tensor, to: Ints, row: str) -> None:
    names = ["D", "H", "W"][-len(to) :]
    if min(to) <= 0 or min(x.shape[2:]) <= 0:
        before = ", ".join(f"{n}: {v}" for n, v in zip(names, x.shape[2:], strict=True))
        after = ", ".join(f"{n}: {v}" for n, v in zip(names, to, strict=True))
        joined = " and" if len(to) == 1 else ""
        raise shape_error(
            f"Input and output sizes should be greater than 0, but got input ({before}){joined} output ({after})"
        )
    if x.shape[1] == 0:
        raise shape_error(f"Non-empty {x.ndim}D data tensor expected but got a tensor with sizes {list(x.shape)}")
    way = next((w for n, w in _WEIGHED.items() if n in row), "nearest")
    check_kind(f"compute_indices_weights_{way}", x, "f", ("uint8",) if row.startswith(_OF_BYTES) else ())


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.{instead}` instead.", stacklevel=3)


@public("nn.functional")
def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """The old name of :func:`interpolate`."""
    _deprecated("upsample", "interpolate")
    return interpolate(input, size, scale_factor, mode, align_corners)


@public("nn.functional")
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """:func:`interpolate` in mode ``"nearest"``."""
    _deprecated("upsample_nearest", "interpolate")
    return interpolate(input, size, scale_factor, mode="nearest")


@public("nn.functional")
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """:func:`interpolate` in mode ``"bilinear"`` with corners aligned."""
    _deprecated("upsample_bilinear", "interpolate")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
