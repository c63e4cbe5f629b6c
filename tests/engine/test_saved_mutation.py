"""``allow_mutation_on_saved_tensors``: saved tensors are copied before they are written."""

import gc

import pytest
from agdbg_tests_differential import Programs, error_of, facts, leaf, same

import agdbg_engine as ag
from agdbg_engine import events
from agdbg_engine.node import Node

programs = Programs()


def allowed(t, function, *args):
    """``function`` of the context, in it."""
    with t.autograd.graph.allow_mutation_on_saved_tensors() as context:
        return function(context, *args)


@programs
def a_saved_result_is_written(t):
    x = leaf(t, 1.0)

    def program(context):
        y = (2 * x).exp()
        y.mul_(3)
        y.sum().backward()

    allowed(t, program)
    return x.grad


@programs
def a_saved_input_is_written_again_and_again(t):
    x = leaf(t, 1.0, 2.0)

    def program(context):
        y = x.clone()
        z = y**2
        y.sin_()
        w = y * z
        y.cos_()
        y.mul_(w)
        (y + w).sum().backward()

    allowed(t, program)
    return x.grad


@programs
def what_the_context_keeps(t):
    x = leaf(t, 1.0, 2.0)

    def program(context):
        seen = []

        def note():
            seen.append([len(context.original), len(context.cloned)])

        y = x.clone()
        z = (y**2 * y).sum()
        note()
        y.sin_()
        note()
        y.cos_()
        note()
        z.backward()
        note()
        return [seen, list(context.cloned.values()), context]

    seen, cloned, context = allowed(t, program)
    return [seen, cloned, len(context.original), len(context.cloned), x.grad]


@programs
def a_leaf_is_updated_before_backward(t):
    x = leaf(t, 1.0, 2.0)

    def program(context):
        z = (x * x).sum()
        with t.no_grad():
            x.mul_(5)
        z.backward()

    allowed(t, program)
    return [x, x.grad]


@programs
def what_reading_gives_after_a_write(t):
    x = leaf(t, 1.0, 2.0)

    def program(context):
        y = x.exp()
        node = y.grad_fn
        y.mul_(2)
        return [node._saved_result, node._saved_result.grad_fn is node]

    return allowed(t, program)


@programs
def a_retained_graph(t):
    x = leaf(t, 1.0, 2.0)

    def program(context):
        y = x.exp()
        z = (y * y).sum()
        z.backward(retain_graph=True)
        y.zero_()
        z.backward()
        return error_of(z.backward)

    return [allowed(t, program), x.grad]


@programs
def double_backward(t):
    x = leaf(t, 1.0, 2.0)

    def program(context):
        y = x.exp()
        (g,) = t.autograd.grad((y * x).sum(), x, create_graph=True)
        y.mul_(7)
        return t.autograd.grad(g.sum(), x)

    return allowed(t, program)


@programs
def an_operand_that_is_written_by_its_own_op(t):
    x = leaf(t, 1.0, 2.0)

    def program(context):
        y = x * 3
        y.mul_(y)
        y.sum().backward()

    return [error_of(allowed, t, program), x.grad]


@programs
def the_contexts_cannot_be_nested(t):
    return error_of(allowed, t, lambda _: allowed(t, lambda _: None))


@programs
def backward_outside(t):
    x = leaf(t, 1.0, 2.0)
    y = allowed(t, lambda _: x.exp())
    return [
        error_of(y.sum().backward),
        error_of(allowed, t, lambda _: y.sum().backward()),
        error_of(lambda: y.grad_fn._saved_result),
        x.grad,
    ]


@programs
def what_was_saved_before_is_still_checked(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 1
    z = (y * y).sum()
    allowed(t, lambda _: y.mul_(2))
    return error_of(z.backward)


@programs
def it_uses_the_hooks_and_they_may_be_disabled(t):
    with t.autograd.graph.disable_saved_tensors_hooks("no hooks"):
        return error_of(allowed, t, lambda _: None)


@programs
def hooks_inside_go_first(t):
    x, seen = leaf(t, 1.0, 2.0), []

    def program(context):
        with t.autograd.graph.saved_tensors_hooks(lambda v: (seen.append(v), v.clone())[1], lambda v: v):
            y = x.exp()
        seen.append(len(context.original))
        y.sum().backward()

    allowed(t, program)
    return [seen, x.grad]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    pytest.importorskip("torch")
    same(program)


WRITES = [
    lambda y: y[1:].zero_(),
    lambda y: y[:1].zero_(),
    lambda y: y.detach().mul_(0),
    lambda y: y.__setitem__(1, 5.0),
    lambda y: y.view(2, 1).add_(1),
]


@pytest.mark.parametrize("write", WRITES)
def test_a_write_through_any_view_is_seen(write):
    """Unlike in PyTorch, which knows memory by where it begins and misses ``y[1:].zero_()``."""
    x = leaf(ag, 1.0, 2.0)

    def program(context):
        y = x.clone()
        z = (y**2).sum()
        write(y)
        z.backward()

    allowed(ag, program)
    assert x.grad.tolist() == [2.0, 4.0]


def test_optimizers_and_accumulated_gradients_are_writes_too():
    from agdbg_engine import optim

    x = leaf(ag, 1.0, 2.0)
    x.grad = ag.tensor([1.0, 1.0], dtype=ag.float64)
    w = leaf(ag, 3.0, 4.0)

    def program(context):
        z = (x * x).sum() + (x.grad * w).sum()
        optim.SGD([x], lr=0.5).step()
        (x * 7).sum().backward()
        assert x.grad.tolist() == [8.0, 8.0]
        z.backward()

    allowed(ag, program)
    assert w.grad.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [8.0 + 2.0, 8.0 + 4.0]


def test_a_refused_nested_context_leaves_the_outer_one_alone():
    x = leaf(ag, 1.0)

    def program(context):
        assert error_of(allowed, ag, lambda _: None).kind == "RuntimeError"
        y = (2 * x).exp()
        y.mul_(3)
        y.sum().backward()

    allowed(ag, program)
    assert facts(x.grad / 3) == facts((2 * (2 * x).exp()).detach())


def test_instruments_hear_of_the_copies():
    class Told(events.Sink):
        def saved_cloned(self, tensor, count, code, lasti):
            said.append((tensor.tolist(), count, code.co_name))

    said, x = [], leaf(ag, 1.0, 2.0)

    def program(context):
        y = x * 1
        kept = [y * y, y[1] * y]
        y.mul_(2)
        y.mul_(2)
        return kept

    events.install(Told())
    try:
        allowed(ag, program)
    finally:
        events.remove()
    assert said == [([1.0, 2.0], 2, "program")]  # y once, for three slots, and y[1]


def live_nodes():
    return sum(issubclass(type(o), Node) for o in gc.get_objects())


def test_no_cycles_while_the_context_is_open():
    x = leaf(ag, 1.0, 2.0)

    def program(context):
        gc.collect()
        before = live_nodes()
        gc.disable()
        y = x.exp()
        z = (y * y).tanh()
        y.mul_(2)
        z.mul_(y)
        del y, z
        try:
            assert (live_nodes(), len(context.original), len(context.cloned)) == (before, 0, 0)
        finally:
            gc.enable()

    allowed(ag, program)
    assert not events.special & events.SAVED_HOOKS


@programs
def the_tensor_that_is_named_of_two(t):
    seen = []
    for op in (
        lambda x, y: x**y, t.maximum, t.minimum, lambda x, y: x.lerp(y, x), lambda x, y: t.addcmul(x, y, x),
        lambda x, y: t.addcdiv(x, y, x), t.hypot, lambda x, y: t.mv(x, y[0]), lambda x, y: x.t().addmm(y.t(), x @ x.t()),
        lambda x, y: x * y, lambda x, y: x / y, t.atan2,
    ):  # fmt: skip
        first = t.tensor([[0.3, 0.7, 0.2], [0.5, 0.1, 0.9]], requires_grad=True)
        x, y = first * 1, first.sin()
        made = op(x, y)
        with t.no_grad():
            x.add_(1)
            y.add_(1)
        seen.append(error_of(made.sum().backward))
    return seen
