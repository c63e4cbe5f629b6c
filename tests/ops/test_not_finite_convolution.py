"""Infinities and NaN in convolutions: what a product with them reaches is PyTorch's, and nothing else is touched."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import agdbg_engine as ag

torch = pytest.importorskip("torch", reason="the tests compare with it")

INF, NAN = math.inf, math.nan
FORMS = {
    "plain": (2, 3, {}), "one": (1, 1, {}), "fewer": (3, 2, {}), "padded": (2, 2, {"padding": 1}), "stride": (2, 3, {"stride": 2}),
    "dilation": (3, 2, {"dilation": 2}), "groups": (4, 4, {"groups": 2}), "depthwise": (3, 3, {"groups": 3}),
    "padded groups": (2, 4, {"groups": 2, "padding": 2}), "all": (4, 2, {"groups": 2, "padding": 1, "stride": 2, "dilation": 2}),
}  # fmt: skip
"""Channels of inputs and results, and what the call is told."""


def everything(m: Any, name: str, values: list[Any], how: dict[str, Any]) -> list[Any]:
    """The result, its gradients and those of their sums."""
    x, w, g = (m.tensor(v.tolist(), dtype=m.float64, requires_grad=True) for v in values)
    y = getattr(m.nn.functional, name)(x, w, **how)
    gx, gw = m.autograd.grad(
        y, (x, w), m.cat([g.flatten()] * y.numel())[: y.numel()].reshape(y.shape), create_graph=True
    )
    seconds = (*m.autograd.grad(gx.sum(), (w, g), retain_graph=True), *m.autograd.grad(gw.sum(), (x, g)))
    return [np.array(v.detach().tolist()) for v in (y, gx, gw, *seconds)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("transposed", [False, True], ids=["", "transposed"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_reach(k: int, transposed: bool, form: str) -> None:
    channels, results, how = FORMS[form]
    groups = how.get("groups", 1)
    between = (channels, results // groups) if transposed else (results, channels // groups)
    name = f"conv_transpose{k}d" if transposed else f"conv{k}d"
    rng = np.random.default_rng(k)
    for which, number in itertools.product(range(3), (INF, NAN)):
        shapes = [(1, channels, *(5,) * k), (*between, *(3,) * k), (7,)]
        values = [rng.integers(1, 4, shape).astype(float) for shape in shapes]
        values[which].flat[rng.integers(values[which].size)] = number
        for ours, theirs in zip(*(everything(m, name, values, how) for m in (ag, torch)), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_an_infinite_weight_reaches_one_corner() -> None:
    w, x = ag.ones(1, 1, 3, 3), ag.ones(1, 1, 5, 5, requires_grad=True)
    w[0, 0, 0, 0] = INF
    ag.nn.functional.conv2d(x, w).sum().backward()
    corner = np.isinf(x.grad.numpy()[0, 0])
    assert corner[:3, :3].all() and corner.sum() == 9 and not np.isnan(x.grad.numpy()).any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_weight_that_is_nan_leaves_the_end(dtype: str) -> None:
    x, w = ag.ones(1, 1, 3, dtype=getattr(ag, dtype)), ag.tensor([[[NAN, 1.0]]], dtype=getattr(ag, dtype))
    np.testing.assert_array_equal(ag.nn.functional.conv_transpose1d(x, w).numpy(), [[[NAN, NAN, NAN, 1.0]]])
