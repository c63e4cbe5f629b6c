"""Custom Functions: inputs and views that are returned, and what is written in place, before and after."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, logged_warnings, same, versions

import agdbg_engine as ag

pytest.importorskip("torch")
programs = Programs()


def function(t, forward):
    """A Function of any arguments whose backward gives each of them three times the gradient of output 0."""

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, *xs):
            return forward(ctx, *xs)

        @staticmethod
        def backward(ctx, *gs):
            return tuple(gs[0] * 3 if needed else None for needed in ctx.needs_input_grad)

    return F.apply


def after(t, y, *others):
    """What can be seen of an output before and after it is written in place."""
    found = [y, y.requires_grad and y.grad_fn.name(), error_of(lambda: y.mul_(2)), versions(y, *others)]
    return [*found, error_of(lambda: y.sum().backward())]


@programs
def input_as_it_is(t):
    found = []
    for x in (leaf(t, 1.0, 2.0), leaf(t, 1.0, 2.0) * 1, t.ones(2)):
        y = function(t, lambda ctx, x: x)(x)
        found.append([y is x, y._base is x, *after(t, y, x)])
    return found


@programs
def gradient_through_input_as_it_is(t):
    x = leaf(t, 1.0, 2.0)
    function(t, lambda ctx, x: x)(x).sum().backward()
    return x.grad


@programs
def input_as_it_is_without_recording(t):
    x, middle = leaf(t, 1.0), leaf(t, 1.0) * 1
    with t.no_grad():
        ys = [function(t, lambda ctx, x: x)(v) for v in (x, middle, t.ones(1))]
    return ys, [y is v for y, v in zip(ys, (x, middle), strict=False)]


@programs
def constant_input_beside_another(t):
    x, c = leaf(t, 1.0, 2.0), t.ones(2)
    y, z = function(t, lambda ctx, c, x: (c, x * 2))(c, x)
    return y, z, y._base is c, error_of(lambda: y.mul_(2))


@programs
def input_returned_twice(t):
    x = leaf(t, 1.0, 2.0) * 1
    y, z = function(t, lambda ctx, x: (x, x))(x)
    return y, z, y is z, error_of(lambda: y.mul_(2)), error_of((y + 2 * z).sum().backward)


@programs
def output_returned_twice(t):
    def forward(ctx, x):
        y = x * 2
        return y, y

    x = leaf(t, 1.0, 2.0)
    y, z = function(t, forward)(x)
    (y + 2 * z).sum().backward()
    return y, z, y is z, x.grad


@programs
def view_of_an_input(t):
    found = []
    for x in (leaf(t, 1.0, 2.0), leaf(t, 1.0, 2.0) * 1):
        y = function(t, lambda ctx, x: x.view(2, 1)[:, 0])(x)
        found.append([y._base is x, *after(t, y, x)])
    return found


@programs
def view_of_an_input_whose_base_is_written(t):
    x = leaf(t, 1.0, 2.0) * 1
    y = function(t, lambda ctx, x: x.view(2))(x)
    x.mul_(2)
    return error_of(lambda: y.grad_fn), x


@programs
def view_of_an_input_without_recording(t):
    x = leaf(t, 1.0, 2.0)
    with t.no_grad():
        y = function(t, lambda ctx, x: x.view(2))(x)
    return y, error_of(lambda: y.mul_(2))


@programs
def several_views(t):
    x = leaf(t, 1.0, 2.0) * 1
    y, z = function(t, lambda ctx, x: (x[:1], x[1:]))(x)
    with t.no_grad():
        z.mul_(2)
    return y._is_view(), error_of(lambda: y.grad_fn), error_of(lambda: z.add_(1))


@programs
def view_of_an_intermediate(t):
    x = leaf(t, 1.0, 2.0)
    y = function(t, lambda ctx, x: (x * 2)[:1])(x)
    return y._base, after(t, y)


@programs
def view_of_an_output(t):
    x = leaf(t, 1.0, 2.0)
    y = function(t, lambda ctx, x: x * 2)(x)
    v = y[:1]
    v.mul_(5)
    y.sum().backward()
    return y, v, x.grad


@programs
def view_of_a_returned_view(t):
    x = leaf(t, 1.0, 2.0) * 1
    y = function(t, lambda ctx, x: x.view(2))(x)
    return error_of(lambda: y[:1].mul_(2))


@programs
def output_written(t):
    x = leaf(t, 1.0, 2.0)
    y = function(t, lambda ctx, x: x * 2)(x)
    y.mul_(5)
    y.sum().backward()
    return y, x.grad


def doubled(ctx, x, *others):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


@programs
def dirty_input(t):
    x = leaf(t, 1.0, 2.0)
    middle = x * 1
    y = function(t, doubled)(middle)
    y.sum().backward()
    return y, y is middle, versions(y), x.grad


@programs
def dirty_leaf(t):
    x = leaf(t, 1.0, 2.0)
    return error_of(function(t, doubled), x), versions(x), x.requires_grad, x.is_leaf


@programs
def dirty_constant(t):
    x, c = leaf(t, 1.0, 2.0), t.ones(2, dtype=t.float64)
    y = function(t, doubled)(c, x)
    y.sum().backward()
    return y, y is c, versions(c), x.grad


@programs
def dirty_without_recording(t):
    found = []
    for x in (leaf(t, 1.0), leaf(t, 1.0) * 1, t.ones(1)):
        with t.no_grad():
            y = function(t, doubled)(x)
        found.append([y, y is x, versions(x, y)])
    return found


@programs
def dirty_and_another(t):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x * 3, x

    x = leaf(t, 1.0, 2.0)
    middle = x * 1
    z, y = function(t, forward)(middle)
    z.sum().backward()
    return z, y, y is middle, x.grad


@programs
def dirty_view(t):
    base = leaf(t, 1.0, 2.0)
    middle = base * 1
    view = middle[:1]
    y = function(t, doubled)(view)
    middle.sum().backward()
    return y, y is view, middle, versions(middle), base.grad


@programs
def dirty_view_and_others(t):
    base, w, v = leaf(t, 1.0, 2.0), leaf(t, 3.0), leaf(t, 4.0)
    middle = base * 1
    other = middle[1:]
    view = middle[:1]
    y = function(t, doubled)(view, w, v, w * 2)
    (middle.sum() + other.sum()).backward()
    return y, other, middle, base.grad, w.grad, v.grad


@programs
def dirty_view_with_another_output(t):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, x * 3

    return error_of(function(t, forward), (leaf(t, 1.0, 2.0) * 1)[:1])


@programs
def dirty_view_of_a_leaf(t):
    return error_of(function(t, doubled), leaf(t, 1.0, 2.0)[:1])


@programs
def dirty_constant_view(t):
    x, c = leaf(t, 1.0), t.ones(2, dtype=t.float64)
    view = c[:1]
    function(t, doubled)(view, x)
    c.sum().backward()
    return c, view, x.grad


@programs
def dirty_but_no_input(t):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    x = leaf(t, 1.0)
    with logged_warnings() as said:
        y = function(t, forward)(x)
    return y, [w.partition(" (Triggered")[0] for w in said]


@programs
def dirty_with_hooks_and_retained_gradient(t):
    log = []
    x = leaf(t, 1.0, 2.0)
    middle = x * 1
    middle.register_hook(lambda g: log.append(["old", g.tolist()]))
    middle.retain_grad()
    function(t, doubled)(middle)
    middle.register_hook(lambda g: log.append(["new", g.tolist()]))
    (middle * middle).sum().backward()
    return log, middle.grad, x.grad


@programs
def dirty_and_saved(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.exp_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    x = leaf(t, 1.0, 2.0)
    y = F.apply(x * 1)
    y.sum().backward(retain_graph=True)
    first = x.grad.clone()
    y.mul_(2)
    return first, error_of(y.sum().backward)


@programs
def saved_by_somebody_else_before(t):
    """What mark_dirty is for: the op that saved the old value notices."""
    x = leaf(t, 1.0, 2.0)
    middle = x * 1
    squared = middle * middle
    function(t, doubled)(middle)
    return error_of(squared.sum().backward)


@programs
def written_without_saying(t):
    """Case 40: nobody notices the written input, whose history says nothing about it."""

    def forward(ctx, x):
        x.mul_(2)
        return x * 3

    x = leaf(t, 1.0, 2.0)
    middle = x * 1
    y = function(t, forward)(middle)
    middle.sum().backward(retain_graph=True)
    first = x.grad.clone()
    y.sum().backward()
    return first, x.grad, middle, y, versions(middle)


@programs
def not_differentiable(t):
    def forward(ctx, x, c):
        made = x * 2
        ctx.mark_non_differentiable(x, made, c)
        return x, made, c, x * 3

    x, c = leaf(t, 1.0, 2.0), t.ones(2)
    outs = function(t, forward)(x, c)
    outs[0].mul_(2)
    return outs, [o._base is v for o, v in zip(outs, (x, None, c), strict=False)], x


@programs
def nothing_is_differentiable(t):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y

    y = function(t, forward)(leaf(t, 1.0))
    return y, error_of(y.backward)


@programs
def tensors_from_outside(t):
    z, w = leaf(t, 3.0), leaf(t, 4.0) * 1
    x = leaf(t, 1.0)
    ys = [function(t, lambda ctx, x, out=out: out)(x) for out in (z, w)]
    sum(ys).backward()
    return ys, ys[0] is z, ys[1] is w, x.grad, z.is_leaf


@programs
def made_to_require_grad_inside(t):
    x = leaf(t, 1.0)
    y = function(t, lambda ctx, x: (x * 2).requires_grad_())(x)
    y.backward()
    return y, x.grad


@programs
def saved_and_returned_with_setup_context(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return g

    return [error_of(F.apply, x) for x in (leaf(t, 1.0), t.ones(1))]


@programs
def input_from_a_multi_output_view(t):
    x = leaf(t, 1.0, 2.0)
    a, b = (x * 1).unbind()
    y = function(t, lambda ctx, a, b: a * b)(a, b)
    y.backward()
    return y, x.grad, [(n.name(), nr) for n, nr in y.grad_fn.next_functions]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def test_dirty_second_output_retains_gradient():
    """PyTorch fails here with an internal assertion."""

    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x * 3, x

    x = leaf(ag, 1.0, 2.0)
    middle = x * 1
    middle.retain_grad()
    z, y = function(ag, forward)(middle)
    (y * 5 + z).sum().backward()
    assert middle.grad.tolist() == [5.0, 5.0]
    assert x.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("cut", [lambda m: m[:1], lambda m: m.view(2, 1).t()[:, :1]])
def test_dirty_view_that_is_not_the_first_argument(create_graph, cut):
    """PyTorch takes the gradient of the first argument for that of the view: 13 for the first element and None for w."""

    class F(ag.autograd.Function):
        @staticmethod
        def forward(ctx, w, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return (g * 10).sum().view(1), g * 3

    base, w = leaf(ag, 1.0, 2.0), leaf(ag, 5.0)
    middle = base * 1
    F.apply(w, cut(middle))
    found = ag.autograd.grad(middle.sum(), [base, w], create_graph=create_graph)
    assert [g.tolist() for g in found] == [[3.0, 1.0], [10.0]]
