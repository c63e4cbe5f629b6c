"""Distances between all pairs of rows: values and gradients as PyTorch's, of first and second order, however rows are split."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import agdbg_engine as eng
from agdbg_engine.ops.wide.layers import pairs

torch = pytest.importorskip("torch", reason="the tests compare with it")


def of(lib: Any, x: Any, p: float) -> list[Any]:
    """Distances and the gradient of their weighted sum."""
    leaf = lib.from_numpy(x.copy()).requires_grad_()
    out = lib.pdist(leaf, p)
    weights = lib.from_numpy(np.random.default_rng(1).standard_normal(out.shape).astype(x.dtype))
    return [out.detach().numpy(), lib.autograd.grad(out, [leaf], weights)[0].numpy()]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf])
@pytest.mark.parametrize("shape", [(2, 1), (9, 4), (31, 5)])
def test_distances_and_gradients(shape: tuple[int, int], p: float, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "BLOCK", 400)
    x = np.random.default_rng(0).standard_normal(shape).round(1).astype(dtype)
    x[-1] = x[0]
    for a, b in zip(of(eng, x, p), of(torch, x, p), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
def test_near_rows_far_from_the_origin(p: float) -> None:
    x = (1000 + np.random.default_rng(0).standard_normal((30, 8)) * 1e-3).astype(np.float32)
    for a, b in zip(of(eng, x, p), of(torch, x, p), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("scale", [1e-30, 1e25])
def test_squares_leave_the_range_as_in_pytorch(scale: float) -> None:
    x = np.array([[0, 1], [2, 5], [3, 3]], np.float32) * np.float32(scale)
    np.testing.assert_array_equal(*(of(lib, x, 2.0)[0] for lib in (eng, torch)))


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
def test_second_order(p: float) -> None:
    x = eng.randn(5, 3, dtype=eng.float64, generator=eng.Generator().manual_seed(0)).requires_grad_()
    assert eng.autograd.gradgradcheck(lambda x: eng.pdist(x, p), [x])
