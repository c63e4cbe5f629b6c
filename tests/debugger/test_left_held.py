"""What a pass leaves held counts until its graph is freed or gone, along later passes and in the report of memory."""

import pytest

import agdbg
import agdbg_engine as ag
from agdbg.events import Held, Kind, head, pack_edge, pack_save
from agdbg.hub.history import History
from agdbg.record import Facts, Recorder
from agdbg.record.reader import Trace
from agdbg.report.memory import memory_report

BYTES = 4 * 100  # of a vector of float32 with 100 elements


def vector():
    return ag.ones(100, requires_grad=True)


@pytest.fixture
def told(tmp_path):
    """Runs a program; for each of its passes what was held at its runs and behind them, in vectors, and its storages."""

    def run(program):
        with agdbg.record(tmp_path / "t", also=frozenset({"shapes"})):
            kept = program()
        del kept
        return [
            told_of(tmp_path / "t", number) for number in range(1, len(Facts(Trace.open(tmp_path / "t")).passes) + 1)
        ]

    return run


def told_of(path, number):
    body = History(path).profile(0, 100, 100, number)
    assert not any(each % BYTES for each in body["held"])
    return [each // BYTES for each in body["held"]], body["heldAfter"] // BYTES, body["storages"]


def most(path):
    report = memory_report(Facts(Trace.open(path)))
    return report.peak_bytes // BYTES, report.peak_storages, report.dropped // BYTES


def test_a_kept_graph_is_held_along_the_next_pass(told, tmp_path):
    def program():
        w = vector()
        kept = w.exp().exp().sum()
        kept.backward(retain_graph=True)
        w.exp().sum().backward()
        return kept

    assert told(program) == [([2] * 4, 2, 2), ([3, 3, 2], 2, 3)]
    assert most(tmp_path / "t") == (3, 3, 0)


def test_a_kept_graph_is_held_until_a_later_pass_frees_it(told, tmp_path):
    def program():
        w = vector()
        kept = w.exp().exp().sum()
        kept.backward(retain_graph=True)
        w.exp().sum().backward()
        kept.backward()
        w.exp().sum().backward()
        return kept

    assert told(program)[1:] == [([3, 3, 2], 2, 3), ([2, 2, 1, 0], 0, 2), ([1, 1, 0], 0, 1)]
    assert most(tmp_path / "t") == (3, 3, 0)


def test_a_kept_graph_that_nobody_has_any_more_is_held_no_longer(told, tmp_path):
    def program():
        w = vector()
        w.exp().exp().sum().backward(retain_graph=True)
        w.exp().sum().backward()

    assert told(program) == [([2] * 4, 2, 2), ([1, 1, 0], 0, 1)]


def test_a_name_that_is_bound_again_lets_the_graph_before_go(told):
    def program():
        w = vector()
        for _ in range(4):
            loss = w.exp().sum()
            loss.backward(retain_graph=True)

    assert told(program) == [([1] * 3, 1, 1)] * 4


def test_of_graphs_beside_one_that_stays_the_youngest_are_taken_to_be_there(told):
    def program():
        w = vector()
        first = w.exp().exp().sum()
        first.backward(retain_graph=True)
        losses = []
        for _ in range(4):
            losses = [*losses[-1:], w.exp().sum()]
            losses[-1].backward(retain_graph=True)
        return first

    assert [(held[0], after) for held, after, _ in told(program)] == [(2, 2), (3, 3), (4, 4), (4, 4), (4, 4)]


def test_what_a_failed_pass_has_not_run_is_held(told, tmp_path):
    def fails(grad):
        raise ValueError("on purpose")

    def program():
        w = vector()
        y = w.exp()
        y.register_hook(fails)
        loss = y.exp().exp().sum()
        with pytest.raises(ValueError, match="on purpose"):
            loss.backward()
        w.exp().sum().backward()
        return loss

    # of the failed one the two upper exp are freed
    held, after, storages = told(program)[1]
    assert (held, after, storages) == ([2, 2, 1], 1, 2)
    assert most(tmp_path / "t") == (3, 3, 0)


def test_what_a_pass_for_some_gradients_has_not_run_is_held(told):
    def program():
        a, b = vector(), vector()
        left, right = a.exp().exp(), b.exp()
        loss = (left + right).sum()
        ag.autograd.grad(loss, b)
        a.exp().sum().backward()
        return loss

    assert told(program) == [([3, 3, 3, 2], 2, 3), ([3, 3, 2], 2, 3)]


def test_memory_that_several_graphs_have_saved_counts_once(told):
    def program():
        w = vector()
        x = w.exp().detach()
        first, second = (w * x).sum(), (w * x).sum()
        first.backward(retain_graph=True)
        second.backward()
        return first

    assert told(program) == [([1] * 3, 1, 1)] * 2


def test_an_unrolled_graph_is_held_as_long_as_a_result_within_it(told):
    def program():
        w = vector()
        y = w.exp()
        y.exp().sum().backward(retain_graph=True)
        w.exp().sum().backward()
        return y

    # that the root is gone is not told while the node that came last is there
    assert told(program)[1] == ([3, 3, 2], 2, 3)


def test_what_an_interrupted_trace_has_not_told_yet_is_not_taken_for_gone(tmp_path):
    recorder = Recorder(tmp_path / "t", program={}, engine={}, sees={})
    node, other, thread = recorder.new_node(), recorder.new_node(), recorder.thread()
    recorder.emit(head(Kind.BORN, thread, b=1), node, node, 0, 0, 0, pack_save(1, 0, 0), 0)
    recorder.emit(head(Kind.SHAPE, thread), node, 0, 100, 1, BYTES, 0, 0)
    recorder.emit(head(Kind.BORN, thread), other, other, 0, 0, 0, 0, 0)
    recorder.emit(head(Kind.PASS_STARTED, thread, 4, a=1), 1, 0, pack_edge(node), 0, 0, 1, 0)
    recorder.emit(head(Kind.RAN, thread), node, 1, 0, 0, 10, 0, 0)
    recorder.emit(head(Kind.PASS_FINISHED, thread), 1, 0, 1, 20, 0, 0, 0)
    recorder.emit(head(Kind.PASS_STARTED, thread, a=1), 2, 0, pack_edge(other), 0, 0, 1, 0)
    recorder.flush()
    assert told_of(tmp_path / "t", 2) == ([], 1, 1)
    recorder.emit(head(Kind.HELD, thread, a=Held.SOMEBODY), 2, 1, pack_edge(node), 0, 0, 0, 0)
    recorder.flush()
    assert told_of(tmp_path / "t", 2) == ([], 1, 1)
    recorder.emit(head(Kind.RAN, thread), other, 2, 0, 0, 10, 0, 0)
    recorder.close()
    assert told_of(tmp_path / "t", 2) == ([1], 1, 1)
