"""no_grad, enable_grad, set_grad_enabled in all their forms: PyTorch and the engine do the same."""

import threading

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

pytest.importorskip("torch")
programs = Programs()


@programs
def no_grad_as_context(t):
    x = leaf(t, 1.0)
    seen = [t.is_grad_enabled()]
    with t.no_grad():
        seen.append(t.is_grad_enabled())
        y = x * 2
    return [seen, t.is_grad_enabled(), y, x * 2]


@programs
def contexts_nest(t):
    x, seen = leaf(t, 1.0), []
    with t.no_grad():
        with t.enable_grad():
            seen.append((x * 2).requires_grad)
            with t.no_grad():
                seen.append((x * 2).requires_grad)
            seen.append((x * 2).requires_grad)
        seen.append((x * 2).requires_grad)
    return [seen, t.is_grad_enabled()]


@programs
def one_context_object_is_entered_again(t):
    seen, off = [], t.no_grad()
    for _ in range(2):
        with off:
            seen.append(t.is_grad_enabled())
        seen.append(t.is_grad_enabled())
    return seen


@programs
def an_exception_restores_the_mode(t):
    def fail():
        with t.no_grad():
            raise ValueError("mine")

    return [error_of(fail), t.is_grad_enabled()]


@programs
def no_grad_as_decorator(t):
    x = leaf(t, 1.0)

    @t.no_grad()
    def with_call(a):
        """Documented."""
        return a * 2

    @t.no_grad
    def without_call(a):
        return a * 2

    return [with_call(x), without_call(x), with_call.__name__, with_call.__doc__, t.is_grad_enabled(), x * 2]


@programs
def enable_grad_as_decorator(t):
    x = leaf(t, 1.0)

    @t.enable_grad()
    def double(a):
        return a * 2

    with t.no_grad():
        y, z = double(x), x * 2
    return [y, z]


@programs
def a_decorated_function_raises(t):
    @t.no_grad()
    def fail():
        raise ValueError("mine")

    return [error_of(fail), t.is_grad_enabled()]


@programs
def a_decorated_function_calls_itself(t):
    @t.no_grad()
    def count(n):
        return [t.is_grad_enabled()] + (count(n - 1) if n else [])

    return [count(2), t.is_grad_enabled()]


@programs
def set_grad_enabled_as_context(t):
    x, seen = leaf(t, 1.0), []
    for on in (True, False):
        with t.set_grad_enabled(on):
            seen.append((x * 2).requires_grad)
        seen.append(t.is_grad_enabled())
    return seen


@programs
def set_grad_enabled_as_a_call(t):
    x = leaf(t, 1.0)
    t.set_grad_enabled(False)
    off = x * 2
    t.set_grad_enabled(True)
    return [off, x * 2]


@programs
def set_grad_enabled_as_decorator(t):
    @t.set_grad_enabled(False)
    def double(a):
        return [t.is_grad_enabled(), a * 2]

    return [t.is_grad_enabled(), double(leaf(t, 1.0)), t.is_grad_enabled()]


@programs
def set_grad_enabled_inside_no_grad(t):
    seen = []
    with t.no_grad():
        t.set_grad_enabled(True)
        seen.append(t.is_grad_enabled())
    return [seen, t.is_grad_enabled()]


@programs
def a_generator_keeps_its_mode_to_itself(t):
    x, seen = leaf(t, 1.0), []

    @t.no_grad()
    def rows():
        for i in range(2):
            seen.append(("in", t.is_grad_enabled()))
            yield x * i

    for y in rows():
        seen.append(("out", t.is_grad_enabled(), y.requires_grad))
    return [seen, t.is_grad_enabled()]


@programs
def a_generator_is_sent_to_and_returns(t):
    @t.no_grad()
    def echo():
        got = yield t.is_grad_enabled()
        while got != "stop":
            got = yield (got, t.is_grad_enabled())
        return "done"

    def outer(seen):
        seen.append((yield from echo()))

    seen = []
    g = outer(seen)
    seen += [next(g), g.send(1), t.is_grad_enabled(), g.send(2)]
    error = error_of(g.send, "stop")
    return [seen, error.kind]


@programs
def a_generator_is_thrown_into(t):
    seen = []

    @t.no_grad()
    def patient():
        try:
            yield 1
        except ValueError:
            seen.append(t.is_grad_enabled())
            yield 2

    g = patient()
    return [next(g), g.throw(ValueError("x")), seen, t.is_grad_enabled()]


@programs
def a_generator_is_closed(t):
    seen = []

    @t.no_grad()
    def guarded():
        try:
            yield 1
        finally:
            seen.append(t.is_grad_enabled())

    g = guarded()
    first = next(g)
    g.close()
    return [first, seen, t.is_grad_enabled()]


@programs
def a_generator_that_starts_in_no_grad_goes_on_outside(t):
    seen = []

    @t.enable_grad()
    def work():
        seen.append(t.is_grad_enabled())
        yield
        seen.append(t.is_grad_enabled())

    with t.no_grad():
        g = work()
        next(g)
        seen.append(t.is_grad_enabled())
    list(g)
    return [seen, t.is_grad_enabled()]


@programs
def a_new_thread_starts_with_gradients_on(t):
    seen = []

    def look():
        seen.append(t.is_grad_enabled())
        t.set_grad_enabled(False)

    with t.no_grad():
        other = threading.Thread(target=look)
        other.start()
        other.join()
        seen.append(t.is_grad_enabled())
    return [seen, t.is_grad_enabled()]


@programs
def creation_under_no_grad(t):
    with t.no_grad():
        x = t.ones(2, requires_grad=True)
        y = x * 2
        z = t.tensor([1.0]).requires_grad_()
    return [x, y, z, x * 2]


@programs
def backward_under_no_grad(t):
    x = leaf(t, 2.0)
    y = x * x
    with t.no_grad():
        y.backward()
        inside = x.grad
    return [inside, t.is_grad_enabled()]


@programs
def gradient_mode_inside_hooks(t):
    x, seen = leaf(t, 2.0), []
    y = x * x
    y.register_hook(lambda g: seen.append(t.is_grad_enabled()))
    y.grad_fn.register_hook(lambda gi, go: seen.append(t.is_grad_enabled()))
    y.backward(retain_graph=True)
    with t.no_grad():
        y.backward(retain_graph=True)
        y.backward(create_graph=True)
        seen.append(t.is_grad_enabled())
    return [seen, t.is_grad_enabled()]


@programs
def a_hook_may_switch_the_mode_without_harm(t):
    x, y = leaf(t, 2.0), leaf(t, 3.0)
    z = x * y
    z.register_hook(lambda g: t.set_grad_enabled(True) and None)
    z.backward()
    return [t.is_grad_enabled(), x.grad, y.grad]


@programs
def constants_made_under_no_grad_are_part_of_the_graph(t):
    x = leaf(t, 2.0)
    with t.no_grad():
        c = x * 10
    (x * c).backward()
    return [x.grad, c.grad]


@programs
def a_leaf_is_updated_under_no_grad(t):
    w = leaf(t, 2.0)
    for _ in range(3):
        (w * w).backward()
        with t.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
    return [w, w._version]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
