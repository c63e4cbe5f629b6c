"""The backward engine: arguments and their errors, accumulation, validation, nested passes, order, anomaly mode."""

import threading

from agdbg_tests_differential import error_of, leaf, running_order
from agdbg_tests_differential_programs import family, grads, m23, plain, section, x2

add = section("backward")

ARGUMENTS = {
    "none": {},
    "retain": {"retain_graph": True},
    "create": {"create_graph": True},
    "create_not_retain": {"create_graph": True, "retain_graph": False},
    "unused": {"allow_unused": True},
    "materialize": {"materialize_grads": True},
    "materialize_not_unused": {"materialize_grads": True, "allow_unused": False},
    "batched": {"is_grads_batched": True},
}


def with_arguments(kw):
    """`grad` of a scalar and of a vector for a used, an unused and an intermediate tensor, twice."""

    def program(t):
        seen = []
        for build in (lambda x: (x * x).sum(), lambda x: x.exp(), lambda x: x + 1):
            x, u = x2(t), x2(t)
            y = x + x
            z = build(y)
            for inputs in (x, y, z, u, [x, y], [x, u], [x, x], [], t.ones(2)):
                try:
                    seen.append(plain(t.autograd.grad(z.sum(), inputs, **kw)))
                except Exception as error:
                    seen.append([type(error).__name__, str(error).partition("\n")[0]])
        return seen

    return program


OUTPUT_GRADS = {
    "missing": lambda t: None,
    "right": lambda t: t.ones(2, 3, dtype=t.float64),
    "scalar": lambda t: t.ones((), dtype=t.float64),
    "transposed": lambda t: t.ones(3, 2, dtype=t.float64),
    "broadcastable": lambda t: t.ones(3, dtype=t.float64),
    "float32": lambda t: t.ones(2, 3),
    "integers": lambda t: t.ones(2, 3, dtype=t.int64),
    "complex": lambda t: t.ones(2, 3, dtype=t.complex128),
    "a_number": lambda t: 1.0,
    "two": lambda t: [t.ones(2, 3, dtype=t.float64), t.ones(2, 3, dtype=t.float64)],
    "recorded": lambda t: m23(t) * 2,
    "text": lambda t: "no",
    "expanded": lambda t: t.ones(1, dtype=t.float64).expand(2, 3),
}


def output_grads(make):
    def program(t):
        seen = []
        for run in (
            lambda y, x, g: y.backward(g),
            lambda y, x, g: t.autograd.grad(y, x, g),
            lambda y, x, g: t.autograd.backward(y, g),
        ):
            x = m23(t)
            y = x * 2
            try:
                found = run(y, x, make(t))
            except Exception as error:
                found = [type(error).__name__, str(error).partition("\n")[0]]
            seen.append([plain(found), plain(x.grad)])
        return seen

    return program


ROOTS = {
    "detached": lambda t: t.ones(()),
    "a_leaf": lambda t: leaf(t, 1.0).sum(),
    "leaf_itself": lambda t: leaf(t, 1.0),
    "vector": lambda t: x2(t) * 2,
    "integers": lambda t: (x2(t) * 2).long().sum(),
    "complex": lambda t: (t.tensor([1j], requires_grad=True) * 2).sum(),
    "under_no_grad": lambda t: t.no_grad()(lambda: x2(t).sum())(),
    "a_list": lambda t: [x2(t).sum()],
    "not_a_tensor": lambda t: 3,
    "empty": lambda t: t.ones(0, requires_grad=True) * 1,
    "two": lambda t: (x2(t).sum(), x2(t).prod() if hasattr(t.Tensor, "prod") else x2(t).sum()),
    "two_one_detached": lambda t: (x2(t).sum(), t.ones(())),
    "none": lambda t: (),
}


def from_root(make):
    def program(t):
        return [
            error_of(t.autograd.backward, make(t)),
            error_of(t.autograd.grad, make(t), x2(t)),
            error_of(t.autograd.grad, make(t), x2(t), allow_unused=True),
        ]

    return program


family(add, ARGUMENTS, "grad_with", with_arguments)
family(add, OUTPUT_GRADS, "output_grads", output_grads)
family(add, ROOTS, "from", from_root)


@add
def backward_inputs(t):
    seen = []
    for pick in (
        lambda x, w, y: x,
        lambda x, w, y: [x, y],
        lambda x, w, y: [y],
        lambda x, w, y: [],
        lambda x, w, y: [t.ones(2)],
        lambda x, w, y: x2(t),
    ):
        x, w = x2(t), x2(t)
        y = x * w
        said = error_of(y.sin().sum().backward, inputs=pick(x, w, y))
        seen.append([said, plain([x.grad, w.grad]), plain(y.grad) if y.retains_grad or y.is_leaf else None])
    return seen


@add
def gradient_edges(t):
    x = m23(t)
    a, b = (x * 2).unbind(0)
    edge = t.autograd.graph.get_gradient_edge(b)
    loss = (a * b).sum()
    return [
        edge.output_nr,
        edge.node,
        plain(t.autograd.grad(loss, [edge, a], retain_graph=True)),
        error_of(t.autograd.graph.get_gradient_edge, t.ones(2)),
        plain(t.autograd.grad(edge, x, t.ones(3, dtype=t.float64))),
    ]


@add
def accumulation_steals_clones_adds(t):
    seen = []
    for build in (lambda x: x * 1, lambda x: x + 1, lambda x: x.sum(), lambda x: x.t(), lambda x: x[0], lambda x: x):
        x = m23(t)
        for _ in range(2):
            g0 = x.grad
            build(x).sum().backward()
            seen.append([plain(x.grad), g0 is x.grad, list(x.grad.stride())])
    return seen


@add
def gradients_never_alias(t):
    x, y = x2(t), x2(t)
    z = x + y
    g = t.ones(2, dtype=t.float64)
    z.backward(g)
    x.grad.mul_(5)
    return [plain([x.grad, y.grad]), g, x.grad is g]


@add
def accumulating_with_create_graph(t):
    x = x2(t)
    (x**3).sum().backward()
    first = x.grad
    t.autograd.backward((x**2).sum(), create_graph=True)
    seen = plain([first, x.grad, x.grad is first])
    x.grad = None
    return seen


@add
def an_expanded_gradient_is_made_dense(t):
    x = m23(t)
    x.sum().backward()
    return [list(x.grad.stride()), plain(x.grad)]


@add
def a_leaf_twice_in_one_op(t):
    x = x2(t)
    (x * x + x / x - x).sum().backward()
    return plain(x.grad)


@add
def broadcasting_is_summed(t):
    x, y, z = m23(t), leaf(t, 1.0, 2.0, 3.0), t.tensor(2.0, requires_grad=True, dtype=t.float64)
    (x * y + z).sum().backward()
    return plain([x.grad, y.grad, z.grad])


@add
def dtypes_are_cast(t):
    x, y = x2(t), t.ones(2, requires_grad=True)
    (x * y).sum().backward()
    return [plain([x.grad, y.grad]), str(y.grad.dtype).removeprefix("torch.")]


@add
def the_order_of_a_diamond(t):
    x = x2(t)
    a = x * 2
    b, c = a.sin(), a.exp()
    d = b * c
    e = c + a
    loss = (d + e).sum()
    log = running_order(loss)
    loss.backward()
    return log


@add
def the_order_of_roots(t):
    x = x2(t)
    a, b = x.exp().sum(), x.sin().sum()
    log = running_order(b, a)
    t.autograd.backward([a, b])
    return log


@add
def roots_given_twice(t):
    x = x2(t)
    loss = (x * x).sum()
    t.autograd.backward([loss, loss])
    return plain(x.grad)


@add
def a_root_below_another(t):
    x = x2(t)
    y = x * 2
    z = y.exp()
    t.autograd.backward([z.sum(), y.sum()])
    return plain(x.grad)


@add
def nested_passes(t):
    log, x = [], x2(t)

    def nest(depth):
        with t.enable_grad():
            y = x * (depth + 1)
        y.register_hook(lambda g: (log.append(depth), nest(depth - 1) if depth else None)[0])
        y.backward(t.ones(2, dtype=t.float64))

    nest(4)
    return [log, plain(x.grad)]


@add
def grad_inside_a_hook(t):
    x, w = x2(t), x2(t, 3.0)
    y = x**3
    y.register_hook(t.enable_grad()(lambda g: g * t.autograd.grad((w**2).sum(), w)[0]))
    y.sum().backward()
    return plain([x.grad, w.grad])


@add
def a_product_with_a_number_twice(t):
    x = x2(t)
    y = x * 2
    y.sum().backward()
    return [error_of(y.sum().backward), y.grad_fn.next_functions]


@add
def a_nested_pass_raises(t):
    x = x2(t)
    y = x * 2

    def bad(g):
        t.ones(2).backward()

    y.register_hook(bad)
    said = error_of(y.sum().backward)
    (x * 3).sum().backward()
    return [said, plain(x.grad)]


@add
def threads_over_one_graph(t):
    x = x2(t)
    loss = (x * x).exp().sum()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(plain(t.autograd.grad(loss, x, retain_graph=True))))
        for _ in range(4)
    ]
    [th.start() for th in threads], [th.join() for th in threads]
    return found


@add
def nodes_of_another_thread(t):
    """Recorded later than ``y``, in a thread whose own count of nodes has only begun."""
    x, order, made = x2(t), [], []
    y = x * 1
    thread = threading.Thread(target=lambda: made.append(x * 2))
    thread.start(), thread.join()
    for name, v in (("y", y), ("other", made[0])):
        v.register_hook(lambda g, name=name: order.append(name))
    (y + made[0]).sum().backward()
    return order


@add
def anomaly_finds_nan(t):
    x = leaf(t, 0.0, 1.0)
    with t.autograd.detect_anomaly():
        y = (x.sqrt() * 0).sum()
        return error_of(y.backward)


@add
def anomaly_without_nan_checks(t):
    x = leaf(t, 0.0, 1.0)
    with t.autograd.detect_anomaly(check_nan=False):
        (x.sqrt() * 0).sum().backward()
    return plain(x.grad)


@add
def anomaly_and_double_backward(t):
    x = leaf(t, 0.0)
    with t.autograd.detect_anomaly():
        (g,) = t.autograd.grad((x**1.5).sum(), x, create_graph=True)
        return [plain(g), error_of(t.autograd.grad, (g * 0).sum(), x)]


@add
def anomaly_and_a_hook(t):
    x = x2(t)
    with t.autograd.detect_anomaly():
        y = x * 2
        y.register_hook(lambda g: g * float("nan"))
        return error_of(y.sum().backward)


@add
def anomaly_settings(t):
    seen = [t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()]
    with t.autograd.set_detect_anomaly(True, check_nan=False):
        seen += [t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()]
    return [*seen, t.is_anomaly_enabled()]


@add
def current_node(t):
    seen, x = [], x2(t)
    y = x.exp()
    y.register_hook(
        lambda g: seen.append(
            t._C._current_autograd_node() if hasattr(t, "_C") else t.autograd.graph._current_autograd_node()
        )
    )
    y.sum().backward()
    return seen


@add
def nodes_look_like_torchs(t):
    x = x2(t)
    y = (-x).sum()
    node = y.grad_fn
    return [
        isinstance(node, t.autograd.graph.Node),
        node,
        node.next_functions[0],
        node.next_functions[0][0].next_functions,
        node.metadata,
        node is y.grad_fn,
        node.next_functions[0][0].next_functions[0][0].variable is x,
    ]


@add
def increment_version(t):
    x = x2(t)
    y = x.exp()
    t.autograd.graph.increment_version(y)
    return [y._version, error_of(lambda: grads(t, y, x))]


@add
def a_failed_pass_leaves_what_ran(t):
    x, w = x2(t), x2(t)
    y = x.exp()
    z = y * w
    handle = y.register_hook(lambda g: 1 / 0)
    said = error_of(z.sum().backward)
    handle.remove()
    return [said, plain(w.grad), x.grad, error_of(z.sum().backward), error_of(y.sum().backward), plain(x.grad)]


@add
def undefined_gradients(t):
    x = m23(t)
    values, index = x.max(1)
    a, _ = x.chunk(2)
    return [grads(t, a, x), plain(grads(t, values, x)), index, error_of(index.sum().backward)]


@add
def second_order_of_a_linear_function(t):
    x = x2(t)
    (g,) = t.autograd.grad((2 * x).sum(), x, create_graph=True)
    return [plain(g), error_of(t.autograd.grad, g.sum(), x)]


@add
def third_order(t):
    x = x2(t)
    y, seen = x**4, []
    for _ in range(4):
        (y,) = t.autograd.grad(y.sum(), x, create_graph=True)
        seen.append(plain(y))
    return seen


@add
def multithreading_switch(t):
    with (
        t.autograd.graph.set_multithreading_enabled(False)
        if hasattr(t.autograd.graph, "set_multithreading_enabled")
        else t.autograd.set_multithreading_enabled(False)
    ):
        x = x2(t)
        (x * 2).sum().backward()
    return plain(x.grad)


@add
def an_optimizer_step_between_two_passes(t):
    x = x2(t)
    w = x2(t)
    loss = ((x * w).tanh() * w).sum()
    loss.backward(retain_graph=True)
    with t.no_grad():
        w -= 0.1 * w.grad
    return error_of(loss.backward)


@add
def a_state_carried_over(t):
    w, h, seen = x2(t), t.zeros(2, dtype=t.float64), []
    for _ in range(3):
        h = (h * w + 1).tanh()
        seen.append(error_of(h.sum().backward))
    return [seen, plain(w.grad)]


@add
def what_made_a_kept_gradient(t):
    """A recorded gradient is written into fresh memory for a leaf without gaps, cloned elsewhere, added to another one."""

    def made(x, function=lambda x: x**3, gradient=None, before=None):
        x = x.detach().requires_grad_()
        x.grad = before
        y = function(x)
        y.backward(t.ones_like(y) if gradient is None else gradient, create_graph=True)
        below = [node and node.name() for node, _ in x.grad.grad_fn.next_functions] if x.grad.grad_fn else None
        return [x.grad.grad_fn, below, x.grad._version, list(x.grad.stride()), plain(x.grad)]

    x, m = t.tensor([0.5, 2.0]), t.arange(1.0, 7.0).reshape(2, 3)
    given = t.ones(2, requires_grad=True) * 2
    y = x.requires_grad_() * 1
    y.retain_grad()
    (y**3).sum().backward(create_graph=True)
    return [
        made(x), made(m.t()), made(m[:, ::2]), made(x[:1].expand(2)), made(t.tensor(2.0)), made(x, before=t.ones(2)),
        made(x, lambda x: x * 1, given), made(x, lambda x: x * 2), y.grad,
    ]  # fmt: skip
