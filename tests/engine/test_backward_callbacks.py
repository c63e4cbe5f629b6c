"""Functions called at the end of a pass: PyTorch and the engine do the same."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

import agdbg_engine as ag
from agdbg_engine import events
from agdbg_engine.current import current

pytest.importorskip("torch")
programs = Programs()


def queue(t, callback):
    t.autograd.Variable._execution_engine.queue_callback(callback)


def hooked(t, x, hook):
    """Something computed from ``x`` whose gradient calls ``hook``, which returns nothing."""
    y = x * 2
    y.register_hook(lambda g: hook() and None)
    return y.sum()


@programs
def callbacks_come_last_and_in_order(t):
    x, log = leaf(t, 1.0), []

    def hook():
        log.append("hook")
        queue(t, lambda: log.append(x.grad.item()))
        queue(t, lambda: log.append("second"))

    hooked(t, x, hook).backward()
    return log


@programs
def a_callback_queues_another(t):
    x, log = leaf(t, 1.0), []

    def first():
        queue(t, lambda: log.append("third"))
        log.append("first")

    def hook():
        queue(t, first)
        queue(t, lambda: log.append("second"))

    hooked(t, x, hook).backward()
    return log


@programs
def outside_of_a_pass(t):
    return error_of(queue, t, print)


@programs
def callbacks_of_a_failed_pass_are_forgotten(t):
    x, log = leaf(t, 1.0), []

    def hook():
        queue(t, lambda: log.append("never"))
        raise ValueError("hook")

    failed = error_of(hooked(t, x, hook).backward)
    hooked(t, x, lambda: None).backward()
    return [failed, log, x.grad]


@programs
def a_callback_that_fails(t):
    x, log = leaf(t, 1.0), []

    def hook():
        queue(t, lambda: 1 // 0)
        queue(t, lambda: log.append("never"))

    failed = error_of(hooked(t, x, hook).backward)
    return [failed, log, x.grad, error_of(queue, t, print)]


@programs
def a_callback_that_is_no_function(t):
    x = leaf(t, 1.0)
    return error_of(hooked(t, x, lambda: queue(t, 3)).backward)


@programs
def callbacks_of_nested_passes(t):
    x, log = leaf(t, 1.0), []

    def nested():
        with t.enable_grad():
            inner = hooked(t, leaf(t, 2.0), lambda: queue(t, lambda: log.append("inner")))
        inner.backward()
        log.append("between")
        queue(t, lambda: log.append("outer"))

    hooked(t, x, nested).backward()
    return log


@programs
def gradient_mode_in_callbacks(t):
    x, log = leaf(t, 1.0), []
    for create_graph in (False, True):
        for grad_mode in (False, True):
            y = hooked(t, x, lambda: queue(t, lambda: log.append(t.is_grad_enabled())))
            with t.set_grad_enabled(grad_mode):
                t.autograd.grad(y, x, create_graph=create_graph)
                log.append(t.is_grad_enabled())
    return log


@programs
def backward_in_a_callback(t):
    x, other = leaf(t, 1.0), leaf(t, 5.0)
    y = other * other
    hooked(t, x, lambda: queue(t, y.backward)).backward()
    return [x.grad, other.grad]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def test_an_error_of_a_callback_ends_the_pass():
    class Log(events.Sink):
        finished = None

        def __init__(self):
            self.hooks = []

        def hook(self, what, kind, node, code, lasti, facts):
            self.hooks.append((what, kind))

        def pass_finished(self, bp, error):
            self.finished = (bp, error, dict(bp.buffers))

    log = Log()
    x = leaf(ag, 1.0)
    y = hooked(ag, x, lambda: (queue(ag, lambda: None), queue(ag, lambda: 1 // 0)))
    events.install(log)
    try:
        with pytest.raises(ZeroDivisionError) as caught:
            y.backward()
    finally:
        events.remove()
    assert log.finished[1:] == (caught.value, {})
    called = [what for what, kind in log.hooks if kind == "final-callback"]
    assert called == ["registered", "registered", "fired"]
    assert (current.bp, current.node, ag.is_grad_enabled()) == (None, None, True)
