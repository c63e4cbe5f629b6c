"""What clients are told of the output, and what becomes of those that do not keep up."""

from collections import deque

import pytest

from agdbg.hub.connection import CLOGGED
from agdbg.hub.outlet import PIECE, Outlet
from agdbg.hub.output import OutputLog


class Client:
    """Takes what it is sent, and has it unread until `read`."""

    def __init__(self):
        self.unsent = self.skipped = 0
        self.told = []

    def next_seq(self):
        return len(self.told) + 1

    def send(self, message):
        body = message["body"]
        self.told.append((body["category"], body["output"]))
        self.unsent += len(body["output"])

    @property
    def text(self):
        return "".join(text for category, text in self.told if category == "stdout")

    @property
    def notes(self):
        return [text for category, text in self.told if category == "console"]


class Turns:
    """Stands in for the loop: what is to be called later waits for `run`."""

    def __init__(self):
        self.posted = deque()
        self.post = self.posted.append

    def run(self):
        while self.posted:
            self.posted.popleft()()


class Stage:
    def __init__(self, path, clients):
        self.log = OutputLog(path)
        self.clients, self.turns = clients, Turns()
        self.outlet = Outlet(self.log, self.turns, lambda: self.clients)

    def write(self, text):
        with open(self.log.path, "ab") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        self.outlet.grew()
        self.turns.run()

    def read(self, client):
        client.unsent = 0
        self.outlet.drained(client)


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path / "output.log", [Client()])
    yield made
    made.log.close()


def test_who_keeps_up_is_told_all(stage):
    stage.write("one\n")
    stage.write("zwö\n"[:2].encode() + "ö".encode()[:1])
    stage.write("ö".encode()[1:] + b"\n")
    assert stage.clients[0].told == [("stdout", "one\n"), ("stdout", "zw"), ("stdout", "ö\n")]


@pytest.mark.parametrize("at_once", [True, False])
def test_the_end_of_a_flood_is_told_to_who_could_not_keep_up(stage, at_once):
    (client,) = stage.clients
    line = "x" * (3 * CLOGGED) + "\n"
    if at_once:
        stage.write("before\n" + line + "after 1\nafter 2\n")
    else:
        for piece in ("before\n", line, "after 1\n", "after 2\n"):
            stage.write(piece)
    stage.read(client)
    assert client.text.startswith("before\nxxx")
    assert client.text.endswith("x\nafter 1\nafter 2\n")
    (note,) = client.notes
    told = len(client.text) + int(note.split()[0].replace(",", ""))
    assert told == stage.log.size
    assert note.endswith(f" bytes not shown, they are in {stage.log.path}\n")
    stage.write("after 3\n")
    assert client.text.endswith("after 2\nafter 3\n")


def test_of_lines_that_were_missed_whole_ones_are_told(stage):
    (client,) = stage.clients
    client.unsent = CLOGGED + 1
    lines = [f"line {number:06}\n" for number in range(20_000)]
    stage.write("".join(lines))
    stage.read(client)
    (note,) = client.notes
    assert client.text == "".join(lines[-(len(client.text) // len(lines[0])) :])
    assert PIECE - len(lines[0]) <= len(client.text) <= PIECE
    assert int(note.split()[0].replace(",", "")) == stage.log.size - len(client.text)


def test_a_little_that_was_missed_is_told_whole_and_no_more(stage):
    (client,) = stage.clients
    client.unsent = CLOGGED + 1
    stage.write("missed\n")
    assert client.told == []
    stage.read(client)
    assert client.told == [("stdout", "missed\n")]


def test_a_character_that_is_split_where_something_was_missed_is_told(stage):
    (client,) = stage.clients
    client.unsent = CLOGGED + 1
    stage.write(b"a" + "ü".encode()[:1])
    stage.read(client)
    stage.write("ü".encode()[1:] + b"b")
    assert client.text == "aüb"


def test_one_that_keeps_up_is_told_all_beside_one_that_does_not(tmp_path):
    slow, quick = Client(), Client()
    stage = Stage(tmp_path / "output.log", [slow, quick])
    slow.unsent = CLOGGED + 1
    stage.write("one\n")
    stage.write("two\n")
    stage.read(slow)
    stage.write("three\n")
    assert slow.text == quick.text == "one\ntwo\nthree\n"
    stage.log.close()
