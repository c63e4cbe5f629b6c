"""10,000 random and mutated messages: the hub answers each that can be understood, lives, and keeps its size.

Always the same ones: a seed makes them. They are sent to a real hub, a process of its own, that shows a trace or whose
program stands at a stop; test_hub_hostile.py does the like with hypothesis, which looks for the smallest bad one.
"""

import json
import os
import random
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
from agdbg.protocol.messages import REQUESTS
from agdbg.protocol.unsupported import UNSUPPORTED
from agdbg.protocol.wire import Decoder, ProtocolError, encode

PATIENCE_S = 60.0
EACH = 5_000
AT_ONCE = 50
#: A hub may grow by so many bytes: buffers, the index of the trace, and NumPy, which it brings in when it is first asked.
GROWTH = 128 << 20
#: These begin or end something, or write files; all others may come in any order.
ENDING = {"launch", "attach", "disconnect", "terminate", "restart", "agdbg/export", "agdbg/pdb"}
#: After these the program would not stand there any more.
MOVING = {"continue", "next", "stepIn", "stepOut", "agdbg/skip", "agdbg/until", "agdbg/retain", "pause"}
COMMANDS = sorted(({*REQUESTS} | {*UNSUPPORTED}) - ENDING - MOVING) + ["", "nxt", "agdbg/", "agdbg/nothing"]
FIELDS = sorted({name for shape in REQUESTS.values() for name in shape.arguments.__annotations__} - {"expression"})
ODD = [
    None, True, False, 0, 1, -1, 2, 7, 1000, 1001, 2**31, 2**63, -(2**63), 10**30, 0.5, -1e308, "", "x", "0", "1", "MulBackward0",
    "*", "[", "\0", "\ud800", "é" * 50, "a" * 3000, "../../etc/passwd", "/", [], [[]], [1, "a", None], {}, {"line": 3}, {"name": "*"},
    {"path": "/"}, {"path": __file__}, [{"line": 1}], [{"name": "x"}], [{"dataId": "storage 1"}], [{"kind": "saved"}], ["any"],
]  # fmt: skip
SCRIPT = """\
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
loss = (x * x).exp().sum()
loss.backward()
"""


class Chaos:
    """Makes messages, the same ones for the same seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, depth=3):
        kind = self.random.random()
        if depth and kind < 0.1:
            return {self.random.choice(FIELDS): self.value(depth - 1) for _ in range(self.random.randrange(3))}
        if depth and kind < 0.2:
            return [self.value(depth - 1) for _ in range(self.random.randrange(3))]
        return self.random.choice(ODD)

    def arguments(self, command):
        """Mostly those that the command has, with any values."""
        known = [*REQUESTS[command].arguments.__annotations__] if command in REQUESTS else FIELDS
        names = [name for name in known if name != "expression" and self.random.random() < 0.8]
        found = {name: self.value() for name in names}
        if "threadId" in found and self.random.random() < 0.7:
            found["threadId"] = 1
        if self.random.random() < 0.1:
            found[self.random.choice(FIELDS)] = self.value()
        return found

    def request(self, seq):
        command = self.random.choice(COMMANDS)
        made = {"seq": seq, "type": "request", "command": command, "arguments": self.arguments(command)}
        for name in list(made):
            chance = self.random.random()
            if chance < 0.02:
                del made[name]
            elif chance < 0.04 and name != "command":
                made[name] = self.value()
        return made

    def mutated(self, data):
        """The bytes of a message with something wrong; most are none any more."""
        how, place = self.random.randrange(6), self.random.randrange(len(data))
        if how == 0:
            return data[:place] + bytes([self.random.randrange(256)]) + data[place + 1 :]
        if how == 1:
            return data[:place] + data[place + 1 :]
        if how == 2:
            return data[:place] + self.random.randbytes(self.random.randrange(1, 9)) + data[place:]
        if how == 3:
            return data[:place]
        if how == 4:
            return re.sub(rb"\d+", str(self.random.choice([0, -1, 5, 10**9, 10**30])).encode(), data, count=1)
        return self.random.randbytes(self.random.randrange(1, 60))

    def batch(self, size):
        """Requests with numbers of their own, and now and then a last thing that is none."""
        requests = [self.request(10_000 + number) for number in range(size)]
        spoiled = self.mutated(encode(self.request(7))) if self.random.random() < 0.7 else b""
        return requests, spoiled


class Target:
    """A real hub, and what it says."""

    def __init__(self, directory):
        self.hub = start_hub()
        self.fd = os.pidfd_open(self.hub.pid)
        self.witness = Client.connect(self.hub.client_socket, timeout=PATIENCE_S)
        self.witness.request("initialize", adapterID="agdbg")

    @property
    def size(self):
        status = Path(f"/proc/{self.hub.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    @property
    def log(self):
        return (Path(self.hub.directory) / "log").read_text()

    def storm(self, chaos, count):
        """Send so many messages, over a connection for each batch; every one that can be understood is answered once."""
        for _ in range(count // AT_ONCE):
            requests, spoiled = chaos.batch(AT_ONCE - 1)
            with socket.socket(socket.AF_UNIX) as raw:
                raw.settimeout(PATIENCE_S)
                raw.connect(self.hub.client_socket)
                raw.sendall(b"".join(map(encode, requests)))
                self.witness.request("agdbg/status")  # it is heard in between
                check(requests, answers(raw, len(requests)))
                raw.sendall(spoiled)
                raw.shutdown(socket.SHUT_WR)
                assert len(answers(raw, 3)) <= 2  # a body cut short is none, and what is left of it begins no message
            self.witness.events.clear()

    def close(self):
        self.witness.close()
        signal.pidfd_send_signal(self.fd, signal.SIGKILL)
        assert select.select([self.fd], [], [], PATIENCE_S)[0]
        os.close(self.fd)


def answers(raw, count):
    """So many responses, or those that came before the hub closed the connection."""
    decoder, found = Decoder(), []
    try:
        while len(found) < count and (data := raw.recv(1 << 16)):
            found += [each for each in decoder.feed(data) if each["type"] == "response"]
    except ConnectionResetError:
        pass
    except ProtocolError as error:
        raise AssertionError(f"the hub sent what is no message: {error}") from error
    return found


def check(requests, found):
    """Each is answered once and in words, and by no mistake of agdbg's own."""
    wrong = [each["message"] for each in found if not each["success"] and "internal error" in each["message"]]
    assert wrong == []
    numbers = [each.get("seq") for each in requests]
    assert sorted(each["request_seq"] for each in found) == sorted(n if type(n) is int else 0 for n in numbers)
    for each in found:
        assert each["success"] or each["message"].strip()


@pytest.fixture
def target(tmp_path, monkeypatch):
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    made = Target(tmp_path)
    yield made
    made.close()


def survives(target, seed):
    chaos = Chaos(seed)
    target.storm(chaos, AT_ONCE * 4)  # what is loaded when it is first needed is there now
    before = target.size
    target.storm(chaos, EACH - AT_ONCE * 4)
    assert target.size - before < GROWTH
    assert "Traceback" not in target.log, target.log[-3000:]
    return json.loads(json.dumps(target.witness.request("agdbg/rows", start=0, count=10)))


def test_a_hub_with_a_trace(target, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    words = [sys.executable, "-m", "agdbg", "run", "--headless", "--trace", "traced", str(script)]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE_S)
    target.witness.request("attach", trace=str(tmp_path / "traced"))
    target.witness.request("configurationDone")
    assert survives(target, seed=1)["total"] == 3


def test_a_hub_with_a_program_that_stands(target, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT + "open('result', 'w').write(str(x.grad.tolist()))\n")
    subprocess.run([sys.executable, "train.py"], cwd=tmp_path, check=True, timeout=PATIENCE_S)
    plain = (tmp_path / "result").read_text()
    (tmp_path / "result").unlink()
    ask = target.witness.request
    ask("launch", program=str(script), cwd=str(tmp_path), trace=str(tmp_path / "traced"), stopOnEntry=True)
    ask("configurationDone")
    target.witness.wait_for("stopped")
    assert survives(target, seed=2)["total"] == 3
    assert ask("agdbg/status")["state"] == "stopped"
    ask("setFunctionBreakpoints", breakpoints=[])
    ask("setDataBreakpoints", breakpoints=[])
    ask("setExceptionBreakpoints", filters=[])
    ask("agdbg/setEventBreakpoints", kinds=[])
    ask("agdbg/control", take=True)
    ask("disconnect")
    assert select.select([target.fd], [], [], PATIENCE_S)[0]
    assert (tmp_path / "result").read_text() == plain
