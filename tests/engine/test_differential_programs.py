"""The programs of differential_programs*.py do the same on PyTorch and on the engine, but for the differences listed here."""

import pytest
from agdbg_tests_differential import differences
from agdbg_tests_differential_programs import PROGRAMS, observed
from agdbg_tests_forward_tools import pytorch

import agdbg_engine

DIFFERENT = {}
"""Programs that differ, and why they may."""


@pytest.fixture(scope="module")
def torch():
    return pytorch()


def found(program, torch):
    return list(differences(observed(program, torch), observed(program, agdbg_engine)))


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in DIFFERENT])
def test_same_as_torch(name, torch):
    assert not found(PROGRAMS[name], torch)


@pytest.mark.parametrize("name", DIFFERENT)
def test_still_different_from_torch(name, torch):
    assert found(PROGRAMS[name], torch), DIFFERENT[name]


def test_there_are_a_few_hundred():
    assert len(PROGRAMS) >= 300
    assert len({name.partition("/")[0] for name in PROGRAMS}) == 10
