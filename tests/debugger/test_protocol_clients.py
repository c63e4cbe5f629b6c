"""Both clients against a small server on a Unix socket or on TCP."""

import asyncio
import os
import socket
import tempfile
import threading
from contextlib import contextmanager

import pytest

from agdbg.protocol.async_client import AsyncClient
from agdbg.protocol.client import Client, Disconnected, RequestFailed
from agdbg.protocol.messages import event, failure, response
from agdbg.protocol.wire import Decoder, encode

PATIENCE = 20


class Peer:
    """The server's end of one connection."""

    def __init__(self, connection):
        self.connection, self.decoder, self.received = connection, Decoder(), []

    def receive(self):
        """The next request; None when the client has gone."""
        while not self.received:
            data = self.connection.recv(1 << 16)
            if not data:
                return None
            self.received += self.decoder.feed(data)
        return self.received.pop(0)

    def send(self, *messages):
        self.connection.sendall(b"".join(map(encode, messages)))


@contextmanager
def hub(script, tcp=False):
    """Run `script(peer)` for one connection in a thread; gives the address. What the script raises is raised here."""
    with tempfile.TemporaryDirectory() as folder:
        listener = socket.socket(socket.AF_INET if tcp else socket.AF_UNIX)
        listener.bind(("127.0.0.1", 0) if tcp else os.path.join(folder, "hub.sock"))
        listener.listen()
        listener.settimeout(PATIENCE)
        raised = []

        def serve():
            try:
                connection, _ = listener.accept()
                connection.settimeout(PATIENCE)
                with connection:
                    script(Peer(connection))
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=serve)
        thread.start()
        name = listener.getsockname()
        try:
            yield f"{name[0]}:{name[1]}" if tcp else name
        finally:
            thread.join(PATIENCE)
            listener.close()
        assert not thread.is_alive()
        if raised:
            raise raised[0]


def run(main):
    """Run a coroutine, but not for ever."""

    async def limited():
        async with asyncio.timeout(PATIENCE):
            return await main()

    return asyncio.run(limited())


def echo(peer):
    """Answer every request with its own command and arguments."""
    while asked := peer.receive():
        peer.send(response(1, asked, {"command": asked["command"], **asked["arguments"]}))


def refuse(peer):
    asked = peer.receive()
    peer.send(failure(1, asked, "thread {9} does not stop; there are 1, 2", code="barrier"))
    bare = peer.receive()
    peer.send(
        {
            "seq": 2,
            "type": "response",
            "request_seq": bare["seq"],
            "success": False,
            "command": "x",
            "message": "notStopped",
        }
    )
    empty = peer.receive()
    peer.send({"seq": 3, "type": "response", "request_seq": empty["seq"], "success": False, "command": "pause"})


def leave(peer):
    """Go away without an answer."""
    peer.receive()
    peer.send(event(1, "stopped", {"reason": "step"}))


def late(peer):
    """Answer the first request only when the second comes, and then both."""
    first, second = peer.receive(), peer.receive()
    peer.send(response(1, first, {"n": 1}), response(2, second, {"n": 2}))
    peer.receive()


def babble(peer):
    asked = peer.receive()
    peer.send(response(1, asked, {"n": 1}))
    peer.connection.sendall(encode(event(2, "stopped", {"reason": "step"})) + b"Content-Length: 2\r\n\r\n[]")
    peer.receive()


def cut(peer):
    peer.receive()
    peer.connection.sendall(b"Content-Length: 100\r\n\r\n{")


def step(peer):
    """Answer `next` and stop at once, in one piece, with other events before and after."""
    while asked := peer.receive():
        stopped = event(3, "stopped", {"reason": "step", "threadId": asked["arguments"]["threadId"]})
        peer.send(event(1, "output", {"output": "x"}), response(2, asked), stopped, event(4, "terminated"))


def requests_with_token(received):
    def script(peer):
        while asked := peer.receive():
            received.append((asked["command"], asked["arguments"]))
            peer.send(response(1, asked))

    return script


# ----- the blocking client -----


def test_requests_are_numbered_and_answered():
    numbers = []

    def script(peer):
        while asked := peer.receive():
            numbers.append(asked["seq"])
            peer.send(response(1, asked, asked["arguments"]))

    with hub(script) as address, Client.connect(address) as client:
        assert client.request("variables", variablesReference=5, start=0) == {"variablesReference": 5, "start": 0}
        assert client.request("threads") == {}
    assert numbers == [1, 2]


def test_a_refusal_carries_the_hubs_words():
    with hub(refuse) as address, Client.connect(address) as client:
        with pytest.raises(RequestFailed, match=r"^thread \{9\} does not stop; there are 1, 2$") as failed:
            client.request("next", threadId=9)
        assert (failed.value.command, failed.value.code, failed.value.body["error"]["id"]) == ("next", "barrier", 1)
        with pytest.raises(RequestFailed, match=r"^notStopped$") as failed:
            client.request("next", threadId=1)
        assert failed.value.code == ""
        with pytest.raises(RequestFailed, match=r"^pause failed, without a reason$"):
            client.request("pause", threadId=1)


def test_events_are_kept_until_somebody_waits_for_them():
    with hub(step) as address, Client.connect(address) as client:
        client.request("next", threadId=1)
        client.request("next", threadId=2)
        assert client.wait_for("stopped", predicate=lambda body: body["threadId"] == 2)["reason"] == "step"
        assert client.wait_for("terminated") == {}
        assert client.wait_for("stopped")["threadId"] == 1
        assert [message["event"] for message in client.events] == ["output", "output", "terminated"]
        with pytest.raises(TimeoutError, match="no event stopped within 0 s"):
            client.wait_for("stopped", timeout=0)


def test_an_event_is_waited_for():
    def script(peer):
        peer.receive()
        peer.send(event(1, "stopped", {"reason": "step"}))
        peer.receive()

    with hub(script) as address, Client.connect(address) as client:
        client.send("next", threadId=1)
        assert client.wait_for("stopped") == {"reason": "step"}


def test_a_timeout_names_the_command_and_the_late_answer_harms_nothing():
    with hub(late) as address, Client.connect(address, timeout=0.05) as client:
        with pytest.raises(TimeoutError, match=r"no answer within 0\.05 s \(to pause\)"):
            client.request("pause", threadId=1)
        client.timeout = PATIENCE
        assert client.request("threads") == {"n": 2}


def test_answers_may_be_taken_in_any_order():
    with hub(late) as address, Client.connect(address) as client:
        first, second = client.send("a"), client.send("b")
        assert (client.answer(second), client.answer(first)) == ({"n": 2}, {"n": 1})


def test_a_hub_that_never_stops_talking_does_not_stretch_a_timeout():
    def script(peer):
        with pytest.raises(OSError):
            while True:
                peer.send(event(1, "output", {"output": "x" * 100}))

    with (
        hub(script) as address,
        Client.connect(address) as client,
        pytest.raises(TimeoutError, match="no event stopped"),
    ):
        client.wait_for("stopped", timeout=0.05)


def test_the_hub_has_gone():
    with hub(leave) as address, Client.connect(address) as client:
        with pytest.raises(Disconnected, match=f"the hub at {address} has closed the connection; the trace keeps"):
            client.request("next", threadId=1)
        assert client.wait_for("stopped") == {"reason": "step"}
        for _ in range(2):
            with pytest.raises(Disconnected, match="has closed the connection"):
                client.wait_for("stopped")
        with pytest.raises(Disconnected, match="has closed the connection"):
            client.request("threads")


@pytest.mark.parametrize(
    ("script", "words"), [(babble, "what is no message: .* JSON object"), (cut, "in the middle of a message")]
)
def test_a_hub_that_breaks_the_protocol_is_left(script, words):
    with hub(script) as address, Client.connect(address) as client, pytest.raises(Disconnected, match=words):
        client.send("threads")
        client.wait_for("exited")


def test_messages_before_a_broken_one_count():
    with hub(babble) as address, Client.connect(address) as client:
        number = client.send("threads")
        with pytest.raises(Disconnected, match=r"no message"):
            client.wait_for("exited")
        assert client.wait_for("stopped") == {"reason": "step"}
        assert client.answer(number) == {"n": 1}


def test_a_closed_client_says_so():
    with hub(echo) as address:
        client = Client.connect(address)
        client.close()
        with pytest.raises(Disconnected, match=r"this client of the hub at .* is closed"):
            client.request("threads")


@pytest.mark.parametrize("address", ["{}/none.sock", "{}/" + "x" * 200, "127.0.0.1:1", "127.0.0.1:99999"])
def test_nobody_answers(tmp_path, address):
    address = address.format(tmp_path)

    async def main():
        with pytest.raises(Disconnected, match=rf"^no hub answers at {address}: .+; start one"):
            await AsyncClient.connect(address)

    with pytest.raises(Disconnected, match=rf"^no hub answers at {address}: .+; start one"):
        Client.connect(address)
    run(main)


def test_tcp_without_delay_and_with_the_token_where_it_belongs():
    received = []
    with hub(requests_with_token(received), tcp=True) as address, Client.connect(address, token="secret") as client:
        assert client._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        client.request("initialize", adapterID="agdbg")
        client.request("attach")
    assert received == [("initialize", {"adapterID": "agdbg"}), ("attach", {"token": "secret"})]


# ----- the client for asyncio -----


def test_async_requests_may_overlap():
    with hub(late) as address:

        async def main():
            client = await AsyncClient.connect(address)
            first, second = await asyncio.gather(client.request("a"), client.request("b"))
            client.close()
            return first, second, await client.closed

        assert run(main) == ({"n": 1}, {"n": 2}, None)


def test_async_events_come_in_order():
    with hub(step) as address:

        async def main():
            heard, enough = [], asyncio.Event()

            def on_event(message):
                heard.append((message["event"], message["body"]))
                if message["event"] == "terminated":
                    enough.set()

            client = await AsyncClient.connect(address, on_event=on_event)
            assert await client.request("next", threadId=3) == {}
            await enough.wait()
            client.close()
            return heard

        stopped = ("stopped", {"reason": "step", "threadId": 3})
        assert run(main) == [("output", {"output": "x"}), stopped, ("terminated", {})]


def test_what_follows_an_answer_is_handed_over_behind_it_also_when_the_hub_goes():
    def script(peer):
        request = peer.receive()
        peer.send(event(1, "output", {"output": "x"}), response(2, request, {}), event(3, "stopped", {"threadId": 1}))

    with hub(script) as address:

        async def main():
            heard = []
            client = await AsyncClient.connect(address, on_event=lambda message: heard.append(message["event"]))
            await client.request("next", threadId=1)
            heard.append("the answer")
            await client.closed
            return heard

        assert run(main) == ["output", "the answer", "stopped"]


def test_an_async_callback_that_fails_is_reported_and_the_connection_goes_on():
    with hub(step) as address:

        async def main():
            reported = []
            asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context["message"]))
            client = await AsyncClient.connect(address, on_event=lambda message: message["nothing"])
            await client.request("next", threadId=1)
            await client.request("next", threadId=1)
            client.close()
            return reported

        assert run(main)[:2] == [
            "the callback for the event output failed",
            "the callback for the event stopped failed",
        ]


def test_async_refusals_carry_the_hubs_words():
    with hub(refuse) as address:

        async def main():
            client = await AsyncClient.connect(address)
            for words in (r"^thread \{9\} does not stop", "^notStopped$", "^pause failed, without a reason$"):
                with pytest.raises(RequestFailed, match=words):
                    await client.request("next", threadId=9)
            client.close()

        run(main)


def test_an_async_timeout_names_the_command_and_the_late_answer_harms_nothing():
    with hub(late) as address:

        async def main():
            client = await AsyncClient.connect(address, timeout=0.05)
            with pytest.raises(TimeoutError, match=r"no answer within 0\.05 s \(to pause\)"):
                await client.request("pause", threadId=1)
            client.timeout = PATIENCE
            assert await client.request("threads") == {"n": 2}
            client.close()

        run(main)


def test_an_evaluation_is_waited_for_longer_than_other_requests():
    def script(peer):
        evaluation, _, last = peer.receive(), peer.receive(), peer.receive()
        peer.send(response(1, evaluation, {"result": "4"}), response(2, last, {}))
        peer.receive()

    with hub(script) as address:

        async def main():
            client = await AsyncClient.connect(address, timeout=0.05)
            evaluation = asyncio.ensure_future(client.request("evaluate", expression="input()"))
            await asyncio.sleep(0)  # it is sent, and its time begins, before the other's
            with pytest.raises(TimeoutError):
                await client.request("pause", threadId=1)
            client.timeout = PATIENCE
            await client.request("threads")
            assert await evaluation == {"result": "4"}
            client.close()

        run(main)


@pytest.mark.parametrize(
    ("script", "words"),
    [(leave, "has closed the connection; the trace"), (cut, "in the middle of a message")],
)
def test_the_hub_of_an_async_client_has_gone(script, words):
    with hub(script) as address:

        async def main():
            client = await AsyncClient.connect(address)
            with pytest.raises(Disconnected, match=words):
                await client.request("next", threadId=1)
            assert words in str(await client.closed)
            with pytest.raises(Disconnected, match=words):
                await client.request("threads")

        run(main)


def test_an_async_client_leaves_a_hub_that_breaks_the_protocol():
    with hub(babble) as address:

        async def main():
            heard = []
            client = await AsyncClient.connect(address, on_event=heard.append)
            assert await client.request("threads") == {"n": 1}
            assert "what is no message" in str(await client.closed)
            assert [message["event"] for message in heard] == ["stopped"]

        run(main)


def test_closing_an_async_client_ends_what_waits():
    with hub(lambda peer: [peer.receive(), peer.receive()]) as address:

        async def main():
            client = await AsyncClient.connect(address)
            waiting = asyncio.create_task(client.request("next", threadId=1))
            await asyncio.sleep(0)  # one turn of the loop: it is sent
            client.close()
            with pytest.raises(Disconnected, match=r"this client .* is closed"):
                await waiting
            assert await client.closed is None

        run(main)


def test_async_tcp_sends_the_token_where_it_belongs():
    received = []
    with hub(requests_with_token(received), tcp=True) as address:

        async def main():
            client = await AsyncClient.connect(address, token="secret")
            await client.request("threads")
            await client.request("launch", program="train.py")
            client.close()

        run(main)
    assert received == [("threads", {}), ("launch", {"program": "train.py", "token": "secret"})]
