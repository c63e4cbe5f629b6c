"""Helpers of the op tests, loaded by name where PyTorch is there: without it nothing of op_db can be read."""

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
HELPERS = ("op_db", "op_convert", "op_compare", "op_cases", "op_grads", "op_checks", "known")


def load():
    """Load the helpers; tests (and scripts/ops_report.py) import them as ``agdbg_tests_<name>``."""
    for name in HELPERS:
        if f"agdbg_tests_{name}" in sys.modules:
            continue
        spec = importlib.util.spec_from_file_location(f"agdbg_tests_{name}", HERE / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)


if importlib.util.find_spec("torch"):
    load()
