"""`agdbg dap` as an editor starts it: what it says on standard output, and what becomes of the program when one side dies."""

import json
import os
import select
import signal
import socket
import subprocess
import sys

import pytest

from agdbg.protocol.client import Client
from agdbg.protocol.wire import Decoder, encode
from agdbg.record import Trace

PATIENCE_S = 60.0
SCRIPT = """\
import agdbg_engine as ag

print("begin")
x = ag.tensor([1.0, 2.0], requires_grad=True)
loss = (x * x).exp().sum()
loss.backward()
open("done", "w").write(str(x.grad.tolist()))
"""


class Editor:
    """Speaks with an adapter that it has started."""

    def __init__(self, directory, *words):
        self.directory = directory
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agdbg", "dap", *words], cwd=directory,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.messages, self.decoder, self.seq = [], Decoder(), 0

    def send(self, command, **arguments):
        self.seq += 1
        self.write(encode({"seq": self.seq, "type": "request", "command": command, "arguments": arguments}))
        return self.seq

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def request(self, command, **arguments):
        number = self.send(command, **arguments)
        return self.until(lambda message: message.get("request_seq") == number)

    def event(self, name):
        return self.until(lambda message: message.get("event") == name)

    def until(self, wanted):
        """The first message that is wanted; it is taken out."""
        while True:
            for message in self.messages:
                if wanted(message):
                    self.messages.remove(message)
                    return message
            assert self.read(), f"the adapter is gone: {self.process.stderr.read()}"

    def read(self):
        fd = self.process.stdout.fileno()
        assert select.select([fd], [], [], PATIENCE_S)[0], f"nothing but {self.messages} came"
        data = os.read(fd, 1 << 16)
        self.messages += self.decoder.feed(data)
        return data

    def rest(self):
        """All that comes until the adapter closes its output, and its exit status."""
        while self.read():
            pass
        assert self.decoder.pending == 0
        return self.messages, self.process.wait(PATIENCE_S)

    def launched(self, **arguments):
        """The program stands; its process number."""
        (self.directory / "train.py").write_text(SCRIPT)
        assert self.request("initialize", adapterID="agdbg")["success"]
        launch = {
            "program": "train.py",
            "cwd": str(self.directory),
            "trace": "traced",
            "stopOnEntry": True,
            **arguments,
        }
        assert self.request("launch", **launch)["success"]
        assert self.request("configurationDone")["success"]
        pid = self.event("process")["body"]["systemProcessId"]
        self.event("stopped")
        return os.pidfd_open(pid)

    def close(self):
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        self.process.kill()
        self.process.wait()


@pytest.fixture
def start(tmp_path, monkeypatch):
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    made = []

    def begin(*words):
        made.append(Editor(tmp_path, *words))
        return made[-1]

    yield begin
    for each in made:
        each.close()
    end_hubs(runtime)


def await_end(fd):
    assert select.select([fd], [], [], PATIENCE_S)[0], "a process does not end"
    os.close(fd)


def end_hubs(runtime):
    """Those that wait for another client would do so for a minute."""
    for facts in (runtime / "agdbg").glob("*/hub.json"):
        fd = os.pidfd_open(json.loads(facts.read_text())["pid"])
        signal.pidfd_send_signal(fd, signal.SIGTERM)
        await_end(fd)


def hub_of(directory):
    (facts,) = (directory / "run" / "agdbg").glob("*/hub.json")
    return json.loads(facts.read_text())["pid"]


def test_a_session_to_its_end(start, tmp_path):
    editor = start()
    program = editor.launched()
    editor.request("continue", threadId=1)
    assert editor.event("exited")["body"] == {"exitCode": 0}
    editor.event("terminated")
    assert editor.request("disconnect")["success"]
    rest, status = editor.rest()
    assert status == 0
    assert (tmp_path / "done").read_text() == "[5.436563968658447, 218.39259338378906]"
    assert [each["type"] for each in rest if each["type"] not in ("event", "response")] == []
    assert editor.process.stderr.read() == b""
    await_end(program)


@pytest.mark.parametrize("how", ["closes", "is killed"])
def test_without_its_editor_the_program_goes_on(start, tmp_path, how):
    editor = start()
    program = editor.launched()
    if how == "closes":
        editor.process.stdin.close()
        assert editor.rest()[1] == 0
    else:
        editor.process.kill()
    await_end(program)
    assert (tmp_path / "done").exists()
    assert Trace.open(tmp_path / "traced").meta["exit"]["status"] == 0


def test_it_waits_for_the_next_client_if_it_is_to(start, tmp_path):
    editor = start()
    program = editor.launched(onOrphan="wait")
    editor.process.kill()
    editor.process.wait()
    (found,) = (tmp_path / "run" / "agdbg").iterdir()
    other = start("--hub", found.name)
    other.request("initialize", adapterID="agdbg")
    assert other.request("attach")["success"]
    other.request("configurationDone")
    other.event("stopped")
    assert not (tmp_path / "done").exists()
    other.request("continue", threadId=1)
    other.event("terminated")
    await_end(program)


def test_a_killed_hub_is_told_and_the_program_goes_on(start, tmp_path):
    editor = start()
    program = editor.launched()
    editor.messages.clear()
    os.kill(hub_of(tmp_path), signal.SIGKILL)
    messages, status = editor.rest()
    *_, told, last = messages  # before them there may be what the program has printed, and how the trace has grown
    assert (told["event"], last["event"]) == ("output", "terminated")
    assert "hub is gone" in told["body"]["output"]
    assert last["seq"] == told["seq"] + 1 > 2
    assert status == 70
    await_end(program)
    assert (tmp_path / "done").exists()
    assert Trace.open(tmp_path / "traced").meta["exit"]["status"] == 0


def test_a_client_that_talks_nonsense_is_cut_off_with_a_reason(start):
    editor = start()
    editor.write(b"GET / HTTP/1.1\r\n\r\n")
    messages, status = editor.rest()
    assert "Content-Length" in messages[0]["message"]
    assert "the connection is closed, since what came in cannot be told apart" in messages[1]["body"]["output"]
    assert (messages[2]["event"], status) == ("terminated", 2)


def test_a_client_that_dies_within_a_message(start):
    editor = start()
    editor.write(encode({"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "x"}})[:-5])
    editor.process.stdin.close()
    assert editor.rest() == ([], 0)


def test_what_cannot_be_reached_is_told_as_an_event(start, tmp_path):
    editor = start("--hub", str(tmp_path / "no.sock"))
    messages, status = editor.rest()
    assert [each["event"] for each in messages] == ["output", "terminated"]
    assert "no hub answers" in messages[0]["body"]["output"]
    assert status == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--hub", "12"], "no such hub runs"),
        (["--host", "localhost"], "--host goes with --port"),
        (["--once"], "--once goes with --port"),
        (["--port", "70000"], "--port 70000: a port is below 65536"),
        (["--port", "0", "--token-file", "missing"], "--token-file missing"),
    ],
)
def test_what_is_refused(start, words, told):
    editor = start(*words)
    assert editor.process.wait(PATIENCE_S) == 2
    assert editor.process.stdout.read() == b""
    assert told in editor.process.stderr.read().decode()


def test_run_without_debugging_stops_nowhere_and_explains(start, tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT + "loss.backward()\n")
    editor = start()
    editor.request("initialize", adapterID="agdbg")
    editor.request("launch", program="train.py", cwd=str(tmp_path), trace="traced", stopOnEntry=True, noDebug=True)
    editor.request("setFunctionBreakpoints", breakpoints=[{"name": "*"}])
    editor.request("configurationDone")
    assert editor.event("exited")["body"] == {"exitCode": 1}
    editor.request("disconnect")
    messages, _ = editor.rest()
    assert not [each for each in messages if each.get("event") == "stopped"]
    assert "second time" in "".join(each["body"]["output"] for each in messages if each.get("event") == "output")


# ----- at a port -----


@pytest.fixture
def server(tmp_path, monkeypatch):
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.delenv("AGDBG_TOKEN", raising=False)
    words = [sys.executable, "-m", "agdbg", "dap", "--port", "0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        address = process.stderr.readline().split()[-1]
        token = process.stderr.readline().split()[-1]
        yield process, address, token
        process.terminate()
    end_hubs(runtime)


def session(address, token, directory):
    client = Client.connect(address, token=token, timeout=PATIENCE_S)
    client.request("initialize", adapterID="agdbg")
    client.request("launch", program=str(directory / "train.py"), cwd=str(directory))
    client.request("configurationDone")
    return client


def test_one_session_after_the_other(server, tmp_path):
    process, address, token = server
    (tmp_path / "train.py").write_text(SCRIPT)
    for _ in range(2):
        with session(address, token, tmp_path) as client:
            assert client.wait_for("exited") == {"exitCode": 0}
            hub = os.pidfd_open(hub_of(tmp_path))  # it has gone as soon as its client has
        await_end(hub)
    assert process.poll() is None


def test_nothing_idles_before_somebody_knocks(server, tmp_path):
    process, address, _token = server
    assert not list((tmp_path / "run").glob("agdbg/*"))
    host, port = address.rsplit(":", 1)
    socket.create_connection((host, int(port)), PATIENCE_S).close()
    assert process.poll() is None
