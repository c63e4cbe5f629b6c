"""Forward and backward time of ops against torch, for a small, a medium and a large shape: prints ratios.

    python benchmarks/ops.py [--rounds N] [--op NAME ...] [--over RATIO] [--part I/N]

Both sides run in one process, one thread each, round by round in turn; below 1.0 is faster than torch eager. With ``--over``
only the rows are printed in which a ratio is above that; ``--part 2/5`` runs the second of five parts of them. Rows are those
written out in ``op_workloads*.py`` and one for each function of the op table that needs no other arguments than tensors; one
with a ratio above 3 is followed by the reason at the shapes where it is (``op_reasons.py``).
"""

from __future__ import annotations

import argparse
import fnmatch
from typing import Any

from timing import medians, one_thread

one_thread()

import numpy as np  # noqa: E402 - after the number of threads is set
from op_reasons import reasons  # noqa: E402 - after the number of threads is set
from op_workloads import SIZES, Case, cases  # noqa: E402 - after the number of threads is set
from op_workloads_table import cases as cases_of_table  # noqa: E402 - after the number of threads is set

import agdbg_engine as ag  # noqa: E402 - after the number of threads is set
import agdbg_engine.nn.functional  # noqa: E402 - after the number of threads is set
from engine import load_torch  # noqa: E402 - after the number of threads is set


def tensors(lib: Any, case: Case, size: int) -> list[Any]:
    """The operands of a case, the same numbers for every library."""
    rng = np.random.default_rng(0)
    made = []
    for shape in case.shapes[size]:
        values = rng.random(shape) * 0.8 + 0.1 if case.positive else rng.standard_normal(shape)
        made.append(lib.from_numpy(values.astype(np.float32)).requires_grad_())
    return made


def sides(case: Case, size: int, libraries: dict[str, Any]) -> dict[str, Any]:
    """Forward, and forward with backward, of every library."""
    made: dict[str, Any] = {}
    for name, lib in libraries.items():
        args, F = tensors(lib, case, size), lib.nn.functional

        def forward(lib: Any = lib, F: Any = F, args: Any = args) -> Any:
            return case.call(lib, F, *args)

        gradient = lib.ones_like(forward().detach())

        def both(forward: Any = forward, gradient: Any = gradient) -> None:
            out = forward()
            if out.requires_grad:
                out.backward(gradient)

        repeat = 20 if size == 0 else 1
        made[f"{name} forward"] = lambda f=forward, n=repeat: [f() for _ in range(n)]
        made[f"{name} both"] = lambda f=both, n=repeat: [f() for _ in range(n)]
    return made


def ratios(case: Case, size: int, torch: Any, rounds: int) -> tuple[float, float]:
    """Forward and backward of the engine against torch."""
    seconds = medians(sides(case, size, {"agdbg": ag, "torch": torch}), rounds=rounds)
    mine = seconds["agdbg both"] - seconds["agdbg forward"]
    theirs = seconds["torch both"] - seconds["torch forward"]
    noise = 0.05 * seconds["torch forward"]  # of a difference, where backward takes next to nothing
    return seconds["agdbg forward"] / seconds["torch forward"], max(mine, 0.0) / max(theirs, noise)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--op", nargs="*", default=["*"], help="names or patterns of names")
    parser.add_argument("--over", type=float, default=0.0, help="only rows with a ratio above this")
    parser.add_argument("--part", default="1/1", help="which part of how many")
    args = parser.parse_args()
    part, parts = (int(number) for number in args.part.split("/"))
    torch = load_torch()
    if torch is None:
        print("torch is not installed: pip install torch==2.13.0")
        return 1
    print(f"{'op':30}" + "".join(f"{s:>9} fwd bwd" for s in SIZES))
    written = list(cases())
    known = {case.name.split(".")[-1].partition("(")[0] for case in written}
    every = [*written, *cases_of_table(torch, ag, known)]
    for case in every[part - 1 :: parts]:
        if not any(fnmatch.fnmatchcase(case.name, p) for p in args.op):
            continue
        found = [ratios(case, size, torch, args.rounds) for size in range(len(SIZES))]
        if max(max(pair) for pair in found) > args.over:
            print(f"{case.name:30}" + "".join(f"   {f:6.2f}  {b:6.2f}" for f, b in found), flush=True)
            for line in reasons(case.name, found):
                print(f"    {line}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
