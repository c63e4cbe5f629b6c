"""A page of a tensor: a bounded sample of any shape, and what all of its elements are like."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from agdbg.agent.tensors import page
from agdbg.protocol import looks
from agdbg.protocol.checkers import checker


def whole(array, **more):
    return page(array, **{"index": [], "row": 0, "column": 0, "rows": 10, "columns": 10, "step": 0} | more)


def statistic(body, name):
    return float(next(each["value"] for each in body["stats"] if each["name"] == name))


def test_a_small_matrix_is_told_whole():
    body = whole(np.array([[1.0, -2.5], [0.0, 4.0]]))
    assert body["values"] == [["1", "-2.5"], ["0", "4"]]
    assert (body["height"], body["width"], body["rowStep"], body["columnStep"]) == (2, 2, 1, 1)
    assert [statistic(body, name) for name in ("min", "max", "mean", "zeros")] == [-2.5, 4.0, 0.625, 1.0]
    assert sum(body["histogram"]) == 4


def test_a_big_one_is_sampled_evenly_and_a_window_is_exact():
    array = np.arange(1000.0 * 300).reshape(1000, 300)
    body = whole(array)
    assert (len(body["values"]), len(body["values"][0])) == (10, 10)
    assert (body["rowStep"], body["columnStep"]) == (100, 30)
    assert float(body["values"][9][9]) == pytest.approx(array[900, 270], rel=1e-4)
    body = whole(array, step=1, row=995, column=298)
    assert [[float(each) for each in line] for line in body["values"]] == [
        [pytest.approx(array[row, column], rel=1e-4) for column in (298, 299)] for row in range(995, 1000)
    ]


def test_what_is_a_little_too_high_leaves_out_as_few_rows_as_do_not_fit():
    array = np.arange(12.0 * 4).reshape(12, 4)
    body = whole(array)
    assert (body["rowStep"], body["columnStep"]) == (1.2, 1)
    assert [float(line[0]) / 4 for line in body["values"]] == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]
    assert whole(np.empty((0, 3)))["rowStep"] == 1


def test_a_slice_of_many_dimensions_is_chosen():
    array = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    body = whole(array, index=[1, 2])
    assert body["values"][0][0] == str(array[1, 2, 0, 0])
    assert whole(array, index=[9, 9])["index"] == [1, 2]
    assert whole(array)["index"] == [0, 0]


def test_a_vector_goes_on_in_the_next_line_and_a_scalar_is_one_element():
    body = whole(np.arange(23.0))
    assert [len(line) for line in body["values"]] == [10, 10, 10]
    assert body["values"][2] == ["20", "21", "22", *[""] * 7]
    assert whole(np.float64(7.5))["values"] == [["7.5"]]


def test_what_is_not_finite_is_found():
    array = np.ones((3, 4, 5), np.float32)
    array[1, 2, 3], array[2, 0, 0] = np.nan, np.inf
    body = whole(array)
    assert (body["nans"], body["infs"], body["firstBad"]) == (1, 1, [1, 2, 3])
    assert statistic(body, "mean") == 1.0
    assert whole(np.full(3, np.nan))["stats"] == []
    assert whole(np.zeros((0, 4)))["values"] == []


shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=7)
dtypes = st.sampled_from([np.float64, np.float32, np.float16, np.int64, np.uint8, np.bool_, np.complex64])


@settings(deadline=None)
@given(
    dtypes.flatmap(lambda dtype: hnp.arrays(dtype, shapes)),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 3),
    st.lists(st.integers(0, 9), max_size=3),
    st.integers(0, 9),
)
def test_any_array_makes_a_page_that_is_json(array, rows, columns, step, index, at):
    with np.errstate(all="ignore"):
        body = page(array, index, at, at, rows, columns, step) | {
            "compared": None
        }  # which is added where passes are known
    assert checker(looks.TensorBody, closed=True).problem(json.loads(json.dumps(body, allow_nan=False))) is None
    assert len(body["values"]) <= rows
    assert all(len(line) <= columns for line in body["values"])
