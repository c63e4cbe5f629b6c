"""Events on the strict device: waiting for them, and the time between two."""

import agdbg_tests_strict_device as strict
import pytest

from agdbg_engine import streams

BACKEND = strict.BACKEND


def test_events():
    side = streams.Stream(BACKEND)
    start, end = streams.Event(BACKEND, enable_timing=True), streams.Event(BACKEND, enable_timing=True)
    assert start.query()  # as torch: what was not asked for is done
    start.wait(side)
    with pytest.raises(ValueError, match="Both events must be recorded before calculating elapsed time"):
        start.elapsed_time(end)
    start.record(side)
    start.wait(streams.default(BACKEND))
    end.record(side)
    end.synchronize()
    assert end.query()
    assert start.elapsed_time(end) == 1.0


def test_time_is_asked_of_events_that_note_none():
    """That is said before anything else, as in CUDAEvent.h of PyTorch."""
    timed, plain, other = streams.Event(BACKEND, enable_timing=True), streams.Event(BACKEND), streams.Event(BACKEND)
    for recorded in (False, True):
        for event in (timed, plain) if recorded else ():
            event.record()
        for start, end, which in ((timed, plain, "end"), (plain, timed, "start"), (plain, other, "start and end")):
            with pytest.raises(ValueError) as found:
                start.elapsed_time(end)
            first, rest = str(found.value).split("\n")
            assert first == "Both events must be created with argument 'enable_timing=True'."
            assert rest.endswith(f": {which}")


def test_time_between_events_that_have_not_happened(monkeypatch):
    start, end = (streams.Event(BACKEND, enable_timing=True) for _ in range(2))
    for event in (start, end):
        event.record()
    monkeypatch.setattr(end.raw, "done", False)
    with pytest.raises(RuntimeError) as found:
        start.elapsed_time(end)
    first, rest = str(found.value).split("\n")
    assert first == "Both events must be completed before calculating elapsed time."
    assert "has not come to: end. Call synchronize()" in rest
    monkeypatch.undo()
    assert start.elapsed_time(end) == 0.0
