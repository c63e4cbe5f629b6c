"""The time for which a thread stands at a stop is none that its nodes, passes and hooks took."""

import contextlib
import itertools

import pytest
from agdbg_tests_scripted_agent import stepped

import agdbg_engine as ag
from agdbg.agent.control import EventStop, FunctionStop, Settings
from agdbg.engines import native_pdb, native_standing
from agdbg.queries.events import QUERIES
from agdbg.record import Trace
from agdbg.record.hooked import hooks as hooks_of
from agdbg.record.query import Facts
from agdbg_engine import backward, events
from agdbg_engine.hooks import firing, multi
from agdbg_engine.nn import module_backward, module_hooks

HOUR = 3600 * 10**9


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by a microsecond when it is read, and by as much as is sent to it."""

    class Clock:
        now = 10**15

        def read(self):
            self.now += 1000
            return self.now

    clock = Clock()
    for module in (backward, firing, multi, module_backward, module_hooks, native_standing):
        monkeypatch.setattr(module, "perf_counter_ns", clock.read)
    monkeypatch.setattr(events.time, "perf_counter_ns", clock.read)
    monkeypatch.setattr("agdbg.record.writer.perf_counter_ns", clock.read)
    return clock


def durations(clock, settings, moves, program):
    """Of each node that ran, of each pass and of each hook how long it took, of a program whose stops stand for an hour each, and how many."""
    with stepped(settings, moves[::-1]) as (agent, trace):
        stop = agent.stop

        def stood(scene, thread):
            clock.now += HOUR
            return stop(scene, thread)

        agent.stop = stood
        with contextlib.suppress(ZeroDivisionError):
            program()
        agent.recorder.flush()
        facts = Facts(Trace.open(trace))
        runs = [run.duration_ns for found in facts.passes for run in facts.runs(found.id)]
        hooks = [hook.ns for hook in hooks_of(facts) if hook.what == "fired"]
        (passes,) = [each for each in QUERIES if each.name == "passes"]
        runs += [round(row[5] * 1e6) for row in passes.ask(facts, 0).rows]
        return runs, hooks, len(agent.stops)


def hooked(hook=lambda g: g * 2):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp() * 3
    y.register_hook(hook)
    return y.sum()


def inner(g):
    with ag.enable_grad():
        ag.tensor([1.0], requires_grad=True).sin().sum().backward()


class Through(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        inner(g)
        return g


def through():
    y = ag.tensor([1.0], requires_grad=True)
    for i in range(60):
        y = Through.apply(y) if i == 30 else y * 1
    y.backward()


def twice():
    x = ag.tensor([1.0], requires_grad=True)
    y = x
    for _ in range(60):
        y = y * 1
    y = y * ag.tensor([1.0], requires_grad=True)  # the write to its gradient is in the beginning of the second pass
    y.backward(retain_graph=True)
    y.backward()


def of_a_module():
    layer = ag.nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda m, i, o: inner(o))
    layer(ag.ones(1, 2, requires_grad=True)).sum().backward()


ON_SIN = Settings(functions=[FunctionStop(1, name="SinBackward0", when="backward")])
CASES = {
    "parts of a node": (Settings(entry=True), ["in"] * 12, lambda: hooked().backward(), 8),
    "a pass within a hook": (ON_SIN, ["next"] * 3, lambda: hooked(inner).backward(), 3),
    "a pass within a function": (ON_SIN, ["next"] * 2, through, 2),
    "a write in the middle of many": (Settings(events=[EventStop(1, kind="version-bump")]), [], twice, 2),
    "a hook of a module": (ON_SIN, [], of_a_module, 1),
    "an error in a node": (Settings(exceptions=["any"]), [], lambda: hooked(lambda g: 1 / 0).backward(), 1),
}


@pytest.mark.parametrize("case", CASES)
def test_the_time_at_a_stop_is_not_told(clock, case):
    settings, moves, program, least = CASES[case]
    runs, hooks, stops = durations(clock, settings, moves, program)
    assert stops >= least and runs
    assert 0 < min(runs) and max(runs) < HOUR
    assert all(0 < took < HOUR for took in hooks)


def test_times_of_programs_that_do_not_stop_are_those_of_the_clock(clock):
    runs, hooks, stops = durations(
        clock, Settings(), [], lambda: hooked(lambda g: setattr(clock, "now", clock.now + HOUR)).backward()
    )
    assert not stops and max(runs) > HOUR and max(hooks) == HOUR


def test_a_thread_stands_for_itself(clock):
    threads = itertools.cycle([1])
    standing = native_standing.Standing(lambda: next(threads))
    began = clock.read()
    for _ in range(3):
        with standing.here():
            clock.now += HOUR
    middle = clock.read()
    with standing.here(), standing.here():
        clock.now += HOUR
    assert 1 in standing and 2 not in standing
    assert [
        round(standing.within(1, *each) / HOUR) for each in ((began, clock.now), (began, middle), (middle, clock.now))
    ] == [4, 3, 1]
    assert standing.within(2, began, clock.now) == standing.within(1, clock.now, clock.now + HOUR) == 0


def test_the_time_at_the_prompt_of_pdb_is_not_told(clock, monkeypatch):
    stood = []

    def interaction(self, intro=None):
        clock.now += HOUR
        stood.append(1)
        self.do_continue("")

    monkeypatch.setattr(native_pdb.pdb.Pdb, "cmdloop", interaction)
    settings = Settings(functions=[FunctionStop(1, name="MulBackward0", when="backward")])
    runs, hooks, _ = durations(clock, settings, ["pdb"], lambda: hooked(lambda g: g * 2).backward())
    assert stood and max(runs) < HOUR and max(hooks) < HOUR
