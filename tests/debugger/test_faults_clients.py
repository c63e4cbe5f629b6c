"""Clients that misbehave at a real hub with a real program: the program's results stay, and the hub stays small."""

import os
import re
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from agdbg.hub.starting import start_hub
from agdbg.protocol.client import Client
from agdbg.protocol.wire import encode

PATIENCE_S = 90.0
LINES = 100_000
SCRIPT = """\
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
line = "output that nobody reads, " * 4
for number in range(LINES):
    print(line)
for number in range(100):
    (x * x).exp().sum().backward()
open("result", "w").write(str(x.grad.tolist()))
"""
#: The hub itself has some 40 MB, and NumPy for reading the trace as many.
SMALL = 200 << 20


def plain(directory):
    subprocess.run(
        [sys.executable, "train.py"], cwd=directory, check=True, timeout=PATIENCE_S, stdout=subprocess.DEVNULL
    )
    result = (directory / "result").read_text()
    (directory / "result").unlink()
    return result


class Watched:
    """A hub with the program, which a client of ours has launched."""

    def __init__(self, directory, lines):
        self.directory = directory
        (directory / "train.py").write_text(SCRIPT.replace("LINES", str(lines)))
        self.plain = plain(directory)
        self.hub = start_hub()
        self.fd = os.pidfd_open(self.hub.pid)

    def client(self):
        made = Client.connect(self.hub.client_socket, timeout=PATIENCE_S)
        made.request("initialize", adapterID="agdbg")
        return made

    def launch(self, client, **arguments):
        client.request("launch", program="train.py", cwd=str(self.directory), trace="traced", **arguments)
        client.request("configurationDone")

    def most(self):
        """The most memory that the hub ever had."""
        status = Path(f"/proc/{self.hub.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024

    @property
    def result(self):
        return (self.directory / "result").read_text()

    def close(self):
        signal.pidfd_send_signal(self.fd, signal.SIGKILL)
        assert select.select([self.fd], [], [], PATIENCE_S)[0]
        os.close(self.fd)


@pytest.fixture
def watched(tmp_path, monkeypatch, request):
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    made = Watched(tmp_path, getattr(request, "param", LINES))
    yield made
    made.close()


def raw_client(watched, *requests):
    """A connection that sends requests and reads nothing."""
    raw = socket.socket(socket.AF_UNIX)
    raw.connect(watched.hub.client_socket)
    for seq, (command, arguments) in enumerate(requests, 1):
        raw.sendall(encode({"seq": seq, "type": "request", "command": command, "arguments": arguments}))
    return raw


JOIN = [("initialize", {"adapterID": "deaf"}), ("attach", {}), ("configurationDone", {})]


def test_a_client_that_never_reads(watched):
    with watched.client() as client:
        watched.launch(client, stopOnEntry=True)
        deaf = raw_client(watched, *JOIN)
        stop = client.wait_for("stopped")  # all the output has been told by then, or was left out
        assert stop["reason"] == "entry"
        client.request("continue", threadId=1)
        assert client.wait_for("agdbg/ended")["exit"] == 0
        assert watched.result == watched.plain
        size = client.request("agdbg/output", start=0, length=1)["total"]
        assert size > LINES * 100
        assert watched.most() < SMALL
        deaf.close()


def test_only_a_client_that_never_reads(watched):
    launch = {"program": "train.py", "cwd": str(watched.directory), "trace": "traced"}
    deaf = raw_client(watched, JOIN[0], ("launch", launch), JOIN[2])
    with watched.client() as client:
        client.request("attach")
        client.request("configurationDone")
        client.wait_for("agdbg/ended")
        assert watched.result == watched.plain
        assert watched.most() < SMALL
        deaf.close()


@pytest.mark.parametrize("watched", [10], indirect=True, ids=["short"])
@pytest.mark.parametrize("cut", [1, 30, -1])
def test_a_client_that_is_cut_off_within_a_message(watched, cut):
    with watched.client() as client:
        watched.launch(client, stopOnEntry=True)
        client.wait_for("stopped")
        half = encode({"seq": 9, "type": "request", "command": "next", "arguments": {"threadId": 1}})[:cut]
        other = raw_client(watched, *JOIN)
        other.sendall(half)
        other.close()
        assert client.request("agdbg/control") == {"has": False, "holder": ""}
        assert client.request("agdbg/status")["state"] == "stopped"
        client.request("next", threadId=1)
        client.wait_for("stopped")
    assert select.select([watched.fd], [], [], PATIENCE_S)[0]  # the program went on and ended, and so did the hub
    assert watched.result == watched.plain
