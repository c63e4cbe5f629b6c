"""Helpers of the engine's tests: test files cannot import each other, so shared modules are loaded here by name."""

import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


STANDS_FOR = {"strict_device": "cuda_device"} if os.environ.get("AGDBG_TEST_DEVICE") == "cuda" else {}
"""On a machine with a GPU the tests of devices may run on it: see ``tests/gpu``."""


def _load(name):
    """Load a helper module that lies beside this file; tests import it as ``agdbg_tests_<name>``."""
    if f"agdbg_tests_{name}" in sys.modules:
        return sys.modules[f"agdbg_tests_{name}"]
    spec = importlib.util.spec_from_file_location(f"agdbg_tests_{name}", HERE / f"{STANDS_FOR.get(name, name)}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


for _name in (
    "differential",
    "told_events",
    "random_programs",
    "op_samples",
    "cupy_api",
    "strict_streams",
    "strict_words",
    "strict_refusals",
    "strict_manners",
    "strict_device",
    "forward_tools",
    "differences_calls",
    "differences_numbers",
    "differences_views",
    "together",
    "function_programs",
    "functions_with_jvp",
    "view_programs",
    "examples",
    "journal_walks",
    "warm_pytest",
):
    _load(_name)
if importlib.util.find_spec("torch"):
    _load("fragments")
for _path in sorted(HERE.glob("differential_programs*.py")):  # the first one is what the others import
    _load(_path.stem)


def pytest_runtest_setup():
    """What the strict device refused in the test before is not this one's."""
    sys.modules["agdbg_tests_strict_refusals"].refusals.clear()


if STANDS_FOR:
    import pytest

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call():
        """Skip what asks for a second GPU where there is one."""
        try:
            return (yield)
        except RuntimeError as error:
            if "invalid device ordinal" in str(error) and "of 1 device(s)" in str(error):
                pytest.skip("there is one GPU")
            raise


if os.environ.get("AGDBG_TEST_DEFAULT"):  # every tensor on the strict device
    _load("on_device").install()
    from agdbg_tests_on_device import nothing_refused, pytest_collection_modifyitems  # noqa: F401  # pytest finds them here
