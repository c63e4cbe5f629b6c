"""Runs of nodes are noted while a pass runs and written many at once: nothing is lost, and the order stays."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg.engines import native, native_runs
from agdbg.events import Kind
from agdbg.record import Recorder, Trace
from agdbg.record.writer import BATCH_RECORDS
from agdbg_engine import events as engine_events

LENGTHS = (1, 15, 16, 17, 80, 337, 1500)


@pytest.fixture
def record(tmp_path):
    """A function that runs a program under recording and returns the records without clocks."""
    number = itertools.count()

    def run(program):
        recorder = Recorder(tmp_path / f"trace{next(number)}", program={}, engine={}, sees=native.SEES)
        native.attach(recorder)
        try:
            program()
        finally:
            native.detach()
            recorder.close()
        trace = Trace.open(recorder.path)
        clocks = np.flatnonzero(trace.kinds == Kind.CLOCK)
        assert np.diff([*clocks, len(trace.kinds)]).max() <= BATCH_RECORDS
        return np.array(trace.records)[trace.kinds != Kind.CLOCK]

    return run


def chain(length):
    x = ag.tensor([1.0], requires_grad=True)
    y = x
    for _ in range(length):
        y = y * 1.0
    return x, y


def kinds_of(rows):
    return (rows[:, 0] & np.uint64(255)).tolist()


@pytest.mark.parametrize("length", LENGTHS)
def test_every_node_ran_once_in_order_with_its_times(record, length):
    rows = record(lambda: chain(length)[1].backward())
    runs = rows[np.array(kinds_of(rows)) == Kind.RAN]
    assert runs[:, 3].tolist() == list(range(length + 1))
    born = rows[np.array(kinds_of(rows)) == Kind.BORN, 1].tolist()  # the leaf first, and it runs last
    assert runs[:, 1].tolist() == born[::-1]
    assert (runs[:, 0] == np.uint64(Kind.RAN | 1 << 32)).all()
    starts, took = runs[:, 4].astype(np.int64), runs[:, 5].astype(np.int64)
    assert (took > 0).all() and (starts[1:] >= starts[:-1] + took[:-1]).all()
    assert not runs[:, 6:].any()


def test_the_nodes_of_an_older_graph_are_numbered_when_their_runs_are_written(record):
    _, y = chain(100)
    rows = record(y.backward)
    kinds = np.array(kinds_of(rows))
    assert (kinds == Kind.RAN).sum() == 101 == (kinds == Kind.BORN).sum()


@pytest.mark.parametrize("at", [0, 1, 50, 99])
def test_what_a_hook_builds_is_born_between_the_runs(record, at):
    def program():
        x = ag.tensor([1.0], requires_grad=True)
        y = x
        for i in range(100):
            y = y * 1.0
            if i == 99 - at:
                y.register_hook(lambda g: (x.detach().requires_grad_() + 1.0) and None)
        y.backward()

    rows = record(program)
    kinds = kinds_of(rows)
    fired = max(i for i, k in enumerate(kinds) if k == Kind.HOOK)
    assert kinds[:fired].count(Kind.RAN) == at
    assert kinds.count(Kind.RAN) == 101


@pytest.mark.parametrize("at", [0, 1, 16, 40, 99])
def test_the_run_that_fails_comes_after_those_that_went_well(record, at):
    def program():
        x = ag.tensor([1.0], requires_grad=True)
        y = x
        for i in range(100):
            y = y.exp() if i == 99 - at else y * 1.0
            if i == 99 - at:
                spoilt = y
        with ag.no_grad():
            spoilt.mul_(2.0)
        with pytest.raises(RuntimeError):
            y.backward()

    rows = record(program)
    kinds = kinds_of(rows)
    runs = rows[np.array(kinds) == Kind.RAN]
    assert runs[:, 3].tolist() == list(range(at + 1))
    assert runs[:, 6].tolist() == [0] * at + [1]
    assert kinds[: kinds.index(Kind.ERROR)].count(Kind.RAN) == at
    finished = rows[kinds.index(Kind.PASS_FINISHED)]
    assert finished[2] == 1 and finished[3] == at


@pytest.mark.parametrize(
    ("ran", "took_ns", "following"),
    [
        (16, 1_000, 64),  # quick ones: soon more at once
        (512, 100_000, 512),
        (400, 4_000_000, 400),  # as many as take the span: no falling back to a few, and no growing
        (200, 8_000_000, 100),
        (512, 10**12, 16),  # slow ones: those that have run are told soon
        (1, 10**12, 16),
        (3, 0, 16),
    ],
)
def test_as_many_run_until_the_next_telling_as_take_a_few_milliseconds(ran, took_ns, following):
    assert native_runs._how_many(ran, took_ns) == following


def test_runs_are_written_as_they_were_noted_however_many_at_once(tmp_path):
    """Records are put together in one place, telling after telling: more than are told as a rule, fewer, and one by one."""
    recorder = Recorder(tmp_path / "trace", program={}, engine={}, sees=native.SEES)
    engine_events.install(sink := native.NativeSink(recorder))
    try:
        nodes = [chain(1)[1].grad_fn for _ in range(2000)]
        log = sink.log_of(SimpleNamespace(tag=7, position=5), nodes)
        log.times = times = [recorder.start_ns + 100]
        whole, told = [times[0]], 0
        for many in (17, 700, 20, 3, 600, 513, 147):
            for i in range(many):
                times.append(times[-1] + 50 + i)
            whole += times[1:]
            log.tell()
            told += many
            assert len(times) == 1 and log.told == told
        log.close()
    finally:
        engine_events.remove()
        recorder.close()
    records = np.array(Trace.open(recorder.path).records)
    runs = records[records[:, 0] == np.uint64(Kind.RAN | 1 << 32), 1:]
    expected = [
        [node.tag, 7, order, began - recorder.start_ns, ended - began, 0, 0]
        for order, (node, began, ended) in enumerate(zip(nodes, whole, whole[1:], strict=False), 5)
    ]
    assert runs.tolist() == expected
