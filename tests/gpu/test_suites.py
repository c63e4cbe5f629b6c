"""Every file of tests for a device is one that runs on a GPU too, or it is said here why not."""

import ast
from pathlib import Path

HERE = Path(__file__).parent
ENGINE = HERE.parent / "engine"
NOT_THERE = {
    "test_strict_device.py": "it is about the strict device itself",
    "test_device_streams.py": "it looks at what the strict device noted of its streams; on a GPU `test_on_gpu.py` uses real ones",
    "test_device_events.py": "it reads the strict device's clock; on a GPU `test_on_gpu.py` uses real events",
    "test_data_device.py": "its default device is a second one, and it counts the copies that the strict device makes",
    "test_load_locations.py": "it is about devices that are not there",
    "test_device_memory.py": "its figures are those of a device that is made up; on a GPU `test_on_gpu.py` asks CuPy",
    "test_device_launches.py": "it counts the calls that the strict device noted",
    "test_fused.py": "it compiles the kernels for the CPU; on a GPU `test_on_gpu.py` runs them",
    "test_rowwise.py": "it compiles the kernels for the CPU; on a GPU `test_on_gpu.py` runs them",
    "test_device_arguments.py": "it counts the reads that the strict device noted",
    "test_function_messages.py": "it is about the texts of errors, one of which names a device",
    "test_gpu_smoke.py": "the run has that script by itself",
    "test_device_summary.py": "it compiles the kernel for the CPU; on a GPU `test_on_gpu.py` runs it",
}


def test_every_file_of_tests_for_devices():
    tree = ast.parse((HERE / "test_on_gpu.py").read_text())
    suites = next(n.value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "SUITES")
    there = {Path(key.value).name for key in suites.keys}
    files = {
        p.name for p in ENGINE.glob("test_*.py") if "agdbg_tests_strict_device" in p.read_text() or "device" in p.name
    }
    assert files - there == set(NOT_THERE)
