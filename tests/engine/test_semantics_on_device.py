"""The tests of what the engine means, once more with every tensor on the strict device: see ``on_device.py``."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GROUPS = {
    "backward": (
        "autograd_accumulation autograd_cases autograd_corners autograd_grad autograd_hooks autograd_inplace autograd_items autograd_modes "
        "autograd_order autograd_saved autograd_views backward_callbacks backward_inputs backward_validation anomaly"
    ),
    "threads": "autograd_threads backward_reentrant",
    "programs": "differential_programs",
    "forward": "forward_levels forward_nested forward_views func_transforms inference_mode higher_faults",
    "functions": (
        "function_basic function_errors function_forward function_higher function_marks function_saved function_views checkpoint"
    ),
    "hooks": "hooks_faults hooks_module hooks_multi hooks_tensor interventions journal",
    "saved": "saved_faults saved_hooks saved_mutation saved_raw",
    "views": "views_creation views_faults inplace_out rare_writes assigned_items",
}
"""Files, without ``test_`` and ``.py``, that one process runs."""


@pytest.mark.parametrize("group", GROUPS)
def test_on_the_strict_device(group):
    files = [str(HERE / f"test_{name}.py") for name in GROUPS[group].split()]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "--tb=short",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        *files,
    ]
    environment = {**os.environ, "AGDBG_TEST_DEFAULT": "strict"}
    done = subprocess.run(command, env=environment, cwd=HERE.parents[1], capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, f"{done.stdout[-12_000:]}{done.stderr[-2000:]}"
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 30
