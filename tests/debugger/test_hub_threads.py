"""Threads of a program that the hub knows though they have never stopped: each says hello at its first pass."""

import contextlib
import json
import os
import socket
import tempfile
from pathlib import Path

from agdbg.agent.agent import Agent
from agdbg.agent.control import ControlWriter

SILENT = """
import threading
import agdbg_engine as ag

over = threading.Event()

def work():
    x = ag.tensor([1.0], requires_grad=True)
    for _ in range(3):
        x.exp().sum().backward()
    over.wait()

def idle():
    ag.tensor([1.0], requires_grad=True).exp()
    over.wait()

threads = [threading.Thread(target=work, name=f"w{n}") for n in range(3)]
threads.append(threading.Thread(target=idle, name="idle"))
for thread in threads: thread.start()
input()
over.set()
for thread in threads: thread.join()
input()
"""


def names(client):
    return sorted(thread["name"] for thread in client.request("threads")["threads"])


def test_threads_that_run_passes_are_known_without_a_stop_until_they_end(console_stage):
    client = console_stage.client(console_stage.hub())
    client.request("launch", program=str(console_stage.script(SILENT)), cwd=str(console_stage.directory))
    client.request("configurationDone")
    started = [client.wait_for("thread") for _ in range(4)]
    assert [each["reason"] for each in started] == ["started"] * 4
    assert names(client) == ["MainThread", "w0", "w1", "w2"]  # the first began the recording
    assert sorted(each["name"] for each in client.request("agdbg/status")["threads"]) == [
        "MainThread",
        "w0",
        "w1",
        "w2",
    ]
    client.request("agdbg/input", text="\n")
    ended = [client.wait_for("thread") for _ in range(3)]
    assert {each["threadId"] for each in ended} < {each["threadId"] for each in started}
    assert [each["reason"] for each in ended] == ["exited"] * 3
    assert names(client) == ["MainThread"]
    client.request("agdbg/input", text="\n")
    client.wait_for("exited")


def test_a_thread_that_cannot_say_hello_now_goes_on_and_tries_again():
    with tempfile.TemporaryDirectory(prefix="agdbg-") as folder:  # short: a socket's path is limited
        control = ControlWriter(Path(folder) / "control")
        agent = Agent(folder)
        assert not agent.meet(7)  # nobody listens
        server = socket.create_server(str(Path(folder) / "agent.sock"), family=socket.AF_UNIX, backlog=0)
        callers = [socket.socket(socket.AF_UNIX) for _ in range(8)]
        for caller in callers:  # until there is no more room
            caller.setblocking(False)
            if caller.connect_ex(server.getsockname()):
                break
        else:
            raise AssertionError("there is always room")
        assert not agent.meet(7)
        assert not agent.gone
        for caller in callers:
            caller.close()
        server.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                server.accept()[0].close()
        server.setblocking(True)
        assert agent.meet(7)
        assert agent.meet(7)
        met, _ = server.accept()
        with met, met.makefile() as lines:
            hello = json.loads(lines.readline())["hello"]
        assert (hello["pid"], hello["thread"]) == (os.getpid(), 7)
        server.close()
        control.close()
