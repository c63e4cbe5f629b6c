"""The garbage collector's thresholds are the program's own until it asks for others."""

import gc
import subprocess
import sys

import pytest

import agdbg_engine as ag


@pytest.fixture(autouse=True)
def restored():
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


def test_as_a_context_the_former_thresholds_come_back(restored):
    with pytest.raises(KeyError), ag.tune_gc(1234):
        assert gc.get_threshold() == (1234, *restored[1:])
        raise KeyError
    assert gc.get_threshold() == restored


def test_as_a_call_it_stays(restored):
    ag.tune_gc()
    assert gc.get_threshold() == (50_000, *restored[1:])


def test_a_threshold_of_nothing_is_refused(restored):
    with pytest.raises(ValueError, match="at least 1, not 0"):
        ag.tune_gc(0)
    assert gc.get_threshold() == restored


def test_importing_the_engine_changes_nothing():
    code = "import gc; before = gc.get_threshold(); import agdbg_engine; assert gc.get_threshold() == before"
    subprocess.run([sys.executable, "-c", code], check=True)
