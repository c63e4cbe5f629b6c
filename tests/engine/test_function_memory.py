"""Custom Functions: nothing is kept alive longer than the graph, and nothing needs the garbage collector for it."""

import gc
import sys
import weakref

import pytest
from agdbg_tests_differential import leaf

import agdbg_engine as ag


@pytest.fixture(autouse=True)
def _no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def saving(save):
    """A Function whose ``save(ctx, x, y)`` keeps what it likes of input and output."""

    class F(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            save(ctx, x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return F.apply


SAVES = {
    "nothing": lambda ctx, x, y: None,
    "input": lambda ctx, x, y: ctx.save_for_backward(x),
    "output": lambda ctx, x, y: ctx.save_for_backward(y),
    "all": lambda ctx, x, y: ctx.save_for_backward(y, x, x * 3, None, y),
    "input as attribute": lambda ctx, x, y: setattr(ctx, "x", x),
    "non-differentiable output": lambda ctx, x, y: (ctx.mark_non_differentiable(y), setattr(ctx, "y", y)),
}


def dies(make):
    """Whether the node and output that ``make`` returns are gone as soon as nobody holds them."""
    y = make()
    refs = [weakref.ref(y), *([weakref.ref(y.grad_fn)] if y.grad_fn is not None else [])]
    del y
    return all(ref() is None for ref in refs)


@pytest.mark.parametrize("name", SAVES)
@pytest.mark.parametrize("run", [False, True])
def test_graph_dies_with_its_output(name, run):
    def make():
        y = saving(SAVES[name])(leaf(ag, 1.0, 2.0))
        if run and y.requires_grad:
            y.sum().backward()
        return y

    assert dies(make)


def test_graph_under_hooks_and_strict_dies():
    def make():
        with ag.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            return saving(SAVES["all"])(leaf(ag, 1.0, 2.0))

    assert dies(make)


def test_graph_of_several_outputs_dies():
    class F(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 2, x * 3
            ctx.save_for_backward(b, a)
            return a, b

        @staticmethod
        def backward(ctx, g, h):
            return g + h

    def make():
        a, b = F.apply(leaf(ag, 1.0))
        found = b.grad_fn.saved_tensors
        assert [(t.output_nr, t.item(), t.grad_fn is a.grad_fn) for t in found] == [(1, 3.0, True), (0, 2.0, True)]
        return a

    assert dies(make)


def test_graph_of_a_written_input_dies():
    class F(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

    assert dies(lambda: F.apply(leaf(ag, 1.0) * 1))


def test_output_as_attribute_is_collected():
    """The one cycle that the user can make, ``ctx.y = y``: in PyTorch it leaks, here the collector finds it."""
    y = saving(lambda ctx, x, y: setattr(ctx, "y", y))(leaf(ag, 1.0))
    ref = weakref.ref(y)
    del y
    gc.collect()
    assert ref() is None


def test_saved_tensors_are_released_by_backward():
    refs = []

    def save(ctx, x, y):
        between = x * 3
        refs.append(weakref.ref(between))
        ctx.save_for_backward(between)

    y = saving(save)(leaf(ag, 1.0))
    y.backward(retain_graph=True)
    assert refs[0]() is not None
    y.backward()
    assert refs[0]() is None


def test_inputs_are_not_kept_unasked():
    x = leaf(ag, 1.0) * 1
    ref = weakref.ref(x)
    y = saving(SAVES["nothing"])(x)
    del x
    assert ref() is None
    y.backward()


def test_context_without_graph_dies():
    contexts = []
    with ag.no_grad():
        saving(lambda ctx, x, y: (contexts.append(weakref.ref(ctx)), ctx.save_for_backward(x, y)))(leaf(ag, 1.0))
    assert contexts[0]() is None


def test_long_chain():
    """Built, run and freed without recursion."""
    double = saving(SAVES["nothing"])
    limit = sys.getrecursionlimit()
    x = leaf(ag, 1.0)
    y = x
    sys.setrecursionlimit(len(_frames()) + 60)
    try:
        for _ in range(20_000):
            y = double(y)
            y.detach().zero_().add_(1)
        y.backward()
        del y
    finally:
        sys.setrecursionlimit(limit)
    assert x.grad.item() == float("inf")


def _frames():
    frame, found = sys._getframe(), []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found
