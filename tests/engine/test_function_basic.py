"""Custom Functions: what forward and backward get, what the context is, in which order things run."""

import pytest
from agdbg_tests_differential import Programs, error_of, essence, leaf, name_of, same
from agdbg_tests_function_programs import simple

pytest.importorskip("torch")
programs = Programs()


@programs
def gradient(t):
    x = leaf(t, 1.0, 2.0)
    y = simple(t).apply(x, 3)
    y.sum().backward()
    return y, x.grad


@programs
def default_argument_is_no_argument_of_backward(t):
    x = leaf(t, 1.0)
    y = simple(t).apply(x)
    return y, error_of(y.sum().backward)


@programs
def the_context_is_the_node(t):
    seen = []

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.note = "forward"
            seen.append(ctx)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append((ctx is seen[0], ctx.note))
            ctx.note = "backward"
            return g * 2

    x = leaf(t, 1.0)
    y = F.apply(x)
    y.backward()
    node = y.grad_fn
    return [
        node is seen[0], seen[1:], node.note, vars(node), node.name(), type(node).__name__, node._forward_cls is F,
        type(node) is F._backward_cls, isinstance(node, t.autograd.graph.Node), [n for n, _ in node.next_functions], node.requires_grad,
    ]  # fmt: skip


@programs
def what_forward_sees(t):
    seen = []

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, n, c):
            ctx.save_for_backward(x)
            seen.append([t.is_grad_enabled(), x, ctx.needs_input_grad, ctx.saved_tensors, ctx.name()])
            y = x * n
            seen.append(y)
            return y

        @staticmethod
        def backward(ctx, g):
            seen.append([t.is_grad_enabled(), essence(g), ctx.needs_input_grad, ctx.saved_tensors])
            return g, None, None

    x = leaf(t, 1.0, 2.0)
    y = F.apply(x, 3, t.ones(2))
    y.sum().backward()
    return seen


@programs
def setup_context(t):
    seen = []

    class F(t.autograd.Function):
        @staticmethod
        def forward(x, k=2):
            return x * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append([inputs, output, ctx.needs_input_grad])
            ctx.save_for_backward(inputs[0], output)

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.saved_tensors)
            return g * 2, None

    x = leaf(t, 1.0)
    ys = [F.apply(x), F.apply(x, 3), F.apply(x, k=4)]
    sum(ys).sum().backward()
    return ys, x.grad, seen, error_of(F.apply, x, z=3)


@programs
def keyword_arguments_count(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, k=2, y=None):
            return x * k * y

        @staticmethod
        def backward(ctx, g):
            return g, None, g * 3

    x, y = leaf(t, 1.0), leaf(t, 2.0)
    out = F.apply(x, k=5, y=y)
    out.backward()
    return out, out.grad_fn.needs_input_grad, x.grad, y.grad


@programs
def vjp_in_place_of_backward(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 5

    x = leaf(t, 1.0)
    F.apply(x).backward()
    return x.grad


@programs
def none_is_no_gradient(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return None, g * 7

    x, y = leaf(t, 1.0), leaf(t, 2.0)
    F.apply(x * 2, y).backward()
    return x.grad, y.grad


@programs
def more_none_than_arguments(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g, None, None

    x = leaf(t, 1.0)
    F.apply(x).backward()
    return x.grad


@programs
def backward_runs_without_gradients_too(t):
    """A consumer that returns None leaves zeros for the next Function, or None if that wants no zeros."""
    seen = []

    def function(materialize, answer):
        class F(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(materialize)
                return x * 2

            @staticmethod
            def backward(ctx, g):
                seen.append(g)
                return g if answer else None

        return F

    x = leaf(t, 1.0)
    for materialize in (True, False):
        function(True, False).apply(function(materialize, True).apply(x)).backward()
    return seen, x.grad


def many(t, materialize=True):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            whole = (x * 4).long()
            fixed = x * 5
            ctx.mark_non_differentiable(fixed)
            return x * 2, x.float() * 3, whole, "text", None, fixed

        @staticmethod
        def backward(ctx, *gs):
            ctx.seen = gs
            return gs[0] if gs[0] is not None else gs[1]

    return F


@programs
def several_outputs(t):
    found = []
    for materialize in (True, False):
        for used in (0, 1):
            x = leaf(t, 1.0, 2.0)
            out = many(t, materialize).apply(x)
            out[used].sum().backward()
            found.append([out, essence(out[0].grad_fn.seen), x.grad, out[0].grad_fn is out[1].grad_fn])
    return found


@programs
def tuple_of_one(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 2,)

        @staticmethod
        def backward(ctx, g):
            return (g * 3,)

    x = leaf(t, 1.0)
    out = F.apply(x)
    out[0].backward()
    return isinstance(out, tuple), out, x.grad


@programs
def returned_that_is_no_tensor(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, make):
            return make(x)

    x = leaf(t, 1.0)
    return [
        F.apply(x, make)
        for make in (lambda x: None, lambda x: 3, lambda x: [x * 2, x * 3], lambda x: {"a": x}, lambda x: ())
    ]


@programs
def order_of_running(t):
    log = []

    def function(name):
        class F(t.autograd.Function):
            @staticmethod
            def forward(ctx, *xs):
                log.append(f"forward {name}")
                return sum(xs) * 2

            @staticmethod
            def backward(ctx, g):
                log.append(f"backward {name}")
                return (g,) * len(ctx.needs_input_grad)

        return F.apply

    x = leaf(t, 1.0)
    a = function("a")(x)
    b, c = function("b")(a), function("c")(a, x)
    function("d")(c, b, a).backward()
    return log, x.grad


@programs
def nested(t):
    """A Function calls another in its forward (not recorded) and in its backward."""
    square = simple(t)

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            inner = square.apply(x, 1)
            ctx.inner = name_of(inner.grad_fn)
            ctx.save_for_backward(x)
            return inner * 3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return square.apply(x, 1) * g

    x = leaf(t, 3.0)
    y = F.apply(x)
    y.backward()
    return y, y.grad_fn.inner, x.grad


@programs
def recursive(t):
    class Power(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            ctx.n = n
            ctx.save_for_backward(x)
            return x * Power.apply(x, n - 1) if n else t.ones_like(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.n * Power.apply(x, max(ctx.n - 1, 0)), None

    x = leaf(t, 2.0, 3.0)
    y = Power.apply(x, 4)
    y.sum().backward()
    return y, x.grad


@programs
def enable_grad_in_forward(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with t.enable_grad():
                y = x * 3
            ctx.made = name_of(y.grad_fn)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf(t, 1.0)
    y = F.apply(x)
    y.backward()
    return y, y.grad_fn.made, x.grad


@programs
def backward_in_backward(t):
    """As checkpoint does it: the part of the graph inside is made and walked when the outer backward gets there."""

    class Again(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return t.exp(x) * x

        @staticmethod
        def backward(ctx, g):
            x = ctx.saved_tensors[0].detach().requires_grad_()
            with t.enable_grad():
                y = t.exp(x) * x
            y.backward(g)
            return x.grad

    x = leaf(t, 1.0, 2.0)
    y = Again.apply(Again.apply(x))
    y.sum().backward()
    return y, x.grad


@programs
def error_in_forward_leaves_the_mode(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            raise ValueError("mine")

    return error_of(F.apply, leaf(t, 1.0)), t.is_grad_enabled()


@programs
def subclass_of_a_function(t):
    class Other(simple(t)):
        pass

    y = Other.apply(leaf(t, 1.0), 1)
    return y, y.grad_fn._forward_cls is Other


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
