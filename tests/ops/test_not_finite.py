"""Zeros, infinities and NaN beside each other: signs, values and how far they spread into gradients are PyTorch's."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import agdbg_engine as ag

torch = pytest.importorskip("torch", reason="the tests compare with it")

INF, NAN = math.inf, math.nan
COMING = [1.0, INF, NAN, 0.0]
"""Gradients that come in."""


def both(compute: Any) -> tuple[Any, Any]:
    """What ``compute`` gives with this library and with PyTorch."""
    found = [np.asarray(compute(m).detach().numpy()) for m in (ag, torch)]
    return found[0], found[1]


def gradient(m: Any, function: Any, x: Any, coming: float, dtype: str = "float64") -> Any:
    t = m.tensor(x, dtype=getattr(m, dtype), requires_grad=True)
    y = function(m, t)
    (g,) = m.autograd.grad(y, t, m.full_like(y, coming))
    return g


# ----- zeros have signs -----


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("copies", [1, 400], ids=["few", "many"])
@pytest.mark.parametrize("name", ["remainder", "fmod", "floor_divide"])
def test_sign_of_zero(name: str, copies: int, dtype: str) -> None:
    some = np.array([-2.0, 2.0, -0.0, 0.0, 1.0, -1.0, 6.0, -6.0, 0.5, -0.5, 7.5, 0.1])
    a, b = (np.tile(v.ravel(), copies) for v in np.meshgrid(some, some[some != 0]))

    def operands(m: Any) -> Any:
        return [m.tensor(v, dtype=getattr(m, dtype)) for v in (a, b)]

    forms = [
        lambda m: getattr(m, name)(*operands(m)),
        lambda m: getattr(operands(m)[0], name + "_")(operands(m)[1]),
        lambda m: getattr(m, name)(operands(m)[0], 2.0),
    ]
    if name != "fmod":
        forms.append(lambda m: getattr(m, name)(-2.0, operands(m)[1]))
    if name == "remainder":
        forms.append(lambda m: operands(m)[0] % operands(m)[1])
    for form in forms:
        ours, theirs = both(form)
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))


@pytest.mark.parametrize("mode", ["floor", "trunc"])
@pytest.mark.parametrize("number", [0.1, -0.1, 0.3, 2.0])
def test_quotient_of_halves_by_a_number(number: float, mode: str) -> None:
    x = np.random.default_rng(0).standard_normal(500) * 30
    np.testing.assert_array_equal(
        *both(lambda m: m.div(m.tensor(x, dtype=m.float16), number, rounding_mode=mode)),
    )
    np.testing.assert_array_equal(*both(lambda m: m.tensor(x, dtype=m.float16) // number))
    np.testing.assert_array_equal(*both(lambda m: m.floor_divide(number, m.tensor(x, dtype=m.float16))))


# ----- gradients of products -----

FACTORS = [[0.0, 0.0], [0.0, 2.0, INF, -0.0], [NAN, 0.0, 2.0, 0.0, INF, 5.0], [0.0, INF], [2.0, INF, 0.0, 3.0], [NAN, 2.0], [INF], [0.0]]  # fmt: skip
PRODUCTS = {
    "prod": lambda m, x: x.prod(),
    "prod dim": lambda m, x: x.prod(0),
    "prod keepdim": lambda m, x: x.prod(0, True),
    "cumprod": lambda m, x: x.cumprod(0),
}


@pytest.mark.parametrize("coming", COMING)
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("factors", [*FACTORS, 0.0], ids=str)
def test_gradient_of_products(factors: Any, name: str, coming: float) -> None:
    np.testing.assert_array_equal(*both(lambda m: gradient(m, PRODUCTS[name], factors, coming)))


@pytest.mark.parametrize("dim", [0, 1])
def test_gradient_of_running_products_of_rows(dim: int) -> None:
    x = np.random.default_rng(1).choice([0.0, 2.0, INF, -INF, NAN, -0.0, 3.0], (60, 4, 5))

    def running(m: Any, t: Any) -> Any:
        return t.cumprod(dim)

    for rows in x:
        for coming in COMING:
            np.testing.assert_array_equal(*both(partial(gradient, function=running, x=rows, coming=coming)))


def test_second_derivative_of_products_with_two_zeros() -> None:
    for name in ("prod", "cumprod"):
        found = []
        for m in (ag, torch):
            x = m.tensor([0.0, 3.0, 0.0, 2.0], dtype=m.float64, requires_grad=True)
            (g,) = m.autograd.grad(PRODUCTS[name](m, x).sum(), x, create_graph=True)
            found.append(m.autograd.grad(g.sum(), x)[0].tolist())
        assert found[0] == found[1]


@pytest.mark.parametrize("factors", [*itertools.product([1.0, 0.0, INF, NAN], repeat=3), [1.0, 0.0, 1.0, NAN, 0.0, INF, 2.0, NAN] * 2], ids=str)  # fmt: skip
def test_second_derivatives_of_running_products(factors: Any) -> None:
    found = []
    for m in (ag, torch):
        x, g = (
            m.tensor(v, dtype=m.float64, requires_grad=True)
            for v in (factors, [1.0, 2.0, 3.0] + [1.0] * (len(factors) - 3))
        )
        (first,) = m.autograd.grad(x.cumprod(0), x, g, create_graph=True)
        found.append([first.tolist(), *(v.tolist() for v in m.autograd.grad(first.sum(), [x, g]))])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("coming", [NAN, INF])
@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize(
    "factors", [[1.0, 0.0, 3.0, 4.0], [1.0, 0.0, 3.0, 0.0], [INF, 2.0, 0.0, 1.0], [1.0, 2.0, 3.0, 4.0]], ids=str
)
def test_tangents_of_running_products(factors: list[float], place: int, coming: float) -> None:
    along = [coming if i == place else 1.0 for i in range(4)]

    def pushed(m: Any) -> Any:
        return m.func.jvp(lambda x: x.cumprod(0), *((m.tensor(v, dtype=m.float64),) for v in (factors, along)))[1]

    np.testing.assert_allclose(*both(pushed), rtol=1e-12)


# ----- gradients of distances -----


@pytest.mark.parametrize("coming", COMING)
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF])
@pytest.mark.parametrize("name", ["cdist", "pdist"])
def test_gradient_at_distance_zero(name: str, p: float, coming: float) -> None:
    forms = {"cdist": lambda m, x: m.cdist(x, x[:2], p), "pdist": lambda m, x: m.nn.functional.pdist(x, p)}
    x = [[1.0, 2.0], [1.0, 3.0], [1.0, 2.0], [4.0, 3.0]]
    found = both(lambda m: gradient(m, forms[name], x, coming))
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_distances_that_count_keep_nan() -> None:
    x = [[1.0, NAN, 2.0], [INF, 1.0, 2.0], [INF, 1.0, 0.0]]
    np.testing.assert_array_equal(*both(lambda m: m.cdist(m.tensor(x), m.tensor(x), 0.0)))
    np.testing.assert_array_equal(*both(lambda m: m.nn.functional.pdist(m.tensor(x), 0.0)))


# ----- infinite parts of complex numbers -----

PARTS = [0.0, -0.0, 1.0, -2.0, INF, -INF, NAN]
COMPLEX = [complex(a, b) for a in PARTS for b in PARTS]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["sgn", "abs"])
def test_direction_of_complex_infinities(name: str, dtype: str) -> None:
    np.testing.assert_allclose(*both(lambda m: getattr(m.tensor(COMPLEX, dtype=getattr(m, dtype)), name)()), rtol=1e-6)
    found = both(lambda m: gradient(m, lambda m, x: getattr(x, name)(), COMPLEX, 1.0, dtype))
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_logaddexp_of_complex_infinities() -> None:
    a, b = (v.ravel() for v in np.meshgrid(COMPLEX, COMPLEX))
    ours, theirs = both(lambda m: m.logaddexp(m.tensor(a), m.tensor(b)))
    for part in ("real", "imag"):
        np.testing.assert_allclose(getattr(ours, part), getattr(theirs, part), rtol=1e-9, atol=1e-12)


# ----- special functions -----


@pytest.mark.parametrize("n", range(6))
def test_polygamma_of_infinities(n: int) -> None:
    np.testing.assert_array_equal(*both(lambda m: m.polygamma(n, m.tensor([INF, -INF, NAN]))))


@pytest.mark.parametrize("s", [0.5, 1.0, 2.0, INF])
def test_zeta_at_infinity(s: float) -> None:
    np.testing.assert_array_equal(*both(lambda m: m.special.zeta(m.tensor(s), m.tensor([INF, -INF, NAN]))))


@pytest.mark.parametrize("p", [1, 2, 3])
def test_mvlgamma_at_its_edges(p: int) -> None:
    x = [INF, -INF, NAN, 0.0, -0.0]
    np.testing.assert_array_equal(*both(lambda m: m.mvlgamma(m.tensor(x), p)))
    np.testing.assert_array_equal(*both(lambda m: gradient(m, lambda m, t: t.mvlgamma(p), x, 1.0)))


# ----- what comes in reaches what it reaches in PyTorch -----

REDUCED = {
    "max": lambda m, x: x.max(), "min": lambda m, x: x.min(), "median": lambda m, x: x.median(),
    "nanmedian": lambda m, x: x.nanmedian(), "amax": lambda m, x: x.amax(), "nansum": lambda m, x: x.nansum(),
    "nanmean": lambda m, x: x.nanmean(), "sinc": lambda m, x: m.sinc(x), "atan2": lambda m, x: m.atan2(x, x * 0),
    "maximum": lambda m, x: m.maximum(x, x * 0 + 2), "fmax": lambda m, x: m.fmax(x, x * 0 + 2), "glu": lambda m, x: m.nn.functional.glu(x, 0),
}  # fmt: skip


@pytest.mark.parametrize("coming", COMING)
@pytest.mark.parametrize("x", [[4.0, 2.0, 3.0, 4.0], [4.0, NAN, 3.0, NAN], [0.0, 0.0, 1.0, 2.0]], ids=str)
@pytest.mark.parametrize("name", REDUCED)
def test_what_comes_in_reaches_the_same_elements(name: str, x: list[float], coming: float) -> None:
    np.testing.assert_allclose(*both(lambda m: gradient(m, REDUCED[name], x, coming)), rtol=1e-12)


@pytest.mark.parametrize("coming", COMING)
@pytest.mark.parametrize("x", [[4.0, 2.0, 3.0, 4.0], [4.0, NAN, 3.0, NAN], [0.0, 0.0, 1.0, 2.0]], ids=str)
@pytest.mark.parametrize("name", REDUCED)
def test_tangents_that_are_not_finite(name: str, x: list[float], coming: float) -> None:
    def pushed(m: Any) -> Any:
        at, along = (m.tensor(v, dtype=m.float64) for v in (x, [1.0, coming, 1.0, 1.0]))
        return m.func.jvp(partial(REDUCED[name], m), (at,), (along,))[1]

    np.testing.assert_allclose(*both(pushed), rtol=1e-12)


@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_extremes_that_are_nan_are_those_of_nobody(reduce: str, include: bool) -> None:
    def found(m: Any) -> list[Any]:
        x, src = [NAN, 1.0, NAN, 2.0], [1.0, NAN, 3.0]
        index = m.tensor([0, 1, 3])

        def reduced(x: Any, src: Any) -> Any:
            return x.scatter_reduce(0, index, src, reduce, include_self=include)

        a, b = (m.tensor(v, dtype=m.float64, requires_grad=True) for v in (x, src))
        y = reduced(a, b)
        grads = m.autograd.grad(y, [a, b], m.ones_like(y))
        pushed = m.func.jvp(reduced, (a.detach(), b.detach()), (m.ones_like(a), m.ones_like(b)))[1]
        return [v.tolist() for v in (*grads, pushed)]

    for ours, theirs in zip(found(ag), found(torch), strict=True):
        np.testing.assert_array_equal(ours, theirs)


# ----- counts and places of what has no order -----

RANGES = [[1.0, INF], [1.0, NAN], [NAN, 1.0, 2.0], [-INF, 1.0], [-INF, INF], [INF], [NAN]]


def refusal(m: Any, call: Any) -> Any:
    with pytest.raises((RuntimeError, NotImplementedError)) as caught:
        call(m)
    return type(caught.value), str(caught.value).splitlines()[0]


@pytest.mark.parametrize("x", RANGES, ids=str)
def test_a_histogram_of_what_is_not_finite_wants_a_range(x: list[float]) -> None:
    calls = (
        lambda m: m.histogram(m.tensor(x), 3),
        lambda m: m.histogramdd(m.tensor([[1.0, v] for v in x]), [2, 3]),
        lambda m: m.histogramdd(m.tensor([[v, 1.0] for v in x]), 2),
    )
    for call in calls:
        assert refusal(ag, call) == refusal(torch, call)
    for found in (
        lambda m: m.histogram(m.tensor(x), 4, range=(0.0, 2.0)).hist,
        lambda m: m.histogram(m.tensor(x), m.tensor([0.0, 1.0, 2.0])).hist,
        lambda m: m.histogramdd(m.tensor([[1.0, v] for v in x]), [1, 2], range=(0.0, 2.0, 0.0, 2.0)).hist,
    ):
        np.testing.assert_array_equal(*both(found))


@pytest.mark.parametrize("ends", [(0.0, INF), (NAN, 1.0), (1.0, NAN), (-INF, INF), (INF, 1.0), (2.0, 1.0)], ids=str)
def test_a_range_that_is_not_finite(ends: tuple[float, float]) -> None:
    calls = (
        lambda m: m.histogram(m.tensor([1.0, 2.0]), 3, range=ends),
        lambda m: m.histogramdd(m.tensor([[1.0, 2.0]]), 3, range=(0.0, 1.0, *ends)),
    )
    for call in calls:
        assert refusal(ag, call) == refusal(torch, call)


def test_a_range_of_one_number_is_moved_apart() -> None:
    for part in (0, 1):
        np.testing.assert_allclose(*both(lambda m, i=part: m.histogram(m.tensor([1.0, 2.0]), 4, range=(1.0, 1.0))[i]))
    np.testing.assert_array_equal(*both(lambda m: m.histogramdd(m.tensor([[1.0, 1.0]]), 2, range=(1.0,) * 4).hist))


@pytest.mark.parametrize("number", [1 + 2j, complex(1, 0)], ids=str)
@pytest.mark.parametrize("sequence", [[1.0, 2.0], [1, 2], [True], [], [1j]], ids=str)
def test_complex_numbers_have_no_place_in_an_order(sequence: list[Any], number: complex) -> None:
    calls = (
        lambda m: m.searchsorted(m.tensor(sequence), number),
        lambda m: m.searchsorted(m.tensor(sequence), m.tensor([number])),
        lambda m: m.bucketize(number, m.tensor(sequence)),
        lambda m: m.bucketize(m.tensor(number), m.tensor(sequence)),
        lambda m: m.searchsorted(m.tensor(sequence, dtype=m.complex128 if 1j in sequence else m.float64), number),
    )
    for call in calls:
        assert refusal(ag, call) == refusal(torch, call)


@pytest.mark.parametrize("number", [True, False, 1 + 2j], ids=str)
def test_bools_and_complex_numbers_are_not_looked_for(number: Any) -> None:
    for call in (lambda m: m.isin(m.tensor([1, 2]), number), lambda m: m.isin(number, m.tensor([1.0, 2.0]))):
        assert refusal(ag, call) == refusal(torch, call)


# ----- where images are read at points that are no numbers -----

READ = [(2, "nearest"), (2, "bicubic"), (3, "nearest"), (3, "bilinear")]
"""Not images by ``bilinear``: there PyTorch reads beyond its memory."""


@pytest.mark.parametrize("corners", [True, False])
@pytest.mark.parametrize("padding", ["border", "reflection"])
@pytest.mark.parametrize(("k", "mode"), READ)
def test_points_that_are_no_numbers(k: int, mode: str, padding: str, corners: bool) -> None:
    points = [[0.3] * k] + [[c if a == i else 0.3 for a in range(k)] for i in range(k) for c in (NAN, INF, -INF)]
    shape = (1,) * (k - 1) + (len(points), k)

    def found(m: Any) -> list[Any]:
        x = m.arange(1, 4**k + 1, dtype=m.float64).reshape(1, 1, *(4,) * k).requires_grad_()
        at = m.tensor(points, dtype=m.float64).reshape(1, *shape)
        y = m.nn.functional.grid_sample(x, at, mode, padding, corners)
        (g,) = m.autograd.grad(y.flatten() @ m.arange(1, len(points) + 1, dtype=m.float64), x)
        return [np.array(v.detach().tolist()) for v in (y, g)]

    (ours, grad), (theirs, their_grad) = found(ag), found(torch)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    if k == 2:  # docs/differences.md#points-of-nan
        np.testing.assert_allclose(grad, their_grad, rtol=1e-12)
    assert mode == "bicubic" or not np.isnan(ours).any()


def test_an_image_between_its_elements_at_nan_is_nan() -> None:
    x, at = ag.ones(1, 1, 4, 4), ag.tensor([NAN, 0.0]).reshape(1, 1, 1, 2)
    for padding in ("zeros", "border", "reflection"):
        assert math.isnan(ag.nn.functional.grid_sample(x, at, "bilinear", padding, True).item())


@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize(("value", "of_class"), [(NAN, 0), (NAN, 1), (NAN, 2), (-INF, 0), (-INF, 1), (-INF, 2)])
def test_ctc_loss_with_a_probability_of_nothing(value, of_class, zero_infinity):
    """Of a blank, of a label, and of a class that no target has: the gradient says NaN where PyTorch's does."""

    def compute(m: Any, back: bool) -> Any:
        x = m.full((3, 2, 3), -1.0, dtype=m.float64)
        x[0, 0, of_class] = value
        x.requires_grad_()
        options = {"reduction": "none", "zero_infinity": zero_infinity}
        y = m.nn.functional.ctc_loss(x, m.tensor([[1, 1], [1, 0]]), [3, 2], [1, 1], **options)
        return m.autograd.grad(y.sum(), x)[0] if back else y

    for back in (False, True):
        got, expected = both(partial(compute, back=back))
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


def test_ctc_loss_of_a_masked_logit():
    def compute(m: Any) -> Any:
        x = m.zeros(2, 1, 3, dtype=m.float64)
        x[0, 0, 2] = -INF
        x.requires_grad_()
        loss = m.nn.functional.ctc_loss(x.log_softmax(2), m.tensor([[1]]), [2], [1])
        return m.autograd.grad(loss, x)[0]

    got, expected = both(compute)
    assert np.isnan(got[0]).all()
    np.testing.assert_allclose(got, expected, atol=1e-14)


@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_ctc_loss_of_infinite_logits(normalized, zero_infinity):
    """Also in the padding, behind the end, and where a blank must not be skipped; an infinite gain is no infinite loss."""
    rng = np.random.default_rng(0)
    for targets, steps, lengths in (
        ([[1, 2], [2, 1]], [4, 2], [2, 0]),
        ([[1, 1], [2, 1]], [2, 3], [2, 1]),
        ([[1, 2], [2, 2]], [1, 0], [0, 1]),
    ):
        for step, of_class in itertools.product(range(4), range(3)):
            numbers = rng.normal(size=(4, 2, 3))
            numbers[step, :, of_class] = INF

            def compute(m: Any, back: bool, case: Any = (numbers, targets, steps, lengths)) -> Any:
                x = m.tensor(case[0].tolist(), dtype=m.float64, requires_grad=True)
                terms = x.log_softmax(2) if normalized else x
                options = {"reduction": "none", "zero_infinity": zero_infinity}
                y = m.nn.functional.ctc_loss(terms, m.tensor(case[1]), *case[2:], **options)
                return m.autograd.grad(y.sum(), x)[0] if back else y

            for back in (False, True):
                got, expected = both(partial(compute, back=back))
                np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "a", [[[NAN, 1], [1, 2]], [[1, 2], [3, NAN]], [[INF, 1], [1, 2]], [[1, INF], [1, 2]], [[NAN]], [[-INF]]]
)
def test_the_sign_of_what_is_no_number(a):
    theirs, ours = (
        [part.tolist() for part in lib.linalg.slogdet(lib.tensor([a, a], dtype=lib.float64))] for lib in (torch, ag)
    )
    np.testing.assert_equal(np.abs(ours), np.abs(theirs))
    assert np.sign(ours[0]).tolist() == np.sign(theirs[0]).tolist()
