"""Going back over a node that has called backward: what that pass did is undone with the node, and done once by the next run."""

import contextlib

import pytest
from agdbg_tests_journal_walks import started, walk
from hypothesis import given, settings
from hypothesis import strategies as st

import agdbg_engine as ag
from agdbg_engine import events, journal
from agdbg_engine.journal import Journal
from agdbg_engine.utils.checkpoint import checkpoint

pytestmark = pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad=True")  # a checkpoint within one
walks = st.lists(st.sampled_from([3, 1, -1, -2, -5]), max_size=20)


def leaf(*values):
    return ag.tensor(list(values), requires_grad=True)


def enabled(loss):
    """Run backward on a loss that is computed here."""
    with ag.enable_grad():
        loss().backward()


def hooked():
    """A hook runs a pass that adds to the gradient of a leaf of this pass, of another one, and one that frees a graph made before."""
    x, w, v = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(5.0)
    before = (v.exp() * 2).sum()
    y = (x * w).sin()

    def hook(grad):
        with ag.enable_grad():
            (w * 2).sum().backward()
        if v.grad is None:
            before.backward()
        return grad * 2

    y.register_hook(hook)
    return (y * x).sum(), [x, w, v]


def checkpointed():
    """Re-entrant checkpoints within each other."""
    x, w = leaf(1.0, 2.0), leaf(0.5, 0.25)

    def inner(t):
        return (t * w).tanh()

    def outer(t):
        return checkpoint(inner, t.exp(), use_reentrant=True) * w

    return checkpoint(outer, x * 1, use_reentrant=True).sum(), [x, w]


def own_backward():
    """A Function whose backward runs passes, one of which fails."""
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)

    class Own(ag.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            ctx.save_for_backward(t)
            return t * 2

        @staticmethod
        def backward(ctx, grad):
            (t,) = ctx.saved_tensors
            with ag.enable_grad():
                own = t.detach().requires_grad_()
                (own**3).sum().backward()
                with ag.no_grad():
                    own.grad.mul_(2)
                spoiled = (w * 3).exp()
                bad = (spoiled * w).sum()
                with ag.no_grad():
                    spoiled.add_(1)
                with contextlib.suppress(RuntimeError):
                    bad.backward()
            return grad * 2 * own.grad

    return (Own.apply(x.exp()) * w).sum(), [x, w]


PROGRAMS = [hooked, checkpointed, own_backward]


@pytest.mark.parametrize("program", PROGRAMS)
def test_undoing_a_node_undoes_the_passes_that_it_called(program):
    loss, leaves = program()
    bp = started(loss)
    noted, states = Journal(bp), []
    while bp.position < len(bp.order):
        states.append([None if x._gradient is None else x._gradient._a.tolist() for x in leaves])
        noted.step()
    for before in reversed(states):
        noted.undo(force=True)
        assert [None if x._gradient is None else x._gradient._a.tolist() for x in leaves] == before
    bp.finish(None)


@settings(max_examples=60)
@given(st.sampled_from(PROGRAMS), walks)
def test_a_walk_ends_where_a_plain_pass_ends(program, moves):
    plain, leaves = program()
    plain.backward()
    loss, walked = program()
    walk(started(loss), moves)
    assert [x._gradient._a.tobytes() for x in walked if x._gradient is not None] == [
        x._gradient._a.tobytes() for x in leaves if x._gradient is not None
    ]


class Undone(events.Sink):
    def __init__(self):
        self.seen = []

    def node_undone(self, bp, node, order):
        self.seen.append((bp.parent is not None, node.name(), order))


def test_instruments_are_told_of_each_node_in_turn(monkeypatch):
    x, w = leaf(1.0, 2.0), leaf(3.0)
    y = x.exp()
    y.register_hook(lambda grad: enabled(lambda: (w * 2).sum()))
    bp = started(y.sum())
    noted = Journal(bp)
    noted.step()
    noted.step()
    assert w.grad is not None
    sink = Undone()
    monkeypatch.setattr(events, "sink", sink)
    noted.undo(force=True)
    inner = [(True, "torch::autograd::AccumulateGrad", 2), (True, "MulBackward0", 1), (True, "SumBackward0", 0)]
    assert sink.seen == [*inner, (False, "ExpBackward0", 1)]
    assert w.grad is None
    bp.finish(None)


def nested_in(depth):
    """A pass whose hook runs a pass, and so on."""
    x, w = leaf(1.0), leaf(1.0)

    def made(left):
        y = x * w
        if left:
            y.register_hook(lambda grad: enabled(lambda: made(left - 1)))
        return y.sum()

    return made(depth), w


@pytest.mark.parametrize("limit", ["MOST_NODES", "MOST_NESTED"])
def test_what_is_too_much_stays_done_as_a_whole(monkeypatch, limit):
    monkeypatch.setattr(journal, limit, 2)
    loss, w = nested_in(4)
    bp = started(loss)
    noted = Journal(bp)
    noted.step()
    noted.step()
    assert w.grad.item() == 4
    assert noted.undoes_passes() is (limit == "MOST_NESTED")
    noted.undo(force=True)
    assert w.grad.item() == (4 if limit == "MOST_NODES" else 2)
    bp.finish(None)


def test_deep_nesting_needs_no_more_stack_than_without_a_journal():
    loss, w = nested_in(300)
    bp = started(loss)
    noted = Journal(bp)
    while bp.position < len(bp.order):
        noted.step()
    assert w.grad.item() == 301
    while noted:
        noted.undo(force=True)
    bp.finish(None)


def test_the_bytes_of_nested_passes_are_counted(monkeypatch):
    x, w = leaf(*[1.0] * 1000), leaf(*[1.0] * 1000)
    y = x * 1
    for _ in range(20):
        y = y * 1
        y.register_hook(lambda grad: enabled(lambda: (w * w).sum()))
    bp = started(y.sum())
    noted = Journal(bp)
    monkeypatch.setattr(journal, "MOST_BYTES", 60_000)
    while bp.position < len(bp.order):
        noted.step()
    assert 0 < len(noted) < 20
    bp.finish(None)
