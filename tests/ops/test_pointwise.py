"""Pointwise functions where samples do not reach: zeros, bounds, infinities, numbers for tensors, operators, wrong arguments."""

import itertools
import math
import operator

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is the reference here")

import torch

import agdbg_engine as engine

INF, NAN = float("inf"), float("nan")
POINTS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -1.5, 3.0, 30.0, -30.0, 1e-3, 800.0, -800.0, INF, -INF, NAN)
UNARY = (
    "acos acosh asin asinh atan atanh tan sinh cosh exp2 log2 log10 sinc deg2rad rad2deg frac erf erfc erfinv lgamma logit "
    "nan_to_num special.entr special.erfcx special.i0e special.log_ndtr special.ndtr special.ndtri signbit isposinf isneginf"
)
BINARY = (
    "atan2 hypot xlogy special.xlog1py logaddexp logaddexp2 ldexp fmax fmin fmod remainder copysign nextafter heaviside "
    "floor_divide float_power true_divide isclose"
)


def found(library, name):
    return operator.attrgetter(name)(library)


def outcome(library, function, *columns, dtype="float64"):
    """Value, gradients and gradients of their sum; derivatives as far as there are any."""
    xs = [library.tensor(c, dtype=getattr(library, dtype), requires_grad=True) for c in columns]
    out = function(*xs)
    results = [out.detach().numpy()]
    try:
        grads = library.autograd.grad(out, xs, library.ones_like(out), create_graph=True, allow_unused=True)
        results += [np.zeros(len(columns[0])) if g is None else g.detach().numpy() for g in grads]
        second = [g for g in grads if g is not None and g.requires_grad]
        if second:
            deeper = library.autograd.grad(second, xs, [library.ones_like(g) for g in second], allow_unused=True)
            results += [np.zeros(len(columns[0])) if g is None else g.detach().numpy() for g in deeper]
    except RuntimeError:
        pass
    return results


def same(name, *columns, without=()):
    theirs, ours = (outcome(lib, found(lib, name), *columns) for lib in (torch, engine))
    places = [i for i, p in enumerate(zip(*columns, strict=True)) if not any(repr(x) in without for x in p)]
    for a, b in itertools.zip_longest(theirs, ours, fillvalue=np.zeros(len(columns[0]))):
        assert a.dtype == b.dtype or a.dtype == np.float64
        np.testing.assert_allclose(b[places], a[places], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", UNARY.split())
def test_unary_at_corners(name):
    same(name, POINTS)


@pytest.mark.parametrize("name", ["i0", "special.i1", "special.i1e", "digamma"])
def test_unary_at_finite_corners(name):
    """At NaN and infinity PyTorch's derivatives are those at 0 (i0, i1) or NaN instead of 0 (digamma)."""
    same(name, POINTS, without=("nan", "inf"))


@pytest.mark.parametrize("name", BINARY.split())
def test_binary_at_corners(name):
    pairs = list(itertools.product(POINTS, POINTS))
    same(name, *zip(*pairs, strict=True))


PLANE = (
    0.3 + 0.4j,
    -0.6 - 2j,
    2 + 0j,
    -2 + 0j,
    complex(2, -0.0),
    complex(-2, -0.0),
    2j,
    complex(-0.0, 2),
    -2j,
    0.5 + 0j,
)


@pytest.mark.parametrize("name", ["acos", "acosh", "asin", "asinh", "atan", "atanh"])
def test_both_sides_of_branch_cuts(name):
    theirs, ours = (outcome(lib, found(lib, name), PLANE, dtype="complex128") for lib in (torch, engine))
    for a, b in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12)


LINEAR = "atan2 hypot xlogy special.xlog1py ldexp fmax fmin fmod remainder true_divide"


@pytest.mark.parametrize("dual", [0, 1])
@pytest.mark.parametrize("name", LINEAR.split())
def test_operands_without_a_tangent_take_no_part(name, dual):
    """0 * inf makes no NaN of the tangent of the other one."""
    columns = tuple(zip(*itertools.product(POINTS, POINTS), strict=True))
    tangents = []
    for lib in (torch, engine):
        mode = lib.autograd.forward_ad
        with mode.dual_level():
            xs = [lib.tensor(c, dtype=lib.float64) for c in columns]
            xs[dual] = mode.make_dual(xs[dual], lib.ones_like(xs[dual]))
            tangents.append((mode.unpack_dual(found(lib, name)(*xs)).tangent + 0).numpy())
    np.testing.assert_allclose(tangents[1], tangents[0], rtol=1e-9, atol=1e-12)


X, Y = [1.0, -2.0, 3.5], [0.5, 2.0, -1.5]
NODES = (
    lambda t, x, y: x % 2, lambda t, x, y: x % y, lambda t, x, y: t.fmod(x, 2.0), lambda t, x, y: t.xlogy(2.0, y.abs()),
    lambda t, x, y: t.xlogy(x, 2.0), lambda t, x, y: t.special.xlog1py(x, 2), lambda t, x, y: t.special.zeta(3.0, y.abs()),
    lambda t, x, y: t.copysign(x, -1.0), lambda t, x, y: t.lerp(x, y, 0.3), lambda t, x, y: t.lerp(x, y, y),
    lambda t, x, y: t.div(x, y, rounding_mode="floor"), lambda t, x, y: t.round(x, decimals=1), lambda t, x, y: t.round(x),
    lambda t, x, y: t.float_power(x, 2), lambda t, x, y: t.float_power(2, y), lambda t, x, y: t.clip(x, y, y + 1),
    lambda t, x, y: t.frexp(x)[0], lambda t, x, y: t.ldexp(x, t.tensor([1, 2, 3])), lambda t, x, y: t.rsub(x, y, alpha=2),
    lambda t, x, y: t.special.ndtr(x), lambda t, x, y: t.special.multigammaln(x.abs() + 3, 2), lambda t, x, y: t.fill(x, 2.0),
    lambda t, x, y: (x * 2).eq_(y), lambda t, x, y: (x * 2).less_(1.0), lambda t, x, y: (x * 2).square_(),
    lambda t, x, y: (x * 2).remainder_(y), lambda t, x, y: (x * 2).polygamma_(1), lambda t, x, y: t.exp_(x * 2),
    lambda t, x, y: t.igamma(t.tensor([1.0, 2.0, 3.0], dtype=x.dtype), y.abs()), lambda t, x, y: x.__rdiv__(2), lambda t, x, y: +x,
    lambda t, x, y: (x * 2).addcmul_(x, y, value=2), lambda t, x, y: t.arctan2(x, y), lambda t, x, y: t.absolute(x),
)  # fmt: skip


@pytest.mark.parametrize("function", NODES, ids=range(len(NODES)))
def test_node_and_derivatives(function):
    results = []
    for lib in (torch, engine):
        x, y = (lib.tensor(v, dtype=lib.float64, requires_grad=True) for v in (X, Y))
        out = function(lib, x, y)
        results.append((out.grad_fn and out.grad_fn.name(), outcome(lib, lambda x, y, t=lib: function(t, x, y), X, Y)))
    (theirs, a), (ours, b) = results
    assert ours == theirs
    for p, q in itertools.zip_longest(a, b, fillvalue=np.zeros(3)):
        np.testing.assert_allclose(q, p, rtol=1e-7)


NUMBERS = (
    lambda t: t.tensor([7, -7]) % 3, lambda t: 7 % t.tensor([3, -3]), lambda t: t.tensor([7, -7]) // 2.0, lambda t: -7 // t.tensor([2]),
    lambda t: t.tensor([1, 2]) << 2, lambda t: 3 << t.tensor([1, 2]), lambda t: t.tensor([-5, 5]) >> 1, lambda t: 64 >> t.tensor([1, 70]),
    lambda t: t.div(t.tensor([7, -7]), 2, rounding_mode="trunc"), lambda t: t.tensor([200], dtype=t.uint8) % -1,
    lambda t: t.addcmul(t.tensor([1]), t.tensor([2]), t.tensor([3]), value=0.5), lambda t: t.tensor([True]).logical_and_(t.tensor([2.0])),
    lambda t: t.tensor([1, 2, 3]).lt_(t.tensor(2.5)), lambda t: t.tensor([6]).__iand__(3), lambda t: t.tensor([1.5]).short(),
    lambda t: t.tensor([3, 4]).byte(), lambda t: t.tensor([-1]).char(), lambda t: t.tensor([4.5]).__ifloordiv__(2),
    lambda t: t.isclose(t.tensor([1, 2]), t.tensor([1, 3]), rtol=0, atol=1), lambda t: t.gcd(t.tensor([12, 18]), t.tensor(8)),
)  # fmt: skip


@pytest.mark.parametrize("function", NUMBERS, ids=range(len(NUMBERS)))
def test_numbers_and_dtypes(function):
    theirs, ours = function(torch), function(engine)
    assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch.")
    assert ours.tolist() == theirs.tolist()


NUMBERS_AND_TENSORS = {
    "clamp": lambda t, x: x.clamp(t.tensor(-0.5), 1),
    "clamp of the most": lambda t, x: t.clamp(x, min=-1, max=t.tensor(2)),
    "clip": lambda t, x: t.clip(x, 0.5, t.tensor(2)),
    "clamp in place": lambda t, x: (x * 1).clamp_(-1, t.tensor(1)),
    **{f"div {n}": lambda t, x, n=n: t.div(n, x) for n in (1, 3.0, True, -0.0, 10**5)},
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8", "complex64"])
@pytest.mark.parametrize("name", NUMBERS_AND_TENSORS)
def test_a_number_where_a_tensor_may_be(name, dtype):
    found = []
    for library in (torch, engine):
        x = library.arange(60).to(getattr(library, dtype))
        try:
            out = NUMBERS_AND_TENSORS[name](library, x.requires_grad_() if dtype.startswith("float") else x)
            found.append(
                [out.grad_fn and out.grad_fn.name(), out.detach().numpy().dtype, out.detach().numpy().tobytes()]
            )
        except (RuntimeError, NotImplementedError) as error:
            found.append([type(error).__name__, str(error)])
    assert found[1] == found[0]


WRONG = (
    lambda t: t.tensor([1]) % 0, lambda t: t.tensor([1]) // 0, lambda t: t.fmod(t.tensor([1]), 0), lambda t: t.tensor([1]) % "a",
    lambda t: "a" // t.tensor([1.0]), lambda t: t.tensor([1.0]) << 1, lambda t: t.div(t.tensor([1.0]), 2, rounding_mode="up"),
    lambda t: t.mvlgamma(t.tensor([1.0]), 0), lambda t: t.polygamma(-1, t.tensor([1.0])), lambda t: t.frexp(t.tensor([1])),
    lambda t: t.lerp(t.tensor([1.0]), t.tensor([1.0], dtype=t.float64), 0.5), lambda t: t.isneginf(t.tensor([1j])),
    lambda t: t.heaviside(t.tensor([1.0]), t.tensor([1])), lambda t: t.tensor([1.0]).float_power_(2), lambda t: t.float_power(2, 3),
    lambda t: t.addcdiv(t.tensor([1]), t.tensor([1]), t.tensor([1])), lambda t: t.isclose(t.tensor([1.0]), t.tensor([1.0]), rtol=-1),
    lambda t: t.positive(t.tensor([True])), lambda t: t.signbit(t.tensor([1j])), lambda t: t.logical_and(t.tensor([1]), 2),
    lambda t: t.clamp(t.tensor([1.0]), t.tensor([1.0]), 2.0), lambda t: t.clamp(t.ones(2), -1, t.tensor(1.0, requires_grad=True)),
    lambda t: t.xlogy(2, 3), lambda t: t.atan2(t.tensor([1.0]), "a"),
    lambda t: t.isclose(t.tensor([1.0]), t.tensor([1])),
)  # fmt: skip


def raised(function, library):
    with pytest.raises(Exception) as caught:
        function(library)
    return caught.type, str(caught.value).splitlines()[0]


ALSO_MESSAGE = {0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 22, 23}


@pytest.mark.parametrize("i", range(len(WRONG)))
def test_wrong_arguments(i):
    theirs, ours = (raised(WRONG[i], lib) for lib in (torch, engine))
    assert ours[0] is theirs[0]
    if i in ALSO_MESSAGE:
        assert ours[1] == theirs[1]


def test_no_gradient_is_told_when_asked_for():
    x = engine.tensor([1.0, 2.0], requires_grad=True)
    for y in (x // 2, engine.heaviside(x, x), engine.igamma(x, x), (x * 2).logical_not_()):
        with pytest.raises(RuntimeError, match="is not implemented"):
            y.sum().backward()


@pytest.mark.parametrize("call", [lambda t: t.acos(None), lambda t: t.sigmoid(None), lambda t: t.atanh(None)])
def test_none_for_a_tensor(call):
    torch = pytest.importorskip("torch", reason="the words are compared with it")
    words = []
    for t in (torch, engine):
        with pytest.raises(TypeError) as raised:
            call(t)
        words.append(str(raised.value))
    assert words[0] == words[1]


@pytest.mark.parametrize("weight", [0.25, 1.0, 0.0, -0.5, 2.0, math.inf, math.nan])
@pytest.mark.parametrize("count", [8, 3000])
def test_prelu_of_edges_and_their_signs(weight: float, count: int) -> None:
    found = []
    for lib in (engine, torch):
        x = lib.tensor([-0.0, 0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, -3.0] * (count // 8), dtype=lib.float32)
        out = lib.nn.functional.prelu(x, lib.tensor([weight], dtype=lib.float32)).numpy()
        found += [np.where(np.isnan(out), 0, np.signbit(out)), out]
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])
