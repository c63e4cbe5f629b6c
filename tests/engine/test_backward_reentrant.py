"""Backward inside of backward, at any depth, in several threads, and after an interruption."""

import contextvars
import itertools
import signal
import sys
import threading

import numpy as np
import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

import agdbg_engine as ag
from agdbg_engine.current import current
from agdbg_engine.reentrant import stack_is_deep

pytest.importorskip("torch")
programs = Programs()


def nest(t, levels, at_the_end=lambda: None):
    """Backward calls inside of hooks, ``levels`` of them; returns the leaf and the threads that were used."""
    x, threads = leaf(t, 1.0), set()
    left = itertools.count(levels - 1, -1).__next__

    def hook(g):
        threads.add(threading.get_ident())
        if left():
            with t.enable_grad():
                y = x * 1
                y.register_hook(hook)
            y.backward()
        else:
            at_the_end()

    y = x * 1
    y.register_hook(hook)
    y.backward()
    return x, threads


@programs
def nested_once(t):
    return nest(t, 2)[0].grad


@programs
def nested_a_thousand_deep(t):
    x, threads = nest(t, 1000)
    return [x.grad, len(threads) > 1]


@programs
def an_error_from_a_nested_pass(t):
    return error_of(nest, t, 20, lambda: 1 // 0)


@programs
def gradient_mode_in_the_deep(t):
    seen = []
    with t.no_grad():
        nest_in_no_grad = leaf(t, 1.0)
    nest(t, 200, lambda: seen.append((t.is_grad_enabled(), nest_in_no_grad.requires_grad)))
    return seen


@programs
def grad_inside_of_backward(t):
    x = leaf(t, 2.0)
    with t.enable_grad():
        inner = x * x * x
    y = x * 1
    y.register_hook(lambda g: g * t.autograd.grad(inner, x, create_graph=True)[0].detach())
    y.backward()
    return x.grad


@programs
def a_nested_pass_over_the_same_graph(t):
    x = leaf(t, 2.0)
    shared = x.exp()
    y = shared * 3
    y.register_hook(lambda g: shared.backward(retain_graph=True))
    y.backward()
    return x.grad


@programs
def a_nested_pass_frees_what_the_outer_needs(t):
    x = leaf(t, 2.0)
    shared = x.exp()
    y = shared * 3
    y.register_hook(lambda g: shared.backward())
    return [error_of(y.backward), x.grad]


@programs
def create_graph_does_not_leak_into_a_nested_pass(t):
    x, log = leaf(t, 2.0), []

    def hook(g):
        with t.enable_grad():
            y = x * x
        y.register_hook(lambda g: log.append(t.is_grad_enabled()))
        y.backward()
        log.append(t.is_grad_enabled())

    y = x * 2
    y.register_hook(hook)
    t.autograd.grad(y, x, create_graph=True)
    return log


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


@pytest.fixture
def _a_low_limit():
    before = sys.getrecursionlimit()
    frames = sum(1 for _ in iter_frames())
    sys.setrecursionlimit(frames + 150)
    yield
    sys.setrecursionlimit(before)


def iter_frames():
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


@pytest.mark.usefixtures("_a_low_limit")
def test_a_low_recursion_limit_is_respected():
    assert nest(ag, 60)[0].grad.item() == 60


def test_a_shallow_stack_stays_in_its_thread():
    def in_a_fresh_thread():
        found.append((stack_is_deep(), nest(ag, 10)[1] == {threading.get_ident()}))

    found = []
    thread = threading.Thread(target=in_a_fresh_thread)
    thread.start()
    thread.join()
    assert found == [(False, True)]


def test_modes_and_context_variables_go_along():
    marked = contextvars.ContextVar("marked", default="no")
    marked.set("yes")
    seen = []
    with ag.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        nest(ag, 200, lambda: seen.append((marked.get(), len(_modes().saved_hooks), current.bp is not None)))
    assert seen == [("yes", 1, True)]


def _modes():
    from agdbg_engine.grad_mode import mode

    return mode


def _usable():
    """The engine does what it should, in this thread, after whatever has happened."""
    x = leaf(ag, 2.0)
    (x * x).backward()
    return x.grad.item() == 4 and (current.bp, current.node, ag.is_grad_enabled()) == (None, None, True)


def _interrupt():
    raise KeyboardInterrupt


def test_an_error_from_the_deep_comes_out():
    """PyTorch loses it on the way between threads: SystemError, "returned NULL without setting an exception"."""
    with pytest.raises(ZeroDivisionError):
        nest(ag, 300, lambda: 1 // 0)
    assert _usable()


def test_an_interrupt_in_the_deep_comes_out():
    with pytest.raises(KeyboardInterrupt):
        nest(ag, 200, _interrupt)
    assert _usable()


def test_a_signal_while_a_nested_pass_runs_elsewhere():
    """The main thread waits in a lock; the interrupt ends the innermost pass, which runs Python in another thread."""
    assert threading.current_thread() is threading.main_thread()
    ended = []

    def busy():
        try:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            while True:
                pass
        finally:
            ended.append(threading.get_ident())

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            nest(ag, 200, busy)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(ended) == 1
    assert ended[0] != threading.get_ident()
    assert _usable()


def test_an_interrupted_graph_is_in_a_defined_state():
    """Nodes that ran have freed what they saved, the others have not: what lies below can still be used."""
    x = leaf(ag, 2.0)
    below = x * x
    above = below.exp().sin()
    handle = below.register_hook(lambda g: _interrupt())
    with pytest.raises(KeyboardInterrupt):
        above.backward()
    assert _usable()
    handle.remove()
    assert x.grad is None
    below.backward(retain_graph=True)
    assert x.grad.item() == 4
    with pytest.raises(RuntimeError, match="second time"):
        above.backward()


def test_an_interrupted_pass_can_be_repeated_where_the_graph_is_kept():
    x = leaf(ag, 2.0)
    y = x * x
    z = y.exp()
    handle = y.register_hook(lambda g: _interrupt())
    with pytest.raises(KeyboardInterrupt):
        z.backward(retain_graph=True)
    handle.remove()
    z.backward()
    assert np.isclose(x.grad.item(), 4 * np.exp(4))


# ----- threads -----


@pytest.fixture
def _switching():
    """Threads are switched as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(count, function):
    """Call ``function`` with the numbers up to ``count``, each in a thread of its own, at the same time."""
    gate, errors = threading.Barrier(count), []

    def body(i):
        try:
            gate.wait()
            function(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.mark.usefixtures("_switching")
def test_threads_over_one_kept_graph_lose_nothing():
    x = leaf(ag, 0.5, -0.25)
    y = x
    for _ in range(20):
        y = (y * x).tanh() + y.sin()
    loss, rounds, threads = y.sum(), 8, 4
    (alone,) = ag.autograd.grad(loss, x, retain_graph=True)

    def work(i):
        for _ in range(rounds):
            loss.backward(retain_graph=True)
            (g,) = ag.autograd.grad(loss, x, retain_graph=True)
            assert np.array_equal(g._a, alone._a)

    assert together(threads, work) == []
    assert np.allclose(x.grad._a, alone._a * rounds * threads, rtol=1e-12)


@pytest.mark.usefixtures("_switching")
def test_threads_over_one_graph_that_is_freed_raise_what_is_known_or_succeed():
    for _ in range(20):
        x = leaf(ag, 0.5, -0.25)
        y = x.exp().sin().tanh().sum()
        errors = together(4, lambda i, y=y: y.backward())
        assert len(errors) < 4
        assert all(isinstance(e, RuntimeError) and "second time" in str(e) for e in errors)


@pytest.mark.usefixtures("_switching")
def test_nested_passes_in_several_threads():
    grads = [None] * 4

    def work(i):
        grads[i] = nest(ag, 150 + i)[0].grad.item()

    assert together(4, work) == []
    assert grads == [150, 151, 152, 153]
