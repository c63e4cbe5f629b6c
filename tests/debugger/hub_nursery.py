"""Hubs for tests that are not about how a hub starts: forked from one process that has imported it, which is most of a start.

That process runs :func:`serve`: it gets descriptors over the socket that it inherits, and forks a hub for each request. Each hub
has a process beside it that becomes its first program (forked_program.py).
"""

import gc
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from agdbg.hub.starting import HubAddress

_LIMIT = 1 << 20  # bytes of an environment
#: What hubs import when they are first asked for it.
_OF_A_HUB = (
    "agdbg.hub.__main__",
    "agdbg.hub.handlers",
    *(
        f"agdbg.hub.{name}"
        for name in ("collapsed", "diagnosis", "folded_rows", "growth", "history", "inspection", "paths")
    ),
    *(f"agdbg.hub.{name}" for name in ("processes", "recorded_conditions", "recorded_stops", "replay")),
    *(f"agdbg.explain.{name}" for name in ("explanation", "fates", "stop_finding", "text")),
    *(f"agdbg.record.{name}" for name in ("children", "ending", "errors", "facts", "lookup")),
    "numpy.ma",
)
#: Leaves no name in ``__main__``, which will be that of programs.
_SERVE = "exec(__import__('runpy').run_path({path!r})['serve']({number}), globals())"


class HubNursery:
    """Starts hubs; what it began itself has ended when it is closed. The hubs go on."""

    def __init__(self):
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._alive, self._lifeline = os.pipe()  # nothing is written: hubs that serve nothing end when this process has
        with theirs:
            words = [sys.executable, "-c", _SERVE.format(path=str(Path(__file__).resolve()), number=theirs.fileno())]
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


def serve(number):
    """Fork a hub for each request; when there are no more, this process ends.

    Returns:
        The code that is left to be run: in this process, in each hub and in each program.
    """
    requests = socket.socket(fileno=number)
    programs = _beside("forked_program")
    imported = programs.Imported()
    for name in _OF_A_HUB:
        import_module(name)
    gc.collect()
    gc.freeze()  # what is frozen is not written to by collections, not even by the last one of a process, and stays shared
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whatever becomes of a hub, nobody waits for it here
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, _LIMIT, 2)
        if not request:
            return ""
        if os.fork() == 0:
            requests.close()
            return _begun(programs, imported, json.loads(request), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _beside(name):
    """A module that lies beside this file."""
    spec = importlib.util.spec_from_file_location(f"agdbg_tests_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _begun(programs, imported, request, said, lifeline):
    """What a new process does until it is a hub, or the program of one."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(nothing)
    becoming = None
    try:
        waiting = programs.Waiting(imported)
    except programs.Becoming as child:
        becoming = child
    if becoming is not None:
        os.close(said)
        os.close(lifeline)
        return becoming.become()
    os.dup2(said, 1)
    os.close(said)
    program = import_module("agdbg.hub.program")
    program._spawned = waiting.instead_of(program._spawned)
    sys.argv = ["agdbg.hub", "--lifeline", str(lifeline)]
    return "import sys; from agdbg.hub.__main__ import main; sys.exit(main(sys.argv[1:]))"
