"""Speed and memory of the engine against torch, HIPS/autograd and MyGrad: prints ratios.

    python benchmarks/engine.py [--rounds N] [--json]

All sides are interleaved in one process; below 1.0 is faster than torch eager. What is not installed is left out
(``pip install autograd mygrad torch==2.13.0``). ``recorded`` is the engine with a trace being written;
``benchmarks/overhead.py`` has more of that.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from timing import medians_apart, one_thread

one_thread()

import peers  # noqa: E402 - after the number of threads is set
from workloads import WORKLOADS, Workload  # noqa: E402 - after the number of threads is set

import agdbg_engine as ag  # noqa: E402 - after the number of threads is set
from agdbg.engines import native  # noqa: E402 - after the number of threads is set
from agdbg.record import Recorder  # noqa: E402 - after the number of threads is set
from agdbg_engine import events  # noqa: E402 - after the number of threads is set

LONG, SHORT = 1_000_000, 100_000
GOALS = {"chain": 0.8, "wide": 0.8, "rnn": 0.65, "gru": 0.65, "mlp": 0.9}


def load_torch() -> Any:
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    return torch


def bytes_per_node(n: int = 5000) -> float:
    """Memory of a chain of products of 16-byte tensors, graph and saved tensors."""
    x = ag.tensor([1.0, 1.0, 1.0, 1.0], requires_grad=True)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    y = x
    for _ in range(n):
        y = y * x
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    del y
    return used / n


@contextlib.contextmanager
def recording() -> Iterator[events.Sink]:
    """What records the engine to a trace that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder) / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
        try:
            yield native.NativeSink(recorder)
        finally:
            recorder.close()


def recorded(step: Workload, sink: events.Sink) -> Workload:
    """``step`` with a trace being written."""

    def forward() -> Any:
        events.install(sink)
        return step.forward()

    def backward(root: Any) -> None:
        try:
            step.backward(root)
        finally:
            events.remove()

    return Workload(forward, backward)


def long_chain(chain: Workload) -> dict[str, float]:
    """Seconds of the processor to build, run backward and free a long chain once, garbage collector off."""
    gc.disable()
    marks = [time.thread_time()]
    root = chain.forward()
    marks.append(time.thread_time())
    chain.backward(root)
    marks.append(time.thread_time())
    del root
    marks.append(time.thread_time())
    gc.enable()
    return dict(zip(("build", "backward", "free"), (b - a for a, b in pairwise(marks)), strict=True))


def long_chains(torch: Any) -> dict[str, Any]:
    """The chain of a million on the engine, recorded, and on torch; of a tenth of it on the others, which take minutes for it."""
    result: dict[str, Any] = {}
    taken: dict[int, float] = {}
    for n in (SHORT, LONG):
        with recording() as sink:
            sides = {"agdbg_engine": big_graph(ag, n), "recorded": recorded(big_graph(ag, n), sink)}
            sides |= {"torch": big_graph(torch, n)} if torch else {}
            if n == SHORT:
                sides |= {peer: make(n) for peer, make in peers.installed(peers.CHAINS).items()}
            found = {side: long_chain(chain) for side, chain in sides.items()}
        taken[n] = sum(found["agdbg_engine"].values())
        for side, parts in found.items():
            result[f"chain of {n:,}, {side}"] = {k: round(v, 3) for k, v in parts.items()} | (
                {"/ torch": round(sum(parts.values()) / sum(found["torch"].values()), 2)} if torch else {}
            )
    result["time of 1,000,000 / 10 x time of 100,000"] = round(taken[LONG] / (10 * taken[SHORT]), 2)
    return result


def big_graph(T: Any, n: int = 20_000) -> Workload:
    """A chain of ``n`` products; 20,000 is the size where Python's garbage collector begins to matter."""
    x = T.tensor([1.0, 1.0], requires_grad=True)

    def forward() -> Any:
        y = x
        for _ in range(n):
            y = y * x
        return y.sum()

    def backward(root: Any) -> None:
        root.backward()
        x.grad = None

    return Workload(forward, backward)


def collected(torch: Any, rounds: int = 5) -> dict[str, float]:
    """Milliseconds of a chain of 20,000 with the default thresholds of the garbage collector and with ``tune_gc()``.

    With the default ones a collection of all objects of the process (torch's too) falls into every second or third step, so the
    median jumps between runs.
    """
    sides = {"agdbg_engine": big_graph(ag)} | ({"torch": big_graph(torch)} if torch else {})
    found = {}
    for gc_setting in ("default", "tune_gc"):
        with ag.tune_gc() if gc_setting == "tune_gc" else contextlib.nullcontext():
            took = medians_apart(sides, rounds)
        found[f"{gc_setting} ms"] = round(took["agdbg_engine"].total * 1e3, 1)
        if torch:
            found[f"{gc_setting} / torch"] = round(took["agdbg_engine"].total / took["torch"].total, 3)
    return found


def sides_of(name: str, torch: Any, sink: events.Sink) -> dict[str, Workload]:
    """The workload on everything that is installed."""
    sides = {"agdbg_engine": WORKLOADS[name](ag), "recorded": recorded(WORKLOADS[name](ag), sink)}
    sides |= {"torch": WORKLOADS[name](torch)} if torch else {}
    return sides | {peer: make(name) for peer, make in peers.installed(peers.PEERS).items()}


def compared(name: str, torch: Any, rounds: int) -> dict[str, Any]:
    """Milliseconds and ratios of one workload; the ratio to torch is what the goal is about."""
    with recording() as sink:
        took = medians_apart(sides_of(name, torch, sink), rounds)
    row: dict[str, Any] = {}
    for side, apart in took.items():
        row[side] = {k: round(v * 1e3, 3) for k, v in vars(apart).items()}
    if torch:
        base = took["torch"]
        for side, apart in took.items():
            row[side] |= {f"{k} / torch": round(v / vars(base)[k], 3) for k, v in vars(apart).items()}
        row["goal"] = GOALS[name]
    return row


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    torch = load_torch()
    result: dict[str, Any] = {"torch": getattr(torch, "__version__", None)}
    result["steps"] = {name: compared(name, torch, options.rounds) for name in WORKLOADS}
    result["bytes per node"] = round(bytes_per_node())
    result["chain of 20,000"] = collected(torch)
    result |= long_chains(torch)
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


def as_text(result: dict[str, Any]) -> str:
    lines = [
        f"{'ms':9s}{'':14s}{'forward':>9s}{'backward':>10s}{'total':>9s}"
        f"   of torch: {'fwd':>6s}{'bwd':>7s}{'total':>7s}{'goal':>6s}"
    ]
    for name, row in result["steps"].items():
        for side, took in row.items():
            if side == "goal":
                continue
            ratios = [took.get(f"{part} / torch", float("nan")) for part in ("forward", "backward", "total")]
            lines.append(
                f"{name:9s}{side:14s}{took['forward']:9.3f}{took['backward']:10.3f}{took['total']:9.3f}{'':13s}"
                f"{ratios[0]:7.3f}{ratios[1]:7.3f}{ratios[2]:7.3f}"
                + (f"{row['goal']:6.2f}" if side == "agdbg_engine" and "goal" in row else "")
            )
    lines += [f"{k}: {v}" for k, v in result.items() if k not in ("steps", "torch")]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
