"""A trace with records of every kind, cut after every record: what is left reads as it did, and whoever reads traces can."""

import io
import json
import shutil
import warnings
from contextlib import redirect_stdout
from dataclasses import asdict

import numpy as np
import pytest
from agdbg_tests_fault_programs import PROGRAMS as MORE
from agdbg_tests_fault_programs import drive, stepped
from agdbg_tests_rare_programs import PROGRAMS as RARE

from agdbg import cli
from agdbg.diagnose import diagnose, lint, remarks
from agdbg.engines import native
from agdbg.events import Kind, head
from agdbg.graph.from_trace import graph_of
from agdbg.hub.eventlog import EventLog
from agdbg.record import Facts, Recorder, Trace
from agdbg.record.growing import Growing
from agdbg.record.info import render, summary
from agdbg.render.text import TextRenderer
from agdbg.report import hooks, memory, views
from agdbg_engine import events

RECORD = 64
ALSO = frozenset(("shapes", "values", "checksums"))
WITHOUT = {Kind.FREED}
"""No adapter tells of these."""
CHANGE_LATER = {"passes", "failed_passes", "cuts"}
"""Facts that later records complete: the end of a pass, the count of a cut."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The trace, and where the first few records of each kind end."""
    path = tmp_path_factory.mktemp("whole") / "trace"
    recorder = Recorder(path, program={}, engine={"name": "agdbg_engine"}, sees=native.sees(ALSO))
    native.attach(recorder, also=ALSO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for program in (*MORE.values(), *RARE.values()):
                program()
            events.sink.driver = drive
            stepped()
    finally:
        native.detach()
    for kind in WITHOUT:
        recorder.emit(head(kind), 1, 1, 1, 1, 0, 0, 0)
    recorder.close()
    return path


@pytest.fixture
def cut(whole, tmp_path):
    """A function that cuts a copy of the trace after so many records."""
    shutil.copytree(whole, tmp_path / "cut")
    records = (whole / "records.bin").read_bytes()

    def after(count):
        (tmp_path / "cut" / "records.bin").write_bytes(records[: RECORD * (1 + count)])
        return tmp_path / "cut"

    return after


def few_of_each_kind(path, few):
    """The numbers of records after which the first ones of a kind, and the last, have just been written, and one before."""
    kinds = Trace.open(path).kinds
    found = set()
    for kind in np.unique(kinds):
        rows = np.flatnonzero(kinds == kind) + 1
        found |= {*rows[:few].tolist(), int(rows[-1])}
    return sorted(found | {value - 1 for value in found})


def test_the_trace_has_records_of_every_kind(whole):
    trace = Trace.open(whole)
    assert {Kind(kind) for kind in np.unique(trace.kinds)} == set(Kind) and trace.problems == []


def told(facts):
    """All lists of facts that have a place in the trace, by the name of the question."""
    names = [name for name in dir(Facts) if not name.startswith("_") and not callable(getattr(Facts, name))]
    found = {name: getattr(facts, name) for name in names}
    lists = {name: value for name, value in found.items() if isinstance(value, list) and value}
    return {name: value for name, value in lists.items() if hasattr(value[0], "row")}


def test_what_was_told_by_then_stays_told(whole, cut):
    """After every record: every fact that stands before the cut is read as it is from the whole trace."""
    everything = told(Facts(Trace.open(whole)))
    assert len(everything) >= 15
    count = len(Trace.open(whole).records)
    for end in range(count):
        facts = Facts(Trace.open(cut(end)))
        assert len(facts.trace.records) == end
        for name, expected in everything.items():
            if name not in CHANGE_LATER:
                got = getattr(facts, name)
                assert got == [fact for fact in expected if fact.row < end], (name, end)


def test_whoever_reads_traces_can_read_what_is_left(whole, cut):
    """Diagnoses, lints, reports, graphs, the log of events and the summary, after the first records of every kind."""
    for end in few_of_each_kind(whole, 1):
        facts = Facts(Trace.open(cut(end)))
        for each in (*diagnose(facts), *lint(facts), *remarks(facts)):
            assert json.dumps(asdict(each)) and each.cause.endswith("."), end
        assert hooks.as_text(hooks.hook_report(facts)) + memory.as_text(memory.memory_report(facts))
        views.as_text(views.view_reports(facts))
        for found in facts.passes[-2:]:
            assert TextRenderer().render(graph_of(facts, found.id))
        growing = Growing()
        growing.grow(facts.trace.records)
        log = EventLog(growing)
        log.update()
        assert all(each["text"] for each in log.page(facts, 0, len(log)))
        assert render(summary(facts.trace)).endswith("\n")


def test_the_command_says_what_is_missing(whole, cut):
    count = len(Trace.open(whole).records)
    for end in (0, 1, count // 2, count - 1):
        with redirect_stdout(io.StringIO()) as said:
            assert cli.main(["explain", str(cut(end))]) == 0
        assert f"records.bin holds {end} of the {count} records that were written" in said.getvalue()
