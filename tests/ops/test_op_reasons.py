"""Reasons that ``benchmarks/ops.py`` prints are for the shapes and passes at which an op is slower."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from op_reasons import OF_A_CALL, PASSES, SIZES, UNKNOWN, places_of, reason, reasons

ALL = {(size, which) for size in SIZES for which in PASSES}


@pytest.mark.parametrize(
    ("shape", "places"),
    [
        ("all", ALL),
        ("near 3, not in each run", ALL),
        ("small", {("small", "forward"), ("small", "backward")}),
        ("medium, large backward", {("medium", "forward"), ("medium", "backward"), ("large", "backward")}),
        ("small, topk also medium backward", {("small", "forward"), ("small", "backward")}),
        ("small backward, sort also large backward", {("small", "backward"), ("large", "backward")}),
    ],
)
def test_shapes_of_a_reason(shape, places):
    assert places_of("sort", shape) == places


def test_a_reason_for_other_shapes_is_not_given():
    assert reason("F.adaptive_avg_pool3d", ("small", "forward")) == OF_A_CALL
    assert reason("F.adaptive_avg_pool3d", ("medium", "forward")) == UNKNOWN
    assert reason("F.adaptive_avg_pool3d", ("large", "forward")) not in (OF_A_CALL, UNKNOWN)


def test_each_reason_is_printed_with_the_shapes_it_is_for():
    assert reasons("no_such_op", [(4.0, 1.0), (1.0, 5.0), (3.5, 1.0)]) == [
        f"small: {OF_A_CALL}",
        f"medium, large: {UNKNOWN}",
    ]
    assert reasons("frac", [(1.0, 1.0), (1.0, 1.0), (2.9, 1.0)]) == []


def test_a_product_at_each_pixel_has_its_reason():
    assert reason("F.conv2d(1 x 1)", ("medium", "forward")) not in (OF_A_CALL, UNKNOWN)
