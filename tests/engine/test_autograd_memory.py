"""Graphs of any size are built, run and freed without recursion and without the garbage collector."""

import contextlib
import gc
import sys
import weakref

import pytest

import agdbg_engine as ag
from agdbg_engine.node import Node

MILLION = 1_000_000


@contextlib.contextmanager
def no_collector():
    """The block runs without the cyclic garbage collector: what dies there dies by its reference count."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextlib.contextmanager
def few_frames(more=40):
    """The block may nest only ``more`` Python calls deeper than here."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + more)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def live_nodes():
    return sum(issubclass(type(o), Node) for o in gc.get_objects())


def test_a_million_ops():
    with no_collector():
        before = live_nodes()
        with few_frames():
            x = ag.ones(1, requires_grad=True)
            y = x
            for _ in range(MILLION):
                y = y * 1
            y.backward()
            assert x.grad.item() == 1.0
            del y
        assert live_nodes() == before


def unary(x):
    return x.sin()


def two_operands(x):
    return x * x + x


def view_of_a_view(x):
    return x.view(1)


def written(x):
    return x.mul_(1.0)


def written_through_a_view(x):
    x[:1].mul_(1.0)
    return x


@pytest.mark.parametrize("op", [unary, two_operands, view_of_a_view, written, written_through_a_view])
@pytest.mark.parametrize("run", [True, False])
def test_deep_graphs_of_every_kind(op, run):
    with no_collector():
        before = live_nodes()
        with few_frames():
            x = ag.zeros(1, requires_grad=True)
            y = x * 1
            for _ in range(20_000):
                y = op(y)
            if run:
                y.backward()
                assert x.grad is not None
            del y
        assert live_nodes() == before


def test_a_deep_double_backward():
    with no_collector():
        before = live_nodes()
        with few_frames():
            x = ag.ones(1, requires_grad=True)
            y = x
            for _ in range(5_000):
                y = y.sin()
            (g,) = ag.autograd.grad(y, x, create_graph=True)
            (h,) = ag.autograd.grad(g, x)
            del y, g, h
        assert live_nodes() == before


# ----- nothing survives a step -----


def plain(x):
    (x * x).exp().sum().backward()


def retained(x):
    y = x * x
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    y.sum().backward()


def views_and_writes(x):
    y = (x * 2).sin()
    v = y.view(2, 1)
    v[0].mul_(3)
    y[1:] = x[:1]
    buffer = ag.zeros(2)
    buffer[0] = y[0]
    (buffer.sum() + v.sum()).backward()


def saved_results(x):
    y = x.sin()
    y.tanh_()
    ag.cat([y.sigmoid(), *y.unbind(0)[0].view(1, 1)]).sum().backward()


def hooked(x):
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda gi, go: None)
    x.register_hook(lambda g: None)
    y.sum().backward()


def second_order(x):
    (g,) = ag.autograd.grad((x**3).sum(), x, create_graph=True)
    ag.autograd.grad(g.sum(), x)


def never_run(x):
    (x * x).exp()


def stepped(x):
    from agdbg_engine.backward import BackwardPass
    from agdbg_engine.sites import caller

    y = (x * x).sum()
    bp = BackwardPass("backward", False, False, *caller())
    bp.start([(y.grad_fn, 0, y.detach()._a)])
    while bp.step():
        pass
    bp.finish(None)


def twice(x):
    y = (x * x).exp().sum()
    y.backward()
    with contextlib.suppress(RuntimeError):
        y.backward()


def written_too_late(x):
    y = x.exp()
    y.mul_(2)
    with contextlib.suppress(RuntimeError):
        y.sum().backward()


def refused(x):
    y = (x * 2).unbind(0)[0]
    for bad in (lambda: y.add_(1), lambda: x.add_(1), lambda: x[0].add_(1), lambda: (x * 2).backward()):
        with contextlib.suppress(RuntimeError):
            bad()


def failing_hook(x):
    def fail(g):
        raise KeyError("mine")

    y = x * 2
    y.register_hook(fail)
    with contextlib.suppress(KeyError):
        y.sum().backward()


def wrong_shapes(x):
    y = (x * 2).exp()
    for bad in (
        lambda: y + ag.ones(3),
        lambda: y.view(5),
        lambda: y.mul_(ag.ones(3, 2)),
        lambda: ag.cat([y, ag.ones(())]),
    ):
        with contextlib.suppress(RuntimeError):
            bad()


STEPS = [
    plain, retained, views_and_writes, saved_results, hooked, second_order, never_run, stepped, twice, written_too_late, refused,
    failing_hook, wrong_shapes,
]  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_everything_of_a_step_is_freed(step):
    kept = _count(step)
    assert kept == (0, 0)


def _count(step):
    """Nodes and tensors that are left over after ``step`` and its leaf are gone."""
    with no_collector():
        nodes, tensors = live_nodes(), _live_tensors()
        x = ag.tensor([0.5, 0.25], requires_grad=True)
        step(x)
        leaf = weakref.ref(x)
        del x
        assert leaf() is None
        return live_nodes() - nodes, _live_tensors() - tensors


def _live_tensors():
    return sum(issubclass(type(o), ag.Tensor) for o in gc.get_objects())


def test_a_leaf_does_not_keep_its_graph():
    x = ag.tensor([1.0], requires_grad=True)
    y = x * 2
    node, accumulator = weakref.ref(y.grad_fn), weakref.ref(y.grad_fn.next_functions[0].node)
    del y
    assert node() is None
    assert accumulator() is None


def test_a_saved_input_is_the_same_object_while_it_lives():
    x = ag.tensor([1.0], requires_grad=True)
    y = x * x
    assert y.grad_fn._saved_self is x


def test_saved_tensors_are_freed_by_backward_and_kept_by_retain_graph():
    x = ag.tensor([1.0], requires_grad=True)
    y = x * 2
    z = y * y
    held = weakref.ref(y)
    del y
    z.backward(retain_graph=True)
    assert held() is not None
    z.backward()
    assert held() is None
    assert z.grad_fn is not None


def test_objects_do_not_pile_up_over_steps():
    def steps(n):
        for _ in range(n):
            x = ag.tensor([0.5, 0.25], requires_grad=True)
            for step in STEPS:
                step(x)

    with no_collector():
        steps(2)
        before = len(gc.get_objects())
        steps(50)
        assert len(gc.get_objects()) - before < 25


def _twice(x):
    y = (x * x).sum()
    y.backward()
    return y


def _written(x):
    y = x.exp()
    y.add_(1)
    return y.sum()


def _other_shape(x):
    w = ag.ones(3, requires_grad=True)
    y = (w * x).sum()
    w.data = ag.ones(4)
    return y


def _in_a_hook(x):
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    return y.sum()


@pytest.mark.parametrize("broken", [_twice, _written, _other_shape, _in_a_hook, lambda x: x * 2])
def test_an_error_of_a_pass_keeps_nothing_once_it_is_handled(broken):
    def failing():
        x = ag.ones(3, requires_grad=True)
        with pytest.raises((RuntimeError, ZeroDivisionError)):
            broken(x).backward()
        return weakref.ref(x)

    with no_collector():
        assert failing()() is None


REFUSED = {
    "mm": lambda x: ag.nn.functional.linear(x, ag.ones(4, 7)),
    "addmm": lambda x: ag.addmm(ag.ones(5), ag.ones(1, 3), x.reshape(3, 1)),
    "expand": lambda x: x.expand(7),
    "broadcast": lambda x: x.masked_select(ag.ones(7, dtype=ag.bool)),
    "setitem": lambda x: x.clone().__setitem__(slice(2), x),
    "number": lambda x: ag.full((2,), 2**64, dtype=ag.int64),
}


@pytest.mark.parametrize("op", REFUSED)
def test_an_error_of_an_op_keeps_nothing_once_it_is_handled(op):
    def failing():
        x = ag.ones(3, requires_grad=True)
        with pytest.raises((RuntimeError, OverflowError)):
            REFUSED[op](x)
        return weakref.ref(x)

    with no_collector():
        assert failing()() is None
