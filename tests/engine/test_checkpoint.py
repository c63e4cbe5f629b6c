"""Checkpoints: gradients, errors and what is kept are PyTorch's; the report of a recomputation that differs is our own."""

import contextlib
import gc
import weakref

import pytest
from agdbg_tests_differential import Programs, error_of, essence, leaf, logged_warnings, same

import agdbg_engine as ag
from agdbg_engine import events

programs = Programs()

BOTH = pytest.mark.parametrize("reentrant", [False, True])


def module(t):
    """``utils.checkpoint`` of torch or of the engine."""
    import importlib

    return importlib.import_module(f"{t.__name__}.utils.checkpoint")


def checkpoint(t, function, *args, **options):
    return module(t).checkpoint(function, *args, use_reentrant=options.pop("use_reentrant", False), **options)


class Changing:
    """A function that is another one from its second call on."""

    def __init__(self, *functions):
        self.functions = list(functions)
        self.calls = 0

    def __call__(self, *args):
        self.calls += 1
        return self.functions[min(self.calls, len(self.functions)) - 1](*args)


# ----- gradients -----


@BOTH
def test_gradients_and_outputs(reentrant):
    def program(t):
        x, w = leaf(t, 0.5, -0.2, 1.7), leaf(t, 1.0, 2.0, 3.0)
        y = checkpoint(t, lambda a, b: (a.sin() * b).exp(), x * 2, w, use_reentrant=reentrant)
        z = checkpoint(t, lambda a: (a.tanh(), a * 2), y, use_reentrant=reentrant)
        (z[0] * z[1]).sum().backward()
        return [essence(z), x.grad, w.grad]

    same(program)


@BOTH
def test_captured_tensors_and_other_arguments(reentrant):
    def program(t):
        x, w = leaf(t, 0.5, -0.2, 1.7), leaf(t, 1.0, 2.0, 3.0)
        options = {} if reentrant else {"power": 3}
        y = checkpoint(t, lambda a, n, power=3: a**power * w * n, x, 2.0, use_reentrant=reentrant, **options)
        y.sum().backward()
        return [x.grad, w.grad]

    same(program)


@BOTH
def test_under_no_grad(reentrant):
    def program(t):
        with t.no_grad():
            return essence(checkpoint(t, lambda a: a.sin(), leaf(t, 0.5), use_reentrant=reentrant))

    same(program)


@BOTH
def test_nested(reentrant):
    def program(t):
        x = leaf(t, 0.5, -0.2, 1.7)
        calls = []

        def inner(a):
            calls.append("inner")
            return a.sin().exp()

        def outer(a):
            calls.append("outer")
            return checkpoint(t, inner, a.cos(), use_reentrant=reentrant) * a.tanh()

        checkpoint(t, outer, x, use_reentrant=reentrant).sum().backward()
        return [x.grad, calls]

    same(program)


@BOTH
@pytest.mark.parametrize("segments", [1, 2, 3])
def test_sequential(reentrant, segments):
    def program(t):
        x = leaf(t, 0.5, -0.2, 1.7)
        calls = []

        def step(name):
            return lambda a: (calls.append(name), a.sin())[1]

        y = module(t).checkpoint_sequential([step(n) for n in "abcd"], segments, x, use_reentrant=reentrant)
        y.sum().backward()
        return [essence(y), x.grad, calls]

    same(program)


@programs
def a_sequential_module(t):
    layers = t.nn.Sequential(t.nn.Tanh(), t.nn.Sigmoid(), t.nn.Tanh())
    x = leaf(t, 0.5, -0.2)
    module(t).checkpoint_sequential(layers, 2, x, use_reentrant=False).sum().backward()
    return x.grad


@programs
def second_derivatives(t):
    x = leaf(t, 0.5, -0.2, 1.7)
    y = checkpoint(t, lambda a: a.sin().exp(), x)
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    return t.autograd.grad(g.sum(), x)


@programs
def backward_with_inputs_and_grad(t):
    x = leaf(t, 0.5, -0.2, 1.7)
    checkpoint(t, lambda a: a.sin().exp(), x).sum().backward(inputs=[x])
    return [x.grad, t.autograd.grad(checkpoint(t, lambda a: a.sin().exp(), x).sum(), x)]


@programs
def several_times_over_a_retained_graph(t):
    x = leaf(t, 0.5, -0.2)
    calls = []
    y = checkpoint(t, lambda a: (calls.append(1), a.sin().exp())[1], x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return [x.grad, len(calls), error_of(y.backward)]


@programs
def the_recomputation_stops_early(t):
    x, calls = leaf(t, 0.5, -0.2), []

    def function(a):
        calls.append("begin")
        y = a.sin()
        calls.append("end")
        return y * 2

    checkpoint(t, function, x).sum().backward()
    checkpoint(t, function, x, early_stop=False).sum().backward()
    with module(t).set_checkpoint_early_stop(False):
        y = checkpoint(t, function, x)
    y.sum().backward()
    return [calls, x.grad]


@programs
def backward_inside_of_the_function(t):
    x = leaf(t, 0.5, -0.2)

    def function(a):
        y = a.sin()
        (g,) = t.autograd.grad(y.sum(), a, create_graph=True)
        return g * y

    found = []
    for stop in (True, False):
        x.grad = None
        checkpoint(t, function, x, early_stop=stop).sum().backward()
        found.append(x.grad)
    return found


@programs
def nothing_is_recomputed_when_nothing_is_needed(t):
    x, calls = leaf(t, 0.5, -0.2), []
    checkpoint(t, lambda a: (calls.append(1), a * 2 + 1)[1], x).sum().backward()
    return [x.grad, len(calls)]


@programs
def hooks_run_in_the_same_order(t):
    x, log = leaf(t, 0.5, -0.2), []
    x.register_hook(lambda g: log.append("x"))

    def function(a):
        y = a.sin()
        y.register_hook(lambda g: log.append("inside"))
        return y.exp()

    z = checkpoint(t, function, x)
    z.register_hook(lambda g: log.append("z"))
    z.sum().backward()
    return log


@programs
def hooks_on_saved_tensors_outside_get_the_arguments(t):
    x, log = leaf(t, 0.5, -0.2), []

    def pack(a):
        log.append(("pack", list(a.shape)))
        return a

    def unpack(a):
        log.append(("unpack", list(a.shape)))
        return a

    with t.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = checkpoint(t, lambda a: a.sin().exp(), x * 2)
    y.sum().backward()
    return [log, x.grad]


@programs
def contexts_of_the_first_run_and_of_the_recomputation(t):
    x, log = leaf(t, 0.5, -0.2), []

    @contextlib.contextmanager
    def context(name):
        log.append(f"enter {name}")
        yield
        log.append(f"exit {name}")

    y = checkpoint(
        t, lambda a: a.sin().exp(), x, context_fn=lambda: (context("first"), context("second")), early_stop=False
    )
    y.sum().backward()
    return log


@programs
def in_place_inside(t):
    x = leaf(t, 0.5, -0.2)

    def function(a):
        y = a * 2
        y.mul_(3)
        return y.sin()

    checkpoint(t, function, x).sum().backward()
    return x.grad


@programs
def the_output_may_be_written_to(t):
    x = leaf(t, 0.5, -0.2)
    y = checkpoint(t, lambda a: a.sin().exp(), x)
    y.mul_(2)
    y.sum().backward()
    return x.grad


@programs
def a_changed_argument(t):
    y = leaf(t, 0.5, -0.2) * 1
    z = checkpoint(t, lambda a: a.sin().exp(), y)
    y.mul_(2)
    return error_of(z.sum().backward)


# ----- errors -----


@programs
def recomputations_that_save_something_else(t):
    x = leaf(t, 0.5, -0.2, 1.7)
    fewer = (lambda a: a.sin().cos(), lambda a: a.sin())
    more = (lambda a: a.sin(), lambda a: a.sin().cos())
    other = (lambda a: a.sin(), lambda a: a[:2].sin())
    found = []
    for functions in (fewer, more, other):
        for options in ({}, {"early_stop": False}, {"debug": True}):
            if functions is more and "early_stop" not in options:
                continue  # it stops before it is different
            found.append(error_of(checkpoint(t, Changing(*functions), x, **options).sum().backward))
    found.append(error_of(checkpoint(t, Changing(*fewer), x, determinism_check="none").sum().backward))
    with module(t).set_checkpoint_debug_enabled(True):
        y = checkpoint(t, Changing(*fewer), x)
    return [*found, error_of(y.sum().backward)]


@programs
def wrong_options(t):
    x, sin = leaf(t, 0.5), lambda a: a.sin()
    return [
        error_of(checkpoint, t, sin, x, determinism_check="some"),
        error_of(checkpoint, t, sin, x, debug=True, context_fn=lambda: (1, 2)),
        error_of(checkpoint, t, sin, x, use_reentrant=True, debug=True),
        error_of(checkpoint, t, sin, x, use_reentrant=True, context_fn=lambda: (1, 2)),
        error_of(checkpoint, t, sin, x, use_reentrant=True, power=2),
        error_of(module(t).checkpoint_sequential, [sin], 1, x, use_reentrant=False, power=2),
        error_of(checkpoint, t, sin, x, power=2),
    ]


@programs
def a_suppressed_error(t):
    x = leaf(t, 0.5)
    return error_of(
        checkpoint,
        t,
        lambda a: 1 / 0,
        x,
        context_fn=lambda: (contextlib.suppress(ZeroDivisionError), contextlib.nullcontext()),
    )


@programs
def an_error_in_the_function(t):
    return [error_of(checkpoint, t, lambda a: 1 / 0, leaf(t, 0.5), use_reentrant=r) for r in (False, True)]


@programs
def reentrant_checkpoints_want_a_full_backward(t):
    x = leaf(t, 0.5)

    def run():
        return checkpoint(t, lambda a: a.sin(), x, use_reentrant=True).sum()

    return [
        error_of(lambda: t.autograd.grad(run(), x)),
        error_of(lambda: run().backward(inputs=[x])),
        error_of(checkpoint(t, lambda a: a.detach(), x, use_reentrant=True).sum().backward),
    ]


@programs
def warnings_(t):
    x = leaf(t, 0.5)
    with logged_warnings() as said:
        module(t).checkpoint(lambda a: a.sin(), x)
        module(t).checkpoint_sequential([lambda a: a.sin()], 1, x)
        checkpoint(t, lambda a: a.sin(), x.detach(), use_reentrant=True)
        checkpoint(t, lambda a: a.sin(), x.detach())
    return said


@programs
def arguments_of_checkpoints(t):
    """What custom checkpoints are built of."""
    tools, x = module(t), leaf(t, 1.0, 2.0)
    (a, number, b, c) = tools.detach_variable((x, 3, x * 2, x.detach()))
    told = [(v.requires_grad, v.is_leaf, v.data_ptr() == x.data_ptr()) for v in (a, b, c)]
    refused = [error_of(tools.detach_variable, v) for v in (x, [x], None)]
    with logged_warnings() as caught:
        tools.check_backward_validity((x.detach(), 3))
        tools.check_backward_validity([1, x])
        tools.check_backward_validity(())
    return told, number, refused, caught


@pytest.mark.parametrize("program", programs)
def test_programs(program):
    pytest.importorskip("torch")
    same(program)


# ----- random numbers -----


@BOTH
@pytest.mark.parametrize("preserve", [True, False])
def test_random_numbers(reentrant, preserve):
    drawn = []

    def function(a):
        drawn.append(ag.rand(3, dtype=ag.float64))
        return (a * drawn[-1]).sin()

    x = leaf(ag, 0.5, -0.2, 1.7)
    ag.manual_seed(1)
    y = ag.utils.checkpoint.checkpoint(function, x, use_reentrant=reentrant, preserve_rng_state=preserve)
    between = ag.rand(2).tolist()
    y.sum().backward()
    after = ag.rand(2).tolist()
    ag.manual_seed(1)
    ag.rand(3, dtype=ag.float64)
    assert ag.rand(2).tolist() == between
    if preserve:
        assert drawn[0].tolist() == drawn[1].tolist()
        assert ag.rand(2).tolist() == after
        assert x.grad.tolist() == pytest.approx(((x * drawn[0]).cos() * drawn[0]).tolist())
    else:
        assert drawn[0].tolist() != drawn[1].tolist()


# ----- memory -----


def kept(function, *options):
    """How many intermediate results of a chain of five are alive after the first run."""
    alive = []

    def chain(a):
        for _ in range(5):
            a = a.sin()
            alive.append(weakref.ref(a._a))
        return a.sum()

    out = function(chain, leaf(ag, 0.5, -0.2))
    gc.collect()
    count = sum(ref() is not None for ref in alive)
    out.backward()
    return count, alive


@BOTH
def test_saved_tensors_are_not_held(reentrant):
    assert kept(lambda f, x: f(x))[0] == 4
    count, alive = kept(lambda f, x: ag.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant))
    assert count == 0
    gc.collect()
    assert not any(ref() is not None for ref in alive)


def test_recomputed_tensors_go_as_they_are_used():
    alive, left = [], []

    def chain(a):
        for _ in range(4):
            a = a.sin()
            alive.append(weakref.ref(a._a))
            if len(alive) > 4:
                continue
            a.register_hook(lambda g: left.append(sum(ref() is not None for ref in alive[4:])))
        return a

    ag.utils.checkpoint.checkpoint(chain, leaf(ag, 0.5), use_reentrant=False).sum().backward(retain_graph=True)
    assert left == [0, 2, 1, 0]


@BOTH
def test_the_graph_is_freed_without_the_collector(reentrant):
    gc.collect()
    gc.disable()
    try:
        x = leaf(ag, 0.5)
        out = ag.utils.checkpoint.checkpoint(lambda a: a.sin().exp(), x, use_reentrant=reentrant)
        node = weakref.ref(out.grad_fn)
        out.sum().backward()
        del out
        assert node() is None
    finally:
        gc.enable()


# ----- instruments, modes -----


@BOTH
def test_instruments_are_told(reentrant):
    told = []

    class Sink(events.Sink):
        def recomputed(self, ops, difference, code, lasti):
            told.append((ops, difference))

    y = ag.utils.checkpoint.checkpoint(lambda a: a.sin().exp(), leaf(ag, 0.5), use_reentrant=reentrant)
    events.install(Sink())
    try:
        y.sum().backward()
    finally:
        events.remove()
    assert told == [(2, None)]


@BOTH
def test_no_mode_stays_on(reentrant):
    before = events.special
    x = leaf(ag, 0.5)
    ag.utils.checkpoint.checkpoint(lambda a: a.sin().exp(), x, use_reentrant=reentrant).sum().backward()
    with pytest.raises(ZeroDivisionError):
        ag.utils.checkpoint.checkpoint(lambda a: 1 / 0, x, use_reentrant=reentrant)
    assert events.special == before
    assert ag.is_grad_enabled()
