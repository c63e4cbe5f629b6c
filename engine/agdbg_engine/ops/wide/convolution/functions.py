"""``conv1d`` to ``conv_transpose3d`` as users call them: arguments checked, on the op ``convolution``."""

from __future__ import annotations

from typing import Any

from ....dtype import cpp_type, scalar_type
from ....errors import type_text
from ....tensor import Tensor
from ... import graph
from ...explain import shape_error
from ...kernel_names import no_kernel
from ..declare import public
from ..resampling.pad import constant_pad_nd
from .rows import transposed_size
from .windows import Ints

Sizes = int | tuple[int, ...] | list[int]


@public("torch nn.functional")
def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1, padding: Sizes | str = 0,
    dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution of (N, C, L) or (C, L) with ``weight`` (O, C / groups, K)."""
    return _conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@public("torch nn.functional")
def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1, padding: Sizes | str = 0,
    dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution of (N, C, H, W) or (C, H, W) with ``weight`` (O, C / groups, KH, KW)."""
    return _conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@public("torch nn.functional")
def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1, padding: Sizes | str = 0,
    dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution of (N, C, D, H, W) or (C, D, H, W) with ``weight`` (O, C / groups, KD, KH, KW)."""
    return _conv("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


@public("torch nn.functional")
def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1, padding: Sizes = 0,
    output_padding: Sizes = 0, groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """The transpose of :func:`conv1d`, as a map from its results to its inputs; ``weight`` (C, O / groups, K)."""
    return _transposed("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@public("torch nn.functional")
def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1, padding: Sizes = 0,
    output_padding: Sizes = 0, groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """The transpose of :func:`conv2d`, as a map from its results to its inputs; ``weight`` (C, O / groups, KH, KW)."""
    return _transposed("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@public("torch nn.functional")
def conv_transpose3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1, padding: Sizes = 0,
    output_padding: Sizes = 0, groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """The transpose of :func:`conv3d`, as a map from its results to its inputs; ``weight`` (C, O / groups, KD, KH, KW)."""
    return _transposed("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


@public("torch")
def convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> Tensor:  # fmt: skip
    """Any of the convolutions above, of a batch: the number of dimensions is that of ``weight``."""
    k = weight.ndim - 2
    how = (
        _each("stride", stride, k), _each("padding", padding, k), _each("dilation", dilation, k), bool(transposed),
        _each("output_padding", output_padding, k), groups,
    )  # fmt: skip
    return _checked(input, weight, bias, *how)


# ----- what they have in common -----


def _conv(
    op: str, n: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes, padding: Sizes | str, dilation: Sizes,
    groups: int,
) -> Tensor:  # fmt: skip
    x, single = _batched(op, n, x, weight, bias)
    k = weight.ndim - 2
    stride, dilation = _each("stride", stride, k), _each("dilation", dilation, k)
    if isinstance(padding, str):
        x, around = _named(padding, x, weight, stride, dilation)
    else:
        around = _each("padding", padding, k)
    how = (stride, around, dilation, False, (0,) * k, groups)
    y = _checked(x, weight, bias, *how)
    return y.squeeze(0) if single else y


def _transposed(
    op: str, n: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes, padding: Sizes, output_padding: Sizes,
    groups: int, dilation: Sizes,
) -> Tensor:  # fmt: skip
    x, single = _batched(op, n, x, weight, bias)
    k = weight.ndim - 2
    how = (
        _each("stride", stride, k), _each("padding", padding, k), _each("dilation", dilation, k), True,
        _each("output_padding", output_padding, k), groups,
    )  # fmt: skip
    y = _checked(x, weight, bias, *how)
    return y.squeeze(0) if single else y


def _checked(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Ints, dilation: Ints, transposed: bool, extra: Ints,
    groups: int,
) -> Tensor:  # fmt: skip
    _check(x, weight, bias, stride, padding, dilation, transposed, extra, groups)
    if transposed:
        _check_transposed(x, weight, stride, padding, dilation, extra)
    else:
        _check_windows(x, weight, padding, dilation)
    return graph.convolution(x, weight, bias, stride, padding, dilation, transposed, extra, groups)  # type: ignore[attr-defined]  # a row


def _batched(op: str, n: int, x: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Tensor, bool]:
    """The input with a dimension for the batch, and whether that had to be put in."""
    given = (x, weight) if bias is None else (x, weight, bias)
    if not all(isinstance(t, Tensor) for t in given):
        kinds = ", ".join(type(t).__name__ for t in given)
        raise TypeError(f"{op}() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    if x.ndim not in (n + 1, n + 2):
        raise shape_error(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {op}, but got input of size: {list(x.shape)}"
        )
    if weight.ndim < 3:
        raise shape_error("weight should have at least three dimensions")
    single = x.ndim == n + 1
    return (x.unsqueeze(0) if single else x), single


def _each(name: str, value: Any, n: int) -> Ints:
    """One number for every dimension; a single one counts for all."""
    given = tuple(value) if isinstance(value, tuple | list) else (value,)
    if len(given) == 1 and n > 1:
        given *= n
    if len(given) != n:
        shown = list(given) if len(given) > 1 else list(given) * 2
        raise shape_error(
            f"expected {name} to be a single integer value or a list of {n} values to match the convolution dimensions, but "
            f"got {name}={shown}"
        )
    return tuple(int(v) for v in given)


def _named(padding: str, x: Tensor, weight: Tensor, stride: Ints, dilation: Ints) -> tuple[Tensor, Ints]:
    """``padding`` by name: the input, padded where one side needs more than the other, and the number for both sides."""
    k = weight.ndim - 2
    if padding == "valid":
        return x, (0,) * k
    if padding != "same":
        raise shape_error(f"Invalid padding string: '{padding}'")
    if x.ndim != weight.ndim:
        raise shape_error(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {list(weight.shape)}, but got "
            f"{x.ndim}-dimensional input of size {list(x.shape)} instead"
        )
    if any(s != 1 for s in stride):
        raise shape_error("padding='same' is not supported for strided convolutions")
    total = [d * (n - 1) for d, n in zip(dilation, weight.shape[2:], strict=True)]
    if any(t % 2 for t in total):
        more = [side for t in reversed(total) for side in (0, t % 2)]
        x = constant_pad_nd(x, more, 0)
    return x, tuple(t // 2 for t in total)


# ----- checks, in PyTorch's order -----


def _check_kernel(dtype: Any, n: int, transposed: bool, dilated: bool) -> None:
    """Refuse bools, and the integers that PyTorch's kernel for such a convolution is not there for."""
    if dtype.kind == "b" or (dtype.kind in "iu" and dtype.itemsize < 8 and (transposed or dilated)):
        plain = "compute_columns3d" if n == 3 else f"slow_conv{n}d_cpu"
        raise no_kernel(
            f"slow_conv_transpose{n}d_out_cpu" if transposed else "slow_conv_dilated<>" if dilated else plain, dtype
        )


def _check(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Ints, dilation: Ints, transposed: bool, extra: Ints,
    groups: int,
) -> None:  # fmt: skip
    for wrong, text in (
        (any(p < 0 for p in padding), "negative padding is not supported"),
        (any(e < 0 for e in extra), "negative output_padding is not supported"),
        (any(s <= 0 for s in stride), "non-positive stride is not supported"),
        (any(d <= 0 for d in dilation), "dilation should be greater than zero"),
        (groups <= 0, "non-positive groups is not supported"),
    ):
        if wrong:
            raise shape_error(text)
    shape = list(weight.shape)
    if x.ndim != weight.ndim:
        raise shape_error(
            f"Expected {len(shape)}-dimensional input for {len(shape)}-dimensional weight {shape}, but got {x.ndim}-dimensional "
            f"input of size {list(x.shape)} instead"
        )
    if shape[0] < groups:
        raise shape_error(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {shape} instead"
        )
    if shape[0] % groups:
        raise shape_error(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
            f"[{shape}] instead"
        )
    channels = shape[0] if transposed else shape[1] * groups
    if x.shape[1] != channels:
        raise shape_error(
            f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {shape}, expected input"
            f"{list(x.shape)} to have {channels} channels, but got {x.shape[1]} channels instead"
        )
    made = shape[1] * groups if transposed else shape[0]
    if bias is not None and tuple(bias.shape) != (made,):
        raise shape_error(
            f"Given {'transposed=1, ' if transposed else ''}weight of size {shape}, expected bias to be 1-dimensional with {made} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )
    _check_kernel(x.dtype, max(len(shape) - 2, 2), transposed, any(d != 1 for d in dilation))
    if bias is not None and bias.dtype != x.dtype:
        raise RuntimeError(
            f"Input type ({cpp_type(x.dtype)}) and bias type ({cpp_type(bias.dtype)}) should be the same"
        )
    if weight.dtype != x.dtype:
        if x.dtype.kind == "c":
            kinds = (type_text(t.dtype, t.device.type) for t in (x, weight))
            raise RuntimeError("Input type ({}) and weight type ({}) should be the same".format(*kinds))
        raise RuntimeError(f"expected scalar type {scalar_type(x.dtype)} but found {scalar_type(weight.dtype)}")


def _check_windows(x: Tensor, weight: Tensor, padding: Ints, dilation: Ints) -> None:
    """Raise where not one window fits, and where there is nothing to see."""
    window = weight.shape[2:]
    if any(n == 0 for n in window):
        raise shape_error(f"kernel size should be greater than zero, but got kernel size: {_by(window)}")
    have = [n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)]
    need = [d * (n - 1) + 1 for n, d in zip(window, dilation, strict=True)]
    if any(h < n for h, n in zip(have, need, strict=True)):
        raise shape_error(
            f"Calculated padded input size per channel: ({_by(have)}). Kernel size: ({_by(need)}). Kernel size can't be greater "
            "than actual input size"
        )
    _check_empty(x)


def _check_transposed(x: Tensor, weight: Tensor, stride: Ints, padding: Ints, dilation: Ints, extra: Ints) -> None:
    _check_empty(x)
    if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise shape_error(
            "output padding must be smaller than either stride or dilation, but got output_padding: "
            f"{_by(extra)} stride: {_by(stride)} dilation: {_by(dilation)}"
        )
    size = transposed_size(x.shape[2:], weight.shape[2:], stride, padding, dilation, extra)
    if any(n < 1 for n in size):
        raise shape_error(
            f"Given input size per channel: ({_by(x.shape[2:])}). Calculated output size per channel: ({_by(size)}). Output size "
            "is too small"
        )


def _check_empty(x: Tensor) -> None:
    if 0 in x.shape[2:] and 0 not in x.shape[:2]:
        raise shape_error(f"Only zero batch or zero channel inputs are supported, but got input shape: {list(x.shape)}")


def _by(numbers: Any) -> str:
    return " x ".join(map(str, numbers))
