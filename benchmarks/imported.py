"""What it costs that agdbg is imported and does nothing: a training step before ``import agdbg`` and after it, in one process.

python benchmarks/imported.py [--rounds N] prints the ratios of the quickest steps as JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

from timing import one_thread

one_thread()

from workloads import WORKLOADS, gpt, gru, small  # noqa: E402 - after the number of threads is set

import agdbg_engine as ag  # noqa: E402 - after the number of threads is set


def quickest(steps: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Seconds of the quickest of so many steps of each."""
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):
        for name, step in steps.items():
            start = time.thread_time()
            step()
            best[name] = min(best[name], time.thread_time() - start)
    return best


def main() -> None:
    """Time, import, time again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    rounds: int = parser.parse_args().rounds
    makes = {**WORKLOADS, "gru200": lambda T: gru(T, 200), "gpt": gpt, "small": small}
    steps: dict[str, Callable[[], None]] = {name: make(ag) for name, make in makes.items()}
    quickest(steps, 3)
    before = quickest(steps, 2 * rounds)
    import agdbg  # that it is imported is what is measured
    import agdbg.engines.native  # noqa: F401 - with what records

    after = quickest(steps, 2 * rounds)
    print(json.dumps({name: round(after[name] / before[name], 3) for name in steps}))


if __name__ == "__main__":
    main()
