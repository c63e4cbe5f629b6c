"""What a person does to a pass between two nodes: skipping, keeping the graph, another saved tensor for one run."""

import numpy as np
import pytest
from agdbg_tests_journal_walks import started
from agdbg_tests_random_programs import leaf_values, pure, run, total
from hypothesis import given, settings
from hypothesis import strategies as st

import agdbg_engine as ag
from agdbg_engine import events
from agdbg_engine.interventions import is_freed, retain
from agdbg_engine.journal import Journal


def to_the_end(bp, journal):
    while bp.position < len(bp.order):
        journal.step()
    bp.finish(None)


def until(bp, journal, op):
    while bp.order[bp.position].op_name != op:
        journal.step()
    return bp.order[bp.position]


def chain():
    """``w * x`` through exp and a matrix product; x also by another way."""
    x = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = ag.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
    h = (x * w).exp()
    return x, w, h, (h @ w).sum() + (x * 3).sum()


@pytest.mark.parametrize("op", ["ExpBackward0", "MulBackward0", "MmBackward0", "SumBackward0", "AddBackward0"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_skipped_node_sends_zeros_as_a_hook_would(op, create_graph):
    x, w, _h, loss = chain()
    bp = started(loss, create_graph=create_graph, retain_graph=create_graph)
    journal = Journal(bp)
    until(bp, journal, op)
    journal.skip()
    to_the_end(bp, journal)
    x2, w2, _h2, loss2 = chain()
    plain = started(loss2, retain_graph=True)
    node = next(n for n in plain.order if n.op_name == op)
    node.register_hook(lambda gi, go: tuple(None if g is None else ag.zeros_like(g) for g in gi))
    loss2.backward(create_graph=create_graph)
    assert np.array_equal(x.grad.detach().numpy(), x2.grad.detach().numpy())
    assert np.array_equal(w.grad.detach().numpy(), w2.grad.detach().numpy())


def test_a_skipped_node_is_not_freed_and_tells_zeros_as_its_gradients():
    _x, _w, _h, loss = chain()
    bp = started(loss)
    journal = Journal(bp)
    node = until(bp, journal, "ExpBackward0")
    journal.skip()
    assert not is_freed(node)
    assert [g.tolist() for g in journal.gradients_out(node)] == [[[0.0, 0.0], [0.0, 0.0]]]
    assert journal.barrier() is None
    to_the_end(bp, journal)


def test_a_skipped_leaf_gets_nothing():
    x, w, _h, loss = chain()
    bp = started(loss)
    journal = Journal(bp)
    while getattr(bp.order[bp.position], "variable", None) is not w:
        journal.step()
    journal.skip()
    to_the_end(bp, journal)
    assert w.grad is None
    assert x.grad is not None


def test_what_would_fail_can_be_skipped():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    loss = (y.sum() + (x * 3).sum()) * 1
    with ag.no_grad():
        y.mul_(2)  # what exp has saved
    bp = started(loss)
    journal = Journal(bp)
    until(bp, journal, "ExpBackward0")
    journal.skip()
    to_the_end(bp, journal)
    assert x.grad.tolist() == [3.0, 3.0]


class Twice(ag.autograd.Function):
    calls = 0

    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        return x * factor

    @staticmethod
    def backward(ctx, g):
        Twice.calls += 1
        (x,) = ctx.saved_tensors
        return g * x, None


def test_a_custom_function_is_skipped_without_a_call():
    Twice.calls = 0
    x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    loss = Twice.apply(x.exp(), 2.0).sum()
    bp = started(loss)
    journal = Journal(bp)
    until(bp, journal, "TwiceBackward")
    journal.skip()
    to_the_end(bp, journal)
    assert Twice.calls == 0
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_grad_picks_up_what_came_to_a_skipped_node():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    h = x.exp()
    loss = (h * h).sum()
    bp = started(loss, inputs=[h, x])
    journal = Journal(bp)
    until(bp, journal, "ExpBackward0")
    journal.skip()
    to_the_end(bp, journal)
    assert bp.captures[0].value.tolist() == (2 * h).tolist()
    assert bp.captures[1].value.tolist() == [0.0, 0.0]


@settings(max_examples=150)
@given(leaf_values(), pure(), st.lists(st.integers(0, 3), max_size=25), st.booleans())
def test_what_was_skipped_and_taken_back_leaves_no_trace(values, program, moves, saved):
    """Any walk of steps, skips and replaced saved tensors that is taken back ends as a pass that never had one."""

    def build():
        done = run(ag, values, program, lambda f, *a: f(*a))
        return done.leaves, total(done)

    plain_leaves, plain = build()
    leaves, loss = build()
    if not plain.requires_grad:
        return
    plain.backward()
    bp = started(loss)
    journal = Journal(bp)
    for move in moves:
        if bp.position >= len(bp.order):
            break
        node = bp.order[bp.position]
        slots = [s for s in node.slots if getattr(getattr(node, "s_" + s), "_storage", 1) is None]
        if move == 0:
            journal.skip()
        elif move == 1 and slots:
            journal.replace_saved(slots[0], np.zeros_like(getattr(node, "s_" + slots[0])._a))
        elif move == 2 and len(journal):
            journal.undo()
        else:
            journal.step()
    while len(journal):
        journal.undo()
    journal = Journal(bp)
    to_the_end(bp, journal)
    assert [bytes_of(x) for x in leaves] == [bytes_of(x) for x in plain_leaves]


def bytes_of(leaf):
    return None if leaf.grad is None else leaf.grad.numpy().tobytes()


# ----- keeping the graph -----


def test_retain_keeps_what_is_not_freed_yet_and_names_the_rest():
    x, w, h, loss = chain()
    expected = [g.tolist() for g in ag.autograd.grad(h, [x, w], ag.ones_like(h), retain_graph=True)]
    bp = started(loss)
    journal = Journal(bp)
    until(bp, journal, "ExpBackward0")
    freed = retain(bp)
    assert "MmBackward0" in [n.op_name for n in freed]
    assert "ExpBackward0" not in [n.op_name for n in freed]
    to_the_end(bp, journal)
    again = ag.autograd.grad(h, [x, w], ag.ones_like(h))
    assert [g.tolist() for g in again] == expected
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        loss.backward()


def test_retain_at_the_start_is_as_retain_graph():
    x, w, _h, loss = chain()
    bp = started(loss)
    assert retain(bp) == []
    to_the_end(bp, Journal(bp))
    loss.backward()
    plain_x, plain_w, _, plain = chain()
    plain.backward(retain_graph=True)
    plain.backward()
    assert x.grad.tolist() == plain_x.grad.tolist()
    assert w.grad.tolist() == plain_w.grad.tolist()


def test_retain_and_back_frees_nothing_of_what_was_taken_back():
    _x, _w, _h, loss = chain()
    bp = started(loss)
    journal = Journal(bp)
    until(bp, journal, "ExpBackward0")
    retain(bp)
    while len(journal):
        journal.undo()
    to_the_end(bp, journal)
    assert not any(is_freed(n) for n in bp.order)
    loss.backward()


# ----- another saved tensor -----


def test_a_saved_input_is_another_one_for_one_run():
    a = ag.tensor([1.0, 2.0], requires_grad=True)
    b = ag.tensor([3.0, 5.0], requires_grad=True)
    loss = (a * b).sum()
    bp = started(loss, retain_graph=True)
    journal = Journal(bp)
    until(bp, journal, "MulBackward0")
    journal.replace_saved("other", ag.tensor([10.0, 20.0])._a)
    assert journal.has_replaced
    to_the_end(bp, journal)
    assert a.grad.tolist() == [10.0, 20.0]
    assert b.grad.tolist() == [1.0, 2.0]
    a.grad = None
    loss.backward()
    assert a.grad.tolist() == [3.0, 5.0]


def test_undo_puts_the_saved_tensor_back():
    a = ag.tensor([1.0, 2.0], requires_grad=True)
    b = ag.tensor([3.0, 5.0], requires_grad=True)
    loss = (a * b).sum()
    bp = started(loss)
    journal = Journal(bp)
    node = until(bp, journal, "MulBackward0")
    journal.replace_saved("other", ag.tensor([10.0, 20.0])._a)
    journal.step()
    assert journal.saved(node)["other"].tolist() == [10.0, 20.0]
    journal.undo()
    assert not journal.has_replaced
    to_the_end(bp, journal)
    assert a.grad.tolist() == [3.0, 5.0]


def test_going_back_without_a_run_puts_it_back_too():
    a = ag.tensor([1.0, 2.0], requires_grad=True)
    loss = (a * a.detach().clone()).sum()
    bp = started(loss)
    journal = Journal(bp)
    until(bp, journal, "MulBackward0")
    journal.replace_saved("other", ag.tensor([10.0, 20.0])._a)
    journal.undo()
    to_the_end(bp, journal)
    assert a.grad.tolist() == [1.0, 2.0]


def test_a_saved_output_that_was_written_to_can_be_given_back():
    x = ag.tensor([0.0, 1.0], requires_grad=True)
    y = x.exp()
    was = y.detach().clone()
    loss = y.sum()
    with ag.no_grad():
        y.mul_(2)
    bp = started(loss)
    journal = Journal(bp)
    until(bp, journal, "ExpBackward0")
    journal.replace_saved("result", was._a)
    to_the_end(bp, journal)
    assert x.grad.tolist() == was.tolist()


def test_what_a_custom_function_saved():
    x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    loss = Twice.apply(x, 2.0).sum()
    bp = started(loss)
    journal = Journal(bp)
    node = until(bp, journal, "TwiceBackward")
    journal.replace_saved("saved_tensors[0]", ag.tensor([7.0, 8.0, 9.0])._a)
    assert node.saved_tensors[0].tolist() == [7.0, 8.0, 9.0]
    to_the_end(bp, journal)
    assert x.grad.tolist() == [7.0, 8.0, 9.0]


# ----- what is told of it -----


class Told(events.Sink):
    def __init__(self):
        self.told = []

    def node_skipped(self, bp, node, order):
        self.told.append(("skipped", node.op_name, order))

    def graph_retained(self, bp):
        self.told.append(("retained", bp.call, None))


def test_instruments_are_told():
    _x, _w, _h, loss = chain()
    sink = Told()
    events.install(sink)
    try:
        bp = started(loss)
        journal = Journal(bp)
        until(bp, journal, "ExpBackward0")
        order = bp.position
        journal.skip()
        retain(bp)
        to_the_end(bp, journal)
    finally:
        events.remove()
    assert sink.told == [("skipped", "ExpBackward0", order), ("retained", "backward", None)]
