"""A tensor prints as in PyTorch, but for the name of its dtype."""

import numpy as np
import pytest

import agdbg_engine as ag

NAN, INF = float("nan"), float("inf")

SHOWN = {
    "whole number": lambda t: t.tensor(1.0),
    "number": lambda t: t.tensor(1.5),
    "tiny number": lambda t: t.tensor(1e-10),
    "nothing": lambda t: t.tensor([]),
    "no columns": lambda t: t.ones(2, 0),
    "no integers": lambda t: t.zeros(0, dtype=t.int64),
    "whole": lambda t: t.tensor([1.0, -2.0, 10.0]),
    "decimals": lambda t: t.tensor([1.0, 2.5]),
    "wide range": lambda t: t.tensor([1e-5, 1.0]),
    "wide range of whole numbers": lambda t: t.tensor([1.0, 1000.0, 1e7]),
    "huge": lambda t: t.tensor([1e9, 2e9]),
    "small": lambda t: t.tensor([1e-5, 2e-5]),
    "six digits": lambda t: t.tensor([123456.789]),
    "zeros": lambda t: t.tensor([0.0, -0.0]),
    "NaN": lambda t: t.tensor([NAN, 1.0]),
    "infinities": lambda t: t.tensor([INF, -INF, 1.5]),
    "only NaN": lambda t: t.tensor([NAN]),
    "integers": lambda t: t.tensor([[1, -20], [300, 4]]),
    "bools": lambda t: t.tensor([True, False]),
    "doubles": lambda t: t.tensor([1.5, 2.0], dtype=t.float64),
    "small integers": lambda t: t.tensor([1, 2], dtype=t.int32),
    "halves": lambda t: t.tensor([0.5, 2.0]).half(),
    "matrix": lambda t: t.tensor([[1.0, 2.0], [3.25, 4.0]]),
    "cube": lambda t: t.arange(8.0).reshape(2, 2, 2),
    "four dimensions": lambda t: t.arange(16).reshape(2, 2, 2, 2),
    "long line": lambda t: t.arange(30.0),
    "long lines": lambda t: t.arange(60.0).reshape(2, 30) / 7,
    "many": lambda t: t.arange(2000),
    "many rows": lambda t: t.arange(3600.0).reshape(60, 60),
    "many in a few rows": lambda t: t.arange(2000).reshape(2, 1000),
    "many in cubes": lambda t: t.arange(4096.0).reshape(16, 16, 16) / 3,
    "a thousand": lambda t: t.arange(1000),
    "leaf": lambda t: t.tensor([1.5], requires_grad=True),
    "computed": lambda t: t.tensor([1.5], requires_grad=True) * 2,
    "computed, long": lambda t: t.arange(12.0).requires_grad_() * 2,
    "computed, doubles": lambda t: t.arange(9.0, dtype=t.float64).requires_grad_().exp(),
    "written through a view": lambda t: written(t.ones(3, requires_grad=True) * 1),
}


def written(x):
    x[0] = 2.0
    return x


@pytest.mark.parametrize("name", SHOWN)
def test_as_pytorch(name):
    torch = pytest.importorskip("torch")
    assert repr(SHOWN[name](ag)) == repr(SHOWN[name](torch)).replace("torch.", "")


def test_parameters_say_so():
    assert repr(ag.Parameter(ag.ones(1))) == "Parameter containing:\ntensor([1.], requires_grad=True)"


def test_numbers_take_a_format():
    assert f"{ag.tensor(1.23456):.2f}" == "1.23"
    assert f"{ag.tensor([1.0])}" == "tensor([1.])"


def test_nothing_warns_when_values_are_odd():
    with np.errstate(all="raise"):
        assert repr(ag.tensor([NAN, INF, 0.0, 1e-38])) == "tensor([       nan,        inf, 0.0000e+00, 1.0000e-38])"
