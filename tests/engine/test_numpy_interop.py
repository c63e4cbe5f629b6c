"""NumPy and tensors: ufuncs that record, arrays beside tensors, shared memory, what is refused."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

import agdbg_engine as ag

torch = pytest.importorskip("torch")
programs = Programs()

UNARY = (
    "exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tanh", "square", "reciprocal", "negative", "absolute", "fabs",
    "floor", "ceil", "trunc", "rint", "sign",
)  # fmt: skip
BINARY = ("add", "subtract", "multiply", "divide", "true_divide", "power", "maximum", "minimum")
NAMES = {
    "negative": "neg", "absolute": "abs", "fabs": "abs", "rint": "round", "subtract": "sub", "multiply": "mul", "divide": "div",
    "true_divide": "div", "power": "pow",
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_a_ufunc_of_one_tensor_is_the_op(name):
    x = ag.tensor([0.5, 1.5, 2.5], dtype=ag.float64, requires_grad=True)
    y = getattr(np, name)(x)
    theirs = torch.tensor([0.5, 1.5, 2.5], dtype=torch.float64, requires_grad=True)
    expected = getattr(torch, NAMES.get(name, name))(theirs)
    y.sum().backward()
    expected.sum().backward()
    assert type(y) is ag.Tensor and y.grad_fn.name() == expected.grad_fn.name()
    assert np.allclose(y.detach().numpy(), expected.detach().numpy())
    assert np.allclose(x.grad.numpy(), theirs.grad.numpy())


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("order", ["tensor first", "array first", "number first", "number last", "scalar first"])
def test_a_ufunc_of_two_is_the_op_in_both_orders(name, order):
    x = ag.tensor([0.5, 1.5], dtype=ag.float64, requires_grad=True)
    other = np.array([2.0, 1.0]) if "array" in order or order == "tensor first" else 2.0
    other = np.float64(other) if "scalar" in order else other
    operands = (x, other) if order in ("tensor first", "number last") else (other, x)
    y = getattr(np, name)(*operands)
    expected = getattr(np, name)(*(o.detach().numpy() if o is x else o for o in operands))
    assert type(y) is ag.Tensor and y.requires_grad and np.allclose(y.detach().numpy(), expected)
    y.sum().backward()
    step = 1e-6
    moved = [
        getattr(np, name)(*(o.detach().numpy() + d if o is x else o for o in operands)).sum() for d in (step, -step)
    ]
    assert np.isclose(x.grad.sum().item(), (moved[0] - moved[1]) / (2 * step), rtol=1e-4)


@pytest.mark.parametrize(
    "operator",
    [np.add, np.subtract, np.multiply, np.divide, np.power, np.equal, np.less, np.greater_equal, np.not_equal],
)
def test_operators_of_an_array_and_a_tensor(operator):
    signs = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**", "equal": "==", "less": "<"}
    sign = {**signs, "greater_equal": ">=", "not_equal": "!="}[operator.__name__]
    array = np.array([1.0, 3.0, 2.0])
    x = ag.tensor([1.0, 2.0, 4.0], dtype=ag.float64)
    for code in (f"array {sign} x", f"x {sign} array"):
        y = eval(code, {"array": array, "x": x})
        assert type(y) is ag.Tensor
        assert np.array_equal(y.numpy(), eval(code, {"array": array, "x": x.numpy()}))


def test_matrix_products_in_both_orders():
    a = np.arange(6.0).reshape(2, 3)
    x = ag.tensor(a.T, requires_grad=True)
    assert np.allclose((a @ x).detach().numpy(), a @ a.T) and (a @ x).grad_fn.name() == "MmBackward0"
    assert np.allclose((x @ a).detach().numpy(), a.T @ a) and type(np.matmul(a, x)) is ag.Tensor


def test_the_array_may_be_written_after_it_was_an_operand():
    array = np.array([2.0, 3.0])
    x = ag.tensor([1.0, 1.0], dtype=ag.float64, requires_grad=True)
    y = array * x
    array[:] = 100
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 3.0]


def test_tests_and_comparisons_are_bools():
    x = ag.tensor([1.0, float("nan")])
    for y in (np.isnan(x), np.isfinite(x), np.greater(x, 0), np.less(0, x), np.logical_not(x > 0)):
        assert type(y) is ag.Tensor and y.dtype == ag.bool


def test_a_ufunc_that_is_no_op_is_computed_where_no_gradient_is_wanted():
    x = ag.tensor([3.0, 4.0])
    assert type(np.cbrt(x)) is ag.Tensor and np.allclose(np.cbrt(x).numpy(), np.cbrt([3, 4]))
    assert [type(p) for p in np.modf(x)] == [ag.Tensor, ag.Tensor]
    x.requires_grad_()
    with pytest.raises(RuntimeError, match=r"^Can't call numpy\(\) on Tensor that requires grad.*\n.*np.cbrt is no op"):
        np.cbrt(x)


def test_ufuncs_of_families_take_numbers():
    x = ag.tensor([3.0, 4.0], requires_grad=True)
    for y, expected in (
        (np.hypot(x, 4), np.hypot([3, 4], 4)), (np.arctan2(1.0, x), np.arctan2(1.0, [3, 4])), (np.fmax(x, 3.5), [3.5, 4.0]),
        (np.copysign(x, -1), [-3.0, -4.0]), (np.exp2(x), [8.0, 16.0]), (np.float_power(x, 2), [9.0, 16.0]),
    ):  # fmt: skip
        assert y.grad_fn is not None and np.allclose(y.detach().numpy(), expected)
    assert np.left_shift(ag.tensor([1, 2]), 2).tolist() == [4, 8] and np.logical_and(x > 3, True).tolist() == [
        False,
        True,
    ]


def test_reductions_by_ufunc():
    x = ag.arange(6, dtype=ag.float64).reshape(2, 3).requires_grad_()
    assert np.add.reduce(x).tolist() == [3.0, 5.0, 7.0] and np.add.reduce(x).grad_fn.name() == "SumBackward1"
    assert np.add.reduce(x, axis=None).item() == 15.0
    assert np.maximum.reduce(x, axis=1, keepdims=True).tolist() == [[2.0], [5.0]]
    np.add.reduce(x, axis=1).sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.add.accumulate(x), lambda x: np.multiply.outer(x, x), lambda x: np.exp(x, where=[True, False]),
        lambda x: np.exp(x, out=np.ones(2)), lambda x: np.add.at(x, [0], 1.0), lambda x: np.add.reduceat(x, [0]),
        lambda x: np.exp(x, dtype=np.float32), lambda x: np.add(x, 1.0, out=x), lambda x: np.subtract.reduce(x),
    ],
)  # fmt: skip
def test_forms_without_a_gradient_are_a_type_error(call):
    x = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True) * 1
    with pytest.raises(TypeError, match=r"^np\.\w+"):
        call(x)
    assert x.tolist() == [1.0, 2.0]


def test_forms_without_a_gradient_work_where_none_is_wanted():
    x = ag.tensor([1.0, 2.0], dtype=ag.float64)
    assert np.add.accumulate(x).tolist() == [1.0, 3.0] and type(np.add.accumulate(x)) is ag.Tensor
    assert np.multiply.outer(x, x).tolist() == [[1.0, 2.0], [2.0, 4.0]]
    array, target = np.zeros(2), ag.zeros(2, dtype=ag.float64)
    assert np.exp(x, out=array) is array and np.allclose(array, np.exp([1, 2]))
    assert np.exp(x, out=target) is target and target._version == 1 and np.allclose(target.numpy(), array)
    assert np.add(x, 1, out=target, where=np.array([True, False])).tolist()[0] == 2.0
    array += x
    assert type(array) is np.ndarray and np.allclose(array, np.exp([1, 2]) + [1, 2])


def test_a_tensor_that_was_written_by_a_ufunc_is_noticed():
    x = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    held = ag.ones(2, dtype=ag.float64)
    y = x * held
    np.add(held, 1.0, out=held)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_subclasses_keep_their_type_through_ufuncs():
    class Sub(ag.Tensor):
        pass

    x = ag.tensor([1.0, 2.0], requires_grad=True).as_subclass(Sub)
    assert [type(y) for y in (np.exp(x), np.ones(2) * x, x * np.ones(2), np.add(1, x))] == [Sub] * 4


# ----- memory -----


@programs
def from_numpy_shares_memory(t):
    array = np.array([1.0, 2.0])
    x = t.from_numpy(array)
    array[0] = 5
    x[1] = 7
    return [x, array.tolist(), x.requires_grad, x._version, t.as_tensor(array).tolist()]


@programs
def from_numpy_refuses(t):
    return [
        error_of(t.from_numpy, 3), error_of(t.from_numpy, np.array(["a"])), error_of(t.from_numpy, np.ones(3)[::-1]),
        error_of(t.from_numpy, np.ones(3, ">f4")), error_of(t.as_tensor, np.ones(3)[::-1]),
    ]  # fmt: skip


@programs
def numpy_of_a_tensor(t):
    x = leaf(t, 1.0, 2.0)
    y = t.ones(2)
    y.numpy()[0] = 3
    return [
        error_of(x.numpy), x.numpy(force=True).tolist(), (x * 2).numpy(force=True).tolist(), error_of((x * 2).numpy),
        x.detach().numpy().tolist(), y, error_of(np.asarray, x), np.asarray(y).tolist(), np.asarray(y, np.float64).dtype.name,
        error_of(np.linalg.norm, x), np.linalg.norm(y).item(), y.resolve_conj() is y, y.resolve_neg() is y,
    ]  # fmt: skip


def test_force_shares_memory_too():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    x.numpy(force=True)[0] = 9
    assert x.tolist() == [9.0, 2.0]


def test_asarray_copies_only_when_it_must():
    x = ag.ones(2)
    assert np.asarray(x) is x.numpy() and np.asarray(x, np.float32) is x.numpy()
    assert not np.shares_memory(np.array(x), x.numpy()) and not np.shares_memory(np.asarray(x, np.float64), x.numpy())
    assert np.array(x, copy=False) is x.numpy()
    with pytest.raises(ValueError, match=r"^Unable to avoid copy"):
        np.array(x, np.float64, copy=False)


def test_results_of_numpy_functions_are_tensors_as_in_pytorch():
    eye = np.linalg.inv(ag.eye(2))
    assert type(eye) is ag.Tensor and eye.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert type(np.concatenate([ag.ones(1), ag.ones(1)])) is np.ndarray


def test_a_read_only_array_is_warned_about_once():
    program = """
import warnings, numpy as np, {name} as t
array = np.ones(2)
array.flags.writeable = False
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    t.from_numpy(array), t.from_numpy(array)
print([(w.category.__name__, str(w.message).partition(" (Triggered")[0]) for w in caught], caught[0].filename)
"""
    said = [
        subprocess.run(
            [sys.executable, "-c", program.format(name=n)], capture_output=True, text=True, check=True
        ).stdout
        for n in ("torch", "agdbg_engine")
    ]
    assert said[0] == said[1] and said[0].count("UserWarning") == 1


def test_a_write_into_read_only_memory_fails_and_changes_nothing():
    array = np.ones(2)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = ag.from_numpy(array)
    with pytest.raises(ValueError, match="read-only"):
        x.add_(1)
    assert array.tolist() == [1.0, 1.0] and x._version == 0


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


SHOWN = {
    "numpy": lambda t, x: x.numpy(),
    "asarray": lambda t, x: np.asarray(x),
    "of a twin": lambda t, x: x.detach().numpy(),
    "of a view": lambda t, x: x[0].numpy(),
    "an array that is gone": lambda t, x: x.numpy().sum(),
    "a list": lambda t, x: x.tolist(),
    "a copy": lambda t, x: x.clone().numpy(),
}
MADE = {
    "ones": lambda t: t.ones(2, 3),
    "from_numpy": lambda t: t.from_numpy(np.ones((2, 3))),
    "as_tensor": lambda t: t.as_tensor(np.ones((2, 3))),
    "as_tensor of another dtype": lambda t: t.as_tensor(np.ones((2, 3)), dtype=t.float32),
    "tensor": lambda t: t.tensor(np.ones((2, 3))),
}


@pytest.mark.parametrize("size", [(3, 2), (2,), (4, 4)])
@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("made", MADE)
def test_memory_that_an_array_shows_does_not_grow(made, shown, size):
    def program(t):
        x = MADE[made](t)
        SHOWN[shown](t, x)
        return error_of(x.resize_, size)  # PyTorch has set the size all the same

    same(program)
