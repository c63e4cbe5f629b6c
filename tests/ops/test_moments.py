"""Spreads of float32 by blocks: equal to those in double, however the operand lies in memory and wherever it is split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.ops import moments

SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((), ()),
    ((1,), ()),
    ((401,), ()),
    ((401,), (0,)),
    ((7, 60), (0,)),
    ((7, 60), (1,)),
    ((60, 7), (-2, -1)),
    ((3, 5, 11, 4), (0, 2, 3)),
    ((3, 5, 11, 4), (1,)),
    ((1, 1, 300), (1, 2)),
]


@pytest.mark.parametrize("block", [4, 50, 1 << 15])
@pytest.mark.parametrize(("shape", "dims"), SHAPES)
@pytest.mark.parametrize("lying", ["in rows", "in columns", "in steps"])
def test_spreads_by_blocks_are_those_in_double(
    shape: tuple[int, ...], dims: tuple[int, ...], lying: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moments, "BLOCK", block)
    x: Any = np.asarray(np.random.default_rng(0).standard_normal(shape) + 1e4, np.float32)
    if lying == "in columns":
        x = np.asfortranarray(x)
    elif lying == "in steps" and x.ndim:
        x = np.repeat(x, 2, 0)[::2]
    axis = dims or None
    n = x.size if axis is None else int(np.prod([x.shape[d] for d in dims]))
    expected = np.square(x.astype(np.float64) - x.mean(axis, np.float64, keepdims=True)).sum(axis) / np.float64(n)
    mean_expected = np.add.reduce(x, axis, np.float64) / np.float64(n)
    for keepdim in (False, True):
        var, mean = ag.var_mean(ag.from_numpy(x), axis, correction=0, keepdim=keepdim)
        np.testing.assert_allclose(var.numpy().reshape(expected.shape), expected, rtol=2e-7)
        np.testing.assert_allclose(mean.numpy().reshape(expected.shape), mean_expected, rtol=2e-7)
        np.testing.assert_allclose(
            ag.std(ag.from_numpy(x), axis, correction=0, keepdim=keepdim).numpy() ** 2, var.numpy(), rtol=5e-7
        )


def test_what_is_not_finite_stays_so_in_its_row() -> None:
    x = np.ones((3, 100_000), np.float32)
    x[0, 70_000], x[1, 5] = np.inf, np.nan
    np.testing.assert_array_equal(ag.var(ag.from_numpy(x), 1).numpy(), [np.nan, np.nan, 0])


@pytest.mark.parametrize(("dim", "shape"), [(None, ()), (0, (3,)), (1, (0,))])
def test_of_nothing_it_is_no_number(dim: int | None, shape: tuple[int, ...]) -> None:
    with np.errstate(invalid="ignore"), pytest.warns(UserWarning, match="degrees of freedom"):
        found = ag.var(ag.zeros(0, 3), dim, correction=3)
    assert found.shape == shape
    assert found.isnan().all()
