"""Hooks of tensors, nodes, leaves, groups and modules: when they run, what they see, what they change."""

from agdbg_tests_differential import error_of
from agdbg_tests_differential_programs import family, grads, m23, plain, section, x2

add = section("hooks")


def note(log, what, result=None):
    return lambda *args: (log.append([what, plain(list(args))]), result)[1]


def tensor_hook(t, y, log, what):
    return y.register_hook(note(log, what))


def doubling(t, y, log, what):
    return y.register_hook(lambda g: (log.append(what), g * 2)[1])


def node_pre(t, y, log, what):
    return y.grad_fn.register_prehook(lambda gs: log.append([what, plain(list(gs))]))


def node_post(t, y, log, what):
    """Without the ``None`` of a number among the operands, which is an input to PyTorch."""
    return y.grad_fn.register_hook(
        lambda gi, go: log.append([what, plain([[g for g in gi if g is not None], list(go)])])
    )


def retaining(t, y, log, what):
    return y.retain_grad()


HOOKS = {"tensor": tensor_hook, "doubling": doubling, "pre": node_pre, "post": node_post, "retain": retaining}
WRITES = {
    "mul": lambda y: y.mul_(3),
    "exp": lambda y: y.exp_(),
    "slice": lambda y: y[0].mul_(3),
    "setitem": lambda y: y.__setitem__(1, 7.0),
    "detach": lambda y: y.detach_(),
    "copy": lambda y: y.copy_(y.detach() * 2),
    "no_write": lambda y: y,
}


def hooked_and_written(write):
    """Each hook before and after the write, alone; then all of them."""

    def program(t):
        seen = []
        for kinds in (*([k] for k in HOOKS), list(HOOKS)):
            log, x = [], m23(t)
            y = -x
            for k in kinds:
                HOOKS[k](t, y, log, f"before {k}")
            write(y)
            said = [error_of(HOOKS[k], t, y, log, f"after {k}") for k in kinds]
            (y * y).sum().backward() if y.requires_grad else None
            seen.append(
                [said, log, plain([v.grad for v in (x, y) if v.retains_grad or (v.is_leaf and v.grad is not None)])]
            )
        return seen

    return program


def hooks_under_inputs(hook):
    """Only some of the hooks run when only some gradients are asked for."""

    def program(t):
        seen = []
        for which in ("x", "y", "z", "xy", "yz", "xyz"):
            log, x = [], m23(t)
            y = -x
            z = y.sin()
            named = {"x": x, "y": y, "z": z}
            for k, v in named.items():
                if v.grad_fn is not None or hook in (tensor_hook, doubling):
                    hook(t, v, log, k)
            wanted = [named[w] for w in which]
            found = t.autograd.grad(z.sum(), wanted, retain_graph=True)
            log.append("backward")
            z.sum().backward(inputs=wanted)
            seen.append(
                [
                    log,
                    plain(list(found)),
                    plain([v.grad if v.is_leaf or v.retains_grad else None for v in named.values()]),
                ]
            )
        return seen

    return program


RESULTS = {
    "none": lambda g: None,
    "same": lambda g: g,
    "number": lambda g: 3.0,
    "text": lambda g: "no",
    "list": lambda g: [g],
    "wrong_shape": lambda g: g.sum(),
    "bigger": lambda g: g[None],
    "other_dtype": lambda g: g.float(),
    "recorded": lambda g: g * g.detach().requires_grad_(),
    "raise": lambda g: 1 / 0,
    "in_place": lambda g: g.mul_(2),
    "in_place_unreturned": lambda g: (g.mul_(2), None)[1],
}


def results(result):
    def program(t):
        seen = []
        for leaf in (True, False):
            x = m23(t)
            y = x * 2
            (x if leaf else y).register_hook(result)
            z = y.sin()
            seen.append([error_of(z.sum().backward), plain(x.grad), t.is_grad_enabled()])
        x = m23(t)
        x.register_post_accumulate_grad_hook(lambda p: result(p.grad))
        seen.append([error_of((x * 2).sum().backward), plain(x.grad)])
        x = m23(t)
        y = x * 2
        y.grad_fn.register_prehook(lambda gs: result(gs[0]) if result(gs[0]) is None else (result(gs[0]),))
        seen.append([error_of(y.sum().backward), plain(x.grad)])
        return seen

    return program


family(add, WRITES, "hooked_and_written", hooked_and_written)
family(add, HOOKS, "under_inputs", hooks_under_inputs)
family(add, RESULTS, "result", results)


@add
def order_of_everything(t):
    log, x = [], x2(t)
    y = -x
    for name, v in (("x", x), ("y", y)):
        v.register_hook(note(log, f"{name} first")), v.register_hook(note(log, f"{name} second"))
    x.register_post_accumulate_grad_hook(lambda p: log.append(["post accumulate", plain(p.grad)]))
    y.grad_fn.register_prehook(note(log, "pre")), y.grad_fn.register_hook(note(log, "post"))
    accumulator = y.grad_fn.next_functions[0][0]
    (
        accumulator.register_prehook(note(log, "accumulator pre")),
        accumulator.register_hook(lambda gi, go: log.append(["accumulator post", len(gi), plain(list(go))])),
    )
    y.retain_grad()
    y.register_hook(note(log, "after retain"))
    y.sum().backward()
    return [log, plain([x.grad, y.grad])]


@add
def removed_while_running(t):
    log, x = [], x2(t)
    handles = [
        x.register_hook(lambda g: (log.append(1), handles[1].remove())[0]),
        x.register_hook(lambda g: log.append(2)),
    ]
    y = x + 1
    y.sum().backward()
    y.sum().backward()
    return log


@add
def registered_while_running(t):
    log, x = [], x2(t)
    x.register_hook(lambda g: x.register_hook(lambda g: log.append("inner")) and None)
    y = x + 1
    y.sum().backward()
    log.append("again")
    y.sum().backward()
    return log


@add
def removed_by_context(t):
    log, x = [], x2(t)
    with x.register_hook(note(log, "inside")):
        (x * 2).sum().backward()
    (x * 2).sum().backward()
    return [log, len(x._backward_hooks or {})]


@add
def not_for_those_without_grad(t):
    y = t.ones(2)
    return [
        error_of(y.register_hook, note([], "")),
        error_of(y.register_post_accumulate_grad_hook, note([], "")),
        error_of((x2(t) * 2).register_post_accumulate_grad_hook, note([], "")),
    ]


@add
def branches_share_a_gradient(t):
    x = x2(t)
    b, c = 2 * x, 3 * x
    c.register_hook(lambda g: (g.mul_(10), None)[1])
    (b + c).backward(t.ones(2, dtype=t.float64))
    return plain(x.grad)


@add
def hook_then_write_then_retain(t):
    log, x = [], x2(t)
    a = x.clone()
    a.register_hook(note(log, "hook"))
    a.retain_grad()
    a.mul_(2)
    a.sum().backward()
    return [log, plain([a.grad, x.grad])]


@add
def on_an_accumulator_nobody_holds(t):
    log, x = [], x2(t)
    x.view_as(x).grad_fn.next_functions[0][0].register_hook(note(log, "fired"))
    (x * 2).sum().backward()
    return log


@add
def on_several_outputs(t):
    log, x = [], m23(t)
    a, b = x.unbind(0)
    a.register_hook(note(log, "a")), b.register_hook(note(log, "b")), a.retain_grad(), b.retain_grad()
    a.grad_fn.register_prehook(lambda gs: log.append([g is None for g in gs]))
    a.sum().backward(retain_graph=True)
    log.append("both")
    (a * b).sum().backward()
    return [log, plain([x.grad, a.grad, b.grad])]


@add
def post_accumulate_clears(t):
    x = x2(t)
    seen = []

    def step(p):
        seen.append(plain(p.grad))
        with t.no_grad():
            p.add_(p.grad, alpha=-0.5)
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    for _ in range(2):
        (x * x).sum().backward()
    return [seen, x, x.grad]


@add
def post_accumulate_not_in_grad(t):
    log, x = [], x2(t)
    x.register_post_accumulate_grad_hook(note(log, "fired"))
    grads(t, x * 2, x)
    return log


@add
def multi_grad_all(t):
    log, x, y, z = [], x2(t), x2(t), x2(t)
    handle = t.autograd.graph.register_multi_grad_hook((x, y, z), lambda gs: log.append([plain(g) for g in gs]))
    (x * y).sum().backward()
    log.append("next")
    (x * y * z).sum().backward()
    handle.remove()
    (x * y * z).sum().backward()
    return log


@add
def multi_grad_any(t):
    log, x, y = [], x2(t), x2(t)
    t.autograd.graph.register_multi_grad_hook((x * 1, y, x), lambda g: log.append(plain(g)), mode="any")
    (x * y).sum().backward()
    (x * 3).sum().backward()
    return [log, error_of(t.autograd.graph.register_multi_grad_hook, (x,), note([], ""), mode="some")]


@add
def backward_inside_a_hook(t):
    log, x, w = [], x2(t), x2(t)
    y = x * 2
    y.register_hook(t.enable_grad()(lambda g: (w * w).sum().backward() or log.append(plain(w.grad))))
    y.sum().backward()
    return [log, plain(x.grad)]


@add
def a_hook_writes_a_leaf(t):
    x = x2(t)
    y = x * x

    def write(g):
        with t.no_grad():
            x.mul_(2)

    y.register_hook(write)
    return error_of(y.sum().backward)


@add
def a_hook_frees_the_graph_it_is_in(t):
    x = x2(t)
    y = x.exp()
    z = y.sin()
    z.register_hook(lambda g: y.sum().backward() and None)
    return [error_of(z.sum().backward), plain(x.grad)]


@add
def gradients_in_hooks_of_create_graph(t):
    log, x = [], x2(t)
    y = x**3
    y.register_hook(lambda g: (log.append([t.is_grad_enabled(), g.requires_grad]), g * x)[1])
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    return [log, plain([g, grads(t, g, x)])]


@add
def hooks_on_gradients(t):
    log, x = [], x2(t)
    (g,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
    g.register_hook(note(log, "g"))
    g.retain_grad()
    (g * g).sum().backward()
    return [log, plain([g.grad, x.grad])]


def model(t):
    m = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.Tanh(), t.nn.Linear(3, 1))
    for i, p in enumerate(m.parameters()):
        p.data = t.arange(p.numel(), dtype=t.float64).view(p.shape) * 0.1 + i
    return m


@add
def module_hooks_of_every_kind(t):
    log, m = [], model(t)
    for i, layer in enumerate([m, *m]):
        layer.register_forward_pre_hook(lambda mod, args, i=i: log.append(["forward pre", i, plain(list(args))]))
        layer.register_forward_hook(lambda mod, args, out, i=i: log.append(["forward", i, plain(out)]))
        layer.register_full_backward_pre_hook(lambda mod, go, i=i: log.append(["backward pre", i, plain(list(go))]))
        layer.register_full_backward_hook(
            lambda mod, gi, go, i=i: log.append(["backward", i, plain([list(gi), list(go)])])
        )
    x = m23(t)[:, :2]
    m(x).sum().backward()
    return [log, plain([p.grad for p in m.parameters()])]


@add
def module_hooks_that_replace(t):
    m = model(t)
    m[0].register_forward_pre_hook(lambda mod, args: (args[0] * 2,))
    m[0].register_forward_hook(lambda mod, args, out: out + 1)
    m[2].register_full_backward_pre_hook(lambda mod, go: (go[0] * 3,))
    m[1].register_full_backward_hook(lambda mod, gi, go: (gi[0] * 5,))
    x = x2(t)
    y = m(x)
    y.sum().backward()
    return plain([y, x.grad, *(p.grad for p in m.parameters())])


@add
def param_grad_in_a_full_backward_hook(t):
    seen, m = [], model(t)
    m[0].register_full_backward_hook(lambda mod, gi, go: seen.append(mod.weight.grad))
    m(x2(t)).sum().backward()
    return seen


@add
def an_in_place_op_after_a_full_backward_hook(t):
    m = model(t)
    m[0].register_full_backward_hook(lambda mod, gi, go: None)
    return error_of(lambda: m[0](x2(t)).relu_())


@add
def an_in_place_module_input(t):
    m = model(t)
    m[0].register_full_backward_hook(lambda mod, gi, go: None)
    x = x2(t) * 1
    m[0](x)
    return error_of(x.mul_, 2), x


@add
def module_without_inputs_that_need_grad(t):
    log, m = [], model(t)
    m.register_full_backward_hook(lambda mod, gi, go: log.append(plain([list(gi), list(go)])))
    m(x2(t).detach()).sum().backward()
    return log


@add
def module_hooks_with_kwargs_and_always(t):
    log = []

    class M(t.nn.Module):
        def forward(self, x, scale=1):
            return x * scale

    m = M()
    m.register_forward_pre_hook(lambda mod, args, kw: (args, {"scale": kw["scale"] * 2}), with_kwargs=True)
    m.register_forward_hook(lambda mod, args, kw, out: log.append(kw), with_kwargs=True)
    m.register_forward_hook(lambda mod, args, out: log.append("always"), always_call=True)
    return [m(x2(t), scale=3), error_of(m, None, scale=1), log]
