"""The way to a GPU without one: what `scripts/gpu_check.sh` runs there, with `stand_in/cupy` in the place of CuPy.

Whether CuPy does what the strict device does is another question (docs/gpu.md); that the scripts and tests which only a machine with a
GPU runs are sound need not wait for one.
"""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TESTS = ["-m", "pytest", "-q", "--no-header", "-n", "0", "-p", "no:cacheprovider", "--tb=short", "-W", "default"]


def ran(*command, **more):
    places = [str(HERE / "stand_in"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), **more}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-8000:]}{done.stderr[-2000:]}"
    return done.stdout


def test_the_first_look():
    found = ran("scripts/gpu_smoke.py")
    assert found.endswith("all is well\n")
    assert "two devices" in found


def test_what_only_a_gpu_can_show():
    found = ran(
        *TESTS, "tests/gpu/test_on_gpu.py", "-k", "not suite and not ran_out"
    )  # memory of the host does not run out so
    assert "skipped" not in found


@pytest.mark.parametrize("file", ["test_device_semantics", "test_several_devices"])
def test_a_suite(file):
    """A few of the files that run there once more, with what is left out of them."""
    suites = {}
    source = (ROOT / "tests/gpu/test_on_gpu.py").read_text()
    exec(
        source[source.index("SUITES = {") : source.index('"""Files of tests for a device')], suites
    )  # it asks for a GPU itself
    left_out = suites["SUITES"][f"tests/engine/{file}.py"]
    found = ran(*TESTS, f"tests/engine/{file}.py", "-k", left_out, AGDBG_TEST_DEVICE="cuda")
    assert "passed" in found


def test_the_benchmark_says_what_it_lacks():
    """PyTorch for the CPU has no card to compare with."""
    torch = pytest.importorskip("torch", reason="the benchmark compares with it")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU for it")
    lacks = (
        "RuntimeError: Found no NVIDIA driver" if torch.version.cuda else "AssertionError: Torch not compiled with CUDA"
    )
    with pytest.raises(AssertionError, match=f"nothing to measure: {lacks}"):
        ran("benchmarks/gpu.py")


def wheel_of(folder):
    """A wheel of two packages that cannot be imported; the error says where ``agdbg`` is from."""
    info = "agdbg-0.dist-info"
    content = {
        "agdbg/__init__.py": "raise ImportError(f'agdbg is from {__file__}')\n",
        "agdbg_engine/__init__.py": "import agdbg\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: agdbg\nVersion: 0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }  # fmt: skip
    content[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*content, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / "agdbg-0-py3-none-any.whl", "w") as wheel:
        for name, text in content.items():
            wheel.writestr(name, text)


def test_the_wheel_is_what_is_tested(tmp_path):
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    wheel_of(wheels)
    report = tmp_path / "report.txt"
    subprocess.run(
        ["bash", "scripts/gpu_check.sh", "--wheels", str(wheels), str(report)], cwd=ROOT, timeout=400, check=False, capture_output=True,
        env={**os.environ, "PYTHON": sys.executable, "SECONDS_ALLOWED": "400"},
    )  # fmt: skip
    found = report.read_text()
    place = re.search(r"^tested: agdbg from (.*)/agdbg, agdbg_engine from \1/agdbg_engine$", found, re.MULTILINE)[1]
    assert not ROOT.is_relative_to(place)
    for part in ("First look", "Tests: not suite", "Tests: suite"):
        assert f"agdbg is from {place}/agdbg/" in found.split(f"## {part}\n")[1].split("exit status")[0], part
