"""Whatever comes in at the socket, the hub answers the other clients, and says what is wrong."""

import json
import socket

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agdbg.hub.call import HANDLERS
from agdbg.hub.server import STRANGERS
from agdbg.protocol import wire
from agdbg.protocol.client import Disconnected, RequestFailed
from agdbg.protocol.messages import REQUESTS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = sorted({name for shape in REQUESTS.values() for name in shape.arguments.__annotations__})
#: Commands that make or unmake a run: the test would be over.
ENDING = {"launch", "attach", "disconnect", "terminate", "configurationDone", "agdbg/export"}
ARGUMENTS = st.dictionaries(st.sampled_from(FIELDS), JSON | st.integers(-2, 20_000), max_size=4)
REQUEST = st.fixed_dictionaries(
    {
        "seq": st.integers(1, 9),
        "type": st.just("request"),
        "command": st.sampled_from(sorted(set(REQUESTS) - ENDING)),
        "arguments": ARGUMENTS,
    }
)
MANY = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def connected(hub):
    raw = socket.socket(socket.AF_UNIX)
    raw.settimeout(20)
    raw.connect(str(hub.runtime.client_socket))
    return raw


def answers(raw, count):
    decoder, found = wire.Decoder(), []
    while len(found) < count:
        data = raw.recv(1 << 16)
        if not data:
            break
        found += [each for each in decoder.feed(data) if each["type"] == "response"]
    return found


def test_every_command_has_a_handler(hub):
    assert set(HANDLERS) == set(REQUESTS)


@MANY
@given(st.binary(max_size=200))
def test_random_bytes_harm_nobody(hub, data):
    raw = connected(hub)
    raw.sendall(data)
    raw.close()
    assert hub.client().request("agdbg/status")["state"] == "waiting"


@MANY
@given(st.lists(JSON, min_size=1, max_size=3))
def test_random_messages_harm_nobody(hub, messages):
    witness = hub.client()
    raw = connected(hub)
    raw.sendall(b"".join(map(wire.encode, messages)))
    assert witness.request("threads") == {"threads": []}
    raw.close()


@MANY
@given(st.lists(REQUEST, min_size=1, max_size=4))
def test_every_request_has_one_answer_whatever_its_arguments(hub, requests):
    raw = connected(hub)
    raw.sendall(b"".join(map(wire.encode, requests)))
    found = answers(raw, len(requests))
    assert sorted(each["request_seq"] for each in found) == sorted(each["seq"] for each in requests)
    assert all("internal error" not in each.get("message", "") for each in found)
    raw.close()


@MANY
@given(st.lists(REQUEST, min_size=1, max_size=4))
def test_the_same_with_a_program(new_hub, requests):
    hub = new_hub()
    client = hub.launched()
    agent = hub.stopped(client)
    agent.close()
    raw = connected(hub)
    raw.sendall(b"".join(map(wire.encode, requests)))
    found = answers(raw, len(requests))
    assert sorted(each["request_seq"] for each in found) == sorted(each["seq"] for each in requests)
    assert all("internal error" not in each.get("message", "") for each in found)
    raw.close()
    hub.close()


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"seq": 5, "type": "request", "command": "fly"}, "no command"),
        ({"seq": 5, "type": "request"}, "command is missing"),
        ({"seq": 5, "type": "event", "command": "next"}, "type"),
        ({"seq": 5, "type": "request", "command": "next", "arguments": {"threadId": "one"}}, "threadId"),
        ({"seq": 5, "type": "request", "command": "next", "arguments": 7}, "arguments is 7"),
        ({"seq": 5, "type": "request", "command": "agdbg/rows", "arguments": {"start": 0, "count": 10**6}}, "count"),
    ],
)
def test_a_malformed_request_is_answered_in_words(hub, message, told):
    raw = connected(hub)
    raw.sendall(wire.encode(message))
    (found,) = answers(raw, 1)
    assert (found["request_seq"], found["success"]) == (5, False)
    assert told in found["message"]
    raw.close()


@pytest.mark.parametrize("body", [b'{"seq": 2, nonsense', b"\xff\xfe", b"[1, 2]", b"", b"[" * 100_000, b'{"seq": NaN}'])
def test_a_body_that_is_no_json_object_is_answered_and_the_next_message_too(hub, body):
    raw = connected(hub)
    asked = wire.encode({"seq": 7, "type": "request", "command": "threads"})
    raw.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) + asked)
    refused, answered = answers(raw, 2)
    assert (refused["request_seq"], refused["success"]) == (0, False)
    assert refused["message"].startswith("the body of a message is")
    assert (answered["request_seq"], answered["success"]) == (7, True)
    raw.close()


def test_a_stream_that_cannot_be_understood_is_closed_with_a_reason(hub):
    raw = connected(hub)
    raw.sendall(b"GET / HTTP/1.1\r\n\r\n")
    (found,) = answers(raw, 2)
    assert "Content-Length" in found["message"]
    raw.close()


def test_a_handler_that_fails_is_an_answer_and_a_line_in_the_log(hub, monkeypatch, capsys):
    def broken(call):
        raise ZeroDivisionError("oops")

    monkeypatch.setitem(HANDLERS, "threads", broken)
    client = hub.client()
    with pytest.raises(RequestFailed, match="internal error: ZeroDivisionError: oops"):
        client.request("threads")
    assert client.request("agdbg/status")
    assert "oops" in capsys.readouterr().err


def test_one_byte_at_a_time(hub):
    raw = connected(hub)
    for byte in wire.encode({"seq": 1, "type": "request", "command": "threads"}):
        raw.sendall(bytes([byte]))
    (found,) = answers(raw, 1)
    assert found["success"]
    raw.close()


def test_a_client_that_only_asks_and_never_reads_is_held_up(hub):
    raw = connected(hub)
    raw.settimeout(1.0)
    request = wire.encode({"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "a" * 900}})
    with pytest.raises(TimeoutError):
        for _ in range(1000):
            raw.sendall(request * 100)
    assert hub.client().request("agdbg/status")
    raw.close()


# ----- over the network -----


@pytest.fixture
def network(new_hub):
    return new_hub(listen=("127.0.0.1", 0), token="open sesame")


def test_the_token_opens(network):
    client = network.stranger(network.server.address, token="open sesame")
    client.request("initialize", adapterID="agdbg")
    client.request("launch", program=__file__, cwd=str(network.directory))
    assert client.request("agdbg/status")["state"] == "waiting"


def test_without_the_token_nobody_ends_a_hub_that_waits(network):
    for token in (None, "wrong"):
        stranger = network.stranger(network.server.address, token=token)
        stranger.request("initialize", adapterID="agdbg")
        if token:
            with pytest.raises(RequestFailed, match="the token is not the one"):
                stranger.request("launch", program=__file__)
        stranger.close()
    client = network.stranger(network.server.address, token="open sesame")
    client.request("initialize", adapterID="agdbg")
    client.request("launch", program=__file__, cwd=str(network.directory))
    assert client.request("agdbg/status")["state"] == "waiting"


def test_a_hub_at_a_port_waits_for_the_next_client(network):
    network.client().close()
    known = network.stranger(network.server.address, token="open sesame")
    known.request("initialize", adapterID="agdbg")
    with pytest.raises(RequestFailed, match="no such file"):
        known.request("launch", program="nowhere.py", cwd=str(network.directory))
    known.close()
    assert network.client().request("agdbg/status")["state"] == "waiting"


def test_strangers_do_not_keep_a_hub_waiting(new_hub):
    network = new_hub(listen=("127.0.0.1", 0), token="open sesame", patience=0.1)
    network.stranger(network.server.address).send("initialize", adapterID="agdbg")
    assert network.wait_for_end()


@pytest.mark.parametrize("token", [None, "", "open sesam", "open sesame ", "\N{SNOWMAN}", "\ud800"])
def test_without_the_token_there_is_nothing(network, token):
    client = network.stranger(network.server.address, token=token)
    client.request("initialize", adapterID="agdbg")
    for command in ("agdbg/status", "threads", "terminate"):
        with pytest.raises(RequestFailed, match="wants its token first"):
            client.request(command)
    with pytest.raises(RequestFailed, match="the token is not the one" if token else "wants its token first"):
        client.request("launch", program=__file__)
    with pytest.raises(Disconnected):
        client.request("agdbg/status")


def test_the_socket_of_this_user_needs_no_token(network):
    assert network.client().request("agdbg/status")["state"] == "waiting"
    assert network.runtime.client_socket.stat().st_mode & 0o777 == 0o600


def test_of_too_many_strangers_the_oldest_is_dropped(network):
    client = network.launched()
    known = network.stranger(network.server.address, token="open sesame")
    known.request("initialize", adapterID="agdbg")
    known.request("attach")
    strangers = []
    for _ in range(STRANGERS + 2):
        strangers.append(network.stranger(network.server.address))
        strangers[-1].request("initialize", adapterID="agdbg")
    for dropped in strangers[:2]:
        with pytest.raises(Disconnected):
            dropped.request("disconnect")
    for each in (known, client):
        assert each.request("agdbg/status")["state"] == "running"
    strangers[2].request("attach", token="open sesame")
    assert strangers[2].request("agdbg/status")["state"] == "running"


def test_a_stranger_has_little_time(new_hub):
    network = new_hub(listen=("127.0.0.1", 0), token="open sesame", stranger_s=0.2)
    stranger = network.stranger(network.server.address)
    known = network.stranger(network.server.address, token="open sesame")
    known.request("initialize", adapterID="agdbg")
    known.request("launch", program=__file__, cwd=str(network.directory))
    with pytest.raises(Disconnected):
        stranger.wait_for("initialized")
    assert known.request("agdbg/status")["state"] == "waiting"


def test_a_stranger_hears_nothing(network):
    stranger = network.stranger(network.server.address)
    stranger.request("initialize", adapterID="agdbg")
    client = network.launched()
    network.program.print("a secret\n")
    client.wait_for("output")
    with pytest.raises(RequestFailed):
        stranger.request("threads")
    assert [json.dumps(each) for each in stranger.events if each["event"] != "initialized"] == []
