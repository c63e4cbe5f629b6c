"""A million records: the answers are right, and nothing walks all records in Python to give them."""

import json

import numpy as np
import pytest

from agdbg.events import Kind, head, pack_edge
from agdbg.record import Facts, Trace
from agdbg.record.format import HEADER
from agdbg.record.info import summary

NODES, BUMPS, STORAGES = 450_000, 99_998, 1_000
FIRST, STEP = 10_000, 3
COUNT = 2 * NODES + BUMPS + 2


def ids():
    return FIRST + STEP * np.arange(NODES, dtype=np.uint64)


def rows(kind, count):
    block = np.zeros((count, 8), "<u8")
    block[:, 0] = head(kind, 1)
    return block


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """A chain of nodes born in a shuffled order, writes, and one pass that ran the chain backwards."""
    path = tmp_path_factory.mktemp("million")
    born = rows(Kind.BORN, NODES)
    born[:, 0] = head(Kind.BORN, 1, 0, 1, 0)
    born[:, 1], born[:, 2], born[:, 3] = ids(), np.arange(NODES), 1 << 32
    born[1:, 4] = ids()[:-1]
    bumps = rows(Kind.BUMP, BUMPS)
    bumps[:, 1] = np.arange(BUMPS) % STORAGES + 1
    bumps[:, 2] = np.arange(BUMPS) // STORAGES
    bumps[:, 3] = bumps[:, 2] + 1
    started, finished = rows(Kind.PASS_STARTED, 1), rows(Kind.PASS_FINISHED, 1)
    started[0, 1] = finished[0, 1] = 1
    started[0, 3] = pack_edge(int(ids()[-1]))
    ran = rows(Kind.RAN, NODES)
    ran[:, 1], ran[:, 2], ran[:, 3] = ids()[::-1], 1, np.arange(NODES)
    born, ran = (block[np.random.default_rng(seed).permutation(NODES)] for seed, block in enumerate((born, ran)))
    with open(path / "records.bin", "wb") as file:
        file.write(HEADER)
        for block in (born, bumps, started, ran, finished):
            file.write(block.tobytes())
    (path / "strings.jsonl").write_text('{"id": 1, "k": "op", "s": "AddBackward0", "slots": []}\n')
    (path / "meta.json").write_text(json.dumps({"program": {}, "engine": {}, "sees": {}}))
    return Facts(Trace.open(path))


def test_it_is_whole(facts):
    assert len(facts.trace.records) == COUNT == 1_000_000
    assert facts.trace.problems == []


def test_nodes(facts):
    assert np.array_equal(facts.node_ids, ids())
    for place in (0, 1, NODES // 2, NODES - 1):
        number = FIRST + STEP * place
        node = facts.node(number)
        assert (node.id, node.seq, node.op.name) == (number, place, "AddBackward0")
        assert [edge.node for edge in node.edges] == [number - STEP if place else 0]
        assert facts.node(number + 1) is None


def test_a_long_walk(facts):
    node, steps = facts.node(int(ids()[-1])), 0
    while node and steps < 5_000:
        node, steps = facts.node(node.edges[0].node), steps + 1
    assert node.seq == NODES - 1 - 5_000


def test_the_pass(facts):
    (found,) = facts.passes
    assert found.roots == ((int(ids()[-1]), 0),)
    assert (found.outcome, found.end_row) == ("ok", COUNT - 1)
    assert np.array_equal(facts.ran(1), ids()[::-1])
    assert facts.passes_of(FIRST) == [1] and facts.freed_by(FIRST) == 1
    assert facts.passes_of(FIRST + 1) == [] and facts.freed_by(FIRST + 1) == 0


def test_writes(facts):
    each = [facts.bumps(storage) for storage in range(1, STORAGES + 1)]
    assert sum(map(len, each)) == BUMPS and facts.bumps(STORAGES + 1) == []
    for storage, found in enumerate(each, 1):
        assert {bump.storage for bump in found} == {storage}
        assert [bump.old for bump in found] == list(range(len(found)))


def test_summary(facts):
    info = summary(facts.trace)
    assert info["nodes"] == NODES and info["passes"] == {"ok": 1, "error": 0, "unfinished": 0}
    assert info["records"] == {
        "born": NODES,
        "ran": NODES,
        "pass_started": 1,
        "pass_finished": 1,
        "bump": BUMPS,
    }
    assert info["bytes"] > 64 * COUNT
