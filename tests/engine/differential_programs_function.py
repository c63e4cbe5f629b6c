"""Custom Functions: what they get, what they may return, and how they meet everything else."""

from agdbg_tests_differential import error_of, graph_of, versions
from agdbg_tests_differential_programs import family, grads, m23, plain, section, x2

add = section("function")


def function(t, forward, backward=None, **more):
    """A Function made of plain functions; the rest (``jvp``, ``setup_context``) by name."""
    given = {"forward": forward, **more} if backward is None else {"forward": forward, "backward": backward, **more}
    return type("Mine", (t.autograd.Function,), {k: staticmethod(f) for k, f in given.items()})


def cube(t, log=None):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if log is not None:
            log.append([ctx.needs_input_grad, t.is_grad_enabled()])
        return 3 * x**2 * g

    return function(t, forward, backward).apply


RETURNS = {
    "nothing": lambda t, g: None,
    "one": lambda t, g: g,
    "two": lambda t, g: (g, g),
    "three": lambda t, g: (g, g, None),
    "four": lambda t, g: (g, g, None, None),
    "extra_tensor": lambda t, g: (g, g, None, g),
    "wrong_shape": lambda t, g: (g.sum(), g),
    "too_big": lambda t, g: (t.ones(3, 2, dtype=t.float64), g),
    "unexpandable": lambda t, g: (t.ones(5, dtype=t.float64), g),
    "other_dtype": lambda t, g: (g.float(), g),
    "a_number": lambda t, g: (1.0, g),
    "a_list": lambda t, g: [g, g],
    "integers": lambda t, g: (t.ones(2, dtype=t.int64), g),
    "complex": lambda t, g: (g * 1j, g),
    "second_none": lambda t, g: (g * 2, None),
    "for_a_number": lambda t, g: (g, g, g),
    "expanded": lambda t, g: (t.ones(1, dtype=t.float64).expand(2), g),
    "same_twice": lambda t, g: (g, g, None),
    "raise": lambda t, g: 1 / 0,
}


def returning(make):
    def program(t):
        mine = function(t, lambda ctx, x, y, n: x * y * n, lambda ctx, g: make(t, g)).apply
        x, y = x2(t), x2(t)
        z = mine(x, y, 3)
        return [z, error_of(z.sum().backward), plain([v.grad for v in (x, y) if v.grad is not None]), x.grad is y.grad]

    return program


OUTPUTS = {
    "the_input": lambda ctx, x: x,
    "a_view": lambda ctx, x: x[0],
    "two": lambda ctx, x: (x * 1, x * 2),
    "the_same_twice": lambda ctx, x: (lambda y: (y, y))(x * 2),
    "input_and_result": lambda ctx, x: (x, x * 2),
    "views": lambda ctx, x: (x[0], x[1]),
    "a_list": lambda ctx, x: [x * 1],
    "none": lambda ctx, x: None,
    "a_number": lambda ctx, x: 3,
    "tensor_and_number": lambda ctx, x: (x * 2, 5, None, "text"),
    "detached": lambda ctx, x: x.detach(),
    "integers": lambda ctx, x: x.long(),
    "empty": lambda ctx, x: (),
    "dirty_input": lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1],
    "dirty_not_returned": lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2), x * 3)[2],
    "dirty_not_an_input": lambda ctx, x: (lambda y: (ctx.mark_dirty(y), y)[1])(x * 2),
    "non_differentiable": lambda ctx, x: (lambda y: (ctx.mark_non_differentiable(y), (y, x * 2))[1])(x * 3),
    "non_differentiable_input": lambda ctx, x: (ctx.mark_non_differentiable(x), x)[1],
}


def giving(forward):
    """The outputs, their writability and their gradients, for a leaf and for a result."""

    def program(t):
        mine = function(
            t, forward, lambda ctx, *gs: sum((g.sum() for g in gs if g is not None), t.zeros(2, 3, dtype=t.float64))
        ).apply
        seen = []
        for make in (lambda x: x, lambda x: x * 1, lambda x: (x * 1)[...]):
            x = m23(t)
            given = make(x)
            try:
                out = mine(given)
            except Exception as error:
                seen.append([type(error).__name__, str(error).partition("\n")[0], x])
                continue
            outs = [o for o in (out if isinstance(out, tuple) else (out,)) if hasattr(o, "grad_fn")]
            seen.append([out, given, given is out, [plain(error_or(lambda o=o, x=x: grads(t, o, x))) for o in outs]])
            seen.append([error_of(o.mul_, 2) for o in outs[:1]] + [x, versions(given)])
        return seen

    return program


def error_or(call):
    try:
        return call()
    except Exception as error:
        return [type(error).__name__, str(error).partition("\n")[0]]


family(add, RETURNS, "backward_returns", returning)
family(add, OUTPUTS, "forward_returns", giving)


@add
def what_a_context_has(t):
    log = []
    mine = cube(t, log)
    y = mine(x2(t))
    y.sum().backward()
    node = y.grad_fn
    return [
        log,
        node.name(),
        type(node).__name__,
        error_of(lambda: node.saved_tensors),
        node.needs_input_grad,
        node.metadata,
    ]


@add
def double_backward(t):
    log = []
    x = x2(t)
    (g,) = t.autograd.grad(cube(t, log)(x).sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    return [log, plain([g, h])]


@add
def a_tensor_kept_on_ctx_has_no_second_derivative(t):
    def forward(ctx, x):
        ctx.t = 2 * x
        return x * ctx.t

    x = x2(t, 3.0)
    (g,) = t.autograd.grad(function(t, forward, lambda ctx, g: 2 * ctx.t * g).apply(x), x, create_graph=True)
    return [g.requires_grad, error_or(lambda: plain(t.autograd.grad(g, x)))]


@add
def once_differentiable(t):
    back = t.autograd.function.once_differentiable(lambda ctx, g: g * 2)
    x = x2(t)
    (g,) = t.autograd.grad(function(t, lambda ctx, x: x * 2, back).apply(x * x).sum(), x, create_graph=True)
    return [plain(g), error_of(t.autograd.grad, g.sum(), x)]


@add
def setup_context(t):
    def setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    mine = function(
        t, lambda x, y: x * y, lambda ctx, g: (g * ctx.saved_tensors[1], g * ctx.saved_tensors[2]), setup_context=setup
    ).apply
    x, y = x2(t), x2(t)
    return plain([mine(x, y), grads(t, mine(x, y), x, y)])


@add
def vjp_is_another_name(t):
    mine = function(t, lambda ctx, x: x * 2, vjp=lambda ctx, g: g * 5).apply
    x = x2(t)
    return plain(grads(t, mine(x), x))


@add
def neither_backward_nor_forward(t):
    x = x2(t)
    bare = type("Bare", (t.autograd.Function,), {})
    return [error_of(lambda: grads(t, function(t, lambda ctx, x: x * 2).apply(x), x)), error_of(bare.apply, x)]


@add
def a_function_is_instantiated(t):
    return error_of(type("Mine", (t.autograd.Function,), {}))


@add
def both_backward_and_vjp(t):
    x = x2(t)
    mine = function(t, lambda ctx, x: x * 2, lambda ctx, g: g, vjp=lambda ctx, g: g).apply
    return error_of(lambda: grads(t, mine(x), x))


@add
def materialized_and_undefined_gradients(t):
    seen = []
    for flag in (True, False):

        def forward(ctx, x, flag=flag):
            ctx.set_materialize_grads(flag)
            return x * 1, x * 2

        def backward(ctx, g, h):
            seen.append([g is None, h is None])
            return h if g is None else g

        x = x2(t)
        function(t, forward, backward).apply(x)[1].sum().backward()
        seen.append(plain(x.grad))
    return seen


@add
def needs_input_grad(t):
    seen = []

    def forward(ctx, *xs):
        seen.append(ctx.needs_input_grad)
        return xs[0] * xs[2]

    mine = function(t, forward, lambda ctx, g: (seen.append(ctx.needs_input_grad), g, None, g, None)[1:]).apply
    x, y = x2(t), x2(t).detach()
    mine(x, 1, y, "text").sum().backward()
    with t.no_grad():
        mine(x, 1, y, None)
    return seen


@add
def recording_inside_forward(t):
    seen = []

    def forward(ctx, x):
        seen.append([t.is_grad_enabled(), x.requires_grad, (x * 2).requires_grad])
        with t.enable_grad():
            seen.append((x * 2).requires_grad)
        return x * 2

    y = function(t, forward, lambda ctx, g: g).apply(x2(t))
    return [seen, y, graph_of(y)]


@add
def grad_inside_forward(t):
    def forward(ctx, x):
        with t.enable_grad():
            z = x.detach().requires_grad_()
            (g,) = t.autograd.grad((z**3).sum(), z)
        ctx.save_for_backward(g)
        return z.detach() ** 3

    x = x2(t)
    y = function(t, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    return plain([y, grads(t, y, x)])


@add
def grad_inside_backward(t):
    def backward(ctx, g):
        with t.enable_grad():
            z = ctx.saved_tensors[0].detach().requires_grad_()
            (z**3).sum().backward()
        return z.grad * g

    x = x2(t)
    y = function(t, lambda ctx, x: (ctx.save_for_backward(x), x**3)[1], backward).apply(x)
    return plain([y, grads(t, y, x), x.grad])


@add
def functions_in_functions(t):
    inner = cube(t)

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return inner(x) * 2

    mine = function(t, forward, lambda ctx, g: 6 * ctx.saved_tensors[0] ** 2 * g).apply
    x = x2(t)
    return plain([mine(inner(x)), grads(t, mine(inner(x)), x)])


@add
def recursion(t):
    def forward(ctx, x, n):
        ctx.n = n
        return x * 2 if n == 0 else mine(x, n - 1) * 2

    mine = function(t, forward, lambda ctx, g: (g * 2 ** (ctx.n + 1), None)).apply
    x = x2(t)
    return plain([mine(x, 5), grads(t, mine(x, 5), x)])


@add
def saved_and_then_written(t):
    x = x2(t)
    a = x * 1
    y = cube(t)(a)
    a.mul_(2)
    return error_of(lambda: grads(t, y, x))


@add
def a_saved_output_is_written(t):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    x = x2(t)
    y = function(t, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    y.mul_(2)
    return error_of(lambda: grads(t, y, x))


@add
def saved_tensors_twice(t):
    x = x2(t)
    y = cube(t)(x)
    y.sum().backward()
    return error_of(y.sum().backward)


@add
def save_something_else(t):
    seen = []
    mine = function(
        t, lambda ctx, x: (seen.append(error_of(ctx.save_for_backward, 3)), x * 1)[1], lambda ctx, g: g
    ).apply
    x = x2(t)
    seen.append(error_of(lambda: grads(t, mine(x), x)))
    return seen


@add
def under_saved_tensors_hooks(t):
    log, x = [], x2(t)
    with t.autograd.graph.saved_tensors_hooks(
        lambda s: log.append("pack") or s * 2, lambda s: log.append("unpack") or s
    ):
        y = cube(t)(x)
    return [plain(grads(t, y, x)), log]


@add
def hooks_on_its_node(t):
    log, x = [], x2(t)
    y = cube(t)(x)
    y.grad_fn.register_hook(lambda gi, go: log.append(plain([list(gi), list(go)])))
    y.grad_fn.register_prehook(lambda go: (go[0] * 2,))
    y.register_hook(lambda g: g + 1)
    y.sum().backward()
    return [log, plain(x.grad)]


@add
def its_output_is_written(t):
    x = x2(t)
    y = cube(t)(x)
    y.mul_(2)
    y[0] = 7.0
    return [y, plain(grads(t, y * y, x))]


@add
def a_view_returned_is_written(t):
    x = m23(t)
    a = x * 1
    v = function(t, lambda ctx, x: x[0], lambda ctx, g: t.stack([g, g * 0])).apply(a)
    return [v, error_of(v.mul_, 2), a, versions(a)]


@add
def an_input_view_marked_dirty(t):
    x = m23(t)
    a = x * 1
    mine = function(t, lambda ctx, x: (ctx.mark_dirty(x), x.mul_(3))[1], lambda ctx, g: g * 3).apply
    v = mine(a[0])
    return [v, a, plain(grads(t, a * a, x)), versions(a)]


@add
def a_leaf_marked_dirty(t):
    x = x2(t)
    mine = function(t, lambda ctx, x: (ctx.mark_dirty(x), x.mul_(3))[1], lambda ctx, g: g * 3).apply
    return [error_of(mine, x), error_of(mine, x[:1])]


@add
def keyword_arguments(t):
    return error_of(cube(t), x=x2(t))


@add
def no_tensor_needs_it(t):
    return [cube(t)(t.ones(2)), function(t, lambda ctx, n: n * 2, lambda ctx, g: None).apply(4)]


@add
def in_inference_mode(t):
    with t.inference_mode():
        y = cube(t)(t.ones(2))
        z = y.double()
    return [
        y.is_inference(),
        error_of(lambda: cube(t)(y) * 1),
        error_of(lambda: cube(t)(x2(t) * z)),
        error_of(lambda: cube(t)(z) + x2(t)),
    ]


@add
def an_inference_tensor_of_another_dtype_is_used(t):
    with t.inference_mode():
        y = t.ones(2, dtype=t.float32)
    return error_of(lambda: x2(t) * y)


@add
def its_sequence_numbers_grow(t):
    x = x2(t)
    a = cube(t)(x)
    b = cube(t)(a)
    return [a.grad_fn._sequence_nr() < b.grad_fn._sequence_nr(), b.grad_fn.next_functions]


@add
def its_forward_raises(t):
    def forward(ctx, x):
        x * 2
        raise KeyError("mine")

    x = x2(t)
    return [error_of(function(t, forward).apply, x), t.is_grad_enabled(), x * 2]


@add
def gradient_for_an_input_that_needs_none(t):
    mine = function(t, lambda ctx, x, y: x * y, lambda ctx, g: (g, g)).apply
    x, y = x2(t), x2(t).detach()
    mine(x, y).sum().backward()
    return [plain(x.grad), y.grad]


@add
def outputs_of_one_call_used_apart(t):
    mine = function(t, lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: 2 * g + 3 * h).apply
    x = x2(t)
    a, b = mine(x)
    return [a, b, a.grad_fn is b.grad_fn, plain([grads(t, a, x), grads(t, b, x), grads(t, a * b, x)])]
