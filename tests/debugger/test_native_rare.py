"""What few programs use, recorded: results are those of a plain run, no instrument fails, the trace has the facts."""

import itertools
from collections import Counter

import numpy as np
import pytest
from agdbg_tests_rare_programs import PROGRAMS, Many, Pair, Sneaky, block, leaves

import agdbg_engine as ag
from agdbg.diagnose import diagnose
from agdbg.engines import native
from agdbg.events import Kind
from agdbg.explain.explanation import explain
from agdbg.graph.from_trace import graph_of
from agdbg.hub.eventlog import TOLD, EventLog
from agdbg.hub.inspection import Inspection
from agdbg.record import Facts, Recorder, Trace
from agdbg.record.growing import Growing
from agdbg.record.live import LiveFacts
from agdbg.render.text import TextRenderer
from agdbg_engine import events
from agdbg_engine.autograd import Function, graph


@pytest.fixture
def record(tmp_path, capsys):
    """A function that runs a program, ``watched`` or not; its result, and the facts of its trace."""
    number = itertools.count()

    def run(program, watched=True):
        path = tmp_path / f"trace{next(number)}"
        recorder = Recorder(path, program={"argv": ["x.py"]}, engine={"name": "agdbg_engine"}, sees=native.SEES)
        if watched:
            native.attach(recorder)
        try:
            result = program()
            assert (events.sink is not None) == watched
        finally:
            native.detach()
            recorder.close()
        assert capsys.readouterr().err == ""
        facts = Facts(Trace.open(path))
        assert facts.trace.problems == []
        return result, facts

    return run


def plain(value):
    """A result as what can be compared: bytes of arrays, texts of errors."""
    if isinstance(value, ag.Tensor):
        array = np.asarray(value.detach()._a)
        return array.dtype.str, array.shape, array.tobytes()
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_the_same_whether_recorded_or_not(record, name):
    (expected, _), (result, facts) = [record(PROGRAMS[name], watched) for watched in (False, True)]
    assert plain(result) == plain(expected)
    births = Counter(facts.trace.records[facts.rows(Kind.BORN), 1].tolist())
    assert set(births.values()) <= {1}  # nobody is born twice
    known = set(births)
    assert {e.node for n in known for e in facts.node(n).edges} - {0} <= known
    for found in facts.passes:
        assert set(facts.ran(found.id).tolist()) <= known


@pytest.mark.parametrize("name", PROGRAMS)
def test_whoever_reads_such_a_trace_can(record, name):
    _, facts = record(PROGRAMS[name])
    for found in facts.passes:
        drawn = graph_of(facts, found.id)
        assert TextRenderer().render(drawn)
    growing = Growing()
    growing.grow(facts.trace.records)
    log = EventLog(growing)
    log.update()
    told = log.page(facts, 0, len(log))
    others = [each for each in told if each["kind"] not in ("module", "optimizer")]
    assert len(others) == sum(len(facts.rows(kind)) for kind in TOLD)
    assert all(each["text"] for each in told)
    live = LiveFacts(facts.trace, growing)
    for n in facts.node_ids.tolist():
        assert Inspection(live, facts.node(n), len(facts.trace.records)).sections()
    assert len(diagnose(facts)) == len(facts.errors) - sum(e.kind in UNDIAGNOSED for e in facts.errors)


UNDIAGNOSED = ("other",)
"""Errors whose own text says all that is known."""


def nodes(facts, op):
    return [n for n in map(facts.node, facts.node_ids.tolist()) if n.op.name == op]


# ----- custom Functions -----


def test_the_node_of_a_custom_function_has_what_it_saved_and_both_outputs(record):
    _, facts = record(PROGRAMS["function"])
    (pair,) = nodes(facts, "PairBackward")
    assert [s.slot for s in pair.saves] == ["saved_tensors[0]", "saved_tensors[1]", "saved_tensors[2]"]
    mul = nodes(facts, "MulBackward0")[-1]
    assert [(e.node, e.nr) for e in mul.edges] == [(pair.id, 0), (pair.id, 1)]
    product, total = (s.storage for s in mul.saves)
    assert product != total  # each output has memory of its own
    assert pair.saves[2].storage in (product, total)
    assert [(c.node, c.what, c.pass_id) for c in facts.function_calls] == [
        (pair.id, "forward", 0),
        (pair.id, "backward", 1),
    ]
    assert "Pair.apply" in facts.function_calls[0].site.text
    assert facts.function_calls[0].op.name == "PairBackward"
    assert [(k.node, k.name, k.role) for k in facts.kept] == [(pair.id, "twice", "intermediate")]


def test_nodes_of_one_function_may_save_more_or_less(record):
    _, facts = record(PROGRAMS["function_of_many"])
    four, one = nodes(facts, "ManyBackward")
    assert (len(four.edges), len(four.saves), len(one.edges), len(one.saves)) == (4, 4, 1, 1)
    assert four.op.slots[3] == "saved_tensors[3]"
    assert one.op.slots == ("saved_tensors[0]",)


def test_a_function_that_no_graph_needs_has_a_number_and_is_never_born(record):
    _, facts = record(PROGRAMS["function_without_graph"])
    (call,) = facts.function_calls
    assert (call.what, call.op.name, facts.node(call.node)) == ("forward", "PairBackward", None)
    assert {k.node for k in facts.kept} == {call.node}


def test_a_write_to_an_argument_is_told_when_nobody_was_told(record):
    _, facts = record(PROGRAMS["function_that_writes"])
    (found,) = facts.unmarked
    (sneaky,) = nodes(facts, "SneakyBackward")
    assert (found.node, found.argument, found.op.name) == (sneaky.id, "x", "SneakyBackward")
    assert [b.op.name for b in facts.bumps(found.storage)] == ["mul_"]
    (dirty,) = nodes(facts, "DirtyBackward")
    assert dirty.id != found.node


def test_a_context_that_fails_in_its_forward_is_a_node_of_the_error(record):
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.detach()

    def program():
        with pytest.raises(RuntimeError):
            Fails.apply(ag.ones(2, requires_grad=True))

    _, facts = record(program)
    (call,) = facts.function_calls
    assert call.what == "forward"
    for error in facts.errors:
        assert error.node in (0, call.node)


@pytest.mark.parametrize(
    ("name", "kind", "writer"),
    [("function_modified", "inplace-modified", "h.add_(1)"), ("function_backward_twice", "backward-twice", "")],
)
def test_the_errors_of_a_custom_function_are_explained(record, name, kind, writer):
    _, facts = record(PROGRAMS[name])
    (error,) = facts.errors
    (pair,) = nodes(facts, "PairBackward")
    assert (error.kind, error.node, error.slot) == (kind, pair.id, "saved_tensors[0]")
    (finding,) = diagnose(facts)
    assert finding.kind == kind
    assert pair.id in finding.nodes
    assert any(writer in e.site.text for e in finding.evidence)
    assert [each.finding for each in explain(facts.trace.path).findings] == [finding]


def test_a_context_that_has_names_of_the_engine_keeps_them_apart(record):
    class Named(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.tag, ctx.seq, ctx.next = 7, "seq", [1]
            return x * 2

        @staticmethod
        def backward(ctx, g):
            assert (ctx.tag, ctx.seq, ctx.next) == (7, "seq", [1])
            return g * 2

    def program():
        x = ag.ones(2, requires_grad=True)
        y = Named.apply(x * 1)
        (y * y).sum().backward()
        return x.grad, y.grad_fn.tag

    (grad, tag), facts = record(program)
    assert (grad.tolist(), tag) == ([8.0, 8.0], 7)
    (named,) = nodes(facts, "NamedBackward")
    assert nodes(facts, "MulBackward0")[-1].edges[0].node == named.id


def test_a_function_older_than_the_recording(record):
    x, y = leaves()
    a, b = Pair.apply(x * 1, y)
    old = a * b
    _, facts = record(lambda: old.sum().backward())
    (pair,) = nodes(facts, "PairBackward")
    assert len(pair.saves) == 3
    assert [c.what for c in facts.function_calls] == ["backward"]


def test_one_record_a_call(record):
    def program():
        x = ag.ones(2, requires_grad=True)
        y = x
        for _ in range(50):
            y = Many.apply(y) * 0.5
        y.sum().backward()

    _, facts = record(program)
    kinds = Counter(facts.trace.kinds.tolist())
    assert kinds[Kind.FUNCTION] == 100
    assert kinds[Kind.BORN] == kinds[Kind.RAN] == 102
    assert kinds.total() - kinds[Kind.CUT] <= 100 + 2 * 102 + 6


# ----- hooks on saved tensors, copies before a write -----


def test_what_hooks_pack_and_unpack_is_told_with_the_node(record):
    def program():
        x, y = leaves()
        with graph.saved_tensors_hooks(lambda t: t.numpy(force=True).copy(), ag.from_numpy):
            z = (x * y).exp()
        z.sum().backward()

    _, facts = record(program)
    (mul,), (exp,) = nodes(facts, "MulBackward0"), nodes(facts, "ExpBackward0")
    assert sorted((p.node, p.slot) for p in facts.packs) == sorted(
        [(mul.id, "self"), (mul.id, "other"), (exp.id, "result")]
    )
    assert all("(x * y).exp()" in p.site.text for p in facts.packs)
    assert [(u.node, u.pass_id) for u in facts.unpacks] == [(exp.id, 1), (mul.id, 1), (mul.id, 1)]
    assert [s.slot for s in mul.saves] == ["self", "other"]
    assert {p.slot for p in facts.packs_of(mul.id)} == {u.slot for u in facts.unpacks_of(mul.id)} == {"self", "other"}
    growing = Growing()
    growing.grow(facts.trace.records)
    saved = Inspection(LiveFacts(facts.trace, growing), exp, len(facts.trace.records)).sections()[2]["entries"]
    assert "kept by hooks at" in saved[0]["value"] and "unpacked 1 time" in saved[0]["value"]


def test_a_saved_tensor_behind_hooks_that_was_modified_is_explained(record):
    _, facts = record(PROGRAMS["saved_hooks_modified"])
    (finding,) = diagnose(facts)
    assert finding.kind == "inplace-modified"
    assert any("z.add_(1)" in e.site.text for e in finding.evidence)


def test_a_copy_before_a_write_is_told(record):
    _, facts = record(PROGRAMS["mutation_allowed"])
    (clone,) = facts.clones
    (mul,) = [n for n in nodes(facts, "MulBackward0") if len(n.saves) == 2]
    assert clone.count == 1
    assert "h.fill_(7.0)" in clone.site.text
    assert clone.storage in {s.storage for s in mul.saves}
    assert facts.errors == []


def test_hooks_older_than_the_recording(record):
    x, y = leaves()
    with graph.saved_tensors_hooks(lambda t: t.numpy(force=True).copy(), ag.from_numpy):
        z = (x * y).exp()
    _, facts = record(lambda: z.sum().backward())
    assert (facts.packs, len(facts.unpacks)) == ([], 3)
    (mul,) = nodes(facts, "MulBackward0")
    assert [s.storage for s in mul.saves] == [0, 0]  # nobody can tell any more


# ----- checkpoints, forward mode, inference mode, anomaly mode -----


@pytest.mark.parametrize("name", ["checkpointed", "checkpointed_reentrant"])
def test_a_checkpoint_that_runs_again(record, name):
    _, facts = record(PROGRAMS[name])
    (again,) = facts.recomputations
    assert again.ops >= 2 and again.difference == ""
    assert again.pass_id == facts.passes[0].id
    assert facts.node(again.node) is not None
    inner = [p for p in facts.passes if p.parent]
    assert len(inner) == (name == "checkpointed_reentrant")


def test_a_checkpoint_that_does_something_else_says_what(record):
    _, facts = record(PROGRAMS["checkpointed_differently"])
    (again,) = facts.recomputations
    assert again.difference


def test_the_levels_of_forward_mode(record):
    _, facts = record(PROGRAMS["forward_mode"])
    assert [(found.level, found.entered) for found in facts.levels] == [(0, True), (0, False)]
    assert "dual_level" in facts.levels[0].site.text
    assert [c.what for c in facts.function_calls] == ["forward", "jvp", "backward"]
    assert len({c.node for c in facts.function_calls}) == 1


def test_inference_tensors_have_no_versions(record):
    _, facts = record(PROGRAMS["inference"])
    assert facts.rows(Kind.BUMP).tolist() == []


def test_the_error_of_anomaly_mode_is_the_whole(record):
    text, facts = record(PROGRAMS["anomaly"])
    errors = {error.kind: error for error in facts.errors}
    assert list(errors) == ["nan"]
    assert errors["nan"].text.splitlines()[0] == text.splitlines()[0]
    assert facts.node(errors["nan"].node).op.name == "SqrtBackward0"


def test_multi_grad_and_post_accumulate_hooks_are_hooks(record):
    _, facts = record(PROGRAMS["hooks"])
    kinds = {facts.site_and_op(facts.words(row)[3])[1].name for row in facts.rows(Kind.HOOK).tolist()}
    assert {"multi", "tensor", "pre"} <= kinds
    assert any("accumulate" in kind for kind in kinds)


def test_nothing_is_kept_alive(record):
    def program():
        x = ag.ones(2, requires_grad=True)
        for _ in range(5):
            Sneaky.apply(x * 1).sum().backward()
            with ag.no_grad():
                Pair.apply(x, x)
        assert len(events.sink._early) == 0
        return block(x, x)

    record(program)
