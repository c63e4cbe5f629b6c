"""Lints of a trace with many nodes: the answers are right, and no lint walks all of them in Python."""

import json

import numpy as np
import pytest

from agdbg.diagnose import LINTS, REMARKS
from agdbg.diagnose.case import Case
from agdbg.events import ACCUMULATE_SEQUENCE, Kind, head, pack_edge, pack_float, pack_pair, pack_save, pack_site_op
from agdbg.record import Facts, Recorder, Trace
from agdbg.record.format import HEADER

NODES, LEAVES, LINES = 100_000, 200, 50


def rows(kind, count, **fields):
    block = np.zeros((count, 8), "<u8")
    block[:, 0] = head(kind, 1, **fields)
    return block


def summaries(what, ids, number=0):
    block = rows(Kind.SUMMARY, len(ids), a=what)
    block[:, 1], block[:, 2], block[:, 3], block[:, 4], block[:, 7] = ids, number, pack_float(1.0), pack_float(1.0), 6
    return block


def written(path, bad):
    """A chain of products with 100 of 200 parameters, saved and checked, whose values are all bad from the tenth node on."""
    recorder = Recorder(path, program={}, engine={}, sees={})
    mul, leaf = recorder.op("MulBackward0", ("self", "other")), recorder.op("AccumulateGrad")
    call, step, adam = recorder.op("backward"), recorder.op("Adam.step"), recorder.op("Adam")
    sites = [recorder.site_at("train.py", line, "f", f"h = h * w{line}") for line in range(1, LINES + 1)]
    kind, names = recorder.text("parameter"), [recorder.text(f"{index}.weight") for index in range(LEAVES)]
    recorder.close()
    leaves = np.arange(1, LEAVES + 1, dtype=np.uint64)
    ids = np.arange(LEAVES + 1, LEAVES + 1 + NODES, dtype=np.uint64)
    storages = ids + NODES
    born = rows(Kind.BORN, LEAVES)
    born[:, 1], born[:, 2], born[:, 3] = leaves, ACCUMULATE_SEQUENCE, pack_site_op(0, leaf)
    named = rows(Kind.TENSOR, LEAVES, a=1)
    named[:, 1:4], named[:, 4] = leaves[:, None], [pack_pair(name, kind) for name in names]
    held = rows(Kind.OPTIMIZER, LEAVES)
    held[:, 1], held[:, 2], held[:, 3] = leaves, pack_site_op(sites[0], adam), 1
    chain = rows(Kind.BORN, NODES, a=2, b=1)
    chain[:, 1], chain[:, 2] = ids, np.arange(NODES)
    chain[:, 3] = [pack_site_op(sites[index % LINES], mul) for index in range(NODES)]
    chain[0, 4], chain[1:, 4] = 1, ids[:-1]
    chain[:, 5] = np.arange(NODES) % (LEAVES // 2) + 1
    chain[:, 6] = [pack_save(int(storage), 0, 0) for storage in storages]
    outputs, saved = summaries(0, ids), rows(Kind.PROBE, NODES)
    saved[:, 1], saved[:, 3], saved[:, 5] = storages, 7, ids
    checked = saved.copy()
    checked[:, 0] = head(Kind.PROBE, 1, a=1)
    started, finished = rows(Kind.PASS_STARTED, 1, a=1), rows(Kind.PASS_FINISHED, 1)
    started[0, 1:4] = 1, pack_site_op(sites[1], call), pack_edge(int(ids[-1]))
    finished[0, 1] = 1
    order = np.concatenate([ids[::-1], leaves[: LEAVES // 2]])
    ran = rows(Kind.RAN, len(order))
    ran[:, 1], ran[:, 2], ran[:, 3] = order, 1, np.arange(len(order))
    came, went = summaries(1, order, 1), summaries(2, ids[::-1], 1)
    wrote = rows(Kind.BUMP, LEAVES)
    wrote[:, 1], wrote[:, 3], wrote[:, 4] = leaves, 1, pack_site_op(sites[2], step)
    if bad:
        checked[::3, 3] = 8
        for block in (outputs[10:], came[1:], went):
            block[:, 5], block[:, 6] = pack_pair(2, 0), 4
    with open(path / "records.bin", "wb") as file:
        file.write(HEADER)
        for block in (born, named, held, chain, outputs, saved, started, checked, came, ran, went, finished, wrote):
            file.write(block.tobytes())
    meta = json.loads((path / "meta.json").read_text())
    (path / "meta.json").write_text(json.dumps({**meta, "counts": {}}))
    return Case(Facts(Trace.open(path)))


@pytest.mark.parametrize("bad", [False, True])
def test_many_nodes(tmp_path, bad):
    case = written(tmp_path / "trace", bad)
    found = [each.finding for diagnosis in (*LINTS, *REMARKS) for each in diagnosis(case)]
    kinds = {each.kind for each in found}
    assert kinds == ({"no-gradient", "nan", "silent-write"} if bad else {"no-gradient"})
    (unused,) = [each for each in found if each.kind == "no-gradient"]
    assert "`100.weight`, `101.weight`, `102.weight` and 97 more get no gradient" in unused.cause
    for each in found:
        if each.kind == "nan":
            assert each.evidence[0].site.line == 11 and "the first at element 3" in each.evidence[0].note
    assert sum(each.kind == "silent-write" for each in found) == (50 if bad else 0), (
        "one for each memory, up to a limit"
    )
