"""Random programs of nested function transforms with views, writes, hooks and custom Functions: the same as in PyTorch.

A program is a list of steps over a pool of tensors; a transform runs a program of its own, which sees the pool of those around
it. Only whole answers are compared: values, gradients, what was written, or that both refuse, since of several reasons either
may come first.
"""

import functools

from agdbg_tests_differential import Numbers, Raised, outcome
from agdbg_tests_forward_tools import pytorch
from hypothesis import given, settings
from hypothesis import strategies as st

import agdbg_engine as ag

torch = pytorch()

places = st.integers(0, 30)
"""Of the pool, counted from its end and around it."""
OPS = st.one_of(
    st.tuples(st.sampled_from(["sin", "exp", "tanh", "square", "clone", "flip", "part", "detach", "cubed", "checkpointed"]), places),
    st.tuples(st.sampled_from(["mul", "add", "sub", "unrecorded"]), places, places),
)  # fmt: skip
WRITES = st.tuples(st.sampled_from(["mul_", "add_", "copy_", "sin_", "exp_", "zero_"]), places, places, st.booleans())
HOOKS = st.tuples(st.just("hook"), places, st.sampled_from([2.0, 0.5, 0.0]))
SIMPLE = st.one_of(OPS, OPS, WRITES, HOOKS)
TRANSFORMS = ["grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd"]


def programs(steps):
    """Steps of which some run a program of ``steps`` in a transform."""
    nested = st.tuples(st.sampled_from(TRANSFORMS), places, places, st.lists(steps, min_size=1, max_size=4))
    return st.one_of(SIMPLE, *[nested] * 5)


STEPS = st.recursive(SIMPLE, programs, max_leaves=12)


@functools.cache
def cubed(t):
    """A custom Function of namespace ``t``."""

    class Cubed(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])
            ctx.save_for_forward(inputs[0])

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x * x * g

        @staticmethod
        def jvp(ctx, x_t):
            (x,) = ctx.saved_tensors
            return 3 * x * x * x_t

    return Cubed


def unrecorded(t, x, y):
    with t.no_grad():
        return x * y


MADE = {
    "flip": lambda t, x: x.flip(0),
    "part": lambda t, x: x[:],
    "cubed": lambda t, x: cubed(t).apply(x),
    "checkpointed": lambda t, x: t.utils.checkpoint.checkpoint(lambda x: x.sin() * x, x, use_reentrant=False),
    "unrecorded": unrecorded,
}


def run(t, program, pool):
    """The last tensor that ``program`` makes of ``pool``."""
    for name, *rest in program:
        at, *more = rest
        x = pool[-1 - at % len(pool)]
        if name in TRANSFORMS:
            pool.append(transformed(t, name, more[1], pool, x, pool[-1 - more[0] % len(pool)]))
        elif name == "hook":
            if x.requires_grad:
                x.register_hook(lambda g, by=more[0]: g * by)
        elif name.endswith("_"):
            y = pool[-1 - more[0] % len(pool)] * 1  # memory of its own: formulas may read it after the write
            x, y = (x[:1], y[:1]) if more[1] else (x, y)
            getattr(x, name)(*([y] if name in ("mul_", "add_", "copy_") else []))
        else:
            operands = [x, *(pool[-1 - p % len(pool)] for p in more)]
            pool.append(MADE[name](t, *operands) if name in MADE else getattr(x, name)(*operands[1:]))
    return pool[-1] * 1


def transformed(t, name, program, pool, x, y):
    """One tensor of the size of ``x`` of what the transform gives for ``program`` at ``x``."""

    def f(z):
        return run(t, program, [*pool, z])

    def summed(z):
        return f(z).sum()

    transform = getattr(t.func, name)
    if name == "grad":
        return transform(summed)(x)
    if name == "grad_and_value":
        gradient, value = transform(summed)(x)
        return gradient * value
    if name == "vjp":
        return transform(f, x)[1](y * 1)[0]
    if name == "jvp":
        value, tangent = transform(f, (x,), (y * 1,))
        return value * tangent
    return transform(f)(x).sum(0)


NO_VERDICT = (
    "ZeroTensor",
    "INTERNAL ASSERT",
    "runs once for each column",  # docs/differences.md: jacfwd of a function that writes to an argument
    "mutate a captured Tensor",  # docs/differences.md: PyTorch's jvp may
    "doesn't require gradient",  # docs/differences.md: what only captured tensors give a history
    "Nested forward mode AD is not supported",
)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.lists(st.one_of(STEPS, programs(STEPS)), min_size=1, max_size=5), st.booleans())
def test_values_gradients_and_writes_are_those_of_pytorch(program, requires_grad):
    def both(t):
        x = t.tensor([0.3, 0.7, -0.4], dtype=t.float64, requires_grad=requires_grad)
        y = t.tensor([0.5, -0.2, 0.9], dtype=t.float64)
        result = run(t, program, [y, x])
        if result.requires_grad:
            result.sum().backward()
        return [Numbers(v.detach().numpy()) for v in (result, x, y, *([] if x.grad is None else [x.grad]))]

    theirs, ours = outcome(both, torch), outcome(both, ag)
    said = "".join(found.first_line for found in (theirs, ours) if isinstance(found, Raised))
    if any(words in said for words in NO_VERDICT) or (isinstance(theirs, Raised) and isinstance(ours, Raised)):
        return
    assert theirs == ours, f"torch  {theirs}\nengine {ours}"
