"""Large arrays, for which some kernels choose by bits: the same results as for small ones, whatever the numbers are."""

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.ops import kernels

N = 3 * kernels.SMALL
rng = np.random.default_rng(5)
ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-310, 1.5, -2.0])


def numbers(dtype, n=N):
    with np.errstate(over="ignore"):
        return rng.choice(ODD, n).astype(dtype)


def mask(*shape):
    return rng.random(shape) < 0.5


def same(ours, theirs):
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))


every_float = pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])


@every_float
def test_where(dtype):
    c, x, y = mask(N), numbers(dtype), numbers(dtype)
    same(kernels.where(c, x, y), np.where(c, x, y))
    same(kernels.where(c, x[::-1], y), np.where(c, x[::-1], y))
    same(kernels.where(c[:, None], x[:, None], y[:2]), np.where(c[:, None], x[:, None], y[:2]))


@every_float
def test_masked_fill(dtype):
    m, x = mask(N), numbers(dtype)
    for value in (0, -1.5, float("-inf"), float("nan"), np.asarray(2.0, dtype)):
        same(kernels.masked_fill(x, m, value), np.where(m, np.asarray(value, dtype), x))
    same(
        kernels.masked_fill(x.reshape(2, -1), m[: N // 2], 1.0),
        np.where(m[: N // 2], np.asarray(1, dtype), x.reshape(2, -1)),
    )


@every_float
def test_keep_and_drop(dtype):
    m, g = mask(N), numbers(dtype)
    zero = np.zeros((), dtype)
    same(kernels.keep(g, m), np.where(m, g, zero))
    same(kernels.drop(g, m), np.where(m, zero, g))
    table, row, column = g.reshape(3, -1), mask(N // 3), mask(3, 1)
    for some in (row, column):
        same(kernels.keep(table, some), np.where(some, table, zero))
        same(kernels.drop(table, some), np.where(some, zero, table))
    same(kernels.keep(table.T, row[:, None]), np.where(row[:, None], table.T, zero))
    wide = np.broadcast_to(g[:1], (N,))
    same(kernels.drop(wide, m), np.where(m, zero, wide))


@pytest.mark.parametrize("dtype", ["int64", "int32", "bool"])
def test_where_of_integers(dtype):
    c, x, y = mask(N), rng.integers(0, 2, N).astype(dtype), rng.integers(0, 2, N).astype(dtype)
    np.testing.assert_array_equal(kernels.where(c, x, y), np.where(c, x, y))
    np.testing.assert_array_equal(kernels.masked_fill(x, c, 1), np.where(c, 1, x))


PROGRAMS = {
    "relu": lambda x: x.relu(),
    "clamp": lambda x: x.clamp(-0.5, 0.5),
    "clamp_min": lambda x: x.clamp_min(0.25),
    "where": lambda x: ag.where(x > 0, x, x * 3),
    "where and a number": lambda x: ag.where(x > 0, x, 2.0),
    "masked_fill": lambda x: x.masked_fill(x > 0, -1),
    "maximum": lambda x: ag.maximum(x, -x),
    "abs": lambda x: x.abs(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_large_tensor_is_as_many_small_ones(name):
    values = rng.standard_normal(N)
    x = ag.tensor(values, requires_grad=True)
    y = PROGRAMS[name](x)
    (y * y).sum().backward()
    small = [ag.tensor(part, requires_grad=True) for part in np.split(values, 6)]
    parts = [PROGRAMS[name](s) for s in small]
    for p in parts:
        (p * p).sum().backward()
    np.testing.assert_array_equal(y.detach().numpy(), np.concatenate([p.detach().numpy() for p in parts]))
    np.testing.assert_array_equal(x.grad.numpy(), np.concatenate([s.grad.numpy() for s in small]))
