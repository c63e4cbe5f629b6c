"""The checks of `scripts/gpu_smoke.py`: each passes on the strict device, so that what fails on a GPU is the GPU's."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import agdbg_tests_strict_device as strict
import pytest

from agdbg_engine import cuda
from agdbg_engine.cuda.devices import Devices
from agdbg_engine.cuda.memory import Memory

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
spec = importlib.util.spec_from_file_location("gpu_smoke_of_tests", SCRIPTS / "gpu_smoke.py")
smoke = importlib.util.module_from_spec(spec)
spec.loader.exec_module(smoke)

DEVICES, MEMORY = Devices(strict.BACKEND), Memory(strict.BACKEND, strict.BACKEND.peaks)
CUDA = SimpleNamespace(
    Stream=DEVICES.Stream, stream=DEVICES.stream, current_stream=DEVICES.current_stream, current_device=DEVICES.current_device,
    memory_allocated=MEMORY.memory_allocated, memory_summary=MEMORY.memory_summary, device_count=strict.BACKEND.count,
)  # fmt: skip
CHECKS = smoke.checks("strict", CUDA, strict.BACKEND)


@pytest.mark.parametrize("name", CHECKS)
def test_check(name, monkeypatch):
    monkeypatch.setattr(strict.BACKEND, "summing", True)
    monkeypatch.setattr(strict.BACKEND, "draws", True)
    with strict.allowed_host_reads():
        assert CHECKS[name]() is None


def test_a_failure_is_told_and_the_others_run(capsys):
    assert smoke.run({"bad": lambda: 1 / 0, "good": lambda: None, "left out": lambda: "one device"}) == 1
    bad, good, left = capsys.readouterr().out.splitlines()
    assert "FAILED at test_gpu_smoke.py" in bad and "ZeroDivisionError" in bad
    assert good.endswith("ok") and left.endswith("one device")


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu():
    done = subprocess.run(
        [sys.executable, SCRIPTS / "gpu_smoke.py"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("nothing to check: device cuda needs CuPy")
