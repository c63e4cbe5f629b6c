"""Ops as users call them: value, gradients, second gradients and graph are those of PyTorch."""

import re
from pathlib import Path

import numpy as np
import pytest
from agdbg_tests_differential import facts, graph_of
from agdbg_tests_op_samples import normal, odd, positive, spread

import agdbg_engine as ag
from agdbg_engine.ops import FUNCTIONS, IN_PLACE_FUNCTIONS, INPLACE, METHODS, PUBLIC, RESHAPING


@pytest.fixture(scope="session")
def torch():
    """PyTorch, or a visible skip."""
    return pytest.importorskip("torch")


A, B = normal(2, 3), normal(2, 3)
V, W = normal(3), normal(3)
P, S = positive(2, 3), spread(2, 3)
M32, C = normal(3, 2), normal(2, 2, 3)

PROGRAMS = {
    # arithmetic, by functions, methods and operators
    "add": (lambda t, x, y: t.add(x, y) + x.add(2) + (1 + x) + t.add(x, y, alpha=1), A, B),
    "add in place": (lambda t, x, y: (x * 1).add_(y).add_(1), A, V),
    "+=": (lambda t, x, y: iadd(x * 1, y), A, B),
    "sub": (lambda t, x, y: t.sub(x, y) - x.sub(2) - (1 - x) - t.rsub(x, y), A, B),
    "sub in place": (lambda t, x, y: (x * 1).sub_(y).sub_(0.5), A, V),
    "mul": (lambda t, x, y: t.mul(x, y) * x.mul(2) * (3 * x), A, V),
    "mul in place": (lambda t, x, y: (x * 1).mul_(y).mul_(2), A, B),
    "div": (lambda t, x, y: t.div(x, y) / x.div(2) / (2 / y), P, P + 1),
    "div in place": (lambda t, x, y: (x * 1).div_(y).div_(2), P, P + 1),
    "pow": (lambda t, x, y: t.pow(x, y) + x.pow(2) + x**3 + 2**x + t.pow(2, x), P, P + 1),
    "pow in place": (lambda t, x: (x * 1).pow_(2).pow_(0.5), P),
    "square": (lambda t, x: t.square(x) + x.square(), A),
    "neg": (lambda t, x: -x + t.neg(x) + x.neg(), A),
    "neg in place": (lambda t, x: (x * 1).neg_(), A),
    "abs": (lambda t, x: abs(x) + t.abs(x) + x.abs(), S),
    "abs in place": (lambda t, x: (x * 1).abs_(), S),
    "NumPy numbers": (lambda t, x: np.float64(2) * x + x / np.float32(0.5) - np.int64(3) + (x + True), A),
    "maximum": (lambda t, x, y: t.maximum(x, y) + x.maximum(y) + t.max(x, y), S, S + 0.2),
    "minimum": (lambda t, x, y: t.minimum(x, y) + x.minimum(y) + x.min(y), S, S + 0.2),
    # functions of one tensor
    "exp": (lambda t, x: t.exp(x) + x.exp() + (x * 1).exp_(), A),
    "expm1": (lambda t, x: t.expm1(x) + x.expm1() + (x * 1).expm1_(), A),
    "log": (lambda t, x: t.log(x) + x.log() + (x * 1).log_(), P),
    "log1p": (lambda t, x: t.log1p(x) + x.log1p() + (x * 1).log1p_(), P),
    "sqrt": (lambda t, x: t.sqrt(x) + x.sqrt() + (x * 1).sqrt_(), P),
    "rsqrt": (lambda t, x: t.rsqrt(x) + x.rsqrt() + (x * 1).rsqrt_(), P),
    "reciprocal": (lambda t, x: t.reciprocal(x) + x.reciprocal() + (x * 1).reciprocal_(), P),
    "sgn": (lambda t, x: x * t.sgn(x) + x.sgn() + (x * 1).sgn_(), S),
    "angle": (lambda t, x: x * t.angle(x) + x.angle(), S),
    "complex": (lambda t, x, y: t.complex(x, y).abs() + t.polar(x.abs(), y).imag, A, B),
    "parts": (lambda t, x: t.real(t.complex(x, x)) * t.imag(t.complex(x * 2, x)) * t.real(x), A),
    "views of complex numbers": (lambda t, x: t.view_as_real(t.view_as_complex(x) * 2j), normal(3, 2)),
    "conjugates of real numbers": (lambda t, x: t.conj(x) + x.conj() + t.conj_physical(x) + x.conj_physical(), A),
    "complex casts": (lambda t, x: x.cfloat().real.double() + x.cdouble().abs(), A),
    "nothing to resolve": (lambda t, x: t.resolve_conj(x) + x.resolve_conj() + x.adjoint().mH + x.H.H, A),
    "attributes": (
        lambda t, x: x * (t.numel(x) + t.is_complex(x) + t.is_conj(x) + t.is_floating_point(x) + t.is_inference(x)) * t.is_same_size(x, x),
        A,
    ),
    "sign": (lambda t, x: x * t.sign(x) + x.sign() + (x * 1).sign_(), S),
    "floor": (lambda t, x: x * t.floor(x) + x.floor() + (x * 1).floor_(), S),
    "ceil": (lambda t, x: x * t.ceil(x) + x.ceil() + (x * 1).ceil_(), S),
    "round": (lambda t, x: x * t.round(x) + x.round() + (x * 1).round_(), S),
    "trunc": (lambda t, x: x * t.trunc(x) + x.trunc() + (x * 1).trunc_(), S),
    "sin": (lambda t, x: t.sin(x) + x.sin() + (x * 1).sin_(), A),
    "cos": (lambda t, x: t.cos(x) + x.cos() + (x * 1).cos_(), A),
    "tanh": (lambda t, x: t.tanh(x) + x.tanh() + (x * 1).tanh_(), A),
    "sigmoid": (lambda t, x: t.sigmoid(x) + x.sigmoid() + (x * 1).sigmoid_(), A),
    "relu": (lambda t, x: t.relu(x) + x.relu() + (x * 1).relu_(), S),
    "clamp": (lambda t, x: t.clamp(x, -0.6, 0.6) + x.clamp(min=0) + x.clamp(max=0.6) + (x * 1).clamp_(-1, 1), S),
    "clamp_min": (lambda t, x, y: t.clamp_min(x, 0.3) + x.clamp_min(y) + (x * 1).clamp_min_(0), S, S + 0.2),
    "clamp_max": (lambda t, x, y: t.clamp_max(x, 0.3) + x.clamp_max(y) + (x * 1).clamp_max_(0), S, S + 0.2),
    # choosing
    "where": (lambda t, x, y: t.where(x > 0, x, y) + t.where(y > 0, x, 0.5) + t.where(x > y, 2, y), A, B),
    "where by row": (lambda t, x, y: t.where(y > 0, x, y), A, V),
    "masked_fill": (lambda t, x, y: t.masked_fill(x, x > 0, 2) * x.masked_fill(x < 0, y[0]), A, V),
    "masked_fill in place": (lambda t, x: (x * 1).masked_fill_(x > 0, 2), A),
    "fill_": (lambda t, x, y: (x * 1).fill_(2) + x + (x * 1).fill_(y[0]), A, V),
    "zero_": (lambda t, x: (x * 1).zero_() + x, A),
    "copy_": (lambda t, x, y: (x * 1).copy_(y) * x, A, V),
    "clone": (lambda t, x: t.clone(x) + x.clone(), A),
    # reductions
    "sum": (lambda t, x: t.sum(x) + x.sum(0).sum() + x.sum((0, 1)) + t.sum(x, -1, True).sum() + x.sum(dim=1)[0], A),
    "sum of a scalar": (lambda t, x: x[0].sum(0) + x[1].sum(-1, True) + x[2].sum(), V),
    "mean": (lambda t, x: t.mean(x) + x.mean(0).sum() + x.mean((0, 1)) + x.mean(-1, True).sum(), A),
    "var": (lambda t, x: t.var(x) + x.var(0).sum() + x.var(1, correction=0).sum() + x.var(unbiased=False), A),
    "std": (lambda t, x: t.std(x) + x.std(0).sum() + x.std((0, 1), keepdim=True).sum(), A),
    "norm": (lambda t, x: t.norm(x) + x.norm(dim=0).sum() + x.norm(2, 1, True).sum(), A),
    "logsumexp": (lambda t, x: t.logsumexp(x, 0).sum() + x.logsumexp((0, 1)) + x[0, 0].logsumexp(0), A),
    "softmax": (lambda t, x: t.softmax(x, 0) + x.softmax(-1) * x[0].softmax(0), A),
    "log_softmax": (lambda t, x: t.log_softmax(x, 0) + x.log_softmax(-1) * x[0].log_softmax(0), A),
    "amax": (lambda t, x: t.amax(x) + x.amax(0).sum() + x.amax((0, 1), True).sum() + x[0, 0].amax(0), S),
    "amin": (lambda t, x: t.amin(x) + x.amin(0).sum() + x.amin((0, 1), True).sum(), S),
    "max": (lambda t, x: t.max(x) + x.max() + t.max(x, 1).values.sum() + x.max(0, True)[0].sum() + x[0, 0].max(0)[0], S),
    "min": (lambda t, x: t.min(x) + x.min() + t.min(x, 1).values.sum() + x.min(0, True)[0].sum(), S),
    # products
    "mm": (lambda t, x, y: t.mm(x, y) + x.mm(y) + x @ y, A, M32),
    "mv": (lambda t, x, y: t.mv(x, y) + x.mv(y) + x @ y, A, V),
    "dot": (lambda t, x, y: t.dot(x, y) + x.dot(y) + x @ y, V, W),
    "bmm": (lambda t, x, y: t.bmm(x, y.mT) + x.bmm(y.mT) + x @ y.mT, C, C + 1),
    "addmm": (lambda t, b, x, y: t.addmm(b, x, y) + b.addmm(x, y), V[:2].copy(), A, M32),
    "outer": (lambda t, x, y: t.outer(x, y) + x.outer(y), V, W),
    "vector @ matrix": (lambda t, x, y: x @ y, V, M32),
    "batch @ matrix": (lambda t, x, y: t.matmul(x, y), C, M32),
    "batch @ vector": (lambda t, x, y: x.matmul(y), C, V),
    "vector @ batch": (lambda t, x, y: x @ y, normal(2), C),
    "matrix @ batch": (lambda t, x, y: x @ y.mT, A, C),
    "batch @ batch, broadcast": (lambda t, x, y: x @ y, normal(2, 1, 2, 3), normal(3, 3, 2)),
    "odd matrices": (lambda t, x, y: x.T @ y.T, odd(A), odd(M32)),
    "empty matrices": (lambda t, x, y: x @ y + 1, normal(2, 0), normal(0, 3)),
    "empty batch @ matrix": (lambda t, x, y: x @ y, normal(0, 2, 3), normal(3, 2)),
    # shapes
    "view": (lambda t, x: x.view(3, 2) * x.view((3, -1)) * x.view(6).view(3, 2) * x.view_as(t.zeros(2, 3)).view(-1, 2), A),
    "reshape": (lambda t, x: t.reshape(x, (3, 2)) * x.reshape(3, -1) * x.T.reshape(3, 2) * x.T.reshape(6).reshape(3, 2), A),
    "contiguous": (lambda t, x: x.contiguous() * x.T.contiguous().T, A),
    "flatten": (lambda t, x: t.flatten(x) + x.flatten(1).flatten() + x[0, 0].flatten(), A),
    "flatten a transpose": (lambda t, x: x.T.flatten() * x.transpose(0, 1).flatten(0, 1), A),
    "expand": (lambda t, x: x.expand(2, 3) * x.expand((4, 1, 3))[:2, 0] * x.expand_as(t.zeros(2, 3)) * x.expand(2, -1), V),
    "sum_to_size": (lambda t, x: x.sum_to_size(1, 3) + x.sum_to_size(3) + x.sum_to_size((2, 1)).sum(), A),
    "permute": (lambda t, x: t.permute(x, (2, 0, 1)) + x.permute(-1, 0, 1), C),
    "transpose": (lambda t, x: t.transpose(x, 0, 2) + x.transpose(-1, 0), C),
    "t": (lambda t, x: t.t(x) + x.t() + x.T + x.mT, A),
    "t of a vector": (lambda t, x: x.t() + t.t(x), V),
    "unsqueeze": (lambda t, x: t.unsqueeze(x, 0) + x.unsqueeze(-3), A),
    "squeeze": (lambda t, x: t.squeeze(x) + x.squeeze(0).squeeze(-1) + x.squeeze(1).squeeze(), normal(1, 3, 1)),
    "select": (lambda t, x: t.select(x, 1, -1) + x.select(0, 1)[0], A),
    "narrow": (lambda t, x: t.narrow(x, 1, 1, 2) * x.narrow(-1, 0, 2) * x.narrow(1, -2, 2), A),
    "split": (lambda t, x: weighted(t, t.split(x, 2, 1)) + weighted(t, x.split([1, 2], 1)), A),
    "chunk": (lambda t, x: weighted(t, t.chunk(x, 2, 1)) + weighted(t, x.chunk(2)), A),
    "unsafe_split": (lambda t, x: weighted(t, t.unsafe_split(x, 2, 1)) + weighted(t, x.unsafe_split(1)).sum(), A),
    "unsafe_split_with_sizes": (
        lambda t, x: weighted(t, t.unsafe_split_with_sizes(x, [1, 2], 1)) + weighted(t, x.unsafe_split_with_sizes([2])).sum(), A,
    ),
    "unsafe_chunk": (lambda t, x: weighted(t, t.unsafe_chunk(x, 2, 1)) + weighted(t, x.unsafe_chunk(2)).sum(), A),
    "split, one piece unused": (lambda t, x: x.split([1, 1, 1], 1)[1] * 2, A),
    "unbind": (lambda t, x: weighted(t, t.unbind(x)) + weighted(t, x.unbind(1)).sum(), A),
    "iterating": (lambda t, x: weighted(t, list(x)), A),
    "cat": (lambda t, x, y: t.cat([x, y, x]) * 2 + t.cat((y, x, y), dim=-2), A, B),
    "cat with nothing": (lambda t, x: t.cat([x, t.tensor([], dtype=t.float64), x], 1), A),
    "stack": (lambda t, x, y: t.stack([x, y]) + t.stack((x, y), dim=-1).permute(2, 0, 1), A, B),
    # indexing
    "gather": (lambda t, x: t.gather(x, 1, t.tensor([[0, 0], [2, 1]])) + x.gather(-2, t.tensor([[1, 0]])), A),
    "index_put": (
        lambda t, x: t.index_put(x, (t.tensor([0]),), x[1]) * x.index_put((t.tensor([1, 1]),), x[:1].exp(), accumulate=True), A,
    ),
    "x[i]": (lambda t, x: x[1] + x[-2] + x[0, :] + x[..., 1].sum() + x[t.tensor(1)], A),
    "x[slice]": (lambda t, x: x[1:] + x[:1] + x[:, :] + x[...] + x[()] + x[:, 0:3] + x[0:2] + x[:], A),
    "x[a:b:c]": (lambda t, x: x[:, ::2] * x[0:5:2, -2:] * x[..., :2], A),
    "x[None]": (lambda t, x: x[None] + x[:, None].sum() + x[..., None, :] + x[None, 0], A),
    "x[list]": (lambda t, x: x[[1, 0]] + x[[True, False]] + x[np.array([0, 0])], A),
    "x[tensor]": (lambda t, x: x[t.tensor([1, 1, 0])].sum(0) + x[t.tensor([[0, 1]])].sum(1) + x[t.tensor([], dtype=t.int64)].sum(), A),
    "x[tensors]": (lambda t, x: x[t.tensor([0, 1]), t.tensor([2, 0])] + x[t.tensor([[0], [1]]), t.tensor([0, 1])], A),
    "x[mask]": (lambda t, x: x[t.tensor([[True, False, True], [True, True, False]])] * 2, A),
    "x[mask, i]": (lambda t, x: x[t.tensor([True, False]), 1] + x[1, t.tensor([0, 2])].sum() + x[:, t.tensor([0])].sum(), A),
    "x[True]": (lambda t, x: x[True] + x[0, True].sum() + x[False].sum(), A),
    "x[i, :, j] of tensors": (lambda t, x: x[t.tensor([0, 1]), :, t.tensor([2, 0])], C),
    "x[i, None, j] of tensors": (lambda t, x: x[t.tensor([0, 1]), None, t.tensor([1, 0])], C),
    "x[..., i] of tensors": (lambda t, x: x[..., t.tensor([2, 0])] * x[0, ..., t.tensor([1])], C),
    "x[bytes]": (lambda t, x: x[:, t.tensor([1, 0, 1])].sum(0), A),
    "x[i] = y": (lambda t, x, y: assign(x * 1, 0, y), A, V),
    "x[i] = number": (lambda t, x: assign(x * 1, (slice(None), 1), 2.0), A),
    "x[:] = y": (lambda t, x, y: assign(x * 1, slice(None), y), A, V),
    "x[...] = y": (lambda t, x, y: assign(x * 1, ..., y), A, V),
    "x[tensor] = y": (lambda t, x, y: assign(x * 1, t.tensor([1]), y), A, V),
    "x[tensors] = y": (lambda t, x, y: assign(x * 1, (t.tensor([0, 1]), t.tensor([2, 0])), y[:2]), A, V),
    "x[mask] = number": (lambda t, x: assign(x * 1, t.tensor([True, False]), 2.0), A),
    "x[mask] = y": (lambda t, x, y: assign(x * 1, t.tensor([False, True]), y), A, V),
    "x[:, list] = y": (lambda t, x, y: assign(x * 1, (slice(None), [2, 0]), y[:2]), A, V),
    "x[slice of nothing] = y": (lambda t, x, y: assign(x * 1, slice(5, 2), y), A, V),
    "x[mask of nothing] = y": (lambda t, x, y: assign(x * 1, t.tensor([False, False]), y), A, V),
    "x[False,] = y": (lambda t, x, y: assign(x * 1, (False,), y), A, V),
    "x[0][1:] = y": (lambda t, x, y: assign_view(x * 1, y), A, V),
    "index_put_": (lambda t, x, y: (x * 1).index_put_((t.tensor([1]),), y), A, V),
    # dtypes
    "to": (lambda t, x: x.to(t.float32).to(t.float64) + x.float().double() + x.type_as(t.tensor(1.0)).double() + x.to(x), A),
    "mixed dtypes": (lambda t, x: x.float() * x + x.half() - x.float(), A),
    "number - tensor by name": (lambda t, x: t.sub(2, x), A),
    "alpha": (lambda t, x, y: t.add(x, y, alpha=2) - x.sub(y, alpha=0.5) + (x * 1).add_(y, alpha=3), A, B),
}  # fmt: skip

OTHER_GRAPH = {
    "mixed dtypes": "PyTorch casts inside the op, the engine by a node of its own",
    "number - tensor by name": "torch.sub(2, x) is a SubBackward0 there",
}
"""Programs whose graph is not PyTorch's, and why."""


def iadd(x, y):
    x += y
    return x


def assign(x, key, value):
    x[key] = value
    return x


def assign_view(x, y):
    row = x[0]
    row[1:] = y[:2]
    return x * row


def weighted(t, pieces):
    """The pieces in different proportions, so that each has its own gradient."""
    return t.cat([p.reshape(-1) * (i + 1) for i, p in enumerate(pieces)])


def run(library, name):
    """Facts of the value, its graph, the gradients and the gradients of those."""
    program, *arrays = PROGRAMS[name]
    leaves = [library.from_numpy(a.copy()).requires_grad_() for a in arrays]
    out = program(library, *leaves)
    g = library.ones_like(out) * 0.5
    first = library.autograd.grad(out, leaves, g, create_graph=True)
    total = sum((f * f).sum() for f in first)
    second = [None] * len(leaves)
    if total.requires_grad:
        second = library.autograd.grad(total, leaves, allow_unused=True)
    values = [x if x is None else x.detach().clone() for x in (out, *first, *second)]
    return facts(values), graph_of(out)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(name, torch):
    theirs, ours = run(torch, name)[0], run(ag, name)[0]
    for a, b in zip(theirs, ours, strict=True):
        if a is None or b is None:  # PyTorch gives zeros or nothing for a gradient that is 0 everywhere
            assert not np.any((b if a is None else a)["values"].array if a is not b else 0)
        else:
            assert a == b


@pytest.mark.parametrize("name", PROGRAMS)
def test_graph(name, torch):
    assert (run(ag, name)[1] == run(torch, name)[1]) == (name not in OTHER_GRAPH)


# ----- ops without a gradient -----

INTS, BYTES = np.array([[3, 0, 1], [1, 2, 1]]), np.array([[True, False, True], [False, False, True]])
ODD_NUMBERS = np.array([[0.0, -1.0, np.nan], [np.inf, -np.inf, 2.0]])

PLAIN = {
    "operators": (lambda t, x, y: [x < y, x <= y, x > y, x >= y, x == y, x != y], INTS, INTS[0]),
    "operators with numbers": (lambda t, x: [x < 1, 1 <= x, x > 0.5, 2 >= x, x == 1, True != x, x == None, x != "a"], INTS),
    "functions": (lambda t, x, y: [t.lt(x, y), t.le(x, y), t.gt(x, y), t.ge(x, y), t.eq(x, y), t.ne(x, y)], INTS, INTS[0]),
    "methods": (lambda t, x, y: [x.lt(y), x.le(1), x.gt(y), x.ge(0.5), x.eq(y), x.ne(1)], INTS, INTS[0]),
    "logic": (lambda t, x, y: [t.logical_and(x, y), t.logical_or(x, y), t.logical_xor(x, y), t.logical_not(x)], INTS, BYTES),
    "logic by methods": (lambda t, x, y: [x.logical_and(y), x.logical_or(y), x.logical_xor(y), x.logical_not()], INTS, BYTES),
    "bits": (lambda t, x, y: [x & y, x | y, x ^ y, ~x, ~y, x & 1, 1 | x, 3 ^ x], INTS, BYTES),
    "bits by name": (lambda t, x: [t.bitwise_and(x, 1), t.bitwise_or(x, 1), t.bitwise_xor(x, 1), t.bitwise_not(x)], INTS),
    "bits by methods": (lambda t, x: [x.bitwise_and(1), x.bitwise_or(x), x.bitwise_xor(1), x.bitwise_not()], INTS),
    "tests": (lambda t, x: [t.isnan(x), t.isinf(x), t.isfinite(x), x.isnan(), x.isinf(), x.isfinite()], ODD_NUMBERS),
    "argmax": (lambda t, x: [t.argmax(x), x.argmax(1), x.argmax(-2, True), x.argmax(keepdim=True), x[0, 0].argmax(0)], INTS),
    "argmin": (lambda t, x: [t.argmin(x), x.argmin(1), x.argmin(-2, True), x.argmin(keepdim=True)], INTS),
    "argmax of NaN": (lambda t, x: [x.argmax(), x.argmin(1)], ODD_NUMBERS),
    "all": (lambda t, x: [t.all(x), x.all(1), x.all(dim=(0, 1)), x.all(-1, True), x[0, 0].all(0)], BYTES),
    "any": (lambda t, x: [t.any(x), x.any(1), x.any(dim=(0, 1)), x.any(-1, True), x[0, 0].any(0)], BYTES),
    "all of numbers": (lambda t, x: [t.all(x), t.any(x), x.all(0), x.any(1)], INTS),
    "allclose": (lambda t, x: [t.allclose(x, x), x.allclose(x, equal_nan=True), t.allclose(x[1, 2:], x[1, 2:] + 1e-9)], ODD_NUMBERS),
    "equal": (lambda t, x: [t.equal(x, x), x.equal(x + 1), t.equal(x, x[0]), x.equal(x.double())], INTS),
    "where": (lambda t, x: [*(p.clone() for p in t.where(x)), t.where(x, 1, 2), t.where(x, 1.0, 2), t.where(x, True, False)], BYTES),
    "max of integers": (lambda t, x: [x.max(), *x.max(0), *x.min(1, True), t.amax(x, 1), t.maximum(x, x[0])], INTS),
    "casts": (lambda t, x: [x.long(), x.int(), x.bool(), x.to(t.int64), x.to(t.uint8), x.half()], np.abs(ODD_NUMBERS[:, :1])),
    "integers": (lambda t, x: [x + 1, x * x, x - 1, -x, x**2, 2**x, x / 2, x.sum(), x.sum(0), abs(-x), x @ x.T], INTS),
    "empty": (lambda t, x: [x.sum(), x.sum(0), x.sum(1), x.mean(1), x.all(), x.any(1), x.norm(), x.logsumexp(1)], np.zeros((2, 0))),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_without_gradient(name, torch):
    program, *arrays = PLAIN[name]
    ours, theirs = ([facts(v) for v in program(library, *map(library.from_numpy, arrays))] for library in (ag, torch))
    assert ours == theirs


def test_comparisons_cut_the_graph():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    for y in (x < 1, x == x, ag.isnan(x), x.argmax(), x.max(0).indices, (x > 1) & (x < 3)):
        assert not y.requires_grad
        assert y.is_leaf


# ----- other types beside tensors -----


class Foreign:
    """Knows what to do beside a tensor."""

    def __radd__(self, other):
        return "radd"

    def __rmatmul__(self, other):
        return "rmatmul"

    def __lt__(self, other):
        return "lt"


def test_operators_let_the_other_operand_try():
    x = ag.ones(2)
    assert x + Foreign() == "radd"
    assert (x > Foreign()) == "lt"


def test_numpy_arrays_become_tensors():
    x = ag.ones(2, requires_grad=True)
    for y in (x + np.ones(2), np.ones(2) + x, np.ones(2) * x, x / np.array(2.0)):
        assert isinstance(y, ag.Tensor)
        assert y.requires_grad


def test_an_array_that_is_written_to_afterwards_changes_no_gradient():
    x, array = ag.ones(2, requires_grad=True), np.array([2.0, 3.0], np.float32)
    y = (x * array).sum()
    array[:] = 100
    y.backward()
    assert x.grad.tolist() == [2, 3]


def test_fractions_are_numbers():
    from fractions import Fraction

    assert (ag.ones(2) * Fraction(1, 2)).tolist() == [0.5, 0.5]


def test_methods_that_are_functions_too():
    import agdbg_engine as t

    x = t.ones(2, requires_grad=True)
    assert not t.detach(x).requires_grad and t.resolve_neg(x) is x
    assert [y.dtype for y in (x.byte(), x.char(), x.short())] == [t.uint8, t.int8, t.int16]
    assert t.is_signed(x) and not t.is_neg(x) and t.detach_(x * 2).grad_fn is None


# ----- completeness -----


def test_every_public_function_and_method_is_called_here():
    source = Path(__file__).read_text()
    proved_elsewhere = {*PUBLIC["torch"], *PUBLIC["Tensor"], *INPLACE, *RESHAPING}  # ops of families: tests/ops
    proved_elsewhere |= {f"{n}_" for n in IN_PLACE_FUNCTIONS}  # the methods of these names
    assert set(FUNCTIONS) - proved_elsewhere - set(re.findall(r"\bt\.(\w+)\(", source)) == set()
    assert set(METHODS) - proved_elsewhere - set(re.findall(r"\.(\w+)\(", source)) == set()


def test_type_checkers_know_every_operator():
    stub = Path(ag.ops.__file__).with_name("_methods.pyi").read_text()
    known = set(re.findall(r"def (\w+)\(", stub))
    assert {n for n in ag.ops._OPERATORS if not re.fullmatch("__i(add|sub|mul|truediv|pow)__", n)} <= known


def test_public_names_are_pytorchs(torch):
    assert [n for n in FUNCTIONS if not hasattr(torch, n)] == []
    assert [n for n in METHODS if not hasattr(torch.Tensor, n)] == []
