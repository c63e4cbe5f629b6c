"""``scripts/cupy_check.py``: every kernel compiles and every name is there, where CuPy is installed; elsewhere it says what is missing."""

import importlib.util
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts/cupy_check.py"


def test_the_cupy_that_is_installed():
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=300)
    if importlib.util.find_spec("cupy") is None:
        assert done.returncode == 2
        assert done.stderr == "nothing to check: ModuleNotFoundError: No module named 'cupy'\n"
    else:
        assert done.returncode in (0, 2), done.stdout  # 2: CuPy without NVRTC


def test_every_formula_has_a_frame():
    spec = importlib.util.spec_from_file_location("cupy_check", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for formula in script.FUSED.values():
        name, source, _ = script.elementwise(formula, "float")
        assert f"void {name}(" in source
        for text in formula.inputs.split(", ") + formula.outputs.split(", "):
            assert f" of_{text.split()[1]}" in source
    assert len({name for name, _, options in script.raw_kernels("double")}) == 3 + len(script.ROWWISE)
