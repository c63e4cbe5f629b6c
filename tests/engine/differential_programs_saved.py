"""What nodes save: how it is looked at, checked, packed, freed."""

from agdbg_tests_differential import error_of, leaf, versions
from agdbg_tests_differential_programs import family, grads, m23, plain, section, x2

add = section("saved")

OPS = {
    "mul": (lambda x: x * x, ["_saved_self", "_saved_other"]),
    "exp": (lambda x: x.exp(), ["_saved_result"]),
    "pow": (lambda x: x**3, ["_saved_self", "_saved_exponent"]),
    "pow_tensor": (lambda x: x.abs() ** x, ["_saved_self", "_saved_exponent", "_saved_result"]),
    "tanh": (lambda x: x.tanh(), ["_saved_result"]),
    "sin": (lambda x: x.sin(), ["_saved_self"]),
    "div": (lambda x: x / (x + 3), ["_saved_self", "_saved_other"]),
    "sum": (lambda x: x.sum(0), ["_saved_self_sym_sizes", "_saved_dim"]),
    "matmul": (lambda x: x @ x.t(), ["_saved_self", "_saved_mat2"]),
    "sqrt": (lambda x: x.abs().sqrt(), ["_saved_result"]),
    "sigmoid": (lambda x: x.sigmoid(), ["_saved_result"]),
    "log": (lambda x: x.abs().log(), ["_saved_self"]),
    "clamp": (lambda x: x.clamp(-0.75, 1), ["_saved_self", "_saved_min", "_saved_max"]),
    "transpose": (lambda x: x.transpose(0, 1), ["_saved_dim0", "_saved_dim1"]),
    "select": (lambda x: x.select(1, 2), ["_saved_dim", "_saved_index"]),
    "relu": (lambda x: x.relu(), ["_saved_result"]),
}


def looked_at(op):
    """Every `_saved_*`, before and after it is freed, and its raw form under hooks of its own."""
    function, names = op

    def program(t):
        x = m23(t)
        y = function(x)
        node = y.grad_fn
        seen = [[getattr(node, n, "absent") for n in names]]
        log = []
        for n in names:
            raw = getattr(node, n.replace("_saved_", "_raw_saved_"), None)
            if raw is not None:
                seen.append(
                    error_of(
                        raw.register_hooks,
                        lambda s: log.append("pack") or s.clone(),
                        lambda s: log.append("unpack") or s,
                    )
                )
        seen.append([getattr(node, n, "absent") for n in names][:1])
        y.sum().backward()
        return [seen, plain(x.grad), log, [error_of(getattr, node, n) for n in names]]

    return program


def written_after(op):
    """The result or the operand is written after it was saved."""
    function, _ = op

    def program(t):
        seen = []
        for which in (0, 1):
            x = m23(t)
            a = x * 1
            y = function(a)
            said = error_of((y, a)[which].mul_, 2)
            seen.append([said, error_of(lambda y=y, x=x: plain(grads(t, y, x))), versions(y, a)])
        return seen

    return program


def packed(op):
    """Hooks that halve what is saved: the gradient is that of the halves; nested ones run inside out."""
    function, _ = op

    def program(t):
        x, log = m23(t), []

        def pair(name):
            return (
                lambda s: log.append(f"pack {name} {list(s.shape)}") or s * 0.5,
                lambda s: log.append(f"unpack {name}") or s * 4,
            )

        with t.autograd.graph.saved_tensors_hooks(*pair("outer")):
            y = function(x)
            with t.autograd.graph.saved_tensors_hooks(*pair("inner")):
                z = function(x)
        (y.sum() + z.sum()).backward()
        return [log, plain(x.grad)]

    return program


family(add, OPS, "looked_at", looked_at)
family(add, OPS, "written_after", written_after)
family(add, OPS, "packed", packed)


@add
def backward_twice(t):
    x = x2(t)
    y = (x * x).exp()
    y.sum().backward()
    return [error_of(y.sum().backward), error_of(lambda: y.grad_fn._saved_result), y.grad_fn.next_functions[0][0]]


@add
def freed_in_part(t):
    x = x2(t)
    a = x.exp()
    b, c = a.sin(), a.cos()
    b.sum().backward()
    return [error_of(c.sum().backward), plain(x.grad), error_of((a * 2).sum().backward)]


@add
def nothing_saved_runs_twice(t):
    x = x2(t)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    return plain(x.grad)


@add
def identity_hooks_and_a_write_to_an_input(t):
    x = x2(t)
    a = x * 1
    with t.autograd.graph.saved_tensors_hooks(lambda s: s, lambda s: s):
        y = a.sin()
    a.mul_(2)
    return error_of(lambda: grads(t, y, x))


@add
def identity_hooks_and_a_tripled_result(t):
    x = leaf(t, 1.0)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s, lambda s: s):
        y = (2 * x).exp()
    y.mul_(3)
    return error_of(y.backward)


@add
def a_pack_hook_raises(t):
    def pack(s):
        raise KeyError("pack")

    x = x2(t)
    with t.autograd.graph.saved_tensors_hooks(pack, lambda s: s):
        seen = [error_of(lambda: x * x), error_of(lambda: x * 2), error_of(x.exp)]
    return [seen, x * x]


@add
def an_unpack_hook_raises(t):
    def unpack(s):
        raise KeyError("unpack")

    x = x2(t)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s.clone(), unpack):
        y = x * x
    return [error_of(y.sum().backward), error_of(lambda: y.grad_fn._saved_self), x.grad]


@add
def an_unpack_hook_returns_no_tensor(t):
    x = x2(t)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s.tolist(), lambda s: s):
        y = x.sin()
    return error_of(y.sum().backward)


@add
def a_pack_hook_returns_anything(t):
    x = x2(t)
    with t.autograd.graph.saved_tensors_hooks(
        lambda s: ("kept", s.detach().tolist()), lambda kept: t.tensor(kept[1], dtype=t.float64)
    ):
        y = x.sin() * x
    y.sum().backward()
    return plain(x.grad)


@add
def a_pack_hook_writes_its_argument(t):
    x = x2(t)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s.mul_(2), lambda s: s):
        seen = error_of((x * 1).sin)
    return [seen, x]


@add
def an_unpack_hook_runs_with_recording(t):
    log = []
    x = x2(t)
    with t.autograd.graph.saved_tensors_hooks(
        lambda s: log.append(t.is_grad_enabled()) or s, lambda s: log.append(t.is_grad_enabled()) or s
    ):
        y = x * x
        y.sum().backward()
    return log


@add
def hooks_inside_of_hooks(t):
    x, log = x2(t), []
    with t.autograd.graph.saved_tensors_hooks(
        lambda s: log.append("p") or (s * s).sqrt().detach(), lambda s: log.append("u") or s * 1
    ):
        y = x.sin()
    y.sum().backward()
    return [log, plain(x.grad)]


@add
def disabled_hooks(t):
    x = x2(t)
    with t.autograd.graph.disable_saved_tensors_hooks("not here"):
        with_hooks = error_of(lambda: t.autograd.graph.saved_tensors_hooks(lambda s: s, lambda s: s).__enter__())
        y = x * x
    with t.autograd.graph.saved_tensors_hooks(lambda s: s, lambda s: s):
        other = error_of(lambda: t.autograd.graph.disable_saved_tensors_hooks("nor here").__enter__())
    return [with_hooks, other, plain(grads(t, y, x))]


@add
def on_the_cpu(t):
    x = x2(t)
    with t.autograd.graph.save_on_cpu():
        y = (x * x).exp()
    y.sum().backward()
    return [plain(x.grad), error_of(lambda: y.grad_fn._saved_result)]


@add
def mutation_is_allowed(t):
    x = x2(t)
    with t.autograd.graph.allow_mutation_on_saved_tensors():
        y = (x * 2).exp()
        z = y.sin()
        y.mul_(3)
        y[0] = 5.0
        seen = plain(grads(t, z, x))
    return [seen, y]


@add
def mutation_was_allowed_and_the_block_is_left(t):
    x = x2(t)
    with t.autograd.graph.allow_mutation_on_saved_tensors():
        y = (x * 2).exp()
        y.mul_(3)
    return error_of(lambda: grads(t, y, x))


@add
def packed_results_and_double_backward(t):
    x = x2(t)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s, lambda s: s):
        y = x.exp() * x.tanh()
        (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = t.autograd.grad((g * g).sum(), x)
    return plain([g, h])


@add
def raw_hooks_are_set_once(t):
    y = x2(t).exp()
    raw = y.grad_fn._raw_saved_result
    return [
        error_of(raw.register_hooks, lambda s: s, lambda s: s),
        error_of(raw.register_hooks, lambda s: s, lambda s: s),
        error_of(raw.register_hooks, 1, 2),
    ]


@add
def raw_hooks_after_a_write(t):
    x = x2(t)
    y = x.exp()
    raw = y.grad_fn._raw_saved_result
    y.mul_(2)
    return [error_of(raw.register_hooks, lambda s: s.clone(), lambda s: s), error_of(lambda: grads(t, y, x))]


@add
def raw_hooks_after_freeing(t):
    y = x2(t).exp()
    raw = y.grad_fn._raw_saved_result
    y.sum().backward()
    return error_of(raw.register_hooks, lambda s: s, lambda s: s)


@add
def the_same_hooks_as_a_decorator_of_several_threads_do_not_meet(t):
    import threading

    log, x = [], x2(t)
    with t.autograd.graph.saved_tensors_hooks(lambda s: log.append("p") or s, lambda s: s):
        thread = threading.Thread(target=lambda: x * x)
        thread.start()
        thread.join()
        y = x * x
    return [log, plain(grads(t, y, x))]


@add
def a_saved_view_keeps_the_version_of_its_base(t):
    x = m23(t)
    y = x * 1
    z = y[0].sin()
    y[1].mul_(2)
    return error_of(lambda: grads(t, z, x))


@add
def strided_results_saved(t):
    x = m23(t)
    y = x.t().exp()
    return [y, y.grad_fn._saved_result, plain(grads(t, y, x))]


@add
def numbers_saved(t):
    x = m23(t)
    y = x.narrow(1, 1, 2)
    z = (x * 2).sum(1, keepdim=True)
    return [
        error_of(lambda: y.grad_fn._saved_self),
        z.grad_fn._saved_dim,
        z.grad_fn._saved_keepdim,
        sorted(n for n in dir(z.grad_fn) if n.startswith("_saved")),
    ]


@add
def fields_of_views_made_anew(t):
    def views(x):
        return [x[0], x[:, 1:], x.t(), x[1, 1], x[:, 0], x.expand(3, 2, 3), x[1:, None], x.view(-1)[1:]]

    seen = []
    for make in (lambda x: x * 1, lambda x: x.t().clone(), lambda x: t.complex(x, x)):
        x = make(t.ones(2, 3, requires_grad=True))
        x = x if x.shape == (2, 3) else x.t()
        found = [*views(x), *(() if x.is_complex() is False else (x.real, x.imag[0]))]
        x.mul_(2)
        for v in found:
            n = v.grad_fn
            seen += [n._saved_size, n._saved_stride, n._saved_storage_offset] if hasattr(n, "_saved_size") else [n]
    return seen


@add
def what_nodes_and_contexts_refuse(t):
    class Times(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            for name in ("saved_tensors", "saved_variables", "_raw_saved_tensors", "next_functions", "metadata"):
                seen.append(error_of(setattr, ctx, name, 1))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    seen, x = [], t.ones(2, requires_grad=True)
    made, op = Times.apply(x).grad_fn, (x * x).grad_fn
    seen += [error_of(made, x), error_of(lambda: op(g=x)), error_of(lambda: op(x, g=x)), op(x)[0].tolist()]
    for node in (op, op.next_functions[0][0]):
        for name in ("metadata", "next_functions", "_input_metadata", "requires_grad"):
            seen += [error_of(setattr, node, name, 1), error_of(delattr, node, name)]
    return seen
