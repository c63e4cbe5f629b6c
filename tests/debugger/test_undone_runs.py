"""Runs that were taken back: found as they are told, at a cost that does not grow with how many there were."""

import time

import numpy as np
import pytest

from agdbg.events import Kind, Outcome, head
from agdbg.hub.history import History
from agdbg.record import Facts, Trace
from agdbg.record.index import without

NODES = 40


@pytest.fixture
def recorder(new_recorder):
    made = new_recorder()
    op = made.op("MulBackward0")
    for node in range(1, NODES + 1):
        made.emit(head(Kind.BORN, 1), node, node, op << 32, 0, 0, 0, 0)
    made.emit(head(Kind.PASS_STARTED, 1), 1, 0, NODES, 0, 0, NODES, 0)
    return made


def ran(recorder, node, order, outcome=Outcome.OK):
    recorder.emit(head(Kind.RAN, 1), node, 1, order, 0, 0, outcome, 0)


def undone(recorder, node, order):
    recorder.emit(head(Kind.UNDONE, 1), node, 1, order, 0, 0, 0, 0)


def test_what_was_taken_back_is_the_same_however_it_is_read(recorder):
    history = None
    chance = np.random.default_rng(5)
    position = 0
    for _ in range(400):
        if position and (position == NODES or chance.random() < 0.45):
            position -= 1
            undone(recorder, NODES - position, position)
        else:
            ran(recorder, NODES - position, position)
            recorder.emit(head(Kind.FREED, 1), NODES - position, 1, 0, 0, 0, 0, 0)
            position += 1
        if chance.random() < 0.1:
            recorder.flush()
            history = history or History(recorder.path)
            history.poll()
    recorder.flush()
    history.poll()
    facts = Facts(Trace.open(recorder.path))
    assert len(facts.void) > 200
    assert history.live.void == facts.void == History(recorder.path).live.void
    assert [run.order for run in facts.runs(1)] == list(range(position))
    for each in (facts, history.live):
        assert [each.run(row).order for row in each.run_rows.tolist()] == list(range(position))
    states = [row["state"] for row in history.rows(0, NODES)["rows"]]
    assert states == ["pending"] * (NODES - position) + ["freed"] * position


def test_one_run_that_is_taken_back_again_and_again(recorder):
    history = History(recorder.path)
    for _ in range(3000):
        ran(recorder, NODES, 0)
        undone(recorder, NODES, 0)
    ran(recorder, NODES, 0)
    recorder.flush()
    history.poll()
    assert len(history.live.void) == 3000
    assert [run.order for run in history.live.runs_of(NODES)] == [0]
    assert history.state(NODES) == "freed"


def test_a_page_after_2000_undone_steps_costs_what_it_does_after_none(recorder):
    recorder.flush()
    history = History(recorder.path)

    def steps(count):
        """The median time of a page after a step there and back."""
        took = []
        for number in range(count):
            place = number % NODES
            ran(recorder, NODES - place, place)
            undone(recorder, NODES - place, place)
            recorder.flush()
            before = time.process_time()
            assert history.poll()
            history.rows(0, NODES)
            took.append(time.process_time() - before)
        return float(np.median(took))

    early = steps(100)
    steps(1800)
    late = steps(100)
    assert len(history.live.void) == 2000
    assert late < 3 * early + 0.001


def test_without_leaves_out_what_is_there():
    rows = np.array([2, 5, 7, 11])
    assert without(rows, {5, 11, 3, 99}).tolist() == [2, 7]
    assert without(rows, set()).tolist() == [2, 5, 7, 11]
    assert without(rows[:0], {5}).tolist() == []
