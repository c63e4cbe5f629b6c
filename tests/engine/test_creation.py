"""Tensors from data, from nothing, from random numbers: values, dtypes and refusals are those of PyTorch."""

import numpy as np
import pytest
from agdbg_tests_differential import Programs, same

import agdbg_engine as ag

programs = Programs()


def add(**calls):
    for name, call in calls.items():
        programs.append(pytest.param(call, id=name))


add(
    integer=lambda t: t.tensor(1),
    number=lambda t: t.tensor(1.5),
    boolean=lambda t: t.tensor(True),
    integers=lambda t: t.tensor([1, 2]),
    mixed=lambda t: t.tensor([1, 2.5]),
    bools=lambda t: t.tensor([True, False]),
    bools_and_integers=lambda t: t.tensor([True, 2]),
    nothing=lambda t: t.tensor([]),
    rows_of_nothing=lambda t: t.tensor([[], []]),
    nested=lambda t: t.tensor([[1, 2], [3, 4]]),
    tuples=lambda t: t.tensor(((1, 2), (3, 4))),
    a_range=lambda t: t.tensor(range(3)),
    big_integers=lambda t: t.tensor([2**40]),
    array=lambda t: t.tensor(np.ones(2)),
    array_of_floats=lambda t: t.tensor(np.ones(2, np.float32)),
    array_of_integers=lambda t: t.tensor(np.ones(2, np.int32)),
    numpy_number=lambda t: t.tensor(np.float64(1)),
    numpy_numbers=lambda t: t.tensor([np.float64(1.0), np.float64(2)]),
    numpy_integers=lambda t: t.tensor([np.int32(1)]),
    tensors=lambda t: t.tensor([t.tensor(1.0), t.tensor(2.0)]),
    double_tensors=lambda t: t.tensor([t.tensor(1.0, dtype=t.float64)]),
    tensors_of_one=lambda t: [t.tensor([t.ones(1), t.ones(1)]), t.tensor([t.ones(1, 1), 2])],
    tensors_and_numbers=lambda t: [t.tensor([1, t.tensor(2.0)]), t.tensor([t.tensor(2), 0.5])],
    tensors_of_two_dtypes=lambda t: [
        t.tensor([t.tensor(1), t.tensor(2.0)]),
        t.tensor([t.tensor(1.0), t.tensor(1.0, dtype=t.float64)]),
        t.tensor([t.tensor(1j), 1]),
        t.tensor([t.tensor(True), t.tensor(1, dtype=t.int32)]),
    ],
    rows_of_tensors=lambda t: [t.tensor([[t.tensor(1.0)], [2]]), t.tensor([[1.0, 2.0], t.ones(2)])],
    a_tensor_among_arrays=lambda t: t.tensor([np.ones(2), t.ones(2)]),
    tensors_of_several=lambda t: t.tensor([t.ones(2)]),
    tensors_of_none=lambda t: t.tensor([t.ones(0)]),
    matrices=lambda t: t.tensor([t.ones(2, 2), t.ones(2, 2)]),
    a_list_after_a_tensor=lambda t: t.tensor([t.ones(1), [2.0]]),
    a_list_after_a_tensor_of_several=lambda t: t.tensor([t.ones(2), [2.0, 2.0]]),
    a_short_row_of_tensors=lambda t: t.tensor([[1.0, t.tensor(2.0)], [t.tensor(2.0)]]),
    a_number_where_a_row_should_be=lambda t: t.tensor([[t.tensor(2.0)], t.tensor(1.0)]),
    a_tensor_and_none=lambda t: t.tensor([t.tensor(2.0), None]),
    a_tensor_and_text=lambda t: t.tensor([t.tensor(2.0), "a"]),
    tensors_as_integers=lambda t: t.tensor([t.tensor(1), 2], dtype=t.int32),
    float_tensors_as_integers=lambda t: t.tensor([t.tensor(1.0)], dtype=t.int64),
    complex_tensors_as_real=lambda t: [
        t.tensor([t.tensor(1 + 0j)], dtype=t.float32),
        t.tensor([t.tensor(1j)], dtype=t.float32),
    ],
    tensors_as_bools=lambda t: t.tensor([t.tensor(2), 0.0], dtype=t.bool),
    float_tensors_as_bools=lambda t: t.tensor([t.tensor(2.0)], dtype=t.bool),
    tensors_that_require_grad=lambda t: t.tensor([t.ones(1, requires_grad=True)[0], 2.0]),
    as_tensor_of_tensors=lambda t: [t.as_tensor([t.tensor(1.0), 2]), t.tensor(1.0).new_tensor([t.tensor(1)])],
    as_dtype=lambda t: t.tensor([1, 2], dtype=t.float64),
    truncated=lambda t: t.tensor([1.5], dtype=t.int64),
    requires_grad=lambda t: t.tensor([1.0], requires_grad=True),
    integers_that_require_grad=lambda t: t.tensor([1], requires_grad=True),
    ragged=lambda t: t.tensor([[1, 2], [3]]),
    ragged_at_the_start=lambda t: t.tensor([[1], [1, 2]]),
    too_deep=lambda t: t.tensor([1, [2]]),
    not_deep_enough=lambda t: t.tensor([[1, 2], 3]),
    text=lambda t: t.tensor("a"),
    texts=lambda t: t.tensor(["a"]),
    text_among_numbers=lambda t: t.tensor([1, "a"]),
    none=lambda t: t.tensor(None),
    none_among_numbers=lambda t: t.tensor([1.0, None]),
    a_dict=lambda t: t.tensor({1: 2}),
    array_of_objects=lambda t: t.tensor(np.array([1, None])),
    array_of_texts=lambda t: t.from_numpy(np.array(["a"])),
)
add(
    as_tensor=lambda t: t.as_tensor([1.0, 2.0]),
    as_tensor_of_array=lambda t: t.as_tensor(np.ones(2)),
    as_tensor_of_dtype=lambda t: t.as_tensor(np.ones(2), dtype=t.float32),
    as_tensor_of_numpy_number=lambda t: t.as_tensor(np.float64(1)),
    from_numpy=lambda t: t.from_numpy(np.ones(2)),
    from_numpy_of_list=lambda t: t.from_numpy([1]),
)
add(
    zeros=lambda t: [t.zeros(2, 3), t.zeros((2, 3)), t.zeros([2]), t.zeros(()), t.zeros(2, dtype=t.int64)],
    zeros_of_negative_size=lambda t: t.zeros(-1),
    zeros_of_text=lambda t: t.zeros("a"),
    zeros_of_float=lambda t: t.zeros(1.5),
    ones=lambda t: [t.ones(2), t.ones(2, requires_grad=True), t.ones(0, 2)],
    ones_of_negative_size=lambda t: t.ones(-1),
    empty=lambda t: [tuple(t.empty(2, 0).shape), t.empty((2,)).dtype == t.float32],
    full=lambda t: [t.full((2,), 1), t.full((2,), 1.5), t.full((2,), True), t.full((2,), 1, dtype=t.float64)],
    full_of_a_number_of_rows=lambda t: t.full(2, 1),
    full_of_a_tensor=lambda t: t.full((2,), t.tensor(1.5)),
    full_of_a_tensor_with_grad=lambda t: t.full((2,), t.tensor(1.5, requires_grad=True)),
    new_full_of_a_tensor_with_grad=lambda t: t.ones(1).new_full((2,), t.tensor(1.5, requires_grad=True)),
    new_full_of_several=lambda t: t.ones(1).new_full((2,), t.ones(2)),
    arange_of_a_tensor=lambda t: t.arange(t.tensor(3)),
    arange_of_a_tensor_with_grad=lambda t: t.arange(t.tensor(3.0, requires_grad=True)),
    arange=lambda t: [t.arange(5), t.arange(1, 5), t.arange(1, 5, 2), t.arange(5, 0, -2), t.arange(0), t.arange(5, 5)],
    arange_of_floats=lambda t: [t.arange(0, 1, 0.3), t.arange(5.0), t.arange(3, dtype=t.float32)],
    arange_of_step_0=lambda t: t.arange(1, 5, 0),
    arange_away=lambda t: t.arange(0, 5, -1),
    linspace=lambda t: [t.linspace(0, 1, 5), t.linspace(0, 1, 1), t.linspace(1, -1, 4, dtype=t.float64)],
    linspace_of_too_few=lambda t: t.linspace(0, 1, -1),
    eye=lambda t: [t.eye(2), t.eye(2, 3), t.eye(0)],
    eye_of_negative_size=lambda t: t.eye(-1),
    eye_of_negative_width=lambda t: t.eye(1, -1),
    like=lambda t: [
        t.zeros_like(t.ones(2, 3)),
        t.ones_like(t.ones(2), dtype=t.int64),
        t.full_like(t.tensor([1, 2]), 3.7),
    ],
    like_and_requires_grad=lambda t: [t.ones_like(t.ones(2), requires_grad=True), tuple(t.empty_like(t.ones(2)).shape)],
    like_integers_with_grad=lambda t: t.zeros_like(t.tensor([1]), requires_grad=True),
)
add(
    rand=lambda t: [tuple(t.rand(2, 3).shape), t.rand((2,)).dtype == t.float32, t.rand(()).ndim],
    randn=lambda t: [t.randn(2, dtype=t.float64).dtype == t.float64, t.randn(2, requires_grad=True).requires_grad],
    rand_of_negative_size=lambda t: t.rand(-1),
    rand_like=lambda t: [
        t.rand_like(t.ones(2)).dtype == t.float32,
        t.randn_like(t.ones(2).double()).dtype == t.float64,
    ],
    randint=lambda t: [
        tuple(t.randint(10, (2,)).shape),
        tuple(t.randint(2, 5, (2, 3)).shape),
        t.randint(3, (1,)).dtype == t.int64,
    ],
    randint_of_dtype=lambda t: t.randint(3, (2,), dtype=t.float32).dtype == t.float32,
    randint_of_nothing=lambda t: t.randint(5, 2, (1,)),
    randint_below_0=lambda t: t.randint(0, (1,)),
    randperm=lambda t: [t.randperm(5).dtype == t.int64, sorted(t.randperm(5).tolist())],
    randperm_of_negative_size=lambda t: t.randperm(-1),
)


@pytest.mark.parametrize("program", programs)
def test_as_pytorch(program):
    pytest.importorskip("torch")
    same(program)


def test_a_tensor_of_data_is_a_copy():
    array = np.ones(2)
    t = ag.tensor(array)
    shared = [ag.from_numpy(array), ag.as_tensor(array)]
    array[0] = 5
    assert t.tolist() == [1, 1]
    assert [x.tolist() for x in shared] == [[5, 1], [5, 1]]
    assert ag.as_tensor(t) is t


def test_the_default_dtype_is_that_of_python_floats():
    ag.set_default_dtype(ag.float64)
    try:
        made = [ag.tensor(1.5), ag.zeros(1), ag.rand(1), ag.arange(0, 1, 0.5), ag.tensor([]), ag.full((1,), 2.0)]
        assert {t.dtype for t in made} == {ag.float64}
    finally:
        ag.set_default_dtype(ag.float32)
    with pytest.raises(TypeError, match="only floating-point types"):
        ag.set_default_dtype(ag.int64)


def test_random_numbers_follow_the_seed():
    def numbers():
        ag.manual_seed(3)
        return [ag.rand(3).tolist(), ag.randn(3).tolist(), ag.randint(100, (3,)).tolist(), ag.randperm(9).tolist()]

    first = numbers()
    assert numbers() == first
    ag.manual_seed(4)
    assert ag.rand(3).tolist() != first[0]


def test_random_numbers_are_where_they_should_be():
    ag.manual_seed(0)
    uniform, normal, integers = ag.rand(1000).numpy(), ag.randn(1000).numpy(), ag.randint(2, 5, (1000,)).numpy()
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert abs(normal.mean()) < 0.2
    assert abs(normal.std() - 1) < 0.2
    assert set(integers.tolist()) == {2, 3, 4}


def test_numbers_beyond_the_dtype_are_infinite():
    with np.errstate(all="raise"):
        assert ag.tensor([1e300, 1e-300]).tolist() == [np.inf, 0]


def test_numbers_of_tensors_with_gradients_are_warned_of(monkeypatch):
    monkeypatch.setattr(ag.conversions, "_warned", False)  # once in a process
    x = ag.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        assert ag.tensor([x[0], x[1]]).tolist() == [1.0, 1.0]
