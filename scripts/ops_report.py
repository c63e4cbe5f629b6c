"""What the engine has of PyTorch's list of ops, and how it compares: `python scripts/ops_report.py`.

Without options it runs every check of every op and writes `docs/ops.md` and `docs/ops.json`. `--check` tells, without
running any op, whether the two files fit together and to the list of ops that the engine has. `--missing` prints the ops
that it lacks. `--op NAME` runs the checks of one op and prints what differs: the loop in which ops are written.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 3


def helpers() -> None:
    """Load the helpers of tests/ops, which are then found as `agdbg_tests_<name>`."""
    spec = importlib.util.spec_from_file_location("agdbg_ops_conftest", ROOT / "tests" / "ops" / "conftest.py")
    assert spec and spec.loader
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def helper(name: str) -> Any:
    """One of the helpers."""
    return sys.modules[f"agdbg_tests_{name}"]


def main(argv: list[str] | None = None) -> int:
    """Do what the options say; the exit status is 1 when something differs."""
    parser = argparse.ArgumentParser(description="Compare the engine's ops with PyTorch's list of ops.")
    parser.add_argument("--op", action="append", metavar="NAME", help="run the checks of this op and its variants")
    parser.add_argument(
        "--check", nargs="?", const="", metavar="CHECK", help="with --op: this check only; alone: is the table stale?"
    )
    parser.add_argument("--missing", action="store_true", help="print the ops that the engine lacks")
    parser.add_argument("-v", "--verbose", action="store_true", help="all failures, with tracebacks and remarks")
    options = parser.parse_args(argv)
    if importlib.util.find_spec("torch") is None:
        parser.error("PyTorch is needed: pip install '.[torch]'")
    helpers()
    import torch

    torch.set_num_threads(1)  # the samples are small
    if options.op:
        outcomes = [run_op(name, options.check, options.verbose) for name in options.op]
        return int(any(outcomes))
    if options.missing:
        print_missing()
        return 0
    import ops_table

    return ops_table.check(ROOT, helper) if options.check is not None else ops_table.write(ROOT, helper)


def run_op(name: str, check: str | None, verbose: bool) -> bool:
    """Run the checks of an op and all its variants; whether any failed that is not known."""
    db, checks = helper("op_db"), helper("op_checks")
    entries = [entry for entry in db.OPS if name in (entry, entry.partition(":")[0])]
    if not entries:
        near = [entry for entry in db.OPS if name.rpartition(".")[2] in entry]
        print(f"{name}: not in op_db{'; there is ' + ', '.join(near) if near else ''}")
        return True
    if check and check not in checks.CHECKS:
        print(f"no check {check}: there are {', '.join(checks.CHECKS)}")
        return True
    failed = False
    for entry in entries:
        if not db.has(db.OPS[entry]):
            print(
                f"{entry}: the engine does not have it: no agdbg_engine.{db.OPS[entry].name} and no such method of Tensor"
            )
            failed = True
            continue
        for wanted in [check] if check else checks.CHECKS:
            failed |= show(checks.report(entry, wanted), verbose)
    return failed


def show(report: Any, verbose: bool) -> bool:
    """Print what a check gave; whether it failed."""
    unknown = helper("known").unknown(report)
    excused = len(report.failures) - len(unknown)
    word = "FAIL" if unknown else "ok  " if report.ran else "--  "
    skipped = "; ".join(f"{n} x {reason}" for reason, n in report.skipped.items())
    counts = f"{differing(unknown)} of {report.ran} samples differ" if unknown else f"{report.ran} samples"
    notes = [f"{excused} known to differ"] * bool(excused) + [f"{len(report.remarks)} messages differ"] * bool(
        report.remarks
    )
    print(
        f"{word} {report.op} {report.check}: {', '.join([counts, *notes])}{f'   [skipped: {skipped}]' if skipped else ''}"
    )
    for failure in unknown if verbose else unknown[:SHOWN]:
        print(f"  * {failure}")
        if failure.detail and (verbose or len(unknown) == 1):
            print("      " + failure.detail.rstrip().replace("\n", "\n      "))
    if len(unknown) > SHOWN and not verbose:
        print(f"    ... and {len(unknown) - SHOWN} more (-v shows all)")
    for remark in report.remarks if verbose else ():
        print(f"  - message: {remark}")
    return bool(unknown)


def differing(failures: list[Any]) -> int:
    """How many samples differ."""
    return len({failure.sample for failure in failures})


def internal(name: str) -> bool:
    """Whether an op of the list is no public function or method of PyTorch."""
    private = name.startswith("_") and not name.startswith("__")
    return private or name.startswith(("torch.", "jiterator_"))


def print_missing() -> None:
    """Print the names of the ops that the engine lacks by namespace, those that have a gradient first."""
    db = helper("op_db")
    lacking: dict[str, set[str]] = defaultdict(set)
    for op in db.OPS.values():
        if not db.has(op):
            space = "internal" if internal(op.name) else op.name.rpartition(".")[0] or "torch"
            lacking[space if op.supports_autograd else f"{space}, without gradient in torch"].add(op.name)
    for space in sorted(lacking):
        print(f"{space} ({len(lacking[space])})")
        print("   " + " ".join(sorted(lacking[space])))
    derived = {op.name for op in db.OPS.values() if op.supports_autograd}
    have = {op.name for op in db.OPS.values() if db.has(op)}
    print(
        f"present: {len(have & derived)} of {len(derived)} names that have a gradient in torch, {len(have)} names in all"
    )


if __name__ == "__main__":
    sys.exit(main())
