"""A trace may be cut anywhere, or hold nonsense: diagnosing it still answers."""

import json
import shutil
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agdbg.diagnose import diagnose, lint, remarks
from agdbg.events import RETAIN_GRAPH, FunctionCall, Kind, head, kind_of, pack_edge
from agdbg.record import Facts, Recorder, Trace

RECORD = 64
PRECISE = {
    "invalid-gradient": "an invalid gradient at index 0 - got [2] but expected shape compatible with [3]",
    "hook-error": "hook 'f' has changed the size of value\n  the gradient has shape [3], and what came back has shape [2]",
    "none-grad": "The differentiated Tensor at index 0 appears to not have been used in the graph.",
    "nan": "Function 'TanhBackward0' returned nan values in its 0th output.",
    "saved-written": "mul_ would write to memory that was saved",
    "checkpoint": """the first op that differs is number 1 of the function:
    first run:     exp -> float32 [3] at File "a.py", line 2, in f: return x.exp()
    recomputation: sum -> float32 [] at File "a.py", line 3, in f: return x.sum()""",
    "once-differentiable": "trying to differentiate twice",
    "gradcheck": """GradcheckError: Jacobian mismatch for output 0 with respect to input 1,
  worst element: output 0[0], input 1[0]: numerical 2, analytical -2
  guess: sign: the analytical gradient is the numerical one with the sign changed""",
    "not-implemented": "You must implement the jvp function",
}
"""Errors of the kinds that the engine tells precisely."""


def sample(made_up):
    """Every diagnosis has something to say here: losses that share, a state carried over, a step, views, refusals."""
    told = made_up(
        "h = tanh(x)\na = exp(h)\nb = relu(h)\na.backward()\nopt.step()\nb.backward()\nv[0] = 1\nw += 1\ngrad(b, [x])"
    )
    told.leaf("x", "0.weight")
    told.view("h", "slice", 7, "v[0]")
    for turn in range(2):
        told.node(f"h{turn}", "TanhBackward0", 1, "tanh(x)", [f"h{turn - 1}" if turn else "x"], result=("h", 0))
        told.node(f"a{turn}", "ExpBackward0", 2, "exp(h)", [f"h{turn}", "x"], result=("a", 0))
        told.node(f"b{turn}", "ReluBackward0", 3, "relu(h)", [f"h{turn}"], result=("b", 0))
        if not turn:
            told.backward(4, "a0", "h0", "x", retain=False)
            told.bump("h", "SGD.step", 5, "opt.step()", 0, 2)
            told.twice(6, "b0", "h0", "b0", retain=True)
    told.twice(6, "b1", "h0", "b1", "h1")
    number = told.start(6, "a1", parent=1)
    told.fail(number, "h1", "inplace-modified", 6, "h", (0, 2))
    told.grad_mode("disabled", 7)
    told.cut("detach", 8)
    told.hook("h1", 4)
    for kind in ("view-inplace", "leaf-inplace", "no-grad-fn"):
        told.error(kind, 8, "a view was created in no_grad mode", storage="h")
    told.emit(Kind.FUNCTION, told.nodes["h1"], 0, told.where(8, "FBackward"), a=FunctionCall.JVP)
    for kind, text in PRECISE.items():
        told.error(kind, 9, text, node="h1", number=number, storage="h", expression="grad(b, [x])")
    suspicious(told)
    told.recorder.close()
    return told.recorder.path


def suspicious(told):
    """What the lints have something to say about: values, checksums, modules, optimizers."""
    told.leaf("w", "1.weight", requires_grad=True)
    told.leaf("u", "2.weight", requires_grad=True)
    told.module("net", "", "Net")
    told.module("layer", "1", "Linear", parent="net")
    told.optimizer(5, "w", "u", expression="opt.step()")
    with told.inside("net"), told.inside("layer"):
        told.node("s", "TanhBackward0", 1, "tanh(x)", ["w"], result=("s", 0))
        told.node("n", "PowBackward1", 2, "exp(h)", ["s", "u"], self=("s", 0), exponent=("h", 2))
        told.node("c", "ReluBackward0", 3, "relu(h)", ["u"], result=("c", 0))
    told.cut("detach", 3, storage="c")
    for label, bad in (("w", 0), ("s", 0), ("n", 2), ("c", 1)):
        told.shape(label, "float32[2, 3]", storage=label, nbytes=24)
        told.summary(label, nans=bad, first_bad=1 if bad else None, elements=6)
    told.probe("s", "s", 11)
    told.probe("n", "h", 12, version=2, slot=1)
    told.bump("s", "SGD.step", 5, "opt.step()", 0, 1)
    number = told.start(6, "n", create=True)
    told.probe("s", "s", 13, when="checked")
    told.probe("n", "h", 12, version=2, slot=1, when="checked")
    told.summary("n", "gradient in", number=number, elements=6)
    for label in ("n", "s"):
        told.summary(label, "gradient out", number=number, infs=3, first_bad=4, elements=6)
    told.summary("w", "gradient in", number=number, nans=1, first_bad=5, elements=6)
    told.ran(number, "n", "s", "w")
    told.finish(number)


@pytest.fixture(params=["made up", "two losses", "carried state", "optimizer step"])
def path(request, made_up, fake_torch, tmp_path):
    if request.param == "made up":
        return sample(made_up)
    return getattr(fake_torch, request.param.replace(" ", "_"))(tmp_path / "fake").path


def findings(path):
    facts = Facts(Trace.open(path))
    found = diagnose(facts)
    everything = [*found, *lint(facts), *remarks(facts)]
    assert json.loads(json.dumps([asdict(each) for each in everything])) is not None
    for each in everything:
        assert each.cause.endswith(".") and each.fix and each.evidence
        assert "None" not in each.cause + each.fix or each not in found, "a value that is not known"
    return found


def test_a_trace_that_is_cut_after_any_record(path):
    whole = (path / "records.bin").read_bytes()
    counts = []
    for end in range(RECORD, len(whole) + 1, RECORD):
        (path / "records.bin").write_bytes(whole[:end])
        counts.append(len(findings(path)))
    assert counts[0] == 0 and counts[-1] >= 1 and counts == sorted(counts), "what is known early stays known"


def test_a_trace_with_a_record_missing(path):
    whole = (path / "records.bin").read_bytes()
    for lost in range(RECORD, len(whole), RECORD):
        (path / "records.bin").write_bytes(whole[:lost] + whole[lost + RECORD :])
        findings(path)


def test_a_trace_without_strings(path):
    (path / "strings.jsonl").unlink()
    assert findings(path) == [], "the kind of an error is a string"


def test_a_trace_with_half_of_its_strings(path):
    lines = (path / "strings.jsonl").read_text().splitlines(keepends=True)
    for kept in range(len(lines)):
        (path / "strings.jsonl").write_text("".join(lines[kept:]))
        findings(path)


SMALL = st.integers(0, 12)
WORD = SMALL | SMALL.map(pack_edge) | st.integers(0, 2**64 - 1) | st.integers(0, 12).map(lambda n: n | (13 - n) << 32)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(places=st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 7), WORD), min_size=1, max_size=12))
def test_words_that_are_nonsense(tmp_path_factory, made_up_once, places):
    path = tmp_path_factory.mktemp("nonsense") / "trace"
    shutil.copytree(made_up_once, path)
    words = np.fromfile(path / "records.bin", "<u8").reshape(-1, 8)
    for row, column, word in places:
        words[1 + row % (len(words) - 1), column] = word
    words.tofile(path / "records.bin")
    facts = Facts(Trace.open(path))
    diagnose(facts), lint(facts), remarks(facts)


@pytest.fixture(scope="module")
def made_up_once(tmp_path_factory, made_up_class):
    def begin(source):
        return made_up_class(tmp_path_factory.mktemp("once"), source)

    return sample(begin)


KINDS = st.sampled_from([*Kind])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(records=st.lists(st.tuples(KINDS, st.sampled_from([0, 1, 2, RETAIN_GRAPH]), *[WORD] * 7), max_size=30))
def test_records_that_are_nonsense(tmp_path_factory, records):
    recorder = Recorder(tmp_path_factory.mktemp("random") / "trace", program={}, engine={}, sees={})
    for kind in ("backward-twice", "inplace-modified", "leaf-inplace", "view-inplace", "no-grad-fn", "SGD.step"):
        recorder.op(kind, ("self", "other"))
    for line in range(7, 14):
        recorder.site_at("train.py", line, "f", f"h = f(h{line})")
    for kind, flags, *words in records:
        recorder.emit(head(kind, 1, flags, 2, 2), *words)
    recorder.close()
    facts = Facts(Trace.open(recorder.path))
    told = {facts.trace.op(int(row[3]) >> 32).name for row in facts.trace.records if kind_of(int(row[0])) == Kind.ERROR}
    assert {each.kind for each in diagnose(facts)} <= told
    lint(facts), remarks(facts)
