"""What a hub tells: output, to clients that keep up and to those that do not; input; the growth of the trace."""

import pytest

from agdbg.protocol.client import RequestFailed


def output_of(client, until):
    """All output events up to a text: what was printed, and what the hub said."""
    printed, said = [], []
    while not any(until in each for each in printed[-2:]):
        body = client.wait_for("output")
        (printed if body["category"] == "stdout" else said).append(body["output"])
    return "".join(printed), said


def test_output_comes_in_order_and_in_pieces(hub):
    client = hub.launched()
    lines = "".join(f"line {number}\n" for number in range(30_000))
    hub.program.print(lines + "THE END\n")
    printed, said = output_of(client, "THE END")
    assert (printed, said) == (lines + "THE END\n", [])


def test_a_character_that_is_cut_in_two_comes_whole(hub):
    client = hub.launched()
    hub.program.print("ä".encode()[:1])
    hub.program.print("ä".encode()[1:] + b"\xff THE END\n")
    printed, _ = output_of(client, "THE END")
    assert printed == "ä\N{REPLACEMENT CHARACTER} THE END\n"


def test_a_slow_client_is_told_what_it_missed_and_holds_up_nobody(hub):
    slow, quick = hub.launched(), hub.joined()
    block = ("x" * 99 + "\n") * 2_000 + "THE END\n"  # 200 kB
    total = 0
    for _ in range(100):
        hub.program.print(block)
        printed, said = output_of(quick, "THE END")
        assert (printed, said) == (block, [])
        total += len(printed)
    notice = slow.wait_for("output", predicate=lambda body: body["category"] == "console")["output"]
    missed = int(notice.split()[0].replace(",", ""))
    hub.program.print("and on\n")
    last = slow.wait_for("output", predicate=lambda body: "and on" in body["output"])["output"]
    shown = sum(len(each["body"]["output"]) for each in slow.events if each["event"] == "output")
    assert missed + shown + len(last) == total + len("and on\n")
    assert missed > 15_000_000
    assert "output.log" in notice


def test_output_can_be_read_again(hub):
    client = hub.launched()
    hub.program.print("0123456789")
    client.wait_for("output")
    assert client.request("agdbg/output", start=2, length=4) == {
        "start": 2,
        "end": 6,
        "total": 10,
        "text": "2345",
        "kept": True,
    }
    assert client.request("agdbg/output", start=20, length=4)["text"] == ""


@pytest.mark.parametrize("length", [0, 1, 5, 6, 7, 100])
def test_who_pages_on_from_the_end_of_a_page_gets_every_character(hub, length):
    client = hub.launched()
    text = "aü€𝄞" * 9
    hub.program.print(text.encode() + "€".encode()[:2])
    client.wait_for("output")
    pages, at = [], 0
    while (page := client.request("agdbg/output", start=at, length=length))["end"] > at:
        assert page["start"] == at
        pages.append(page["text"])
        at = page["end"]
    assert "".join(pages) == text
    assert (page["text"], page["total"]) == ("", at + 2)
    hub.program.print("€".encode()[2:])
    client.wait_for("output")
    assert client.request("agdbg/output", start=at, length=length)["text"] == "€"


def test_who_joins_later_can_read_what_came_before(hub):
    client = hub.launched()
    hub.program.print("early\n")
    client.wait_for("output")
    other = hub.joined()
    assert other.request("agdbg/output", start=0, length=100)["text"] == "early\n"
    hub.program.print("late\n")
    assert other.wait_for("output")["output"] == "late\n"


def test_what_is_typed_and_the_size_of_the_terminal(hub):
    client = hub.launched()
    client.request("agdbg/input", text="grüße\n")
    assert hub.program.typed.decode() == "grüße\n"
    client.request("agdbg/resize", columns=120, rows=40)
    assert hub.program.sizes == [(120, 40)]


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("agdbg/input", {"text": "a"}),
        ("agdbg/resize", {"columns": 80, "rows": 24}),
        ("evaluate", {"expression": "1"}),
        ("terminate", {}),
    ],
)
def test_there_is_nobody_to_talk_to(hub, command, arguments):
    client = hub.client()
    with pytest.raises(RequestFailed, match="launch one"):
        client.request(command, **arguments)
    client.request("launch", program=__file__, cwd=str(hub.directory))
    with pytest.raises(RequestFailed, match="configurationDone"):
        client.request(command, **arguments)
    client.request("configurationDone")
    hub.program.end(status=0)
    client.wait_for("terminated")
    with pytest.raises(RequestFailed, match="has ended"):
        client.request(command, **arguments)


def test_what_the_run_before_has_printed_can_be_read(hub):
    client = hub.launched()
    before = {"start": 0, "length": 100, "before": True}
    with pytest.raises(RequestFailed, match="was not started anew, so there is no run before"):
        client.request("agdbg/output", **before)
    hub.program.print("first")
    client.wait_for("output")
    hub.program.end(status=0)
    client.wait_for("terminated")
    client.request("restart")
    assert client.request("agdbg/output", start=0, length=100)["text"] == ""
    page = client.request("agdbg/output", **before)
    assert (page["text"], page["end"], page["total"]) == ("first", 5, 5)


def test_a_slow_client_is_told_what_it_missed_of_the_run_before(hub):
    slow, quick = hub.launched(), hub.joined()
    for _ in range(100):
        hub.program.print("x" * 200_000 + "END\n")
        output_of(quick, "END")
    old = hub.program
    old.end(status=0)
    quick.wait_for("terminated")
    quick.request("restart")
    notice = slow.wait_for("output", predicate=lambda body: body["category"] == "console")["output"]
    assert int(notice.split()[0].replace(",", "")) > 15_000_000 and str(old.trace / "output.log") in notice


def test_nothing_was_printed_where_nothing_runs(hub):
    with pytest.raises(RequestFailed, match="nothing was printed"):
        hub.client().request("agdbg/output", start=0, length=1)


def test_the_growth_of_the_trace_is_told(hub, tmp_path, made_up_class):
    client = hub.launched(trace=str(tmp_path / "trace"))
    program = made_up_class(tmp_path, "y = x * x")
    program.leaf("x", "x")
    program.node("y", "MulBackward0", 1, "x * x", ["x", "x"])
    program.recorder.flush()
    assert client.wait_for("agdbg/grew", predicate=lambda body: body["nodes"])["nodes"] == 2
    program.backward(1, "y", "x")
    program.recorder.close()
    hub.program.end(status=0)
    assert client.wait_for("agdbg/ended")["trace"] == str(tmp_path / "trace")
    assert client.wait_for("agdbg/grew")["records"] > 3


def test_a_hub_that_has_nothing_to_do_does_not_wake_up(hub):
    client = hub.launched()
    hub.stopped(client)
    client.request("agdbg/status")
    loop = hub.server.loop
    rounds = []
    original = loop._call_posted
    loop._call_posted = lambda: (rounds.append(1), original())
    with pytest.raises(TimeoutError):
        client.wait_for("never", timeout=0.6)
    assert len(rounds) <= 3  # the look after the stop, and what it found
