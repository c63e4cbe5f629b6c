"""Slopes where a function bends or is no number, and spreads whose squares leave the range of the dtype: as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agdbg_engine as eng

torch = pytest.importorskip("torch", reason="the tests compare with it")


def same(function: Any, rtol: float = 1e-5) -> None:
    """What ``function`` of either library lists agrees."""
    ours, theirs = ([np.asarray(x.detach().tolist()) for x in function(lib)] for lib in (eng, torch))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol)


# ----- spreads of very small and very large numbers -----

SCALES = [1e-25, 1e20, 1e30]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dim", [None, 0])
@pytest.mark.parametrize("name", ["std", "var", "std_mean", "var_mean"])
def test_spreads_are_computed_in_double_on_the_cpu(name: str, dim: int | None, scale: float) -> None:
    def found(lib: Any) -> list[Any]:
        x = lib.tensor([1 * scale, 2 * scale, 4 * scale], device="cpu", requires_grad=True)
        out = getattr(lib, name)(x, dim)
        outs = out if isinstance(out, tuple) else (out,)
        return [*outs, *lib.autograd.grad(outs[0], [x])]

    same(found)


def test_the_tangent_of_a_spread_of_small_numbers() -> None:
    def found(lib: Any) -> list[Any]:
        x = lib.tensor([1e-25, 2e-25, 4e-25], device="cpu")
        return list(lib.func.jvp(lib.std, (x,), (lib.tensor([1.0, 2.0, 0.0], device="cpu"),)))

    same(found)


# ----- a dropped extreme -----


@pytest.mark.parametrize("reduce", ["amax", "amin"])
@pytest.mark.parametrize(
    ("x", "src"), [([1.0], [1.0]), ([1.0, 5.0], [1.0, 1.0]), ([3.0, 2.0], [3.0, 3.0]), ([0.0, 2.0], [0.0, 3.0])]
)
def test_a_dropped_extreme_is_no_tie_for_tangents(reduce: str, x: list[float], src: list[float]) -> None:
    """It is one for gradients, in PyTorch as well."""

    def found(lib: Any) -> list[Any]:
        index = lib.zeros(len(src), dtype=lib.int64)

        def reduced(x: Any, src: Any) -> Any:
            return x.scatter_reduce(0, index, src, reduce, include_self=False)

        tangents = lib.tensor([10.0, 20.0][: len(x)]), lib.tensor([1.0, 2.0][: len(src)])
        value, tangent = lib.func.jvp(reduced, (lib.tensor(x), lib.tensor(src)), tangents)
        a, b = lib.tensor(x, requires_grad=True), lib.tensor(src, requires_grad=True)
        return [value, tangent, *lib.autograd.grad(reduced(a, b).sum(), [a, b])]

    same(found)


# ----- second derivatives of prelu, slopes of Bessel functions -----

EDGES = [0.0, -0.0, 1.0, -1.0, float("nan")]


@pytest.mark.parametrize("x", EDGES)
def test_second_derivatives_of_prelu(x: float) -> None:
    def found(lib: Any) -> list[Any]:
        at, weight, g = (lib.tensor([v], requires_grad=True) for v in (x, 0.25, 2.0))
        first = lib.autograd.grad(lib.nn.functional.prelu(at, weight), [at, weight], g, create_graph=True)
        second = [lib.autograd.grad(f, [at, weight, g], retain_graph=True, allow_unused=True) for f in first]
        return [*first, *(lib.zeros(1) if s is None else s for row in second for s in row)]

    same(found)


@pytest.mark.parametrize("x", EDGES)
def test_tangents_of_the_gradient_of_prelu(x: float) -> None:
    def found(lib: Any) -> list[Any]:
        slope = lib.func.grad(lambda x, w: lib.nn.functional.prelu(x, w).sum())
        return list(lib.func.jvp(slope, (lib.tensor([x]), lib.tensor([0.25])), (lib.tensor([3.0]), lib.tensor([10.0]))))

    same(found)


@pytest.mark.parametrize("name", ["i1", "i1e"])
@pytest.mark.parametrize("x", [float("nan"), 0.0, -0.0, 1e-9, 0.5])
def test_slopes_of_bessel_functions(name: str, x: float) -> None:
    def found(lib: Any) -> list[Any]:
        at = lib.tensor([x], requires_grad=True)
        y = getattr(lib.special, name)(at)
        (g,) = lib.autograd.grad(y, [at], create_graph=True)
        return [y, g, *lib.autograd.grad(g, [at])]

    same(found)


# ----- logit at the ends, rows scaled twice, determinants of singular matrices -----


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("eps", [None, -1.0, 0.0, 0.1])
@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, 0.5, -1.0, 2.0, float("inf"), float("nan")])
def test_slopes_of_logit(x: float, eps: float | None, again: bool) -> None:
    """One number, as PyTorch's vectors of several do not know which zero they have; what is recorded has its own formula."""

    def found(lib: Any) -> list[Any]:
        at, g = lib.tensor([x], requires_grad=True), lib.tensor([2.0], requires_grad=True)
        (slope,) = lib.autograd.grad(lib.logit(at, eps), at, g, create_graph=again)
        return [slope, *(lib.autograd.grad(slope, [at, g]) if again else ())]

    same(found)


@pytest.mark.parametrize("padding", [None, 1])
def test_rows_scaled_by_how_often_they_are_looked_up_have_second_derivatives(padding: int | None) -> None:
    index = eng.tensor([[0, 1], [1, 2]])

    def rows(weight: Any) -> Any:
        return eng.nn.functional.embedding(index, weight, padding, scale_grad_by_freq=True)

    def slope(start: Any) -> Any:
        weight = eng.ones(3, 2, dtype=eng.float64, requires_grad=True)
        return eng.autograd.grad(rows(weight), weight, start, create_graph=True)[0]

    assert eng.autograd.gradcheck(slope, eng.ones(2, 2, 2, dtype=eng.float64, requires_grad=True))


@pytest.mark.parametrize("name", ["slogdet", "logdet", "solve_ex"])
@pytest.mark.parametrize("of", [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]])
def test_a_recorded_gradient_refuses_singular_matrices(name: str, of: list[list[float]]) -> None:
    def found(lib: Any) -> str:
        a = lib.tensor(of, requires_grad=True)
        if name == "solve_ex":
            out = lib.linalg.solve_ex(a, lib.ones(2, 1))[0].sum()
        else:
            out = lib.slogdet(a)[1] if name == "slogdet" else lib.logdet(a)
        lib.autograd.grad(out, a, retain_graph=True)  # that gives infinities or NaN
        with pytest.raises(lib.linalg.LinAlgError) as raised:
            lib.autograd.grad(out, a, create_graph=True)
        return str(raised.value).partition("\n")[0]

    assert found(eng) == found(torch)
