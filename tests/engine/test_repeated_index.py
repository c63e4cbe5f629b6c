"""Joining values at places that are named several times: on a device, where few dtypes are joined at once, as on the CPU."""

import ast
from pathlib import Path

import agdbg_tests_cupy_api as cupy_api
import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.device import array_module
from agdbg_engine.repeated_index import add_at, join_at

INDEX = np.array([2, 0, 2, -1, 2, 0])
SUPPORTED = "?bhilqBHILQefdFD"
INTEGERS, FLOATS = "bhilqBHILQ", "efd"
CASES = [("add", code) for code in "?" + INTEGERS + FLOATS + "FD"]
CASES += [(how, code) for how in ("maximum", "minimum") for code in "?" + INTEGERS + FLOATS]


def numbers(code, n):
    """``n`` numbers of a dtype, its extremes among them."""
    dtype, rng = np.dtype(code), np.random.default_rng(n)
    if dtype.kind in "iu":
        found = rng.integers(-5, 100, n).astype(dtype)
        found[:2] = np.iinfo(dtype).max, np.iinfo(dtype).min
    elif dtype.kind == "f":
        found = rng.standard_normal(n).astype(dtype)
        found[1] = -np.inf
    else:
        found = (rng.standard_normal(n) + (1j * rng.standard_normal(n) if dtype.kind == "c" else 0)) > 0
        found = found if code == "?" else (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype)
    return found


def both(how, out, index, values):
    """What the host and the device make of it."""
    there = strict.put(out)
    join_at(how, there, strict.put(index), strict.put(values))
    with np.errstate(invalid="ignore"):
        join_at(how, out, index, values)
    return out, strict.host(there)


@pytest.mark.parametrize(("how", "code"), CASES)
def test_as_on_the_host(how, code):
    expected, found = both(how, numbers(code, 4), INDEX, numbers(code, 6))
    assert found.dtype == expected.dtype
    if how == "add" and code in "efdFD":  # a GPU adds in an order of its own
        least = 16 * np.finfo(code).eps
        np.testing.assert_allclose(found, expected, rtol=least, atol=least)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("how", ["maximum", "minimum"])
@pytest.mark.parametrize("code", FLOATS)
@pytest.mark.parametrize("nan", [np.nan, -np.nan])
def test_nan_is_an_extreme(how, code, nan):
    values = numbers(code, 6)
    values[2] = nan
    before = numbers(code, 4)
    before[1] = nan
    expected, found = both(how, before, INDEX, values)
    np.testing.assert_array_equal(found, expected)
    assert np.isnan(found).tolist() == [False, True, True, False]


def test_neighbouring_doubles_are_told_apart():
    """CuPy's own extreme of doubles compares them as floats."""
    one = np.array([1.0])
    expected, found = both("maximum", one, np.zeros(2, int), np.array([np.nextafter(1, 2), np.nextafter(1, 0)]))
    assert found.tolist() == expected.tolist() == [np.nextafter(1, 2)]


@pytest.mark.parametrize("code", "?bhilqBHIefdFD")
def test_memory_that_is_several_elements(code):
    """Along an expanded dimension all that comes goes to one place."""
    host = numbers(code, 2).reshape(2, 1)
    device = strict.put(host)
    index = np.array([0, 0, 1]), np.array([2, 0, 1])
    values = numbers(code, 3)
    add_at(np.lib.stride_tricks.as_strided(host, (2, 3), (host.itemsize, 0)), index, values)
    view = array_module(device).lib.stride_tricks.as_strided(device, (2, 3), (host.itemsize, 0))
    add_at(view, tuple(strict.put(i) for i in index), strict.put(values))
    np.testing.assert_array_equal(strict.host(device), host)


WINDOWS = {
    "one beside the other": ((4, 3), (1, 1)), "with gaps": ((3, 2), (2, 3)), "expanded": ((3, 2), (0, 1)),
    "backwards": ((4, 3), (-1, 1)), "apart": ((2, 3), (4, 1)),
}  # fmt: skip
"""Shape and strides, in elements, of what is shown of memory."""


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("how", "code"), CASES)
def test_windows_that_share_memory(how, code, window):
    """What comes to elements that are one place is joined there, and what lies between them stays."""
    shape, steps = WINDOWS[window]
    host = numbers(code, 9)
    index = np.array([0, 1, 1, 0, -1]), np.array([1, 0, 0, -1, 1])
    values = numbers(code, 5)

    def window_of(x, module):
        start = 3 if steps[0] < 0 else 0
        return module.lib.stride_tricks.as_strided(x[start:], shape, [step * x.itemsize for step in steps])

    device = strict.put(host)
    expected, found = window_of(host, np), window_of(device, array_module(device))
    with np.errstate(invalid="ignore"):
        for at, value in zip(
            zip(*index, strict=True), values, strict=True
        ):  # one by one: ``at`` of NumPy's copies windows
            getattr(np, how)(expected[at], value, out=expected[at + (...,)])
    join_at(how, found, tuple(strict.put(i) for i in index), strict.put(values))
    if how == "add" and code in "efdFD":
        least = 16 * np.finfo(code).eps
        np.testing.assert_allclose(strict.host(device), host, rtol=least, atol=least)
    else:
        np.testing.assert_array_equal(strict.host(device), host)


def test_a_number_and_a_broadcast_value():
    x = strict.put(np.zeros((3, 2), np.int8))
    add_at(x, (strict.put(np.array([0, 0, 2])),), 3)
    add_at(x, (strict.put(np.array([1, 1])),), strict.put(np.array([5, 7], np.int8)))
    assert strict.host(x).tolist() == [[6, 6], [10, 14], [3, 3]]


@pytest.mark.parametrize(("dtype", "values"), [(ag.int64, [2, 3]), (ag.int8, [2, 3]), (ag.bool, [True, False])])
def test_ops_of_integers_on_a_device(dtype, values):
    strict.refusals.clear()
    found = {}
    for device in ("cpu", "strict"):
        x = ag.tensor([values, values], dtype=dtype, device=device)
        index = ag.tensor([1, 1], device=device)
        x.index_add_(0, index, x.clone())
        x.index_put_((index,), x.clone(), accumulate=True)
        x.scatter_reduce_(0, ag.tensor([[0, 0], [0, 1]], device=device), x.flip(0), "amax")
        found[device] = x._a
    assert strict.host(found["strict"]).tolist() == found["cpu"].tolist()
    assert not strict.refusals


# ----- what the strict device refuses -----

REFUSED = [(how, code) for how in cupy_api.AT for code in SUPPORTED if code not in cupy_api.AT[how]]


@pytest.mark.parametrize(("how", "code"), REFUSED)
def test_dtypes_that_cupy_does_not_join(how, code):
    at = getattr(strict, how).at
    with pytest.raises(strict.Missing, match=rf"cupy\.{how}\.at of "):
        at(strict.put(np.zeros(3, code)), strict.put(np.array([1])), strict.put(np.ones(1, code)))


def test_every_ufunc_with_at_has_its_dtypes():
    assert set(cupy_api.AT) == cupy_api.UFUNC_METHODS["at"]


UFUNCS = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}


def test_no_other_module_joins_by_a_ufunc():
    engine = Path(ag.__file__).parent
    found = {
        str(path.relative_to(engine))
        for path in engine.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "at" and _is_ufunc(node.value)
    }
    assert found == {"repeated_index.py"}


def _is_ufunc(node):
    """``np.add``, ``xp.add``, ``getattr(xp, how)``."""
    if isinstance(node, ast.Attribute):
        return node.attr in UFUNCS
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr"
