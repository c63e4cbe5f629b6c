"""Speed and memory of the engine against torch: prints ratios.

    python benchmarks/engine.py [--rounds N] [--json]

Below 1.0 is faster than torch eager. Without torch only the engine's own figures are printed.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
import tracemalloc
from itertools import pairwise
from typing import Any

from timing import medians, one_thread

one_thread()

from workloads import WORKLOADS  # noqa: E402 - after the number of threads is set

import agdbg_engine as ag  # noqa: E402 - after the number of threads is set

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


def long_chain(n: int) -> dict[str, float]:
    """Seconds to build, run backward and free a chain of ``n`` ops, garbage collector off."""
    x = ag.tensor([1.0, 1.0], requires_grad=True)
    gc.disable()
    marks = [time.perf_counter()]
    y = x
    for _ in range(n):
        y = y * x
    marks.append(time.perf_counter())
    y.sum().backward()
    marks.append(time.perf_counter())
    del y
    marks.append(time.perf_counter())
    gc.enable()
    return dict(zip(("build", "backward", "free"), (b - a for a, b in pairwise(marks)), strict=True))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    torch = load_torch()
    result: dict[str, Any] = {"torch": getattr(torch, "__version__", None), "steps": {}}
    for name, make in WORKLOADS.items():
        sides = {"agdbg_engine": make(ag)} | ({"torch": make(torch)} if torch else {})
        took = medians(sides, options.rounds)
        row = {f"{side} ms": round(s * 1e3, 3) for side, s in took.items()}
        if torch:
            row |= {"ratio": round(took["agdbg_engine"] / took["torch"], 3), "goal": GOALS[name]}
        result["steps"][name] = row
    result["bytes per node"] = round(bytes_per_node())
    short, long = long_chain(100_000), long_chain(1_000_000)
    result["chain of 1,000,000"] = {k: round(v, 3) for k, v in long.items()}
    result["time of 1,000,000 / 10 x time of 100,000"] = round(sum(long.values()) / (10 * sum(short.values())), 2)
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


def as_text(result: dict[str, Any]) -> str:
    lines = [f"{'workload':10s}{'engine ms':>11s}{'torch ms':>11s}{'ratio':>8s}{'goal':>7s}"]
    for name, row in result["steps"].items():
        torch_ms, ratio, goal = (row.get(k, float("nan")) for k in ("torch ms", "ratio", "goal"))
        lines.append(f"{name:10s}{row['agdbg_engine ms']:11.3f}{torch_ms:11.3f}{ratio:8.3f}{goal:7.2f}")
    lines += [f"{k}: {v}" for k, v in result.items() if k not in ("steps", "torch")]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
