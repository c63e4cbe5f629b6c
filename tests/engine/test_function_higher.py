"""Custom Functions: derivatives of derivatives, what cannot be differentiated twice, and the cases of wrong gradients."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, name_of, same, unnamed

pytest.importorskip("torch")
programs = Programs()


def cube(t, save):
    """x**3, with ``save(ctx, x)`` deciding how x gets to backward."""

    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            save(ctx, x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            x = ctx.saved_tensors[0] if ctx.saved_tensors else ctx.x
            return 3 * x * x * g

    return Cube.apply


def derivatives(t, y, x, order):
    found = []
    for _ in range(order):
        (y,) = t.autograd.grad(y.sum(), x, create_graph=True)
        found.append(unnamed(y))
    return found


@programs
def four_times(t):
    x = leaf(t, 2.0, 3.0)
    return derivatives(t, cube(t, lambda ctx, x: ctx.save_for_backward(x))(x), x, 4)


@programs
def input_kept_on_the_context(t):
    x = leaf(t, 2.0, 3.0)
    return derivatives(t, cube(t, lambda ctx, x: setattr(ctx, "x", x))(x), x, 3)


@programs
def saved_output(t):
    class Exp(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = t.exp(x)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(t, 1.0, 2.0)
    return derivatives(t, Exp.apply(2 * x), x, 4)


@programs
def case_39_intermediate_on_the_context(t):
    """f = x * t with t = 2x kept on ctx: gradient and gradcheck are right, the second derivative is 2 in place of 4."""

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.t = 2 * x
            ctx.save_for_backward(x)
            return x * ctx.t

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * (ctx.t + 2 * x)

    x = leaf(t, 3.0)
    (first,) = t.autograd.grad(F.apply(x), x, create_graph=True)
    (second,) = t.autograd.grad(first, x)
    return first.item(), second.item()


def test_case_39_values():
    import agdbg_engine

    assert case_39_intermediate_on_the_context(agdbg_engine) == (12.0, 2.0)  # right would be 4


@programs
def saved_intermediate(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            between = 2 * x
            ctx.save_for_backward(x, between)
            return x * between

        @staticmethod
        def backward(ctx, g):
            x, between = ctx.saved_tensors
            return g * (between + 2 * x)

    x = leaf(t, 3.0)
    (first,) = t.autograd.grad(F.apply(x), x, create_graph=True)
    return t.autograd.grad(first, x)


@programs
def several_inputs_and_outputs(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y, x * x

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            return g * y + 2 * h * x, g * x

    x, y = leaf(t, 2.0), leaf(t, 5.0)
    a, b = F.apply(x, y)
    firsts = t.autograd.grad(a * b, [x, y], create_graph=True)
    return [f.item() for f in firsts], t.autograd.grad(sum(firsts), [x, y])


@programs
def nested_in_backward(t):
    """Functions whose backward calls other Functions."""

    class Sin(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return t.sin(x)

        @staticmethod
        def backward(ctx, g):
            return g * Cos.apply(ctx.saved_tensors[0])

    class Cos(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return t.cos(x)

        @staticmethod
        def backward(ctx, g):
            return -g * Sin.apply(ctx.saved_tensors[0])

    x = leaf(t, 0.5, 1.0)
    return derivatives(t, Sin.apply(x), x, 4)


def once(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        @t.autograd.function.once_differentiable
        def backward(ctx, g):
            """Docstring."""
            x, y = ctx.saved_tensors
            ctx.seen = t.is_grad_enabled(), g.requires_grad
            return g * y, g * x

    return F


@programs
def once_differentiable(t):
    found = []
    for create_graph in (False, True):
        x, y = leaf(t, 2.0), leaf(t, 5.0)
        out = once(t).apply(x, y)
        out.backward(create_graph=create_graph)
        found.append([unnamed(x.grad), unnamed(y.grad), out.grad_fn.seen])
    return found, once(t).backward.__doc__, once(t).backward.__name__


@programs
def once_differentiable_twice(t):
    x, y = leaf(t, 2.0), leaf(t, 5.0)
    z = x * 1
    out = once(t).apply(z, y) * z
    found = t.autograd.grad(out, [z, y], create_graph=True)
    node = found[1].grad_fn
    return [
        unnamed(found[0]), unnamed(found[1]), found[1].output_nr, name_of(node),
        error_of(lambda: found[0].sum().backward(retain_graph=True)),
        error_of(lambda: found[1].sum().backward(retain_graph=True)),
    ]  # fmt: skip


@programs
def once_differentiable_with_constant_gradient(t):
    x, y = leaf(t, 2.0), leaf(t, 5.0)
    out = once(t).apply(x, y)
    found = t.autograd.grad(out, [x, y], create_graph=True)
    return found, error_of(lambda: t.autograd.grad(found[0], x))


@programs
def hooks_under_create_graph(t):
    log = []
    x = leaf(t, 2.0)
    y = cube(t, lambda ctx, x: ctx.save_for_backward(x))(x)
    y.grad_fn.register_hook(lambda found, gs: log.append([unnamed(found[0]), unnamed(gs[0])]))
    y.grad_fn.register_hook(lambda found, gs: (found[0] * x,))
    (first,) = t.autograd.grad(y, x, create_graph=True)
    return log, unnamed(first), t.autograd.grad(first, x)


@programs
def fitted_gradients_stay_differentiable(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return (2 * x * g).float().expand(3, 2)

    x = leaf(t, 2.0, 3.0)
    return derivatives(t, F.apply(x), x, 2)


@programs
def freed_by_the_second_pass(t):
    x = leaf(t, 2.0)
    y = cube(t, lambda ctx, x: ctx.save_for_backward(x))(x)
    (first,) = t.autograd.grad(y, x, create_graph=True)
    t.autograd.grad(first, x)
    return error_of(y.backward)


@programs
def unused_output_in_double_backward(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x, x * 3

        @staticmethod
        def backward(ctx, g, h):
            return 2 * ctx.saved_tensors[0] * g + 3 * h

    x = leaf(t, 2.0)
    a, b = F.apply(x)
    return derivatives(t, a, x, 2), derivatives(t, b, x, 1)


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
