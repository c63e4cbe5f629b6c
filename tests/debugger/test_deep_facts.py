"""What a trace tells of modules, shapes, values, checksums and optimizers is read back, by index and at any time."""

import json
import math

import numpy as np
import pytest

from agdbg.events import Kind, ModuleEvent, head, pack_float, pack_pair, unpack_float
from agdbg.graph.from_trace import graph_of
from agdbg.hub.eventlog import EventLog
from agdbg.record import Facts, Trace
from agdbg.record.deep_facts import ModuleFact, ShapeFact
from agdbg.record.growing import Growing
from agdbg.record.live import LiveFacts
from agdbg.render import renderer_for

SCRIPT = """
optimizer = SGD(parameters)
y = model(x)
y.backward()
optimizer.step()
"""


@pytest.fixture
def trace(made_up):
    """A trace of that script."""
    return made_up(SCRIPT)


def live(trace):
    """The facts as somebody sees them who looks on, told record by record."""
    trace.recorder.flush()
    whole = Trace.open(trace.recorder.path)
    growing = Growing()
    for end in range(1, len(whole.records) + 1):
        growing.grow(whole.records[:end])
        growing.stacks()
    return LiveFacts(whole, growing)


def both(trace):
    """The facts of the whole trace, and those of one that grew."""
    return trace.facts(), live(trace)


@pytest.mark.parametrize("number", [0.0, -0.0, 1.5, -1e308, math.inf, 5e-324])
def test_floats_are_kept_to_the_bit(number):
    assert np.float64(unpack_float(pack_float(number))).tobytes() == np.float64(number).tobytes()


# ----- modules -----


def test_a_node_belongs_to_the_innermost_module_that_runs(trace):
    trace.module("model", "", "Net")
    trace.module("body", "body", "Sequential", "model")
    trace.module("first", "body.0", "Linear", "body")
    trace.leaf("w")
    with trace.inside("model"):
        trace.node("a", "MulBackward0", 2, "", ["w", ""])
        with trace.inside("body"):
            with trace.inside("first"):
                trace.node("b", "MulBackward0", 2, "", ["a", ""])
            trace.node("c", "MulBackward0", 2, "", ["b", ""])
            with trace.inside("first"):
                trace.node("d", "MulBackward0", 2, "", ["c", ""])
        trace.node("e", "MulBackward0", 2, "", ["d", ""])
    trace.node("f", "MulBackward0", 2, "", ["e", ""])
    for facts in both(trace):
        paths = {label: facts.module_path(trace.nodes[label]) for label in "abcdef"}
        assert paths == {"a": "", "b": "body.0", "c": "body", "d": "body.0", "e": "", "f": ""}
        assert facts.module_of(trace.nodes["a"]).class_name == "Net"
        assert facts.module_of(trace.nodes["f"]) is None and facts.module_of(trace.nodes["w"]) is None
        assert facts.module_of(999) is None
        assert [(m.id, m.path, m.parent) for m in facts.modules] == [(1, "", 0), (2, "body", 1), (3, "body.0", 2)]


def test_threads_have_modules_of_their_own(trace):
    trace.module("model", "", "Net")
    trace.enter("model", thread=2)
    trace.node("here", "MulBackward0", 2, "", ["", ""])
    number = trace.recorder.new_node()
    trace.emit(Kind.BORN, number, 7, trace.where(2, "MulBackward0"), thread=2)
    trace.leave("model", thread=2)
    for facts in both(trace):
        assert facts.module_of(trace.nodes["here"]) is None
        assert facts.module_of(number).class_name == "Net"


def test_a_module_that_was_never_left_goes_with_the_one_around_it(trace):
    for label in ("outer", "inner", "other"):
        trace.module(label, label, "Net")
    trace.leave("other")  # entered before the recording
    trace.enter("outer")
    trace.enter("inner")
    trace.leave("outer")
    trace.node("after", "MulBackward0", 2, "", ["", ""])
    trace.enter("outer")
    trace.leave("other")
    trace.node("inside", "MulBackward0", 2, "", ["", ""])
    for facts in both(trace):
        assert facts.module_of(trace.nodes["after"]) is None
        assert facts.module_path(trace.nodes["inside"]) == "outer"


def test_the_last_naming_of_a_module_counts(trace):
    trace.module("part", "", "Linear")
    trace.module("whole", "", "Net")
    trace.module("part", "head", "Linear", "whole")
    for facts in both(trace):
        assert [(m.id, m.path, m.parent) for m in facts.modules] == [(1, "head", 2), (2, "", 0)]
        assert facts.module(1) == ModuleFact(facts.modules[0].row, 1, "head", "Linear", 2)
        assert facts.module(9) is None


# ----- shapes -----


def test_shapes_of_outputs(trace):
    trace.node("a", "MulBackward0", 2, "", ["", ""])
    trace.shape("a", "float32[3, 4]", nbytes=48, storage="m", storage_nbytes=480)
    trace.shape("a", "int64[]", output=1, device="cuda:0", nbytes=8)
    trace.shape("a", "bool[7]", output=300, nbytes=7)
    number = trace.nodes["a"]
    for facts in both(trace):
        first = facts.shape(number)
        expected = ("float32[3, 4]", "float32", (3, 4), "cpu", 48, trace.storages["m"], 480)
        assert first == ShapeFact(first.row, number, 0, *expected)
        second = facts.shape(number, 1)
        assert (second.dtype, second.dims, second.device, second.nbytes) == ("int64", (), "cuda:0", 8)
        assert (facts.shape(number, 300).text, facts.shape(number, 2), facts.shape(77)) == ("bool[7]", None, None)
        assert [each.output for each in facts.shapes(number)] == [0, 1, 300]


def test_sizes_of_storages_also_of_those_that_no_node_made(trace):
    trace.shape("", "", storage="data", storage_nbytes=4096)
    trace.storage("other")
    for facts in both(trace):
        assert facts.storage_nbytes(trace.storages["data"]) == 4096
        assert facts.storage_nbytes(trace.storages["other"]) is None
        assert facts.storage_nbytes(0) is None and facts.shape(0) is None


# ----- values -----


def test_summaries_of_a_node_and_the_bad_ones_of_all(trace):
    trace.node("a", "MulBackward0", 2, "", ["", ""])
    trace.node("b", "ExpBackward0", 2, "", ["a"])
    trace.summary("a", norm=5.0, largest=4.0, elements=2)
    trace.summary("b", norm=0.0, largest=0.0, nans=2, infs=1, first_bad=0, elements=3)
    number = trace.start(3, "b")
    trace.summary("b", "gradient in", 0, number, norm=1.0, elements=3)
    trace.summary("a", "gradient in", 1, number, infs=2**32 - 1, first_bad=8, elements=9)
    trace.summary("a", "gradient out", 1, number)
    for facts in both(trace):
        seen = facts.summaries(trace.nodes["a"])
        assert [(each.what, each.index, each.pass_id) for each in seen] == [
            ("output", 0, 0), ("gradient in", 1, number), ("gradient out", 1, number)
        ]  # fmt: skip
        assert (seen[0].norm, seen[0].largest, seen[0].elements, seen[0].first_bad) == (5.0, 4.0, 2, None)
        bad = facts.bad_summaries
        assert [(each.node, each.nans, each.infs, each.first_bad) for each in bad] == [
            (trace.nodes["b"], 2, 1, 0), (trace.nodes["a"], 0, 2**32 - 1, 8)
        ]  # fmt: skip
        assert [each.bad for each in seen] == [False, True, False]


# ----- checksums -----


def test_a_silent_write_is_memory_that_changed_and_kept_its_version(trace):
    trace.leaf("w", "w")
    trace.node("a", "MulBackward0", 2, "", ["w", ""], self=("x", 0), other=("y", 0))
    trace.node("b", "ExpBackward0", 2, "", ["a"], result=("z", 3))
    trace.probe("a", "x", 11)
    trace.probe("a", "y", 12, slot=1)
    trace.probe("b", "z", 13, version=3)
    trace.probe("b", "z", 99, version=4, when="checked")  # a write that was told: no silent one
    trace.probe("a", "x", 11, when="checked")
    trace.probe("a", "y", 77, slot=1, when="checked")
    trace.probe("a", "y", 78, slot=1, when="checked")
    for facts in both(trace):
        assert [(p.slot, p.when) for p in facts.probes[:2]] == [("self", "saved"), ("other", "saved")]
        assert [(p.storage, p.version, p.checksum) for p in facts.probes[2:4]] == [
            (trace.storages["z"], 3, 13), (trace.storages["z"], 4, 99)
        ]  # fmt: skip
        [(then, now)] = facts.silent_writes
        assert (then.slot, then.checksum, now.checksum, then.node) == ("other", 12, 77, trace.nodes["a"])


def test_no_probes_no_silent_writes(trace):
    trace.leaf("w")
    for facts in both(trace):
        assert facts.probes == [] and facts.silent_writes == []


# ----- optimizers and tensors -----


def test_what_an_optimizer_holds(trace):
    trace.optimizer(1, "w", "b", expression="SGD(parameters)")
    trace.optimizer(4, "w", when="stepped")
    for facts in both(trace):
        told = [(each.storage, each.number, each.op.name, each.site.line, each.when) for each in facts.optimized]
        w, b = trace.storages["w"], trace.storages["b"]
        assert told == [(w, 1, "SGD", 1, "built"), (b, 1, "SGD", 1, "built"), (w, 1, "SGD", 4, "stepped")]


def test_whether_a_tensor_requires_grad(trace):
    trace.tensor("a", "a", requires_grad=True)
    trace.tensor("b", "b", "buffer", requires_grad=False)
    trace.leaf("c", "c")
    for facts in both(trace):
        assert [(t.name, t.requires_grad) for t in facts.tensors] == [("a", True), ("b", False), ("c", None)]


# ----- size and damage -----


def test_a_million_records_are_asked_by_index(new_recorder):
    """One question reads a handful of rows, however many there are."""
    recorder = new_recorder()
    many = 250_000
    texts = pack_pair(recorder.text("float32[2]"), recorder.text("cpu"))
    names = pack_pair(recorder.text("a.b"), recorder.text("Linear"))
    recorder.emit(head(Kind.MODULE, 1, a=ModuleEvent.NAMED), 1, names, 0, 0, 0, 0, 0)
    recorder.emit(head(Kind.MODULE, 1, a=ModuleEvent.ENTERED), 1, 0, 0, 0, 0, 0, 0)
    block = np.zeros((2000, 8), "<u8")
    for start in range(1, many, 500):
        ids = np.arange(start, start + 500, dtype=np.uint64)
        for part, kind in enumerate((Kind.BORN, Kind.SHAPE, Kind.SUMMARY, Kind.PROBE)):
            block[part::4, 0] = head(kind, 1)
            block[part::4, 1] = ids
        block[1::4, 2:6] = np.array([texts, 8, 5, 8], np.uint64)
        recorder.append_block(block.tobytes())
    recorder.flush()
    facts = Facts(Trace.open(recorder.path))
    asked = []
    facts.words = lambda row: asked.append(row) or Facts.words(facts, row)
    assert facts.shape(many - 5).text == "float32[2]"
    assert facts.module_path(many - 5) == "a.b"
    assert len(facts.summaries(many - 5)) == 1
    assert facts.storage_nbytes(5) == 8
    assert facts.bad_summaries == [] and facts.silent_writes == []
    assert len(asked) < 10


@pytest.mark.parametrize("text", ["", "?12", "float32", "[3, 4", "float32[3, x]", "[[]", "complex64[1,2]"])
def test_a_shape_that_cannot_be_read_is_no_error(trace, text):
    trace.node("a", "MulBackward0", 2, "", ["", ""])
    trace.shape("a", text)
    found = trace.facts().shape(trace.nodes["a"])
    assert found.text == text and found.dims == ((1, 2) if text.startswith("complex64") else ())


def test_numbers_of_a_later_version_are_read_as_the_nearest_known(trace):
    trace.node("a", "MulBackward0", 2, "", ["", ""])
    trace.emit(Kind.SUMMARY, trace.nodes["a"], 1, 0, 0, 0, 0, 0, a=9, b=255)
    trace.emit(Kind.MODULE, 1, a=9)
    trace.emit(Kind.OPTIMIZER, 1, a=9)
    trace.emit(Kind.PROBE, 1, a=9)
    facts = trace.facts()
    assert facts.summaries(trace.nodes["a"])[0].what == "gradient out"
    assert facts.modules == [] and facts.optimized[0].when == "built" and facts.probes[0].when == "saved"


# ----- as events of the hub -----


def told(trace):
    """The lines of the event list, by kind and text; taken record by record they are the same as at once."""
    trace.recorder.flush()
    whole = Trace.open(trace.recorder.path)
    growing, facts = Growing(), trace.facts()
    log = EventLog(growing)
    for end in range(1, len(whole.records) + 1):
        growing.grow(whole.records[:end])
        log.update()
    at_once = Growing()
    at_once.grow(whole.records)
    other = EventLog(at_once)
    other.update()
    lines = [(each["kind"], each["text"], each["node"]) for each in log.page(facts, 0, len(log))]
    assert lines == [(each["kind"], each["text"], each["node"]) for each in other.page(facts, 0, len(other))]
    return lines


def test_calls_of_models_and_optimizers_are_events(trace):
    trace.optimizer(1, "w", "b", expression="SGD(parameters)")
    trace.optimizer(1, "v", number=2, op="Adam")
    trace.module("model", "", "Net")
    trace.module("part", "part", "Linear", "model")
    with trace.inside("model"), trace.inside("part"):
        pass
    with trace.inside("part", thread=2):
        pass
    trace.optimizer(4, "w", "b", when="stepped")
    assert [line[:2] for line in told(trace)] == [
        ("optimizer", "SGD is built with 2 parameters"),
        ("optimizer", "Adam is built with 1 parameter"),
        ("module", "Net called"),
        ("module", "Linear at part called"),
        ("optimizer", "SGD steps for the first time, 2 parameters"),
    ]


def test_only_bad_numbers_and_silent_writes_are_events(trace):
    a = trace.node("a", "MulBackward0", 2, "", ["", ""], self=("x", 0), other=("y", 0))
    trace.shape("a", "float32[3]")
    trace.summary("a")
    trace.summary("a", nans=2, infs=1, first_bad=4, elements=9)
    trace.probe("a", "x", 1)
    trace.probe("a", "y", 2, slot=1)
    trace.probe("a", "x", 1, when="checked")
    trace.probe("a", "y", 3, slot=1, when="checked")
    trace.summary("a", "gradient out", 1, 7, nans=1, first_bad=0, elements=9)
    y = trace.storages["y"]
    assert told(trace) == [
        ("not finite", f"MulBackward0 #{a}, output 0: 2 NaN and 1 Inf of 9, the first at 4", a),
        (
            "silent write",
            f"storage {y}: what MulBackward0 #{a} saved as other has changed, and its version is still 0",
            a,
        ),
        ("not finite", f"MulBackward0 #{a}, gradient to input 1: 1 NaN of 9, the first at 0", a),
    ]


# ----- in drawings -----


def test_a_drawn_node_knows_its_modules_and_its_shapes(trace):
    trace.module("model", "", "Net")
    trace.module("part", "part", "Linear", "model")
    trace.leaf("w", "part.w")
    with trace.inside("model"), trace.inside("part"):
        trace.node("a", "MulBackward0", 2, "", ["w", ""])
    trace.node("b", "ExpBackward0", 2, "", ["a"])
    trace.shape("a", "float32[3]")
    trace.shape("a", "int64[]", output=1)
    trace.backward(3, "b", "a", "w")
    graph = graph_of(trace.facts())
    a, b = graph.nodes
    assert (a.shapes, a.module, [call.class_name for call in a.modules]) == (
        ("float32[3]", "int64[]"), "part", ["Net", "Linear"]
    )  # fmt: skip
    assert (b.shapes, b.modules) == ((), ())
    for suffix in ("svg", "dot", "txt", "json"):
        assert "float32[3]" in renderer_for(f"x.{suffix}").render(graph)
    assert json.loads(renderer_for("x.json").render(graph))["nodes"][0]["module"] == "part"
