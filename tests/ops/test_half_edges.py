"""Half precision where steps in between overflow, vanish or are rounded: the value is PyTorch's, also where that is no number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agdbg_engine as ag

torch: Any = pytest.importorskip("torch", reason="the tests compare with it")

ONE_SIDE = [
    0.0,
    6e-8,
    1e-6,
    1e-4,
    0.001,
    0.01,
    0.1,
    0.5,
    1,
    2,
    3,
    5,
    8,
    11.5,
    20,
    50,
    100,
    300,
    1000,
    30000,
    65504,
    np.inf,
]
POINTS = np.array([*ONE_SIDE, *(-x for x in ONE_SIDE), np.nan])
ALL_PAIRS = [half.ravel() for half in np.meshgrid(POINTS, POINTS)]

OF_ONE: dict[str, Callable[[Any, Any], Any]] = {
    "rsqrt": lambda t, x: t.rsqrt(x),
    "log2": lambda t, x: t.log2(x),
    "log10": lambda t, x: t.log10(x),
    "deg2rad": lambda t, x: t.deg2rad(x),
    "rad2deg": lambda t, x: t.rad2deg(x),
    "ndtr": lambda t, x: t.special.ndtr(x),
}
OF_TWO: dict[str, Callable[[Any, Any, Any], Any]] = {
    "atan2": lambda t, x, y: t.atan2(x, y),
    "soft_margin_loss": lambda t, x, y: t.nn.functional.soft_margin_loss(x, y.detach(), reduction="none"),
}


def found(lib: Any, function: Any, dtype: str, *operands: Any) -> list[Any]:
    """The value and the gradients."""
    tensors = [lib.from_numpy(x.astype(dtype)).requires_grad_() for x in operands]
    out = function(lib, *tensors)
    grads = lib.autograd.grad(out.sum(), tensors, allow_unused=True)
    return [x.detach().numpy() for x in (out, *grads) if x is not None]


def agree(function: Any, dtype: str, *operands: Any) -> None:
    """Equal to two units in the last place, or to what a smaller rounding does in float32."""
    for mine, theirs in zip(*(found(lib, function, dtype, *operands) for lib in (ag, torch)), strict=True):
        assert mine.dtype == theirs.dtype
        rtol, atol = (2e-3, 6e-8) if dtype == "float16" else (2e-5, 1e-37)
        np.testing.assert_allclose(mine.astype(float), theirs.astype(float), rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", OF_ONE)
def test_of_one(name: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        agree(OF_ONE[name], dtype, POINTS)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", OF_TWO)
def test_of_two(name: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        agree(OF_TWO[name], dtype, *ALL_PAIRS)


def test_the_last_places_of_gradients() -> None:
    """Each is rounded where PyTorch rounds it, in what it computes many at once: three rounded factors were three places off."""
    for name, x in (("rsqrt", [0.001, 300.0, 7.0]), ("log2", [0.1, 0.3, 9.0]), ("log10", [0.1, 0.3, 9.0])):
        mine, theirs = (found(lib, OF_ONE[name], "float16", np.array(x * 32)) for lib in (ag, torch))
        np.testing.assert_array_equal(mine[1], theirs[1])


def test_tails_and_overflow_are_those_of_pytorch() -> None:
    tail = ag.special.ndtr(ag.tensor([-9.0, -6.0]))
    assert tail.tolist() == torch.special.ndtr(torch.tensor([-9.0, -6.0])).tolist() == [0.0, 0.0]
    losses = [lib.nn.functional.soft_margin_loss(lib.tensor([-200.0]), lib.ones(1)).item() for lib in (ag, torch)]
    assert losses[0] == losses[1] == np.inf


@pytest.mark.parametrize("as_tensor", [False, True])
@pytest.mark.parametrize("exponent", [0.5, -0.5, 1.5, -1.5, 2.5, -2.0, 3.0])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_powers_of_negative_zero_and_infinity(dtype: str, exponent: float, as_tensor: bool) -> None:
    """A half power of single and double precision is a root if it is given as a number; of half precision it is a power."""

    def found(lib: Any) -> list[list[float]]:
        x = lib.tensor([0.0, -0.0, np.inf, -np.inf, -1.0, 4.0, np.nan], dtype=getattr(lib, dtype), requires_grad=True)
        out = lib.pow(x, lib.tensor(exponent, dtype=x.dtype) if as_tensor else exponent)
        return [
            [*t.tolist(), *lib.signbit(t.nan_to_num(1.0)).tolist()] for t in (out, lib.autograd.grad(out.sum(), x)[0])
        ]

    np.testing.assert_allclose(found(ag), found(torch), rtol=2e-3)
