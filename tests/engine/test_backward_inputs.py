"""What `backward` and `grad` take: gradient edges, dicts, batches of gradients, and every error; the same as PyTorch."""

import collections

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, logged_warnings, running_order, same, unnamed

import agdbg_engine as ag

pytest.importorskip("torch")
programs = Programs()


def edge_of(t, x):
    return t.autograd.graph.get_gradient_edge(x)


def square(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 3
    return x, y, (y * y).sum()


# ----- gradient edges -----


@programs
def edges_as_inputs(t):
    x, y, z = square(t)
    return t.autograd.grad(z, [edge_of(t, y), edge_of(t, x), y])


@programs
def edge_as_root(t):
    x, y, z = square(t)
    return [
        t.autograd.grad(edge_of(t, z), x, retain_graph=True),
        t.autograd.grad(edge_of(t, y), x, t.ones(2, dtype=t.float64), retain_graph=True),
        t.autograd.grad([edge_of(t, z), y], x, [None, t.ones(2, dtype=t.float64)]),
    ]


@programs
def edge_of_a_leaf_as_root(t):
    x = leaf(t, 3.0)
    t.autograd.backward(edge_of(t, x))
    return [t.autograd.grad(edge_of(t, x), x), x.grad]


@programs
def edge_to_one_output_of_many(t):
    x = leaf(t, 2.0, 3.0, 4.0)
    rows = (x * x).unbind(0)
    at = edge_of(t, rows[2])
    return [at.output_nr, at.node, t.autograd.grad(rows[0] * rows[2], [at, x])]


@programs
def edge_made_by_hand(t):
    _, _, z = square(t)
    node, nr = z.grad_fn.next_functions[0]
    edge = t.autograd.graph.GradientEdge(node, nr)
    return [edge.ownership_token, t.autograd.grad(z, edge)[0].clone()]


@programs
def backward_from_and_into_edges(t):
    x, y, z = square(t)
    t.autograd.backward(edge_of(t, z), inputs=edge_of(t, x), retain_graph=True)
    first = x.grad.clone()
    z.backward(inputs=[edge_of(t, y)])
    return [first, x.grad, y.retains_grad]


@programs
def edge_errors(t):
    x, y, z = square(t)
    bad = t.autograd.graph.GradientEdge(3, 0)
    return [
        error_of(edge_of, t, t.ones(2)),
        error_of(t.autograd.grad, edge_of(t, y), x),
        error_of(t.autograd.grad, edge_of(t, y), x, t.ones(3, dtype=t.float64)),
        error_of(t.autograd.grad, z, bad),
        error_of(t.autograd.grad, bad, x),
        error_of(t.autograd.grad, z, [edge_of(t, leaf(t, 1.0))], materialize_grads=True, retain_graph=True),
        error_of(t.autograd.grad, z, [edge_of(t, leaf(t, 1.0))]),
    ]


@programs
def an_edge_keeps_the_graph_alive(t):
    x = leaf(t, 2.0)
    at = edge_of(t, (x * x).exp())
    return t.autograd.grad(at, x)


@programs
def create_graph_through_an_edge(t):
    x, _, z = square(t)
    (g,) = t.autograd.grad(edge_of(t, z), edge_of(t, x), create_graph=True)
    return [unnamed(g), t.autograd.grad(g.sum(), x)]


# ----- arguments -----


@programs
def dicts_of_inputs(t):
    x, y, z = square(t)
    found = t.autograd.grad(z, {"x": x, "y": y}, retain_graph=True)
    z.backward(inputs={"anything": x})
    return [found, x.grad]


@programs
def other_mappings_are_refused(t):
    x, _, z = square(t)
    inputs = collections.OrderedDict(x=x)
    return [error_of(t.autograd.grad, z, inputs), error_of(z.backward, inputs=inputs), error_of(z.backward, inputs={})]


@programs
def arguments_of_wrong_types(t):
    x, _, z = square(t)
    return [
        error_of(t.autograd.grad, 3, x),
        error_of(t.autograd.grad, [3], x),
        error_of(t.autograd.grad, [None], x),
        error_of(t.autograd.grad, z, 3),
        error_of(t.autograd.grad, z, [3]),
        error_of(t.autograd.grad, z, [None]),
        error_of(t.autograd.grad, z, x, 3),
        error_of(t.autograd.grad, z, x, [3]),
        error_of(t.autograd.grad, [], x),
        error_of(t.autograd.backward, 3),
        error_of(t.autograd.backward, [3]),
        error_of(t.autograd.backward, []),
        error_of(z.backward, inputs=3),
        error_of(z.backward, inputs=[3]),
    ]


@programs
def numbers_of_gradients_that_differ(t):
    x, y, z = square(t)
    one = t.ones((), dtype=t.float64)
    return [
        error_of(t.autograd.grad, [z, z], x, [None]),
        error_of(t.autograd.grad, z, x, [None, None], retain_graph=True),
        error_of(t.autograd.grad, [y, z], x, [None]),
        error_of(t.autograd.backward, z, []),
        error_of(t.autograd.backward, [z, z], [one]),
    ]


@programs
def which_root_needs_no_gradient(t):
    x, _, z = square(t)
    plain = t.ones(1)
    return [error_of(t.autograd.grad, [plain, z], x), error_of(t.autograd.backward, [z, plain])]


@programs
def gradients_of_other_dtypes(t):
    x, _, z = square(t)
    return [
        error_of(t.autograd.grad, z, x, t.tensor(1j)),
        t.autograd.grad(z, x, t.tensor(2), retain_graph=True),
        t.autograd.grad(z, x, t.tensor(2.0, dtype=t.float32), retain_graph=True),
        t.autograd.grad(z, x, t.tensor(True)),
    ]


@programs
def old_arguments(t):
    x, _, z = square(t)
    with logged_warnings() as said:
        t.autograd.backward(z, grad_variables=t.ones((), dtype=t.float64), retain_graph=True)
        found = t.autograd.grad(z, x, only_inputs=False, retain_graph=True)
        both = error_of(t.autograd.backward, z, t.ones(()), grad_variables=t.ones(()))
    return [x.grad, found, both, said]


# ----- batches -----


def vectors(t):
    return t.tensor([[1.0, 1.0], [2.0, 0.5], [0.0, 0.0]], dtype=t.float64)


@programs
def batched_gradients(t):
    x, y, z = square(t)
    return [
        t.autograd.grad(y, x, vectors(t), is_grads_batched=True, retain_graph=True),
        t.autograd.grad([z, y], [x, y], [t.ones(3, dtype=t.float64), vectors(t)], is_grads_batched=True),
    ]


@programs
def batched_gradients_free_the_graph(t):
    x, y, _ = square(t)
    z = y * y
    found = t.autograd.grad(z, x, vectors(t), is_grads_batched=True)
    return [found, error_of(t.autograd.grad, z, x, vectors(t), is_grads_batched=True)]


@programs
def batched_gradients_of_unused_inputs(t):
    x, y, _ = square(t)
    other = leaf(t, 1.0, 2.0, 3.0)
    return [
        t.autograd.grad(y, [x, other], vectors(t), is_grads_batched=True, retain_graph=True, allow_unused=True),
        t.autograd.grad(y, {"k": other}, vectors(t), is_grads_batched=True, retain_graph=True, materialize_grads=True),
        error_of(t.autograd.grad, y, [x, other], vectors(t), is_grads_batched=True),
    ]


@programs
def batched_gradients_with_create_graph(t):
    x, y, _ = square(t)
    (g,) = t.autograd.grad(y * y, x, vectors(t), is_grads_batched=True, create_graph=True)
    return [g.detach(), g.requires_grad, t.autograd.grad(g.sum(), x)]


@programs
def batched_gradients_that_do_not_fit(t):
    x, y, z = square(t)

    def batched(outputs, gradients=None):
        return error_of(t.autograd.grad, outputs, x, gradients, is_grads_batched=True, retain_graph=True)

    return [
        batched(y, t.ones(3, 3)),
        batched(y, t.ones(2)),
        batched(z, t.ones(())),
        batched(y, t.ones(0, 2)),
        batched(z),
        batched([z, y], [None, vectors(t)]),
        batched([z, y], [t.ones(4, dtype=t.float64), vectors(t)]),
        batched(edge_of(t, y), t.ones(3, 3)),
    ]


@programs
def inputs_below_inputs_with_hooks(t):
    x, y, z = square(t)
    log = running_order(z)
    z.backward(inputs=[y, edge_of(t, x)])
    return [log, x.grad, y.grad]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def test_the_cycle_that_create_graph_makes_is_told_once(monkeypatch):
    import torch

    from agdbg_engine import autograd

    monkeypatch.setattr(autograd, "_told", set())
    torch.set_warn_always(True)
    try:
        said = []
        for t in (torch, ag):
            x = leaf(t, 2.0)
            with logged_warnings() as log:
                for _ in range(1 if t is torch else 3):
                    (x * x).sum().backward(create_graph=True)
                t.autograd.grad((x * x).sum(), x, create_graph=True)
            x.grad = None
            said.append([w.partition(" (Triggered")[0] for w in log])
    finally:
        torch.set_warn_always(False)
    assert len(said[0]) == 1
    assert said[0] == said[1]


def test_an_edge_made_by_hand_has_no_shape_to_make_a_gradient_of():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    at = ag.autograd.graph.GradientEdge((x * 3).grad_fn, 0)
    with pytest.raises(RuntimeError, match=r"scalar outputs\n.*get_gradient_edge"):
        ag.autograd.grad(at, x)
    assert ag.autograd.grad(at, x, ag.ones(2))[0].tolist() == [3, 3]
    with pytest.raises(IndexError, match="no output 5"):
        ag.autograd.grad(x.sum(), ag.autograd.graph.GradientEdge(at.node, 5))


def test_batches_run_the_graph_once_for_each_vector():
    """Documented difference: PyTorch vectorises, so its hooks see one gradient with a hidden dimension."""
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y, seen = x * 3, []
    y.register_hook(lambda g: seen.append(g.tolist()))
    ag.autograd.grad(y, x, ag.tensor([[1.0, 2.0], [3.0, 4.0]]), is_grads_batched=True)
    assert seen == [[1, 2], [3, 4]]


class Spy:
    """A gradient formula that tells when it is computed."""

    def __init__(self, formula, place, calls):
        self.formula, self.names, self.place, self.calls = formula, formula.names, place, calls

    def __call__(self, *args):
        self.calls.append(self.place)
        return self.formula(*args)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("wanted", [(0,), (1,), (2, 0)])
@pytest.mark.parametrize("through", ["grad", "backward"])
def test_only_gradients_that_are_asked_for_are_computed(monkeypatch, create_graph, wanted, through):
    leaves = [ag.randn(*shape, requires_grad=True) for shape in ((1, 2, 4, 4), (3, 2, 2, 2), (3,))]
    y = ag.nn.functional.conv2d(*leaves)
    calls = []
    kind = type(y.grad_fn)
    monkeypatch.setattr(kind, "formulas", tuple(Spy(f, i, calls) for i, f in enumerate(kind.formulas)))
    inputs = [leaves[i] for i in wanted]
    if through == "grad":
        ag.autograd.grad(y.sum(), inputs, create_graph=create_graph)
    else:
        y.sum().backward(inputs=inputs, create_graph=create_graph)
    assert calls == sorted(wanted)


@pytest.mark.parametrize("name", ["torch", "agdbg_engine"])
def test_what_only_another_gradient_reads_must_be_unchanged_all_the_same(name):
    t = pytest.importorskip(name, reason="PyTorch is the yardstick, and may be missing")
    x, weight = (t.ones(1, 1, 3, 3) * 2 for _ in range(2))
    x, weight = x.requires_grad_(), weight.requires_grad_()
    moved = x * 1
    y = t.nn.functional.conv2d(moved, weight)
    moved.data.zero_()
    t.autograd.grad(y.sum(), x, retain_graph=True)  # a write through .data is not seen
    with t.no_grad():
        moved.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        t.autograd.grad(y.sum(), x)
