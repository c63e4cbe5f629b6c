"""A hub in a thread of the test, with a program and agents that the test plays itself."""

import json
import os
import socket
import threading
from pathlib import Path

from agdbg_tests_checked_client import CheckedClient

from agdbg.agent.control import ControlReader
from agdbg.hub.place import Runtime
from agdbg.hub.program import Exit
from agdbg.hub.server import Server

PATIENCE_S = 20.0


class FakeProgram:
    """Stands where `agdbg.hub.program.Program` does; what it does is up to the test."""

    def __init__(self, spec, runtime, trace):
        self.spec, self.runtime, self.trace = spec, runtime, trace
        self.pid = os.getpid()
        self.started = threading.Event()
        self.typed = bytearray()
        self.sizes, self.signals = [], []
        self.fails = None
        self._log = trace / "output.log"
        self._status = None

    def start(self):
        if self.fails:
            raise self.fails
        self.ended, self._end = os.pipe()
        self.wakeup, self._ear = os.pipe()
        self.master, self._slave = os.pipe()[::-1]
        self._log.touch()
        self.started.set()

    # ----- what the hub calls -----

    wants_write = False
    terminal_path = ""
    spare = -1

    def send(self, data):
        self.typed += data

    def flush_input(self):
        raise AssertionError("nothing is waiting")

    def resize(self, columns, rows):
        self.sizes.append((columns, rows))

    def terminate(self):
        self.signals.append("SIGTERM")

    def kill(self):
        self.signals.append("SIGKILL")
        self.end(signal="SIGKILL")

    def mend_keeper(self):
        return False

    def exit(self):
        return self._status

    def close(self):
        if self.started.is_set():
            for fd in (self.ended, self.wakeup, self.master, self._slave):
                os.close(fd)

    # ----- what the test calls -----

    def print(self, text):
        with open(self._log, "ab") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        os.write(self._ear, b"\0")

    def end(self, status=None, signal=None):
        if self._status is None:
            self._status = Exit(status, signal)
            os.close(self._end)
            os.close(self._ear)


class FakeAgent:
    """A thread of the program."""

    def __init__(self, runtime, thread=1, name="MainThread", pid=None):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE_S)
        self._socket.connect(str(runtime.agent_socket))
        self._lines = self._socket.makefile("rb")
        self.thread = thread
        self.send({"hello": {"pid": os.getpid() if pid is None else pid, "thread": thread, "name": name}})

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data):
        self._socket.sendall(data)

    def stop(self, node=1, **more):
        stop = {
            "thread": self.thread,
            "reason": "step",
            "description": f"before node {node}",
            "breakpoints": [],
            "where": "before",
            "pass": 1,
            "position": 2,
            "planned": 12,
            "node": node,
            "phase": "",
            "outer": [],
            "frames": [{"file": "/nowhere/train.py", "line": 7, "name": "main"}],
            "error": None,
            "undo": 0,
            **more,
        }
        self.send({"stopped": stop})

    def receive(self):
        """The next request, or None when the hub has closed the connection."""
        line = self._lines.readline()
        return json.loads(line) if line else None

    def answer(self, do, body=None, **refusal):
        """Wait for a request, which must be `do`, and answer it."""
        request = self.receive()
        assert request["do"] == do, request
        self.send({"id": request["id"], "ok": not refusal, **(refusal or {"body": body or {}})})
        return request

    def close(self):
        self._lines.close()
        self._socket.close()


class HubThread:
    """A hub; `program` is the fake that was launched last."""

    def __init__(self, directory, **options):
        self.directory = directory  # where programs are started
        place = directory / "runtime"
        place.mkdir(parents=True)
        self.runtime = Runtime(place, os.open(place, os.O_RDONLY))
        self.program = None
        self.fails = None
        self.server = Server(self.runtime, make=self._make, **options)
        self._closing = []
        self._thread = threading.Thread(target=self.server.serve)
        self._thread.start()

    def _make(self, spec, runtime, trace):
        self.program = FakeProgram(spec, runtime, trace)
        self.program.fails = self.fails
        return self.program

    def client(self, **options):
        """A client that has introduced itself."""
        client = self.stranger(**options)
        client.request("initialize", adapterID="agdbg")
        client.wait_for("initialized")
        return client

    def stranger(self, address=None, **options):
        """A client that has not."""
        made = CheckedClient.connect(str(address or self.runtime.client_socket), timeout=PATIENCE_S, **options)
        self._closing.append(made)
        return made

    def launched(self, **arguments):
        """A client that has launched a program, which runs."""
        client = self.client()
        client.request("launch", program=__file__, cwd=str(self.directory), **arguments)
        client.request("configurationDone")
        assert client.wait_for("process")["systemProcessId"] == os.getpid()
        return client

    def joined(self):
        """A client that has joined."""
        client = self.client()
        client.request("attach")
        client.request("configurationDone")
        return client

    def agent(self, **options):
        made = FakeAgent(self.runtime, **options)
        self._closing.append(made)
        return made

    def stopped(self, client, **stop):
        """An agent that has stopped, which the client knows."""
        agent = self.agent()
        agent.stop(**stop)
        client.wait_for("stopped")
        return agent

    @property
    def settings(self):
        """What the program is told of breakpoints."""
        return ControlReader(Path(self.runtime.control)).read()

    def wait_for_end(self):
        """True when the hub has ended by itself."""
        self._thread.join(PATIENCE_S)
        return not self._thread.is_alive()

    @property
    def is_there(self):
        return self._thread.is_alive()

    def close(self):
        for each in self._closing:
            each.close()
        if self.is_there:
            self.server.loop.post(self.server.loop.stop)
        if self.program is not None and self.program.started.is_set():
            self.program.end(status=0)
        assert self.wait_for_end()
