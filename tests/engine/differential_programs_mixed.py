"""Odd combinations: features that meet in one program; and the programs of real bug reports."""

import threading

from agdbg_tests_differential import error_of, graph_of, leaf
from agdbg_tests_differential_programs import family, grads, m23, numbers, plain, section, x2
from agdbg_tests_differential_programs_forward import slope

add = section("mixed")


def function(t, **given):
    return type("Mine", (t.autograd.Function,), {k: staticmethod(f) for k, f in given.items()}).apply


def squared(t):
    return function(
        t,
        forward=lambda ctx, x: (ctx.save_for_backward(x), x * x)[1],
        backward=lambda ctx, g: 2 * ctx.saved_tensors[0] * g,
    )


PRODUCERS = {
    "op": lambda t, x: x.sin(),
    "view": lambda t, x: (x * 1).t().t(),
    "function": lambda t, x: squared(t)(x),
    "written": lambda t, x: (x * 1).exp_(),
    "slice": lambda t, x: (lambda y: (y[0].sin_(), y)[1])(x * 1),
    "checkpoint": lambda t, x: t.utils.checkpoint.checkpoint(lambda y: y.sin() * y, x, use_reentrant=False),
    "reentrant": lambda t, x: t.utils.checkpoint.checkpoint(lambda y: y.sin() * y, x, use_reentrant=True),
    "packed": lambda t, x: packed(t, lambda: x.sin() * x),
    "unbound": lambda t, x: t.stack(list(x.unbind(0))),
    "no_grad_part": lambda t, x: x * t.no_grad()(lambda: x.exp())(),
    "inner_gradient": lambda t, x: t.autograd.grad((x**3).sum(), x, create_graph=True)[0],
    "dtype": lambda t, x: x.float().double(),
    "custom_view": lambda t, x: function(t, forward=lambda ctx, y: y.view(3, 2), backward=lambda ctx, g: g.view(2, 3))(
        x * 1
    ),
}


def packed(t, call):
    with t.autograd.graph.saved_tensors_hooks(lambda s: s.clone(), lambda s: s * 1):
        return call()


def everything_about(make):
    """The same questions to a result, whatever made it."""

    def program(t):
        seen = []
        # hooks, retained gradient, a write in between
        log, x = [], m23(t)
        y = make(t, x)
        y.retain_grad()
        y.register_hook(lambda g: (log.append(plain(g)), g * 2)[1])
        y.grad_fn.register_prehook(lambda gs: log.append(plain(list(gs))))
        said = error_of(y.mul_, y.detach() * 0.5)
        z = y.sin()
        seen.append([said, error_of(z.sum().backward), log, plain([x.grad, y.grad])])
        # second order
        x = m23(t)
        y = make(t, x)
        try:
            (g,) = t.autograd.grad((y * y).sum(), x, create_graph=True)
            seen.append(plain([g, grads(t, g * g, x)]))
        except Exception as error:
            seen.append([type(error).__name__, str(error).partition("\n")[0]])
        # a view of it, written, under inputs=
        x = m23(t)
        y = make(t, x)
        v = y[0]
        said = error_of(v.mul_, 3)
        seen.append(
            [said, error_of((y * y).sum().backward, inputs=[x]), plain(x.grad), error_of(lambda: v.grad_fn is None)]
        )
        # an edge of it, twice
        x = m23(t)
        y = make(t, x)
        edge = t.autograd.graph.get_gradient_edge(y)
        z = (y * y).sum()
        seen.append(
            error_of(lambda z=z, edge=edge, x=x: seen.append(plain(t.autograd.grad(z, [edge, x], retain_graph=True))))
        )
        seen.append([error_of(z.backward), error_of(z.backward), plain(x.grad)])
        # from another thread
        x, said = m23(t), []
        y = make(t, x)
        thread = threading.Thread(target=lambda: said.append(error_of(y.sum().backward)))
        thread.start(), thread.join()
        seen.append([said, plain(x.grad)])
        # a write by no_grad after it was used
        x = m23(t)
        y = make(t, x)
        z = y * y
        with t.no_grad():
            said = error_of(y.add_, 1)
        return [*seen, said, error_of(lambda: plain(grads(t, z, x)))]

    return program


def forward_of(make):
    def program(t):
        fw, x = t.autograd.forward_ad, m23(t)
        with fw.dual_level():
            try:
                y = make(t, fw.make_dual(x, x.detach() * 2))
            except Exception as error:
                return [type(error).__name__, str(error).partition("\n")[0]]
            tangent = fw.unpack_dual(y).tangent
            return [plain(y), None if tangent is None else numbers(tangent), slope(t, tangent, x)]

    return program


def gradient_is_right(make):
    def program(t):
        return error_of(t.autograd.gradcheck, lambda x: make(t, x), (m23(t),), atol=1e-4)

    return program


family(add, PRODUCERS, "about", everything_about)
family(
    add,
    {k: v for k, v in PRODUCERS.items() if k not in ("checkpoint", "reentrant", "inner_gradient")},
    "forward_of",
    forward_of,
)
family(
    add,
    {k: v for k, v in PRODUCERS.items() if k not in ("no_grad_part", "dtype", "reentrant")},
    "gradcheck_of",
    gradient_is_right,
)


@add
def a_hook_on_a_rebased_view_under_inputs(t):
    log, x = [], m23(t)
    y = x * 1
    v = y[0]
    y[1].mul_(2)
    v.retain_grad()  # had it been retained before the write, PyTorch would crash at the next line
    v.register_hook(lambda g: log.append(plain(g)))
    (v * v).sum().backward(inputs=[x, v])
    return [log, plain([x.grad, v.grad])]


@add
def retain_grad_of_every_step_of_a_written_tensor(t):
    x = x2(t)
    y, seen = x * 1, []
    for _ in range(3):
        y.retain_grad()
        y.mul_(2)
        y.register_hook(lambda g: seen.append(plain(g)))
    y.sum().backward()
    return plain([x.grad, y.grad, seen])


@add
def a_checkpoint_in_a_module_hook(t):
    m = t.nn.Linear(2, 2)
    m.weight.data, m.bias.data = t.ones(2, 2, dtype=t.float64), t.zeros(2, dtype=t.float64)
    m.register_forward_hook(
        lambda mod, args, out: t.utils.checkpoint.checkpoint(lambda y: y.sin() * y, out, use_reentrant=False)
    )
    x = x2(t)
    y = m(x)
    y.sum().backward()
    return plain([y, x.grad, m.weight.grad])


@add
def a_pass_inside_an_unpack_hook(t):
    x, w = x2(t), x2(t)

    @t.enable_grad()
    def unpack(s):
        (w * w).sum().backward()
        return s

    with t.autograd.graph.saved_tensors_hooks(lambda s: s.detach(), unpack):
        y = x.sin()
    y.sum().backward()
    return plain([x.grad, w.grad])


@add
def an_unpack_hook_that_recomputes(t):
    x, count = x2(t), [0]

    def recompute(i):
        count[0] += 1
        return (x * 2).detach()

    with t.autograd.graph.saved_tensors_hooks(lambda s: 0, recompute):
        y = (x * 2).sin()
    y.sum().backward()
    return [plain(x.grad), count[0]]


@add
def saved_hooks_around_a_function_that_writes(t):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.exp_()
        ctx.save_for_backward(x)
        return x

    log, x = [], x2(t)
    with t.autograd.graph.saved_tensors_hooks(
        lambda s: log.append("pack") or s.clone(), lambda s: log.append("unpack") or s
    ):
        y = function(t, forward=forward, backward=lambda ctx, g: g * ctx.saved_tensors[0])(x * 1)
    return [y, plain(grads(t, y, x)), log]


@add
def a_function_of_a_view_that_is_written_later(t):
    x = m23(t)
    a = x * 1
    y = squared(t)(a[0])
    a[1].mul_(2)
    return error_of(lambda: plain(grads(t, y, x)))


@add
def mutation_allowed_inside_of_a_checkpoint(t):
    x = x2(t)

    def f(x):
        y = x.exp()
        z = y.sin()
        y.mul_(2)
        return y * z

    with t.autograd.graph.allow_mutation_on_saved_tensors():
        y = f(x)
        return plain([y, grads(t, y, x)])


@add
def anomaly_mode_with_a_function_and_hooks(t):
    x = leaf(t, 0.0, 1.0)
    mine = function(t, forward=lambda ctx, x: x * 1, backward=lambda ctx, g: g / 0 * 0)
    with t.autograd.detect_anomaly():
        y = mine(x)
        y.register_hook(lambda g: g * 2)
        return error_of(y.sum().backward)


@add
def a_multi_output_view_of_a_function(t):
    x = m23(t)
    a, b = squared(t)(x).unbind(0)
    return [error_of(a.mul_, 2), plain(grads(t, a * b, x))]


@add
def a_leaf_under_post_accumulate_and_create_graph(t):
    seen, x = [], x2(t)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(plain(p.grad)))
    t.autograd.backward((x**3).sum(), create_graph=True)
    g = x.grad
    x.grad = None
    g.sum().backward()
    x_grad = plain(x.grad)
    del g
    x.grad = None
    return [seen, x_grad]


@add
def a_gradient_is_a_view_of_another(t):
    x, y = x2(t), x2(t)
    z = t.cat([x, y])
    g = t.arange(4, dtype=t.float64)
    z.backward(g)
    x.grad.mul_(10)
    return [plain([x.grad, y.grad]), g]


@add
def an_expanded_leaf_gradient_is_written(t):
    x = m23(t)
    x.sum().backward()
    x.grad[0, 0] = 5.0
    x.sum().backward()
    return plain(x.grad)


@add
def grad_fields_swapped_while_hooks_run(t):
    x, y = x2(t), x2(t)
    x.register_hook(lambda g: setattr(y, "grad", t.ones(2, dtype=t.float64)))
    (x * 2 + y * 3).sum().backward()
    return plain([x.grad, y.grad])


@add
def the_leaf_is_replaced_through_data_between(t):
    x = x2(t)
    y = x * x
    x.data = t.ones(2, dtype=t.float64) * 10
    return [error_of(lambda: plain(grads(t, y, x))), x]


@add
def a_parameter_replaced_after_the_forward(t):
    m = t.nn.Linear(2, 1)
    y = m(t.ones(1, 2))
    old = m.weight
    m.weight = t.nn.Parameter(t.zeros(1, 2))
    y.sum().backward()
    return [m.weight.grad, plain(old.grad), m.weight is old]


@add
def a_hidden_state_through_a_buffer(t):
    w, buffer, seen = x2(t), t.zeros(2, dtype=t.float64), []
    for _ in range(3):
        buffer.mul_(w).add_(1)
        seen.append(error_of((buffer * buffer).sum().backward))
    return [seen, plain(w.grad), graph_of(buffer)[:3]]


@add
def an_exponent_is_incremented(t):
    x, i, total = leaf(t, 2.0), t.ones(1, dtype=t.float64), 0
    for _ in range(3):
        total = total + x**i
        i += 1
    return error_of(total.backward)


@add
def a_transposed_weight_is_updated(t):
    x, w = m23(t), m23(t)
    out = x @ w.t()
    with t.no_grad():
        w -= 0.1
    return error_of(out.sum().backward)


@add
def an_identity_view_and_relu(t):
    m = t.nn.Identity()
    m.register_forward_hook(lambda mod, args, out: out.view_as(out))
    x = x2(t)
    y = m(x * 1).relu_()
    return [y, plain(grads(t, y, x)), error_of(lambda: m(x).relu_())]


@add
def a_list_of_everything_that_has_no_gradient(t):
    x = x2(t)
    ends = [
        x.detach() * 2,
        (x * 2).long(),
        x > 1,
        x.argmax(),
        t.tensor(x.detach().tolist()),
        x.data,
        (x * 2).sign(),
        x.floor(),
        (x * 2).round(),
    ]
    return [[e, error_of(e.sum().backward)] for e in ends]


@add
def total_loss_keeps_graphs(t):
    w, total = x2(t), 0
    for i in range(10):
        total = total + (w * i).tanh().sum()
    total.backward()
    return [plain(w.grad), len(graph_of(total))]


@add
def function_whose_backward_runs_backward_on_a_shared_graph(t):
    x = x2(t)
    shared = x.exp()
    mine = function(t, forward=lambda ctx, y: y * 2, backward=lambda ctx, g: (shared.sum().backward(), g * 2)[1])
    return [error_of(mine(shared).sum().backward), plain(x.grad)]


@add
def interrupted_by_a_hook_then_run_again(t):
    x, fail = x2(t), [True]
    y = x.exp()

    def hook(g):
        if fail[0]:
            raise KeyError("stop")

    y.register_hook(hook)
    z = y.sin()
    said = error_of(z.sum().backward, retain_graph=True)
    fail[0] = False
    return [said, error_of(z.sum().backward), plain(x.grad)]


@add
def deepcopied_modules_share_nothing(t):
    import copy

    m = t.nn.Linear(2, 1)
    m(t.ones(1, 2)).sum().backward()
    n = copy.deepcopy(m)
    n.weight.data.zero_()
    return [
        plain(n.weight),
        n.weight.requires_grad,
        n.weight.is_leaf,
        plain(m.weight.grad),
        n.weight.grad,
        type(n.weight).__name__,
    ]
