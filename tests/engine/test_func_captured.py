"""``autograd.grad`` inside of a function transform: what is captured is a constant there, as in PyTorch."""

import pytest
from agdbg_tests_differential import error_of, same

pytest.importorskip("torch")  # the yardstick

INNER = {
    "captured": lambda t, w, x: t.autograd.grad((w * x).sum(), w)[0],
    "captured, to differentiate": lambda t, w, x: t.autograd.grad((w * w * x).sum(), w, create_graph=True)[0],
    "made of it inside": lambda t, w, x: (lambda v: t.autograd.grad((v * x).sum(), v)[0])(w * 2),
    "nothing of the input": lambda t, w, x: t.autograd.grad((w * w).sum(), w)[0] * x,
    "the input cut off": lambda t, w, x: t.autograd.grad((w * x.detach()).sum(), w)[0] * x,
    "allowed": lambda t, w, x: (lambda g: x if g is None else g)(t.autograd.grad((w * x).sum(), w, allow_unused=True)[0]),
    "zeros": lambda t, w, x: t.autograd.grad((w * x).sum(), w, materialize_grads=True)[0] + x,
    "both": lambda t, w, x: t.autograd.grad((w * x).sum(), [x, w])[0],
    "both allowed": lambda t, w, x: t.autograd.grad((w * x * x).sum(), [x, w], create_graph=True, allow_unused=True)[0],
    "the input": lambda t, w, x: t.autograd.grad((w * x * x).sum(), x, create_graph=True)[0],
    "no gradient wanted": lambda t, w, x: t.autograd.grad((w * x).sum(), t.ones(2))[0],
    "a view": lambda t, w, x: (lambda v: t.autograd.grad((v * x).sum(), v)[0])(w[:]),
    "a view of a view": lambda t, w, x: (lambda v: t.autograd.grad((v * x).sum(), v)[0])(w[:].view(2)),
    "a view of a result": lambda t, w, x: (lambda v: t.autograd.grad((v * x).sum(), v)[0])((w * 2)[:]),
    "itself again": lambda t, w, x: (lambda v: t.autograd.grad((v * x).sum(), v)[0])(w.contiguous()),
    "a leaf made inside": lambda t, w, x: (lambda v: t.autograd.grad((v * v * x).sum(), v, create_graph=True)[0])(
        t.ones(2, requires_grad=True)
    ),
    "a transform inside": lambda t, w, x: t.func.grad(lambda v: (v * v * x).sum())(w),
}  # fmt: skip

OUTER = {
    "grad": lambda t, f, x: t.func.grad(lambda x: f(x).sum())(x),
    "vjp": lambda t, f, x: (lambda made, pull: [made, pull(t.ones(2))])(*t.func.vjp(f, x)),
    "jacrev": lambda t, f, x: t.func.jacrev(f)(x),
    "hessian": lambda t, f, x: t.func.hessian(lambda x: f(x).sum())(x),
    "grad of grad": lambda t, f, x: t.func.grad(lambda y: t.func.grad(lambda x: f(x).sum())(y).sum())(x),
    "jvp": lambda t, f, x: [y.detach() for y in t.func.jvp(f, (x,), (t.ones(2),))],
    "a pass outside": lambda t, f, x: t.func.grad(lambda x: f(x).sum())(x).sum().backward(),
    "jacobian": lambda t, f, x: t.autograd.functional.jacobian(f, x),
}


@pytest.mark.parametrize("inner", INNER)
def test_same_as_torch(inner):
    def program(t):
        seen = []
        for outer in OUTER.values():
            w, x, made = t.tensor([2.0, 3.0], requires_grad=True), t.tensor([1.0, 4.0]), []
            error = error_of(lambda: made.append(outer(t, lambda x: INNER[inner](t, w, x), x)))  # noqa: B023 - called here
            seen.append([error, made, w.grad])
        return seen

    same(program)


def _made(t, x):
    return t.ones(2, requires_grad=True) * x


@pytest.mark.parametrize("inner", [
    lambda t, w, x: _made(t, x), lambda t, w, x: _made(t, t.ones(2)), lambda t, w, x: t.ones(2, requires_grad=True),
    lambda t, w, x: w * _made(t, x), lambda t, w, x: w * x, lambda t, w, x: w.detach() * x,
    lambda t, w, x: (lambda v: t.autograd.grad((v**3 * x).sum(), v, create_graph=True)[0])(t.ones(2, requires_grad=True)),
])  # fmt: skip
def test_what_depends_on_a_leaf_made_inside_requires_no_grad_outside(inner):
    def program(t):
        w, x, ones = t.tensor([2.0, 3.0], requires_grad=True), t.tensor([1.0, 4.0]), t.ones(2)
        f, func = lambda x: inner(t, w, x), t.func
        seen = [
            func.jvp(f, (x,), (ones,)), func.jacfwd(f)(x), func.jvp(lambda x: (f(x), f(x)), (x,), (ones,), has_aux=True),
            func.jvp(lambda x: func.jvp(f, (x,), (x,))[1], (x,), (ones,)), func.jacrev(f)(x), func.hessian(lambda x: f(x).sum())(x),
            func.grad(lambda x: func.jvp(f, (x,), (x,))[1].sum())(x), func.jvp(func.grad(lambda x: (f(x) * x).sum()), (x,), (ones,)),
        ]  # fmt: skip
        return [[(y.tolist(), y.requires_grad) for y in (ys if isinstance(ys, tuple) else (ys,))] for ys in seen]

    same(program)


WRITES = {
    "a gradient": lambda t, w, x: t.func.grad(lambda x: (x**3).sum())(x).mul_(2),
    "a value and a tangent": lambda t, w, x: (lambda y, g: y.add_(1) * g.mul_(2))(*t.func.jvp(lambda x: x**3, (x,), (t.ones(2),))),
    "a product": lambda t, w, x: t.func.vjp(lambda x: x**3, x)[1](t.ones(2))[0].mul_(x),
    "a gradient that holds the input": lambda t, w, x: t.func.grad(lambda v: (v * v * x).sum())(x).mul_(x),
    "what is captured": lambda t, w, x: t.func.grad(lambda v: (w.mul_(2) * v * x).sum())(x),
    "what the outer function made": lambda t, w, x: (lambda z: t.func.grad(lambda v: (z.mul_(2) * v).sum())(x))(x * 1),
    "what is captured, passed on": lambda t, w, x: t.func.vjp(lambda v: v, w)[0].mul_(2) * x,
    "a view of it": lambda t, w, x: t.func.vjp(lambda v: v[:], w)[0].mul_(2) * x,
    "a view of it, forward": lambda t, w, x: t.func.jvp(lambda v: v[:], (w,), (w,))[0].mul_(2) * x,
}  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
def test_writes_to_what_an_inner_transform_gave(write):
    def program(t):
        w, x = t.ones(2), t.tensor([1.0, 4.0])
        f = lambda x: WRITES[write](t, w, x)
        makers = (
            lambda: t.func.grad(lambda x: f(x).sum())(x), lambda: t.func.jvp(f, (x,), (x,)), lambda: t.func.jacrev(f)(x), lambda: f(x),
        )  # fmt: skip
        seen = []
        for make in makers:
            made = []
            seen.append([error_of(lambda: made.append(make())), made, w])  # noqa: B023 - called here
        return seen

    same(program)


TANGENT_WRITES = {
    "mul_": lambda t, x: x.mul_(3.0),
    "zero_": lambda t, x: x.zero_(),
    "fill_": lambda t, x: x.fill_(2.0),
    "copy_": lambda t, x: x.copy_(t.ones(3)),
    "masked_fill_": lambda t, x: x.masked_fill_(x > 0, t.tensor(2.0)),
    "index_fill_": lambda t, x: x.index_fill_(0, t.tensor([0]), 2.0),
    "index_put_": lambda t, x: x.index_put_((t.tensor([0]),), t.tensor(1.0)),
    "scatter_": lambda t, x: x.scatter_(0, t.tensor([0]), 3.0),
    "through a view": lambda t, x: x[1:].mul_(2.0),
    "shape": lambda t, x: x.unsqueeze_(0),
    "of a result": lambda t, x: (x * 1).mul_(2.0),
}
DIRECTIONS = {
    "captured": lambda v, x: v,
    "a view of it": lambda v, x: v.view(3),
    "made inside": lambda v, x: v * 1,
    "of the input": lambda v, x: x * 1,
}


@pytest.mark.parametrize("outer", ["none", "jvp", "grad"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("write", TANGENT_WRITES)
def test_a_write_to_a_tangent_that_the_outer_transform_has_captured_is_refused(write, direction, outer):
    def program(t):
        x, v = t.ones(3), t.ones(3) * 2

        def f(x):
            TANGENT_WRITES[write](t, x)
            return x.sum()

        def slope(x):
            return t.func.jvp(f, (x * 1,), (DIRECTIONS[direction](v, x),))[1]

        calls = {"none": slope, "grad": t.func.grad(slope), "jvp": lambda x: t.func.jvp(slope, (x,), (t.ones(3),))}
        made = []
        return [error_of(lambda: made.append(calls[outer](x))), [y.detach() + 0 for y in essential(made)], x, v]

    same(program)


def essential(made):
    """The tensors in a list of tensors and pairs of them."""
    return [y for x in made for y in (x if isinstance(x, tuple) else (x,))]
