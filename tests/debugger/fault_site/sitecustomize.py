"""Python imports this at its start where a test has put its folder on PYTHONPATH: it hurts one process at one boundary.

AGDBG_TEST_FAULT is ``ROLE:WHERE:MODE:NUMBER:MARK``: the process with that role (client, hub, program) is hurt when it
comes for the NUMBERth time to such a place, or each time where NUMBER is 0, and the file MARK is made before that. The places:

    unix    a send at a Unix socket
    tcp     a send at a port
    write   a file or directory is made, written, renamed

The modes:

    kill    SIGKILL before it is done
    half    half of it is sent, then SIGKILL
    error   it is not done, and the system says that the connection was reset, or the disk is full
    short   one byte is sent, which is no error: the sender has to send the rest
"""

import errno
import io
import os
import signal
import socket
import sys
import traceback

FAMILIES = {"unix": (socket.AF_UNIX,), "tcp": (socket.AF_INET, socket.AF_INET6)}
FAILURES = {"unix": errno.ECONNRESET, "tcp": errno.ECONNRESET, "write": errno.ENOSPC}


def role():
    """What this process is, by its command line."""
    words = getattr(sys, "orig_argv", [])
    if any(word.endswith("fault_session.py") for word in words):
        return "client"
    if any("agdbg.hub" in word for word in words):
        return "hub"
    return "program" if "--agent" in words else ""


class Boundary:
    """Counts how often the process comes to such places, and hurts it at one of them."""

    def __init__(self, where, mode, number, mark):
        self.where, self.mode, self.number, self.mark = where, mode, number, mark
        self.seen = 0

    def is_reached(self):
        """True where something but an error is to happen."""
        self.seen += 1
        if self.number not in (0, self.seen):
            return False
        if self.number or self.seen == 1:
            mark = _open(self.mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            _write(mark, "".join(traceback.format_stack()).encode())
            os.close(mark)
        if self.mode == "error":
            raise OSError(FAILURES[self.where], os.strerror(FAILURES[self.where]))
        return True


def hurt_sends(boundary):
    """Stand between the process and its sockets."""
    send, sendall = socket.socket.send, socket.socket.sendall

    def is_meant(connection):
        return connection.family in FAMILIES[boundary.where] and boundary.is_reached()

    def end(connection, data):
        if boundary.mode == "half":
            send(connection, bytes(data)[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    def hurt_send(connection, data, *flags):
        if not is_meant(connection):
            return send(connection, data, *flags)
        if boundary.mode == "short":
            return send(connection, bytes(data)[:1])
        return end(connection, data)

    def hurt_sendall(connection, data, *flags):
        if is_meant(connection) and boundary.mode != "short":
            end(connection, data)
        return sendall(connection, data, *flags)

    socket.socket.send, socket.socket.sendall = hurt_send, hurt_sendall


def hurt_writes(boundary):
    """Stand between the process and its files."""

    def hurt(function, is_meant=lambda *args, **options: True):
        def call(*args, **options):
            if is_meant(*args, **options) and boundary.is_reached():
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **options)

        return call

    os.write, os.mkdir, os.rename, os.replace = map(hurt, (os.write, os.mkdir, os.rename, os.replace))
    os.open = hurt(os.open, lambda path, flags, *more, **options: flags & os.O_CREAT)
    io.open = hurt(io.open, lambda file, mode="r", *more, **options: set(mode) & set("wax+"))


_open, _write = os.open, os.write
told = os.environ.get("AGDBG_TEST_FAULT", "")
if told:
    who, where, how, count, file = told.split(":", 4)
    if who == role():
        (hurt_writes if where == "write" else hurt_sends)(Boundary(where, how, int(count), file))
