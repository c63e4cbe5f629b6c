"""Every op of PyTorch's list that the engine has: one test for each, which makes all checks; an op that is added is found by itself."""

import os

import pytest

pytest.importorskip("torch", reason="PyTorch is the reference here")

from agdbg_tests_known import KNOWN, unknown
from agdbg_tests_op_checks import CHECKS, WITHOUT, report
from agdbg_tests_op_db import present

SHOWN = 5
PRESENT = present()
MADE = ["device"] if os.environ.get("AGDBG_TEST_DEVICE") else list(CHECKS)
"""On a GPU nothing else is new."""


@pytest.mark.parametrize("name", PRESENT)
def test_same_as_torch(name):
    reports = [report(name, check) for check in MADE]
    told = [f"{r.check}: {f}" for r in reports for f in unknown(r)[:SHOWN]]
    assert not told, "\n".join(told)
    if not any(r.ran for r in reports):
        pytest.skip("; ".join({reason for r in reports for reason in r.skipped}) or "no samples")


def test_the_tables_of_differences_name_checks_and_ops_and_give_reasons():
    assert all(row.reason and row.check in CHECKS and row.op in PRESENT for row in KNOWN)
    assert all(reason and check in CHECKS and name in PRESENT for (name, check), reason in WITHOUT.items())
