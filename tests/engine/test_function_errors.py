"""Custom Functions: the errors, PyTorch's type and first line."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, logged_warnings, same
from agdbg_tests_function_programs import returning

pytest.importorskip("torch")
programs = Programs()


ANSWERS = {
    "too few": lambda t, g: g,
    "too many": lambda t, g: (g,) * 6,
    "nothing": lambda t, g: None,
    "no tuple": lambda t, g: [g, None, g, None],
    "for a number": lambda t, g: (g, g, g, None),
    "no tensor": lambda t, g: (g, None, 3, None),
    "shape": lambda t, g: (g, None, t.ones(5, dtype=g.dtype), None),
    "smaller": lambda t, g: (g, None, g[:1], None),
    "scalar": lambda t, g: (g, None, g[0], None),
    "complex": lambda t, g: (g, None, g + 0j, None),
    "last": lambda t, g: (g, None, g, g),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_wrong_gradients(name):
    same(lambda t: error_of(returning(t, lambda g: ANSWERS[name](t, g)).sum().backward))


@programs
def wrong_gradient_where_none_is_wanted(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g, t.ones(7)

    x = leaf(t, 1.0)
    F.apply(x, t.ones(1)).backward()
    return x.grad


@programs
def errors_under_create_graph(t):
    y = returning(t, lambda g: (g, None, t.ones(5, dtype=g.dtype), None))
    return error_of(lambda: t.autograd.grad(y.sum(), returning(t, None), create_graph=True)), error_of(
        lambda: y.sum().backward(create_graph=True)
    )


def telling(t, tell):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            tell(ctx, x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    return error_of(F.apply, leaf(t, 1.0) * 1), error_of(F.apply, t.ones(1))


TOLD = {
    "save a number": lambda ctx, x: ctx.save_for_backward(3),
    "save a list": lambda ctx, x: ctx.save_for_backward([x]),
    "save no tuple": lambda ctx, x: setattr(ctx, "to_save", [x]),
    "save for forward": lambda ctx, x: ctx.save_for_forward(3),
    "dirty number": lambda ctx, x: ctx.mark_dirty(3),
    "dirty no tuple": lambda ctx, x: setattr(ctx, "dirty_tensors", [x]),
    "dirty not returned": lambda ctx, x: ctx.mark_dirty(x),
    "non-differentiable number": lambda ctx, x: ctx.mark_non_differentiable(3),
    "non-differentiable no tuple": lambda ctx, x: setattr(ctx, "non_differentiable", [x]),
    "materialize": lambda ctx, x: ctx.set_materialize_grads(3),
    "read-only": lambda ctx, x: setattr(ctx, "saved_tensors", 3),
    "no such attribute": lambda ctx, x: ctx.nowhere,
}


@pytest.mark.parametrize("name", TOLD)
def test_what_the_context_is_told(name):
    def program(t):
        found = telling(t, TOLD[name])
        if name == "read-only":  # the text speaks of the implementation
            return [f.kind for f in found]
        return found

    same(program)


@programs
def nothing_defined(t):
    class Nothing(t.autograd.Function):
        pass

    class OnlyForward(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    x = leaf(t, 1.0)
    return [error_of(Nothing.apply, x), error_of(OnlyForward.apply(x).backward), error_of(t.autograd.Function.apply, x)]


@programs
def backward_and_vjp(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

        @staticmethod
        def vjp(ctx, g):
            return g

    return error_of(F.apply(leaf(t, 1.0)).backward)


@programs
def instance(t):
    class F(t.autograd.Function):
        pass

    with logged_warnings() as said:
        made = F()
    return [w.replace(str(F), "F") for w in said], error_of(made, 3)


@programs
def wrong_arguments(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

    return error_of(F.apply) != "nothing", error_of(F.apply, 1, 2) != "nothing"


@programs
def modified_after_saving(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(x, y)
            return x * 3, y

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            return g * x * y

    def run(write):
        x = leaf(t, 1.0, 2.0)
        middle = x * 1
        a, b = F.apply(middle)
        write(x, middle, a, b)
        return error_of((a.sum() + b.sum()).backward)

    return [
        run(lambda x, m, a, b: m.mul_(2)),
        run(lambda x, m, a, b: b.mul_(2)),
        run(lambda x, m, a, b: a.mul_(2)),
        run(lambda x, m, a, b: m.detach().zero_()),
    ]


@programs
def modified_leaf(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors[0]

    x = leaf(t, 1.0)
    y = F.apply(x)
    with t.no_grad():
        x.mul_(2)
    return error_of(y.backward), error_of(lambda: y.grad_fn.saved_tensors)


@programs
def error_in_backward(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise KeyError("mine")

    x = leaf(t, 1.0)
    y = F.apply(x)
    return error_of(y.backward), t.is_grad_enabled(), x.grad


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
