"""Steps, pauses and breakpoints, between a client and an agent that the test plays."""

from pathlib import Path

import pytest

from agdbg.protocol.client import RequestFailed

HOW = {
    "next": "next",
    "stepIn": "in",
    "stepOut": "out",
    "continue": "continue",
    "stepBack": "back",
    "reverseContinue": "reverse",
}


def refused(client, command, /, **arguments):
    with pytest.raises(RequestFailed) as caught:
        client.request(command, **arguments)
    return str(caught.value)


@pytest.mark.parametrize("command", HOW)
def test_a_step_goes_to_the_agent_and_the_stop_to_the_client(hub, command):
    client = hub.launched()
    agent = hub.stopped(client)
    number = client.send(command, threadId=1)
    request = agent.answer("resume")
    assert (request["how"], request["force"]) == (HOW[command], False)
    client.answer(number)
    agent.stop(node=2)
    assert client.wait_for("stopped") == {
        "reason": "step",
        "description": "before node 2",
        "threadId": 1,
        "allThreadsStopped": False,
    }


def test_a_running_thread_cannot_step(hub):
    client = hub.launched()
    agent = hub.stopped(client)
    client.request("next", threadId=1)
    assert "is running" in refused(client, "next", threadId=1)
    assert "is running" in refused(client, "stepBack", threadId=1)
    assert "is running" in refused(client, "stackTrace", threadId=1)
    assert agent.answer("resume")["how"] == "next"


def test_a_thread_that_is_not_there_cannot_step(hub):
    client = hub.launched()
    assert "none so far" in refused(client, "next", threadId=1)
    hub.stopped(client)
    assert "threadId 7" in refused(client, "next", threadId=7)


@pytest.mark.parametrize("command", HOW)
def test_nothing_steps_where_nothing_runs(hub, command):
    client = hub.client()
    assert "launch a program" in refused(client, command, threadId=1)
    client.request("launch", program=__file__, cwd=str(hub.directory))
    assert "configurationDone" in refused(client, command, threadId=1)


def test_a_step_that_the_agent_refuses_is_a_stop_where_it_was(hub):
    client = hub.launched()
    agent = hub.stopped(client, node=3)
    client.request("next", threadId=1)
    agent.answer("resume", error="no such way", code="bad")
    assert "no such way" in client.wait_for("stopped")["text"]
    assert client.request("agdbg/status")["state"] == "stopped"


def test_a_barrier_is_told_with_its_code_and_can_be_forced(hub):
    client = hub.launched()
    agent = hub.stopped(client)
    number = client.send("stepBack", threadId=1)
    agent.answer("resume", error="a hook of yours ran", code="barrier")
    with pytest.raises(RequestFailed, match="a hook of yours ran") as caught:
        client.answer(number)
    assert caught.value.body["error"]["variables"]["code"] == "barrier"
    number = client.send("stepBack", threadId=1, force=True)
    assert agent.answer("resume")["force"] is True
    client.answer(number)


def test_threads_step_for_themselves(hub):
    client = hub.launched()
    one, two = hub.agent(thread=1), hub.agent(thread=2, name="worker")
    one.stop(node=1)
    two.stop(node=2)
    client.wait_for("stopped", predicate=lambda body: body["threadId"] == 1)
    client.wait_for("stopped", predicate=lambda body: body["threadId"] == 2)
    client.request("next", threadId=2)
    assert two.answer("resume")["how"] == "next"
    status = client.request("agdbg/status")
    assert [each["stopped"] for each in status["threads"]] == [True, False]
    assert status["state"] == "stopped"


def test_other_clients_hear_that_a_thread_goes_on(hub):
    client = hub.launched()
    hub.stopped(client)
    other = hub.joined()
    client.request("next", threadId=1)
    assert other.wait_for("continued") == {"threadId": 1, "allThreadsContinued": False}
    client.request("threads")
    assert client.none_of("continued")


def test_a_thread_that_left_its_stop_by_a_signal_is_running(hub):
    client = hub.launched()
    agent = hub.stopped(client)
    agent.send({"resumed": {"thread": 1}})
    client.wait_for("continued")
    assert "is running" in refused(client, "next", threadId=1)


def test_a_thread_that_ends_while_it_stands(hub):
    client = hub.launched()
    agent = hub.stopped(client)
    number = client.send("evaluate", expression="1")
    assert agent.receive()["do"] == "evaluate"
    agent.close()
    with pytest.raises(RequestFailed, match="has ended"):
        client.answer(number)
    assert client.wait_for("thread", predicate=lambda body: body["reason"] == "exited")["threadId"] == 1
    assert client.request("agdbg/status")["state"] == "running"


def test_a_process_that_is_not_the_program_is_no_agent(hub):
    client = hub.launched()
    assert hub.agent(pid=1).receive() is None
    assert client.request("threads") == {"threads": []}


@pytest.mark.parametrize(
    "line", [b"no json\n", b"[]\n", b'{"stopped": {}}\n', b'{"hello": 7}\n', b"\xff\n", b'{"id": 7}\n']
)
def test_an_agent_that_talks_nonsense_harms_nobody(hub, line):
    client = hub.launched()
    agent = hub.agent(thread=2)
    client.wait_for("thread")
    agent.send_bytes(line)
    good = hub.agent(thread=1)
    good.stop(node=6)
    assert client.wait_for("stopped", predicate=lambda body: body["threadId"] == 1)["description"] == "before node 6"


# ----- pausing, entry -----


def test_a_pause_is_counted_in_the_control_block(hub):
    client = hub.launched()
    before = hub.settings.pause
    client.request("pause", threadId=1)
    assert hub.settings.pause == before + 1
    agent = hub.agent()
    agent.stop(reason="pause")
    assert client.wait_for("stopped")["reason"] == "pause"
    assert "stopped already" in refused(client, "pause", threadId=1)


def test_entry_is_asked_for_before_the_start(hub):
    client = hub.client()
    client.request("launch", program=__file__, cwd=str(hub.directory), stopOnEntry=True)
    assert hub.settings.entry


def test_nothing_pauses_where_nothing_runs(hub):
    assert "launch one" in refused(hub.client(), "pause", threadId=1)


# ----- breakpoints -----


def test_line_breakpoints_reach_the_program_and_keep_their_ids(hub):
    client = hub.launched()
    source = {"path": __file__}
    first = client.request("setBreakpoints", source=source, breakpoints=[{"line": 5}, {"line": 9}])["breakpoints"]
    assert [each["verified"] for each in first] == [True, True]
    assert [(each.file, each.line) for each in hub.settings.sources] == [(__file__, 5), (__file__, 9)]
    again = client.request("setBreakpoints", source=source, breakpoints=[{"line": 9}, {"line": 3}])["breakpoints"]
    assert again[0]["id"] == first[1]["id"]
    assert again[1]["id"] not in [each["id"] for each in first]
    client.request("setBreakpoints", source=source, breakpoints=[])
    assert hub.settings.sources == []


def told_of_breakpoints(client):
    """The events that came since the last time, by what is said of which line or name."""
    client.request("threads")  # what was sent before its answer is there
    events = []
    while not client.none_of("breakpoint"):
        body = client.wait_for("breakpoint")
        told = body["breakpoint"]
        events.append((body["reason"], told.get("line") or told["name"], told["id"], told["verified"]))
    return events


def test_other_clients_hear_of_breakpoints(hub, tmp_path):
    client = hub.launched()
    other = hub.joined()
    file = tmp_path / "train.py"
    file.write_text("a\n" * 10)
    source = {"path": str(file)}
    five, nine = client.request("setBreakpoints", source=source, breakpoints=[{"line": 5}, {"line": 9}])["breakpoints"]
    assert told_of_breakpoints(other) == [("new", 5, five["id"], True), ("new", 9, nine["id"], True)]
    file.write_text("a\n" * 6)
    client.request("setBreakpoints", source=source, breakpoints=[{"line": 9}])
    assert told_of_breakpoints(other) == [("removed", 5, five["id"], True), ("changed", 9, nine["id"], False)]
    [name] = other.request("setFunctionBreakpoints", breakpoints=[{"name": "Mul*"}])["breakpoints"]
    assert told_of_breakpoints(client) == [("new", "Mul*", name["id"], True)]
    late = hub.joined()
    assert told_of_breakpoints(late) == [("new", 9, nine["id"], False), ("new", "Mul*", name["id"], True)]
    client.request("setFunctionBreakpoints", breakpoints=[])
    for each in (other, late):
        assert told_of_breakpoints(each) == [("removed", "Mul*", name["id"], True)]
    assert told_of_breakpoints(client) == []


def test_a_client_is_not_told_when_it_joins_of_what_it_has_set_before(hub):
    first = hub.launched()
    source = {"path": __file__}
    first.request("setFunctionBreakpoints", breakpoints=[{"name": "Mul*"}])
    client = hub.client()
    client.request("setBreakpoints", source=source, breakpoints=[{"line": 5}])
    client.request("attach")
    client.request("configurationDone")
    assert [event[:2] for event in told_of_breakpoints(client)] == [("new", "Mul*")]
    assert [event[:2] for event in told_of_breakpoints(first)] == [("new", 5)]


def test_the_files_of_breakpoints_do_not_disturb_each_other(hub, tmp_path):
    other = tmp_path / "other.py"
    other.write_text("a\nb\n")
    client = hub.launched()
    client.request("setBreakpoints", source={"path": __file__}, breakpoints=[{"line": 5}])
    client.request("setBreakpoints", source={"path": str(other)}, lines=[2])
    assert [each.line for each in hub.settings.sources] == [5, 2]


@pytest.mark.parametrize(
    ("path", "breakpoint", "told"),
    [
        ("/no/such/file.py", {"line": 1}, "does not exist"),
        ("relative.py", {"line": 1}, "no absolute path"),
        (__file__, {"line": 100_000}, "line 100000 is not in"),
        (__file__, {"line": 0}, "line 0 is not in"),
        (__file__, {"line": 5, "condition": "x ="}, "condition 'x =' is no Python expression: invalid syntax"),
        (__file__, {"line": 5, "hitCondition": "often"}, "hitCondition 'often' is no number of hits"),
        (__file__, {"line": 5, "hitCondition": "%0"}, "hitCondition '%0' is no number of hits"),
        (__file__, {"line": 5, "logMessage": "{x"}, "the '{' at character 1 is not closed"),
        (__file__, {"line": 5, "logMessage": "x}"}, "a '}' at character 2 that closes nothing"),
        (__file__, {"line": 5, "ignore": -1}, "ignore is -1"),
    ],
)
def test_a_breakpoint_that_cannot_be_hit_says_why(hub, path, breakpoint, told):
    client = hub.launched()
    (made,) = client.request("setBreakpoints", source={"path": path}, breakpoints=[breakpoint])["breakpoints"]
    assert not made["verified"]
    assert told in made["message"]
    assert hub.settings.sources == []


def test_a_breakpoint_needs_a_file(hub):
    assert "no path" in refused(hub.launched(), "setBreakpoints", source={}, breakpoints=[])


def test_breakpoints_on_names(hub):
    client = hub.launched()
    found = client.request("setFunctionBreakpoints", breakpoints=[{"name": "Mul*"}, {"name": " "}])["breakpoints"]
    assert [each["verified"] for each in found] == [True, False]
    assert [each.name for each in hub.settings.functions] == ["Mul*"]
    agent = hub.agent()
    agent.stop(reason="breakpoint", breakpoints=[found[0]["id"]])
    stopped = client.wait_for("stopped")
    assert (stopped["reason"], stopped["hitBreakpointIds"]) == ("function breakpoint", [found[0]["id"]])


def test_the_reason_of_a_line_breakpoint(hub):
    client = hub.launched()
    (made,) = client.request("setBreakpoints", source={"path": __file__}, breakpoints=[{"line": 5}])["breakpoints"]
    hub.agent().stop(reason="breakpoint", breakpoints=[made["id"]])
    assert client.wait_for("stopped")["reason"] == "breakpoint"


def test_filters_of_errors(hub):
    client = hub.client()
    found = client.request("setExceptionBreakpoints", filters=["backward-twice", "full-moon"])["breakpoints"]
    assert [each["verified"] for each in found] == [True, False]
    assert "full-moon" in found[1]["message"]
    assert hub.settings.exceptions == ["backward-twice"]


def test_the_default_filters_are_told(hub):
    client = hub.stranger()
    filters = client.request("initialize", adapterID="agdbg")["exceptionBreakpointFilters"]
    assert [each["filter"] for each in filters if each["default"]] == ["backward-twice", "inplace-modified"]


def test_more_breakpoints_than_fit_are_refused_and_the_old_ones_stay(hub):
    client = hub.launched()
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "Mul*"}])
    many = [{"name": f"Op{number}Backward"} for number in range(5000)]
    assert "remove some" in refused(client, "setFunctionBreakpoints", breakpoints=many)
    assert [each.name for each in hub.settings.functions] == ["Mul*"]
    client.request("setBreakpoints", source={"path": __file__}, breakpoints=[{"line": 5}])
    assert [each.name for each in hub.settings.functions] == ["Mul*"]


def test_the_same_breakpoint_asked_for_twice_is_one(hub):
    client = hub.launched()
    made = client.request("setFunctionBreakpoints", breakpoints=[{"name": "Mul*"}, {"name": "Mul*"}])["breakpoints"]
    assert made[0] == made[1]
    assert len(hub.settings.functions) == 1


def test_what_is_asked_of_a_breakpoint_reaches_the_program_and_other_clients(hub):
    client = hub.launched()
    other = hub.joined()
    asked = {"condition": "x > 1", "hitCondition": ">=3", "ignore": 2, "logMessage": "{x}", "temporary": True}
    told = {"condition": "x > 1", "hitCondition": ">=3", "ignore": 2, "logMessage": "{x}", "temporary": True}
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "Mul*", **asked}])
    client.request("agdbg/setEventBreakpoints", kinds=[{"kind": "version bump", **asked}])
    client.request("setDataBreakpoints", breakpoints=[{"dataId": "storage:7", **asked}])
    client.request("setBreakpoints", source={"path": __file__}, breakpoints=[{"line": 5, "when": "forward", **asked}])
    rule = {"condition": "x > 1", "hits": ">=3", "ignore": 2, "log": "{x}", "temporary": True}
    settings = hub.settings
    assert [vars(each) for each in settings.functions] == [{"id": 1, "name": "Mul*", "when": "both", **rule}]
    assert [vars(each) for each in settings.events] == [{"id": 2, "kind": "version-bump", **rule}]
    assert [vars(each) for each in settings.watches] == [{"id": 3, "name": "", "storage": 7, "label": "", **rule}]
    assert [(each.line, each.when, each.condition) for each in settings.sources] == [(5, "forward", "x > 1")]
    other.request("threads")
    bodies = [other.wait_for("breakpoint")["breakpoint"] for _ in range(4)]
    assert all(told.items() <= body.items() for body in bodies)
    assert [body.get("name") or body.get("kind") or body.get("dataId") or body["when"] for body in bodies] == [
        "Mul*", "version-bump", "storage:7", "forward",
    ]  # fmt: skip


def test_conditions_of_filters_reach_the_program(hub):
    client = hub.launched()
    options = [{"filterId": "nan", "condition": "step > 3", "hitCondition": "2"}, {"filterId": "any"}]
    client.request("setExceptionBreakpoints", filters=["inf"], filterOptions=options)
    assert hub.settings.exceptions == ["inf", "nan", "any"]
    assert [(each.name, each.condition, each.hits) for each in hub.settings.filters] == [("nan", "step > 3", "2")]


def test_log_messages_are_told_and_a_temporary_breakpoint_is_gone(hub):
    client = hub.launched()
    (made,) = client.request("setFunctionBreakpoints", breakpoints=[{"name": "Mul*", "temporary": True}])["breakpoints"]
    agent = hub.agent()
    agent.send(
        {"log": {"breakpoint": made["id"], "text": "hello", "spent": True, "file": "/a.py", "line": 3, "node": 1}}
    )
    told = client.wait_for("output", predicate=lambda body: body["category"] == "console")
    assert (told["output"], told["source"], told["line"]) == ("hello\n", {"path": "/a.py"}, 3)
    assert client.wait_for("breakpoint")["reason"] == "removed"
    assert hub.settings.functions == []


@pytest.mark.parametrize(
    "message",
    [{"log": 7}, {"log": {}}, {"broken": []}, {"broken": {"breakpoint": "x"}}, {"broken": {"breakpoint": 99}}],
)
def test_news_of_breakpoints_that_make_no_sense_harm_nobody(hub, message):
    client = hub.launched()
    agent = hub.agent()
    agent.send(message)
    agent.stop(node=6, breakpoints=[123])
    assert client.wait_for("stopped")["description"] == "before node 6"


def test_a_client_that_reads_no_log_messages_is_told_how_many_it_missed(hub):
    client = hub.launched()
    agent = hub.agent()
    text, many = "x" * 10_000, 1000
    for _ in range(many):
        agent.send({"log": {"breakpoint": 1, "text": text, "file": "", "line": 0, "node": 0}})
    agent.stop(node=6)
    seen = 0
    client.wait_for("stopped")
    agent.send({"log": {"breakpoint": 1, "text": "last", "file": "", "line": 0, "node": 0}})
    missed = 0
    while True:
        body = client.wait_for("output", predicate=lambda body: body["category"] == "console")
        if body["output"] == "last\n":
            break
        if "log messages are not shown" in body["output"]:
            missed = int(body["output"].split()[0].replace(",", ""))
        else:
            seen += 1
    assert missed > 0 and seen + missed == many


def test_temporary_and_ignored_take_no_more_room_than_they_need(hub):
    client = hub.launched()
    many = [{"name": f"Op{number}", "condition": "x" * 1000} for number in range(70)]
    assert "remove some" in refused(client, "setFunctionBreakpoints", breakpoints=many)
    assert "remove some" in refused(
        client, "agdbg/setEventBreakpoints", kinds=[{"kind": "save", "condition": "x" * 70_000}]
    )
    assert hub.settings.functions == hub.settings.events == []


# ----- what is there to see of the source -----


def test_the_text_of_a_source(hub):
    client = hub.launched()
    body = client.request("source", source={"path": __file__}, sourceReference=0)
    assert body["content"] == Path(__file__).read_text()
    assert "no such file" in refused(client, "source", source={"path": "/no/such"}, sourceReference=0)
    assert "no such file" in refused(client, "source", source={"path": "."}, sourceReference=0)
    assert "sourceReference 5" in refused(client, "source", sourceReference=5)
