"""What clients see of a recording, and of the past of a program: the cursor in it, and where it goes."""

import pytest

from agdbg.protocol.client import RequestFailed


def refused(client, command, /, **arguments):
    with pytest.raises(RequestFailed) as caught:
        client.request(command, **arguments)
    return str(caught.value)


def test_a_trace_is_shown_where_it_failed(in_trace):
    client, nodes = in_trace
    status = client.request("agdbg/status")
    assert (status["state"], status["pid"]) == ("trace", None)
    frames = client.request("stackTrace", threadId=1)["stackFrames"]
    assert frames[0]["name"] == "MulBackward0, 1 of 2"
    assert client.request("agdbg/rows", start=0, count=1)["pcNode"] == nodes["h"]
    assert client.request("exceptionInfo", threadId=1)["exceptionId"] == "backward-twice"
    scopes = client.request("scopes", frameId=10_000)["scopes"]
    assert [each["name"] for each in scopes if each["name"] == "Saved tensors"]


def test_steps_in_a_trace_move_the_cursor(in_trace):
    client, _ = in_trace
    seen = []
    for command in ("stepBack", "reverseContinue", "next", "stepIn", "stepOut", "continue"):
        client.request(command, threadId=1)
        seen.append(client.wait_for("stopped")["description"])
    assert all(each.startswith("in the recording") for each in seen)
    assert len(set(seen)) > 3


@pytest.mark.parametrize("command", ["continue", "next", "stepIn", "stepOut"])
def test_at_the_end_of_a_recording_going_on_stays_and_says_so(in_trace, command):
    client, _ = in_trace
    descriptions = []
    while len(descriptions) < 2 or descriptions[-1] != descriptions[-2]:
        client.request(command, threadId=1)
        descriptions.append(client.wait_for("stopped")["description"])
    end, ended = descriptions[-3], descriptions[-1]
    assert (end.startswith("in the recording: its end"), ended) == (True, f"{end}; the recording has ended here")
    client.request("stepBack", threadId=1)
    assert "end" not in client.wait_for("stopped")["description"]


def test_what_needs_a_program_says_so_in_a_trace(in_trace):
    client, _ = in_trace
    for command, arguments in (("evaluate", {"expression": "1"}), ("pause", {"threadId": 1}), ("terminate", {})):
        assert "this is a trace" in refused(client, command, **arguments)


def test_a_trace_is_served_until_nobody_looks(hub, in_trace):
    client, _ = in_trace
    other = hub.joined()
    assert other.wait_for("stopped")["description"].startswith("in the recording")
    client.close()
    assert other.request("agdbg/status")["state"] == "trace"
    other.close()
    assert hub.wait_for_end()


def test_a_step_back_beyond_the_journal_goes_on_in_the_recording(at_stop):
    client, agent, nodes = at_stop
    number = client.send("stepBack", threadId=1)
    agent.answer("resume", error="the pass has just begun", code="beyond")
    client.answer(number)
    assert client.wait_for("stopped")["description"].startswith("in the recording")
    client.request("stepBack", threadId=1)
    first = client.wait_for("stopped")["description"]
    assert client.request("stackTrace", threadId=1)["stackFrames"]
    client.request("next", threadId=1)
    assert client.wait_for("stopped")["description"] != first
    client.request("continue", threadId=1)
    assert client.wait_for("stopped")["description"] == f"before node {nodes['h']}"
    client.request("next", threadId=1)
    assert agent.answer("resume")["how"] == "next"


@pytest.mark.parametrize("command", ["stepBack", "reverseContinue"])
def test_where_nothing_lies_before_going_back_is_refused(in_trace, command):
    client, _ = in_trace
    client.request("reverseContinue", threadId=1)
    first = client.wait_for("stopped")["description"]
    while True:
        try:
            client.request("reverseContinue", threadId=1)
        except RequestFailed:
            break
        first = client.wait_for("stopped")["description"]
    number = client.send(command, threadId=1)
    with pytest.raises(RequestFailed) as caught:
        client.answer(number)
    assert str(caught.value).endswith(f"no node ran before this, as far as is recorded: {first}")
    assert caught.value.body["error"]["variables"]["code"] == "beginning"
    assert client.none_of("stopped")
    client.request("next", threadId=1)
    assert client.wait_for("stopped")["description"] != first


def test_walking_to_the_end_of_the_recording_is_the_way_back_to_the_program(at_stop):
    client, agent, nodes = at_stop
    number = client.send("stepBack", threadId=1)
    agent.answer("resume", error="the pass has just begun", code="beyond")
    client.answer(number)
    client.wait_for("stopped")
    for _ in range(20):
        client.request("next", threadId=1)
        stopped = client.wait_for("stopped")
        if not stopped["description"].startswith("in the recording"):
            break
    assert stopped["description"] == f"before node {nodes['h']}"


def test_after_the_end_the_recording_is_left(hub, at_stop):
    client, _, _ = at_stop
    hub.program.end(status=0)
    client.wait_for("terminated")
    assert client.request("threads")["threads"] == [{"id": 1, "name": "the recording"}]
    client.request("stepBack", threadId=1)
    assert client.wait_for("stopped")["description"].startswith("in the recording")
    assert client.request("agdbg/rows", start=0, count=10)["total"] == 2
    frame = client.request("stackTrace", threadId=1)["stackFrames"][0]["id"]
    assert client.request("dataBreakpointInfo", name="weight", frameId=frame)["dataId"] == "name:weight"
    refused = client.request("dataBreakpointInfo", name="(w)", frameId=frame)
    assert refused["dataId"] is None and "no thread stands" in refused["description"]


def test_whether_what_the_program_printed_was_kept_is_told(in_trace, told):
    for kept in (False, True):
        assert in_trace[0].request("agdbg/output", start=0, length=10)["kept"] is kept
        (told.recorder.path / "output.log").write_text("")
