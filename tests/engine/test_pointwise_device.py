"""The pointwise families on arrays of another library than NumPy: same values and gradients, nothing copied to the host."""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest
import scipy.special

import agdbg_engine as ag
from agdbg_engine.ops.wide.declare import OPS
from agdbg_engine.tensor import wrap

UNIT = np.array([[0.3, 0.6, 0.45], [0.2, 0.8, 0.55]])
ABOVE = UNIT + 1.2
ROW = np.array([0.4, 0.7, 0.9])


def each(names, *args):
    return dict.fromkeys(names.split(), args)


ONE = {
    **each("tan asin acos atan asinh atanh sinc deg2rad rad2deg exp2 log2 log10 logit frac nan_to_num sinh cosh halved", UNIT),
    **each("erf erfc erfinv erfcx log_ndtr ndtri entr i0 i0e i1 i1e lgamma digamma", UNIT),
    "acosh": (ABOVE,), "mvlgamma": (ABOVE, 2), "round_decimals": (ABOVE, 1),
}  # fmt: skip
TWO = {
    **each("atan2 hypot logaddexp logaddexp2 ldexp xlogy xlog1py fmod remainder fmax fmin copysign nextafter", UNIT, ROW),
    "div_rounded": (ABOVE, ROW, "floor"), "addcmul": (UNIT, ROW, ABOVE, 0.5), "addcdiv": (UNIT, ROW, ABOVE, 0.5),
    "lerp": (UNIT, ROW, 0.3), "filled_with": (UNIT, 2.0),
}  # fmt: skip
NUMBERS = {
    "xlogy": (2.0, UNIT),
    "fmod": (ABOVE, 0.4),
    "remainder": (0.4, UNIT),
    "copysign": (UNIT, -1.0),
    "lerp": (UNIT, UNIT, 0.7),
}
CASES = [(n, a) for group in (ONE, TWO, NUMBERS) for n, a in group.items()] + [("polygamma", (2, UNIT))]


def run(name, args, put, create_graph):
    """Buffers of the value and of all gradients."""
    args = [wrap(put(a)).requires_grad_() if isinstance(a, np.ndarray) else a for a in args]
    leaves = [a for a in args if isinstance(a, ag.Tensor)]
    out = OPS[name](*args)
    g = wrap(put(np.sin(np.arange(6.0)).reshape(2, 3)))
    grads = ag.autograd.grad(out, leaves, g, create_graph=create_graph)
    return [out._a, *(x._a for x in grads)]


@pytest.mark.parametrize("create_graph", [False, True], ids=["buffers", "recorded"])
@pytest.mark.parametrize(("name", "args"), CASES, ids=[f"{n}{i}" for i, (n, _) in enumerate(CASES)])
def test_value_and_gradients(name, args, create_graph):
    ours = run(name, args, strict.put, create_graph)
    assert {type(a) for a in ours} == {strict.ndarray}
    for a, b in zip(ours, run(name, args, np.copy, create_graph), strict=True):
        np.testing.assert_allclose(strict.host(a), b, rtol=1e-12)


def put(*values):
    return wrap(strict.put(np.array(values)))


def test_integers():
    x, y = put(12, 18), put(8, 27)
    for found, expected in (
        (ag.gcd(x, y), [4, 9]), (ag.lcm(x, y), [24, 54]), (x << 1, [24, 36]), (x % y, [4, 18]), (x // 5, [2, 3]), (7 % x, [7, 7]),
    ):  # fmt: skip
        assert strict.host(found._a).tolist() == expected


def test_questions():
    x = put(-1.0, 0.0, np.inf)
    for found, expected in (
        (ag.signbit(x), [True, False, False]), (ag.isposinf(x), [False, False, True]), (ag.isneginf(-x), [False, False, True]),
        (ag.isreal(x), [True, True, True]), (ag.isclose(x, x + 1e-9), [True, True, True]),
    ):  # fmt: skip
        assert strict.host(found._a).tolist() == expected


def test_functions_without_gradient():
    x = put(0.5, 2.0)
    for found, expected in (
        (ag.special.bessel_j0(x), scipy.special.j0([0.5, 2.0])), (ag.special.spherical_bessel_j0(x), np.sinc([0.5 / np.pi, 2 / np.pi])),
    ):  # fmt: skip
        np.testing.assert_allclose(strict.host(found._a), expected)
