"""What recording costs: the same training step plain, with a sink that does nothing, recorded to a trace, and recorded
under a debugger that looks out for errors ahead but has no reason to stop ("watched"); prints ratios.

python benchmarks/overhead.py [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timing import medians, one_thread

one_thread()

from workloads import WORKLOADS, gru, small  # noqa: E402 - after the number of threads is set

import agdbg_engine as ag  # noqa: E402 - after the number of threads is set
from agdbg.agent.agent import Agent  # noqa: E402 - after the number of threads is set
from agdbg.agent.control import ControlWriter, Settings  # noqa: E402 - after the number of threads is set
from agdbg.engines import native  # noqa: E402 - after the number of threads is set
from agdbg.engines.native_driver import Driver  # noqa: E402 - after the number of threads is set
from agdbg.record import Recorder, Trace  # noqa: E402 - after the number of threads is set
from agdbg_engine import events  # noqa: E402 - after the number of threads is set
from engine import load_torch  # noqa: E402 - after the number of threads is set

RECORD_BYTES = 64
GOALS = {"gru": "<= 1.4 x plain and <= 1.0 x torch"}


def with_sink(step: Callable[[], None], sink: events.Sink) -> Callable[[], None]:
    """``step`` with an instrument listening."""

    def run() -> None:
        events.install(sink)
        try:
            step()
        finally:
            events.remove()

    return run


def watched_sink(folder: Path) -> events.Sink:
    """A sink that records and obeys a hub with the filters that are on by default."""
    folder.mkdir()
    control = ControlWriter(folder / "control")
    control.publish(Settings(exceptions=["backward-twice", "inplace-modified"]))
    recorder = Recorder(folder / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    sink = native.NativeSink(recorder)
    sink.obey(Driver(Agent(folder), sink))
    return sink


def measure(
    name: str, make: Callable[[Any], Callable[[], None]], torch: Any, rounds: int, folder: Path
) -> dict[str, Any]:
    recorder = Recorder(folder / name, program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    step = make(ag)
    sides = {"plain": step, "idle sink": with_sink(step, events.Sink())}
    sides["recorded"] = with_sink(make(ag), native.NativeSink(recorder))
    if torch:
        sides["torch"] = make(torch)
    sides["watched"] = with_sink(make(ag), watched_sink(folder / f"{name}-watched"))
    took = medians(sides, rounds)
    recorder.close()
    trace = Trace.open(recorder.path)
    row = {
        "plain ms": round(took["plain"] * 1e3, 3),
        "idle sink / plain": round(took["idle sink"] / took["plain"], 3),
        "recorded / plain": round(took["recorded"] / took["plain"], 3),
        "watched / recorded": round(took["watched"] / took["recorded"], 3),
        "trace bytes / step": round(len(trace.records) * RECORD_BYTES / (1 + 2 * rounds)),
    }
    if torch:
        row["recorded / torch"] = round(took["recorded"] / took["torch"], 3)
    return row


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    torch = load_torch()
    folder = Path(tempfile.mkdtemp(prefix="agdbg-overhead-"))
    try:
        workloads = {**WORKLOADS, "gru200": lambda T: gru(T, 200), "small": small}
        result = {n: measure(n, make, torch, options.rounds, folder) for n, make in workloads.items()}
    finally:
        shutil.rmtree(folder)
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


def as_text(result: dict[str, dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(k for row in result.values() for k in row))
    lines = [f"{'workload':10s}" + "".join(f"{c:>20s}" for c in columns)]
    lines += [f"{n:10s}" + "".join(f"{row.get(c, float('nan')):20}" for c in columns) for n, row in result.items()]
    return "\n".join([*lines, *(f"goal for {n}: recorded {g}" for n, g in GOALS.items())])


if __name__ == "__main__":
    sys.exit(main())
