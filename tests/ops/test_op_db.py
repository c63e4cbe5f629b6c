"""Every op of PyTorch's list that the engine has, compared with PyTorch; an op that is added is found by itself."""

import pytest

pytest.importorskip("torch", reason="PyTorch is the reference here")

from agdbg_tests_known import KNOWN, unknown
from agdbg_tests_op_checks import CHECKS, report
from agdbg_tests_op_db import OPS, present

SHOWN = 5
PRESENT = present()
CASES = [(name, check) for name in PRESENT for check, row in CHECKS.items() if row.wanted(OPS[name])]


@pytest.mark.parametrize(("name", "check"), CASES, ids=[f"{name}-{check}" for name, check in CASES])
def test_same_as_torch(name, check):
    found = report(name, check)
    failures = unknown(found)
    told = "\n".join(map(str, failures[:SHOWN]))
    assert not failures, f"{name} {check}: {len(failures)} of {found.ran} samples differ\n{told}"
    if not found.ran:
        pytest.skip("; ".join(sorted(found.skipped)) or "no samples")


@pytest.mark.parametrize("row", [row for row in KNOWN if row.always], ids=lambda row: f"{row.op}-{row.check}")
def test_still_different_from_torch(row):
    assert row.op in PRESENT, "the engine does not have the op"
    assert any(map(row.covers, report(row.op, row.check).failures)), row.reason


def test_no_reason_is_empty_and_no_check_unknown():
    assert all(row.reason and row.check in CHECKS and row.op in OPS for row in KNOWN)
