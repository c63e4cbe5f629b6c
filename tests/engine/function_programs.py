"""Custom Functions that several tests use, on the engine or on PyTorch (``t``)."""

from agdbg_tests_differential import leaf


def simple(t):
    """A Function y = k x**2 that saves its input."""

    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, k=1):
            ctx.save_for_backward(x)
            ctx.k = k
            return k * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * ctx.k * x * g, None

    return Square


def returning(t, answer, last=(5.0,)):
    """A Function of two tensors, a number between them, whose backward returns ``answer(g)``."""

    class Bad(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, number, weight, *more):
            return x * weight

        @staticmethod
        def backward(ctx, g):
            return answer(g)

    return Bad.apply(leaf(t, 1.0, 2.0), 7, leaf(t, 3.0, 4.0), leaf(t, *last))
