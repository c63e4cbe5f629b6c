"""What a program stopped for, and no record tells of, is there when the recording is opened later; a file from elsewhere is not trusted."""

import json
import os

import pytest

from agdbg.explain.explanation import explain
from agdbg.hub.history import History
from agdbg.record.stopped import MOST, STOPS_FILE, Stopped, note, stopped_in

SCRIPT = """\
import agdbg_engine as ag

x = ag.tensor([4.0, -1.0], requires_grad=True)
for _ in range(3):
    y = ag.where(x > 0, ag.sqrt(x), x)
    y.sum().backward()
"""
FOUND = {"pass": 0, "error": {"kind": "nan", "node": 2, "text": "SqrtBackward0, built by line 5, made NaN"}}


def stop(**error):
    return {
        "pass": 1,
        "error": {"kind": "nan", "node": 7, "text": "made NaN", "predicted": False, **error},
        "frames": [],
    }


@pytest.fixture
def trace(made_up):
    program = made_up("y = x.sqrt()\ny.backward()\n")
    program.leaf("x", "x")
    program.node("h", "SqrtBackward0", 1, "x.sqrt()", ["x"])
    program.backward(2, "h", "x")
    program.recorder.close()
    return program.recorder.path, program.nodes["h"]


def test_what_catch_nan_found_is_told_of_the_recording(programs):
    programs.write({"p.py": SCRIPT})
    commands = ["catch nan", "run", "c", "c", "c"]
    options = [word for line in commands for word in ("-x", line)]
    done = programs.run(programs.command("run", "--batch", "--trace", "t", *options, "p.py"))
    assert done.status == 0
    told = programs.run(programs.command("explain", "t")).stdout
    assert told.count("made NaN at index [1]") == 1  # once, however often the loop did it
    assert "p.py:5" in told and "sqrt() of a negative number is NaN" in told
    (finding,) = json.loads(programs.run(programs.command("explain", "--json", "t")).stdout)["findings"]
    assert (finding["kind"], finding["certainty"], finding["lint"]) == ("nan", "certain", True)
    opened = programs.run(programs.command("open", "t", "--batch", "-x", "explain", "-x", "findings"))
    assert opened.status == 0 and opened.stdout.count("made NaN at index [1]") == 2


def test_a_recording_tells_of_it_in_every_answer(hub, trace):
    path, node = trace
    note(path, stop(node=node))
    client = hub.client()
    client.request("attach", trace=str(path))
    client.request("configurationDone")
    client.wait_for("stopped")
    body = client.request("agdbg/findings")
    assert [each["cause"] for each in body["findings"]] == ["made NaN."] and body["unseen"] == ""
    assert client.request("agdbg/firstBad") == {"node": node, "row": 0, "why": "made NaN"}
    assert [row["bad"] for row in client.request("agdbg/rows", start=0, count=9)["rows"]] == [True]
    assert client.request("agdbg/node", node=node)["bad"]


def test_a_stop_of_the_program_is_kept_when_clients_hear_of_it(at_stop, tmp_path):
    client, agent, nodes = at_stop
    client.request("next", threadId=1)
    agent.answer("resume")
    error = {"kind": "inf", "text": "h made it", "node": nodes["h"]}
    agent.stop(node=nodes["h"], where="born", reason="exception", error=error)
    client.wait_for("stopped")
    assert stopped_in(tmp_path / "recorded").bad == {nodes["h"]: "h made it"}
    first, *others = client.request("agdbg/findings")["findings"]
    assert first["kind"] == "inf" and all(each["kind"] != "inf" for each in others)


def test_only_what_no_record_tells_is_kept_and_once(trace):
    path, _ = trace
    for each in (
        stop(kind="backward-twice"),
        {"error": None},
        {},
        stop(),
        stop(),
        stop(infinite={"node": 3, "gradient": True}),
    ):
        note(path, each)
    kept = stopped_in(path)
    assert [each["error"].get("infinite") for each in kept.stops] == [None, {"node": 3, "gradient": True}]
    assert kept.bad == {7: "made NaN"} and not kept.problems
    for number in range(2 * MOST):
        note(path, stop(node=number + 100))
    assert len(stopped_in(path).stops) == MOST and not stopped_in(path).problems


def test_who_may_read_the_trace_may_read_it(trace):
    path, _ = trace
    (path / "records.bin").chmod(0o640)
    before = os.umask(0o077)
    try:
        note(path, stop())
    finally:
        os.umask(before)
    assert (path / STOPS_FILE).stat().st_mode & 0o777 == 0o640


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path):
    note(tmp_path / "gone", stop())
    assert stopped_in(tmp_path / "gone") == Stopped()


BAD = [
    b"{", b"[]", b"null", b"\xff\xfe", b"[" * 20_000, b"1" * 5000,
    json.dumps({"pass": 0, "error": {"kind": "shape", "node": 1, "text": ""}}).encode(),
    json.dumps({"pass": 0, "error": {"kind": ["nan"], "node": 1, "text": ""}}).encode(),
    json.dumps({"pass": 0, "error": {"kind": "nan", "node": -1, "text": ""}}).encode(),
    json.dumps({"pass": 0, "error": {"kind": "nan", "node": True, "text": ""}}).encode(),
    json.dumps({"pass": 1 << 60, "error": {"kind": "nan", "node": 1, "text": ""}}).encode(),
    json.dumps({"pass": 0, "error": {"kind": "nan", "node": 1, "text": 5}}).encode(),
    json.dumps({"pass": 0, "error": {"kind": "nan", "node": 1, "text": "", "infinite": [1]}}).encode(),
    json.dumps({"pass": 0, "error": {"kind": "nan", "node": 1, "text": "", "infinite": {"node": "1"}}}).encode(),
    json.dumps({"pass": 0, "error": {"kind": "nan", "node": 1, "text": "x" * 20_000}}).encode(),
]  # fmt: skip


@pytest.mark.parametrize("line", BAD, ids=range(len(BAD)))
def test_a_line_that_tells_of_no_stop_is_left_out_and_said(trace, line):
    path, _ = trace
    (path / STOPS_FILE).write_bytes(line + b"\n" + json.dumps(FOUND).encode() + b"\n")
    found = explain(path)
    assert found.problems == [f"{STOPS_FILE}: of 2 lines 1 tell of no stop and are left out"]
    assert [each.finding.kind for each in found.findings] == ["nan"]


def test_a_file_that_is_too_long_or_none_at_all(trace):
    path, _ = trace
    (path / STOPS_FILE).write_bytes(b"\n".join(json.dumps(stop(node=each)).encode() for each in range(1, 3 * MOST)))
    kept = stopped_in(path)
    assert len(kept.stops) == MOST and "more lines than agdbg writes" in kept.problems[0]
    (path / STOPS_FILE).unlink()
    os.mkfifo(path / STOPS_FILE)
    assert stopped_in(path) == Stopped()
    (path / STOPS_FILE).unlink()
    (path / STOPS_FILE).mkdir()
    assert stopped_in(path) == Stopped()


def test_nodes_that_are_not_there_do_no_harm(trace):
    path, _ = trace
    strange = [
        stop(node=999),
        stop(node=998, late=True),
        stop(node=5, text="made another", infinite={"node": 997, "gradient": False}),
        stop(kind="none-grad", node=0),
    ]
    for each in strange:
        note(path, each | {"pass": 55})
    history = History(path)
    assert len(history.explanation().findings) == len(strange)
    assert history.stopped().bad == {999: "made NaN", 998: "made NaN", 5: "made another"}
