"""Python imports this at its start where a test has put its folder on PYTHONPATH: it hurts one process at one send.

AGDBG_TEST_FAULT is ``ROLE:MODE:NUMBER:MARK``: the process with that role (client, hub, program) is hurt when it sends for
the NUMBERth time, and the file MARK is made before that. The modes:

    kill    SIGKILL before anything is sent
    half    half of it is sent, then SIGKILL
    error   nothing is sent, and the system says that the connection was reset
    short   one byte is sent, which is no error: the sender has to send the rest
"""

import errno
import os
import signal
import socket
import sys


def role():
    """What this process is, by its command line."""
    words = getattr(sys, "orig_argv", [])
    if any(word.endswith("fault_session.py") for word in words):
        return "client"
    if any("agdbg.hub" in word for word in words):
        return "hub"
    return "program" if "--agent" in words else ""


def hurt(mode, number, mark):
    """Count the sends at Unix sockets, and hurt one."""
    sent = 0
    send, sendall = socket.socket.send, socket.socket.sendall

    def is_meant(connection):
        nonlocal sent
        if connection.family != socket.AF_UNIX:
            return False
        sent += 1
        if sent != number:
            return False
        open(mark, "x").close()
        if mode == "error":
            raise OSError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        return True

    def end(connection, data):
        if mode == "half":
            send(connection, bytes(data)[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    def hurt_send(connection, data, *flags):
        if not is_meant(connection):
            return send(connection, data, *flags)
        if mode == "short":
            return send(connection, bytes(data)[:1])
        return end(connection, data)

    def hurt_sendall(connection, data, *flags):
        if is_meant(connection) and mode != "short":
            end(connection, data)
        return sendall(connection, data, *flags)

    socket.socket.send, socket.socket.sendall = hurt_send, hurt_sendall


told = os.environ.get("AGDBG_TEST_FAULT", "")
if told:
    who, how, count, file = told.split(":", 3)
    if who == role():
        hurt(how, int(count), file)
