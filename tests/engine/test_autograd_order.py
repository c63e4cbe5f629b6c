"""The order in which nodes run, AccumulateGrad included, and graphs of every shape: as PyTorch has it."""

import pytest
from agdbg_tests_differential import Programs, graph_of, leaf, running_order, same

torch = pytest.importorskip("torch")
programs = Programs()


def leaves(t, n):
    return [leaf(t, float(i + 1)) for i in range(n)]


def ordered(t, *roots, gradients=None):
    """The order of the nodes below ``roots`` in one backward call."""
    log = running_order(*roots)
    t.autograd.backward(roots, gradients)
    return log


@programs
def a_chain(t):
    x = leaf(t, 0.5)
    y = x
    for op in ("exp", "sin", "tanh", "sqrt", "neg"):
        y = getattr(y, op)()
    return [graph_of(y), ordered(t, y), x.grad]


@programs
def a_diamond(t):
    x = leaf(t, 0.5)
    a = x * 2
    b = a.exp()
    c = a.sin()
    return [ordered(t, (c * b).sum()), x.grad]


@programs
def the_latest_node_runs_first(t):
    x, y = leaves(t, 2)
    late_used_first = y.exp()
    early = x.exp()
    return ordered(t, (late_used_first * early.sin() + early * late_used_first.cos()).sum())


@programs
def a_leaf_runs_as_soon_as_it_is_ready(t):
    x, w, v = leaves(t, 3)
    a = x * w
    b = a * v
    c = b * w
    return ordered(t, c)


@programs
def a_leaf_used_early_and_late(t):
    x, w = leaves(t, 2)
    y = x
    for _ in range(4):
        y = (y * w).tanh()
    return [ordered(t, y), w.grad]


@programs
def a_leaf_used_twice_by_one_node(t):
    (x,) = leaves(t, 1)
    return [ordered(t, x * x), x.grad]


@programs
def a_recurrent_network(t):
    h, w = leaf(t, 0.1, 0.2).view(1, 2), t.ones(2, 2, dtype=t.float64, requires_grad=True)
    u = leaf(t, 0.3, 0.4)
    for _ in range(3):
        h = ((h @ w) + u).tanh() * 0.5
    return [ordered(t, h.sum()), w.grad, u.grad]


@programs
def two_layers(t):
    x, w1, w2 = t.ones(2, 3), t.ones(3, 4, requires_grad=True), t.ones(4, 1, requires_grad=True)
    b1, b2 = t.ones(4, requires_grad=True), t.ones(1, requires_grad=True)
    return ordered(t, (((x @ w1) + b1).relu() @ w2 + b2).mean())


@programs
def several_roots(t):
    x, w = leaves(t, 2)
    a, b = x.exp(), w.sin()
    return ordered(t, a * b, b.cos(), a.tanh())


@programs
def leaves_among_the_roots(t):
    x, w, v = leaves(t, 3)
    y = x * w
    out = y * v
    log = running_order(out)
    t.autograd.backward([x, out, w, v])
    return [log, x.grad, w.grad, v.grad]


@programs
def nodes_made_under_create_graph_come_first(t):
    (x,) = leaves(t, 1)
    y = x.exp()
    (g,) = t.autograd.grad(y * 2, x, create_graph=True)
    return ordered(t, g.exp() * y.sin())


@programs
def a_view_that_was_written(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    v = y[0]
    v.mul_(3)
    w = x.exp()
    return ordered(t, (v * w).sum())


@programs
def a_view_of_a_written_base(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    v = y[0]
    y.mul_(3)
    w = x.exp()
    return ordered(t, (v * w).sum())


@programs
def chained_views_of_a_written_base(t):
    x = leaf(t, 1.0, 2.0, 3.0, 4.0)
    y = x * 2
    m = y.view(2, 2)
    row = m[0]
    row.add_(1)
    return ordered(t, (m.t() * row).sum() + y.sum())


@programs
def undefined_gradients_still_run(t):
    x, w = leaves(t, 2)
    a, b = x.exp(), w.sin()
    c = a * b
    log = running_order(c)
    c.grad_fn.register_hook(lambda gi, go: (None, gi[1]))
    c.backward()
    return [log, x.grad, w.grad]


@programs
def many_outputs(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    a, b, c = (x * 2).unbind(0)
    return [ordered(t, a.exp() * c), graph_of(b), x.grad]


@programs
def iteration(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    total = 0
    for row in x * 2:
        total = total + row * row
    return [graph_of(total), ordered(t, total), x.grad]


@programs
def unbind_along_another_dimension(t):
    x = t.arange(6, dtype=t.float64).view(2, 3).requires_grad_()
    a, b, c = x.unbind(1)
    return [[a, b, c], graph_of(a), ordered(t, (a * b).sum()), x.grad]


@programs
def unbind_of_everything_and_nothing(t):
    x = leaf(t, 1.0, 2.0)
    a, b = (x * 1).unbind(0)
    return [t.autograd.grad(a + b, x), t.ones(0, 2).unbind(0), t.ones(2, 0, requires_grad=True).unbind(1)]


@programs
def concatenation(t):
    x, y, c = leaf(t, 1.0, 2.0), leaf(t, 3.0), t.ones(2, dtype=t.float64)
    z = t.cat([x, c, y, x * 2])
    return [z, graph_of(z), ordered(t, (z * z).sum()), x.grad, y.grad]


@programs
def concatenation_along_a_dimension(t):
    x, y = t.ones(2, 1, requires_grad=True), t.ones(2, 3, requires_grad=True)
    z = t.cat([x, y], -1)
    (z * t.arange(8).view(2, 4)).sum().backward()
    return [z, x.grad, y.grad]


@programs
def stacking(t):
    x, y = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
    seen = []
    for dim in (0, 1, -1):
        z = t.stack([x, y, x], dim)
        (z * t.arange(6).view(z.shape)).sum().backward()
        seen.append([z.detach(), x.grad.clone(), y.grad.clone()])
    return seen


@programs
def fifty_branches(t):
    x = leaf(t, 0.5, 0.25)
    total = x.exp()
    for i in range(50):
        total = total + (x * i).sin()
    return [ordered(t, total.sum()), x.grad]


@programs
def a_sum_of_many_branches_in_one_node(t):
    x = leaf(t, 0.5)
    return [ordered(t, t.cat([x * i for i in range(20)]).sum()), x.grad]


@programs
def a_ladder(t):
    a, b = leaves(t, 2)
    for _ in range(6):
        a, b = a * b, a + b
    return ordered(t, a * b)


def tied(n, make):
    """A program in which ``n`` leaves become ready in one node, while other nodes may be waiting."""

    def program(t):
        xs = leaves(t, n)
        return ordered(t, make(t, xs))

    program.__name__ = f"{n}_leaves"
    return program


def waiting_beside(t, xs):
    """Five nodes wait in the queue when the leaves get ready, and one of them then makes two more ready."""
    others = [leaf(t, float(i)).exp() for i in range(5)]
    pair = t.cat(leaves(t, 2))
    both = t.cat([t.cat(xs), pair, *others])
    return both.sum()


def leaves_in_between(t, xs):
    """Leaves and computed values take turns in one node."""
    return t.cat([x if i % 2 else x.exp() for i, x in enumerate(xs)]).sum()


COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 40)


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("make", [lambda t, xs: t.cat(xs).sum(), waiting_beside, leaves_in_between])
def test_leaves_that_get_ready_at_once(n, make):
    same(tied(n, make))


@pytest.mark.parametrize("n", COUNTS)
def test_some_of_the_leaves_are_wanted(n):
    def program(t):
        xs, others = leaves(t, n), leaves(t, 5)
        out = t.cat([x for pair in zip(others, xs[:5], strict=False) for x in pair] + xs[5:]).exp().sum()
        log = running_order(out)
        out.backward(inputs=xs, retain_graph=True)
        log.append("grad")
        gs = t.autograd.grad(out, xs)
        return [log, [g.item() for g in gs], [x.grad for x in xs + others]]

    same(program)


@pytest.mark.parametrize("n", COUNTS)
def test_leaves_as_roots(n):
    def program(t):
        xs = leaves(t, n)
        out = t.cat(xs)
        log = running_order(out)
        t.autograd.backward(xs)
        return log

    same(program)


def test_a_bias_a_matrix_and_an_input_get_ready_at_once():
    def program(t):
        bias, a, b = t.ones(2, requires_grad=True), t.ones(2, 2, requires_grad=True), t.ones(2, 2, requires_grad=True)
        out = t.addmm(bias, a, b) if t is torch else t.ops.addmm(bias, a, b)
        return ordered(t, out.sum())

    same(program)


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
