"""Views, in-place reshaping, layouts and factories: what PyTorch's samples do not reach."""

import itertools

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.autograd import gradcheck

torch = pytest.importorskip("torch", reason="PyTorch is the reference here")
BOTH = pytest.mark.parametrize("t", [ag, torch], ids=["engine", "torch"])


def values(x):
    """Elements as nested lists."""
    return x.detach().tolist()


def same(program):
    """``program(library)`` gives the same in both libraries."""
    mine, its = program(ag), program(torch)
    assert mine == its
    return mine


def leaf(t, *shape):
    """1, 2, 3 ... as a leaf of ``shape``."""
    n = int(np.prod(shape))
    return (t.arange(n, dtype=t.float64) + 1).reshape(shape).requires_grad_()


# ----- gradients of overlapping views -----


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.unfold(0, 3, 1),
        lambda x: x.unfold(0, 2, 3),
        lambda x: x.as_strided((2, 3), (1, 1), 1),
        lambda x: x.as_strided((3,), (0,), 2),
        lambda x: x.expand(2, 6),
    ],
)
def test_a_stale_view_that_repeats_memory_adds_its_gradients(view):
    def program(t):
        x = leaf(t, 6)
        base = x * 1
        seen = view(base)
        base.mul_(2)
        (seen * seen).sum().backward()
        return values(x.grad)

    same(program)


def test_a_tensor_that_repeats_memory_itself_shares_the_gradient():
    def program(t):
        x = leaf(t, 2)
        y = x.unsqueeze(1).expand(2, 3)
        y.as_strided((2, 2), (1, 0)).sum().backward()
        return values(x.grad)

    same(program)


def test_as_strided_scatter_has_the_right_gradient():
    x, src = leaf(ag, 3, 3), leaf(ag, 2, 2)
    assert gradcheck(lambda a, b: ag.as_strided_scatter(a, b, (2, 2), (1, 2), 1), (x, src))


@BOTH
def test_as_strided_refuses_what_is_not_there(t):
    x = t.ones(2, 3)
    with pytest.raises(RuntimeError, match="requiring a storage size of 32 are out of bounds for storage of size 24"):
        x.as_strided((4,), (2,), 1)
    with pytest.raises(RuntimeError, match="mismatch in length of strides and shape"):
        x.as_strided((4,), (2, 1))
    with pytest.raises(RuntimeError, match="Negative strides are not supported"):
        x.as_strided((2,), (-1,))


def test_as_strided_sees_around_a_view():
    def program(t):
        x = leaf(t, 6)
        y = x * 1
        y[2:4].as_strided((2, 2), (3, 1), 1).mul_(10)
        y.sum().backward()
        return values(y), values(x.grad)

    same(program)


# ----- another shape in place -----


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.squeeze_(), lambda x: x.squeeze_(1), lambda x: x.squeeze_((0, 1)), lambda x: x.unsqueeze_(-1),
        lambda x: x.transpose_(0, 2), lambda x: x.swapaxes_(0, 1), lambda x: x.as_strided_((2, 2), (1, 2)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("of_view", [False, True])
def test_reshaping_in_place(change, of_view):
    def program(t):
        x = leaf(t, 3, 1, 4)
        base = x * 1
        y = base.transpose(0, 1) if of_view else base
        change(y)
        name = y.grad_fn.name()
        before = y._version, y._is_view()
        y.exp_()
        y.sum().backward()
        strides = [s for s, n in zip(y.stride(), y.shape, strict=True) if n > 1]
        return name, before, list(y.shape), strides, values(base), values(x.grad)

    same(program)


@BOTH
def test_reshaping_in_place_counts_as_a_write(t):
    x = leaf(t, 1, 3)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.squeeze_()
    y = x * 1
    z = y.sin()
    y.squeeze_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    with pytest.raises(IndexError, match="Dimension out of range"):
        t.ones(2).unsqueeze_(3)
    with pytest.raises(RuntimeError, match="expects a tensor with <= 2 dimensions, but self is 3D"):
        t.ones(1, 2, 3).t_()


# ----- writes of several ops -----


def test_limits_that_are_tensors_in_place():
    def program(t):
        x = t.tensor([0.0, 1.0, 2.0, 3.0, 4.0, float("nan")], requires_grad=True)
        low = t.tensor([1.0, 1.0, 3.0, 3.0, 2.0, 0.0], requires_grad=True)
        high = t.tensor([2.0, 1.0, 2.0, 3.0, 3.0, 1.0], requires_grad=True)
        out = []
        for limits in ((low, high), (low, None), (None, high)):
            y = (x * 1).clamp_(*limits)
            grads = t.autograd.grad(y.sum(), [v for v in (x, *limits) if v is not None])
            out += [repr(values(y)), y.grad_fn.name(), *map(values, grads)]
        return out

    same(program)


@BOTH
def test_limits_are_both_numbers_or_both_tensors(t):
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        t.ones(2).clamp(t.ones(2), 1.0)


def test_an_op_made_of_others_saves_what_was_there_before():
    from agdbg_engine.ops.inplace import method

    squared_twice = method("squared_twice_", lambda x: (x.t() * x.sin()).t(), composed=True)
    x = leaf(ag, 2, 2)
    y = x * 1
    squared_twice(y)
    y.sum().backward()
    expected = leaf(ag, 2, 2)
    (expected.t() * expected.sin()).t().sum().backward()
    assert values(x.grad) == values(expected.grad)


# ----- layouts and sizes -----


def test_layouts():
    def program(t):
        x = t.arange(6.0).view(2, 3).t()
        made = [
            x.clone(), x.clone(memory_format=t.contiguous_format), t.zeros_like(x),
            t.ones_like(x, memory_format=t.contiguous_format), t.empty_strided((2, 3), (1, 4)),
            t.empty_permuted((2, 3, 4), (2, 0, 1)), x.new_empty_strided((2, 2), (3, 1)), x.float(), x.T,
            x.double(memory_format=t.contiguous_format), x.contiguous(memory_format=t.contiguous_format),
        ]  # fmt: skip
        return [m.stride() for m in made]

    same(program)


def test_resizing():
    def program(t):
        x = t.arange(6.0)
        part = x[2:4]
        part.resize_(3).mul_(10)
        turned = t.arange(6.0).view(2, 3).t()
        turned.resize_(2, 2)
        grown = t.arange(2.0).resize_(2, 2)
        like = t.ones(4).resize_as_(t.ones(2, 2).t())
        return values(x), values(part), x._version, values(turned), list(grown.shape), values(grown[0]), like.stride()

    same(program)


@BOTH
def test_resizing_is_refused(t):
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        t.ones(3, requires_grad=True).resize_(2)


@BOTH
def test_bytes_in_another_dtype(t):
    x = t.ones(3, 4)
    assert values(x.view(t.int32)) == values(x.view(dtype=t.int32)) == [[1065353216] * 4] * 3
    for wrongly in (lambda: x.view(12, dtype=t.int32), lambda: x.view(dtype=3)):
        with pytest.raises(TypeError):
            wrongly()
    assert list(x.view(t.float64).shape) == [3, 2] and list(x.view(t.int16).shape) == [3, 8]
    assert not x.requires_grad_().view(t.int32).requires_grad
    x.detach().view(t.int32).zero_()
    assert x._version == 1 and values(x) == [[0.0] * 4] * 3
    for view, dtype, text in (
        (x[:, 1:3], t.float64, r"self.storage_offset\(\) must be divisible by 2"),
        (x[:, :3], t.float64, r"self.size\(-1\) must be divisible by 2"),
        (x.t(), t.int16, r"self.stride\(-1\) must be 1"),
        (t.tensor(1.0), t.int16, r"self.dim\(\) cannot be 0"),
    ):
        with pytest.raises(RuntimeError, match=text):
            view.view(dtype)


def test_diagonals_are_filled():
    def program(t):
        x = leaf(t, 7, 2)
        y = (x * 1).fill_diagonal_(5, wrap=True)
        (y * y).sum().backward()
        return values(y), values(x.grad), values(t.zeros(2, 2, 2).fill_diagonal_(1))

    same(program)


# ----- ranges, sizes of results -----


def test_ranges():
    def program(t):
        out = t.empty(0, dtype=t.int64)
        return [
            values(x)
            for x in (
                t.arange(t.tensor(3.0), t.tensor(6)), t.arange(0.0, -8.1, -4.0, dtype=t.int64), t.arange(True),
                t.linspace(-2, 4.7, 5, dtype=t.int32), t.linspace(t.tensor(0.0), t.tensor(4), 3), t.logspace(0, 5, 3, base=2),
                t.linspace(0, 5, 6, out=out), out, t.scalar_tensor(3),
            )
        ]  # fmt: skip

    same(program)


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "complex64", "int64", "uint8", "bool"])
@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_ranges_with_ends_that_are_infinite_or_too_large(name, kind):
    def made(t, *ends):
        try:
            return getattr(t, name)(*ends, dtype=getattr(t, kind)).numpy()
        except (RuntimeError, NotImplementedError) as error:
            return type(error), str(error).partition("\n")[0]

    ends = (0, 1.0, -2, float("inf"), float("-inf"), float("nan"), 1e30, -1e300)
    if name == "logspace" and kind == "complex64":
        ends = ends[:3]  # each library has its own NaN in the powers
    for case in itertools.product(ends, ends, (0, 1, 2, 3, 5, 9, 17)):  # steps that are exact
        theirs, ours = (made(t, *case) for t in (torch, ag))
        if isinstance(theirs, tuple):
            assert ours == theirs, case
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-3 if kind == "float16" else 1e-6, err_msg=str(case))


@BOTH
def test_ranges_are_refused(t):
    for wrong, error, text in (
        (lambda: t.arange(0, float("inf")), RuntimeError, "unsupported range: 0 -> inf"),
        (lambda: t.arange(0, 5, 0.5, out=t.empty(0, dtype=t.int64)), ValueError, "step must be nonzero"),
        (
            lambda: t.zeros(3, out=t.empty(0), dtype=t.float64),
            RuntimeError,
            "Double does not match dtype of out parameter",
        ),
        (lambda: t.linspace(0, 5j, 3, dtype=t.float32), RuntimeError, "can't be safely cast to passed dtype Float"),
        (lambda: t.broadcast_shapes((2,), (3,)), RuntimeError, "Attempting to broadcast a dimension of length 3 at -1"),
        (
            lambda: t.cat((t.ones(2), t.ones(2)), out=t.ones(4)[:0].requires_grad_()),
            RuntimeError,
            "don't support automatic",
        ),
    ):
        with pytest.raises(error, match=text):
            wrong()
