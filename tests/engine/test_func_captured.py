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
