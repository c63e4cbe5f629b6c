"""Custom Functions in forward mode: what jvp gets, and what its answer must be like."""

import pytest
from agdbg_tests_differential import Programs, error_of, essence, leaf, same, unnamed

import agdbg_engine as ag

pytest.importorskip("torch")
programs = Programs()


def forward_ad(t):
    import importlib

    return importlib.import_module("torch.autograd.forward_ad" if t.__name__ == "torch" else "agdbg_engine.forward_ad")


def function(t, forward, jvp, backward=lambda ctx, *gs: gs[0]):
    class F(t.autograd.Function):
        pass

    F.forward, F.jvp, F.backward = staticmethod(forward), staticmethod(jvp), staticmethod(backward)
    return F.apply


def tangents(t, forward, jvp, *xs, only=None):
    """Outputs and their tangents where the inputs (those numbered ``only``) have the tangent 1; what ``jvp`` got."""
    fw, got = forward_ad(t), []

    def told(ctx, *ts):
        got.append([[None if x is None else x.tolist() for x in ts], len(ctx.saved_tensors), t.is_grad_enabled()])
        return jvp(ctx, *ts)

    with fw.dual_level():
        duals = [
            fw.make_dual(x, t.ones_like(x)) if hasattr(x, "shape") and (only is None or i in only) else x
            for i, x in enumerate(xs)
        ]
        outs = function(t, forward, told)(*duals)
        pairs = [fw.unpack_dual(o) for o in (outs if isinstance(outs, tuple) else (outs,)) if hasattr(o, "shape")]
        return got, [[essence(p.primal), essence(p.tangent)] for p in pairs]


def numbers(t, *values):
    return t.tensor(list(values), dtype=t.float64)


def written(ctx, x, *others):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


def written_and_seen(*what):
    """A forward that writes to its second input and returns that, views of it and others, as ``what`` says."""
    made = {
        "written": lambda y: y,
        "view": lambda y: y[:1],
        "all": lambda y: y.view(2),
        "number": lambda y: 7,
    }

    def forward(ctx, x, y):
        if "written" in what:
            y.mul_(2)
            ctx.mark_dirty(y)
        return tuple(made[name](y) for name in what)

    return forward


def with_none(ctx, x, y):
    ctx.set_materialize_grads(False)
    return x * y


def with_fixed(ctx, x):
    y = x * 2
    ctx.mark_non_differentiable(y)
    return y, x * 3


def saving(ctx, x, n):
    ctx.save_for_forward(x)
    ctx.save_for_backward(x, x)
    return x * n


CALLS = {
    "number": (saving, lambda ctx, a, n: a * 3, None),
    "one of two": (lambda ctx, x, y: (x * y, x + y), lambda ctx, a, b: (a * 3, b), [0]),
    "none for missing": (with_none, lambda ctx, a, b: a * 3, [0]),
    "too few": (lambda ctx, x: (x * 2, x * 3), lambda ctx, a: a, None),
    "too many": (lambda ctx, x: x * 2, lambda ctx, a: (a, None), None),
    "no tensor": (lambda ctx, x: x * 2, lambda ctx, a: 3, None),
    "shape": (lambda ctx, x: x * 2, lambda ctx, a: a[:1], None),
    "beside a number": (lambda ctx, x: (x * 2, 3), lambda ctx, a: (a, None), None),
    "fixed": (with_fixed, lambda ctx, a: (None, a), None),
    "tangent for fixed": (with_fixed, lambda ctx, a: (a, a), None),
    "input as it is": (lambda ctx, x: x, lambda ctx, a: a.view_as(a), None),
    "input as it is, other tangent": (lambda ctx, x: x, lambda ctx, a: a * 3, None),
    "input as it is, same tangent": (lambda ctx, x: x, lambda ctx, a: a, None),
    "view": (lambda ctx, x: x.view(2, 1), lambda ctx, a: a.view(2, 1), None),
    "view, other tangent": (lambda ctx, x: x.view(2), lambda ctx, a: a * 3, None),
    "view of another": (lambda ctx, x, y: x.view(2), lambda ctx, a, b: b * 2, [1]),
    "view of the wrong one": (lambda ctx, x, y: x.view(2), lambda ctx, a, b: b.view(2), None),
    "written": (written, lambda ctx, a: a.mul_(2), None),
    "written, tangent not": (written, lambda ctx, a: a * 2, None),
    "written, another returned": (written, lambda ctx, a: a.mul_(2) * 1, None),
    "written without a tangent": (written, lambda ctx, a, b: b * 2, [1]),
    "a view without a tangent, then what was written": (
        written_and_seen("view", "written"),
        lambda ctx, a, b: (a[:1], a * 3),
        [0],
    ),
    "two views without a tangent": (written_and_seen("all", "view"), lambda ctx, a, b: (a.view(2), b[:1]), [0]),
    "a view of what got its tangent": (
        written_and_seen("written", "view"),
        lambda ctx, a, b: ((t := a * 3), t[:1]),
        [0],
    ),
    "no view of what got its tangent": (written_and_seen("written", "view"), lambda ctx, a, b: (a * 3, a[:1] * 3), [0]),
    "no tangents at all": (lambda ctx, x: x * 2, lambda ctx, a: a, []),
}


@pytest.mark.parametrize("name", CALLS)
def test_jvp(name):
    forward, jvp, only = CALLS[name]

    def program(t):
        xs = [numbers(t, 1.0, 2.0), 3 if name == "number" else numbers(t, 2.0, 3.0)]
        return tangents(t, forward, jvp, *xs[: jvp.__code__.co_argcount - 1], only=only)

    same(program)


NO_TANGENT = "Expected both tensor and its forward grad to be floating point or complex"
TWICE = "Cannot set a value of a forward grad if it already exists. Inplace operations should modify it inplace."
MISSING = {  # PyTorch's text has an internal assertion in front
    "of what was written": (("written",), lambda ctx, a, b: None, NO_TANGENT),
    "of the first that was written": (("number", "written", "view"), lambda ctx, a, b: (None, None, None), NO_TANGENT),
    "of a view": (("view",), lambda ctx, a, b: None, NO_TANGENT),
    "another for the same": (("written", "written"), lambda ctx, a, b: (a * 3, a * 4), TWICE),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_tangent_that_is_missing_or_there_twice(name):
    what, jvp, message = MISSING[name]

    def program(t):
        text = error_of(tangents, t, written_and_seen(*what), jvp, numbers(t, 1.0, 2.0), numbers(t, 2.0, 3.0), only=[0])
        assert message in str(text)

    import torch

    for t in (torch, ag):
        program(t)


@programs
def no_jvp(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    fw = forward_ad(t)
    with fw.dual_level():
        return error_of(F.apply, fw.make_dual(numbers(t, 1.0), numbers(t, 1.0)))


@programs
def forward_over_reverse(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x * x

    def jvp(ctx, a):
        (x,) = ctx.saved_tensors
        return 3 * x * x * a

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g

    fw, x = forward_ad(t), leaf(t, 2.0, 3.0)
    with fw.dual_level():
        y = function(t, forward, jvp, backward)(fw.make_dual(x, numbers(t, 1.0, 10.0)))
        (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
        primal, tangent = fw.unpack_dual(g)
        return unnamed(primal), None if tangent is None else unnamed(tangent)


@programs
def reverse_over_forward(t):
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x * x * x

    def jvp(ctx, a):
        (x,) = ctx.saved_tensors
        return 3 * x * x * a

    fw, x, v = forward_ad(t), leaf(t, 2.0, 3.0), leaf(t, 1.0, 10.0)
    with fw.dual_level():
        y = function(t, forward, jvp)(fw.make_dual(x, v))
        tangent = fw.unpack_dual(y).tangent
        return unnamed(tangent), t.autograd.grad(tangent.sum(), [x, v])


@programs
def without_recording(t):
    fw = forward_ad(t)
    with fw.dual_level(), t.no_grad():
        y = function(t, lambda ctx, x: x * 2, lambda ctx, a: a * 2)(fw.make_dual(leaf(t, 1.0), leaf(t, 2.0)))
        return y, fw.unpack_dual(y).tangent


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def written_and_refused(t, jvp, of_a_view):
    """A dual with a history is written in place, and then no tangent comes of it: what backward says."""
    fw = forward_ad(t)

    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    with fw.dual_level():
        x = t.ones(2, 2, requires_grad=True)
        y = fw.make_dual(x, t.ones(2, 2)).tanh()
        refused = error_of(function(t, forward, jvp), y[1:] if of_a_view else y)
        told = error_of(lambda: t.autograd.grad(y.sum(), x))
    return [refused, told, y._version, y.detach()]


def fails(ctx, g):
    raise ValueError("no tangent")


REFUSED = {"raises": fails, "another one": lambda ctx, g: g * 2, "none": lambda ctx, g: None}


@pytest.mark.parametrize("of_a_view", [False, True])
@pytest.mark.parametrize("jvp", REFUSED)
def test_what_a_function_has_written_has_its_whole_node_when_jvp_fails(jvp, of_a_view):
    same(lambda t: written_and_refused(t, REFUSED[jvp], of_a_view))


@pytest.mark.parametrize("of_a_view", [False, True])
@pytest.mark.parametrize("saves", ["input", "result"])
def test_the_error_of_jvp_stands_when_saving_fails_too(saves, of_a_view):
    def hook(x):
        raise KeyError("not packed")

    def program(t):
        class Fn(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x * 2
                ctx.save_for_backward(x if saves == "input" else y)
                return y

            @staticmethod
            def backward(ctx, g):
                return g

            @staticmethod
            def jvp(ctx, g):
                raise ValueError("no tangent")

        with forward_ad(t).dual_level(), t.autograd.graph.saved_tensors_hooks(hook, lambda x: x):
            x = forward_ad(t).make_dual(t.ones(2, 2, requires_grad=True), t.ones(2, 2))
            return error_of(Fn.apply, x[1:] if of_a_view else x)

    same(program)
