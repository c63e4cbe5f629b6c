"""Who looks at the recording: the thread of the loop where that takes no time, else the reader, so that nobody waits for it."""

import threading

import pytest

from agdbg.hub import reading
from agdbg.hub.handlers import inspecting
from agdbg.protocol.client import RequestFailed


@pytest.fixture
def looked(monkeypatch):
    """The threads in which frames were looked up, each once for every time in a row."""
    seen = []
    place_of = inspecting.place_of

    def watched(*asked):
        name = threading.current_thread().name
        if not seen or seen[-1] != name:
            seen.append(name)
        return place_of(*asked)

    monkeypatch.setattr(inspecting, "place_of", watched)
    return seen


def test_the_first_look_is_the_readers_and_the_next_is_taken_at_once(at_stop, looked, monkeypatch):
    client, _, _ = at_stop
    monkeypatch.setattr(reading, "QUICK_S", 60.0)
    first = client.request("stackTrace", threadId=1)
    assert looked == ["reader"]
    assert client.request("stackTrace", threadId=1) == first
    assert len(looked) == 2 and looked[1] != "reader"


def test_a_look_that_took_long_is_the_readers_the_next_time(at_stop, looked, monkeypatch):
    client, _, _ = at_stop
    monkeypatch.setattr(reading, "QUICK_S", 0.0)
    for _ in range(3):
        client.request("stackTrace", threadId=1)
    assert looked == ["reader"]


def test_much_that_is_new_is_read_by_the_reader(at_stop, looked, monkeypatch):
    client, _, _ = at_stop
    monkeypatch.setattr(reading, "FEW", -1)
    for _ in range(3):
        client.request("stackTrace", threadId=1)
    assert looked == ["reader"]


def test_what_goes_wrong_at_once_is_answered(at_stop, monkeypatch):
    client, _, _ = at_stop
    client.request("stackTrace", threadId=1)

    def broken(*asked):
        raise ZeroDivisionError("in the middle")

    monkeypatch.setattr(inspecting, "place_of", broken)
    with pytest.raises(RequestFailed, match="internal error: ZeroDivisionError: in the middle"):
        client.request("stackTrace", threadId=1)
    monkeypatch.undo()
    assert client.request("stackTrace", threadId=1)["totalFrames"] == 3
