"""The table of ops that `scripts/ops_report.py` writes: `docs/ops.json`, what the checks gave, and `docs/ops.md`, drawn from it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from agdbg_engine.missing import REASONS

COLUMNS = {
    "value": ("value", "reference", "promotion", "integers", "half", "layout", "method"),
    "gradient": ("gradient", "node", "differences"),
    "saved": ("saved",),
    "forward mode": ("forward",),
    "second order": ("second", "forward_over_reverse"),
    "in-place": ("inplace",),
    "out=": ("out",),
    "complex": ("complex", "complex_gradient"),
    "errors": ("errors",),
    "GPU": ("device",),
}
"""Columns, with the checks behind each."""

SAME, KNOWN, LACKING, NEITHER = "✓", "≠", "\N{EN DASH}", "·"
WORST_FIRST = (LACKING, KNOWN, SAME, NEITHER)

HEAD = f"""# Ops

Every op of PyTorch's own list (`op_db`, from which PyTorch generates its tests) that the engine has, compared with PyTorch on the
samples of that list. `python scripts/ops_report.py` writes this page; [adding-an-op.md](adding-an-op.md) says how an op is added.

| mark | meaning |
| --- | --- |
| {SAME} | the same as PyTorch on every sample |
| {KNOWN} | different on purpose; the last column says how, and a test tells when that is no longer so |
| {LACKING} | not there, or not the same |
| {NEITHER} | PyTorch does not have it: nothing to compare with (the engine has some of it, as forward mode of `grid_sample`) |

*value* is compared in float64, float32, float16, bool and all integers, with operands of several dtypes, with tensors in
any order of memory, for the method, and with NumPy or SciPy where the list names a function of theirs; *gradient* has the
names of the nodes, *saved* what they show of what they saved; *second order* has forward mode over a backward pass as well;
*complex* has value in complex128 and complex64 and gradient in complex128; *errors* has the type of the exception for wrong
arguments, and its first line but for the entries of `OTHER_WORDS` in `tests/ops/op_checks.py`.

*GPU* is not from a GPU, on which none of this has run: `tests/ops/op_device.py` runs every op on the strict device, an array
type with CuPy's manners that refuses hidden copies to the host. There {SAME} is value and gradient as on the CPU with
nothing read back, {KNOWN} the same but that numbers are read back for the reason in the last column, and {LACKING} refused
for that reason. [gpu.md](gpu.md) says what a GPU has yet to show.
"""


BFLOAT16 = """The package `ml_dtypes` has a bfloat16 for NumPy, which does not serve: its arrays add up in
bfloat16 (the sum of a thousand ones is 256), have no common dtype with integers and float16, and are refused by
`einsum` and the generators of random numbers. Every kernel would have to compute in float32 and round."""


NOT_HAD = {
    "_batch_norm_with_update _native_batch_norm_legit": "what PyTorch computes `batch_norm` by: use `nn.functional.batch_norm`",
    "_segment_reduce": "its public name is `segment_reduce`",
    "_softmax_backward_data max_pool2d_with_indices_backward": "the backward formula of `softmax` and of "
    "`max_pool2d` by itself, which `autograd.grad` gives",
    "_unsafe_masked_index _unsafe_masked_index_put_accumulate": "what PyTorch's compiler makes of an index and a mask: use both",
    "_upsample_bilinear2d_aa": "its public name is `nn.functional.interpolate` with `antialias=True`",
    "torch.ops.aten._*": "kernels by which PyTorch computes `nn.functional.scaled_dot_product_attention`",
    "bfloat16 chalf": "NumPy has no such dtype",
    "sparse.* to_sparse": "all tensors are dense here",
    "_chunk_cat": "a part of PyTorch's distributed training",
    "torch._scaled_mm*": "products of float8, which NumPy has not",
    "jiterator_*": "kernels written by the user: use `cupy.ElementwiseKernel`",
    "hash_tensor": "nothing but a checksum: use `hashlib` on `x.numpy()`",
}
"""The names of PyTorch's list that the engine has not, as patterns, and why."""


def not_had(db: Any) -> dict[str, list[str]]:
    """By reason the names that the engine has not; :class:`ValueError` for one without a reason."""
    found: dict[str, list[str]] = {}
    for name in sorted({op.name for op in db.OPS.values() if not db.has(op)}):
        whys = [why for patterns, why in NOT_HAD.items() if any(fnmatchcase(name, p) for p in patterns.split())]
        if not whys:
            raise ValueError(f"NOT_HAD in scripts/ops_table.py has no reason why the engine lacks {name}")
        found.setdefault(whys[0], []).append(name)
    return found


def measured(helper: Callable[[str], Any]) -> dict[str, Any]:
    """Run every check of every op that the engine has."""
    db, checks = helper("op_db"), helper("op_checks")
    present = db.present()
    rows: dict[str, dict[str, Any]] = {}
    for at, entry in enumerate(present):
        if sys.stderr.isatty():
            print(f"\r{at + 1} of {len(present)} {entry:60.60}", end="", file=sys.stderr)
        row = rows.setdefault(entry.partition(":")[0], {"remarks": []})
        for column, behind in COLUMNS.items():
            marks = [
                mark(checks.report(entry, check), row["remarks"], helper("known"), checks.WITHOUT) for check in behind
            ]
            row[column] = worst([row.get(column, NEITHER), *marks])
    return {
        "columns": list(COLUMNS),
        "counts": counts(db),
        "not had": not_had(db),
        "ops": {name: rows[name] for name in sorted(rows)},
    }


def mark(report: Any, remarks: list[str], known: Any, without: dict[tuple[str, str], str]) -> str:
    """The mark for one check of one entry; ``remarks`` gets what is to be said of it, ``without`` has why a form is lacking."""
    if known.unknown(report):
        remarks.append(
            f"{report.check} of {report.op}: {len({f.sample for f in known.unknown(report)})} of {report.ran} samples differ"
        )
        return LACKING
    if report.lacking:
        what = "GPU" if report.check == "device" else f"no {report.check}"
        remark = f"{what}: {without[report.op, report.check]}"
        remarks.extend([remark] * (remark not in remarks))
        return LACKING
    if report.failures:
        remarks.extend(r for r in known.reasons(report) if r not in remarks)
    return KNOWN if report.failures else SAME if report.ran else NEITHER


def worst(marks: list[str]) -> str:
    """The mark that says most against an op."""
    return min(marks, key=WORST_FIRST.index)


def counts(db: Any) -> dict[str, int]:
    """How many distinct names there are, and how many of them the engine has."""
    ops = list(db.OPS.values())
    derived = {op.name for op in ops if op.supports_autograd}
    have = {op.name for op in ops if db.has(op)}
    return {
        "names": len({op.name for op in ops}),
        "have": len(have),
        "derived": len(derived),
        "have derived": len(have & derived),
    }


def drawn(data: dict[str, Any]) -> str:
    """The page."""
    said = data["counts"]
    lines = [
        HEAD,
        f"The engine has {said['have derived']} of the {said['derived']} names that have a gradient in PyTorch,",
        f"and {said['have']} of all {said['names']}; why it lacks the others is said "
        "[below](#names-of-the-list-that-are-not-there).\n",
        f"| op | {' | '.join(data['columns'])} | remarks |",
        f"| --- |{' :-: |' * len(data['columns'])} --- |",
    ]
    for name, row in data["ops"].items():
        marks = " | ".join(row[column] for column in data["columns"])
        lines.append(f"| `{name}` | {marks} | {'; '.join(row['remarks'])} |")
    lines += ["\n## Names of the list that are not there\n", "| names | |", "| --- | --- |"]
    lines += [f"| {', '.join(f'`{n}`' for n in names)} | {why} |" for why, names in data["not had"].items()]
    lines += [
        "\n## What is not there\n",
        "A name that the engine lacks is an error of one line, which tells the reason, or the nearest name where one is near.\n",
    ]
    lines += ["| names | |", "| --- | --- |"]
    lines += [f"| {', '.join(f'`{p}`' for p in names.split())} | {why} |" for names, why in REASONS.items()]
    return "\n".join(lines) + f"\n\n{BFLOAT16}\n"


def write(root: Path, helper: Callable[[str], Any]) -> int:
    """Write both files; return the exit status."""
    data = measured(helper)
    (root / "docs" / "ops.json").write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    (root / "docs" / "ops.md").write_text(drawn(data), encoding="utf-8")
    lacking = sum(LACKING in row.values() for row in data["ops"].values())
    print(f"docs/ops.md: {len(data['ops'])} ops, {lacking} of them with something that is not there or not the same")
    return 0


def check(root: Path, helper: Callable[[str], Any]) -> int:
    """Tell what is stale without running an op; return the exit status."""
    found = stale(root, helper)
    for line in found:
        print(line)
    return int(bool(found))


def stale(root: Path, helper: Callable[[str], Any]) -> list[str]:
    """What of the two files no longer fits to the engine's ops, the columns, or the other file."""
    page, facts = root / "docs" / "ops.md", root / "docs" / "ops.json"
    if not (page.exists() and facts.exists()):
        return ["docs/ops.md: not written yet"]
    data, db = json.loads(facts.read_text(encoding="utf-8")), helper("op_db")
    have = {name.partition(":")[0] for name in db.present()}
    found = [f"docs/ops.json lacks {name}" for name in sorted(have - set(data["ops"]))]
    found += [f"docs/ops.json has {name}, which the engine has not" for name in sorted(set(data["ops"]) - have)]
    if data["columns"] != list(COLUMNS) or data["counts"] != counts(db) or data["not had"] != not_had(db):
        found.append("docs/ops.json has other columns, counts or reasons")
    if page.read_text(encoding="utf-8") != drawn(data):
        found.append("docs/ops.md is not what docs/ops.json gives")
    return found
