"""For all tests: with CI set, hypothesis draws the same examples every time; elsewhere it explores.

PyTorch and BLAS compute on one thread, here and in the programs that tests start: the tensors of tests are so small that threads
would do nothing but wait for each other, seven times as long as the computation takes.
"""

import gc
import os
import signal
import sys
import warnings

import pytest
from hypothesis import settings

for _threads in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
):  # read when they are imported, which they are later
    os.environ.setdefault(_threads, "1")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # by a shell without job control, for what it runs in the background
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # programs of tests are interrupted, too, and would inherit that

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "explore")


def pytest_collection_finish():
    """The tests themselves are nothing to look through each time that garbage is collected: they stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """What a test that failed could not close is collected with it: collected later, it would fail some other test as well."""
    failures = item.session.testsfailed
    result = yield
    if item.session.testsfailed > failures:
        for name in ("last_exc", "last_type", "last_value", "last_traceback"):  # pytest keeps them until the next test
            vars(sys).pop(name, None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
    return result
