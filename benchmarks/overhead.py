"""What recording costs: the same training step plain, with a sink that does nothing, recorded to a trace, recorded under a
debugger that looks out for errors ahead but has no reason to stop ("watched"), and armed with a breakpoint on a name that never
comes, with a condition on every multiplication, and with the filters ``nan`` and ``inf``; prints ratios. "imported" is the step
with agdbg imported and off (imported.py).

python benchmarks/overhead.py [--rounds N] [--json] [--also | --stops]
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timing import medians, one_thread

one_thread()

from workloads import WORKLOADS, gpt, gru, small  # noqa: E402 - after the number of threads is set

import agdbg_engine as ag  # noqa: E402 - after the number of threads is set
from agdbg.agent.agent import Agent  # noqa: E402 - after the number of threads is set
from agdbg.agent.control import (  # noqa: E402 - after the number of threads is set
    ControlWriter,
    EventStop,
    FunctionStop,
    Settings,
    SourceStop,
    WatchStop,
)
from agdbg.engines import native  # noqa: E402 - after the number of threads is set
from agdbg.engines.native_deep import DeepSink  # noqa: E402 - after the number of threads is set
from agdbg.engines.native_driver import Driver  # noqa: E402 - after the number of threads is set
from agdbg.extras import EXTRAS  # noqa: E402 - after the number of threads is set
from agdbg.record import Recorder, Trace  # noqa: E402 - after the number of threads is set
from agdbg_engine import events  # noqa: E402 - after the number of threads is set
from engine import load_torch  # noqa: E402 - after the number of threads is set

RECORD_BYTES = 64
GOALS = {
    "gru200": "recorded <= 1.4 x plain and <= 1.0 x torch, armed <= 2 x plain",
    "gpt": "recorded <= 1.2 x plain",
    "all": "imported <= 1.02 x plain",
}


def with_sink(step: Callable[[], None], sink: events.Sink) -> Callable[[], None]:
    """``step`` with an instrument listening."""

    def run() -> None:
        events.install(sink)
        try:
            step()
        finally:
            events.remove()

    return run


ON_BY_DEFAULT = Settings(exceptions=["backward-twice", "inplace-modified"])

ARMED = NAME, CONDITION, VALUES = "name", "condition", "nan, inf"
"""Those that are printed without ``--stops`` too."""

STOPS = {
    NAME: Settings(functions=[FunctionStop(1, "Nothing*")]),
    "line": Settings(sources=[SourceStop(1, __file__, 1)]),
    CONDITION: Settings(functions=[FunctionStop(1, "MulBackward0", condition="step < 0")]),
    "on the node": Settings(functions=[FunctionStop(1, "MulBackward0", condition="node.seq < 0")]),
    "evaluated": Settings(functions=[FunctionStop(1, "MulBackward0", condition="node.arity > 9")]),
    "on a gradient": Settings(functions=[FunctionStop(1, "MulBackward0", "backward", condition="grad.norm() > 1e9")]),
    "event": Settings(events=[EventStop(1, "version-bump", condition="step < 0")]),
    VALUES: Settings(exceptions=["nan", "inf"]),
    "watch": Settings(watches=[WatchStop(1, name="*", condition="event.silent")]),
}
"""Breakpoints and the like that never stop, by what is printed of them.

The first condition is answered before a pass, the next one early at every multiplication; the two after it are evaluated there."""


class Alone(Agent):
    """An agent without a hub, which goes on all the same."""

    def tell(self, message: dict[str, Any], thread: int) -> None:
        """Nobody is there."""


def watched_sink(folder: Path, settings: Settings = ON_BY_DEFAULT) -> native.NativeSink:
    """A sink that records and obeys a hub, which wants by default the filters that are on from the start."""
    folder.mkdir()
    control = ControlWriter(folder / "control")
    control.publish(settings)
    recorder = Recorder(folder / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    sink = native.NativeSink(recorder)
    sink.obey(Driver(Alone(folder), sink))
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
    watched = {"watched": watched_sink(folder / f"{name}-watched")}
    watched |= {armed: watched_sink(folder / f"{name}-armed{i}", STOPS[armed]) for i, armed in enumerate(ARMED)}
    sides |= {side: with_sink(make(ag), sink) for side, sink in watched.items()}
    took = medians(sides, rounds)
    for each in (recorder, *(sink.recorder for sink in watched.values())):
        each.close()
    trace = Trace.open(recorder.path)
    row = {
        "plain ms": round(took["plain"] * 1e3, 3),
        "idle sink / plain": round(took["idle sink"] / took["plain"], 3),
        "recorded / plain": round(took["recorded"] / took["plain"], 3),
        "watched / recorded": round(took["watched"] / took["recorded"], 3),
        **{f"{armed} / plain": round(took[armed] / took["plain"], 3) for armed in ARMED},
        "trace bytes / step": round(len(trace.records) * RECORD_BYTES / (1 + 2 * rounds)),
    }
    if torch:
        row["recorded / torch"] = round(took["recorded"] / took["torch"], 3)
    return row


def measure_extras(name: str, make: Callable[[Any], Callable[[], None]], rounds: int, folder: Path) -> dict[str, Any]:
    """What a step takes with each of the extras, in steps without agdbg."""
    recorders = {
        also: Recorder(folder / f"{name}-{also}", program={}, engine={}, sees=native.sees([also])) for also in EXTRAS
    }
    sides = {also: with_sink(make(ag), DeepSink(recorder, [also])) for also, recorder in recorders.items()}
    took = medians({"plain": make(ag), **sides}, rounds)
    for recorder in recorders.values():
        recorder.close()
    return {f"{also} / plain": round(took[also] / took["plain"], 3) for also in EXTRAS}


def measure_stops(name: str, make: Callable[[Any], Callable[[], None]], rounds: int, folder: Path) -> dict[str, Any]:
    """What a step takes while something is armed that does not stop it, in steps without agdbg."""
    found = {}
    for i, (stop, settings) in enumerate(STOPS.items()):
        gc.collect()  # a watch of all parameters is one of those of models that are gone but not collected, too
        sink = watched_sink(folder / f"{name}-{i}", settings)
        took = medians({"plain": make(ag), stop: with_sink(make(ag), sink)}, rounds)
        sink.recorder.close()
        found[f"{stop} / plain"] = round(took[stop] / took["plain"], 3)
    return found


def measure_imported(rounds: int) -> dict[str, float]:
    """What a step takes with agdbg imported and off, in a process of its own, in steps without it."""
    script = Path(__file__).with_name("imported.py")
    told = subprocess.run(
        [sys.executable, str(script), "--rounds", str(rounds)], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(told.stdout)
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--also", action="store_true", help="measure what is recorded only on request, each by itself")
    parser.add_argument(
        "--stops", action="store_true", help="measure breakpoints, filters and watches that do not stop"
    )
    options = parser.parse_args(argv)
    torch = load_torch()
    folder = Path(tempfile.mkdtemp(prefix="agdbg-overhead-"))
    try:
        workloads = {**WORKLOADS, "gru200": lambda T: gru(T, 200), "gpt": gpt, "small": small}
        if options.also:
            result = {n: measure_extras(n, make, options.rounds, folder) for n, make in workloads.items()}
        elif options.stops:
            result = {n: measure_stops(n, make, options.rounds, folder) for n, make in workloads.items()}
        else:
            imported = measure_imported(options.rounds)
            result = {n: measure(n, make, torch, options.rounds, folder) for n, make in workloads.items()}
            result = {n: {"imported / plain": imported[n], **row} for n, row in result.items()}
    finally:
        shutil.rmtree(folder)
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


def as_text(result: dict[str, dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(k for row in result.values() for k in row))
    lines = [f"{'workload':10s}" + "".join(f"{c:>20s}" for c in columns)]
    lines += [f"{n:10s}" + "".join(f"{row.get(c, float('nan')):20}" for c in columns) for n, row in result.items()]
    return "\n".join([*lines, *(f"goal for {n}: {g}" for n, g in GOALS.items())])


if __name__ == "__main__":
    sys.exit(main())
