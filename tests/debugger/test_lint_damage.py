"""Traces of all kinds, whole, cut and full of nonsense: lints and reports still answer; a million nodes take no quadratic time."""

import json
import shutil
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agdbg.diagnose import diagnose, lint
from agdbg.events import RETAIN_GRAPH, Kind, head, pack_edge
from agdbg.record import Facts, Recorder, Trace
from agdbg.record.format import HEADER
from agdbg.report import hooks, memory, views

RECORD = 64
SOURCE = """
from agdbg_engine.utils.checkpoint import checkpoint
class F(Function):
    @staticmethod
    def forward(ctx, a, b):
        b.mul_(2)
        y = a * b
        ctx.y, ctx.a, ctx.t = y, a, a * 2
        return y
    @staticmethod
    def backward(ctx, g):
        return g * ctx.t, (g * ctx.a).detach()
m = nn.Linear(2, 2)
m.register_full_backward_hook(lambda module, gi, go: (module.bias.grad, None)[1])
state, kept, total = [1.0], [], 0
def scale(t):
    state[0] += 1
    return (t * state[0] * ag.rand(2)).exp()
for turn in range(6):
    h = x * 2; k = x * 3
    k.register_hook(lambda g: (g.mul_(2), None)[1])
    h.retain_grad()
    (h + k).backward(ag.ones(2))
    loss = m(ag.ones(2)).square().sum()
    loss.backward(create_graph=turn == 5)
    kept.append(loss)
    total += loss
    a = x * 1
    a.register_hook(lambda g: None)
    v = a[0]
    a.mul_(2)
    a.sum().backward()
    g, = grad(F.apply(x, x * 1).sum(), x, create_graph=True)
    checkpoint(scale, x, use_reentrant=False, preserve_rng_state=False).sum().backward()
late = x * 2
late.register_hook(print)
x.view_as(x).grad_fn.next_functions[0][0].register_hook(print)
(x * x).sum().backward()
"""


def answers(path):
    """All that is said about a trace; it must be possible to say it."""
    facts = Facts(Trace.open(path))
    found = [*diagnose(facts), *lint(facts)]
    for each in found:
        assert each.cause.endswith(".") and each.fix and each.evidence and "Site(" not in each.cause + each.fix
    reports = [hooks.hook_report(facts), memory.memory_report(facts), *views.view_reports(facts)]
    text = hooks.as_text(reports[0]) + memory.as_text(reports[1]) + views.as_text(reports[2:])
    assert text and json.dumps([asdict(each) for each in (*found, *reports)])
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory, lint_runs_class):
    """The trace of a program with everything wrong."""
    return lint_runs_class(tmp_path_factory.mktemp("whole"))(SOURCE).facts.trace.path


def test_everything_is_found(whole):
    kinds = {each.kind for each in answers(whole)}
    assert kinds >= {
        "unmarked-write", "intermediate-kept", "context-cycle", "backward-cut", "gradient-edited", "hook-left-behind",
        "hook-never-fired", "grad-read-early", "recomputation", "graph-growth", "gradient-cycle",
    }  # fmt: skip


def test_a_trace_that_is_cut(whole, tmp_path):
    path = tmp_path / "cut"
    shutil.copytree(whole, path)
    records = (whole / "records.bin").read_bytes()
    for end in range(RECORD, len(records) + 1, 23 * RECORD):
        (path / "records.bin").write_bytes(records[:end])
        answers(path)


def test_a_trace_without_strings(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "mute")
    lines = (whole / "strings.jsonl").read_text().splitlines(keepends=True)
    for kept in (0, len(lines) // 3, len(lines) // 2, len(lines) - 5):
        (tmp_path / "mute" / "strings.jsonl").write_text("".join(lines[kept:]))
        answers(tmp_path / "mute")
        (tmp_path / "mute" / "strings.jsonl").write_text("".join(lines[:kept]))
        answers(tmp_path / "mute")


SMALL = st.integers(0, 12)
WORD = SMALL | SMALL.map(pack_edge) | st.integers(0, 2**64 - 1) | st.integers(0, 12).map(lambda n: n | (13 - n) << 32)
LIMITS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


@LIMITS
@given(places=st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 7), WORD), min_size=1, max_size=40))
def test_words_that_are_nonsense(tmp_path_factory, whole, places):
    path = tmp_path_factory.mktemp("nonsense") / "trace"
    shutil.copytree(whole, path)
    words = np.fromfile(path / "records.bin", "<u8").reshape(-1, 8)
    for row, column, word in places:
        words[1 + row % (len(words) - 1), column] = word
    words.tofile(path / "records.bin")
    answers(path)


@LIMITS
@given(
    records=st.lists(
        st.tuples(st.sampled_from([*Kind]), st.sampled_from([0, 1, 4, RETAIN_GRAPH]), st.integers(0, 5), *[WORD] * 7),
        max_size=40,
    )
)
def test_records_that_are_nonsense(tmp_path_factory, records):
    recorder = Recorder(tmp_path_factory.mktemp("random") / "trace", program={}, engine={}, sees={})
    for kind in ("tensor", "AddBackward0", "AccumulateGrad", "module-backward", "retain-grad", "gradcheck", "[2, 3]"):
        recorder.op(kind, ("self", "other"))
        recorder.text(kind)
    for line in range(7, 14):
        recorder.site_at("train.py", line, "f", f"h = f(h{line})")
    for kind, flags, a, *words in records:
        recorder.emit(head(kind, 1, flags, a, 2), *words)
    recorder.close()
    answers(recorder.path)


# ----- a million -----

COUNT = 250_000


def block(kind, count, a=0, flags=0):
    made = np.zeros((count, 8), "<u8")
    made[:, 0] = head(kind, 1, flags, a)
    return made


@pytest.fixture(scope="module")
def million(tmp_path_factory):
    """Births that save, runs, shapes and hooks that fire: a quarter of a million each."""
    path = tmp_path_factory.mktemp("million")
    ids = np.arange(1, COUNT + 1, dtype=np.uint64)
    born = block(Kind.BORN, COUNT, 1)
    born[:, 1], born[:, 2], born[:, 3], born[1:, 4], born[:, 6] = ids, ids, 1 << 32 | 3, ids[:-1], ids
    shape = block(Kind.SHAPE, COUNT)
    shape[:, 1], shape[:, 4], shape[:, 5] = ids, ids, 8
    registered = block(Kind.HOOK, 1000)
    registered[:, 1], registered[:, 3], registered[:, 5] = ids[:1000], 2 << 32 | 3, ids[:1000]
    started, finished = block(Kind.PASS_STARTED, 1, 1), block(Kind.PASS_FINISHED, 1)
    started[0, 1:5] = 1, 3, COUNT, 0
    finished[0, 1] = 1
    fired = block(Kind.HOOK, COUNT, 1)
    fired[:, 1], fired[:, 2], fired[:, 3], fired[:, 5] = 1 + ids % 999, 1, 2 << 32 | 3, 1 + ids % 999
    ran = block(Kind.RAN, COUNT)
    ran[:, 1], ran[:, 2], ran[:, 3] = ids[::-1], 1, ids
    with open(path / "records.bin", "wb") as file:
        file.write(HEADER)
        for each in (born, shape, registered, started, fired, ran, finished):
            file.write(each.tobytes())
    lines = [
        {"id": 1, "k": "op", "s": "MulBackward0", "slots": ["self"]},
        {"id": 2, "k": "op", "s": "tensor", "slots": []},
    ]
    site = {
        "id": 3,
        "k": "site",
        "file": "a.py",
        "line": 1,
        "end_line": 1,
        "col": -1,
        "end_col": -1,
        "func": "f",
        "text": "y = x * y",
    }
    (path / "strings.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (*lines, site)))
    (path / "meta.json").write_text(json.dumps({"program": {}, "engine": {}, "sees": {}}))
    return path


def test_a_million_records(million):
    assert answers(million) == []
    report = memory.memory_report(Facts(Trace.open(million)))
    assert (report.storages, report.peak_bytes, report.lines[0].storages) == (COUNT, 8 * COUNT, COUNT)
