"""Arguments that a transformed function gives another shape in place: they have it outside, too. And what refuses that."""

import pytest
from agdbg_tests_differential import error_of, essence, same

pytest.importorskip("torch")  # the oracle of these programs

WRITES = {
    "unsqueeze_": lambda t, b: b.unsqueeze_(0),
    "t_": lambda t, b: b.t_(),
    "transpose_": lambda t, b: b.transpose_(0, 1),
    "swapaxes_": lambda t, b: b.swapaxes_(0, 1),
    "squeeze_": lambda t, b: b.squeeze_(),
    "as_strided_": lambda t, b: b.as_strided_((2,), (1,)),
    "resize_": lambda t, b: b.resize_(3, 2),
    "more memory": lambda t, b: b.resize_(4, 2).fill_(1),
    "resize_as_": lambda t, b: b.resize_as_(t.ones(3, 2)),
    "of a twin": lambda t, b: b.detach().unsqueeze_(0),
    "of a view": lambda t, b: b[0].unsqueeze_(0),
    "written after": lambda t, b: b.unsqueeze_(0).mul_(2),
    "written before": lambda t, b: b.mul_(2).unsqueeze_(0),
    "of a result": lambda t, b: (b * 1).unsqueeze_(0),
    "not recorded": lambda t, b: t.no_grad()(b.unsqueeze_)(0),
}
CALLS = {
    "argument": lambda t, f, x, b: t.func.grad(f)(x, b),
    "point": lambda t, f, x, b: t.func.grad(lambda b: f(x, b))(b),
    "vjp": lambda t, f, x, b: t.func.vjp(f, x, b)[1](t.tensor(1.0)),
    "argument of an inner one": lambda t, f, x, b: t.func.grad(lambda x, b: t.func.grad(f)(x, b).sum())(x, b),
    "captured point": lambda t, f, x, b: t.func.grad(lambda x: t.func.grad(f)(x, b).sum())(x),
    "unrecorded": lambda t, f, x, b: t.no_grad()(t.func.grad(f))(x, b),
}


@pytest.mark.parametrize("make", [
    lambda t: t.ones(2, 3), lambda t: t.ones(2, 3, requires_grad=True), lambda t: t.ones(2, 3, requires_grad=True) * 1,
])  # fmt: skip
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("write", WRITES)
def test_an_argument_in_another_shape(write, call, make):
    def program(t):
        x, b, seen = t.ones(2), make(t), []
        if write == "not recorded" and b.requires_grad and call in ("point", "vjp"):
            return None  # the gradient is in the shape of the point before, in PyTorch in that after

        def f(x, b):
            seen.append(error_of(WRITES[write], t, b))
            seen.append([list(b.shape), list(b.stride()), b._version])
            return x.sum() * b.sum()

        made = []
        seen.append([error_of(lambda: made.append(CALLS[call](t, f, x, b))), essence(made)])
        seen.append([list(b.shape), list(b.stride()), b._version, b.requires_grad])
        if b.requires_grad and not b.is_leaf:
            seen.append(error_of(lambda: b.sum().backward()))
        return seen

    same(program)


CAPTURED = {
    "squeeze_ of one": lambda t, c: c.squeeze_(0),
    "squeeze_ of several": lambda t, c: c.squeeze_((0, 1)),
    "swapdims_": lambda t, c: c.swapdims_(0, 1),
    "multiply_": lambda t, c: c.multiply_(2),
    "true_divide_": lambda t, c: c.true_divide_(2),
    "greater_": lambda t, c: c.greater_(1),
    "less_equal_": lambda t, c: c.less_equal_(c),
    "bernoulli_": lambda t, c: c.bernoulli_(),
    "fill_diagonal_": lambda t, c: c.fill_diagonal_(0),
    "a row": lambda t, c: c.__setitem__(0, 1),
    "a row of a tensor": lambda t, c: c.__setitem__(0, t.ones(3)),
    "an element": lambda t, c: c.__setitem__((0, 0), 1),
    "a number as a tensor": lambda t, c: c.__setitem__(0, t.tensor(1.0)),
}


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("write", [*CAPTURED, *WRITES])
def test_the_error_of_a_captured_tensor_names_the_form_of_the_op(write, requires_grad):
    def program(t):
        c = t.ones(2, 3, requires_grad=requires_grad)
        write_to = {**WRITES, **CAPTURED}[write]
        return error_of(lambda: t.func.grad(lambda x: (write_to(t, c), x.sum())[1])(t.ones(2)))

    same(program)


@pytest.mark.parametrize("size", [(3, 2), (2, 3)])
def test_a_dual_is_not_resized(size):
    def program(t):
        with t.autograd.forward_ad.dual_level():
            dual = t.autograd.forward_ad.make_dual(t.ones(2, 3), t.ones(2, 3))
            return [error_of(dual.resize_, size), error_of(dual.resize_as_, t.ones(size))]

    same(program)
