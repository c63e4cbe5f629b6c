"""Going back in a backward pass: everything is as it was, and running on gives the results of a pass that never went back."""

import contextlib
import re

import numpy as np
import pytest
from agdbg_tests_journal_walks import MANY, started, walk
from agdbg_tests_random_programs import leaf_values, pure, run, total, writing
from hypothesis import given, settings
from hypothesis import strategies as st

import agdbg_engine as ag
from agdbg_engine import events
from agdbg_engine.backward import Abandoned
from agdbg_engine.journal import Journal
from agdbg_engine.saved import first_refusal

walks = st.lists(st.sampled_from([3, 1, -1, -2, -5, MANY]), max_size=30)


def state(leaves):
    """Gradients bit by bit, with their layout and version."""
    return [
        None
        if x._gradient is None
        else (x._gradient._a.tobytes(), x._gradient._a.strides, x._gradient._version, x._gradient.requires_grad)
        for x in leaves
    ]


def build(values, program):
    done = run(ag, values, program, quietly)
    usable = [x for x in done.pool if quietly(lambda x: x.grad_fn, x) is None or x.grad_fn is not None]
    done.pool = [x for x in usable if can_be_used(x)]
    return done.leaves, total(done)


def quietly(function, *args):
    with contextlib.suppress(RuntimeError):
        return function(*args)


def can_be_used(x):
    try:
        x.grad_fn
    except RuntimeError:
        return False
    return True


@settings(max_examples=300)
@given(leaf_values(), st.one_of(pure(), writing()), walks, st.booleans())
def test_a_walk_ends_where_a_plain_pass_ends(values, program, moves, twice):
    plain_leaves, plain = build(values, program)
    walked_leaves, walked = build(values, program)
    if not plain.requires_grad or first_refusal(started(plain, retain_graph=True).order):
        return
    for retain in (True, False) if twice else (False,):  # the second pass adds to gradients in place
        try:
            plain.backward(retain_graph=retain)
        except RuntimeError as error:  # a write to an expanded view is refused by its node
            with pytest.raises(RuntimeError, match=re.escape(str(error).partition("\n")[0])):
                walk(started(walked, retain_graph=retain), moves)
            return
        walk(started(walked, retain_graph=retain), moves)
        assert state(walked_leaves) == state(plain_leaves)


@settings(max_examples=100)
@given(leaf_values(), pure(), walks)
def test_with_create_graph(values, program, moves):
    plain_leaves, plain = build(values, program)
    walked_leaves, walked = build(values, program)
    plain.backward(create_graph=True)
    walk(started(walked, retain_graph=True, create_graph=True), moves)
    assert state(walked_leaves) == state(plain_leaves)


@settings(max_examples=100)
@given(leaf_values(), pure(), walks)
def test_with_captures(values, program, moves):
    plain_leaves, plain = build(values, program)
    walked_leaves, walked = build(values, program)
    expected = ag.autograd.grad(plain, plain_leaves, allow_unused=True)
    bp = started(walked, inputs=walked_leaves)
    walk(bp, moves)
    found = [c.value for c in bp.captures]
    assert [None if v is None else np.asarray(v).tobytes() for v in found] == [
        None if e is None else np.ascontiguousarray(e._a).tobytes() for e in expected
    ]


@settings(max_examples=100)
@given(leaf_values(), pure(), st.integers(0, 30), st.booleans())
def test_all_the_way_back_leaves_no_trace(values, program, steps, at_once):
    leaves, loss = build(values, program)
    bp = started(loss)
    before = (dict(bp.buffers), set(bp.shared), set(bp.summed), [slots(n) for n in bp.order], state(leaves))
    journal = Journal(bp)
    if at_once:
        journal.advance(steps, lambda node: None)
    else:
        for _ in range(min(steps, len(bp.order))):
            journal.step()
    assert len(journal) == bp.position == min(steps, len(bp.order))
    while len(journal):
        journal.undo()
    after = (dict(bp.buffers), set(bp.shared), set(bp.summed), [slots(n) for n in bp.order], state(leaves))
    assert before[0].keys() == after[0].keys()
    assert all(a is b for a, b in zip(before[0].values(), after[0].values(), strict=True))
    assert before[1:] == after[1:]
    assert bp.position == 0


def slots(node):
    return [id(getattr(node, "s_" + name)) for name in node.slots]


def every_way_back(build):
    """Go to the end, back by 1, 2, ... nodes, and to the end again: leaves and captures are always those of a plain pass."""
    plain_leaves, plain, inputs = build()
    expected_bp = started(plain, inputs=inputs)
    while expected_bp.position < len(expected_bp.order):
        expected_bp.step()
    expected = state(plain_leaves), [bytes_of(c.value) for c in expected_bp.captures]
    leaves, loss, inputs = build()
    bp = started(loss, inputs=inputs)
    journal = Journal(bp)
    states = []
    while bp.position < len(bp.order):
        states.append(snapshot(bp, leaves))
        journal.step()
    for back in range(1, len(bp.order) + 1):
        for _ in range(back):
            journal.undo()
            assert snapshot(bp, leaves) == states[bp.position]
        while bp.position < len(bp.order):
            journal.step()
        assert (state(leaves), [bytes_of(c.value) for c in bp.captures]) == expected


def snapshot(bp, leaves):
    """All that a pass changes, bit by bit."""
    buffers = {id(k): bytes_of(v) for k, v in bp.buffers.items()}
    writers = [
        list(x._gradient._storage.writers) if x._gradient is not None and x._gradient._storage else [] for x in leaves
    ]
    captured = [bytes_of(c.value) for c in bp.captures]
    return buffers, state(leaves), writers, captured, [slots(n) for n in bp.order]


def bytes_of(value):
    return None if value is None else np.asarray(value).tobytes()


def test_a_gradient_that_is_summed_in_place_goes_back():
    def build():
        x = ag.tensor([0.1, 0.2], dtype=ag.float64, requires_grad=True)
        h = x.exp()
        return [x], (h * 2 + h.sin() + h * h + h.tanh() + h.exp()).sum(), None

    every_way_back(build)


def test_a_gradient_that_was_there_before_goes_back_with_its_version_and_writers():
    def build():
        x = ag.tensor([0.1, 0.2], dtype=ag.float64, requires_grad=True)
        for _ in range(3):  # the second and third add in place
            (x * 2).sum().backward()
        return [x], (x.exp() * x).sum(), None

    every_way_back(build)


def test_captured_gradients_go_back():
    def build():
        x = ag.tensor([0.1, 0.2], dtype=ag.float64, requires_grad=True)
        h = x.exp()
        return [x], (h * h + h.sin()).sum(), [h, x]

    every_way_back(build)


def test_retained_gradients_go_back_too():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    h = x * 3
    h.retain_grad()
    bp = started((h * h).sum())
    journal = Journal(bp)
    while bp.position < len(bp.order):
        journal.step()
    assert h.grad.tolist() == [6.0, 12.0]
    while len(journal):
        journal.undo()
    assert h.grad is None
    assert x.grad is None


def test_a_node_with_a_hook_of_the_user_is_a_barrier():
    x = ag.tensor([1.0], requires_grad=True)
    h = x * 3
    h.register_hook(lambda g: None)
    bp = started(h.exp().sum())
    journal = Journal(bp)
    found = []
    while bp.position < len(bp.order):
        journal.step()
        found.append(journal.barrier())
    assert [None if n is None else n.op_name for n in found] == [None, None, "MulBackward0", None]


def test_the_gradients_of_a_node_that_ran():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = ag.tensor([5.0, 7.0], requires_grad=True)
    bp = started((x * y).sum())
    journal = Journal(bp)
    journal.step()
    journal.step()
    node = bp.order[1]
    assert node.op_name == "MulBackward0"
    assert [g.tolist() for g in journal.gradients_in(node)] == [[1.0, 1.0]]
    assert [g.tolist() for g in journal.gradients_out(node)] == [[5.0, 7.0], [1.0, 2.0]]
    assert journal.saved(node) == {"self": x, "other": y}
    assert journal.gradients_in(bp.order[2]) is None
    with pytest.raises(RuntimeError, match="second time"):
        node._saved_self


def test_a_changed_gradient_flows_on():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    bp = started((x * 3).sum())
    journal = Journal(bp)
    journal.step()
    bp.replace(bp.order[1], 0, ag.tensor([10.0, 20.0])._a)
    journal.step()
    journal.step()
    assert x.grad.tolist() == [30.0, 60.0]
    journal.undo()
    journal.undo()
    journal.undo()
    walk(bp, [])
    assert x.grad.tolist() == [3.0, 3.0]


def test_the_horizon(monkeypatch):
    from agdbg_engine import journal as module

    monkeypatch.setattr(module, "MOST_NODES", 5)
    x = ag.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(20):
        y = y * 2
    journal = Journal(started(y))
    for _ in range(12):
        journal.step()
    assert len(journal) == 5
    monkeypatch.setattr(module, "MOST_BYTES", 1)
    journal.step()
    assert len(journal) == 1


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize(("limit", "value"), [("MOST_NODES", 4), ("MOST_BYTES", 16)])
def test_the_horizon_of_nodes_that_run_in_a_row(monkeypatch, limit, value, hooked):
    from agdbg_engine import journal as module

    x = ag.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(40):
        y = y * 2
        if hooked:
            y.register_hook(lambda g: None)
    journal = Journal(started(y))
    monkeypatch.setattr(module, limit, value)
    for _ in range(3):
        journal.advance(12, lambda node: None)
        assert len(journal) == 4
    assert journal.undo(force=hooked) is journal.bp.order[35]
    assert len(journal) == 3


def test_what_runs_next_is_not_looked_for_in_the_whole_journal(monkeypatch):
    from agdbg_engine import journal as module

    x = ag.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(50):
        y = y * x
    journal, looks = Journal(started(y)), []
    monkeypatch.setattr(module, "_node_of", lambda entry, found=module._node_of: looks.append(entry) or found(entry))
    saved = []
    journal.advance(40, lambda node: saved.append(journal.saved(node)))
    assert saved == [{}] * 40
    assert len(looks) <= 40
    assert set(journal.saved(journal.bp.order[0])) == {"self", "other"}


def test_parts_of_a_node():
    x = ag.tensor([1.0], requires_grad=True)
    h = x * 3
    h.register_hook(lambda g: None)
    h.grad_fn.register_prehook(lambda gs: None)
    h.grad_fn.register_hook(lambda gi, go: None)
    bp = started(h.sum())
    names = []
    while bp.position < len(bp.order):
        bp.advance(1, lambda node: bp.run_in_parts(node, names.append))
    assert names == ["apply", "tensor-hooks", "pre-hooks", "apply", "post-hooks", "accumulate"]
    assert x.grad.tolist() == [3.0]


def test_each_slot_that_hooks_unpack_is_a_part():
    called = []
    with ag.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: called.append("unpacked") or t):
        x, y = ag.tensor([2.0], requires_grad=True), ag.tensor([3.0], requires_grad=True)
        z = x * y
    bp = started(z)
    bp.advance(1, lambda node: bp.run_in_parts(node, called.append))
    assert called == ["apply", "unpack other", "unpacked", "unpack self", "unpacked"]
    while bp.position < len(bp.order):
        bp.step()
    assert (x.grad.tolist(), y.grad.tolist(), len(called)) == ([3.0], [2.0], 5)


def test_what_the_engine_keeps_by_itself_is_no_part_of_a_node():
    with ag.autograd.graph.allow_mutation_on_saved_tensors():
        x = ag.tensor([2.0], requires_grad=True)
        bp, names = started(x * x), []
        bp.advance(1, lambda node: bp.run_in_parts(node, names.append))
    assert names == ["apply"]


def test_a_run_that_is_abandoned_is_undone():
    x = ag.tensor([2.0], requires_grad=True)
    fired = []
    h = x * x
    h.register_hook(fired.append)
    bp = started(h.sum())
    journal = Journal(bp)
    journal.step()

    def leave(part):
        if part == "apply":
            raise Abandoned

    with pytest.raises(Abandoned):
        journal.step(lambda node: bp.run_in_parts(node, leave))
    assert len(fired) == 1
    journal.undo(force=True)
    walk(bp, [])
    assert x.grad.tolist() == [4.0]
    assert len(fired) == 2


def test_a_driver_runs_the_pass():
    class Driving(events.Sink):
        def __init__(self):
            self.driver = self.drive
            self.undone = []

        def drive(self, bp):
            journal = Journal(bp)
            journal.step()
            journal.undo()
            journal.step()
            bp.advance(1)

        def node_undone(self, bp, node, order):
            self.undone.append((node.op_name, order))

    sink = Driving()
    events.install(sink)
    try:
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        (x * 3).sum().backward()
    finally:
        events.remove()
    assert x.grad.tolist() == [3.0, 3.0]
    assert sink.undone == [("SumBackward0", 0)]


def test_what_will_be_refused():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 2).exp()
    z = (y * y).sum()
    order = started(z, retain_graph=True).order
    assert first_refusal(order) is None
    y.mul_(3)
    found = first_refusal(order)
    assert (found.node.op_name, found.slot, found.freed) == ("MulBackward0", "self", None)
    assert "modified by an inplace operation" in str(found.error())
    w = (x * x).sum()
    w.backward()
    found = first_refusal(started(w).order)
    assert (found.node.op_name, found.slot) == ("MulBackward0", "self")
    assert "second time" in str(found.error())


def test_a_write_through_a_view_is_seen_too():
    base = ag.tensor([1.0, 2.0, 3.0], requires_grad=True).clone()
    scale = ag.tensor([5.0], requires_grad=True) * 1
    base[:1].mul_(scale)
    scale.add_(1)
    loss = base.sum()
    found = first_refusal(started(loss, retain_graph=True).order)
    assert found is not None
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@settings(max_examples=100)
@given(leaf_values(), st.one_of(pure(), writing()), st.integers(0, 30))
def test_what_is_noted_of_many_at_once_is_what_is_noted_of_each(values, program, stop_at):
    noted = []
    for at_once in (False, True):
        _, loss = build(values, program)
        if not loss.requires_grad or first_refusal(started(loss, retain_graph=True).order):
            return
        bp = started(loss)
        journal = Journal(bp)

        def before(node, bp=bp):
            if bp.position == stop_at:
                raise Abandoned

        if at_once:
            journal.advance(len(bp.order), before)
        else:
            while bp.position < min(stop_at, len(bp.order)):
                journal.step()
        assert bp.position == min(stop_at, len(bp.order))
        journal._count()
        noted.append([what_is_known(journal, node) for node in bp.order[: bp.position]] + [journal._bytes])
    assert noted[0] == noted[1]


def what_is_known(journal, node):
    gradients = [*journal.gradients_in(node), *(journal.gradients_out(node) or ())]
    saved = {name: type(value) for name, value in journal.saved(node).items()}
    return [bytes_of(g) for g in gradients], saved


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("is_written_before", [False, True])
@pytest.mark.parametrize("share", [lambda y: None, lambda y: y.detach(), lambda y: y[:1]])
def test_what_a_result_was_given_while_its_node_was_freed_is_known_when_it_has_it_again(
    share, is_written_before, hooked
):
    def write(y):
        with ag.no_grad():
            y.mul_(0)

    x = ag.tensor([1.0, 2.0], requires_grad=True)
    with ag.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t) if hooked else contextlib.nullcontext():
        y = x.exp()
    bp = started((y * 1).sum())
    journal = Journal(bp)
    while bp.position < len(bp.order):
        journal.step()
    share(y)
    if is_written_before:
        write(y)
    while journal:
        journal.undo(force=True)
    if not is_written_before:
        write(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        while bp.position < len(bp.order):
            journal.step()
