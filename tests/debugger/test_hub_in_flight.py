"""A client with very many requests: only so many are worked at, all are answered in their order, and others come between."""

import socket

import pytest

from agdbg.hub.connection import IN_FLIGHT, Connection
from agdbg.protocol import wire
from agdbg.protocol.messages import event, response

MANY = 10 * IN_FLIGHT


class Loop:
    """Remembers what is watched and what was posted, and does it when told."""

    def __init__(self):
        self.watched, self.posted = {}, []

    def watch(self, fd, readable, writable=None):
        self.watched[fd] = readable, writable

    def unwatch(self, fd):
        self.watched.pop(fd, None)

    def post(self, callback):
        self.posted.append(callback)

    def run(self):
        while self.posted:
            self.posted.pop(0)()


class Hub:
    """A connection whose requests are answered when the test says so."""

    def __init__(self, kind=socket.SOCK_STREAM):
        ours, self.raw = socket.socketpair(socket.AF_UNIX, kind)
        self.loop, self.asked, self.broken, self.answers_at_once = Loop(), [], [], False
        self.client = Connection(
            ours, self.loop, True, self._request, lambda _, why: self.broken.append(why), lambda _: None
        )

    def _request(self, client, message):
        self.asked.append(message)
        if self.answers_at_once:
            self.answer(message)

    def answer(self, message):
        self.client.send(response(self.client.next_seq(), message))

    def send(self, count, more=b""):
        requests = (wire.encode({"seq": n, "type": "request", "command": "threads"}) for n in range(1, count + 1))
        self.raw.sendall(b"".join(requests) + more)

    def read(self):
        """Let the hub read as long as it wants to."""
        fd = self.client._socket.fileno()
        while self.loop.watched.get(fd, (None,))[0] == self.client._readable:
            before = len(self.asked)
            self.client._readable()
            self.loop.run()
            if len(self.asked) == before:
                return


@pytest.fixture
def hub():
    made = Hub()
    yield made
    made.client.close()
    made.raw.close()


def test_only_so_many_are_worked_at_and_the_rest_in_their_order(hub):
    hub.send(MANY)
    hub.read()
    assert len(hub.asked) == IN_FLIGHT
    for answered in range(MANY):
        assert len(hub.asked) == min(MANY, IN_FLIGHT + answered)
        hub.answer(hub.asked[answered])
        hub.loop.run()
        hub.read()
    assert [each["seq"] for each in hub.asked] == list(range(1, MANY + 1))


def test_what_is_answered_at_once_waits_for_nothing(hub):
    hub.answers_at_once = True
    hub.send(MANY)
    hub.read()
    assert len(hub.asked) == MANY


def test_a_stream_that_breaks_off_behind_them_is_told_when_they_were_taken(hub):
    hub.send(IN_FLIGHT + 1, more=b"nonsense\r\n\r\n")
    hub.read()
    assert (len(hub.asked), hub.broken) == (IN_FLIGHT, [])
    hub.answer(hub.asked[0])
    hub.loop.run()
    assert len(hub.asked) == IN_FLIGHT + 1 and len(hub.broken) == 1


@pytest.fixture
def packets():
    """A hub of which each piece that it sends is read by itself."""
    made = Hub(socket.SOCK_SEQPACKET)
    yield made
    made.client.close()
    made.raw.close()


def answers_in(packet):
    return [each["request_seq"] for each in wire.Decoder().feed(packet)]


def test_answers_to_what_came_together_go_out_together(packets):
    packets.answers_at_once = True
    packets.send(4)
    packets.client._readable()
    assert answers_in(packets.raw.recv(1 << 16)) == [1, 2, 3, 4]


def test_what_comes_later_is_sent_at_once(packets):
    packets.send(2)
    packets.client._readable()
    for each in packets.asked:
        packets.answer(each)
        assert answers_in(packets.raw.recv(1 << 16, socket.MSG_DONTWAIT)) == [each["seq"]]


def test_what_is_told_while_requests_wait_is_sent_at_once(packets):
    packets.send(IN_FLIGHT // 2)
    packets.send(IN_FLIGHT)
    for _ in range(2):
        packets.client._readable()
    packets.client.send(event(packets.client.next_seq(), "stopped"))
    assert b"stopped" in packets.raw.recv(1 << 16, socket.MSG_DONTWAIT)


def test_a_large_answer_is_not_kept_with_others(packets):
    packets.send(2)
    packets.client._on_message = lambda client, message: client.send(
        response(client.next_seq(), message, {"text": "x" * (1 << 15)})
    )
    packets.client._readable()
    assert [answers_in(packets.raw.recv(1 << 16)) for _ in range(2)] == [[1], [2]]


def test_what_was_gathered_is_sent_before_the_connection_is_closed(packets):
    def answer_and_leave(client, message):
        packets.answer(message)
        if message["seq"] == 2:
            client.close()

    packets.client._on_message = answer_and_leave
    packets.send(4)
    packets.client._readable()
    assert answers_in(packets.raw.recv(1 << 16)) == [1, 2]
