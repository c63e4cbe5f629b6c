"""Losses of classes and of yes or no, as users call them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....dtype import scalar_type
from ....errors import raise_if
from ....grad_mode import mode
from ....several import at_home
from ....tensor import Tensor
from ... import _generated as g
from ...constant_arguments import constant
from ...explain import broadcast_error, not_a_tensor, shape_error
from ...kernel_names import not_implemented, not_written
from ...reduce import log_softmax
from ..declare import OPS, public
from ..indexing.reading import seen
from .reduction import expanded, in_dtype_of, reduction_of, same_dtype

Legacy = bool | None

# ----- classes -----


@public("nn.functional")
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Legacy = None, ignore_index: int = -100,
    reduce: Legacy = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Negative log likelihood: log-probabilities (N, C), (C,) or (N, C, ...) and classes (N,), () or (N, ...).

    Targets that are ``ignore_index`` count for nothing, in the mean neither; ``weight`` is what each class counts.
    """
    if not isinstance(target, Tensor):
        raise not_a_tensor("nll_loss_nd", "target", target, 2)
    return likelihood(input, target, weight, reduction_of(size_average, reduce, reduction), ignore_index)


def likelihood(x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int) -> Tensor:
    """:func:`nll_loss` with the reduction known."""
    all_count = _check_classes(x, target, weight, ignore_index)
    constant("nll_loss_forward" if x.ndim <= 2 else "nll_loss2d_forward", weight=weight)
    if all_count and x.ndim == 2 and weight is None and ignore_index == -100:  # nodes of that row show no other
        return g.nll_loss_raw(x, target, reduction)
    if x.ndim <= 2:
        target = _alone(x, target)
        return OPS["nll_loss_forward"](x, target, weight, reduction, ignore_index)[0]
    if x.ndim == 4:
        return OPS["nll_loss2d_forward"](x, target, weight, reduction, ignore_index)[0]
    n, c = x.shape[:2]
    rest = int(np.prod(x.shape[2:], dtype=int))
    flat, flat_target = x.contiguous().view(n, c, 1, rest), target.contiguous().view(n, 1, rest)
    out = OPS["nll_loss2d_forward"](flat, flat_target, weight, reduction, ignore_index)[0]
    return out.view(target.shape) if reduction == "none" else out


def _alone(x: Tensor, target: Tensor) -> Tensor:
    """``target``; the only one of scores without a batch, which may be in a list, without that."""
    return target.view(()) if x.ndim == target.ndim == 1 else target


@at_home
def _check_classes(x: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int) -> bool:
    """Refuse what does not fit. Whether there are targets and each is known to be a class that counts."""
    given = target._a
    shape, wanted = x._a.shape, given.shape
    n = len(shape)
    if n == 0:
        raise shape_error("Expected 1 or more dimensions (got 0)", ValueError)
    classes = shape[min(1, n - 1)]
    if n > 1 and shape[:1] != wanted[:1]:
        batch = wanted[0] if wanted else 0
        raise shape_error(f"Expected input batch_size ({shape[0]}) to match target batch_size ({batch}).", ValueError)
    if n <= 2:
        if len(wanted) > 1:
            raise shape_error("0D or 1D target tensor expected, multi-target not supported")
    elif (wanted[0], *wanted[1:]) != (shape[0], *shape[2:]):
        if n == 4 and len(wanted) != 3:
            raise shape_error(
                f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {len(wanted)}"
            )
        raise shape_error(f"Expected target size {[shape[0], *shape[2:]]}, got {list(wanted)}")
    if given.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {scalar_type(given.dtype)}")
    if n == 1 and wanted not in ((), (1,)):
        raise shape_error(f"For 1D input, 1D target must have size 1, but got target size: {wanted[0]}", ValueError)
    if weight is not None and tuple(weight.shape) != (classes,):
        raise shape_error(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: "
            f"{list(weight.shape)}"
        )
    if weight is not None and weight.dtype != x.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(x.dtype)} but found {scalar_type(weight.dtype)}")
    if not on_host(given):
        return False  # nobody would wait for the answer: see seen
    if not given.size:
        return False
    # one look: seen without a sign, what is below 0 is above every number of classes
    if (given.view(np.uint64) if given.itemsize == 8 else given).max() < classes:
        return not 0 <= ignore_index < classes
    wrong = ((given < 0) | (given >= classes)) & (given != ignore_index)
    if wrong.any():
        raise IndexError(f"Target {int(given[wrong].flat[0])} is out of bounds.")
    return False


@public("nn.functional")
def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Legacy = None, ignore_index: int = -100,
    reduce: Legacy = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """``nll_loss(log_softmax(input))`` of scores (N, C), (C,) or (N, C, ...).

    ``target`` has classes as in :func:`nll_loss`, or probabilities of the classes in the shape of ``input``.
    ``label_smoothing`` is the part of the probability that is spread over all classes.
    """
    if not isinstance(target, Tensor):
        raise not_a_tensor("cross_entropy_loss", "target", target, 2)
    reduction = reduction_of(size_average, reduce, reduction)
    dim = 0 if input.ndim == 1 else 1
    if input.shape == target.shape:
        if target.dtype.kind != "f":
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {scalar_type(target.dtype)}"
            )
        if input.ndim == 0:
            raise shape_error(f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
        return _of_probabilities(input, target, weight, reduction, ignore_index, label_smoothing, dim)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    logs = log_softmax(input, dim)
    if label_smoothing == 0:
        return likelihood(logs, target, weight, reduction, ignore_index)
    return _smoothed(logs, target, weight, reduction, ignore_index, label_smoothing, dim)


def _smoothed(
    logs: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int, smoothing: float, dim: int
) -> Tensor:
    sharp = likelihood(logs, target, weight, reduction, ignore_index)
    target = _alone(logs, target)
    evenly = -(logs if weight is None else logs * _of_classes(weight, logs, dim)).sum(dim)
    ignored = target == ignore_index
    evenly = evenly.masked_fill(ignored, 0.0)
    if reduction == "mean" and weight is not None:
        each = weight.gather(0, target.masked_fill(ignored, 0).flatten())  # not those of a mask: a device would be read
        evenly = evenly.sum() / each.masked_fill(ignored.flatten(), 0.0).sum()
    elif reduction == "mean":
        evenly = evenly.sum() / (~ignored).sum().to(evenly.dtype)
    elif reduction == "sum":
        evenly = evenly.sum()
    return sharp * (1 - smoothing) + evenly * (smoothing / logs.shape[dim])


def _of_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int, smoothing: float, dim: int
) -> Tensor:
    classes = input.shape[dim]
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    if not 0 <= smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {smoothing:g}")
    if weight is not None and tuple(weight.shape) != (classes,):
        raise shape_error(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got weight "
            f"tensor of shape: {list(weight.shape)}"
        )
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    each = log_softmax(input, dim) * target
    if weight is not None:
        each = each * _of_classes(weight, input, dim)
    if reduction == "none":
        return -each.sum(dim)
    total = -each.sum()
    if reduction == "sum":
        return total
    n = input.numel() // classes if classes else 0
    return OPS["over_number"](total, n) if n else total * np.nan


def _of_classes(weight: Tensor, x: Tensor, dim: int) -> Tensor:
    return weight.view([-1 if i == dim else 1 for i in range(x.ndim)])


# ----- yes or no -----


@public("nn.functional")
@at_home
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Legacy = None, reduce: Legacy = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``-target log(input) - (1 - target) log(1 - input)`` of probabilities ``input``, the logarithms no less than -100."""
    reduction = reduction_of(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise shape_error(
            f"Using a target size (torch.Size({list(target.shape)})) that is different to the input size "
            f"(torch.Size({list(input.shape)})) is deprecated. Please ensure they have the same size.",
            ValueError,
        )
    if weight is not None:
        constant("binary_cross_entropy", weight=weight)
        weight = weight.expand(np.broadcast_shapes(tuple(target.shape), tuple(weight.shape)))
    if target.dtype != input.dtype:
        raise RuntimeError(f"Found dtype {scalar_type(target.dtype)} but expected {scalar_type(input.dtype)}")
    if input.dtype.kind != "f":
        raise not_implemented("binary_cross_entropy", input.dtype)
    if on_host(input._a) and seen(~((input._a >= 0) & (input._a <= 1))):
        raise RuntimeError("all elements of input should be between 0 and 1")
    return OPS["binary_cross_entropy"](input, target, weight, reduction)


@public("nn.functional")
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Legacy = None, reduce: Legacy = None,
    reduction: str = "mean", pos_weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """:func:`binary_cross_entropy` of ``sigmoid(input)``, exact for large scores; ``pos_weight`` multiplies the first term."""
    reduction = reduction_of(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise shape_error(
            f"Target size (torch.Size({list(target.shape)})) must be the same as input size "
            f"(torch.Size({list(input.shape)}))",
            ValueError,
        )
    if target.dtype.kind != "f" and input.dtype.kind != "f":
        raise not_implemented("binary_cross_entropy_with_logits", input.dtype)
    if target.dtype.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
            "instead."
        )
    if target.dtype.kind in "iu" and input.dtype.kind == "f":
        raise not_written(input.dtype, target.dtype)
    if mode.transform is None:  # there PyTorch computes it of other ops, which have gradients by all of their arguments
        constant("binary_cross_entropy_with_logits", forward=True, weight=weight, pos_weight=pos_weight)
    x, y = same_dtype(input, target)
    rows: Any = OPS["binary_cross_entropy_with_logits"]
    shape = tuple(x.shape)
    for first, second in ((pos_weight, x), (x, weight)):
        if first is not None and second is not None:
            shape = _of_losses(shape, tuple(first.shape), tuple(second.shape), mode.transform is not None)
    x, y = expanded(x, shape), expanded(y, shape)
    return in_dtype_of(target, rows(x, y, weight, pos_weight, reduction))


def _of_losses(
    shape: tuple[int, ...], first: tuple[int, ...], second: tuple[int, ...], may_grow: bool
) -> tuple[int, ...]:
    """The ``shape`` of the losses when two operands are combined: they ``may_grow`` where PyTorch does not write in place."""
    if first == second:
        return shape
    raise_if(broadcast_error([first, second]))
    whole = np.broadcast_shapes(shape, first, second)
    if whole != shape and not may_grow:
        raise shape_error(f"output with shape {list(shape)} doesn't match the broadcast shape {list(whole)}")
    return whole
