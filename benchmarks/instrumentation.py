"""What the engine's instrumentation costs while nobody listens, in bytecode instructions: the same number on every machine.

    python benchmarks/instrumentation.py [--json]

One training step is run by the engine as it is and by a copy whose ops were generated without the test for a sink
(``scripts/generate_ops.py --bare``); every instruction of the engine's own code is counted. Prints the ratio; the goal is 1.02.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GOAL = 1.02


def count(name: str) -> int:
    """Bytecode instructions that one step of workload ``name`` executes inside the engine, after a first step."""
    from workloads import WORKLOADS

    import agdbg_engine as ag

    step = WORKLOADS[name](ag)
    step()
    package = str(Path(ag.__file__).parent)
    total = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal total
        if not frame.f_code.co_filename.startswith(package):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        total += event == "opcode"
        return trace

    sys.settrace(trace)
    step()
    sys.settrace(None)
    return total


def counts(engine: Path, names: list[str]) -> dict[str, int]:
    """:func:`count` by workload in a process of its own that imports the engine from ``engine``."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(engine), str(ROOT / "benchmarks")])}
    command = [sys.executable, __file__, "--count", *names]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    result: dict[str, int] = json.loads(done.stdout)
    return result


def bare_copy(folder: Path) -> Path:
    """A copy of the engine whose ops have no instrumentation."""
    shutil.copytree(ROOT / "engine", folder / "engine", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    bare = subprocess.run(
        [sys.executable, ROOT / "scripts" / "generate_ops.py", "--bare"], capture_output=True, text=True, check=True
    )
    (folder / "engine" / "agdbg_engine" / "ops" / "_generated.py").write_text(bare.stdout)
    return folder / "engine"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--count", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.count:
        print(json.dumps({name: count(name) for name in options.count}))
        return 0
    names = ["chain", "wide", "rnn", "gru"]
    with tempfile.TemporaryDirectory(prefix="agdbg-bare-") as folder:
        bare = counts(bare_copy(Path(folder)), names)
    ours = counts(ROOT / "engine", names)
    rows = {n: {"instructions": ours[n], "without": bare[n], "ratio": round(ours[n] / bare[n], 4)} for n in names}
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for name, row in rows.items():
            print(
                f"{name:8s}{row['instructions']:>10,} instructions, {row['without']:>10,} without: {row['ratio']:.4f} (goal {GOAL})"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
