"""Errors of ops that carry no details are told to the sink, once, and those that do by `error` alone."""

import pytest

import agdbg_engine as ag
from agdbg_engine import events


class Told(events.Sink):
    def __init__(self):
        self.failed, self.errors = [], []

    def op_failed(self, error, code, lasti):
        self.failed.append((type(error).__name__, code.co_filename))

    def error(self, error, code, lasti):
        self.errors.append(error.details.kind)


@pytest.fixture
def sink():
    made = Told()
    events.install(made)
    yield made
    events.remove()


def test_an_error_without_details_is_told(sink):
    with pytest.raises(NotImplementedError, match="GeluKernelImpl"):
        ag.nn.functional.gelu(ag.tensor([1, 2]))
    assert sink.failed == [("NotImplementedError", __file__)]
    assert sink.errors == []


def test_an_error_with_details_is_told_by_them(sink):
    with pytest.raises(RuntimeError, match="must match the size"):
        ag.ones(2) + ag.ones(3)
    assert (sink.failed, sink.errors) == ([], ["shape"])


def test_a_sink_that_fails_there_changes_nothing():
    class Bad(events.Sink):
        def op_failed(self, error, code, lasti):
            raise ValueError("mine")

    events.install(events.guarded(Bad()))
    try:
        with pytest.raises(NotImplementedError, match="GeluKernelImpl"):
            ag.nn.functional.gelu(ag.tensor([1, 2]))
    finally:
        events.remove()


def test_without_a_sink_the_error_is_the_same():
    with pytest.raises(NotImplementedError, match="\"GeluKernelImpl\" not implemented for 'Long'"):
        ag.nn.functional.gelu(ag.tensor([1, 2]))
