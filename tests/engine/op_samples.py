"""Sample inputs for every row of the op table, with the same function in PyTorch and in NumPy.

In the arguments of a case, float arrays are tensors that may require grad, other arrays are tensors that may not, and
everything else (numbers, shapes, dtypes, buffers wrapped in :class:`Raw`) is passed as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

rng = np.random.default_rng(2024)
F8 = np.float64


@dataclass(frozen=True)
class Raw:
    """Buffers that a row takes as they are, not as tensors."""

    value: Any


@dataclass(frozen=True)
class Sample:
    """One call of one row."""

    row: str
    number: int
    args: tuple[Any, ...]
    torch: Any
    numpy: Any

    def __str__(self) -> str:
        return f"{self.row}-{self.number}"

    @property
    def floats(self) -> list[int]:
        """Positions of the arguments that can require grad."""
        return [i for i, a in enumerate(self.args) if isinstance(a, np.ndarray) and a.dtype == F8]

    def called(self, convert: Any, floats: list[Any] | None = None) -> list[Any]:
        """The arguments with every tensor made by ``convert``, the float ones from ``floats`` if given."""
        given = iter(floats if floats is not None else [self.args[i] for i in self.floats])
        made = []
        for i, a in enumerate(self.args):
            if i in self.floats:
                made.append(convert(next(given)))
            elif isinstance(a, np.ndarray):
                made.append(convert(a))
            else:
                made.append(a)
        return made


SAMPLES: list[Sample] = []


def row(name: str, *cases: tuple[Any, ...], torch: Any, numpy: Any) -> None:
    """Add the cases of a row."""
    SAMPLES.extend(Sample(name, i, c, torch, numpy) for i, c in enumerate(cases))


class _Torch:
    """``T.nn.functional.softplus`` is that function of PyTorch, which is imported when it is called."""

    def __init__(self, path: tuple[str, ...] = ()) -> None:
        self._path = path

    def __getattr__(self, name: str) -> _Torch:
        return _Torch((*self._path, name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import torch

        found = torch
        for name in self._path:
            found = getattr(found, name)
        return found(*args, **kwargs)


T = _Torch()


# ----- values -----


def normal(*shape: int) -> Any:
    """Standard normal numbers."""
    return np.asarray(rng.standard_normal(shape))


def positive(*shape: int) -> Any:
    """Numbers from 0.5 to 2."""
    return np.asarray(rng.uniform(0.5, 2.0, shape))


def spread(*shape: int) -> Any:
    """Numbers of both signs, no two alike and none near an integer: safe for ops with kinks there."""
    n = math.prod(shape)
    return np.asarray(rng.permutation(n) * 0.7 - 0.7 * (n // 2) + 0.25).reshape(shape)


def bools(*shape: int) -> Any:
    """Truth values."""
    return np.asarray(rng.random(shape) < 0.5)


def odd(x: Any) -> Any:
    """The same numbers in memory that is neither row-major nor dense."""
    wide = np.zeros((*(2 * n for n in reversed(x.shape)),), x.dtype)
    view = wide[(*(slice(None, None, 2) for _ in x.shape),)].T
    view[...] = x
    return view


def pairs(make: Any) -> list[tuple[Any, Any]]:
    """Two operands: equal shapes, broadcast both ways, 0-d, empty, in odd memory."""
    shapes = [
        ((2, 3), (2, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((), (2,)), ((2,), ()), ((), ()),
        ((1,), (3,)), ((0,), (0,)), ((0, 2), (1, 2)), ((2, 1, 2), (3, 1)),
    ]  # fmt: skip
    found = [(make(*a), make(*b)) for a, b in shapes]
    return [*found, (odd(make(2, 3)), make(2, 3)), (odd(make(3, 2)), odd(make(3, 2)))]


def singles(make: Any) -> list[tuple[Any]]:
    """One operand: a matrix, 0-d, empty, in odd memory."""
    return [(make(2, 3),), (make(),), (make(0),), (make(2, 0),), (odd(make(2, 3)),)]


def numbers(make: Any, *values: Any) -> list[tuple[Any, Any]]:
    """A tensor and a Python number."""
    return [(make(2, 2), v) for v in values]


# ----- arithmetic -----

row("add", *pairs(normal), *numbers(normal, 2, 0.5, True), torch=T.add, numpy=np.add)
row("sub", *pairs(normal), *numbers(normal, 2, 0.5), torch=T.sub, numpy=np.subtract)
row("rsub", *pairs(normal), *numbers(normal, 2, 0.5), torch=T.rsub, numpy=lambda x, y: y - x)
row("mul", *pairs(normal), *numbers(normal, 2, 0.5, True), torch=T.mul, numpy=np.multiply)
row("div", *pairs(positive), *numbers(positive, 2, 0.5, -3), torch=T.div, numpy=np.divide)
row("pow", *pairs(positive), *numbers(positive, 2, 3, 0, 1, 0.5, -1, 2.5), (normal(4), 3), (normal(4), 2),
    (2.0, normal(3)), (3, normal(3)), torch=T.pow, numpy=lambda x, y: np.power(x, y, dtype=F8))  # fmt: skip
UNEQUAL = [(spread(*a.shape), np.asarray(spread(*b.shape) + 0.1)) for a, b in pairs(normal)]
row("maximum", *UNEQUAL, torch=T.maximum, numpy=np.maximum)
row("minimum", *UNEQUAL, torch=T.minimum, numpy=np.minimum)

# ----- functions of one tensor -----

row("neg", *singles(normal), torch=T.neg, numpy=np.negative)
row("exp", *singles(normal), torch=T.exp, numpy=np.exp)
row("conj_raw", *singles(normal), torch=T.conj_physical, numpy=np.conj)
row("expm1", *singles(normal), torch=T.expm1, numpy=np.expm1)
row("log", *singles(positive), torch=T.log, numpy=np.log)
row("log1p", *singles(positive), torch=T.log1p, numpy=np.log1p)
row("sqrt", *singles(positive), torch=T.sqrt, numpy=np.sqrt)
row("rsqrt", *singles(positive), torch=T.rsqrt, numpy=lambda x: 1 / np.sqrt(x))
row("reciprocal", *singles(positive), torch=T.reciprocal, numpy=lambda x: 1 / x)
row("abs", *singles(spread), torch=T.abs, numpy=np.abs)
row("sgn", *singles(spread), torch=T.sgn, numpy=np.sign)
row("angle", *singles(spread), torch=T.angle, numpy=np.angle)
row("conj_copy", *singles(normal), torch=T.conj_physical, numpy=np.conj)
row("sign", *singles(spread), torch=T.sign, numpy=np.sign)
row("floor", *singles(spread), torch=T.floor, numpy=np.floor)
row("ceil", *singles(spread), torch=T.ceil, numpy=np.ceil)
row("round", *singles(spread), torch=T.round, numpy=np.round)
row("trunc", *singles(spread), torch=T.trunc, numpy=np.trunc)
row("sin", *singles(normal), torch=T.sin, numpy=np.sin)
row("cos", *singles(normal), torch=T.cos, numpy=np.cos)
row("tanh", *singles(normal), torch=T.tanh, numpy=np.tanh)
row("sigmoid", *singles(normal), torch=T.sigmoid, numpy=lambda x: 1 / (1 + np.exp(-x)))
row("relu", *singles(spread), torch=T.relu, numpy=lambda x: np.maximum(x, 0))
row("leaky_relu", *singles(spread), (spread(3), 0.2), (spread(3), 0), torch=T.nn.functional.leaky_relu,
    numpy=lambda x, slope=0.01: np.where(x > 0, x, x * slope))  # fmt: skip
row("softplus", *singles(normal), (normal(4), 2.0, 1.0), (normal(4) * 30, 1, 20), torch=T.nn.functional.softplus,
    numpy=lambda x, beta=1, threshold=20: np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta))  # fmt: skip
row("gelu_tanh", *singles(normal), torch=lambda x: T.nn.functional.gelu(x, approximate="tanh"),
    numpy=lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))  # fmt: skip
row("silu", *singles(normal), torch=T.nn.functional.silu, numpy=lambda x: x / (1 + np.exp(-x)))
row("clamp", *((x, -0.6, 0.6) for (x,) in singles(spread)), (spread(4), None, 0.6), (spread(4), -0.6, None), (spread(4), -1, 1),
    (spread(4), 1.1, -1.1), torch=T.clamp, numpy=lambda x, a, b: np.clip(x, a, b))  # fmt: skip
row("clamp_min", *((x, 0.1) for (x,) in singles(spread)), (spread(3), -1), torch=T.clamp_min, numpy=np.maximum)
row("clamp_max", *((x, 0.1) for (x,) in singles(spread)), (spread(3), -1), torch=T.clamp_max, numpy=np.minimum)
row("clamp_min_tensor", *UNEQUAL, torch=T.clamp_min, numpy=np.maximum)
row("clamp_max_tensor", *UNEQUAL, torch=T.clamp_max, numpy=np.minimum)

# ----- choosing -----

row("where", *((bools(*np.broadcast_shapes(a.shape, b.shape)), a, b) for a, b in pairs(normal)),
    (bools(3, 1), normal(2), normal(2)), (bools(2), normal(3, 2), normal(2)), (bools(), normal(2), normal(2)), (bools(4), normal(4), 0.0),
    (bools(4), 2, normal(4)), torch=T.where, numpy=np.where)  # fmt: skip
row("masked_fill", (normal(2, 3), bools(2, 3), 0), (normal(2, 3), bools(3), 0.5), (normal(3), bools(2, 3), 1), (normal(), bools(), 2.0),
    (normal(0), bools(0), 2.0), (odd(normal(2, 3)), bools(2, 3), -9.0), (normal(3), bools(2, 1), normal()), torch=T.masked_fill,
    numpy=lambda x, mask, value: np.where(mask, value, x))  # fmt: skip
row("copy", (normal(2, 3), normal(2, 3)), (normal(2, 3), normal(3)), (normal(2), normal()), (normal(0), normal(1)),
    torch=lambda x, y: x.clone().copy_(y), numpy=lambda x, y: np.broadcast_to(y, x.shape))  # fmt: skip
row("fill", (normal(2, 3), 1.5), (normal(), 2), (normal(2, 3), normal()), torch=lambda x, v: x.clone().fill_(v),
    numpy=lambda x, v: np.full(x.shape, float(v)))  # fmt: skip
row("zero", *singles(normal), torch=lambda x: x.clone().zero_(), numpy=np.zeros_like)
row(
    "clone",
    *singles(normal),
    (odd(normal(2, 3)), "C"),
    torch=lambda x, order="K": x.clone(),
    numpy=lambda x, order="K": np.copy(x),
)
row("to_copy", (normal(2, 3), np.dtype("float64")), (normal(3), np.dtype("float32")),
    torch=lambda x, dtype: x.to(_torch_dtype(dtype), copy=True), numpy=lambda x, dtype: x.astype(dtype))  # fmt: skip


def _torch_dtype(dtype: Any) -> Any:
    import torch

    return getattr(torch, str(dtype))


# ----- reductions -----

DIMS = [(normal(2, 3), 0, False), (normal(2, 3), -1, True), (normal(2, 3, 2), (0, 2), False), (normal(2, 3, 2), (1,), True),
        (normal(2, 3), (), False), (odd(normal(2, 3)), 1, False)]  # fmt: skip
SPREAD_DIMS = [(spread(*x.shape), *rest) for x, *rest in DIMS]
row("sum_all", *singles(normal), torch=T.sum, numpy=np.sum)
row("sum_dim", *DIMS, (normal(0, 2), 0, False), (normal(), (), True), torch=T.sum,
    numpy=lambda x, dim, keepdim: _along(np.sum, x, dim, keepdim))  # fmt: skip
row("mean_all", (normal(2, 3),), (normal(),), (odd(normal(2, 3)),), torch=T.mean, numpy=np.mean)
row("mean_dim", *DIMS, (normal(0, 2), 1, True), (normal(), (), False), torch=T.mean,
    numpy=lambda x, dim, keepdim: _along(np.mean, x, dim, keepdim))  # fmt: skip
row(
    "amax",
    *SPREAD_DIMS,
    (spread(2, 2),),
    (spread(), (), True),
    torch=T.amax,
    numpy=lambda x, dim=(), keepdim=False: _along(np.max, x, dim, keepdim),
)
row(
    "amin",
    *SPREAD_DIMS,
    (spread(2, 2),),
    (spread(), (), False),
    torch=T.amin,
    numpy=lambda x, dim=(), keepdim=False: _along(np.min, x, dim, keepdim),
)
row("max_all", *[s for s in singles(spread) if s[0].size], torch=T.max, numpy=np.max)
row("min_all", *[s for s in singles(spread) if s[0].size], torch=T.min, numpy=np.min)
row("logsumexp", *DIMS[:4], DIMS[5], (normal(), (), False), torch=T.logsumexp,
    numpy=lambda x, dim, keepdim: np.log(_along(np.sum, np.exp(x), dim, keepdim)))  # fmt: skip


POSITIONS = [
    ((2, 3), np.array([1, 0, 1]), 0, False),
    ((2, 3), np.array([[2], [0]]), 1, True),
    ((), np.array(0), 0, False),
]
for _name in ("max_dim", "min_dim"):
    row(_name, *((normal(*shape), *rest) for shape, *rest in POSITIONS), torch=lambda x, i, dim, keepdim: _torch_pick(x, i, dim, keepdim),
        numpy=lambda x, i, dim, keepdim: _pick(x, i, dim, keepdim))  # fmt: skip


def _pick(x: Any, i: Any, dim: int, keepdim: bool) -> Any:
    if x.ndim == 0:
        return x
    picked = np.take_along_axis(x, i if keepdim else np.expand_dims(i, dim), dim)
    return picked if keepdim else picked.squeeze(dim)


def _torch_pick(x: Any, i: Any, dim: int, keepdim: bool) -> Any:
    if x.ndim == 0:
        return x.clone()
    picked = x.gather(dim, i if keepdim else i.unsqueeze(dim))
    return picked if keepdim else picked.squeeze(dim)


SPREADS = [
    (normal(2, 3), 0, 1, False),
    (normal(2, 3), (0, 1), 0, True),
    (normal(2, 3, 2), (2,), 1, False),
    (normal(5), (), 2, False),
]
row("var_dim", *SPREADS, torch=lambda x, dim, n, keepdim: T.var(x, None if dim == () else dim, correction=n, keepdim=keepdim),
    numpy=lambda x, dim, n, keepdim: np.var(x, axis=None if dim == () else dim, ddof=n, keepdims=keepdim))  # fmt: skip
row("std_dim", *SPREADS, torch=lambda x, dim, n, keepdim: T.std(x, None if dim == () else dim, correction=n, keepdim=keepdim),
    numpy=lambda x, dim, n, keepdim: np.std(x, axis=None if dim == () else dim, ddof=n, keepdims=keepdim))  # fmt: skip
row("norm_dim", *DIMS, (normal(), (), False), torch=lambda x, dim, keepdim: T.linalg.vector_norm(x, 2, None if dim == () else dim, keepdim),
    numpy=lambda x, dim, keepdim: np.sqrt(_along(np.sum, x * x, dim, keepdim)))  # fmt: skip


def _along(function: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return function(x, axis=None if dim == () or x.ndim == 0 else dim, keepdims=keepdim)


# ----- softmax and losses -----

CLASSES = np.array([2, 0, 1, 2])
row("softmax_dim", (normal(2, 3), 1), (normal(2, 3), 0), (normal(2, 3, 2), -2), (normal(3), 0), (normal(), 0), (normal(0, 2), 1),
    (odd(normal(2, 3)), 1), torch=T.softmax, numpy=lambda x, dim: np.exp(x) / np.exp(x).sum(dim if x.ndim else None, keepdims=True))  # fmt: skip
row("log_softmax_dim", (normal(2, 3), 1), (normal(2, 3), 0), (normal(2, 3, 2), -2), (normal(3), 0), (normal(), 0), (normal(0, 2), 1),
    (odd(normal(2, 3)), 1), torch=T.log_softmax,
    numpy=lambda x, dim: np.log(np.exp(x) / np.exp(x).sum(dim if x.ndim else None, keepdims=True)))  # fmt: skip


def _picked(x: Any, target: Any, reduction: str) -> Any:
    picked = -x[np.arange(len(target)), target]
    return {"none": picked, "sum": picked.sum(), "mean": picked.mean()}[reduction]


def _scattered(g: Any, target: Any, shape: Any, reduction: str) -> Any:
    out = np.zeros(shape)
    out[np.arange(len(target)), target] = -g / (len(target) if reduction == "mean" else 1)
    return out


row("nll_loss_raw", *((normal(4, 3), CLASSES, r) for r in ("mean", "sum", "none")), (odd(normal(4, 3)), CLASSES, "mean"),
    torch=lambda x, target, reduction: T.nn.functional.nll_loss(x, target, reduction=reduction), numpy=_picked)  # fmt: skip
row("nll_loss_raw_backward", (normal(), CLASSES, (4, 3), "mean"), (normal(), CLASSES, (4, 3), "sum"), (normal(4), CLASSES, (4, 3), "none"),
    torch=lambda g, target, shape, reduction: T.ops.aten.nll_loss_backward(
        g, T.zeros(shape, dtype=g.dtype), target, None, ("none", "mean", "sum").index(reduction), -100, T.tensor(4.0, dtype=g.dtype)),
    numpy=_scattered)  # fmt: skip
row("mse_loss_raw", *((normal(2, 3), normal(2, 3), r) for r in ("mean", "sum", "none")), (odd(normal(2, 3)), normal(2, 3), "mean"),
    torch=lambda x, y, reduction: T.nn.functional.mse_loss(x, y, reduction=reduction),
    numpy=lambda x, y, reduction: {"none": np.asarray, "sum": np.sum, "mean": np.mean}[reduction]((x - y) ** 2))  # fmt: skip

# ----- matrices -----

row("mm", (normal(2, 3), normal(3, 2)), (normal(1, 1), normal(1, 3)), (normal(2, 0), normal(0, 3)), (odd(normal(2, 3)), odd(normal(3, 2))),
    torch=T.mm, numpy=np.matmul)  # fmt: skip
row(
    "mv",
    (normal(2, 3), normal(3)),
    (odd(normal(2, 3)), odd(normal(3))),
    (normal(0, 2), normal(2)),
    torch=T.mv,
    numpy=np.matmul,
)
row("dot", (normal(3), normal(3)), (odd(normal(3)), normal(3)), (normal(0), normal(0)), torch=T.dot, numpy=np.dot)
row("bmm", (normal(2, 2, 3), normal(2, 3, 2)), (normal(0, 2, 3), normal(0, 3, 2)), (odd(normal(2, 2, 3)), normal(2, 3, 1)),
    torch=T.bmm, numpy=np.matmul)  # fmt: skip
row("addmm", (normal(2), normal(2, 3), normal(3, 2)), (normal(2, 2), normal(2, 3), normal(3, 2)), (normal(), normal(2, 3), normal(3, 2)),
    (normal(2, 1), odd(normal(2, 3)), normal(3, 2)), torch=T.addmm, numpy=lambda b, x, y: b + x @ y)  # fmt: skip

# ----- views -----

row("alias", (normal(2, 3),), (normal(),), torch=T.ops.aten.alias, numpy=np.asarray)
row("fw_primal", (normal(2, 3), 0), (normal(), 0), torch=T.ops.aten._fw_primal, numpy=lambda x, level: np.asarray(x))
row("reshape_alias", (odd(normal(3, 2)), (1, 3, 2)), torch=lambda x, shape: x.reshape(shape), numpy=np.reshape)
row("unsafe_view", (normal(2, 3), (6,)), (normal(), (1, 1)), torch=T.ops.aten._unsafe_view, numpy=np.reshape)
row("view", (normal(2, 3), (3, 2)), (normal(2, 3), (6,)), (normal(1), ()), (normal(), (1, 1)), (normal(0, 2), (2, 0, 3)),
    torch=lambda x, shape: x.view(shape), numpy=np.reshape)  # fmt: skip
row("expand", (normal(3), (2, 3)), (normal(2, 1), (4, 2, 3)), (normal(), (2, 2)), (normal(1, 3), (2, -1)), (normal(1), (0,)),
    torch=lambda x, shape: x.expand(shape),
    numpy=lambda x, shape: np.broadcast_to(x, [x.shape[i - len(shape)] if s == -1 else s for i, s in enumerate(shape)]))  # fmt: skip
row("t", (normal(2, 3),), (normal(3),), (normal(),), torch=T.t, numpy=np.transpose)
row(
    "transpose",
    (normal(2, 3, 2), 0, 2),
    (normal(2, 3), -1, 0),
    (normal(2, 3), 1, 1),
    torch=T.transpose,
    numpy=np.swapaxes,
)
row(
    "permute_to",
    (normal(2, 3, 4), (2, 0, 1)),
    (normal(2, 3), (1, 0)),
    (normal(), ()),
    torch=T.permute,
    numpy=np.transpose,
)
row(
    "unsqueeze",
    (normal(2, 3), 0),
    (normal(2, 3), -1),
    (normal(2, 3), 1),
    (normal(), 0),
    torch=T.unsqueeze,
    numpy=np.expand_dims,
)
row("squeeze_all", (normal(1, 2, 1),), (normal(2),), (normal(1, 1),), torch=T.squeeze, numpy=np.squeeze)
row("squeeze_dim", (normal(1, 2), 0), (normal(2, 1), -1), (normal(2, 3), 1), (normal(), 0), torch=T.squeeze,
    numpy=lambda x, dim: np.squeeze(x, dim) if x.ndim and x.shape[dim] == 1 else x)  # fmt: skip
row("select", (normal(2, 3), 0, 1), (normal(2, 3), -1, -2), (normal(3), 0, 0), (odd(normal(2, 3)), 1, 2), torch=T.select,
    numpy=lambda x, dim, index: np.take(x, index, dim))  # fmt: skip
row("slice", (normal(5, 2), 0, 1, 4, 2), (normal(2, 4), 1, 1, 9, 1), (normal(2, 4), -1, None, 2, 1), (normal(4), 0, 3, 3, 1), (normal(4),),
    torch=T.ops.aten.slice, numpy=lambda x, dim=0, a=None, b=None, step=1: np.moveaxis(np.moveaxis(x, dim, 0)[a:b:step], 0, dim))  # fmt: skip

# ----- their transposes, indexing -----


def _placed(shape: Any, key: Any, g: Any) -> Any:
    out = np.zeros(shape)
    out[key] = g
    return out


def _added(shape: Any, key: Any, g: Any) -> Any:
    out = np.zeros(shape)
    np.add.at(out, key, g)
    return out


row(
    "threshold_backward",
    (normal(2, 3), normal(2, 3)),
    (normal(4), np.array([0.5, -1.0, 2.0, -3.0])),
    torch=lambda g, x: T.ops.aten.threshold_backward(g, x, 0),
    numpy=lambda g, x: np.where(x <= 0, 0, g),
)
row(
    "leaky_relu_backward",
    (normal(2, 3), normal(2, 3), 0.1),
    (normal(3), np.array([0.5, -1.0, 2.0]), 0.01),
    torch=lambda g, x, slope: T.ops.aten.leaky_relu_backward(g, x, slope, False),
    numpy=lambda g, x, slope: np.where(x > 0, g, g * slope),
)
row("select_backward", (normal(3), (2, 3), 0, 1), (normal(2), (2, 3), -1, 0), torch=T.ops.aten.select_backward,
    numpy=lambda g, shape, dim, i: _placed(shape, (slice(None),) * (dim % len(shape)) + (i,), g))  # fmt: skip
row("slice_backward", (normal(2, 2), (5, 2), 0, 1, 4, 2), (normal(2, 3), (2, 4), -1, 1, 4, 1), torch=T.ops.aten.slice_backward,
    numpy=lambda g, shape, dim, a, b, step: _placed(shape, (slice(None),) * (dim % len(shape)) + (slice(a, b, step),), g))  # fmt: skip

I, J = np.array([1, 0, 1]), np.array([[0], [1]])
MASK = np.array([True, False, True])
KEYS: list[Any] = [(I,), (slice(None), I), (I, np.array([0, 1, 1])), (J, I), (MASK,), (np.array([[1]]),)]
row("index", *((normal(3, 3), Raw(k)) for k in KEYS), (odd(normal(3, 3)), Raw(KEYS[0])), (normal(3, 3), Raw((np.array([], int),))),
    torch=lambda x, key: x[_torch_key(key)], numpy=lambda x, key: x[key.value])  # fmt: skip
row("index_backward", *((normal(*np.zeros((3, 3))[k].shape), (3, 3), Raw(k)) for k in KEYS),
    torch=lambda g, shape, key: _torch_put(g, shape, key), numpy=lambda g, shape, key: _added(shape, key.value, g))  # fmt: skip
row("index_put", (normal(3, 3), Raw((np.array([0, 2]),)), normal(2, 3)), (normal(3, 3), Raw((MASK,)), normal(3)), (normal(3, 3), Raw((I[:2], J)), normal()),
    (normal(3, 3), Raw((MASK,)), 2.5), (normal(3, 3), Raw((slice(None), np.array([2, 0]))), normal(3, 1)),
    torch=lambda x, key, v: _torch_set(x, key, v), numpy=lambda x, key, v: _set(x, key.value, v))  # fmt: skip


def _torch_key(key: Raw) -> Any:
    return tuple(k if isinstance(k, slice) else T.from_numpy(k) for k in key.value)


def _torch_put(g: Any, shape: Any, key: Raw) -> Any:
    import torch

    where = torch.arange(math.prod(shape)).reshape(shape)[_torch_key(key)]
    return torch.zeros(math.prod(shape), dtype=g.dtype).index_put((where,), g, accumulate=True).reshape(shape)


def _torch_set(x: Any, key: Raw, values: Any) -> Any:
    out = x.clone()
    out[_torch_key(key)] = values
    return out


def _set(x: Any, key: Any, values: Any) -> Any:
    out = x.copy()
    out[key] = values
    return out


ROWS_OF_3 = np.array([[0, 2, 1], [1, 1, 0]])
row("gather", (normal(3, 3), 0, ROWS_OF_3), (normal(3, 3), 1, ROWS_OF_3), (normal(3, 3), -1, ROWS_OF_3[:, :1]), (normal(4), 0, np.array([3, 3])),
    torch=T.gather, numpy=lambda x, dim, i: np.take_along_axis(_cut(x, dim, i), i, dim))  # fmt: skip
row("gather_backward", (normal(2, 3), (3, 3), 0, ROWS_OF_3), (normal(2, 3), (3, 3), -1, ROWS_OF_3),
    torch=lambda g, shape, dim, i: T.zeros(shape, dtype=g.dtype).scatter_add(dim, i, g), numpy=lambda g, *rest: _gathered(g, *rest))  # fmt: skip


def _cut(x: Any, dim: int, i: Any) -> Any:
    return x[tuple(slice(None) if d == dim % x.ndim else slice(n) for d, n in enumerate(i.shape))]


def _gathered(g: Any, shape: Any, dim: int, i: Any) -> Any:
    out = np.zeros(shape)
    for at in np.ndindex(i.shape):
        to = list(at)
        to[dim] = i[at]
        out[tuple(to)] += g[at]
    return out
