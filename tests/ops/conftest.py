"""Helpers of the op tests, loaded by name where PyTorch is there: without it nothing of op_db can be read."""

import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
HELPERS = (
    "ops/dtype_grid", "engine/cupy_api", "engine/strict_streams", "engine/strict_words", "engine/strict_refusals", "engine/strict_manners",
    "engine/strict_device",
    "ops/op_db", "ops/op_convert", "ops/op_compare", "ops/op_cases", "ops/op_grads", "ops/op_saved", "ops/op_device",
    "ops/op_checks", "ops/known_fields", "ops/known",
)  # fmt: skip
"""In the order in which they import each other; the strict device is that of the engine's tests."""

STANDS_FOR = {"engine/strict_device": "engine/cuda_device"} if os.environ.get("AGDBG_TEST_DEVICE") == "cuda" else {}
"""On a machine with a GPU the tests of devices may run on it: see ``tests/gpu``."""


def load():
    """Load the helpers; tests (and scripts/ops_report.py) import them as ``agdbg_tests_<name>``."""
    for path in HELPERS:
        name = path.partition("/")[2]
        if f"agdbg_tests_{name}" in sys.modules:
            continue
        spec = importlib.util.spec_from_file_location(
            f"agdbg_tests_{name}", HERE.parent / f"{STANDS_FOR.get(path, path)}.py"
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)


if importlib.util.find_spec("torch"):
    load()
