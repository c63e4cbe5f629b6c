"""The packed words: whatever is packed is what is unpacked."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agdbg import events
from agdbg.events import Kind, Provenance
from agdbg.record import Facts, Trace

PAGE = Path(__file__).parents[2] / "docs" / "events.md"


def below(bits):
    return st.integers(0, 2**bits - 1)


@given(below(8), below(32), below(8), below(8), below(8))
def test_head(kind, thread, flags, a, b):
    word = events.head(kind, thread, flags, a, b)
    assert word < 2**64
    parts = (events.kind_of(word), events.thread_of(word), events.flags_of(word))
    assert parts == (kind, thread, flags)
    assert (events.a_of(word), events.b_of(word)) == (a, b)


@given(st.integers(1, 2**48 - 1), below(16))
def test_edge(node, nr):
    assert events.unpack_edge(events.pack_edge(node, nr)) == (node, nr)


@given(st.integers(1, 2**36 - 1), below(20), below(8))
def test_save(storage, version, slot):
    word = events.pack_save(storage, version, slot)
    assert 0 < word < 2**64
    assert events.unpack_save(word) == (storage, version, slot)


@given(below(32), below(32))
def test_pair_and_site_op(low, high):
    assert events.unpack_pair(events.pack_pair(low, high)) == (low, high)
    assert events.unpack_site_op(events.pack_site_op(low, high)) == (low, high)
    assert events.pack_site_op(low, high) == low + high * 2**32


def test_layout_is_that_of_the_format():
    assert events.head(Kind.BORN, thread=1, flags=2, a=3, b=4) == 0x00000001_04_03_02_01
    assert events.pack_edge(5, 6) == 0x0006_0000_0000_0005
    assert events.pack_save(1, 2, 3) == 3 << 56 | 2 << 36 | 1


def test_what_does_not_fit():
    assert events.pack_save(2**36, 0, 0) == events.NOTHING
    assert events.pack_save(1, 2**20, 0) == events.NOTHING
    assert events.pack_save(1, 0, 256) == events.NOTHING
    assert events.unpack_edge(events.pack_edge(1, 70_000)) == (1, 65535)
    assert events.a_of(events.head(1, a=300)) == events.b_of(events.head(1, b=300)) == 255


def test_no_edge():
    assert events.pack_edge(0, 3) == events.NOTHING
    assert events.unpack_edge(events.NOTHING) == (0, 0)


def test_provenance():
    for provenance in Provenance:
        flags = provenance | events.RETAIN_GRAPH
        assert events.provenance_of(events.head(1, flags=flags)) is provenance
    assert events.provenance_of(events.head(1, flags=3)) is Provenance.UNKNOWN


def test_kinds_are_numbered_as_documented():
    assert [kind.value for kind in Kind] == list(range(1, 37))


def test_the_page_of_events_lists_every_kind():
    rows = re.findall(r"^\| (\d+) \| ([A-Z_]+) \|", PAGE.read_text(), re.MULTILINE)
    assert [(int(number), name) for number, name in rows] == [(kind.value, kind.name) for kind in Kind]
    described = re.findall(r"^\*\*([A-Z_]+)\*\*", PAGE.read_text(), re.MULTILINE)
    assert sorted(described) == sorted(kind.name for kind in Kind)


def test_the_example_of_the_page_of_events_runs(tmp_path, monkeypatch):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "example.py", "exec"), {})
    facts = Facts(Trace.open(tmp_path / "trace"))
    (node,) = map(facts.node, facts.node_ids.tolist())
    assert node.op.name == "MulBackward0" and node.site.file == "example.py"
    assert [edge.node for edge in node.edges] == [1, 0] and node.saves[0].slot == "other"
