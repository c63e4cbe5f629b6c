"""Many threads at once, switched as often as possible: each finds what it finds alone, and no mode leaks into another."""

import sys
import threading

import numpy as np
import pytest
from agdbg_tests_together import together

import agdbg_engine as ag
from agdbg_engine import backward as engine
from agdbg_engine import events
from agdbg_engine.autograd import graph
from agdbg_engine.utils import checkpoint

fw = ag.autograd.forward_ad


@pytest.fixture(autouse=True)
def _switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def leaf():
    return ag.tensor([0.5, -1.0, 2.0], dtype=ag.float64, requires_grad=True)


class Cube(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        return 3 * ctx.saved_tensors[0] ** 2 * g


def plain():
    x = leaf()
    (x.sin() * x).sum().backward()
    return x.grad


def custom_function():
    x = leaf()
    Cube.apply(x * 2).sum().backward()
    return x.grad


def views_and_writes():
    x = leaf()
    y = x * 2
    y[:2].mul_(x[1:])
    y[0] = 5.0
    (y * y).sum().backward()
    return x.grad


def hooks():
    x, seen = leaf(), []
    y = x * 3
    y.register_hook(lambda g: g * 2)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    y.sum().backward()
    return seen[0]


def packed():
    x = leaf()
    with graph.saved_tensors_hooks(lambda s: s * 2, lambda s: s):
        y = x.sin()
    y.sum().backward()
    return x.grad


def second_order():
    x = leaf()
    (g,) = ag.autograd.grad((x**3).sum(), x, create_graph=True)
    return ag.autograd.grad((g * g).sum(), x)[0]


def forward_mode():
    """For one thread at a time: as in PyTorch, the public level is open in all of them."""
    with fw.dual_level():
        return fw.unpack_dual(fw.make_dual(leaf().detach(), leaf().detach()).sin().exp()).tangent.clone()


def checkpointed():
    x = leaf()
    checkpoint.checkpoint(lambda a: a.sin() * a, x, use_reentrant=False).sum().backward()
    return x.grad


def reentrant():
    x = leaf()
    checkpoint.checkpoint(lambda a: a.sin() * a, x, use_reentrant=True).sum().backward()
    return x.grad


def transform():
    return ag.func.grad(lambda a: ag.func.grad(lambda b: (b**3).sum())(a).sum())(leaf().detach())


def without_grad():
    x = leaf()
    with ag.no_grad():
        y = x * 2
        assert not y.requires_grad
    with ag.inference_mode():
        z = x * 3
        assert z.is_inference()
    return (x * 4).detach() if (x * 4).requires_grad else None


PROGRAMS = [
    plain, custom_function, views_and_writes, hooks, packed, second_order, forward_mode, checkpointed, reentrant, transform,
    without_grad,
]  # fmt: skip


def repeating(program, expected, rounds=15):
    def body():
        for _ in range(rounds):
            np.testing.assert_array_equal(program().numpy(), expected)

    return body


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p is not forward_mode])
def test_four_times_at_once(program):
    expected = program().numpy()
    together(*[repeating(program, expected)] * 4)


def test_everything_at_once():
    """Every mode is in use in some thread while the others rely on its not being in theirs."""
    special = events.special
    together(*(repeating(p, p().numpy()) for p in PROGRAMS))
    assert (engine.current.bp, ag.is_grad_enabled(), ag.is_inference_mode_enabled()) == (None, True, False)
    assert events.special == special


def test_one_graph_with_hooks_is_run_by_many_threads():
    x, calls = leaf(), []
    y = Cube.apply(x.sin())
    y.register_hook(lambda g: calls.append(1))
    loss = y.sum()
    (once,) = ag.autograd.grad(loss, x, retain_graph=True)
    x.grad, calls[:] = None, []
    together(*[lambda: [loss.backward(retain_graph=True) for _ in range(20)]] * 4)
    np.testing.assert_allclose(x.grad.numpy(), 80 * once.numpy(), rtol=1e-12)
    assert len(calls) == 80


def test_hooks_come_and_go_while_other_threads_run_the_graph():
    x = leaf()
    loss = x.sin().sum()
    (once,) = ag.autograd.grad(loss, x, retain_graph=True)

    def coming_and_going():
        for _ in range(100):
            x.register_hook(lambda g: None).remove()

    together(coming_and_going, *[lambda: [loss.backward(retain_graph=True) for _ in range(30)]] * 2)
    np.testing.assert_allclose(x.grad.numpy(), 60 * once.numpy(), rtol=1e-12)
    assert not x._backward_hooks


def test_threads_started_by_a_hook_run_passes_of_their_own():
    x, w = leaf(), leaf()
    y = x * 2

    def hook(g):
        together(*[lambda: (w * w).sum().backward()] * 3)

    y.register_hook(hook)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert w.grad.tolist() == [3.0, -6.0, 12.0]


def test_a_pass_that_raises_does_not_disturb_the_others():
    expected = plain().numpy()

    def failing():
        for _ in range(20):
            y = leaf() * 2
            y.register_hook(lambda g: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                y.sum().backward()

    together(failing, failing, *[repeating(plain, expected, 30)] * 2)


def test_an_instrument_hears_every_node_of_every_thread():
    class Counting(events.Sink):
        born, ran = 0, 0
        lock = threading.Lock()

        def node_born(self, node, out):
            with self.lock:
                self.born += 1

        def node_ran(self, *args):
            with self.lock:
                self.ran += 1

    sink = Counting()
    events.install(sink)
    try:
        together(*[lambda: [plain() for _ in range(25)]] * 4)
    finally:
        events.remove()
    assert (sink.born, sink.ran) == (400, 400)
