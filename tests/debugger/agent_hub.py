"""The hub's side of the agent's socket, played by a test: a program in a process of its own stops and is asked."""

import json
import select
import socket
import tempfile
from pathlib import Path

from agdbg_tests_side_by_side import ENTRY, environment

from agdbg.agent.control import ControlWriter, Settings, SourceStop

PATIENCE = 30.0

SCRIPT = """\
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
w = ag.tensor([3.0, 5.0], requires_grad=True)
h = x * w
y = h.exp()
loss = y.sum()
loss.backward()
print(x.grad.tolist(), w.grad.tolist())
"""
"""A pass of five nodes."""


class AgentHub:
    """Runs a script under ``agdbg run --agent``, forked by a `nursery`; use as a context manager."""

    def __init__(self, nursery, tmp_path, text, settings, *args):
        self.script = tmp_path / "script.py"
        self.script.write_text(text)
        self.trace = tmp_path / "trace"
        self.trace.mkdir()
        self._folder = tempfile.TemporaryDirectory(prefix="agdbg-")  # short: a socket's path is limited
        self.directory = Path(self._folder.name)
        self.control = ControlWriter(self.directory / "control")
        self.settings = settings
        self.control.publish(settings)
        self._server = socket.create_server(str(self.directory / "agent.sock"), family=socket.AF_UNIX)
        self.channels = {}
        self.recording = None
        self.unmet = []
        self._number = 0
        entry = tmp_path / "bin" / "agdbg"
        entry.parent.mkdir()
        entry.write_text(ENTRY)
        words = ["run", "--headless", "--trace", str(self.trace), "--agent", str(self.directory), str(self.script)]
        self.program = nursery.start([str(entry), *words, *args], tmp_path, environment())

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.program.kill()
        self.program.communicate(timeout=PATIENCE)
        self.hang_up()
        self.control.close()
        self._folder.cleanup()

    def hang_up(self):
        """Be dead."""
        self._server.close()
        for channel in self.channels.values():
            channel.socket.close()
        self.channels = {}

    def publish(self, **changes):
        self.settings = Settings(**{**vars(self.settings), **changes})
        self.control.publish(self.settings)

    def type(self, text):
        """Give the program some input."""
        self.program.stdin.write(text)
        self.program.stdin.flush()

    def line(self, part):
        """The number of the first line of the script with ``part`` in it."""
        return next(n for n, text in enumerate(self.script.read_text().splitlines(), 1) if part in text)

    def on_line(self, part, number=1):
        return SourceStop(number, str(self.script), self.line(part))

    def message(self):
        """The next message of any thread, or None when the program has ended."""
        while True:
            ready = [c.socket for c in self.channels.values() if c.has_line()] or self._ready()
            if not ready:
                return None
            for sock in ready:
                if sock is self._server:
                    made, _ = self._server.accept()
                    self.channels[made.fileno()] = _Channel(made)
                elif (found := self._read(self.channels[sock.fileno()])) is not None:
                    return found

    def _ready(self):
        """The sockets that have something; none when the program has ended and nothing is left."""
        ended = [self.program.over] if self.program.returncode is None else []
        ready = select.select([self._server, *(c.socket for c in self.channels.values()), *ended], [], [], PATIENCE)[0]
        assert ready, "the program says nothing"
        return [sock for sock in ready if sock not in ended]

    def _read(self, channel):
        """A message that is not for this object itself."""
        found = channel.read()
        if found is None:
            del self.channels[channel.socket.fileno()]
            channel.socket.close()
        elif "hello" in found:
            channel.hello = found["hello"]
        elif "recording" in found:
            self.recording = found["recording"]
        elif "unmet" in found:
            self.unmet.append(found["unmet"])
        else:
            return {**found, "channel": channel}
        return None

    def stopped(self):
        """Wait for a stop."""
        found = self.message()
        assert found is not None, self.result()
        assert "stopped" in found, found
        self.channel = found["channel"]
        return found["stopped"]

    def ask(self, do, **arguments):
        """The body of an answer of the thread that stopped last."""
        answer = self.answer(do, **arguments)
        assert answer["ok"], answer
        return answer["body"]

    def answer(self, do, **arguments):
        self._number += 1
        self.channel.socket.sendall(json.dumps({"id": self._number, "do": do, **arguments}).encode() + b"\n")
        while True:
            found = self.channel.read()
            if found is not None and found.get("id") == self._number:
                return found

    def go(self, how, force=False):
        """Go on, and wait for the next stop."""
        self.ask("resume", how=how, force=force)
        return self.stopped()

    def end(self, how="continue"):
        """Go on to the end of the program; its status, output and errors."""
        self.ask("resume", how=how, force=False)
        assert self.message() is None
        return self.result()

    def result(self):
        out, err = self.program.communicate(timeout=PATIENCE)
        return self.program.returncode, out, err


class _Channel:
    def __init__(self, sock):
        self.socket = sock
        self.hello = None
        sock.settimeout(PATIENCE)
        self._data = b""

    def has_line(self):
        return b"\n" in self._data

    def read(self):
        while b"\n" not in self._data:
            data = self.socket.recv(65536)
            if not data:
                return None
            self._data += data
        line, _, self._data = self._data.partition(b"\n")
        return json.loads(line)
