"""Details of ops as in PyTorch: dtypes of results and gradients, refusals, second gradients, names of arguments."""

from __future__ import annotations

import re

import numpy as np
import pytest

import agdbg_engine as ae
import agdbg_engine.nn.functional as F

f32, f64, i64, c64 = ae.float32, ae.float64, ae.int64, ae.complex64


@pytest.mark.parametrize("exponent", [2.0, np.float64(2), 1.0, 0.0, 3.0, 0.5])
@pytest.mark.parametrize("values", [[1, 2], [True, False]])
def test_an_integer_to_a_float_power_is_a_float(values, exponent):
    x = ae.tensor(values)
    expected = np.array(values, np.float32) ** np.float32(exponent)
    for result in (x**exponent, ae.pow(x, exponent), x.pow(exponent)):
        assert result.dtype == f32
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type"):
        x.clone().pow_(exponent)


def test_an_integer_to_an_integer_power_stays_one():
    assert (ae.tensor([1, 3]) ** 2).tolist() == [1, 9]
    assert (ae.tensor([1, 3]) ** 2).dtype == i64


@pytest.mark.parametrize("name", ["add_", "sub_", "__iadd__", "__isub__"])
@pytest.mark.parametrize(("mine", "theirs"), [(f32, f64), (f64, f32), (c64, f32), (c64, f64)])
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_of_in_place_sums_are_in_the_dtype_of_the_operand(name, mine, theirs, create_graph):
    x = ae.ones(2, dtype=theirs, requires_grad=True)
    middle = x * 1
    total = ae.zeros(2, dtype=mine)
    getattr(total, name)(middle)
    assert total.dtype == mine
    for gradient in ae.autograd.grad(total.sum().real, (middle, x), create_graph=create_graph):
        assert gradient.dtype == theirs
        assert gradient.tolist() == ([1, 1] if "add" in name else [-1, -1])


def test_in_place_sum_with_alpha_of_another_dtype():
    x = ae.ones(2, dtype=f64, requires_grad=True)
    total = ae.zeros(2)
    total.add_(x, alpha=3)
    total.sum().backward()
    assert x.grad.dtype == f64
    assert x.grad.tolist() == [3, 3]


# ----- losses -----


@pytest.mark.parametrize("loss", [F.soft_margin_loss, F.huber_loss])
@pytest.mark.parametrize("dtype", [f64, i64])
@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_loss_is_in_the_dtype_of_the_input(loss, dtype, reduction):
    x = ae.tensor([0.5, -1.0], requires_grad=True)
    out = loss(x, ae.tensor([1, -1], dtype=dtype), reduction=reduction)
    assert out.dtype == f32
    same = loss(x, ae.tensor([1.0, -1.0]), reduction=reduction)
    np.testing.assert_allclose(out.detach().numpy(), same.detach().numpy(), rtol=1e-6)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        loss(ae.tensor([1, 2]), ae.tensor([1.0, -1.0]))


def test_binary_cross_entropy_with_logits_is_in_the_dtype_of_the_target():
    x = ae.ones(2, dtype=f64, requires_grad=True)
    out = F.binary_cross_entropy_with_logits(x, ae.ones(2))
    assert out.dtype == f32
    out.backward()
    assert x.grad.dtype == f64


def test_kl_div_refuses_integers():
    with pytest.raises(RuntimeError, match=r"kl_div: Integral inputs not supported."):
        F.kl_div(ae.ones(2), ae.tensor([1, 2]), reduction="sum")


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.soft_margin_loss])
@pytest.mark.parametrize("create_graph", [False, True])
def test_mean_over_an_empty_batch(loss, create_graph):
    x = ae.ones((0, 3), requires_grad=True)
    out = loss(x, ae.ones((0, 3)))
    assert np.isnan(out.item())
    (gradient,) = ae.autograd.grad(out, x, create_graph=create_graph)
    assert gradient.shape == (0, 3)


@pytest.mark.parametrize("name", ["mean", "var_mean"])
def test_gradient_of_an_empty_mean(name):
    x = ae.ones((0, 3), requires_grad=True)
    out = x.mean() if name == "mean" else ae.std_mean(ae.ones((2, 0), requires_grad=True) * 1, 0)[1]
    (gradient,) = ae.autograd.grad(out.sum(), x, allow_unused=True, create_graph=True)
    assert gradient is None or gradient.shape == (0, 3)


# ----- values and refusals -----


@pytest.mark.parametrize("dtype", [ae.uint8, ae.int32, i64])
def test_trace_of_integers_is_int64(dtype):
    assert ae.trace(ae.ones((2, 2), dtype=dtype)).dtype == i64
    with pytest.raises(NotImplementedError, match="\"trace\" not implemented for 'Bool'"):
        ae.trace(ae.ones((2, 2), dtype=ae.bool))


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64, np.bool_])
@pytest.mark.parametrize("op", ["__mul__", "__add__", "__truediv__", "__pow__"])
def test_operators_with_arrays_compute_in_the_dtype_of_numpy(op, kind):
    array, x = np.ones(2, kind), ae.ones(2)
    result = getattr(x, op)(array)
    assert result.dtype == np.result_type(np.float32, kind)
    assert ae.ones(2, dtype=ae.int32).__truediv__(np.ones(2, np.int64)).dtype == f64


def test_matrix_product_with_an_array_of_another_dtype():
    assert (ae.ones(2) @ np.arange(2)).dtype == f64
    x = ae.ones(2, requires_grad=True)
    (x @ np.arange(2)).backward()
    assert x.grad.dtype == f32
    assert x.grad.tolist() == [0, 1]


@pytest.mark.parametrize("op", [ae.add, ae.sub, ae.rsub])
def test_alpha_is_of_the_kind_of_the_result(op):
    x, y = ae.tensor([1, 2]), ae.tensor([2, 3])
    for other in (1, y):
        with pytest.raises(RuntimeError, match=r"For integral input tensors, argument alpha must not be a floating"):
            op(x, other, alpha=1.5)
        with pytest.raises(RuntimeError, match=r"Boolean alpha only supported for Boolean results."):
            op(x, other, alpha=True)
    with pytest.raises(RuntimeError, match=r"For non-complex input tensors, argument alpha must not be a complex"):
        op(ae.ones(2), 1, alpha=1j)
    assert op(x, 1.5, alpha=1.5).dtype == f32
    assert op(x, y, alpha=2).dtype == i64


def test_sum_of_truth_values_with_alpha():
    x = ae.tensor([True, False])
    assert x.add(x, alpha=2).tolist() == [True, False]


def test_lerp_of_integers_is_refused():
    x = ae.tensor([1, 2])
    with pytest.raises(NotImplementedError, match="\"lerp_kernel_scalar\" not implemented for 'Long'"):
        ae.lerp(x, x, 0.5)
    with pytest.raises(NotImplementedError, match="\"lerp_kernel_tensor\" not implemented for 'Long'"):
        ae.lerp(x, x, x)


def test_normalisation_refuses_parameters_of_another_dtype():
    x, w = ae.arange(4.0).reshape(2, 2), ae.ones(2, dtype=f64)
    for call in (
        lambda: F.layer_norm(x, (2,), w, w), lambda: F.batch_norm(x, None, None, w, w, True), lambda: F.group_norm(x, 1, w, w),
        lambda: F.instance_norm(x[None], None, None, w, w), lambda: F.batch_norm(x, w, w),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=r"mixed dtype \(CPU\): expect parameter to have scalar type of Float"):
            call()
    with pytest.raises(RuntimeError, match=r"mixed dtype \(CPU\): all inputs must share same datatype."):
        F.layer_norm(x.double(), (2,), ae.ones(2))
    assert F.layer_norm(x.half(), (2,), ae.ones(2)).dtype == ae.float16


def test_batch_norm_refuses_eps():
    x = ae.arange(4.0).reshape(2, 2)
    with pytest.raises(ValueError, match=r"batch_norm eps must be positive during training, but got 0.0"):
        F.batch_norm(x, None, None, training=True, eps=0.0)
    with pytest.raises(ValueError, match=r"batch_norm eps must be non-negative, but got -1"):
        F.batch_norm(x, ae.zeros(2), ae.ones(2), eps=-1)
    assert F.batch_norm(x, ae.zeros(2), ae.ones(2), eps=0.0).tolist() == x.tolist()


# ----- second gradients -----


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.max_pool2d(x, 2), lambda x: F.avg_pool2d(x, 2), lambda x: F.adaptive_avg_pool2d(x, 2),
        lambda x: F.adaptive_max_pool2d(x, 2), lambda x: F.avg_pool1d(x[0], 2), lambda x: F.max_pool1d(x[0], 2),
        lambda x: F.avg_pool3d(x, 2), lambda x: F.max_pool3d(x, 2), lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
        lambda x: F.pad(x, (1, 1), mode="replicate") if x.ndim < 4 else F.pad(x, (1, 1, 1, 1), mode="replicate"),
        lambda x: F.interpolate(x, scale_factor=2, mode="area"), lambda x: F.threshold(x, 1.0, 0.0),
        lambda x: F.prelu(x, ae.tensor([0.2])),
    ],
)  # fmt: skip
def test_gradients_of_piecewise_linear_functions_belong_to_the_graph(function):
    x = ae.arange(16.0).reshape(1, 1, 4, 4)
    x = (x[None] if function.__code__.co_names[1] in ("avg_pool3d", "max_pool3d") else x).expand(
        *((1, 1, 4, 4, 4) if function.__code__.co_names[1] in ("avg_pool3d", "max_pool3d") else x.shape)
    )
    x = x.clone().requires_grad_()
    (gradient,) = ae.autograd.grad(function(x).sum(), x, create_graph=True)
    assert gradient.requires_grad
    (second,) = ae.autograd.grad(gradient.sum(), x)
    assert second.shape == x.shape
    assert not second.numpy().any()


# ----- arguments -----

TWO, HALF = ae.tensor(2), ae.tensor(0.5)


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (lambda x: x.split(TWO)[1], lambda x: x.split(2)[1]), (lambda x: ae.chunk(x, TWO)[1], lambda x: x.chunk(2)[1]),
        (lambda x: x.roll(TWO), lambda x: x.roll(2)), (lambda x: ae.fft.fftfreq(TWO), lambda x: ae.fft.fftfreq(2)),
        (lambda x: ae.hann_window(TWO), lambda x: ae.hann_window(2)), (lambda x: F.softshrink(x, HALF), lambda x: F.softshrink(x)),
        (lambda x: ae.logit(x / 9, HALF / 50), lambda x: ae.logit(x / 9, 0.01)),
        (lambda x: (x + 3).mvlgamma(TWO), lambda x: (x + 3).mvlgamma(2)),
        (lambda x: F.softplus(x, TWO), lambda x: F.softplus(x, 2)), (lambda x: x.repeat(TWO), lambda x: x.repeat(2)),
        (lambda x: x.reshape(2, 3).matmul(x.reshape(3, 2)).matrix_power(TWO), lambda x: (x.reshape(2, 3) @ x.reshape(3, 2)).matrix_power(2)),
        (lambda x: x.reshape(2, 3).mean(TWO - 1), lambda x: x.reshape(2, 3).mean(1)),
        (lambda x: x.sum(TWO * 0), lambda x: x.sum(0)), (lambda x: x.var(TWO * 0), lambda x: x.var(0)),
        (lambda x: F.leaky_relu(-x, HALF), lambda x: F.leaky_relu(-x, 0.5)), (lambda x: x.norm(TWO), lambda x: x.norm(2)),
        (lambda x: x[0].broadcast_to(2), lambda x: x[0].expand(2)),
        (lambda x: x.sum(0, keepdims=True), lambda x: x.sum(0, keepdim=True)),
        (lambda x: x.mean(dim=0, keepdims=True), lambda x: x.mean(0, keepdim=True)),
        (lambda x: x.amax(0, keepdims=True), lambda x: x.amax(0, keepdim=True)),
        (lambda x: ae.max(x, other=x * 2), lambda x: x * 2), (lambda x: x.min(other=x * 2), lambda x: x),
        (lambda x: ae.split(tensor=x, split_size_or_sections=2)[1], lambda x: x.split(2)[1]),
    ],
)  # fmt: skip
def test_arguments(given, plain):
    x = ae.arange(6.0)
    np.testing.assert_array_equal(given(x).numpy(), plain(x).numpy())


def test_what_is_no_tensor_times_a_tensor():
    with pytest.raises(TypeError, match="unsupported operand"):
        [1] @ ae.ones(1)


# ----- nodes and overrides -----


@pytest.mark.parametrize(
    ("function", "name", "edges"),
    [
        (lambda y: ae.lerp(y, y.detach(), 0.5), "LerpBackward0", [True, False]), (lambda y: y % 2, "RemainderBackward0", [True]),
        (lambda y: y.fmod(2), "FmodBackward0", [True]), (lambda y: ae.xlogy(2, y), "XlogyBackward1", [True]),
        (lambda y: ae.div(y, 2, rounding_mode="floor"), "DivBackward2", [True, False]), (lambda y: y * 2, "MulBackward0", [True, False]),
    ],
)  # fmt: skip
def test_edges_of_nodes_with_a_number(function, name, edges):
    x = ae.ones(3, requires_grad=True)
    out = function(x * 3)
    assert out.grad_fn.name() == name
    assert [node is not None for node, _ in out.grad_fn.next_functions] == edges
    out.sum().backward()
    assert x.grad.shape == (3,)


def test_an_assigned_number_is_a_tensor_to_the_graph():
    x = ae.ones(3, requires_grad=True)
    y = x * 1
    y[...] = 2.0
    assert y.grad_fn.name() == "FillBackward3"
    assert [node is None for node, _ in y.grad_fn.next_functions] == [False, True]
    z = x * 1
    z[0] = 2.0
    assert len(z.grad_fn.next_functions) == 2
    z.sum().backward()
    assert x.grad.tolist() == [0, 1, 1]
    integers = ae.tensor([1, 2])
    integers[0] = 7.9
    assert integers.tolist() == [7, 2]


def test_names_of_overridden_operators():
    seen = []

    class Telling(ae.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    x = ae.tensor([1, 2]).as_subclass(Telling)
    del seen[:]
    other = ae.tensor([1, 1])
    _ = (x == other, x & other, x | other, x ^ other, ~x, x // other, x << other, 2 // x, other == x, other & x)
    names = "__eq__ __and__ __or__ __xor__ __invert__ __floordiv__ __lshift__ __rfloordiv__ __eq__ __and__"
    assert seen == names.split()


# ----- bags of rows -----


@pytest.mark.parametrize(("indices", "offsets", "words", "said"), [
    ([0, 5], [0], {}, "Index 1 of input takes value 5 which is not in the valid range [0, 3)"),
    ([0, -1], [0], {}, "Index 1 of input takes value -1 which is not in the valid range [0, 3)"),
    ([0.0, 1.0], [0], {}, "argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.FloatTensor"),
    ([0, 1], [0], {"padding_idx": 7}, "padding_idx must be within the number of embeddings, -3 through 2, but got 7"),
    ([0, 1], [], {"include_last_offset": True}, "include_last_offset: number of offset should be at least 1"),
    ([0, 1], [0, 2, 1], {}, "offsets have to be in order"),
])  # fmt: skip
def test_bags_that_cannot_be(indices, offsets, words, said):
    with pytest.raises(RuntimeError, match=re.escape(said)):
        F.embedding_bag(ae.tensor(indices), ae.ones(3, 2), ae.tensor(offsets, dtype=i64), **words)


def test_no_bag_is_an_empty_result():
    assert F.embedding_bag(ae.tensor([0, 1]), ae.ones(3, 2), ae.tensor([], dtype=i64)).shape == (0, 2)
