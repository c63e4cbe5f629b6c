"""Seconds to draw big graphs as SVG, layout included, against Graphviz's `dot` where it is installed.

    python benchmarks/render.py [--sizes 10000 100000] [--rounds 3] [--dot-timeout 30] [--no-dot]

Every node is drawn (nothing is folded). Graphs are built before the clock starts; times are CPU seconds of
this process (`time.process_time`), the median of the rounds. `dot` gets the same graph as DOT text and is
stopped after the timeout; its time is wall time, the ratio is dot's seconds over ours. Then come ratios of
the largest size to the smallest, and what folding (the default for drawings) makes of the largest graphs.
"""

import argparse
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable

from agdbg.graph import samples
from agdbg.graph.collapse import collapse
from agdbg.graph.model import Graph
from agdbg.render.dot import DotRenderer
from agdbg.render.svg import SvgRenderer

GOALS = {10_000: 1.0, 100_000: 15.0}
GRAPHS: dict[str, Callable[[int], Graph]] = {
    "chain": samples.chain,
    "RNN": lambda size: samples.rnn(size // 9),
    "ResNet": lambda size: samples.resnet(int(size / 7.25)),
}


def main() -> None:
    options = _options()
    dot = None if options.no_dot else shutil.which("dot")
    print(f"dot: {'not asked' if options.no_dot else dot or 'not found'}")
    print(f"{'graph':<8}{'nodes':>9}{'edges':>9}{'seconds':>9}{'goal':>7}{'MB':>7}{'dot':>13}{'ratio':>8}")
    seconds = {}
    for name, make in GRAPHS.items():
        for size in options.sizes:
            graph = make(size)
            seconds[name, size] = taken = median(lambda graph=graph: SvgRenderer().render(graph), options.rounds)
            megabytes = len(SvgRenderer().render(graph)) / 1e6
            theirs, ratio = dot_columns(dot, graph, options.dot_timeout, taken)
            goal = f"{GOALS[size]:g}" if size in GOALS else "-"
            print(
                f"{name:<8}{len(graph.nodes):>9,}{len(graph.edges):>9,}{taken:>9.2f}{goal:>7}"
                f"{megabytes:>7.1f}{theirs:>13}{ratio:>8}",
                flush=True,
            )
    small, large = min(options.sizes), max(options.sizes)
    if small < large:
        print(f"\nlinearity: seconds at {large:,} over seconds at {small:,} ({large / small:g} is linear)")
        for name in GRAPHS:
            print(f"{name:<8}{seconds[name, large] / seconds[name, small]:.1f}")
    print_folded(large, options.rounds)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dot-timeout", type=float, default=30.0, help="seconds")
    parser.add_argument("--no-dot", action="store_true")
    return parser.parse_args()


def median(work: Callable[[], object], rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def dot_columns(dot: str | None, graph: Graph, timeout: float, ours: float) -> tuple[str, str]:
    """What `dot` took, as text, and how often that is our time."""
    if dot is None:
        return "-", "-"
    source = DotRenderer().render(graph)
    start = time.perf_counter()
    try:
        done = subprocess.run([dot, "-Tsvg"], input=source.encode(), capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return f"> {timeout:g}", f"> {timeout / ours:.0f}"
    if done.returncode:
        return f"failed ({done.returncode})", "-"
    taken = time.perf_counter() - start
    return f"{taken:.1f}", f"{taken / ours:.0f}"


def print_folded(size: int, rounds: int) -> None:
    print(f"\nfolded, {size:,} nodes: seconds to fold and draw, and boxes drawn")
    for name, make in GRAPHS.items():
        graph = make(size)
        taken = median(lambda graph=graph: SvgRenderer().render(collapse(graph)), rounds)
        print(f"{name:<8}{taken:.2f} s, {len(collapse(graph).nodes)} boxes")


if __name__ == "__main__":
    main()
