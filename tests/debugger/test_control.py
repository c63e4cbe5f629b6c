"""Several clients at one hub: all may look, one has control."""

import os

import pytest

from agdbg.errors import InputError
from agdbg.hub.in_control import MOVES
from agdbg.hub.place import Runtime
from agdbg.hub.server import Server
from agdbg.protocol.client import Disconnected, RequestFailed
from agdbg.protocol.messages import REQUESTS

#: The arguments that a move needs besides the thread.
ARGUMENTS = {
    "setVariable": {"variablesReference": 1, "name": "0", "value": "1"},
    "setExpression": {"expression": "grad", "value": "1"},
    "agdbg/goto": {"row": 0},
    "agdbg/until": {"threadId": 1, "node": 1},
    "restart": {},
}


def refusal(client, command, **arguments):
    with pytest.raises(RequestFailed) as refused:
        client.request(command, **arguments)
    return refused.value


def named(hub, name):
    client = hub.stranger()
    client.request("initialize", adapterID="agdbg", clientName=name)
    client.request("attach")
    client.request("configurationDone")
    return client


@pytest.fixture
def both(hub):
    """Two clients, and a thread that has stopped: (first, second, agent)."""
    first = hub.launched()
    second = named(hub, "an editor")
    agent = hub.stopped(first)
    second.wait_for("stopped")
    return first, second, agent


def test_whoever_moves_first_has_control(both):
    first, second, agent = both
    assert first.request("agdbg/control") == {"has": False, "holder": ""}
    second.request("next", threadId=1)
    assert first.wait_for("agdbg/controlChanged") == {"holder": "an editor", "lost": False}  # at once, not at the stop
    agent.answer("resume")
    agent.stop(node=2)
    first.wait_for("stopped", predicate=lambda body: "node 2" in body["description"])
    assert second.request("agdbg/control") == {"has": True, "holder": "an editor"}
    assert first.request("agdbg/control") == {"has": False, "holder": "an editor"}
    refused = refusal(first, "next", threadId=1)
    assert refused.code == "control"
    assert str(refused).startswith("next: an editor has control")
    assert "agdbg/control {take: true}" in str(refused)


@pytest.mark.parametrize("command", sorted(MOVES & REQUESTS.keys()))
def test_every_move_takes_control(both, command):
    first, second, _ = both
    second.request("agdbg/control", take=True)
    assert refusal(first, command, **ARGUMENTS.get(command, {"threadId": 1})).code == "control"


def test_looking_is_free(both):
    first, second, _ = both
    first.request("agdbg/control", take=True)
    assert second.request("threads")["threads"][0]["id"] == 1
    assert second.request("stackTrace", threadId=1)["totalFrames"] >= 1
    assert second.request("agdbg/status")["state"] == "stopped"
    assert second.request("setFunctionBreakpoints", breakpoints=[{"name": "mul"}])["breakpoints"][0]["verified"]


def test_control_is_taken_and_who_had_it_is_told(both):
    first, second, agent = both
    first.request("agdbg/control", take=True)
    assert second.request("agdbg/control", take=True) == {"has": True, "holder": "an editor"}
    assert first.wait_for("agdbg/controlChanged") == {"holder": "an editor", "lost": True}
    assert second.wait_for("agdbg/controlChanged") == {"holder": "another client", "lost": False}
    second.request("next", threadId=1)
    agent.answer("resume")
    assert second.none_of("agdbg/controlChanged")
    second.request("agdbg/control", take=True)
    assert first.none_of("agdbg/controlChanged")


def test_control_is_given_up_by_saying_so_and_by_leaving(both, hub):
    first, second, agent = both
    first.request("agdbg/control", take=True)
    assert second.request("agdbg/control", release=True)["holder"] == "another client"  # it was not its to give
    assert first.request("agdbg/control", release=True) == {"has": False, "holder": ""}
    gained = {"holder": "another client", "lost": False}
    assert [second.wait_for("agdbg/controlChanged") for _ in range(2)] == [gained, {"holder": "", "lost": False}]
    second.request("agdbg/control", take=True)
    second.request("disconnect")
    second.close()
    third = named(hub, "a third one")
    third.wait_for("stopped")
    assert third.request("agdbg/control")["holder"] == ""
    first.request("next", threadId=1)
    agent.answer("resume")


def test_what_is_refused(both, hub):
    first, _, _ = both
    assert "ask for one" in str(refusal(first, "agdbg/control", take=True, release=True))
    assert "attach first" in str(refusal(hub.client(), "agdbg/control", take=True))
    assert "there is no field stay" in str(refusal(first, "agdbg/control", stay=True))


def test_everybody_may_end_the_program(both, hub):
    first, second, _ = both
    first.request("agdbg/control", take=True)
    second.request("terminate")
    assert hub.program.signals == ["SIGTERM"]


def test_a_stranger_does_not_take_control(new_hub):
    network = new_hub(listen=("127.0.0.1", 0), token="open sesame")
    client = network.launched()
    stranger = network.stranger(network.server.address)
    stranger.request("initialize", adapterID="agdbg")
    for arguments in ({"take": True}, {}):
        assert "wants its token first" in str(refusal(stranger, "agdbg/control", **arguments))
    assert client.request("agdbg/control")["holder"] == ""


@pytest.mark.parametrize("token", ["wrong", "", None])
def test_a_wrong_token_is_refused_cut_off_and_logged(new_hub, capsys, token):
    network = new_hub(listen=("127.0.0.1", 0), token="open sesame")
    stranger = network.stranger(network.server.address, token=token)
    stranger.request("initialize", adapterID="agdbg")
    words = "the token is not the one" if token else "this hub wants its token first"
    assert words in str(refusal(stranger, "attach"))
    with pytest.raises(Disconnected):
        stranger.request("agdbg/status")
    said = capsys.readouterr().err
    assert "a client at 127.0.0.1:" in said
    assert "did not show the token and was cut off" in said
    assert "wrong" not in said


def test_a_hub_at_a_port_without_a_token_is_refused(tmp_path):
    runtime = Runtime(tmp_path, os.open(tmp_path, os.O_RDONLY))
    with pytest.raises(InputError, match="a token that is not empty"):
        Server(runtime, ("127.0.0.1", 0), "")
    runtime.remove()
