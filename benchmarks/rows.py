"""What a page of rows costs in a big graph: read all records and show the last page, 200,000 nodes against 20,000.

Prints the ratio per node (1.0: cost grows as the graph does), and that of a second page, which should not grow at all.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import timing

timing.one_thread()

import numpy as np  # noqa: E402  # after the number of threads is set

from agdbg.events import Kind, head  # noqa: E402 - after the number of threads is set
from agdbg.hub.history import History  # noqa: E402 - after the number of threads is set
from agdbg.record.format import HEADER, META_FILE, RECORDS_FILE, STRINGS_FILE  # noqa: E402 - after the number of threads is set

SMALL, BIG = 20_000, 200_000
PAGE = 50


def residual_chain(path: Path, nodes: int) -> Path:
    """A trace of blocks of four nodes in a chain, each block with a way around it."""
    path.mkdir()
    ids = np.arange(1, nodes + 1, dtype=np.uint64)
    born = np.zeros((nodes, 8), "<u8")
    born[:, 0], born[:, 1], born[:, 2], born[:, 3] = head(Kind.BORN, 1, 0, 2, 0), ids, ids, 1 << 32
    born[1:, 4] = ids[:-1]
    born[4::4, 5] = ids[:-4:4]
    (path / RECORDS_FILE).write_bytes(HEADER + born.tobytes())
    (path / STRINGS_FILE).write_text('{"id": 1, "k": "op", "s": "AddBackward0", "slots": []}\n')
    (path / META_FILE).write_text(json.dumps({"program": {}, "engine": {}, "sees": {}}))
    return path


def last_page(history: History, back: int = PAGE) -> None:
    history.rows(history.total - back, PAGE)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        paths = {nodes: residual_chain(Path(directory) / str(nodes), nodes) for nodes in (SMALL, BIG)}
        opened = {nodes: History(path) for nodes, path in paths.items()}
        seconds = timing.medians(
            {
                "small": lambda: last_page(History(paths[SMALL])),
                "big": lambda: last_page(History(paths[BIG])),
                "small page": lambda: last_page(opened[SMALL]),
                "big page": lambda: last_page(opened[BIG]),
            },
            rounds=9,
        )
    scale = BIG / SMALL
    print(f"read and show, {SMALL:,} nodes: {seconds['small'] * 1e3:.1f} ms; {BIG:,}: {seconds['big'] * 1e3:.1f} ms")
    print(f"ratio per node: {seconds['big'] / seconds['small'] / scale:.2f}")
    print(f"one more page, {BIG:,} nodes against {SMALL:,}: ratio {seconds['big page'] / seconds['small page']:.2f}")


if __name__ == "__main__":
    main()
