"""Custom Functions: what they save, hooks on their nodes, and what becomes of the gradients that they return."""

import pytest
from agdbg_tests_differential import Programs, error_of, essence, leaf, same
from agdbg_tests_function_programs import simple

pytest.importorskip("torch")
programs = Programs()


@programs
def no_grad_context_still_works(t):
    seen = []

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            seen.append(ctx)
            return x * 2

    with t.no_grad():
        y = F.apply(leaf(t, 1.0))
    z = F.apply(t.ones(1))
    return [y, z, [(c.needs_input_grad, c.next_functions, c.saved_tensors) for c in seen]]


@programs
def saved_outputs_and_inputs(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y, between = x * 2, x * 3
            ctx.save_for_backward(y, between, x, None)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(t, 1.0, 2.0)
    y = F.apply(x)
    found = y.grad_fn.saved_tensors
    y.sum().backward()
    return [found, found[0] is y, found[0].grad_fn is y.grad_fn, found[2] is x, x.grad]


@programs
def freed_saved_tensors(t):
    x = leaf(t, 1.0)
    y = simple(t).apply(x, 1)
    z = y.sum()
    z.backward()
    node = y.grad_fn
    return [
        error_of(lambda: node.saved_tensors),
        error_of(z.backward),
        error_of(lambda: node._raw_saved_tensors),
        node.k,
        x.grad,
    ]


@programs
def twice_where_nothing_is_asked_for(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(t, 1.0)
    y = F.apply(x)
    y.backward()
    y.backward()
    return x.grad


@programs
def hooks_on_the_node(t):
    log = []
    x = leaf(t, 1.0, 2.0)
    y = simple(t).apply(x, 3)
    node = y.grad_fn
    node.register_prehook(lambda gs: log.append(["pre", essence(gs)]))
    node.register_prehook(lambda gs: (gs[0] * 2,))
    node.register_hook(lambda found, gs: log.append(["post", essence(found), essence(gs)]))
    node.register_hook(lambda found, gs: (found[0] * 10,))
    y.register_hook(lambda g: log.append(["tensor", essence(g)]))
    y.sum().backward()
    return log, x.grad


@programs
def hook_registered_in_forward(t):
    log = []

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.register_hook(lambda found, gs: log.append([found, gs]))
            ctx.metadata["key"] = 1
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = leaf(t, 1.0)
    y = F.apply(x)
    y.backward()
    return log, y.grad_fn.metadata, x.grad


@programs
def retain_grad_and_inputs(t):
    x = leaf(t, 1.0, 2.0)
    y = simple(t).apply(x, 1)
    y.retain_grad()
    z = simple(t).apply(y, 1)
    z.sum().backward(retain_graph=True)
    return y.grad, x.grad, t.autograd.grad(z.sum(), [y, x])


@programs
def gradient_is_not_stolen(t):
    """What backward returns may be kept by it, and is not shared with anybody's grad."""

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            ctx.kept = g * 2
            return ctx.kept, ctx.kept

    x, y = leaf(t, 1.0), leaf(t, 2.0)
    out = F.apply(x, y)
    out.backward()
    out.grad_fn.kept.mul_(100)
    x.grad.mul_(7)
    return x.grad, y.grad


@programs
def saved_tensors_hooks_see_what_is_saved(t):
    log = []

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(x, y, None, x * 3)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y, _, between = ctx.saved_tensors
            return g * (x + y + between)

    def pack(x):
        log.append(["pack", x.tolist()])
        return x.tolist()

    def unpack(values):
        log.append(["unpack", values])
        return t.tensor(values, dtype=t.float64)

    x = leaf(t, 1.0, 2.0)
    with t.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = F.apply(x)
    y.sum().backward()
    return log, x.grad


@programs
def raw_saved_tensors(t):
    x = leaf(t, 1.0, 2.0)
    y = simple(t).apply(x, 1)
    raw = y.grad_fn._raw_saved_tensors
    raw[0].register_hooks(lambda x: x * 10, lambda x: x)
    y.sum().backward()
    return len(raw), x.grad


@programs
def reduced_and_cast_gradients(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, make):
            ctx.make = make
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return ctx.make(g), None

    found = []
    for make in (
        lambda g: g.expand(3, 2),
        lambda g: g.float(),
        lambda g: (g * 3).long(),
        lambda g: g > 0,
        lambda g: t.ones(2, 1, 2),
        lambda g: g.expand(3, 2).float(),
    ):
        x = leaf(t, 1.0, 2.0)
        F.apply(x, make).sum().backward()
        found.append(x.grad)
    return found


@programs
def boxed_gradients(t):
    class F(t.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, gs):
            return gs.pop() + gs.pop() if isinstance(gs, list) else None

    x = leaf(t, 1.0)
    a, b = F.apply(x)
    (a + b).backward()
    return x.grad


@programs
def complex_tensors(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x.conj() * g

    x = t.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = F.apply(x)
    y.abs().sum().backward()
    return x.grad


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
