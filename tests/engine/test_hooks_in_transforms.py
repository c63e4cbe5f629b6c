"""Hooks that a function registers while it is transformed: PyTorch's levels have graphs of their own, and a hook is part of one."""

import pytest
from agdbg_tests_differential import same

pytest.importorskip("torch")  # the oracle of these programs

DOUBLE = {
    "tensor": lambda x, y, log: y.register_hook(lambda g: (log.append("tensor"), g * 2)[1]),
    "input": lambda x, y, log: x.register_hook(lambda g: (log.append("input"), g * 2)[1]),
    "before": lambda x, y, log: y.grad_fn.register_prehook(
        lambda gs: (log.append("before"), tuple(2 * g for g in gs))[1]
    ),
    "behind": lambda x, y, log: y.grad_fn.register_hook(
        lambda found, _: (log.append("behind"), tuple(None if g is None else g * 2 for g in found))[1]
    ),
    "removed": lambda x, y, log: y.register_hook(lambda g: g * 2).remove(),
}


def point(t, requires_grad=False):
    return t.tensor([1.0, 2.0], requires_grad=requires_grad)


def differentiated(t, call):
    x = point(t, True)
    return t.autograd.grad(call(x), x)


USES = {
    "grad": lambda t, f: t.func.grad(f)(point(t)),
    "grad of grad": lambda t, f: t.func.grad(lambda x: t.func.grad(f)(x).sum())(point(t)),
    "backward of grad": lambda t, f: differentiated(t, lambda x: t.func.grad(f)(x).sum()),
    "vjp of grad": lambda t, f: t.func.vjp(t.func.grad(f), point(t))[1](t.ones(2)),
    "backward of a value": lambda t, f: differentiated(t, lambda x: t.func.vjp(f, x)[0]),
    "backward of a product": lambda t, f: differentiated(t, lambda x: t.func.vjp(f, x)[1](t.tensor(1.0))[0].sum()),
    "vjp twice": lambda t, f: [t.func.vjp(f, point(t))[1](t.tensor(n)) for n in (1.0, 2.0)],
    "jvp of grad": lambda t, f: t.func.jvp(t.func.grad(f), (point(t),), (t.ones(2),)),
    "jacrev": lambda t, f: t.func.jacrev(f)(point(t)),
}


@pytest.mark.parametrize("hook", DOUBLE)
@pytest.mark.parametrize("use", USES)
def test_a_hook_is_called_at_its_level(use, hook):
    def both(t):
        log = []

        def f(x):
            y = x * x
            DOUBLE[hook](x, y, log)
            return (y * x).sum()

        return [USES[use](t, f), log]

    same(both)


def test_a_hook_on_what_the_outer_function_made_is_of_its_level():
    def both(t):
        log = []

        def outer(x):
            y = x * x

            def inner(z):
                y.register_hook(lambda g: (log.append("y"), g * 10)[1])
                return (z * y).sum()

            return t.func.grad(inner)(x).sum()

        return [t.func.grad(outer)(point(t)), log]

    same(both)


def test_a_pass_inside_is_of_the_level_that_it_is_in():
    def both(t):
        log = []

        def f(x):
            y = x * x
            y.register_hook(lambda g: (log.append("y"), g * 10)[1])
            (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
            return (g * x).sum()

        return [t.func.grad(f)(point(t)), log]

    same(both)


def test_a_hook_of_several_tensors():
    def both(t):
        log = []

        def f(x):
            y = x * x
            z = y * x
            t.autograd.graph.register_multi_grad_hook((y, z), lambda gs: log.append(len(gs)))
            return z.sum()

        return [t.func.grad(lambda x: t.func.grad(f)(x).sum())(point(t)), log]

    same(both)


@pytest.mark.parametrize("of_grad", [False, True])
def test_duals_of_jvp_take_no_hooks(of_grad):
    def both(t):
        def f(x):
            (x * x).register_hook(print)
            return x.sum()

        def jvp(x):
            return t.func.jvp(f, (x,), (t.ones(2),))[1]

        return (t.func.grad(jvp) if of_grad else jvp)(point(t, not of_grad))

    same(both)


@pytest.mark.parametrize("of_grad", [False, True])
def test_modules_with_backward_hooks_in_jvp(of_grad):
    def both(t):
        linear, log = t.nn.Linear(2, 2), []
        with t.no_grad():
            linear.weight.copy_(t.tensor([[1.0, 2.0], [3.0, 4.0]]))
            linear.bias.zero_()
        linear.register_full_backward_hook(lambda *_: log.append("module"))

        def jvp(x):
            return t.func.jvp(lambda x: (linear(x) ** 2).sum(), (x,), (t.ones(2),))[1]

        return [(t.func.grad(jvp) if of_grad else jvp)(point(t)).detach(), log]

    same(both)


@pytest.mark.parametrize("jacobian", ["jacfwd", "jacrev", "hessian"])
def test_a_hook_on_what_is_captured_is_registered_once(jacobian):
    def both(t):
        log = []

        def f(z):
            y = z * z

            def columns(x):
                y.register_hook(lambda g: (log.append("fired"), g * 2)[1])
                return (x * x * x).sum() if jacobian == "hessian" else x * x

            return (getattr(t.func, jacobian)(columns)(point(t)).sum() * y).sum()

        return [t.func.grad(f)(point(t)), log]

    same(both)
