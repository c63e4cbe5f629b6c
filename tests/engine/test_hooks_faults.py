"""What hooks and anomaly mode see of gradients that lead nowhere, and of what numbers among the operands leave. As in PyTorch."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

pytest.importorskip("torch")
programs = Programs()


def shown(gradients):
    """The gradients that a hook got."""
    return [None if g is None else [list(g.shape), g.tolist()] for g in gradients]


def watched(y):
    """A list of what the hooks after the node of ``y`` get."""
    seen = []
    y.grad_fn.register_hook(lambda *both: seen.append([shown(gs) for gs in both]))
    return seen


def product(t, factor=3.0):
    """A custom Function of two tensors; the gradient of the second is multiplied by ``factor``."""

    class D(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            return g * 2, g * factor

    return D.apply


def pair(t):
    return leaf(t, 1.0, 2.0), leaf(t, 3.0, 5.0)


WAYS = {
    "grad": lambda t, y, a: t.autograd.grad(y.sum(), a),
    "backward": lambda t, y, a: t.autograd.backward(y.sum(), inputs=[a]),
    "create_graph": lambda t, y, a: t.autograd.grad(y.sum(), a, create_graph=True),
    "all": lambda t, y, a: y.sum().backward(),
}


def family(name, table):
    """One program for every entry of ``table``, which the decorated function takes as its second argument."""

    def add(build):
        for key, value in table.items():
            program = lambda t, value=value: build(t, value)
            program.__name__ = f"{name}_{key}"
            programs(program)
        return build

    return add


@family("a_function_gives_all_gradients_of_a_pass_for", WAYS)
def function_gives_all(t, way):
    a, b = pair(t)
    y = product(t)(a, b)
    seen = watched(y)
    way(t, y, a)
    return seen


@family("nan_of_a_gradient_nobody_wants_is_found_by", WAYS)
def nan_nobody_wants(t, way):
    with t.autograd.detect_anomaly():
        a, b = pair(t)
        return error_of(way, t, product(t, float("nan"))(a, b), a)


@family("hooks_of_a_module_see_all_gradients_of", WAYS)
def module_sees_all(t, way):
    class M(t.nn.Module):
        def forward(self, a, b):
            return a * b

    seen, m = [], M()
    m.register_full_backward_hook(lambda _, *both: seen.append([shown(gs) for gs in both]))
    a, b = pair(t)
    way(t, m(a, b), a)
    return seen


@programs
def the_only_input_is_the_output_of_a_function(t):
    a, b = pair(t)
    y = product(t)(a, b)
    seen = watched(y)
    t.autograd.backward(y.sum(), inputs=[y])
    return [seen, a.grad, y.grad]


@programs
def the_only_input_is_the_output_of_an_op(t):
    a, b = pair(t)
    y = a * b
    seen = watched(y)
    t.autograd.backward(y.sum(), inputs=[y])
    return [seen, a.grad, y.grad]


@family("joined_tensors_all_get_a_gradient_by", WAYS)
def joined(t, way):
    found = []
    for join in (t.cat, t.stack):
        a, b = pair(t)
        y = join([a, t.zeros(2, dtype=t.float64), b])
        seen = watched(y)
        way(t, y, a)
        found.append([seen, b.grad])
    return found


@programs
def nan_for_what_needs_no_gradient(t):
    with t.autograd.detect_anomaly():
        a, _ = pair(t)
        y = t.cat([a, t.zeros(1, dtype=t.float64)])
        return error_of(y.backward, t.tensor([1.0, 1.0, float("nan")], dtype=t.float64))


@programs
def an_empty_piece_without_dimensions_beside_a_matrix(t):
    found = []
    for wanted in (True, False):
        empty, m = t.zeros(0, requires_grad=wanted), t.ones(2, 3, requires_grad=True)
        y = t.cat([empty, m], 1)
        seen = watched(y)
        y.sum().backward(retain_graph=True)
        found.append([seen, empty.grad, m.grad])
        (second,) = t.autograd.grad((y * y).sum(), m, create_graph=True)
        found.append(second.detach())
    return found


SCALARS = {
    "mul_": lambda t, v: v.mul_(2),
    "mul_of_a_tensor": lambda t, v: v.mul_(t.tensor(2.0)),
    "imul": lambda t, v: v.__imul__(2),
    "add_": lambda t, v: v.add_(2),
    "sub_": lambda t, v: v.sub_(2),
    "isub": lambda t, v: v.__isub__(2),
    "div_": lambda t, v: v.div_(2),
    "pow_": lambda t, v: v.pow_(2),
    "clamp_": lambda t, v: v.clamp_(0, 2.5),
    "masked_fill_": lambda t, v: v.masked_fill_(t.tensor([True, False]), 2.0),
    "fill_": lambda t, v: v.fill_(2),
    "zero_": lambda t, v: v.zero_(),
    "setitem_of_some": lambda t, v: v.__setitem__(t.tensor([0]), 2.0),
}


@family("a_number_leaves_an_edge_to_nothing_when_written_through_a_view_by", SCALARS)
def number_through_a_view(t, write):
    z = leaf(t, 1.0, 2.0, 3.0, 4.0) * 1
    write(t, z[1:3])
    edges = [None if n is None else n.name() for n, _ in z.grad_fn.next_functions]
    seen = watched(z)
    z.sum().backward()
    return [z.grad_fn.name(), edges, seen]


@programs
def a_hook_replaces_gradients_behind_a_written_view(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    z = x * 1
    z[1:].mul_(2)
    z.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, None))
    z.sum().backward(retain_graph=True)
    return [x.grad, [g if g is None else g.tolist() for g in z.grad_fn(t.ones(3, dtype=t.float64))]]


@pytest.mark.parametrize("program", programs)
def test_program(program):
    same(program)
