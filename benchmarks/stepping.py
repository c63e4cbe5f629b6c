"""Stepping from another process: `next` sent to `stopped` received, through the hub, against a bare echo in two hops; and behind
it the stack, and the variables of the node, as an editor asks for them at each stop.

Prints the median, the 10th and the 95th percentile in milliseconds, and the ratio to a message that goes the same way through
two processes which do nothing with it: the share of the machine in the figure. Where cores are shared, three processes wait for
each other's turn, and the 10th percentile says more than the median; `chrt -f 10` in front of the command lets others wait. The
goals are medians of at most 0.5 ms for the step and 1 ms for the stack and the variables.
"""

import argparse
import json
import os
import socket
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from agdbg.hub.starting import start_hub
from agdbg.protocol.client import Client

GOAL_MS = 0.5
GOAL_OF_LOOK_MS = 1.0

PROGRAM = """\
import agdbg_engine as ag
x = ag.ones(8, requires_grad=True)
y = x
for _ in range({nodes}):
    y = y * 1.5
y.sum().backward()
"""


def stepping(nodes, folder):
    """Seconds from `next` to `stopped`, and those for the stack and the variables then, for each of ``nodes`` steps."""
    script = folder / "program.py"
    script.write_text(PROGRAM.format(nodes=nodes + 10))
    hub = start_hub()
    client = Client.connect(hub.client_socket)
    try:
        client.request("initialize", adapterID="agdbg", clientID="benchmark")
        client.request(
            "launch", program=str(script), args=[], cwd=str(folder), trace=str(folder / "trace"), stopOnEntry=True
        )
        client.request("configurationDone")
        thread = client.wait_for("stopped")["threadId"]
        times = []
        for _ in range(nodes):
            began = perf_counter()
            client.request("next", threadId=thread)
            client.wait_for("stopped")
            stopped = perf_counter()
            look(client, thread)
            times.append((stopped - began, perf_counter() - stopped))
        return list(zip(*times, strict=True))
    finally:
        client.request("disconnect", terminateDebuggee=True)
        client.close()


def look(client, thread):
    """Ask for what an editor shows at a stop: the stack, the scopes of the node, and what is in those, in all at once."""
    frames = client.request("stackTrace", threadId=thread, startFrame=0, levels=20)["stackFrames"]
    scopes = client.request("scopes", frameId=frames[0]["id"])["scopes"]
    asked = [
        client.send("variables", variablesReference=scope["variablesReference"])
        for scope in scopes
        if not scope.get("expensive")
    ]
    for number in asked:
        client.answer(number)


def echoing(count):
    """Seconds for a small JSON line to go through a process that passes it on to another, and back."""
    near, far = socket.socketpair()
    if os.fork() == 0:
        near.close()
        back, end = socket.socketpair()
        if os.fork() == 0:
            back.close()
            relay(end, end)
        end.close()
        while data := far.recv(4096):
            back.sendall(json.dumps(json.loads(data)).encode())
            far.sendall(json.dumps(json.loads(back.recv(4096))).encode())
        os._exit(0)
    far.close()
    times = []
    for i in range(count):
        began = perf_counter()
        near.sendall(json.dumps({"seq": i, "command": "next"}).encode())
        near.recv(4096)
        times.append(perf_counter() - began)
    near.close()
    return times


def relay(source, target):
    """Send back what comes."""
    while data := source.recv(4096):
        target.sendall(json.dumps(json.loads(data)).encode())
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=2000)
    nodes = parser.parse_args().nodes
    with tempfile.TemporaryDirectory(prefix="agdbg-stepping-") as folder:
        steps, looks = stepping(nodes, Path(folder))
    echo = statistics.median(echoing(nodes))
    for what, times, goal in (("next to stopped", steps, GOAL_MS), ("stack, variables", looks, GOAL_OF_LOOK_MS)):
        median, (quick, slow) = (
            statistics.median(times),
            (sorted(times)[int(part * len(times))] for part in (0.1, 0.95)),
        )
        print(
            f"{what:17s}median {median * 1e3:.3f} ms  10 % {quick * 1e3:.3f} ms  95 % {slow * 1e3:.3f} ms  "
            f"(goal: median <= {goal} ms)"
        )
    median = statistics.median(steps)
    print(f"bare echo        median {echo * 1e3:.3f} ms  ratio {median / echo:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
