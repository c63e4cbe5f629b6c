"""What hooks of nodes see of gradients that lead nowhere: ``None``, though the input requires grad (a view made in no_grad does)."""

import pytest
from agdbg_tests_differential import same

pytest.importorskip("torch")


def without_grad(view):
    def made(t, w):
        with t.no_grad():
            return view(w)

    return made


VIEWS = {
    "reshape": without_grad(lambda w: w.reshape(-1)),
    "view of a result": without_grad(lambda w: (w * 1).view(6)),
    "row": without_grad(lambda w: w[0]),
    "transpose": without_grad(lambda w: w.t()),
    "piece": without_grad(lambda w: (w * 1).unbind()[0]),
    "element": without_grad(lambda w: w[0, 0]),
    "leaf of its own": without_grad(lambda w: w.view(6).requires_grad_()),
    "view of it": lambda t, w: without_grad(lambda x: x.view(6))(t, w).view(3, 2),
    "recorded": lambda t, w: w.view(6),
}


def product(t):
    class Product(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g, g.sum().reshape(1)

    return Product


USES = {
    "sum": lambda t, v, one: v.sum(),
    "product": lambda t, v, one: v * 2,
    "square": lambda t, v, one: v * v,
    "product with a leaf": lambda t, v, one: v * one,
    "sum with a leaf": lambda t, v, one: v + one,
    "relu": lambda t, v, one: v.relu(),
    "cat": lambda t, v, one: t.cat([v.reshape(-1), one]),
    "stack": lambda t, v, one: t.stack([v, v]),
    "mm": lambda t, v, one: v.reshape(1, -1) @ t.ones(v.numel(), 1),
    "max": lambda t, v, one: v.max(),
    "clone": lambda t, v, one: v.clone(),
    "custom": lambda t, v, one: product(t).apply(v, one),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.filterwarnings("ignore:Using backward")  # of graphs that keep themselves; the test ends at once
def test_a_gradient(view, use, create_graph):
    def both(t):
        w, one, seen = t.ones(2, 3, requires_grad=True), t.ones(1, requires_grad=True), []
        y = USES[use](t, VIEWS[view](t, w), one)
        y.grad_fn.register_hook(lambda found, _: seen.append([None if g is None else g.tolist() for g in found]))
        y.sum().backward(create_graph=create_graph)
        return [seen, *[None if x.grad is None else x.grad.detach() for x in (w, one)]]

    same(both)
