"""Grad modes: where nothing is recorded, what such tensors may be used for, decorators, generators and threads."""

import threading

from agdbg_tests_differential import error_of
from agdbg_tests_differential_programs import family, grads, m23, plain, section, x2

add = section("modes")

MODES = {
    "no_grad": lambda t: t.no_grad(),
    "enable_grad": lambda t: t.enable_grad(),
    "set_true": lambda t: t.set_grad_enabled(True),
    "set_false": lambda t: t.set_grad_enabled(False),
    "inference": lambda t: t.inference_mode(),
    "inference_off": lambda t: t.inference_mode(False),
}


def state(t):
    return [t.is_grad_enabled(), t.is_inference_mode_enabled()]


def inside(mode):
    """What a result, a view and a write are inside, and what may be done with them outside."""

    def program(t):
        x = m23(t)
        base = x * 1
        with mode(t):
            seen = [state(t)]
            y, v, w = x * 2, base[0], x.detach()
            said = [
                error_of(lambda: base[1].mul_(2)),
                error_of(x.mul_, 2),
                error_of(v.add_, 1),
                error_of(y.requires_grad_),
            ]
            made = t.ones(2, 3, requires_grad=True)
        seen += [state(t), said, y, v, w, made, base, x]
        for use in (
            lambda: y * 2, lambda: y * x, lambda: x + y, lambda: y.mul_(2), lambda: v.mul_(2), lambda: v * v, lambda: y[0].zero_(),
            lambda: base.mul_(y.detach()), lambda: y.clone() * x, lambda: y.requires_grad_(), lambda: y.detach(),
            lambda: made.mul_(2), lambda: (made * 2).sum().backward(), lambda: y.sum().backward(), lambda: t.autograd.grad(v.sum(), x),
            lambda: y.view(-1), lambda: x.data.copy_(y.detach()), lambda: y.retain_grad(),
        ):  # fmt: skip
            seen.append(error_of(use))
        return [*seen, y, v, base, error_of(lambda: plain(grads(t, base, x)))]

    return program


def nested(mode):
    def program(t):
        seen = []
        for outer in MODES.values():
            with outer(t):
                with mode(t):
                    seen.append(state(t))
                seen.append(state(t))
        return [seen, state(t)]

    return program


def decorated(mode):
    def program(t):
        seen = []

        @mode(t)
        def function(n):
            seen.append(state(t))
            return 1 / n

        @mode(t)
        def generator():
            seen.append(state(t))
            got = yield 1
            seen.append([got, state(t)])
            try:
                yield 2
            except KeyError:
                seen.append(["caught", state(t)])
                yield 3
            return 4

        seen.append(function(2))
        seen.append([error_of(function, 0), state(t)])
        g = generator()
        seen += [
            next(g),
            state(t),
            g.send("sent"),
            state(t),
            g.throw(KeyError("x")),
            state(t),
            error_of(next, g),
            state(t),
        ]
        g = generator()
        next(g), g.close()
        return [seen, state(t), function.__name__]

    return program


family(add, MODES, "inside", inside)
family(add, MODES, "nested_in", nested)
family(add, MODES, "decorated_with", decorated)


@add
def a_mode_is_of_its_thread(t):
    seen = []
    with t.no_grad():
        thread = threading.Thread(target=lambda: seen.append([state(t), (x2(t) * 2).requires_grad]))
        thread.start(), thread.join()
    return seen


@add
def set_grad_enabled_as_a_function(t):
    seen = [state(t)]
    t.set_grad_enabled(False)
    seen.append(state(t))
    t.set_grad_enabled(True)
    return [*seen, state(t), t.set_grad_enabled(True).__class__.__name__]


@add
def an_error_inside_restores(t):
    def fail():
        with t.no_grad(), t.inference_mode():
            raise KeyError("inside")

    return [error_of(fail), state(t)]


@add
def no_grad_as_a_bare_decorator(t):
    @t.no_grad
    def function():
        return state(t)

    @t.inference_mode
    def other():
        return state(t)

    return [function(), other(), state(t)]


@add
def a_class_is_decorated(t):
    @t.no_grad()
    class Mine:
        def __init__(self):
            self.seen = state(t)

    return Mine().seen


@add
def backward_runs_under_its_own_mode(t):
    seen, x = [], x2(t)
    y = x * x
    y.register_hook(lambda g: seen.append(state(t)))
    with t.no_grad():
        y.sum().backward() if y.sum().requires_grad else seen.append("cut")
        y.backward(t.ones(2, dtype=t.float64))
    return [seen, plain(x.grad)]


@add
def grad_with_create_graph_under_no_grad(t):
    x = x2(t)
    y = (x * x).sum()
    with t.no_grad():
        (g,) = t.autograd.grad(y, x, create_graph=True)
        return [plain(g), state(t)]


@add
def a_hook_switches_the_mode(t):
    x = x2(t)
    y = x * x
    y.register_hook(lambda g: t.set_grad_enabled(True) and None)
    y.sum().backward()
    return [state(t), plain(x.grad)]


@add
def backward_in_inference_mode(t):
    x = x2(t)
    y = (x * x).sum()
    with t.inference_mode():
        return [error_of(y.backward), x.grad, error_of(lambda: y * 2)]


@add
def an_inference_tensor_everywhere(t):
    with t.inference_mode():
        y = t.ones(2, dtype=t.float64)
        v = y[:1]
    x = x2(t)
    uses = (
        lambda: x * y, lambda: x + y, lambda: t.stack([x, y]), lambda: x.add_(y), lambda: (x * 1).mul_(y), lambda: (x * 1).copy_(y),
        lambda: y.copy_(x), lambda: y.add_(1), lambda: v.add_(1), lambda: y.detach(), lambda: y.clone()._version, lambda: setattr(x, "grad", y),
        lambda: t.nn.Parameter(y), lambda: y.requires_grad, lambda: y.tolist(), lambda: t.where(y > 0, x, y),
        lambda: x @ y, lambda: (x * 1)[y.long() * 0], lambda: y.new_zeros(2)._version, lambda: t.ones_like(y)._version,
    )  # fmt: skip
    return [error_of(use) for use in uses]


@add
def a_normal_tensor_written_in_inference_mode(t):
    x = x2(t)
    y = x * 1
    z = y.exp()
    with t.inference_mode():
        said = error_of(y.mul_, 2), error_of(z.mul_, 2)
    return [said, y, error_of(lambda: grads(t, z, x))]


@add
def a_view_of_a_normal_tensor_in_inference_mode(t):
    y = m23(t) * 1
    with t.inference_mode():
        v = y[0]
        seen = [v.is_inference(), v._is_view()]
    return [seen, error_of(v.mul_, 2), error_of(lambda: v * 2), error_of(lambda: v * v)]


@add
def a_refused_write_to_an_inference_tensor(t):
    with t.inference_mode():
        y = t.ones(2)
    return [error_of(y.add_, 1), error_of(y[:1].mul_, 5), y]


@add
def a_leaf_gets_the_data_of_an_inference_tensor(t):
    x = x2(t)
    with t.inference_mode():
        y = t.ones(2, dtype=t.float64)
    return [error_of(setattr, x, "data", y), error_of(lambda: x * y), error_of(lambda: x * x)]


@add
def an_inference_tensor_of_another_size(t):
    def made(*sizes):
        with t.inference_mode():
            return t.ones(*sizes)

    said = [error_of(made(4).resize_, *size) for size in ((2,), (8,), (2, 2))]
    same_size = [
        list(made(4).resize_(4).shape),
        error_of(made(4).resize_as_, made(4)),
        error_of(made(4).resize_as_, t.ones(3)),
    ]
    y = made(2, 2)
    turned = [error_of(y.t_), error_of(y.unsqueeze_, 0), error_of(y.transpose_, 0, 1), error_of(y.squeeze_)]
    x, z = made(4), t.ones(3)
    with t.inference_mode():
        x.resize_(2)
    return [said, same_size, turned, list(x.shape), list(z.resize_as_(made(2, 2)).shape), z._version]
