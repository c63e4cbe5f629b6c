"""The names on a context are the user's, whatever the engine calls its own things: set, read back, deleted; gradients stay right."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

import agdbg_engine as ag
from agdbg_engine.function import names

torch = pytest.importorskip("torch")
programs = Programs()

NAMES = sorted(names._names)
PLACES = ("forward", "setup_context", "backward", "jvp", "outside", "dict")


def custom(t, touch, apart=False):
    """The Function x * y, x + y, which calls ``touch(place, ctx)`` in each of its functions."""

    class F(t.autograd.Function):
        if apart:

            @staticmethod
            def forward(x, y):
                return x * y, x + y

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)
                ctx.save_for_forward(*inputs)
                touch("setup_context", ctx)
        else:

            @staticmethod
            def forward(ctx, x, y):
                ctx.save_for_backward(x, y)
                ctx.save_for_forward(x, y)
                touch("forward", ctx)
                return x * y, x + y

        @staticmethod
        def backward(ctx, g, h):
            touch("backward", ctx)
            x, y = ctx.saved_tensors
            return g * y + h, g * x + h

        @staticmethod
        def jvp(ctx, a, b):
            touch("jvp", ctx)
            x, y = ctx.saved_tensors
            return a * y + x * b, a + b

    return F


def used(t, name, place, value, deleted):
    seen = []

    def touch(now, ctx):
        if place == now or (place == "dict" and now in ("forward", "backward")):
            if place == "dict":
                ctx.__dict__.update({name: value})
            else:
                setattr(ctx, name, value)
            seen.append(getattr(ctx, name) == value)
            if deleted:
                delattr(ctx, name)
                seen.append(error_of(delattr, ctx, name))
        if seen:
            seen.append([name in vars(ctx), getattr(ctx, name, None) == value])

    function = custom(t, touch, place == "setup_context")
    x, y = leaf(t, 2.0), leaf(t, 3.0)
    first, second = x * 1, y * 1
    out, total = function.apply(first, second)
    if place == "outside":
        touch("outside", out.grad_fn)
    fired = []
    out.grad_fn.register_hook(lambda found, gs: fired.append([f.tolist() for f in found]))
    out.backward(retain_graph=True)
    (out + total).backward()
    touch("end", out.grad_fn)
    with t.autograd.forward_ad.dual_level():
        dual = function.apply(t.autograd.forward_ad.make_dual(t.ones(1), t.ones(1) * 2), t.ones(1))
        tangents = [t.autograd.forward_ad.unpack_dual(d).tangent for d in dual]
    return [
        seen,
        fired,
        x.grad,
        y.grad,
        tangents,
        len(out.grad_fn.next_functions),
        error_of(lambda: out.grad_fn.saved_tensors).kind,
    ]


@pytest.mark.parametrize("place", PLACES)
def test_a_name_of_the_engine(place):
    assert len(NAMES) > 45
    assert {"_kept", "_versions", "unfilled", "seq", "next", "hooks", "grads", "multi", "slots", "tag", "name"} <= set(
        NAMES
    )
    for name in NAMES:
        if name == "_get_user_fn":  # PyTorch calls what is there
            continue
        for value, deleted in ((5, True), ((1,), False)):

            def program(t, name=name, value=value, deleted=deleted):
                return used(t, name, place, value, deleted)

            same(program)


@programs
def names_are_kept_from_writes_from_outside(t):
    function = custom(t, lambda place, ctx: None)
    x = leaf(t, 2.0)
    found = []
    for number in (0, 10**9):
        one, _ = function.apply(x * 1, x)
        two, _ = function.apply(one, x)
        one.grad_fn.seq = number
        vars(two.grad_fn).update(grads=3, multi=False, _kept=[1])
        two.backward()
        found.append([x.grad.clone(), one.grad_fn.seq, two.grad_fn.grads, two.grad_fn.multi, two.grad_fn._kept])
    one.grad_fn.__dict__ = {"hooks": 3}
    return [found, one.grad_fn.hooks, vars(one.grad_fn), error_of(lambda: one.grad_fn.seq).kind]


@programs
def names_that_pytorch_has(t):
    node = custom(t, lambda place, ctx: None).apply(leaf(t, 1.0), leaf(t, 2.0))[0].grad_fn
    refused = (
        "saved_tensors",
        "metadata",
        "next_functions",
        "requires_grad",
        "_input_metadata",
        "_raw_saved_tensors",
        "nothing",
    )
    empty = ("to_save", "needs_input_grad", "dirty_tensors", "non_differentiable", "saved_for_forward")
    deleted = [
        error_of(delattr, node, n) for n in (*refused, *empty, "name", "register_hook", "apply", "_sequence_nr", "seq")
    ]
    written = [error_of(setattr, node, n, 1) for n in refused]
    node.name = "mine"
    return [deleted, written, [getattr(node, n) for n in empty], node.name, sorted(vars(node))]


@programs
def an_attribute_error_of_a_hook(t):
    class Own(AttributeError):
        pass

    own = Own("my own words", 3)

    def fails(value):
        raise own

    found = []
    for unpack in (fails, lambda v: v.nonexistent_method(), lambda v: None.foo):
        x = leaf(t, 1.0)
        with t.autograd.graph.saved_tensors_hooks(lambda v: v, unpack):
            out, _ = custom(t, lambda place, ctx: None).apply(x, x)
        out.grad_fn.seq = 5
        for ask in (
            out.backward,
            lambda out=out: out.grad_fn.saved_tensors,
            lambda out=out: out.grad_fn.saved_variables,
        ):
            try:
                ask()
            except AttributeError as error:
                found.append(
                    [error is own, type(error).__name__, str(error), error.args == own.args, error.__context__ is None]
                )
        found.append(
            [hasattr(out.grad_fn, "saved_tensors"), out.grad_fn.seq, error_of(lambda out=out: out.grad_fn.nothing)]
        )
    return found


@programs
def a_context_of_ones_own(t):
    ctx = t.autograd.function.FunctionCtx()
    x, y = t.ones(2), t.ones(2) * 3
    out, total = custom(t, lambda place, ctx: setattr(ctx, "seq", place)).forward(ctx, x, y)
    ctx.mark_dirty(x)
    ctx.mark_non_differentiable(total)
    ctx.set_materialize_grads(False)
    ctx.saved_tensors = ctx.to_save
    gradients = custom(t, lambda place, ctx: None).backward(ctx, x, y)
    return [out, gradients, ctx.seq, sorted(vars(ctx)), ctx.dirty_tensors[0] is x, ctx.non_differentiable[0] is total]


@pytest.mark.filterwarnings("ignore:'saved_variables' is deprecated")
@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def test_an_instrument_numbers_a_node_that_the_user_numbers():
    node = custom(ag, lambda place, ctx: None).apply(leaf(ag, 1.0), leaf(ag, 2.0))[0].grad_fn
    tag = type(node).tag
    tag.fset(node, 7)
    assert not hasattr(node, "tag")
    node.tag = 3
    assert node.tag == 3
    del node.tag
    assert not hasattr(node, "tag")
    node._sequence_nr = 1
    del node._sequence_nr
    assert node._sequence_nr() > 1
