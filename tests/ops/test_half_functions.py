"""Every finite number of half precision through the functions whose formulas pass its largest number on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agdbg_engine as eng

torch = pytest.importorskip("torch", reason="the tests compare with it")

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
FINITE = ALL[np.isfinite(ALL)]

Function = Callable[[Any, Any], Any]
"""Of a library and a tensor."""

ACTIVATIONS = "celu elu gelu hardsigmoid hardswish logsigmoid mish selu silu softplus softsign tanhshrink"
OTHERS = "sigmoid tanh exp expm1 log1p reciprocal"
FUNCTIONS: dict[str, Function] = {
    **{
        name: lambda lib, x, name=name: getattr(lib.nn.functional, name)(x)
        for name in ACTIVATIONS.split()
    },
    **{name: lambda lib, x, name=name: getattr(lib, name)(x) for name in OTHERS.split()},
    "gelu_tanh": lambda lib, x: lib.nn.functional.gelu(x, approximate="tanh"),
    "softplus_of_half": lambda lib, x: lib.nn.functional.softplus(x, beta=0.5),
    "softplus_of_seven": lambda lib, x: lib.nn.functional.softplus(x, beta=7.0),
    "glu": lambda lib, x: lib.nn.functional.glu(lib.stack((x, x))),
    "cube": lambda lib, x: x**3.0,
    "one_over_square": lambda lib, x: x**-2.0,
    "one_over": lambda lib, x: x**-1.0,
}  # fmt: skip


def both(lib: Any, function: Function, grad: bool = True) -> list[np.ndarray[Any, Any]]:
    """Values and gradients in double precision."""
    x = lib.tensor(FINITE if lib is torch else FINITE.copy(), requires_grad=grad)
    y = function(lib, x)
    if grad:
        y.backward(lib.ones_like(y))
    return [a.detach().numpy().astype(np.float64) for a in ((y, x.grad) if grad else (y,))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_of_all_halves(name: str) -> None:
    for ours, theirs in zip(both(eng, FUNCTIONS[name]), both(torch, FUNCTIONS[name]), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=4e-3, atol=4e-6)


def test_sinc_of_all_halves() -> None:
    """PyTorch's gradient is rounded at every step; its value is not."""
    ours, theirs = (both(lib, lambda lib, x: lib.sinc(x), grad=False)[0] for lib in (eng, torch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-6)


def rms(lib: Any, dtype: str, eps: float | None = None) -> Any:
    x = lib.tensor([[0.01, -0.02, 0.03, 0.015]]).abs().to(getattr(lib, dtype))
    return lib.nn.RMSNorm(4, eps=eps, elementwise_affine=False)(x)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rms_norm_adds_the_eps_of_the_dtype_that_it_computes_in(dtype: str) -> None:
    np.testing.assert_allclose(rms(eng, dtype).numpy(), rms(torch, dtype).numpy(), rtol=1e-3)


@pytest.mark.parametrize("eps", [None, 1e-5])
@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_rms_norm_of_integers_is_refused(dtype: str, eps: float | None) -> None:
    with pytest.raises(NotImplementedError) as theirs:
        rms(torch, dtype, eps)
    with pytest.raises(NotImplementedError) as ours:
        rms(eng, dtype, eps)
    assert str(ours.value).splitlines()[0] == str(theirs.value)
