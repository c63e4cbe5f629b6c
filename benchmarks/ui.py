"""How fast the terminal UI is on a recording of a million nodes, as a person at a terminal sees it.

``agdbg open`` is started on a pseudo-terminal. Printed are the milliseconds from the start of the process to the first frame
and to the first rows of the graph, and from a key to the frame that first shows something of what it does, with the ratio of that
against the same on a thousand nodes, and against an app of Textual's that shows one widget, whose text each key changes;
and to the frame that shows all of it, after which the screen stays as it is. A frame that changes no cell counts for nothing.
What that app takes in the same minute tells how fast the machine is, and what no app of Textual's can be without.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from painted import Painted

from agdbg.events import Kind, head, pack_edge
from agdbg.record.batch import sealed
from agdbg.record.format import HEADER, META_FILE, RECORDS_FILE, STRINGS_FILE
from agdbg.record.writer import BATCH_RECORDS

SMALL, BIG = 1_000, 1_000_000
COLUMNS, ROWS = 120, 40
PATIENCE_S = 60.0
#: Nothing more is painted for a key that has changed the screen when so long nothing came, in seconds; it does not count.
QUIET_S = 0.3
PRESSES, STARTS = 11, 5
BARE = """
from textual.app import App
from textual.widgets import Static

class Bare(App):
    pressed = 0

    def compose(self):
        yield Static("Graph Add")

    def on_key(self):
        self.pressed += 1
        self.query_one(Static).update(f"Graph Add {self.pressed}")

Bare().run()
"""
KEYS = {
    "fold all": "{", "unfold": "]", "unfold all": "}",
    "end": "\x1b[F", "page up": "\x1b[5~", "up": "\x1b[A", "page down": "\x1b[6~", "home": "\x1b[H", "down": "\x1b[B",
    "timeline": "6", "inspector": "1", "graph": "0",
}  # fmt: skip


def recording(path: Path, nodes: int) -> Path:
    """A chain of nodes, and a pass that ran all of them: two records for each and two for the pass, in sealed batches."""
    path.mkdir()
    ids = np.arange(1, nodes + 1, dtype=np.uint64)
    born, ran, ends = (np.zeros((count, 8), "<u8") for count in (nodes, nodes, 2))
    born[:, 0], born[:, 1], born[:, 2], born[:, 3] = head(Kind.BORN, 1, 0, 1, 0), ids, ids, 1 << 32
    born[1:, 4] = ids[:-1]
    ran[:, 0], ran[:, 1], ran[:, 2], ran[:, 3] = head(Kind.RAN, 1), ids[::-1], 1, np.arange(nodes)
    ran[:, 4], ran[:, 5] = np.arange(nodes) * 1000, 500 + np.arange(nodes) % 400
    ends[0, 0], ends[1, 0], ends[:, 1] = head(Kind.PASS_STARTED, 1), head(Kind.PASS_FINISHED, 1), 1
    ends[0, 3] = pack_edge(nodes)
    body = np.concatenate([born, ends[:1], ran, ends[1:]])
    most = BATCH_RECORDS - 1
    batches = [body[start : start + most].tobytes() for start in range(0, len(body), most)]
    written = nodes * 1000 + 1000  # nanoseconds: nothing that is told happened later
    (path / RECORDS_FILE).write_bytes(
        HEADER + b"".join(sealed(number, written, batch) for number, batch in enumerate(batches, 1))
    )
    (path / STRINGS_FILE).write_text('{"id": 1, "k": "op", "s": "AddBackward0", "slots": []}\n')
    (path / META_FILE).write_text(json.dumps({"program": {}, "engine": {}, "sees": {}}))
    return path


class Terminal:
    """A Python on a pseudo-terminal, that of the UI with a trace, or of another program."""

    def __init__(self, *words: str) -> None:
        self.began = time.perf_counter()
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._process = subprocess.Popen(
            [sys.executable, *words],
            stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self._file, self._screen = ours, Painted()

    def until(self, wanted: str) -> float:
        """Milliseconds from the start until the screen shows something."""
        while not any(wanted in line for line in self._screen.lines()):
            if not select.select([self._file], [], [], PATIENCE_S)[0]:
                raise TimeoutError(f"{wanted!r} was not painted in {PATIENCE_S:g} s: {self._screen.lines()}")
            self._screen.feed(os.read(self._file, 1 << 16))
        return (time.perf_counter() - self.began) * 1e3

    def settle(self) -> None:
        """Read until nothing more comes."""
        while select.select([self._file], [], [], QUIET_S)[0]:
            self._screen.feed(os.read(self._file, 1 << 16))

    def press(self, name: str, key: str) -> tuple[float, float]:
        """Milliseconds from a key to the first frame that shows something of it, and to the frame that shows all of it.

        What was painted is looked at when no more of it comes, so that the looking takes nothing from the app.
        """
        came: list[tuple[float, bytes]] = []
        changes: list[float] = []
        start = time.perf_counter()
        os.write(self._file, key.encode())
        while not changes:
            if time.perf_counter() - start > PATIENCE_S:
                raise TimeoutError(f"{name} changed nothing in {PATIENCE_S:g} s: {self._screen.lines()}")
            while select.select([self._file], [], [], QUIET_S)[0]:
                came.append((time.perf_counter(), os.read(self._file, 1 << 16)))
            for moment, written in came:
                before = dict(self._screen.cells)
                self._screen.feed(written)
                if self._screen.cells != before:
                    changes.append((moment - start) * 1e3)
            came.clear()
        return changes[0], changes[-1]

    def close(self) -> None:
        """End it, and read what it says until then: what nobody reads would keep it."""
        os.killpg(self._process.pid, signal.SIGTERM)
        end = time.monotonic() + PATIENCE_S
        while self._process.poll() is None and time.monotonic() < end:
            if select.select([self._file], [], [], QUIET_S)[0]:
                with contextlib.suppress(OSError):  # it has closed its side
                    os.read(self._file, 1 << 16)
        self._process.wait(0)
        os.close(self._file)


def words_of(trace: Path) -> list[str]:
    return ["-m", "agdbg", "open", str(trace)]


def starts(words: list[str]) -> tuple[float, float]:
    """The medians of the times to the first frame, and to the first rows."""
    firsts, rows = [], []
    for _ in range(STARTS):
        terminal = Terminal(*words)
        try:
            firsts.append(terminal.until("Graph"))
            rows.append(max(terminal.until("Add"), firsts[-1]))
            terminal.settle()
        finally:
            terminal.close()
    return statistics.median(firsts), statistics.median(rows)


def keys(words: list[str]) -> dict[str, tuple[float, float]]:
    """The medians of the times that each key takes until something of it is painted, and until all of it is."""
    terminal = Terminal(*words)
    try:
        terminal.until("Add")
        terminal.settle()
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in KEYS}
        for _ in range(PRESSES):
            for name, key in KEYS.items():
                taken[name].append(terminal.press(name, key))
    finally:
        terminal.close()
    return {name: middle(times) for name, times in taken.items()}


def middle(times: Iterable[tuple[float, float]]) -> tuple[float, float]:
    firsts, lasts = zip(*times, strict=True)
    return statistics.median(firsts), statistics.median(lasts)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        paths = {nodes: recording(Path(directory) / str(nodes), nodes) for nodes in (SMALL, BIG)}
        bare_first, _ = starts(["-c", BARE])
        first, rows = starts(words_of(paths[BIG]))
        small, big = (keys(words_of(path)) for path in paths.values())
        bare, _ = middle(keys(["-c", BARE]).values())
    print(f"one widget: first frame after {bare_first:.0f} ms, median over the keys {bare:.0f} ms")
    print(
        f"{BIG:,} nodes: first frame after {first:.0f} ms, {first / bare_first:.2f} of one widget; first rows after {rows:.0f} ms"
    )
    for name, (shown, done) in big.items():
        print(
            f"{name}: shows after {shown:.0f} ms, {shown / small[name][0]:.2f} of {SMALL:,} nodes; all of it after {done:.0f} ms"
        )
    shown, done = middle(big.values())
    print(
        f"median over the keys: shows after {shown:.0f} ms, {shown / bare:.2f} of one widget; all of it after {done:.0f} ms"
    )


if __name__ == "__main__":
    main()
