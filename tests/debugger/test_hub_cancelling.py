"""Work that takes long: clients are told how far it is, and what they cancel really ends."""

import asyncio
import itertools
import sqlite3
import sys
import threading

import pytest

from agdbg import progress
from agdbg.hub import tasks
from agdbg.hub.loop import Loop
from agdbg.hub.worker import Worker
from agdbg.protocol.async_client import AsyncClient
from agdbg.protocol.client import RequestFailed

PATIENCE_S = 20.0


class Bench:
    """A worker and its loop, in the thread of the test."""

    def __init__(self):
        self.loop, self.told = Loop(), []
        self.worker = Worker(self.loop, "tested")

    def do(self, work, **more):
        return self.worker.do(work, lambda result, error: self.told.append((result, type(error))), **more)

    def until(self, count):
        """Run the loop until so many jobs are done."""
        late = self.loop.after(PATIENCE_S, self.loop.stop)

        def look():
            if len(self.told) >= count:
                self.loop.stop()
            else:
                self.loop.after(0.001, look)

        self.loop._running = True
        look()
        self.loop.run()
        late.cancel()
        assert len(self.told) >= count
        return self.told


@pytest.fixture
def bench():
    made = Bench()
    yield made
    made.worker.close()
    made.loop.close()


def endless(begun, ended):
    """Work that only an exception ends."""
    try:
        for each in itertools.count():
            if each == 1000:
                begun.set()
    finally:
        ended.append(True)


def test_work_that_runs_is_broken_off(bench):
    begun, ended, dropped = threading.Event(), [], []
    job = bench.do(lambda: endless(begun, ended), interrupted=lambda: dropped.append(True))
    assert begun.wait(PATIENCE_S)
    job.cancel()
    job.cancel()
    assert bench.until(1) == [(None, progress.Cancelled)]
    assert (ended, dropped) == ([True], [True])
    bench.do(lambda: 5)
    assert bench.until(2)[1] == (5, type(None))


def test_work_that_waits_never_begins(bench):
    begun, ended, dropped = threading.Event(), [], []
    first = bench.do(lambda: endless(begun, ended))
    second = bench.do(lambda: ended.append("second"), interrupted=lambda: dropped.append(True))
    assert begun.wait(PATIENCE_S)
    second.cancel()
    first.cancel()
    assert bench.until(2) == [(None, progress.Cancelled)] * 2
    assert (ended, dropped) == ([True], [])


def test_what_is_done_cannot_be_cancelled(bench):
    job = bench.do(lambda: 5)
    bench.until(1)
    job.cancel()
    bench.do(lambda: sum(range(1000)))
    assert bench.until(2) == [(5, type(None)), (499500, type(None))]


def test_whenever_it_is_cancelled_the_worker_goes_on(bench):
    for each in range(300):
        job = bench.do(lambda each=each: sum(range(each * 30)))
        if each % 3:
            job.cancel()
    bench.do(lambda: "last")
    told = bench.until(301)
    assert told[-1] == ("last", type(None))
    assert all(kind is type(None) or (result, kind) == (None, progress.Cancelled) for result, kind in told)
    assert sum(kind is type(None) for _, kind in told) >= 101


def test_functions_can_be_traced_after_jobs_that_were_cancelled_or_not(bench):
    for each in range(40):
        job = bench.do(lambda each=each: sum(range(each * 30)))
        if each % 2:
            job.cancel()
    bench.until(40)
    done = []

    def traced():
        sys.settrace(lambda *told: None)
        (lambda: done.append(True))()

    thread = threading.Thread(target=traced, daemon=True)  # it would never end
    thread.start()
    thread.join(PATIENCE_S)
    assert done


def test_one_that_an_exception_passed_by_ends_at_its_next_report(bench):
    begun, heard = threading.Event(), []

    def work():
        try:
            begun.set()
            endless(begun, heard)
        except progress.Cancelled:  # as Python does in a destructor
            heard.append("lost")
        progress.report("on")
        heard.append("not ended")

    job = bench.do(work, listener=lambda *said: None)
    assert begun.wait(PATIENCE_S)
    job.cancel()
    assert bench.until(1) == [(None, progress.Cancelled)]
    assert heard in ([True, "lost"], ["lost"])


def test_what_is_reported_is_heard_in_the_thread_that_works():
    heard = []
    progress.report("nobody hears this")
    with progress.heard_by(lambda *said: heard.append(said)):
        assert list(progress.steps("ab", "letters", 2)) == ["a", "b"]
        with progress.heard_by(None):
            progress.report("nor this")
        progress.report("on", 1, 4)
    assert heard == [("letters", 0, 2), ("on", 1, 4)]


# ----- through the hub -----


@pytest.fixture
def working(hub, tmp_path, monkeypatch):
    """A client of a hub with a trace, whose findings are never found: ``begun`` is set when they are looked for."""
    from agdbg.hub.handlers import graph
    from agdbg.record import Recorder

    Recorder(tmp_path / "trace", program={}, engine={}, sees={}).close()
    hub.server.session.tasks.patience = 0.0
    begun, ended = threading.Event(), []

    def never(history, cwd, stop, **wanted):
        progress.report("nonfinite", 1, 4)
        endless(begun, ended)

    monkeypatch.setattr(graph, "findings_body", never)
    client = hub.stranger()
    client.request("initialize", adapterID="test", supportsProgressReporting=True)
    client.request("attach", trace=str(tmp_path / "trace"))
    client.request("configurationDone")
    return client, begun, ended


def events_until(client, name):
    """The bodies of the events of progress, up to one with a name."""
    found = []
    while True:
        event = client.next_event()
        if event["event"].startswith("progress"):
            found.append((event["event"], event["body"]))
        if event["event"] == name:
            return found


def test_a_client_hears_how_far_it_is_and_cancels_it(working):
    client, begun, ended = working
    number = client.send("agdbg/findings")
    assert begun.wait(PATIENCE_S)
    ((_, started),) = events_until(client, "progressStart")
    assert started["title"] == "Looking for what went wrong"
    assert (started["cancellable"], started["requestId"]) == (True, number)
    while "percentage" not in started:
        started = events_until(client, "progressUpdate")[-1][1]
    assert (started["message"], started["percentage"]) == ("nonfinite", 25.0)
    client.request("cancel", progressId=started["progressId"])
    with pytest.raises(RequestFailed, match=r"^cancelled$") as error:
        client.answer(number)
    assert error.value.body["error"]["variables"]["code"] == "cancelled"
    assert ended == [True]
    assert events_until(client, "progressEnd")[-1] == ("progressEnd", {"progressId": started["progressId"]})


def test_it_is_cancelled_by_the_number_of_the_request_and_by_nobody_else(working, hub):
    client, begun, ended = working
    number = client.send("agdbg/findings")
    assert begun.wait(PATIENCE_S)
    other = hub.client()
    other.request("cancel", requestId=number, progressId="1")
    assert ended == []
    client.request("cancel", requestId=number)
    with pytest.raises(RequestFailed, match="cancelled"):
        client.answer(number)
    assert ended == [True]
    client.request("cancel", requestId=number)
    assert client.request("agdbg/events", start=0, count=1)["total"] == 0


def test_the_work_of_a_client_that_goes_is_ended(working, hub):
    client, begun, ended = working
    client.send("agdbg/findings")
    assert begun.wait(PATIENCE_S)
    other = hub.client()
    other.request("attach")
    client.close()
    other.request("agdbg/graph", start=0, count=1)  # the same worker has time for it now
    assert ended == [True]


def test_cancel_names_what_it_means(working):
    client, _, _ = working
    with pytest.raises(RequestFailed, match="neither requestId nor progressId"):
        client.request("cancel")


def test_a_drawing_that_is_cancelled_leaves_the_file_as_it_was(working, tmp_path, monkeypatch):
    client, _, ended = working
    begun = threading.Event()
    monkeypatch.setattr("agdbg.graph.from_trace.graph_of", lambda *given: endless(begun, ended))
    (tmp_path / "out").mkdir()
    old = tmp_path / "out" / "graph.svg"
    old.write_text("")
    number = client.send("agdbg/export", path=str(old), overwrite=True)
    assert begun.wait(PATIENCE_S)
    ((_, started),) = events_until(client, "progressStart")
    assert started["title"] == "Writing the graph"
    client.request("cancel", requestId=number)
    with pytest.raises(RequestFailed, match="cancelled"):
        client.answer(number)
    assert ended == [True]
    assert [(each.name, each.read_text()) for each in (tmp_path / "out").iterdir()] == [("graph.svg", "")]


def test_a_database_that_is_cancelled_leaves_nothing(working, tmp_path, monkeypatch):
    client, _, ended = working
    begun = threading.Event()
    monkeypatch.setattr("agdbg.tables.write._rows", lambda facts, table: iter(lambda: endless(begun, ended), 0))
    (tmp_path / "out").mkdir()
    number = client.send("agdbg/export", path=str(tmp_path / "out" / "all.sqlite"))
    assert begun.wait(PATIENCE_S)
    ((_, started),) = events_until(client, "progressStart")
    assert started["title"] == "Writing the tables"
    client.request("cancel", requestId=number)
    with pytest.raises(RequestFailed, match="cancelled"):
        client.answer(number)
    assert ended == [True]
    assert list((tmp_path / "out").iterdir()) == []


def test_a_database_is_written_and_not_written_over(working, tmp_path):
    client, _, _ = working
    path = tmp_path / "all.sqlite"
    assert client.request("agdbg/export", path=str(path)) == {"path": str(path), "nodes": 0}
    database = sqlite3.connect(path)
    assert database.execute("select count(*) from nodes").fetchall() == [(0,)]
    database.close()
    for more in ({}, {"overwrite": True}):
        with pytest.raises(RequestFailed, match="exists"):
            client.request("agdbg/export", path=str(path), **more)
    with pytest.raises(RequestFailed, match="there is no directory"):
        client.request("agdbg/export", path=str(tmp_path / "none" / "all.db"))


def test_a_waiter_that_is_cancelled_cancels_the_work(working, hub):
    _, begun, ended = working

    async def main():
        client = await AsyncClient.connect(str(hub.runtime.client_socket))
        await client.request("initialize", adapterID="other")
        await client.request("attach")
        waiter = asyncio.create_task(client.request("agdbg/findings"))
        await asyncio.to_thread(begun.wait, PATIENCE_S)
        waiter.cancel()
        await client.request("agdbg/graph", start=0, count=1)
        client.close()

    asyncio.run(main())
    assert ended == [True]


def test_every_title_is_that_of_a_request():
    from agdbg.protocol.messages import REQUESTS

    assert set(tasks.TITLES) <= set(REQUESTS)


def test_what_the_title_says_is_not_said_twice(working, monkeypatch):
    client, _, _ = working
    read = threading.Event()

    def rows(history, *given):
        progress.report("reading the recording", 1, 4)
        assert read.wait(PATIENCE_S)
        return {"total": 0, "start": 0, "rows": []}

    monkeypatch.setattr("agdbg.hub.history.History.rows", rows)
    number = client.send("agdbg/rows", start=0, count=1)
    ((_, told),) = events_until(client, "progressStart")
    assert told["title"] == "Reading the recording"
    while "percentage" not in told:
        told = events_until(client, "progressUpdate")[-1][1]
    assert told["percentage"] == 25.0 and "message" not in told
    read.set()
    assert client.answer(number)["total"] == 0
