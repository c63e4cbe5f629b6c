"""The times of events: never decreasing, and as near as the trace tells."""

import numpy as np
import pytest

from agdbg.events import Kind, head
from agdbg.hub import eventtimes
from agdbg.hub.eventtimes import EventTimes
from agdbg.record.growing import Growing

WANTED = (Kind.BUMP, Kind.PASS_STARTED, Kind.PASS_FINISHED)


def clock(time):
    return [head(Kind.CLOCK, 1), 0, time, 0, 0, 0, 0, 0]


def started(time):
    return [head(Kind.PASS_STARTED, 1), 1, 0, 0, 0, time, 0, 0]


def finished(time):
    return [head(Kind.PASS_FINISHED, 1), 1, 0, 0, time, 0, 0, 0]


def ran(time, took):
    return [head(Kind.RAN, 1), 1, 1, 0, time, took, 0, 0]


WRITE = [head(Kind.BUMP, 1), 1, 0, 1, 0, 0, 0, 0]
BORN = [head(Kind.BORN, 1), 1, 0, 0, 0, 0, 0, 0]


def times_of(records, cuts=()):
    """The times of the events when the trace is read up to each of these places, and to its end."""
    records = np.array(records, np.uint64).reshape(-1, 8)
    growing = Growing()
    times = EventTimes(growing)
    found, read = [], 0
    for end in (*cuts, len(records)):
        growing.grow(records[:end])
        rows = np.sort(np.concatenate([growing.rows(kind) for kind in WANTED]))
        found += times.update(rows[rows >= read]).tolist()
        read = end
    return found


def test_an_event_had_happened_by_the_next_time_that_is_known():
    records = [clock(100), WRITE, started(40), WRITE, ran(50, 10), WRITE, finished(70), WRITE, BORN]
    assert times_of(records) == [40, 40, 60, 70, 70, 100]


def test_an_event_after_a_long_rest_does_not_have_the_time_of_its_beginning():
    assert times_of([clock(100), WRITE, clock(60_000), WRITE, started(59_990), WRITE]) == [100, 59_990, 59_990, 60_000]


def test_a_time_that_its_batch_cannot_have_is_not_believed():
    records = [clock(100), started(2**62), WRITE, clock(200), WRITE, started(0), ran(2**64 - 1, 1), WRITE]
    assert times_of(records) == [100, 100, 100, 100, 200]


def test_passes_of_two_threads_do_not_go_back_in_time():
    found = times_of([clock(100), WRITE, started(60), started(50), finished(90), WRITE])
    assert found == sorted(found)
    assert found[1:] == [50, 50, 90, 100]


def test_what_has_no_clock_has_the_times_there_are():
    assert times_of([WRITE, started(40), WRITE, finished(70), WRITE]) == [40, 40, 70, 70, 70]
    assert times_of([WRITE]) == [0]
    assert times_of([]) == []


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1 << 18])
def test_however_it_is_read_times_do_not_decrease(monkeypatch, piece):
    monkeypatch.setattr(eventtimes, "_PIECE", piece)
    chance = np.random.default_rng(piece)
    records, batches = [], []
    for batch in range(40):
        begins = batch * 1000
        batches.append(len(records))
        records.append(clock(begins + 1000))
        for place in np.sort(chance.integers(0, 1000, 12)).tolist():
            kinds = [WRITE, BORN, started(begins + place), finished(begins + place), ran(begins + place, 0)]
            records.append(kinds[int(chance.integers(5))])
    cuts = np.sort(chance.integers(0, len(records), 20)).tolist()
    found = times_of(records, cuts)
    assert found == sorted(found)
    assert len(found) == sum(Kind(record[0] & 255) in WANTED for record in records)
    whole = times_of(records, batches)
    if piece > 12:
        assert whole == times_of(records)
        exact = [record[5] or record[4] for record in records if Kind(record[0] & 255) in WANTED]
        assert [time for time, own in zip(whole, exact, strict=True) if own] == [own for own in exact if own]
