"""Hubs for tests that are not about how a hub starts: forked from one process that has imported it, which is most of a start.

Run as a program it is that process: it gets descriptors over the socket that it inherits, and forks a hub for each request.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from agdbg.hub.starting import HubAddress

_LIMIT = 1 << 20  # bytes of an environment


class HubNursery:
    """Starts hubs; what it began itself has ended when it is closed. The hubs go on."""

    def __init__(self):
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._alive, self._lifeline = os.pipe()  # nothing is written: hubs that serve nothing end when this process has
        with theirs:
            words = [sys.executable, str(Path(__file__).resolve()), str(theirs.fileno())]
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()], start_new_session=True)

    def start_hub(self):
        """A hub in the environment and the directory of this moment: as `agdbg.hub.starting.start_hub` without arguments."""
        answers, said = os.pipe()
        request = json.dumps({"environment": dict(os.environ), "directory": os.getcwd()}).encode()
        try:
            socket.send_fds(self._ours, [request], [said, self._alive])
        finally:
            os.close(said)
        with open(answers, encoding="utf-8") as lines:
            return HubAddress(**json.loads(lines.readline()))

    def close(self):
        self._ours.close()
        self._process.wait()
        os.close(self._alive)
        os.close(self._lifeline)


def _serve(requests):
    """Fork a hub for each request; when there are no more, this process ends."""
    from agdbg.hub.__main__ import main

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whatever becomes of a hub, nobody waits for it here
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, _LIMIT, 2)
        if not request:
            return 0
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return _begin(main, json.loads(request), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _begin(main, request, said, lifeline):
    """What a new process does until it is a hub."""
    os.setsid()
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    nothing = os.open(os.devnull, os.O_RDWR)
    for source, target in ((nothing, 0), (said, 1), (nothing, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(said)
    sys.argv = ["agdbg.hub", "--lifeline", str(lifeline)]
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(_serve(socket.socket(fileno=int(sys.argv[1]))))
