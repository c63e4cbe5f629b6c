"""Malformed requests are refused in words: the field, its value, what is expected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agdbg.explain.explanation import as_json, explain
from agdbg.protocol.check import check_arguments, check_body, check_event, check_request
from agdbg.protocol.errors import ProtocolError
from agdbg.protocol.messages import EVENTS, REQUESTS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)

REFUSED = [
    ("next", {}, "next: threadId is missing; expected an integer"),
    ("next", {"threadId": True}, "next: threadId is true; expected an integer"),
    ("next", {"threadId": 1.0}, "next: threadId is 1.0; expected an integer"),
    ("next", [], "next: arguments is []; expected an object"),
    ("setBreakpoints", {"source": {"path": 5}}, "setBreakpoints: source.path is 5; expected a string"),
    ("setBreakpoints", {"source": {}, "breakpoints": {}}, "setBreakpoints: breakpoints is {}; expected a list"),
    (
        "setBreakpoints",
        {"source": {}, "breakpoints": [{"line": 1}, {"column": 2}]},
        "setBreakpoints: breakpoints[1].line is missing; expected an integer",
    ),
    ("launch", {"onOrphan": "die"}, 'launch: onOrphan is "die"; expected one of continue, wait'),
    ("launch", {"trace": 3}, "launch: trace is 3; expected a string or null"),
    ("launch", {"env": {"A": 1}}, "launch: env.A is 1; expected a string"),
    ("launch", {"args": "-x"}, 'launch: args is "-x"; expected a list'),
    ("launch", {"rows": 0}, "launch: rows is 0; expected an integer from 1 to 65535"),
    ("nxt", {}, 'there is no command "nxt"; did you mean next?'),
    ("agdbg/rows", {"start": 0, "count": 1001}, "agdbg/rows: count is 1001; expected an integer from 0 to 1000"),
    ("agdbg/rows", {"start": -1, "count": 1}, "agdbg/rows: start is -1; expected an integer of at least 0"),
    (
        "agdbg/rows",
        {"start": 0, "count": 9, "thread": 1},
        "agdbg/rows: there is no field thread, here 1; the fields are: start, count, threadId, folds",
    ),
    ("agdbg/status", {"x": 1}, "agdbg/status: there is no field x, here 1; the fields are: none"),
    ("agdbg/graph", {"start": 0, "count": 9, "pass": "1"}, 'agdbg/graph: pass is "1"; expected an integer'),
]


@pytest.mark.parametrize(("command", "arguments", "words"), REFUSED)
def test_a_malformed_request_is_refused_in_words(command, arguments, words):
    with pytest.raises(ProtocolError) as refused:
        check_arguments(command, arguments)
    assert str(refused.value) == words


def test_a_long_value_is_cut():
    with pytest.raises(ProtocolError) as refused:
        check_arguments("next", {"threadId": "x" * 10_000})
    assert len(str(refused.value)) < 150


def test_an_unknown_command_is_told_the_known_ones():
    with pytest.raises(
        ProtocolError, match=r"no command \"%%%\"; the commands are: initialize, launch, .*agdbg/status"
    ):
        check_arguments("%%%", {})


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("configurationDone", None),
        ("threads", {}),
        ("launch", {"name": "Debug", "request": "launch", "program": "a.py", "console": None}),
        ("evaluate", {"expression": "x", "format": {"hex": True}}),
        ("agdbg/events", {"start": -10, "count": 10}),
        ("agdbg/graph", {"start": 0, "count": 1000, "node": 3, "hops": 0}),
    ],
)
def test_what_clients_send_is_accepted(command, arguments):
    assert check_arguments(command, arguments) == (arguments or {})


@given(st.sampled_from(sorted(REQUESTS)), JSON)
def test_any_value_is_accepted_or_refused_in_words(command, arguments):
    try:
        check_arguments(command, arguments)
    except ProtocolError as error:
        assert str(error).startswith(f"{command}: ")
    else:
        assert arguments is None or isinstance(arguments, dict)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({}, "the message: seq is missing; expected an integer"),
        ({"seq": "1"}, 'the message: seq is "1"; expected an integer'),
        ({"seq": 1, "type": "event", "command": "next"}, 'the message: type is "event"; expected request'),
        ({"seq": 1, "type": "request"}, "the message: command is missing; expected a string"),
        (
            {"seq": 1, "type": "request", "command": "next", "arguments": 5},
            "the message: arguments is 5; expected an object or null",
        ),
    ],
)
def test_what_is_no_request_is_refused_in_words(message, words):
    with pytest.raises(ProtocolError) as refused:
        check_request(message)
    assert str(refused.value) == words


def test_bodies_and_events_have_the_fields_of_their_types_only():
    check_body("agdbg/find", {"row": None, "node": None})
    check_event("agdbg/grew", {"nodes": 1, "records": 2})
    with pytest.raises(ProtocolError, match="the response to agdbg/find: there is no field nodes, here 1"):
        check_body("agdbg/find", {"row": 1, "node": 1, "nodes": 1})
    with pytest.raises(ProtocolError, match="the event agdbg/grew: records is missing"):
        check_event("agdbg/grew", {"nodes": 1})


def test_findings_are_those_of_explain(torch_two_losses):
    found = as_json(explain(torch_two_losses.path)) | {
        "rendered": "...",
        "unseen": "",
        "stands_at": None,
        "standing": "",
    }
    assert found["findings"][0]["evidence"]
    check_body("agdbg/findings", found)


def test_every_type_can_be_checked():
    for command in REQUESTS:
        with pytest.raises(ProtocolError, match="expected an object"):
            check_body(command, 5)
    for name in EVENTS:
        with pytest.raises(ProtocolError, match="expected an object"):
            check_event(name, 5)
