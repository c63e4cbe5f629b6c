"""Custom Functions with ``jvp`` for random programs: with saved tensors, a dirty input, a view or an input among the outputs."""

import functools
from types import SimpleNamespace


def joined(x, y):
    """``y`` in a form that ``x`` can be combined with."""
    fits = y.ndim <= x.ndim and all(a in (1, b) for a, b in zip(y.shape[::-1], x.shape[::-1], strict=False))
    return y if fits else y.sum() * 0.1


@functools.cache
def functions(t):
    """The Functions of namespace ``t``."""

    class Product(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            gy = g * x
            return g * y, gy.sum() if not y.ndim else gy.sum_to_size(y.shape)

        @staticmethod
        def jvp(ctx, x_t, y_t):
            x, y = ctx.saved_tensors
            x_t = t.zeros_like(x) if x_t is None else x_t
            y_t = t.zeros_like(y) if y_t is None else y_t
            return x_t * y + x * y_t

    class Scaled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            ctx.save_for_backward(y)
            ctx.save_for_forward(y)
            x.mul_(y)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

        @staticmethod
        def jvp(ctx, x_t, y_t):
            return None if x_t is None else x_t.mul_(ctx.saved_tensors[0])

    class Turned(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(x.shape)

        @staticmethod
        def backward(ctx, g):
            return g.view(g.shape)

        @staticmethod
        def jvp(ctx, x_t):
            return x_t.view(x_t.shape)

    class Exp(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = (x * 0.5).exp()
            ctx.save_for_backward(out)
            ctx.save_for_forward(out)
            return out

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] * 0.5

        @staticmethod
        def jvp(ctx, x_t):
            return x_t * ctx.saved_tensors[0] * 0.5

    class Both(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x.sum(), x

        @staticmethod
        def backward(ctx, a, b, c):
            return a * 2 + b + c

        @staticmethod
        def jvp(ctx, x_t):
            return x_t * 2, x_t.sum(), x_t.view(x_t.shape)

    return SimpleNamespace(Product=Product, Scaled=Scaled, Turned=Turned, Exp=Exp, Both=Both)


CALLS = {
    "product": lambda made, x, y: [made.Product.apply(x, joined(x, y))],
    "scaled": lambda made, x, y: [made.Scaled.apply(x, x.detach().new_full((), 0.5))],
    "scaled result": lambda made, x, y: [made.Scaled.apply(x * 1, x.detach().new_full((), 0.5))],
    "turned": lambda made, x, y: [made.Turned.apply(x)],
    "exp": lambda made, x, y: [made.Exp.apply(x.sin())],
    "both": lambda made, x, y: list(made.Both.apply(x)),
}


def call(t, name, x, y):
    """The results of one of :data:`CALLS` of the real parts."""
    x, y = (v.real if v.is_complex() else v for v in (x, y))
    return CALLS[name](functions(t), x, y)
