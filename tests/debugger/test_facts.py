"""Every kind of record is read back as the fact that it states."""

import pytest

from agdbg.events import (
    ACCUMULATE_SEQUENCE,
    CREATE_GRAPH,
    RETAIN_GRAPH,
    Kind,
    Outcome,
    Provenance,
    head,
    pack_edge,
    pack_pair,
    pack_save,
    pack_site_op,
)
from agdbg.record import Facts, Trace
from agdbg.record.query import BumpFact, CutFact, EdgeFact, ErrorFact, RunFact, SaveFact, TensorFact


@pytest.fixture
def pen(new_recorder):
    """Writes records with fewer words than eight, and hands out the facts."""
    return Pen(new_recorder())


class Pen:
    def __init__(self, recorder):
        self.recorder = recorder
        self.backward = self.at(7, "backward")

    def at(self, line, op, slots=()):
        site = self.recorder.site_at("/project/train.py", line, "main", f"line {line}")
        return pack_site_op(site, self.recorder.op(op, slots))

    def write(self, kind, number, *words, flags=0, a=0, b=0, thread=1):
        self.recorder.emit(head(kind, thread, flags, a, b), number, *words, *(0,) * (6 - len(words)))

    def facts(self):
        self.recorder.flush()
        trace = Trace.open(self.recorder.path)
        assert trace.problems == []
        return Facts(trace)


OBSERVED, INFERRED = Provenance.OBSERVED, Provenance.INFERRED


def test_born_with_everything_inline(pen):
    words = (pack_edge(3, 1), pack_edge(9), pack_save(4, 2, 1), pack_save(5, 0, 0))
    pen.write(Kind.BORN, 12, 77, pen.at(5, "MulBackward0", ("self", "other")), *words, a=2, b=2, thread=3)
    node = pen.facts().node(12)
    assert (node.id, node.op.name, node.seq, node.site.line, node.thread) == (12, "MulBackward0", 77, 5, 3)
    assert node.edges == (EdgeFact(3, 1, OBSERVED), EdgeFact(9, 0, OBSERVED))
    assert node.saves == (SaveFact("self", 5, 0, OBSERVED), SaveFact("other", 4, 2, OBSERVED))


def test_edges_and_saves_beyond_two(pen):
    pen.write(Kind.EDGE, 12, 3, pack_edge(8, 2))  # before the birth: order does not matter
    pen.write(Kind.BORN, 12, 0, pen.at(5, "CatBackward0"), pack_edge(3), 0, pack_save(4, 0, 0), a=5, b=3)
    pen.write(Kind.EDGE, 12, 2, pack_edge(7))
    pen.write(Kind.SAVED, 12, 2, 2**40, 2**30)
    pen.write(Kind.SAVED, 12, 300, 6, 1)
    node = pen.facts().node(12)
    assert [edge.node for edge in node.edges] == [3, 0, 7, 8, 0]
    assert [save.slot for save in node.saves] == ["saved[0]", "saved[2]", "saved[300]"]
    assert (node.saves[1].storage, node.saves[1].version) == (2**40, 2**30)


def test_a_node_without_inputs_and_saves(pen):
    pen.write(Kind.BORN, 12, ACCUMULATE_SEQUENCE, pen.at(5, "AccumulateGrad"))
    node = pen.facts().node(12)
    assert node.edges == () and node.saves == () and node.seq == 2**64 - 1


def test_the_better_witness_wins_and_else_the_later(pen):
    pen.write(Kind.BORN, 12, 0, 0, pack_edge(3), 0, pack_save(4, 0, 0), a=2, b=1)
    pen.write(Kind.EDGE, 12, 0, pack_edge(99), flags=INFERRED)
    pen.write(Kind.SAVED, 12, 0, 99, 9, flags=INFERRED)
    for node in (5, 6):
        pen.write(Kind.EDGE, 12, 1, pack_edge(node), flags=INFERRED)
        pen.write(Kind.SAVED, 12, 1, node, 0, flags=INFERRED)
    node = pen.facts().node(12)
    assert node.edges == (EdgeFact(3, 0, OBSERVED), EdgeFact(6, 0, INFERRED))
    assert node.saves == (SaveFact("saved[0]", 4, 0, OBSERVED), SaveFact("saved[1]", 6, 0, INFERRED))


def test_an_observed_fact_replaces_an_inferred_one(pen):
    pen.write(Kind.BORN, 12, 0, 0, pack_edge(3), 0, pack_save(4, 0, 0), a=1, b=1, flags=INFERRED)
    pen.write(Kind.EDGE, 12, 0, pack_edge(5))
    pen.write(Kind.SAVED, 12, 0, 6, 1)
    node = pen.facts().node(12)
    assert node.edges == (EdgeFact(5, 0, OBSERVED),) and node.saves == (SaveFact("saved[0]", 6, 1, OBSERVED),)


def test_a_second_birth_replaces_the_first(pen):
    pen.write(Kind.BORN, 12, 1, pen.at(1, "A"))
    pen.write(Kind.BORN, 12, 2, pen.at(2, "B"))
    facts = pen.facts()
    assert facts.node(12).op.name == "B" and facts.node_ids.tolist() == [12]


@pytest.mark.parametrize("number", [0, 11, 13, 2**64 - 1, -1, 2**70])
def test_a_node_that_is_not_there(pen, number):
    pen.write(Kind.BORN, 12, 1, 0)
    assert pen.facts().node(number) is None


def test_an_empty_trace(pen):
    facts = pen.facts()
    assert facts.node_ids.tolist() == [] and facts.node(1) is None
    assert facts.passes == facts.errors == facts.tensors == facts.cuts == facts.bumps(1) == facts.names(1) == []
    assert facts.ran(1).tolist() == facts.passes_of(1) == facts.runs(1) == []
    assert facts.freed_by(1) == 0 and facts.name_of_leaf(1) is None and facts.pass_of(1) is None


def test_a_pass(pen):
    flags = RETAIN_GRAPH | CREATE_GRAPH
    words = (pen.at(8, "grad"), pack_edge(12, 1), 1, 1000, 40)
    pen.write(Kind.PASS_STARTED, 2, *words, flags=flags, a=3, thread=4)
    pen.write(Kind.ROOT, 2, 2, pack_edge(14))
    pen.write(Kind.ROOT, 2, 1, pack_edge(13, 5))
    pen.write(Kind.PASS_FINISHED, 2, Outcome.OK, 40, 2000)
    facts = pen.facts()
    (found,) = facts.passes
    assert found == facts.pass_of(2)
    assert (found.id, found.call, found.site.line, found.parent, found.planned) == (2, "grad", 8, 1, 40)
    assert found.roots == ((12, 1), (13, 5), (14, 0))
    assert (found.retain_graph, found.create_graph, found.outcome, found.thread) == (True, True, "ok", 4)
    assert found.row == 1 and found.end_row == 4


@pytest.mark.parametrize(("end", "outcome"), [((Outcome.ERROR,), "error"), (None, "unfinished")])
def test_a_pass_that_does_not_end_well(pen, end, outcome):
    pen.write(Kind.PASS_STARTED, 1, pen.backward, pack_edge(12))
    if end:
        pen.write(Kind.PASS_FINISHED, 1, *end)
    (found,) = pen.facts().passes
    assert (found.outcome, found.retain_graph, found.create_graph) == (outcome, False, False)
    assert found.end_row == 2, "of an unfinished pass the row behind the last"


def test_what_a_pass_ran(pen):
    pen.write(Kind.RAN, 30, 1, 2, 300, 10, Outcome.ERROR)
    pen.write(Kind.RAN, 10, 1, 0, 100, 10, Outcome.OK)
    pen.write(Kind.RAN, 20, 1, 1, 200, 10, Outcome.SKIPPED)
    pen.write(Kind.RAN, 10, 2, 0, 400, 10, Outcome.OK)
    facts = pen.facts()
    assert facts.ran(1).tolist() == [10, 30] and facts.ran(2).tolist() == [10] and facts.ran(3).tolist() == []
    assert [run.node for run in facts.runs(1)] == [10, 20, 30]
    assert facts.runs(1)[2] == RunFact(30, 1, 2, 300, 10, Outcome.ERROR, 1)
    assert facts.passes_of(10) == [1, 2] and facts.passes_of(20) == [] and facts.passes_of(30) == [1]


def test_freed_is_derived_from_runs(pen):
    pen.write(Kind.PASS_STARTED, 1, pen.backward, flags=RETAIN_GRAPH)
    pen.write(Kind.PASS_STARTED, 2, pen.backward)
    for outcome, number in enumerate((10, 20, 30)):
        pen.write(Kind.RAN, number, 1, 0, 0, 0, Outcome.OK)
        pen.write(Kind.RAN, number, 2, 0, 0, 0, outcome)
    facts = pen.facts()
    assert [facts.freed_by(number) for number in (10, 20, 30, 40)] == [2, 0, 0, 0]


def test_freed_as_an_engine_tells_it(pen):
    pen.write(Kind.FREED, 10, 7)
    assert pen.facts().freed_by(10) == 7


def test_bumps(pen):
    pen.write(Kind.BUMP, 5, 0, 1, pen.at(9, "add_"), 12, 3)
    pen.write(Kind.BUMP, 6, 0, 1, 0)
    pen.write(Kind.BUMP, 5, 1, 2, 0)
    facts = pen.facts()
    first, second = facts.bumps(5)
    site, op = facts.trace.site(3), facts.trace.op(4)
    assert (site.line, op.name) == (9, "add_")
    assert first == BumpFact(5, 0, 1, op, site, 12, 3, 1)
    assert (second.old, second.new, second.node, second.site.line, second.row) == (1, 2, 0, 0, 3)


def test_names_of_tensors(pen):
    text = pen.recorder.text
    for number, storage, producer, name, kind in [
        (1, 5, 20, "w", "variable"),
        (2, 5, 20, "1.weight", "parameter"),
        (3, 5, 20, "w", "variable"),
        (4, 6, 0, "mean", "buffer"),
        (5, 6, 0, "", "variable"),
    ]:
        word = pack_edge(producer, 1) if producer else 0
        pen.write(Kind.TENSOR, number, storage, word, pack_pair(text(name) if name else 0, text(kind)))
    facts = pen.facts()
    assert facts.names(5) == ["1.weight", "w"] and facts.names(6) == ["mean"] and facts.names(7) == []
    assert facts.name_of_leaf(20) == "1.weight"
    assert facts.name_of_leaf(21) is None and facts.name_of_leaf(0) is None
    assert facts.tensors[1] == TensorFact(2, 5, 20, 1, "1.weight", "parameter", 2)
    assert len(facts.tensors) == 5


def test_an_error_about_a_slot(pen):
    pen.write(Kind.BORN, 12, 0, pen.at(5, "MulBackward0", ("self", "other")))
    text = pen.recorder.text("modified by an inplace operation")
    pen.write(Kind.ERROR, 12, 3, pen.at(6, "inplace-modified"), 5, pack_pair(0, 2), text, 2)
    facts = pen.facts()
    (error,) = facts.errors
    words = facts.words(2)
    assert error == ErrorFact(
        "inplace-modified",
        12,
        3,
        facts.trace.site(words[3] & 0xFFFFFFFF),
        5,
        0,
        2,
        facts.trace.text(text),
        "other",
        2,
    )


def test_an_error_about_no_node(pen):
    pen.write(Kind.ERROR, 0, 0, pen.at(6, "no-grad-fn"))
    (error,) = pen.facts().errors
    assert (error.kind, error.node, error.slot, error.text) == ("no-grad-fn", 0, "", "")


def test_an_error_about_a_slot_of_a_node_that_is_not_there(pen):
    pen.write(Kind.ERROR, 12, 0, 0, 0, 0, 0, 3)
    assert pen.facts().errors[0].slot == "saved[2]"


def test_the_last_record_of_a_cut_has_the_count(pen):
    detach, item = pen.at(3, "detach"), pen.at(3, "item")
    for count in (1, 2, 3):
        pen.write(Kind.CUT, 5, detach, pack_edge(10 + count, 1), count)
        pen.write(Kind.CUT, 5, item, 0, count)
    pen.write(Kind.CUT, 0, pen.at(4, "detach"), 0, 1)
    facts = pen.facts()
    assert [(cut.op.name, cut.site.line, cut.count) for cut in facts.cuts] == [
        ("detach", 3, 3),
        ("item", 3, 3),
        ("detach", 4, 1),
    ]
    first = facts.cuts[0]
    assert first == CutFact(first.op, first.site, 13, 1, 5, 3, 5)


@pytest.mark.parametrize("kind", [Kind.VIEW, Kind.REBASED, Kind.GRAD_MODE, Kind.HOOK, Kind.PROBE])
def test_the_other_kinds_are_there_by_row(pen, kind):
    pen.write(kind, 5, 1, 2, 2, 0, 2, 6, flags=1, a=1)
    facts = pen.facts()
    row = facts.rows_about(kind, 5)[0]
    assert row in facts.rows(kind).tolist()
    assert facts.words(row) == [head(kind, 1, 1, 1), 5, 1, 2, 2, 0, 2, 6]
