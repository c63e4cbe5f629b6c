"""Values at the edges of dtypes: what overflows in half precision, wraps around in small integers, is infinite or empty."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import agdbg_engine as eng
from agdbg_engine.nn import functional as F

HALF = eng.float16


def half(n: int, value: float = 1.0) -> Any:
    return eng.full((n,), value, dtype=HALF, requires_grad=True)


def gradient(result: Any, x: Any) -> Any:
    (g,) = eng.autograd.grad(result, [x])
    return g


# ----- half precision is summed in single -----


@pytest.mark.parametrize("form", [lambda x: x.mean(), lambda x: x.mean(0), lambda x: eng.var_mean(x)[1]])
def test_mean_of_many_halves(form: Any) -> None:
    x = half(70000)
    y = form(x)
    assert y.dtype == HALF and y.item() == 1.0
    assert gradient(y, x)[0].item() == pytest.approx(1 / 70000, rel=0.01)


def test_mean_of_large_halves() -> None:
    assert half(3000, 300.0).mean().item() == 300.0


def test_mean_of_halves_has_a_second_derivative() -> None:
    x = half(70000)
    (g,) = eng.autograd.grad((x * x).mean(), [x], create_graph=True)
    assert g.dtype == HALF and g[0].item() == pytest.approx(2 / 70000, rel=0.01)


def test_spread_of_many_halves() -> None:
    x = (eng.arange(70000) % 7).to(HALF).requires_grad_()
    assert x.var().item() == 4.0 and x.std(0).item() == 2.0
    assert gradient(x.var(), x)[0].item() == pytest.approx(-2 * 3 / 70000, rel=0.01)


@pytest.mark.parametrize(
    ("loss", "value"), [(F.mse_loss, 13.0), (F.l1_loss, 3.0), (F.smooth_l1_loss, 2.572), (F.huber_loss, 2.572)]
)
def test_mean_losses_of_many_halves(loss: Any, value: float) -> None:
    x = (eng.arange(70000) % 7).to(HALF).requires_grad_()
    y = loss(x, eng.zeros_like(x))
    assert y.item() == pytest.approx(value, rel=1e-3)
    assert gradient(y, x)[1].item() > 0


def test_squares_of_large_halves() -> None:
    assert F.mse_loss(half(100, 200.0), eng.zeros(100, dtype=HALF)).item() == 40000.0


def test_softmax_of_many_halves() -> None:
    x = half(70000)
    assert x.softmax(0)[0].item() == pytest.approx(1 / 70000, rel=0.01)
    y = x.log_softmax(0)
    assert y[0].item() == pytest.approx(-math.log(70000), rel=1e-3)
    assert abs(eng.autograd.grad(y, [x], eng.ones(70000, dtype=HALF))[0][0].item()) < 1e-5


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax"])
def test_scattered_halves_do_not_stall(reduce: str) -> None:
    x, index = half(4000), eng.zeros(4000, dtype=eng.int64)
    y = eng.zeros(1, dtype=HALF).scatter_reduce(0, index, x, reduce, include_self=False)
    assert y.item() == (4000.0 if reduce == "sum" else 1.0)
    assert gradient(y, x)[0].item() == pytest.approx(1.0 if reduce == "sum" else 1 / 4000, rel=1e-3)
    assert eng.zeros(1, dtype=HALF).scatter_add(0, index, x).item() == 4000.0
    source = half(2)
    assert gradient(source.gather(0, index).sum(), source).tolist() == [4000.0, 0.0]


def test_bags_of_halves_do_not_stall() -> None:
    weight = half(2).reshape(2, 1)
    assert F.embedding_bag(eng.zeros(1, 4000, dtype=eng.int64), weight, mode="sum").item() == 4000.0


def test_factors_of_halves_come_before_the_rounding() -> None:
    x = half(2, 300.0)
    assert eng.addcmul(x, x, x, value=0.001)[0].item() == 390.0
    one, row, column = eng.ones(1, 1, dtype=HALF), x[None], x[:, None]
    assert eng.addmm(one, row, column, alpha=0.0001).item() == 19.0
    assert eng.baddbmm(one[None], row[None], column[None], alpha=0.0001).item() == 19.0
    assert eng.addmv(one[0], row, x, alpha=0.0001).item() == 19.0
    assert eng.ldexp(eng.tensor([1e-4], dtype=HALF), eng.tensor([17])).item() == pytest.approx(13.11, rel=1e-3)


# ----- sums with a factor -----


@pytest.mark.parametrize(("dtype", "other"), [("int64", "uint8"), ("float32", "uint8"), ("float32", "float16")])
def test_factor_is_applied_in_the_common_dtype(dtype: str, other: str) -> None:
    n = 60000 if other == "float16" else 200
    x, y = eng.tensor([5], dtype=getattr(eng, dtype)), eng.tensor([n], dtype=getattr(eng, other))
    assert x.add(y, alpha=2).item() == 5 + 2 * n
    assert x.sub(y, alpha=2).item() == 5 - 2 * n
    assert eng.rsub(y, x, alpha=2).item() == 5 - 2 * n
    assert x.clone().add_(y, alpha=2).item() == 5 + 2 * n


@pytest.mark.parametrize(
    ("name", "node", "slopes"),
    [("add", "AddBackward0", (1, 2)), ("sub", "SubBackward0", (1, -2)), ("rsub", "RsubBackward0", (-2, 1))],
)
def test_factor_is_part_of_the_node(name: str, node: str, slopes: Any) -> None:
    x, y = eng.tensor([1.0], requires_grad=True), eng.tensor([2.0, 3.0], requires_grad=True)
    z = getattr(eng, name)(x, y, alpha=2)
    assert z.grad_fn.name() == node and z.grad_fn._saved_alpha == 2
    assert all(edge[0].name().endswith("AccumulateGrad") for edge in z.grad_fn.next_functions)
    for _ in range(2):  # nothing is freed
        z.backward(eng.ones(2))
    assert x.grad.item() == 4 * slopes[0] and y.grad.tolist() == [2 * slopes[1]] * 2


def test_factor_that_does_not_fit() -> None:
    x = eng.tensor([1], dtype=eng.uint8)
    for y in (1, x):
        with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
            x.sub(y, alpha=300)
    assert x.add(x, alpha=-1).item() == 0
    assert eng.tensor([True]).add(eng.tensor([True]), alpha=2).item() is True


# ----- operands of small integers -----


@pytest.mark.parametrize("dtype", ["uint8", "int8", "float16"])
def test_gradients_are_computed_in_the_dtype_of_the_result(dtype: str) -> None:
    x, seven = eng.tensor([2.0], requires_grad=True), eng.tensor([7], dtype=getattr(eng, dtype))
    assert gradient(eng.xlogy(x, seven), x).item() == pytest.approx(math.log(7), rel=1e-6)
    assert gradient(eng.special.xlog1py(x, seven), x).item() == pytest.approx(math.log(8), rel=1e-6)


@pytest.mark.parametrize("name", ["fmod", "remainder"])
@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_remainder_of_integers_by_a_float(name: str, dtype: str) -> None:
    one = eng.tensor([1], dtype=getattr(eng, dtype))
    for value, slope in ((0.0, -math.inf), (0.4, -2.0), (math.inf, -0.0)):
        y = eng.tensor(value, requires_grad=True)
        assert gradient(getattr(eng, name)(one, y), y).item() == pytest.approx(slope)


# ----- infinities, NaN, limits -----


@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_scatter_reduce_of_a_longer_source(reduce: str) -> None:
    x, y = eng.tensor([1.0, 9.0], requires_grad=True), eng.tensor([3.0, 2.0, 7.0], requires_grad=True)
    z = x.scatter_reduce(0, eng.tensor([0, 0]), y, reduce, include_self=False)
    assert gradient(z.sum(), y).tolist() == ([1.0, 0.0, 0.0] if reduce == "amax" else [0.0, 1.0, 0.0])


def test_running_sums_are_wider_inside() -> None:
    assert (eng.ones(100000) * 0.1).cumsum(0)[-1].item() == 10000.0
    assert (eng.ones(100000) * 1.00001).cumprod(0)[-1].item() == pytest.approx(2.7219622, rel=1e-7)
    assert eng.logcumsumexp(eng.ones(100000) * 0.1, 0)[-1].item() == pytest.approx(0.1 + math.log(100000), rel=1e-7)


def test_logit_beyond_one_half() -> None:
    found = eng.logit(eng.tensor([0.1, 0.5, 2.0]), 0.6)
    np.testing.assert_allclose(found.numpy(), np.log([1.5, 1.5, 1 / 1.5]), rtol=1e-6)


def test_distances_from_nan() -> None:
    x = eng.tensor([[3.0, 1.0]], requires_grad=True)
    g = gradient(eng.cdist(x, eng.tensor([[math.nan, 0.0]]), p=1.0).sum(), x)
    assert math.isnan(g[0, 0].item()) and g[0, 1].item() == 1.0


def test_special_functions_far_out() -> None:
    assert eng.special.airy_ai(eng.tensor([1e30])).item() == 0.0
    for degree in (1e30, math.inf):
        assert eng.special.hermite_polynomial_h(eng.tensor([0.5]), eng.tensor([degree])).item() == 0.0


# ----- results one can use -----


def test_products_without_self_can_be_written() -> None:
    bias = eng.ones(1)
    for out in (
        eng.addmm(bias, eng.ones(3, 2), eng.ones(2, 2), beta=0),
        eng.addmv(bias, eng.ones(3, 2), eng.ones(2), beta=0),
        eng.addbmm(bias, eng.ones(1, 3, 2), eng.ones(1, 2, 2), beta=0),
        eng.baddbmm(bias, eng.ones(1, 3, 2), eng.ones(1, 2, 2), beta=0),
    ):
        out[...] = 5.0
        assert out.sum().item() == 5 * out.numel()


def test_bool_exponents() -> None:
    x = eng.tensor([2.0], requires_grad=True)
    assert gradient(x.pow(True), x).item() == 1.0
    bools = eng.tensor([True, False])
    assert bools.pow(True).tolist() == [True, False] and bools.pow(False).tolist() == [True, True]
    assert bools.clone().pow_(True).dtype == eng.bool


def test_nothing_at_all() -> None:
    assert F.fractional_max_pool2d(eng.ones(1, 1, 4, 4), 2, output_ratio=(0.01, 0.5)).shape == (1, 1, 0, 2)
    assert eng.tile(eng.ones(0), (2, -1)).shape == (2, 0)
    assert eng.linalg.cond(eng.ones(0, 0)).item() == 0.0 and eng.linalg.cond(eng.ones(2, 0, 0)).tolist() == [0.0, 0.0]
    assert eng.roll(eng.ones(0), 1, 5).shape == eng.cat([eng.ones(0), eng.ones(0)], 1).shape == (0,)
    assert eng.diff(eng.ones(3), 0, 5).shape == (3,)


def test_dtypes_of_integer_operands() -> None:
    assert eng.unravel_index(eng.tensor([5], dtype=eng.int8), (2, 3))[0].dtype == eng.int64
    ones = [eng.ones(*s, dtype=eng.int16) for s in ((2, 3), (2, 4), (5, 3, 4))]
    assert F.bilinear(*ones).dtype == eng.int16
    powers = eng.pow(-1, eng.tensor([-1, -2], dtype=eng.int32))
    assert powers.dtype == eng.int32 and powers.tolist() == [-1, 1]
    for drop in (F.dropout, F.alpha_dropout, F.dropout2d):
        assert drop(eng.ones(1, 2, 2, 2, dtype=eng.int64), 1.0, True).dtype == eng.int64
    loss = F.hinge_embedding_loss(eng.tensor([1, 2, 3]), eng.tensor([1, -1, 1]), reduction="none")
    assert loss.dtype == eng.int64 and loss.tolist() == [1, 0, 3]


def test_names_of_results() -> None:
    x = eng.tensor([[2.0, 1.0], [1.0, 3.0]])
    results = {
        "sort": x.sort(), "max": x.max(0), "min": x.min(0), "median": x.median(0), "linalg_eigh": eng.linalg.eigh(x),
        "svd": eng.svd(x), "linalg_lu_factor": eng.linalg.lu_factor(x), "topk": x.topk(1),
    }  # fmt: skip
    for name, result in results.items():
        assert type(result).__name__ == name
    assert repr(x.max(0)).startswith("agdbg_engine.return_types.max(\nvalues=tensor(")


# ----- arguments -----


def test_numbers_before_tensors_of_bits() -> None:
    x = eng.tensor([1, 2, 3])
    assert eng.bitwise_and(1, x).tolist() == [1, 0, 1]
    assert eng.bitwise_or(1, x).tolist() == [1, 3, 3]
    assert eng.bitwise_xor(True, eng.tensor([True, False])).tolist() == [False, True]


def test_a_dimension_shifted_twice() -> None:
    x = eng.arange(6.0).reshape(2, 3)
    assert eng.fft.fftshift(x, (-1, 1)).tolist() == [[1.0, 2.0, 0.0], [4.0, 5.0, 3.0]]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_gather_by_small_integers_is_refused(dtype: str) -> None:
    with pytest.raises(RuntimeError, match="Expected dtype int32/int64 for index"):
        eng.gather(eng.arange(3.0), 0, eng.ones(2, dtype=getattr(eng, dtype)))


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0")  # what is tested is what comes out then
@pytest.mark.parametrize("spread", ["var", "std"])
@pytest.mark.parametrize(("correction", "options"), [(3, {}), (5, {}), (3, {"dim": 0}), (9, {"dim": (0,)})])
def test_gradient_of_a_spread_without_degrees_of_freedom(spread: str, correction: int, options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the reference here")
    found = []
    for lib in (torch, eng):
        x = lib.tensor([0.0, 1.0, 2.0], requires_grad=True)
        found.append(gradient_of(lib, getattr(lib, spread)(x, correction=correction, **options), x))
    np.testing.assert_array_equal(found[1], found[0])


def gradient_of(lib: Any, result: Any, x: Any) -> Any:
    (g,) = lib.autograd.grad(result, [x])
    return g.numpy()


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0")
@pytest.mark.parametrize("spread", ["var", "std", "var_mean", "std_mean"])
@pytest.mark.parametrize("correction", [3, 5])
@pytest.mark.parametrize("dim", [None, 0])
def test_derivatives_of_a_spread_without_degrees_of_freedom(spread: str, correction: int, dim: Any) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the reference here")
    found = []
    for lib in (torch, eng):
        fw = lib.autograd.forward_ad
        x = lib.tensor([0.0, 0.0, 5.0], dtype=lib.float64, requires_grad=True)
        y = getattr(lib, spread)(x, dim=dim, correction=correction)
        y = y[0] if isinstance(y, tuple) else y
        g = lib.ones_like(y).requires_grad_()
        (first,) = lib.autograd.grad(y, x, g, create_graph=True)
        second = lib.autograd.grad(first.sum(), [x, g], allow_unused=True)
        with fw.dual_level():
            z = getattr(lib, spread)(fw.make_dual(x.detach(), lib.ones_like(x)), dim=dim, correction=correction)
            tangents = [fw.unpack_dual(t).tangent for t in (z if isinstance(z, tuple) else (z,))]
        found.append([t.detach().numpy() for t in (first, second[1], *tangents)])
        found[-1].append(np.zeros(3) if second[0] is None else second[0].numpy())
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


# ----- deviations of equal numbers -----

DIVISORS = [{}, {"dim": -1}, {"dim": -1, "unbiased": False}, {"dim": -1, "correction": 3}, {"dim": -1, "correction": 2, "keepdim": True}]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0")
@pytest.mark.parametrize("name", ["std", "var", "std_mean", "var_mean"])
@pytest.mark.parametrize("how", DIVISORS, ids=str)
def test_derivatives_at_zero_variance(name: str, how: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the reference here")
    made = []
    for library in (torch, eng):
        mode = library.autograd.forward_ad
        x = library.ones(2, 3, dtype=library.float64).requires_grad_()
        with mode.dual_level():
            dual = mode.make_dual(x, library.arange(6.0, dtype=library.float64).reshape(2, 3))
            results = getattr(library, name)(dual, **how)
            results = results if isinstance(results, tuple) else (results,)
            pairs = [mode.unpack_dual(r) for r in results]
        seen = [p.primal for p in pairs] + [p.tangent for p in pairs]
        seen += library.autograd.grad([r.sum() for r in results], x)
        made.append([s.detach().numpy() for s in seen])
    for theirs, ours in zip(*made, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


# ----- complex powers -----

PLACES = [0j, complex(0, -0.0), complex(-0.0, 0), complex(np.inf, 0), complex(0, np.inf), 1e-310 + 0j, 1 + 2j]
POWERS: dict[str, Any] = {
    "reciprocal": lambda T, x: x.reciprocal(), "by a tensor": lambda T, x: x ** T.tensor(-1.0),
    "by complex ones": lambda T, x: x ** T.full_like(x, -1), "of zero": lambda T, x: 0**x, "by itself": lambda T, x: x**x,
    **{f"** {e}": lambda T, x, e=e: x**e for e in (-2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, 1 / 3, 2j)},
}  # fmt: skip


@pytest.mark.parametrize("power", POWERS)
def test_complex_powers_at_zero_and_infinity(power: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the reference here")
    found = []
    for lib in (torch, eng):
        x = lib.tensor(PLACES, dtype=lib.complex128, requires_grad=True)
        y = POWERS[power](lib, x)
        (g,) = lib.autograd.grad(y, x, lib.ones_like(y), create_graph=True)
        found.append([t.detach().resolve_conj().numpy() for t in (y, g)])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours.real, theirs.real, rtol=1e-12)
        np.testing.assert_allclose(ours.imag, theirs.imag, rtol=1e-12)


def test_log_gamma_near_zero() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the reference here")
    x = np.array([1e-310, -1e-310, 5e-324, 0.0, -0.0, 1e-301, -1e-301, 1e-299, -np.inf, np.nan])
    np.testing.assert_allclose(eng.lgamma(eng.tensor(x)).numpy(), torch.lgamma(torch.tensor(x)).numpy(), rtol=1e-15)


def test_tangent_of_addcdiv_by_zero() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the reference here")
    found = []
    for lib in (torch, eng):
        x = [lib.tensor(v) for v in ([1.0, 0.0, np.inf], [1.0, 1.0, 1.0], [0.0, -0.0, 0.0])]
        found.append(
            lib.func.jvp(lambda *a, T=lib: T.addcdiv(*a, value=2), tuple(x), tuple(map(lib.ones_like, x)))[1].numpy()
        )
    np.testing.assert_array_equal(found[1], found[0])


# ----- what is not a number comes in -----

CURVES = {"elu": (), "elu of 2": (2.0,), "celu": (), "celu of 2": (2.0,), "selu": ()}


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("coming", [np.nan, np.inf, 1.0])
def test_second_derivative_of_an_exponential_unit(curve: str, coming: float) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the reference here")
    found = []
    for lib in (torch, eng):
        for value in (0.0, -0.0, 1.0, -1.0):  # one by one, as vectors of the CPU do otherwise
            x = lib.tensor([value], dtype=lib.float64, requires_grad=True)
            y = getattr(lib.nn.functional, curve.split()[0])(x, *CURVES[curve])
            (g,) = lib.autograd.grad(y, x, lib.full_like(y, coming), create_graph=True)
            found.append(lib.autograd.grad(g, x, lib.ones_like(g))[0].item())
    np.testing.assert_allclose(found[4:], found[:4], rtol=1e-12)


@pytest.mark.parametrize("coming", [np.nan, np.inf, 1.0])
@pytest.mark.parametrize("weight", [0.25, np.nan])
def test_prelu_at_zero_and_above(coming: float, weight: float) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the reference here")
    found = []
    for lib in (torch, eng):
        x = lib.tensor([0.0, -0.0, 1.0, -1.0], dtype=lib.float64, requires_grad=True)
        w = lib.tensor([weight], dtype=lib.float64, requires_grad=True)
        y = lib.nn.functional.prelu(x, w)
        first = lib.autograd.grad(y, [x, w], lib.full_like(y, coming), create_graph=True)
        second = lib.autograd.grad([g.sum() for g in first], [x, w])
        tangent = lib.func.jvp(
            lambda w, x=x.detach(), T=lib: T.nn.functional.prelu(x, w), (w.detach(),), (lib.full_like(w, coming),)
        )[1]
        found.append([t.detach().numpy() for t in (*first, *second, tangent)])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)
