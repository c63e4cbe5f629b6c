"""What a recording of a million records takes: bytes on the disk, the time to open it, the time of each question of a screen.

The questions are asked as the terminal UI and editors ask them, of a hub in a process of its own; each is asked once before it
counts, since an index is made by the first that needs it. Prints milliseconds, the ratio to the same on a thousand records, and the
goals.

python benchmarks/records.py [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agdbg.hub.starting import start_hub
from agdbg.protocol.client import Client
from agdbg.record import Trace
from ui import BIG, SMALL, recording

GOALS = {"MB": 80, "open ms": 200, "question ms": 50}
ROUNDS = 7
PATIENCE_S = 120.0

Ask = Callable[[Client, int], object]

QUESTIONS: dict[str, Ask] = {
    "rows at the end": lambda client, nodes: client.request("agdbg/rows", start=nodes - 50, count=50),
    "rows in the middle": lambda client, nodes: client.request("agdbg/rows", start=nodes // 2, count=50),
    "a node": lambda client, nodes: client.request("agdbg/node", node=nodes // 2),
    "where a node is": lambda client, nodes: client.request("agdbg/locate", node=nodes // 3),
    "a text that all have": lambda client, nodes: client.request("agdbg/find", text="Add", start=0, backwards=False),
    "a text that none has": lambda client, nodes: client.request(
        "agdbg/find", text="nowhere", start=0, backwards=False
    ),
    "events": lambda client, nodes: client.request("agdbg/events", start=-50, count=50),
    "timeline": lambda client, nodes: client.request("agdbg/timeline", start=nodes // 2, count=50),
    "profile": lambda client, nodes: client.request("agdbg/profile", start=nodes // 2, count=50, points=100),
    "neighbourhood": lambda client, nodes: client.request("agdbg/neighbourhood", node=nodes // 2, hops=3),
    "drawing of a node": lambda client, nodes: client.request(
        "agdbg/graph", node=nodes // 2, hops=3, start=0, count=50
    ),
    "modules": lambda client, nodes: client.request("agdbg/tree", start=0, count=50),
    "one node on": lambda client, nodes: moved(client, "next"),
    "one node back": lambda client, nodes: moved(client, "stepBack"),
    "stack": lambda client, nodes: client.request("stackTrace", threadId=1, startFrame=0, levels=20),
    "findings": lambda client, nodes: client.request("agdbg/findings"),
}


def moved(client: Client, how: str) -> None:
    """A move of the cursor, to the stop that ends it."""
    client.request(how, threadId=1)
    client.wait_for("stopped")


def asked(path: Path, nodes: int) -> dict[str, float]:
    """The median milliseconds of each question of a trace."""
    client = Client.connect(start_hub().client_socket, timeout=PATIENCE_S)
    try:
        client.request("initialize", adapterID="agdbg", clientID="benchmark")
        client.request("attach", trace=str(path))
        client.request("configurationDone")
        client.wait_for("stopped")
        for ask in QUESTIONS.values():
            ask(client, nodes)
        return {
            name: statistics.median(_milliseconds(ask, client, nodes) for _ in range(ROUNDS))
            for name, ask in QUESTIONS.items()
        }
    finally:
        client.request("disconnect", terminateDebuggee=True)
        client.close()


def nodes_of(records: int) -> int:
    """So many nodes make so many records: two each, two for the pass, and now and then that of a batch."""
    return records // 2 - 1


def _milliseconds(ask: Ask, client: Client, nodes: int) -> float:
    began = time.perf_counter()
    ask(client, nodes)
    return (time.perf_counter() - began) * 1e3


def opening(path: Path) -> float:
    """The median milliseconds to open a trace and look at all its records once."""
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        int(Trace.open(path).records[:, 0].max())
        took.append((time.perf_counter() - began) * 1e3)
    return statistics.median(took)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="agdbg-records-") as directory:
        paths = {records: recording(Path(directory) / str(records), nodes_of(records)) for records in (SMALL, BIG)}
        megabytes = sum(file.stat().st_size for file in paths[BIG].iterdir()) / 1e6
        opened = {records: opening(path) for records, path in paths.items()}
        small, big = (asked(paths[records], nodes_of(records)) for records in (SMALL, BIG))
    if options.json:
        print(json.dumps({"MB": megabytes, "open ms": opened[BIG], "question ms": big}, indent=2))
        return 0
    print(
        f"{BIG:,} records: {megabytes:.1f} MB (goal {GOALS['MB']}), opened in {opened[BIG]:.1f} ms (goal {GOALS['open ms']})"
    )
    for name, took in big.items():
        print(
            f"{name:22s}{took:8.2f} ms, {took / small[name]:6.2f} of {SMALL:,} records  (goal {GOALS['question ms']} ms)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
