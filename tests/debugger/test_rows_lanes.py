"""Rows that are fed bit by bit: they look as if all had been there from the start, and lanes say what edges say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agdbg.events import ACCUMULATE_SEQUENCE, Kind, Provenance, head, pack_edge
from agdbg.graph import lanes
from agdbg.graph.lanes import NODE, Extent, Lanes
from agdbg.graph.rows import GraphRows
from agdbg.record.growing import Growing
from agdbg.record.lookup import Strings

SMALL = Extent(block=4, span=9)
DOWN = "│┼├┤"


def record(kind, number, *words, **fields):
    return [head(kind, 1, **fields), number, *words, *(0,) * (6 - len(words))]


def born(number, producers, sequence=0):
    inline = [*map(pack_edge, producers), 0, 0][:2]
    return record(Kind.BORN, number, sequence, 0, *inline, a=len(producers))


def leaf(number):
    return born(number, [], ACCUMULATE_SEQUENCE)


def edge(number, index, producer, provenance=Provenance.OBSERVED):
    return record(Kind.EDGE, number, index, pack_edge(producer), flags=provenance)


def array(records):
    return np.array(records, np.uint64).reshape(-1, 8)


class Fed:
    """A model that has read so many of the records."""

    def __init__(self, records, most=8, extent=SMALL):
        self.all, self.growing = array(records), Growing()
        self.rows = GraphRows(self.growing, Strings(), most, extent)

    def feed(self, count=None):
        self.growing.grow(self.all[:count])
        self.rows.update()
        return self

    def page(self, start=0, count=10**9):
        return self.rows.page(start, count)


def edges_told(records):
    """The plain way: of each node its producers by input, those told with the best provenance and last."""
    found, told = {}, {}
    for words in records:
        kind, number = words[0] & 255, words[1]
        if kind == Kind.BORN:
            found[number] = {i: word & (1 << 48) - 1 for i, word in enumerate(words[4:6]) if word}
        else:
            told.setdefault(number, []).append((-(words[0] >> 8 & 3), words[2], words[3] & (1 << 48) - 1))
    for number, inputs in found.items():
        best = dict.fromkeys(inputs, 0)  # what a birth tells is observed, and told first
        for rank, index, producer in told.get(number, []):
            if index not in best or rank >= best[index]:
                best[index], inputs[index] = rank, producer
    return {n: list(dict.fromkeys(p for _, p in sorted(inputs.items()) if p)) for n, inputs in found.items()}


def order_of_birth(records):
    leaves = {w[1] for w in records if w[0] & 255 == Kind.BORN and w[2] == ACCUMULATE_SEQUENCE}
    nodes = dict.fromkeys(w[1] for w in records if w[0] & 255 == Kind.BORN and w[1] not in leaves)
    return {node: row for row, node in enumerate(nodes)}, leaves


@st.composite
def recordings(draw):
    """Nodes with sparse ids, leaves, edges told at birth, late, twice, and to nodes born late or never."""
    count = draw(st.integers(1, 40))
    ids = draw(st.lists(st.integers(1, 2**40), min_size=count, max_size=count, unique=True))
    is_leaf = draw(st.lists(st.sampled_from([False, False, False, True]), min_size=count, max_size=count))
    near = st.one_of(st.integers(1, 6), st.integers(1, 30))
    records = []
    for at, number in enumerate(ids):
        before = [ids[at - back] for back in draw(st.lists(near, max_size=3)) if back <= at]
        if is_leaf[at]:
            records.append(leaf(number))
            continue
        records.append(born(number, before))
        records += [edge(number, index, producer) for index, producer in enumerate(before[2:], 2)]
    nodes = [number for number, lone in zip(ids, is_leaf, strict=True) if not lone]
    if nodes:
        late = st.builds(
            edge,
            st.sampled_from(nodes),
            st.integers(0, 4),
            st.sampled_from([*ids, 2**41]),
            st.sampled_from(list(Provenance)),
        )
        records += draw(st.lists(late, max_size=6))
        again = st.builds(born, st.sampled_from(nodes), st.lists(st.sampled_from(ids), max_size=2), st.just(0))
        records += draw(st.lists(again, max_size=1))
    shuffled = draw(st.booleans())
    return draw(st.permutations(records)) if shuffled else records


@settings(max_examples=120)
@given(recordings(), st.data())
def test_rows_fed_bit_by_bit_look_as_if_fed_at_once(records, data):
    whole = Fed(records).feed().page()
    growing, count = Fed(records), 0
    while count < len(records):
        count += data.draw(st.integers(1, 15))
        growing.feed(count)
        start = data.draw(st.integers(0, 40))
        fresh = Fed(records[:count]).feed().page(start, 7)
        assert growing.page(start, 7) == fresh
    assert growing.page() == whole


@settings(max_examples=120)
@given(recordings(), st.integers(1, 40), st.integers(0, 40), st.integers(0, 9))
def test_a_row_looks_the_same_wherever_the_window_starts(records, most, start, count):
    whole = Fed(records, most).feed().page()
    assert Fed(records, most).feed().page(start, count) == whole[start : start + count]


@settings(max_examples=200)
@given(recordings(), st.sampled_from([SMALL, Extent(3, 5), Extent(1, 3), Extent(64, 64)]))
def test_lanes_connect_what_edges_say(records, extent):
    rows = Fed(records, 40, extent).feed().page()
    place, leaves = order_of_birth(records)
    told = edges_told(records)
    assert [row.node for row in rows] == list(place)
    for row in rows:
        producers = [place[each] for each in told[row.node] if each in place]
        near = [each for each in producers if 0 < row.row - each <= extent.span]
        assert set(followed(rows, row.row)) == set(near)
        assert row.undrawn == [each for each in producers if each not in near]
        assert row.leaves == [each for each in told[row.node] if each in leaves]


def followed(rows, at):
    """The rows that a reader comes to who follows the lines of a row upwards."""
    cells = rows[at].cells
    node = cells.index(NODE)
    touched = {node}
    for step in (-2, 2):
        column = node + step
        while 0 <= column < len(cells) and cells[column - step // 2] == "─":
            touched |= {column} if cells[column] in "├┤╰╯┴┼" else set()
            column += step
    return {mark_above(rows, at, column) for column in touched} - {None}


def mark_above(rows, at, column):
    for above in reversed(rows[:at]):
        cell = above.cells[column] if column < len(above.cells) else " "
        if cell == NODE:
            return above.row
        if cell not in DOWN:
            return None
    return None


@settings(max_examples=200)
@given(recordings(), st.integers(1, 3))
def test_lanes_beyond_the_limit_are_named(records, most):
    place, _ = order_of_birth(records)
    told = edges_told(records)
    for row in Fed(records, most).feed().page():
        producers = {place[each] for each in told[row.node] if each in place}
        assert row.cells.count(NODE) == 1 and len(row.cells) <= 2 * most + 1
        assert set(row.undrawn) <= producers
        assert {each for each in producers if each >= row.row or row.row - each > SMALL.span} <= set(row.undrawn)


def test_rows_and_leaves():
    model = Fed([leaf(5), born(7, [5]), born(9, [7, 5]), leaf(11), born(13, [11])]).feed().rows
    assert model.total == 3
    assert [model.row_of(number) for number in (7, 9, 13)] == [0, 1, 2]
    assert model.row_of(5) == 1 and model.row_of(11) == 2  # a leaf is where it was used last
    assert model.row_of(6) is None and model.row_of(2**63) is None
    assert model.is_leaf(5) and not model.is_leaf(7) and not model.is_leaf(6)


def test_a_leaf_that_nobody_uses_has_no_row():
    assert Fed([leaf(5)]).feed().rows.row_of(5) is None


def test_a_chain_stays_in_one_lane_across_blocks():
    records = [born(number, [number - 1] if number > 1 else []) for number in range(1, 30)]
    assert {row.cells for row in Fed(records).feed().page()} == {NODE}


def test_a_lane_stays_in_its_column_across_blocks():
    records = [born(number, [number - 1] if number > 1 else []) for number in range(1, 9)]
    records.append(born(9, [8, 1]))
    cells = [row.cells for row in Fed(records).feed().page()]
    assert cells == [NODE, f"├─{NODE}", *[f"│ {NODE}"] * 6, f"{NODE}─╯"]


def test_a_consumer_that_reaches_back_changes_rows_that_were_seen():
    records = [born(number, [number - 1] if number > 1 else []) for number in range(1, 10)]
    model = Fed([*records[:8], born(9, [8, 2])])
    assert {row.cells for row in model.feed(8).page()} == {NODE}
    assert [row.cells for row in model.feed().page(2, 2)] == [f"├─{NODE}", f"│ {NODE}"]


def test_an_edge_told_late_and_one_told_anew():
    model = Fed([born(1, []), born(2, []), born(3, [2]), edge(3, 1, 1), edge(3, 0, 1), edge(3, 2, 2)])
    assert [row.cells for row in model.feed(3).page()] == [NODE, f"  {NODE}", f"  {NODE}"]
    assert [row.cells for row in model.feed(4).page()] == [NODE, f"│ {NODE}", f"{NODE}─╯"]
    assert [row.cells for row in model.feed(5).page()] == [NODE, f"│ {NODE}", NODE]
    assert [row.cells for row in model.feed(6).page()] == [NODE, f"│ {NODE}", f"{NODE}─╯"]


@pytest.mark.parametrize("size", [2_000, 20_000])
def test_the_work_of_a_page_does_not_grow_with_the_graph(size, monkeypatch):
    drawn = []
    monkeypatch.setattr(lanes, "draw", lambda *args: drawn.append(1) or "")
    ids = np.arange(1, size + 1, dtype=np.uint64)
    records = np.zeros((size, 8), np.uint64)
    records[:, 0], records[:, 1] = head(Kind.BORN, 1, 0, 2, 0), ids
    records[1:, 4], records[500:, 5] = ids[:-1], ids[:-500]
    model = Fed(records, extent=Extent())
    model.feed().page(size - 40, 40)
    assert len(drawn) <= 1024
    assert model.rows.lanes.swept <= 0.6 * size  # the lanes that cross a border between blocks


def test_growing_by_little_sweeps_little():
    size = 8_000
    records = [born(number, [number - 1, max(number - 700, 0)]) for number in range(1, size + 1)]
    model = Fed(records, extent=Extent())
    model.feed(size - 100).page(size - 140, 40)
    before = model.rows.lanes.swept
    for count in range(size - 99, size + 1):
        model.feed(count).page(count - 40, 40)
    assert model.rows.lanes.swept - before <= 100 * 702


@given(st.lists(st.integers(0, 8), min_size=1, max_size=30))
def test_the_sweep_may_be_taken_up_anywhere(spans):
    ends = np.array([row + span if span and row + span < len(spans) else -1 for row, span in enumerate(spans)])
    whole, parts = Lanes(3, SMALL), Lanes(3, SMALL)
    whole.update(ends, 0)
    known = np.full(0, -1)
    for count in range(1, len(ends) + 1):
        now = np.where(ends[:count] < count, ends[:count], -1)
        differs = np.flatnonzero(now[: len(known)] != known)
        parts.update(now, int(differs[0]) if len(differs) else len(known))
        known = now
    used = [[p for p in range(row) if ends[p] == row] for row in range(len(ends))]
    for number, start in enumerate(range(0, len(ends), SMALL.block)):
        block = used[start : start + SMALL.block]
        assert parts.block(number, block) == whole.block(number, block)
