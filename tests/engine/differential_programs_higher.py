"""The functional interface, transforms, gradcheck and checkpoints."""

import contextlib

from agdbg_tests_differential import error_of
from agdbg_tests_differential_programs import family, grads, m23, plain, section, x2

add = section("higher")

FUNCTIONS = {
    "cube": lambda t: lambda x: (x**3).sum(),
    "product": lambda t: lambda x: (x.sin() * x.sum()).sum(),
    "linear": lambda t: lambda x: (2 * x).sum(),
    "constant": lambda t: lambda x: t.ones((), dtype=t.float64),
    "written": lambda t: lambda x: (x * 1).mul_(x).sum(),
    "slices": lambda t: lambda x: (lambda y: (y[:1].mul_(x[1]), y.sum())[1])(x * x),
    "detached": lambda t: lambda x: (x.detach() * x).sum(),
    "vector": lambda t: lambda x: x * x,
    "pair": lambda t: lambda x: (x.sum(), x * 2),
    "no_tensor": lambda t: lambda x: 3,
    "raising": lambda t: lambda x: 1 / 0,
    "no_grad": lambda t: t.no_grad()(lambda x: (x * x).sum()),
    "custom": lambda t: lambda x: custom(t)(x).sum(),
    "checkpointed": lambda t: (
        lambda x: t.utils.checkpoint.checkpoint(lambda y: y.sin() * y, x, use_reentrant=False).sum()
    ),
}


def custom(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    body = {
        "forward": staticmethod(forward),
        "backward": staticmethod(lambda ctx, g: 3 * ctx.saved_tensors[0] ** 2 * g),
    }
    return type("Cube", (t.autograd.Function,), body).apply


def tried(call):
    try:
        return plain(call())
    except Exception as error:
        return [type(error).__name__, str(error).partition("\n")[0]]


def functional(make):
    """Everything of `autograd.functional`, with and without ``create_graph`` and ``strict``."""

    def program(t):
        f, F, v = make(t), t.autograd.functional, t.tensor([1.0, -2.0], dtype=t.float64)
        seen = []
        for kw in ({}, {"create_graph": True}, {"strict": True}):
            x = x2(t)
            for name, args in {"vjp": (), "jvp": (v,), "hvp": (v,), "vhp": (v,), "jacobian": (), "hessian": ()}.items():
                seen.append(
                    [
                        name,
                        tried(
                            lambda name=name, args=args, x=x, kw=kw: list(listed(getattr(F, name)(f, x, *args, **kw)))
                        ),
                    ]
                )
        return seen

    return program


def listed(found):
    return found if isinstance(found, tuple) else (found,)


def transforms(make):
    def program(t):
        f, x, seen = make(t), x2(t).detach(), []
        for name in ("grad", "grad_and_value", "jacrev", "jacfwd"):
            seen.append([name, tried(lambda name=name: list(listed(getattr(t.func, name)(f)(x))))])
        seen.append(["vjp", tried(lambda: listed(t.func.vjp(f, x)[0])[0])])
        seen.append(["jvp", tried(lambda: list(listed(t.func.jvp(f, (x,), (x,)))))])
        return [*seen, tried(lambda: t.func.grad(t.func.grad(lambda y: f(y) * y.sum()))(x.sum())), x]

    return program


NOT_FOR_BATCHES = ("checkpointed", "custom", "written", "slices", "no_grad")
"""PyTorch's transforms are batched or refuse autograd's own things; the engine's are loops."""


family(add, FUNCTIONS, "functional", functional)
family(add, {k: v for k, v in FUNCTIONS.items() if k not in NOT_FOR_BATCHES}, "transforms", transforms)


@add
def nested_transforms(t):
    x = x2(t).detach()
    f = lambda x: (x**4).sum()
    g, h = t.func.grad, t.func.hessian
    return plain(
        [g(lambda x: g(f)(x).sum())(x), h(f)(x), t.func.jacfwd(t.func.jacrev(f))(x), t.func.jacrev(t.func.jacfwd(f))(x)]
    )


@add
def transforms_by_argument(t):
    x, y = x2(t).detach(), x2(t, 3.0, 4.0).detach()
    f = lambda x, y: (x * y * y).sum()
    return plain(
        [list(t.func.grad(f, argnums=(0, 1))(x, y)), t.func.grad(f, argnums=1)(x, y), t.func.jacrev(f, argnums=1)(x, y)]
    )


@add
def auxiliary_results(t):
    x = x2(t).detach()
    g, aux = t.func.grad(lambda x: ((x * x).sum(), {"twice": x * 2}), has_aux=True)(x)
    return plain([g, aux["twice"]])


@add
def a_closure_over_a_leaf(t):
    w, x = x2(t), x2(t).detach()
    return [
        plain(t.func.grad(lambda x: (w * x * x).sum())(x)),
        tried(lambda: grads(t, t.func.grad(lambda x: (w * x * x).sum())(x), w)),
    ]


@add
def two_levels_perturb_apart(t):
    x = x2(t, 3.0).detach().sum()
    inner = lambda x: t.func.grad(lambda y: x * y)(x)
    return plain(t.func.grad(lambda x: x * inner(x))(x))


def layers(t, log):
    def run(x, w):
        log.append(["run", t.is_grad_enabled()])
        return (x * w).tanh() * w

    return run


CHECKPOINTS = {
    "reentrant": {"use_reentrant": True},
    "not_reentrant": {"use_reentrant": False},
    "not_preserving": {"use_reentrant": False, "preserve_rng_state": False},
    "no_early_stop": {"use_reentrant": False, "early_stop": False},
    "reentrant_no_rng": {"use_reentrant": True, "preserve_rng_state": False},
}


def checkpointed(kw):
    """A checkpoint under backward, grad, twice, with hooks, nested, without grad, raising."""

    def program(t):
        seen = []
        point = lambda f, *xs: t.utils.checkpoint.checkpoint(f, *xs, **kw)
        log, x, w = [], x2(t), x2(t, 3.0, 4.0)
        y = point(layers(t, log), x, w)
        y.register_hook(lambda g: log.append("hook"))
        x.register_hook(lambda g: log.append("x"))
        seen.append(error_of(y.sum().backward))
        seen += [log, plain([y, x.grad, w.grad]), error_of(y.sum().backward)]
        y = point(layers(t, log), x, w)
        seen.append(tried(lambda: list(t.autograd.grad(y.sum(), [x, w]))))
        y = point(layers(t, log), x, w)
        seen += [error_of(y.sum().backward, retain_graph=True), error_of(y.sum().backward), plain(x.grad)]
        y = point(lambda a, b: point(layers(t, log), a, b).sin(), x, w)
        seen += [error_of(y.sum().backward), plain(x.grad), len(log)]
        with t.no_grad():
            seen.append(point(layers(t, log), x, w))
        seen.append(tried(lambda: point(layers(t, log), x.detach(), w.detach())))
        seen.append(tried(lambda: point(lambda a: 1 / 0, x)))
        y = point(lambda a: (a * 1).mul_(2).exp(), x)
        y.mul_(2)
        seen.append(error_of(y.sum().backward))
        return seen

    return program


family(add, CHECKPOINTS, "checkpoint", checkpointed)


@add
def checkpoint_without_choice_warns(t):
    x = x2(t)
    y = t.utils.checkpoint.checkpoint(lambda x: x.sin(), x)
    y.sum().backward()
    return plain([y, x.grad])


@add
def checkpoint_of_a_function_with_state(t):
    x, n = x2(t), [0]

    def f(x):
        n[0] += 1
        return x.sin() * x if n[0] == 1 else x.sin().exp() * x.cos()

    y = t.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    return error_of(y.sum().backward)


@add
def checkpoint_keyword_arguments(t):
    x = x2(t)
    f = lambda x, scale: x.sin() * scale
    y = t.utils.checkpoint.checkpoint(f, x, use_reentrant=False, scale=3)
    y.sum().backward()
    return [plain(x.grad), error_of(lambda: t.utils.checkpoint.checkpoint(f, x, use_reentrant=True, scale=3))]


@add
def checkpoints_in_sequence(t):
    x = x2(t)
    fs = [lambda x: x.sin(), lambda x: x * 2, lambda x: x.exp(), lambda x: x * x]
    y = t.utils.checkpoint.checkpoint_sequential(fs, 2, x, use_reentrant=False)
    y.sum().backward()
    return [plain([y, x.grad])]


@add
def a_checkpoint_and_second_order(t):
    x = x2(t)
    y = t.utils.checkpoint.checkpoint(lambda x: x.sin() * x, x, use_reentrant=False)
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    return plain([g, tried(lambda: grads(t, g, x))])


GRADCHECKS = {
    "right": lambda t: lambda x: x.sin() * x,
    "detached": lambda t: lambda x: x.detach() * x,
    "wrong_backward": lambda t: wrong(t, 2),
    "two_outputs": lambda t: lambda x: (x.sin(), x * 2),
    "integers": lambda t: lambda x: x.long(),
    "not_used": lambda t: lambda x: t.ones(2, dtype=t.float64, requires_grad=True) * 1,
    "raising": lambda t: lambda x: 1 / 0,
}


def wrong(t, factor):
    body = {"forward": staticmethod(lambda ctx, x: x * 3), "backward": staticmethod(lambda ctx, g: g * factor)}
    return type("Wrong", (t.autograd.Function,), body).apply


def checked(make):
    def program(t):
        f, seen = make(t), []
        for kw in (
            {},
            {"fast_mode": True},
            {"raise_exception": False},
            {"check_forward_ad": True, "raise_exception": False},
        ):
            try:
                seen.append(t.autograd.gradcheck(f, (x2(t),), **kw))
            except Exception as error:
                seen.append(type(error).__name__)
        return [*seen, error_or_value(lambda: t.autograd.gradgradcheck(f, (x2(t),), raise_exception=False))]

    return program


def error_or_value(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__


family(add, GRADCHECKS, "gradcheck", checked)


@add
def gradcheck_inputs(t):
    f = lambda x: x.sin()
    return [
        error_of(t.autograd.gradcheck, f, (t.ones(2),)),
        error_of(t.autograd.gradcheck, f, (t.ones(2, requires_grad=True),)),
        error_of(t.autograd.gradcheck, f, (m23(t)[:, :1].expand(2, 3),)),
    ]


@add
def checkpoint_of_what_is_detached_in_place(t):
    def tried(run, *detached, leaf=False, hooks=False):
        x = x2(t)
        a, b = (x, x * 3) if leaf else (x * 2, x * 3)
        pair = (lambda s: s, lambda s: s)
        with t.autograd.graph.saved_tensors_hooks(*pair) if hooks else contextlib.nullcontext():
            y = t.utils.checkpoint.checkpoint(run, a, b, use_reentrant=False)
        for which in detached:
            (a, b)[which].detach_()
        return [error_of(lambda: t.autograd.grad(y.sum(), x, create_graph=True)), x.grad]

    f = lambda a, b: (a * a).exp() + b.sin()
    return [
        tried(f, 0), tried(f, 1), tried(f, 0, 1), tried(f), tried(f, 0, leaf=True), tried(f, 0, hooks=True),
        tried(lambda a, b: a + b, 0), tried(lambda a, b: a.detach() * b, 0),
    ]  # fmt: skip
