"""Run the project's checks with the interpreter that runs this file: `python scripts/check.py [STEP ...]`.

Each step is one command. All the steps run even after one of them failed, so that one run tells everything;
the exit status is 1 when any failed. The Makefile and `scripts/test.py` get their commands from here, so they
cannot drift apart.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import command

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable

_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
#: A worker has half a gigabyte, and so there are not as many as a big machine has cores.
_ENGINE_WORKERS = str(min(max(_CORES, 2), 8))
#: One of the debugger's waits for the programs that it starts, and so there are more of them than cores.
_DEBUGGER_WORKERS = str(min(max(_CORES + 2, 4), 10))

# import-linter has no `python -m` form; this is what its `lint-imports` script runs.
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"

STEPS: dict[str, list[str]] = {
    "format-check": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "lint": [PYTHON, "-m", "ruff", "check", "."],
    "types": [PYTHON, "-m", "mypy"],
    "contracts": [PYTHON, "-c", LINT_IMPORTS],
    "generated": [PYTHON, "scripts/generate_ops.py", "--check"],
    "wheel": [PYTHON, "scripts/check_wheel.py"],
    "test-engine": [PYTHON, "-m", "pytest", "-n", _ENGINE_WORKERS, "tests/engine", "tests/ops", "tests/gpu"],
    # who is done early helps others
    "test-debugger": [
        PYTHON,
        "-m",
        "pytest",
        "-n",
        _DEBUGGER_WORKERS,
        "--dist",
        "worksteal",
        "tests/debugger",
        "tests/ui",
    ],
    "sizes": [PYTHON, "scripts/sizes.py"],
}


def main(argv: list[str] | None = None) -> int:
    """Run the named steps (default: all of them) and print one line for each at the end."""
    parser = argparse.ArgumentParser(description="Run the project's checks.")
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"some of: {', '.join(STEPS)} (default: all)")
    names = parser.parse_args(argv).steps or list(STEPS)
    unknown = [name for name in names if name not in STEPS]
    if unknown:
        parser.error(f"no step is called {', '.join(unknown)}; the steps are {', '.join(STEPS)}")
    try:
        with command.told_to_end():
            outcomes = {name: run_step(name) for name in names}
    except KeyboardInterrupt:
        print("scripts/check.py: interrupted", file=sys.stderr)
        return command.INTERRUPTED
    if len(outcomes) > 1:
        print_summary(outcomes)
    return int(any(status for status, _ in outcomes.values()))


def run_step(name: str) -> tuple[int, float]:
    """Run one step in the repository's root; return its exit status and the seconds it took."""
    print(f"\n== {name}", flush=True)
    started = time.monotonic()
    status = command.run(STEPS[name], ROOT, environment())
    return status, time.monotonic() - started


def environment() -> dict[str, str]:
    """The caller's, with compiled modules kept: the tests start some thousand programs, and each would compile anew."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def print_summary(outcomes: dict[str, tuple[int, float]]) -> None:
    """Print one line for each step that ran: its outcome and its seconds."""
    print("\n== summary")
    for name, (status, seconds) in outcomes.items():
        outcome = "ok" if status == 0 else f"FAILED (exit status {status})"
        print(f"{name:<13} {seconds:7.1f} s  {outcome}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
