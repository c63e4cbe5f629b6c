"""The program's output when the disk is full: it stays readable, and gets to the disk when there is room again."""

import os
import random

import pytest

from agdbg.hub import keeper
from agdbg.hub.output import OutputLog


class Disk:
    """A file that a keeper writes, on a disk that can be full, and the hub's view of it."""

    def __init__(self, path):
        self.path = path
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.room = os.dup(self.fd)
        self.spare = os.memfd_create("spare")
        self.log = keeper.Log(self.fd, self.spare)
        self.seen = OutputLog(path)
        self.seen.have_spare(self.spare)

    def read(self):
        return self.seen.read(0, self.seen.size)

    def close(self):
        for fd in (self.fd, self.room, self.spare):
            os.close(fd)
        self.seen.close()


@pytest.fixture
def disk(tmp_path):
    made = Disk(tmp_path / "output.log")
    yield made
    made.close()


@pytest.fixture
def fill(disk, monkeypatch):
    """Sets how many bytes the disk takes from now on."""
    room, write = [0], os.write

    def limited(fd, data):
        if fd != disk.fd:
            return write(fd, data)
        if not room[0]:
            raise OSError(28, "No space left on device")
        count = write(fd, bytes(data)[: room[0]])
        room[0] -= count
        return count

    monkeypatch.setattr(os, "write", limited)

    def to(count):
        room[0] = count

    return to


def test_what_the_disk_does_not_take_is_read_all_the_same_and_told(disk, fill):
    fill(5)
    disk.log.write(b"one\r\ntwo\r\n")
    disk.log.write(b"three\r\n")
    assert (disk.path.read_bytes(), disk.read()) == (b"one\r\n", b"one\r\ntwo\r\nthree\r\n")
    assert disk.seen.read(6, 5) == b"wo\r\nt"
    disk.log.close()
    assert disk.read() == (
        b"one\r\ntwo\r\nthree\r\n\r\n[agdbg: 12 bytes of output are not in output.log: No space left on device]\r\n"
    )


def test_it_gets_to_the_disk_when_there_is_room(disk, fill):
    fill(2)
    disk.log.write(b"abcd")
    fill(1)
    disk.log.write(b"ef")
    assert (disk.path.read_bytes(), disk.read()) == (b"abc", b"abcdef")
    fill(100)
    disk.log.close()
    assert disk.path.read_bytes() == disk.read() == b"abcdef"


def test_too_much_of_it_is_counted_and_told(disk, fill, monkeypatch):
    monkeypatch.setattr(keeper, "_SPARE", 8192)
    monkeypatch.setattr(keeper.Log._hold, "__defaults__", (8192,))
    for piece in (b"a" * 4096, b"b" * 4096, b"c" * 4096):
        disk.log.write(piece)
    assert disk.read() == b"a" * 4096 + b"b" * 4096
    disk.log.close()
    assert disk.read()[8192:] == (
        b"\r\n[agdbg: 12288 bytes of output are not in output.log, 4096 of them were lost here: No space left on device]\r\n"
    )


def test_what_was_lost_is_told_in_its_place(disk, fill, monkeypatch):
    monkeypatch.setattr(keeper.Log._hold, "__defaults__", (4096,))
    disk.log.write(b"a" * 4096)
    disk.log.write(b"b" * 10)
    fill(10_000)
    disk.log.write(b"c")
    note = b"\r\n[agdbg: 10 bytes of output were lost here: No space left on device]\r\n"
    assert disk.path.read_bytes() == disk.read() == b"a" * 4096 + note + b"c"


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_lost_whenever_the_disk_is_full(disk, fill, seed):
    draw, whole = random.Random(seed), b""
    for number in range(60):
        fill(draw.choice([0, 0, 3, 50, 1000]))
        piece = f"{number:04} ".encode() * draw.randrange(1, 20)
        disk.log.write(piece)
        whole += piece
        assert disk.read() == whole
        assert whole.startswith(disk.path.read_bytes())
