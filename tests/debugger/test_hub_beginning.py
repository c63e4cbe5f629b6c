"""A hub's clients come, launch, join and leave; the program is a fake."""

import os
import threading
from pathlib import Path

import pytest

from agdbg.errors import InputError
from agdbg.launch.place import UNRECORDED_FILE
from agdbg.protocol.client import Disconnected, RequestFailed
from agdbg.record import Recorder

HERE = str(Path(__file__).parent)


def refused(client, command, /, **arguments):
    with pytest.raises(RequestFailed) as caught:
        client.request(command, **arguments)
    return str(caught.value)


def test_a_program_is_launched_runs_and_ends(hub):
    client = hub.client()
    client.request("launch", program=__file__, args=["a"], cwd=str(hub.directory), columns=100, rows=30)
    assert not hub.program.started.is_set()
    assert client.request("agdbg/status")["state"] == "waiting"
    client.request("configurationDone")
    assert client.wait_for("process")["name"] == __file__
    assert (hub.program.spec.columns, hub.program.spec.rows, hub.program.spec.args) == (100, 30, ["a"])
    status = client.request("agdbg/status")
    assert (status["state"], status["pid"], status["argv"]) == ("running", os.getpid(), [__file__, "a"])
    hub.program.print("the last words\n")
    hub.program.end(status=3)
    assert client.wait_for("output")["output"] == "the last words\n"
    assert client.wait_for("exited") == {"exitCode": 3}
    client.wait_for("terminated")
    assert client.wait_for("agdbg/ended") == {"exit": 3, "signal": None, "trace": ""}
    assert client.request("agdbg/status")["state"] == "ended"
    assert client.request("agdbg/output", start=0, length=100)["text"] == "the last words\n"
    client.close()
    assert hub.wait_for_end()
    assert not hub.runtime.directory.exists()


def test_a_signal_is_told_as_an_exit_code_as_shells_do(hub):
    client = hub.launched()
    hub.program.end(signal="SIGKILL")
    assert client.wait_for("exited") == {"exitCode": 137}
    assert client.wait_for("agdbg/ended")["signal"] == "SIGKILL"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "neither program nor module"),
        ({"program": "a.py", "module": "a"}, "both program and module"),
        ({"program": "missing.py"}, "missing.py"),
        ({"program": __file__, "cwd": "/no/such/place"}, "/no/such/place"),
        ({"program": __file__, "trace": HERE}, "other files in it"),
        ({"program": __file__, "trace": ""}, "name is empty"),
        ({"program": __file__, "columns": 0}, "columns"),
        ({"program": 7}, "program is 7"),
        ({"module": ""}, "the name is empty"),
        ({"program": __file__, "onOrphan": "cry"}, "onOrphan"),
    ],
)
def test_what_cannot_be_launched_is_told_at_once_and_the_hub_stays_free(hub, arguments, told):
    client = hub.client()
    assert told in refused(client, "launch", **arguments)
    client.request("launch", program=__file__, cwd=str(hub.directory))


def test_a_trace_has_the_name_that_a_headless_run_gives_it(hub):
    client = hub.launched()
    trace = Path(client.request("agdbg/status")["trace"])
    assert trace.parent == hub.directory / ".agdbg"
    assert trace.name.startswith("hub_fakes-")


def test_a_named_trace_is_below_the_program_s_directory(hub):
    client = hub.launched(trace="mine")
    assert client.request("agdbg/status")["trace"] == str(hub.directory / "mine")


def test_a_program_that_cannot_start_leaves_the_hub_as_it_was(hub):
    hub.fails = InputError("cannot start it: no reason")
    client = hub.client()
    client.request("launch", program=__file__, cwd=str(hub.directory))
    trace = Path(client.request("agdbg/status")["trace"])
    assert "no reason" in refused(client, "configurationDone")
    assert not trace.exists()


@pytest.mark.parametrize("command", ["launch", "attach"])
def test_a_client_introduces_itself_first(hub, command):
    assert "initialize first" in refused(hub.stranger(), command)


def test_nothing_can_be_joined_where_nothing_is(hub):
    client = hub.client()
    assert "nothing runs" in refused(client, "attach")
    assert "is not a trace" in refused(client, "attach", trace=str(hub.directory))
    assert "does not exist" in refused(client, "attach", trace="/no/such/trace")


def test_a_client_that_counts_otherwise_is_refused(hub):
    client = hub.stranger()
    assert "lines count from 1" in refused(client, "initialize", adapterID="agdbg", linesStartAt1=False)
    assert "files go by their paths" in refused(client, "initialize", adapterID="agdbg", pathFormat="uri")
    assert "send initialize first" in refused(client, "configurationDone")
    client.request("initialize", adapterID="agdbg", linesStartAt1=True, pathFormat="path")


def test_configuration_may_be_done_before_the_launch_which_then_begins(hub):
    client = hub.client()
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "Exp*"}])
    client.request("configurationDone")
    assert hub.program is None
    client.request("launch", program=__file__, cwd=str(hub.directory))
    assert client.wait_for("process")["name"] == __file__
    other = hub.client()
    other.request("configurationDone")
    other.request("attach")
    assert other.wait_for("breakpoint")["breakpoint"]["name"] == "Exp*"


def test_a_damaged_trace_is_refused_and_the_hub_stays_free(hub, tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "records.bin").write_bytes(b"something else" * 100)
    client = hub.client()
    assert "records.bin" in refused(client, "attach", trace=str(tmp_path / "bad"))
    client.request("launch", program=__file__, cwd=str(hub.directory))


def test_a_trace_that_a_client_will_ask_for_is_read_before_it_does(hub, tmp_path):
    Recorder(tmp_path / "trace", program={}, engine={}, sees={}).close()
    session = hub.server.session
    client = hub.client()
    hub.server.loop.post(lambda: session.foresee(tmp_path / "trace"))
    client.request("attach", trace=str(tmp_path / "trace"))
    client.request("configurationDone")
    assert session.reading.directory == tmp_path / "trace"
    assert client.request("agdbg/rows", start=0, count=5)["total"] == 0
    assert session.state == "trace"


def test_a_trace_is_read_though_another_one_was_foreseen(hub, tmp_path):
    Recorder(tmp_path / "trace", program={}, engine={}, sees={}).close()
    hub.server.loop.post(lambda: hub.server.session.foresee(tmp_path / "other"))
    client = hub.client()
    client.request("attach", trace=str(tmp_path / "trace"))
    client.request("configurationDone")
    assert hub.server.session.reading.directory == tmp_path / "trace"
    assert client.request("agdbg/rows", start=0, count=5)["total"] == 0


def test_a_hub_has_one_program(hub):
    client = hub.launched()
    assert "already" in refused(client, "launch", program=__file__)
    other = hub.client()
    assert "already" in refused(other, "launch", program=__file__)
    assert "another hub" in refused(other, "attach", trace=HERE)
    other.request("attach")


def test_initialize_is_sent_once(hub):
    assert "already" in refused(hub.client(), "initialize", adapterID="agdbg")


def test_who_joins_hears_of_all_threads_that_stand(hub):
    client = hub.launched()
    hub.stopped(client, node=4)
    other = hub.joined()
    assert other.wait_for("stopped")["description"] == "before node 4"
    assert other.request("threads")["threads"] == [{"id": 1, "name": "MainThread"}]


def test_who_joins_before_the_start_does_not_start_it(hub):
    client = hub.client()
    client.request("launch", program=__file__, cwd=str(hub.directory))
    hub.joined()
    assert not hub.program.started.is_set()
    client.request("configurationDone")
    assert hub.program.started.is_set()


def test_who_leaves_leaves_all_running(hub):
    client, other = hub.launched(), hub.joined()
    client.request("disconnect")
    with pytest.raises(Disconnected):
        client.wait_for("never")
    assert other.request("agdbg/status")["state"] == "running"
    assert hub.program.signals == []


def test_the_program_ends_with_a_client_that_says_so(hub):
    client, other = hub.launched(), hub.joined()
    client.request("disconnect", terminateDebuggee=True)
    other.request("agdbg/status")
    assert hub.program.signals == ["SIGTERM"]


def test_terminate_asks_first_and_the_second_time_does_not(hub):
    client = hub.launched()
    client.request("terminate")
    assert hub.program.signals == ["SIGTERM"]
    client.request("terminate")
    assert hub.program.signals == ["SIGTERM", "SIGKILL"]
    client.wait_for("terminated")
    assert "has ended" in refused(client, "terminate")


def test_a_hub_for_which_nobody_came_ends(new_hub):
    assert new_hub(patience=0.05).wait_for_end()


def test_a_hub_whose_client_leaves_without_a_launch_ends(hub):
    hub.client().close()
    assert hub.wait_for_end()


def test_only_its_starter_ends_a_hub_that_waits(hub):
    starter = hub.client()
    visitor = hub.client()
    visitor.close()
    starter.request("agdbg/status")
    hub.client().close()
    assert starter.request("agdbg/status")["state"] == "waiting"
    starter.close()
    assert hub.wait_for_end()


def test_a_visitor_that_stays_longer_than_the_starter_may_still_launch(hub):
    starter, visitor = hub.client(), hub.client()
    starter.close()
    visitor.request("launch", program=__file__, cwd=str(hub.directory))
    assert visitor.request("agdbg/status")["state"] == "waiting"


def test_a_hub_in_which_nothing_was_launched_ends_after_a_while_without_a_client(new_hub):
    hub = new_hub(patience=0.1)
    loop, past = hub.server.loop, threading.Event()
    client = hub.stranger()
    client.request("threads")
    loop.post(lambda: loop.after(0.1, past.set))
    assert past.wait(20)
    client.request("threads")
    client.close()
    assert hub.wait_for_end()


def test_looking_in_does_not_end_a_hub(hub):
    hub.stranger().close()
    client = hub.launched()
    hub.stranger().close()
    hub.client().close()
    assert client.request("agdbg/status")["state"] == "running"


def test_a_launch_that_never_starts_leaves_nothing(hub):
    client = hub.client()
    client.request("launch", program=__file__, cwd=str(hub.directory))
    trace = Path(client.request("agdbg/status")["trace"])
    assert trace.is_dir()
    client.close()
    assert hub.wait_for_end()
    assert not trace.exists()


def test_output_that_nobody_saw_is_kept(hub):
    client = hub.launched()
    trace = Path(client.request("agdbg/status")["trace"])
    client.close()
    hub.program.print("unseen\n")
    hub.program.end(status=0)
    assert hub.wait_for_end()
    assert (trace / "output.log").read_text() == "unseen\n"


def test_output_that_was_seen_is_kept_as_well(hub):
    client = hub.launched()
    trace = Path(client.request("agdbg/status")["trace"])
    hub.program.print("seen\n")
    hub.program.end(status=1)
    client.wait_for("terminated")
    client.request("agdbg/status")
    client.close()
    assert hub.wait_for_end()
    assert (trace / "output.log").read_text() == "seen\n"


@pytest.mark.parametrize(
    ("word", "told"),
    [("PyTorch is not recorded yet", "PyTorch is not recorded yet"), (None, "the program used no autograd engine")],
)
def test_why_nothing_was_recorded_is_told_when_the_program_has_ended(hub, word, told):
    client = hub.launched()
    assert "has not used an autograd engine yet" in refused(client, "agdbg/findings")
    if word is not None:
        (hub.program.runtime.directory / UNRECORDED_FILE).write_text(word)
    hub.program.end(status=1)
    client.wait_for("terminated")
    assert f"no autograd activity recorded: {told}" in refused(client, "agdbg/findings")


# ----- orphans -----


def test_an_orphan_drops_its_breakpoints_and_goes_on(hub):
    client = hub.launched()
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "Mul*"}])
    client.request("setExceptionBreakpoints", filters=["any"])
    agent = hub.stopped(client)
    client.close()
    assert agent.answer("resume")["how"] == "continue"
    assert (hub.settings.functions, hub.settings.exceptions) == ([], [])
    agent.stop()
    assert agent.answer("resume")["how"] == "alone"
    other = hub.joined()
    other.wait_for("agdbg/orphaned")
    agent.stop(node=9)
    assert other.wait_for("stopped")["description"] == "before node 9"


def test_an_orphan_that_waits_keeps_standing(hub):
    client = hub.launched(onOrphan="wait")
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "Mul*"}])
    agent = hub.stopped(client, node=5)
    client.close()
    other = hub.joined()
    assert other.wait_for("stopped")["description"] == "before node 5"
    assert other.none_of("agdbg/orphaned")
    assert [each.name for each in hub.settings.functions] == ["Mul*"]
    other.request("next", threadId=1)
    assert agent.answer("resume")["how"] == "next"


def test_the_hub_of_an_orphan_ends_with_it(hub):
    hub.launched().close()
    hub.program.end(status=0)
    assert hub.wait_for_end()


def test_a_hub_that_is_told_to_end_lets_the_program_go(hub):
    client = hub.launched()
    agent = hub.stopped(client)
    hub.server.loop.post(hub.server.loop.stop)
    assert agent.receive()["how"] == "continue"
    assert agent.receive() is None
    assert hub.wait_for_end()
