"""Random graphs over the op table: one gradient, found in many ways: backward, twice, forward, differences, and by PyTorch."""

import warnings

import numpy as np
from agdbg_tests_differential import differences, facts
from agdbg_tests_forward_tools import pytorch
from hypothesis import given, settings
from hypothesis import strategies as st

import agdbg_engine as ag

SHAPE = (2, 3)
quick = settings(max_examples=120)

OPS = {
    "add": lambda t, a, b: a + b,
    "sub": lambda t, a, b: a - b,
    "mul": lambda t, a, b: a.tanh() * b,
    "div": lambda t, a, b: a / (b * b + 1),
    "pow": lambda t, a, b: (a * a + 1) ** b.tanh(),
    "power": lambda t, a, b: a.tanh() ** 3,
    "matmul": lambda t, a, b: (a @ b.t()).tanh() @ a,
    "addmm": lambda t, a, b: t.addmm(a, b, b.t() @ a) * 0.1,
    "exp": lambda t, a, b: a.tanh().exp(),
    "log": lambda t, a, b: (a * a + 1).log(),
    "sqrt": lambda t, a, b: (a * a + 0.5).sqrt() * b,
    "trigonometric": lambda t, a, b: a.sin() * b.cos(),
    "sigmoid": lambda t, a, b: a.sigmoid() - b,
    "silu": lambda t, a, b: t.nn.functional.silu(a),
    "softplus": lambda t, a, b: t.nn.functional.softplus(a) * b.tanh(),
    "softmax": lambda t, a, b: a.softmax(1) * b,
    "log_softmax": lambda t, a, b: a.log_softmax(0) * 0.5,
    "logsumexp": lambda t, a, b: a.logsumexp(1, keepdim=True) + b,
    "sum": lambda t, a, b: a.sum(0, keepdim=True) * b.tanh(),
    "mean": lambda t, a, b: a - b.mean(),
    "var": lambda t, a, b: a * b.var(1, keepdim=True).tanh(),
    "norm": lambda t, a, b: a / (b + 2).norm(),  # a - a is not at 0, where the norm has no slope
    "where": lambda t, a, b: t.where(a.detach() > b.detach(), a * 2, b),
    "transposed": lambda t, a, b: a.t().contiguous().view(2, 3) * 0.5,
    "slices": lambda t, a, b: t.cat([a[:, 1:], b[:, :1]], 1),
    "stacked": lambda t, a, b: t.stack([a[0], b[1]]),
    "rows": lambda t, a, b: a[t.tensor([1, 1])] + b,
    "gather": lambda t, a, b: a.gather(1, t.tensor([[2, 0, 0], [1, 1, 2]])) + b,
    "masked": lambda t, a, b: a.masked_fill(b.detach() > 0, 0.5),
    "put": lambda t, a, b: a.index_put((t.tensor([0]), t.tensor([1])), b.sum() * 0.1),
    "expanded": lambda t, a, b: a[:, :1].expand(2, 3) * b.tanh(),
    "permuted": lambda t, a, b: a.unsqueeze(0).permute(1, 2, 0).squeeze(-1) + b,
    "halves": lambda t, a, b: t.cat([b.chunk(2)[1], a.split([1, 1])[0]]),
    "outer": lambda t, a, b: t.outer(a[:, 0], b[0]).tanh(),
    "kron": lambda t, a, b: t.kron(a[:, :1], b[:1]) * 0.5,
    "dot": lambda t, a, b: a * t.dot(a[0], b[1]).tanh(),
    "written": lambda t, a, b: (a * 1).mul_(b.tanh()).sin_(),
    "slice written": lambda t, a, b: written(a * 1, b),
}


def written(y, b):
    y[0].mul_(b[1].tanh())
    y[:, 1] = b[:, 0]
    return y


nodes = st.lists(st.tuples(st.sampled_from(sorted(OPS)), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8)
"""A graph: every node names its op and its operands, among the leaves and the nodes before."""


def leaf_arrays():
    return [np.cos(np.arange(6).reshape(SHAPE) * 1.3 + phase) for phase in (0.4, 1.1)]


def evaluate(t, graph, leaves):
    """The weighted sum of the last node and of those that nobody reads."""
    pool, used = list(leaves), set()
    for name, i, j in graph:
        i, j = i % len(pool), j % len(pool)
        used |= {i, j}
        pool.append(OPS[name](t, pool[i], pool[j]))
    ends = [x for k, x in enumerate(pool) if k not in used]
    weight = t.tensor([[1.0, -0.5, 0.25], [2.0, 0.75, -1.5]], dtype=t.float64)
    return sum((x * weight).sum() for x in ends)


def leaves_of(t):
    return [t.tensor(a, dtype=t.float64, requires_grad=True) for a in leaf_arrays()]


def by_backward(t, graph):
    leaves = leaves_of(t)
    evaluate(t, graph, leaves).backward()
    return [np.zeros(SHAPE) if x.grad is None else x.grad.numpy() for x in leaves]


def by_grad(t, graph, create_graph):
    leaves = leaves_of(t)
    found = t.autograd.grad(evaluate(t, graph, leaves), leaves, create_graph=create_graph, materialize_grads=True)
    return leaves, found


def directions(t):
    return [t.tensor(np.sin(np.arange(6).reshape(SHAPE) + k), dtype=t.float64) for k in (1, 2)]


def by_forward(t, graph):
    """The derivative along the directions."""
    fw = t.autograd.forward_ad
    with fw.dual_level(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        duals = [fw.make_dual(x.detach(), d) for x, d in zip(leaves_of(t), directions(t), strict=True)]
        tangent = fw.unpack_dual(evaluate(t, graph, duals)).tangent
        return 0.0 if tangent is None else tangent.item()


def along(gradients):
    return sum(float((g * d.numpy()).sum()) for g, d in zip(gradients, directions(ag), strict=True))


def second_order(t, graph):
    """The Hessian times the directions, by two reverse passes."""
    leaves, found = by_grad(t, graph, create_graph=True)
    slope = sum((g * d).sum() for g, d in zip(found, directions(t), strict=True))
    if not slope.requires_grad:
        return [np.zeros(SHAPE)] * 2
    return [g.detach().numpy() for g in t.autograd.grad(slope, leaves, materialize_grads=True)]


def moved(graph, step):
    """The loss with the leaves moved along the directions."""
    leaves = [x.detach() + step * d for x, d in zip(leaves_of(ag), directions(ag), strict=True)]
    return evaluate(ag, graph, leaves).item()


def gradients_at(graph, step):
    leaves = [(x.detach() + step * d).requires_grad_() for x, d in zip(leaves_of(ag), directions(ag), strict=True)]
    return [g.numpy() for g in ag.autograd.grad(evaluate(ag, graph, leaves), leaves, materialize_grads=True)]


@quick
@given(nodes)
def test_every_way_gives_the_same_gradient(graph):
    gradients = by_backward(ag, graph)
    _, plain = by_grad(ag, graph, create_graph=False)
    _, recorded = by_grad(ag, graph, create_graph=True)
    for a, b, c in zip(gradients, plain, recorded, strict=True):
        np.testing.assert_array_equal(a, b.numpy())
        np.testing.assert_allclose(a, c.detach().numpy(), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(by_forward(ag, graph), along(gradients), rtol=1e-8, atol=1e-10)


@quick
@given(nodes)
def test_gradients_are_the_slopes(graph):
    slope = (moved(graph, 1e-5) - moved(graph, -1e-5)) / 2e-5
    np.testing.assert_allclose(along(by_backward(ag, graph)), slope, rtol=1e-5, atol=1e-5)


@quick
@given(nodes)
def test_second_derivatives_are_the_slopes_of_the_gradients(graph):
    ahead, behind = gradients_at(graph, 1e-5), gradients_at(graph, -1e-5)
    for h, a, b in zip(second_order(ag, graph), ahead, behind, strict=True):
        np.testing.assert_allclose(h, (a - b) / 2e-5, rtol=1e-4, atol=1e-4)


@quick
@given(nodes)
def test_pytorch_finds_the_same(graph):
    torch = pytorch()

    def seen(t):
        return facts(
            [evaluate(t, graph, leaves_of(t)).item(), [g.tolist() for g in by_backward(t, graph)], by_forward(t, graph)]
        )

    assert not list(differences(rounded(seen(torch)), rounded(seen(ag))))


@quick
@given(nodes)
def test_pytorch_finds_the_same_second_derivatives(graph):
    for ours, theirs in zip(second_order(ag, graph), second_order(pytorch(), graph), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9)


def rounded(tree):
    """Numbers in nested lists as facts that are equal up to rounding."""
    return [rounded(x) for x in tree] if isinstance(tree, list) else facts(tree)
