"""Names and signatures of nodes, contexts and Functions that scripts can use: as in PyTorch."""

import inspect
import warnings

import pytest
from agdbg_tests_differential import Programs, error_of, same

import agdbg_engine as ag
from agdbg_engine.node import Node
from agdbg_engine.saved import fields

torch = pytest.importorskip("torch")
programs = Programs()


@pytest.mark.parametrize(
    "path",
    ["autograd.graph.Node.register_hook", "autograd.graph.Node.register_prehook", "no_grad", "enable_grad", "set_grad_enabled",
     "inference_mode", "no_grad.__call__", "set_grad_enabled.__call__", "autograd.graph.region_activation_memory_budget",
     "func.stack_module_state", "func.replace_all_batch_norm_modules_", "autograd.Function.vmap"],
)  # fmt: skip
def test_parameters(path):
    found = []
    for library in (torch, ag):
        value = library
        for name in path.split("."):
            value = getattr(value, name)
        found.append([(p.name, p.kind, p.default) for p in inspect.signature(value).parameters.values()])
    assert found[0] == found[1]


@programs
def modes_of_functions(t):
    def recording():
        return t.is_grad_enabled()

    with t.no_grad():
        seen = [t.enable_grad(orig_func=recording)(), t.enable_grad(None).__class__.__name__]
    return [
        *seen, t.no_grad(orig_func=recording)(), error_of(lambda: t.no_grad(None)), error_of(lambda: t.no_grad(recording, 2)),
        error_of(lambda: t.enable_grad(function=recording)), t.no_grad()(orig_func=recording)(),
    ]  # fmt: skip


@programs
def hooks_of_a_saved_tensor(t):
    x = t.ones(2, requires_grad=True)
    raw = (x * x).grad_fn._raw_saved_self
    given = (
        ((as_it_is,), {}), ((), {}), ((1, 2), {}), ((), {"pack_hook": as_it_is, "unpack_hook": as_it_is}), ((as_it_is, as_it_is), {}),
    )  # fmt: skip
    return [error_of(raw.register_hooks, *hooks, **named) for hooks, named in given]


def as_it_is(saved):
    return saved


def _told(t, tell, outputs):
    """The Function whose forward calls ``tell(ctx)`` and gives ``outputs(ctx, x)``; and the list of what its backward got."""
    got = []

    class Told(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            tell(ctx)
            return outputs(ctx, x)

        @staticmethod
        def backward(ctx, *gs):
            got.append([None if g is None else g.tolist() for g in gs])
            return t.ones(4) * 7

    return Told, got


@programs
def zeros_for_what_is_not_differentiable(t):
    seen = []

    def outputs(ctx, x):
        a, b, c, i = x * 1, x * 2, x * 3, x.long()
        ctx.mark_non_differentiable(b, i)
        return a, b, c, i, 5

    for each in (None, True, False):
        for fill in (True, False):

            def tell(ctx, each=each, fill=fill):
                seen.append(ctx._materialize_non_diff_grads)
                ctx.set_materialize_grads(fill)
                if each is not None:
                    ctx._materialize_non_diff_grads = each
                seen.append(ctx._materialize_non_diff_grads)
                seen.append(error_of(lambda: setattr(ctx, "_materialize_non_diff_grads", 1)))

            function, got = _told(t, tell, outputs)
            function.apply(t.ones(4, requires_grad=True))[0].sum().backward()
            seen.append(got)
    return seen


@programs
def views_that_may_be_written(t):
    seen = []
    for pure in (None, False, True):
        for view in (lambda x: x.view(2, 2), lambda x: x, lambda x: x[1:], lambda x: x[1:].view(3, 1)):

            def tell(ctx, pure=pure):
                if pure is not None:
                    ctx._is_pure_view = pure
                seen.append(
                    [error_of(lambda: setattr(ctx, "_is_pure_view", 1)), error_of(lambda: ctx._is_pure_view).kind]
                )

            function, got = _told(t, tell, lambda ctx, x, view=view: view(x))
            x = t.arange(4.0).requires_grad_()
            base = x * 1
            made = function.apply(base)
            error = error_of(lambda made=made: made.mul_(3))
            seen.append([error, made.grad_fn.name(), base.grad_fn.name()])
            if error == "nothing":
                (made.sum() + base.sum()).backward()
                seen.append([x.grad, got])
    return seen


@programs
def shared_storage(t):
    said = []

    def tell(ctx):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ctx.mark_shared_storage((1, 2))
        said.extend((w.category.__name__, str(w.message)) for w in caught)

    function, _ = _told(t, tell, lambda ctx, x: x * 1)
    function.apply(t.ones(4, requires_grad=True))
    return said


@programs
def a_function_shows_what_contexts_have(t):
    function, _ = _told(t, lambda ctx: None, lambda ctx, x: x)
    names = (
        "_input_metadata", "_is_pure_view", "_materialize_non_diff_grads", "_raw_saved_tensors", "_register_hook_dict",
        "_sequence_nr", "dirty_tensors", "generate_vmap_rule", "mark_shared_storage", "materialize_grads",
        "maybe_clear_saved_tensors", "metadata", "name", "needs_input_grad", "next_functions", "non_differentiable",
        "register_hook", "register_prehook", "requires_grad", "saved_for_forward", "saved_tensors", "saved_variables", "to_save",
        "vmap", "seq", "tag", "hooks", "nothing",
    )  # fmt: skip
    node = function.apply(t.ones(4, requires_grad=True)).grad_fn
    return [
        [hasattr(function, n) for n in names], [hasattr(t.autograd.function.InplaceFunction, n) for n in names],
        function.generate_vmap_rule, error_of(lambda: function.vmap(None, (0,), 1)), hasattr(node, "vmap"),
        function.saved_tensors.__get__(node), function.name(node) == node.name(), node.apply_boxed(t.ones(4)),
    ]  # fmt: skip


@programs
def memory_budgets(t):
    return [error_of(lambda b=b: t.autograd.graph.region_activation_memory_budget(b)) for b in (0.5, 1, True, "a", 2.0)]


@programs
def state_of_several_modules(t):
    nn, stack = t.nn, t.func.stack_module_state
    models = [nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1)) for _ in range(3)]
    for i, model in enumerate(models):
        for p in model.parameters():
            nn.init.constant_(p, i)
    parameters, buffers = stack(models)
    y = t.func.functional_call(
        models[0], ({k: v[2] for k, v in parameters.items()}, {}), t.tensor([[1.0, 2.0], [0.0, 5.0]])
    )
    y.sum().backward()
    mixed = [nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)]
    halves = [nn.Linear(1, 1), nn.Linear(1, 1)]
    halves[0].weight.requires_grad_(False)
    return [
        parameters, buffers, [p.grad for p in parameters.values()], stack([nn.Linear(1, 1).requires_grad_(False)])[0].keys() and 1,
        error_of(lambda: stack([])), error_of(lambda: stack([nn.Linear(1, 1).eval(), nn.Linear(1, 1)])),
        error_of(lambda: stack([nn.Linear(1, 1), nn.ReLU()])), error_of(lambda: stack(mixed)), error_of(lambda: stack(halves)),
    ]  # fmt: skip


@programs
def batch_norm_without_statistics(t):
    nn = t.nn
    root = nn.Sequential(nn.BatchNorm1d(2), nn.Sequential(nn.BatchNorm2d(1, track_running_stats=False)))
    made = t.func.replace_all_batch_norm_modules_(root)
    alone = t.func.replace_all_batch_norm_modules_(nn.BatchNorm1d(1))
    x = t.tensor([[1.0, 2.0], [3.0, 5.0]])
    return [
        made is root, root[0](x), root.eval()[0](x), list(root.state_dict()), alone.running_mean, alone.num_batches_tracked,
        list(root.named_buffers()), root[0].track_running_stats,
    ]  # fmt: skip


@programs
def a_node_without_a_derivative(t):
    x = t.ones(2, requires_grad=True)
    return [(x // 2).grad_fn.name(), t.heaviside(x, x).grad_fn.name(), type((x // 2).grad_fn).__name__]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def test_a_node_tells_why_it_has_not_what_pytorch_has():
    x = ag.ones(1, requires_grad=True)
    for name in ("_set_sequence_nr", "_register_hook", "_autograd_function_id"):
        with pytest.raises(AttributeError, match=rf"'MulBackward0' object has no attribute '{name}': ."):
            getattr((x * x).grad_fn, name)
    with pytest.raises(
        AttributeError, match=r"type object 'Function' has no attribute '_compiled_autograd_key': nothing is comp"
    ):
        _ = ag.autograd.Function._compiled_autograd_key
    with pytest.raises(AttributeError, match=r"no attribute '_nothing'$"):
        _ = (x * x).grad_fn._nothing


def test_a_name_that_nodes_refuse_is_free_on_a_context():
    class Twice(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert "_register_hook" not in dir(ctx)
            ctx._register_hook = 3
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx._register_hook

    x = ag.ones(1, requires_grad=True)
    Twice.apply(x).backward()
    assert x.grad.item() == 3
    node = (x * x).grad_fn
    assert not hasattr(node, "_register_hook")
    assert "_register_hook" not in dir(node)


def kinds_of_nodes(kind=Node):
    for below in kind.__subclasses__():
        yield below
        yield from kinds_of_nodes(below)


def test_slots_of_nodes_are_read_the_fast_way():
    slow = [kind.__name__ for kind in kinds_of_nodes() if hasattr(kind, "__getattr__") and not kind.user_code]
    assert slow == []


def test_every_kind_of_node_has_all_that_it_may_show():
    x = ag.ones(2, 2, requires_grad=True)
    _ = ag.nn.functional.logsigmoid(x)  # the class of its node is made at the first call
    lacking = [
        (kind.op_name, name)
        for kind in kinds_of_nodes()
        for name in fields.NAMES.get(kind.op_name, ())
        if not hasattr(kind, f"_saved_{name}")
    ]
    assert lacking == []
    assert {"LogSigmoidBackward0", "MmBackward0"} <= {kind.op_name for kind in kinds_of_nodes()} & set(fields.NAMES)


def nodes_below(results):
    """Names of nodes in the order of their numbers, with those that their gradients go to."""
    found, waiting = {}, [r.grad_fn for r in results]
    while waiting:
        node = waiting.pop()
        if node is not None and "AccumulateGrad" not in node.name() and node not in found:
            found[node] = None
            waiting += [n for n, _ in node.next_functions]
    ordered = {n: i for i, n in enumerate(sorted(found, key=lambda n: n._sequence_nr()))}
    return [(n.name(), [(ordered.get(f, f is not None), nr) for f, nr in n.next_functions]) for n in ordered]


@pytest.mark.parametrize("layer", ["LSTMCell", "GRUCell", "RNNCell", "GRU", "RNN"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("wanted", [True, False])
def test_a_recurrent_step(layer, bias, wanted):
    found = []
    for library in (torch, ag):
        x = library.ones((2, 3) if "Cell" in layer else (2, 1, 3), requires_grad=wanted)
        results = getattr(library.nn, layer)(3, 2, bias=bias)(x)
        found.append(nodes_below(results if isinstance(results, tuple) else (results,)))
    assert found[1] == found[0]
