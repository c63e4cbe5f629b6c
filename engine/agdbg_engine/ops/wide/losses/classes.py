"""The negative log likelihood of classes as rows, and the margin losses that compare classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....fused import fused
from ....repeated_index import add_at
from ....tensor import Tensor, wrap
from ..declare import formula, in_both, kernel, op
from .elements import _reduced
from .reduction import shared

Shape = tuple[int, ...]

# ----- negative log likelihood -----


def _forward(x: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> tuple[Any, Any]:
    """Minus the elements of ``x`` (N, C, ...) at ``target`` (N, ...), times the weights of the classes, reduced.

    Also the sum of the weights, by which the mean divides.
    """
    at, factor = _counted(target, weight, ignore_index, x)
    axis = min(1, x.ndim - 1)
    picked = np.take_along_axis(x, np.expand_dims(at, axis), axis).squeeze(axis)
    each = np.where(target == ignore_index, x.dtype.type(0), -picked * factor)
    total = factor.sum(dtype=x.dtype)
    if reduction == "none":
        return each, total
    return (each.sum() if reduction == "sum" else each.sum() / total), total


def _backward(g: Any, target: Any, weight: Any, total: Any, shape: Shape, reduction: str, ignore_index: int) -> Any:
    """The transpose of the likelihood."""
    if type(g) is not np.ndarray:
        return _backward_elsewhere(g, target, weight, total, shape, reduction, ignore_index)
    at, factor = _counted(target, weight, ignore_index, g)
    if reduction == "mean":
        factor = factor / total
    out = array_module(g).zeros(shape, g.dtype)
    axis = min(1, len(shape) - 1)
    values = np.where(target == ignore_index, g.dtype.type(0), -g * factor)
    put_along(out, np.expand_dims(at, axis), np.expand_dims(values, axis), axis)
    return out


def _backward_elsewhere(
    g: Any, target: Any, weight: Any, total: Any, shape: Shape, reduction: str, ignore_index: int
) -> Any:
    """As :func:`_backward`, where a launch takes longer than going through all elements."""
    axis = min(1, len(shape) - 1)
    classes = array_module(g).arange(shape[axis]).reshape(-1, *(1,) * (len(shape) - 1 - axis))
    each = g if reduction != "mean" else g / total
    each = np.expand_dims(each, axis) if each.ndim else each
    if weight is not None:  # before the others become zero, which an infinite weight would make NaN
        each = each * weight.reshape(classes.shape)
    return at_class(each, np.expand_dims(target.astype(np.int64, copy=False), axis), classes, ignore_index)


@fused("T g, int64 target, int64 own, int64 ignored", "T out", "out = own == target && target != ignored ? -g : T(0);")
def at_class(g: Any, target: Any, own: Any, ignored: int) -> Any:
    """``-g`` for the class that is the target."""
    return np.where((own == target) & (target != ignored), -g, g.dtype.type(0))


def put_along(out: Any, index: Any, values: Any, axis: int) -> None:
    """Write ``values`` at ``index`` along ``axis``."""
    grid = list(array_module(out).ogrid[tuple(slice(0, n) for n in index.shape)])
    grid[axis] = index
    out[tuple(grid)] = values


def _counted(target: Any, weight: Any, ignore_index: int, like: Any) -> tuple[Any, Any]:
    """Classes to look up, and what each counts: its weight, nothing if ignored."""
    counted = target != ignore_index
    at = np.where(counted, target, 0).astype(np.int64)
    return at, counted.astype(like.dtype) if weight is None else np.where(counted, weight[at], like.dtype.type(0))


_REST = "target, weight, reduction, ignore_index"
for _kind, _node in (("nll_loss", "NllLoss"), ("nll_loss2d", "NllLoss2D")):
    op(
        f"{_kind}_forward(self, {_REST})", f"{_node}Backward0", outputs="result0 *total_weight", kinds="f",
        target=None, weight=None, value=_forward,
        self=f"{_kind}_backward(g, target, weight, total_weight, self_shape, reduction, ignore_index)",
        jvp=f"({_kind}_forward(self_t, {_REST})[0], None)",
    )  # fmt: skip
    op(
        f"{_kind}_backward(grad_output, target, weight, total_weight, shape, reduction, ignore_index)",
        f"{_node}BackwardBackward0", target=None, weight=None, total_weight=None, jvp="linear",
        grad_output=f"{_kind}_forward(g, {_REST})[0]", value=_backward,
    )  # fmt: skip

# ----- margins between classes -----


@kernel
def multi_margin_loss(x: Any, target: Any, p: int, margin: float, weight: Any, reduction: str) -> Any:
    """Mean over the other classes of ``max(0, margin - x[target] + x) ** p``, by row."""
    index = target[:, None]
    z = np.fmax(margin - np.take_along_axis(x, index, 1) + x, 0)
    put_along(z, index, x.dtype.type(0), 1)
    each = (z if p == 1 else z * z).sum(1) / x.dtype.type(x.shape[1])
    if weight is not None:
        with np.errstate(invalid="ignore"):  # an infinite weight of a row that loses nothing
            each = np.where(each == 0, each, each * weight[target])
    return _reduced(each, reduction)


@formula
def multi_margin_grad(F: Any, g: Any, x: Any, target: Any, p: int, margin: float, weight: Any, reduction: str) -> Any:
    """The gradient of multi_margin_loss in ``x``."""
    index = F.unsqueeze(target, 1)
    own = F.gather(x, 1, index)
    hit = F.gather_backward(F.ones_as(own), x.shape, 1, index)
    z = margin - own + x
    slope = F.keep(F.ones_as(z) if p == 1 else 2 * z, (z > 0) & (hit == 0)) / x.shape[1]
    slope = slope - F.gather_backward(F.sum_dim(slope, 1, True), x.shape, 1, index)
    by_row = shared(F, g, (x.shape[0],), reduction)
    if weight is not None:
        by_row = by_row * F.index(weight, (F.as_index(target),))
    grad = slope * (F.unsqueeze(by_row, 1) if len(by_row.shape) else by_row)
    return grad if weight is None else F.keep(grad, slope != 0)


in_both("as_index", lambda x: x, lambda x: x._a)
op(
    "multi_margin_loss(self, target, p, margin, weight, reduction)", "MultiMarginLossBackward0", kinds="w", target=None,
    weight=None, self="multi_margin_grad(g, self, target, p, margin, weight, reduction)",
)  # fmt: skip


@kernel
def multilabel_margin_loss(x: Any, target: Any, reduction: str) -> Any:
    """Sum over the classes of a row (those before the first -1) and the others of ``max(0, 1 - x[class] + x[other])`` / C."""
    z = _pairs(x, target)[0]
    each = np.fmax(z, 0, out=z).reshape(len(z), -1).sum(1) / x.dtype.type(x.shape[1])
    return _reduced(each, reduction)


def _pairs(x: Any, target: Any) -> tuple[Any, Any]:
    """``1 - x[class] + x[other]`` by row, class and other, not positive where that is no such pair; the classes to look up."""
    xp, (n, c) = array_module(x), x.shape
    given = np.cumsum(target < 0, 1) == 0
    at = np.where(given, target, 0)
    belongs = xp.zeros((n, c + 1), bool)
    put_along(belongs, np.where(given, target, c), True, 1)
    if on_host(x):  # rows have few classes, as a rule
        most = int(given.sum(1).max(initial=0))
        given, at = given[:, :most], at[:, :most]
    never = x.dtype.type(-np.inf)
    own = np.where(given, 1 - np.take_along_axis(x, at, 1), never)
    other = np.where(belongs[:, :c], never, x)
    with np.errstate(invalid="ignore"):  # of both infinities, which is no pair either
        return own[:, :, None] + other[:, None, :], at


@kernel
def multilabel_margin_slope(x: Any, target: Any) -> Any:
    """The derivative of the loss of each row."""
    z, at = _pairs(x, target)
    active = np.greater(z, 0, out=z) if on_host(z) else (z > 0).astype(x.dtype)
    out = active.sum(1)
    rows = np.broadcast_to(array_module(x).arange(x.shape[0])[:, None], at.shape)
    add_at(out, (rows, at), -active.sum(2))
    return out / x.dtype.type(x.shape[1])


def _recorded_slope(x: Tensor, target: Tensor) -> Tensor:
    return wrap(multilabel_margin_slope(x._a, target._a))


@formula
def by_row(F: Any, g: Any, shape: Shape, reduction: str) -> Any:
    """The gradient of reduced losses of rows in a shape that broadcasts with the rows."""
    each = shared(F, g, shape[:1], reduction)
    return F.unsqueeze(each, 1) if len(each.shape) else each


in_both("multilabel_slope", multilabel_margin_slope, _recorded_slope)
op(
    "multilabel_margin_loss(self, target, reduction)", "MultilabelMarginLossBackward0", kinds="w", target=None,
    self="multilabel_slope(self, target) * by_row(g, self_shape, reduction)",
)  # fmt: skip
