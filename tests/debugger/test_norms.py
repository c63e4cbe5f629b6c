"""Norms of numbers whose squares are too big or too small for a float: finite, as the recording has them, wherever they are told."""

import math
import sys

import numpy as np
import pytest

from agdbg.agent.tensors import measured
from agdbg.agent.values import value_of
from agdbg.engines.native_summary import summarised
from agdbg.norm import norm_of_all
from agdbg.record.deep_norms import norms_of, together

MOST = sys.float_info.max


@pytest.mark.parametrize(
    "numbers", [[3e200, 4e200], [3e-200, 4e-200], [3.0, 4.0], [0.0, 0.0], [3e200, 0.0, -4e200], [MOST, MOST]]
)
def test_of_an_array(numbers):
    array = np.array(numbers)
    expected = min(math.hypot(*numbers), MOST)
    told = value_of(array)
    assert math.isclose(float(told["norm"]), expected, rel_tol=1e-3)
    assert not isinstance(told["norm"], str)
    assert f"norm {expected:.4g}" in told["summary"]
    assert math.isclose(measured(array).norm, expected, rel_tol=1e-12)
    assert math.isclose(min(summarised(array).norm, MOST), expected, rel_tol=1e-12)


@pytest.mark.parametrize(("numbers", "told"), [([3.0, math.inf], "inf"), ([math.nan, math.inf], "nan")])
def test_of_an_array_that_is_not_finite(numbers, told):
    assert value_of(np.array(numbers))["norm"] == told


def test_of_many_records():
    records = np.zeros((4, 8), np.uint64)
    records[:, 3] = np.array([math.inf, 1.7e308, 1.0, 1.0]).view(np.uint64)
    records[2:, 5] = [1 << 32, 1]  # an Inf, a NaN
    found = norms_of(records)
    assert found[:3].tolist() == [MOST, 1.7e308, math.inf] and math.isnan(found[3])
    owners = np.array([0, 0, 1, 1, 2, 2, 3])
    norms = np.array([MOST, MOST, 1.0, math.inf, math.nan, math.inf, 2.0])
    both = together(owners, norms, 5).tolist()
    assert both[:2] == [MOST, math.inf] and math.isnan(both[2]) and both[3:] == [2.0, 0.0]
    assert both[:2] == [norm_of_all([MOST, MOST]), norm_of_all([1.0, math.inf])]
