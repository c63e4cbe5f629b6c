"""An instrument that fails in any of its methods is dropped and told of once; the program's results stay what they were."""

import warnings

import numpy as np
import pytest
from agdbg_tests_fault_programs import PROGRAMS as MORE
from agdbg_tests_fault_programs import drive, stepped, training
from agdbg_tests_rare_programs import PROGRAMS as RARE

import agdbg_engine as ag
from agdbg.engines import native, native_birth, native_deep, native_runs
from agdbg.record import Facts, Recorder, Trace
from agdbg_engine import events

BY_HAND = {"node_undone", "gradient_replaced", "node_skipped", "saved_replaced", "graph_retained"}
"""What is told of a person who steps: a driver has to be there."""


PROGRAMS = {**RARE, **MORE}


def plain(value):
    """A result as what can be compared."""
    if isinstance(value, ag.Tensor):
        array = np.asarray(value.detach()._a)
        return array.dtype.str, array.shape, array.tobytes()
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


class Broken(events.Sink):
    """Counts what it is told, and raises when it is told of one thing for the nth time."""

    def __init__(self, method="", at=1, driver=None):
        self.calls = {}
        for name in events.METHODS:
            setattr(self, name, self.counted(name, method, at))
        self.driver = driver

    def counted(self, name, method, at):
        def told(*args):
            self.calls[name] = self.calls.get(name, 0) + 1
            if name == method and self.calls[name] == at:
                raise ArithmeticError(f"in {name}")

        return told


def watched(program, sink):
    """What a program gives while `sink` listens."""
    events.install(sink)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(program())
    finally:
        events.remove()


def guarded(inner):
    outer = events.guarded(inner)
    outer.driver = inner.driver
    return outer


@pytest.fixture(scope="module")
def told_by():
    """For every method: the programs in which the engine calls it, and how often."""
    found = {name: {} for name in events.METHODS}
    for name, program in PROGRAMS.items():
        sink = Broken()
        watched(program, sink)
        for method, count in sink.calls.items():
            found[method][name] = count
    sink = Broken(driver=drive)
    watched(stepped, sink)
    for method in BY_HAND:
        found[method] = {"stepped": sink.calls[method]}
    return found


def cases(told_by, method):
    """The first programs that come to a method, how often, and what they give when nobody fails."""
    assert told_by[method], f"no program here comes to {method}"
    for name in list(told_by[method])[:3]:
        driver = drive if method in BY_HAND else None
        program = stepped if method in BY_HAND else PROGRAMS[name]
        yield program, driver, told_by[method][name], watched(program, Broken(driver=driver))


def said_once(err):
    assert err.count("an instrument failed") == 1 and err.count("ArithmeticError: ") == 1, err


@pytest.mark.parametrize("method", events.METHODS)
def test_a_sink_that_raises(told_by, method, capfd):
    for program, driver, count, expected in cases(told_by, method):
        for at in sorted({1, 2, count} & set(range(1, count + 1))):
            sink = Broken(method, at, driver)
            assert watched(program, guarded(sink)) == expected
            said_once(capfd.readouterr().err)
            assert sink.calls[method] == at, "nothing is told to whom is dropped"


def recorded(program, path, driver, also=()):
    """What a program gives while it is recorded, and the trace."""
    recorder = Recorder(path, program={}, engine={"name": "agdbg_engine"}, sees=native.sees(also))
    native.attach(recorder, also=also)
    events.sink.driver = driver
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = plain(program())
    finally:
        native.detach()
        recorder.close()
    return result, Trace.open(path)


@pytest.mark.parametrize("also", [(), ("shapes", "values", "checksums")], ids=["plain", "deep"])
@pytest.mark.parametrize("method", events.METHODS)
def test_a_recorder_that_raises(told_by, method, also, capfd, monkeypatch, tmp_path):
    def broken(*args):
        raise ArithmeticError("broken")

    for number, (program, driver, _, expected) in enumerate(cases(told_by, method)):
        whole, _ = recorded(program, tmp_path / f"whole{number}", driver, also)
        with monkeypatch.context() as patch:
            if method == "node_born":  # which is written by a function for each class, and else in the general way
                patch.setattr(native, "birth_writer", broken)
                patch.setattr(native.NativeSink, "_born", broken)
            elif method == "node_ran":  # which is only called for runs that cannot be noted
                patch.setattr(native_runs.RunLog, "_write", broken)
                patch.setattr(native.NativeSink, method, broken)
            else:
                patch.setattr(native.NativeSink, method, broken)
            result, trace = recorded(program, tmp_path / f"broken{number}", driver, also)
        assert result == whole == expected
        said_once(capfd.readouterr().err)
        assert trace.meta["stopped"]["reason"] == "ArithmeticError: broken"
        assert Facts(trace).errors is not None and trace.problems == []


ASKED = {
    "log": (native_runs.RunLog, "__init__"),
    "writer": (native_birth, "_source"),
    "shapes": (native_deep.Shapes, "writer"),
    "watch": (native_deep._Gradients, "__init__"),
}


@pytest.mark.parametrize("part", ASKED)
def test_what_the_engine_asks_of_a_recorder_may_fail_too(part, capfd, monkeypatch, tmp_path):
    """Without its log it is dropped; where a node is written in another way, nobody need know; an extra is left out."""

    def broken(*args):
        raise ArithmeticError("broken")

    expected = watched(training, Broken())
    monkeypatch.setattr(*ASKED[part], broken)
    result, trace = recorded(training, tmp_path / "trace", None, ("shapes", "values"))
    err = capfd.readouterr().err
    assert result == expected
    assert trace.closed == (part != "log") and trace.problems == []
    if part == "log":
        said_once(err)
    else:
        left_out = "agdbg: some of shapes, values is not recorded: ArithmeticError: broken\n"
        assert err == ("" if part == "writer" else left_out)
        assert len(Facts(trace).node_ids) > 20
