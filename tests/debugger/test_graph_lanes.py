"""Lanes: every edge can be followed from its producer's mark down to its consumer's row."""

from hypothesis import given
from hypothesis import strategies as st

from agdbg.graph import samples
from agdbg.graph.lanes import NODE, lane_rows
from agdbg.graph.model import Graph, GraphEdge, GraphNode
from agdbg.graph.topology import topology_of

DOWN = "│┼├┤"
"""Cells from which a line goes on to the row below."""


def graph_with(size, pairs):
    edges = [GraphEdge(consumer, producer) for consumer, producer in pairs]
    return Graph("", [GraphNode(number, "Op") for number in range(1, size + 1)], edges)


def drawn(graph, most=8):
    return list(lane_rows(topology_of(graph), most))


@st.composite
def acyclic(draw):
    size = draw(st.integers(2, 20))
    pair = st.tuples(st.integers(1, size), st.integers(1, size)).filter(lambda pair: pair[0] != pair[1])
    pairs = {(max(pair), min(pair)) for pair in draw(st.lists(pair, max_size=30))}
    return graph_with(size, sorted(pairs))


def followed(rows):
    """Producers of each node as a reader of the lines finds them: up from the row, each lane to its mark."""
    found = {}
    for at, row in enumerate(rows):
        node = row.cells.index(NODE)
        touched = {node}
        for step in (-2, 2):
            column = node + step
            while 0 <= column < len(row.cells) and row.cells[column - step // 2] == "─":
                if row.cells[column] in "├┤╰╯┴┼":
                    touched.add(column)
                column += step
        found[row.node] = {mark_above(rows, at, column) for column in touched} - {None}
    return found


def mark_above(rows, at, column):
    """The node whose mark a lane leads up to, or None where the lane above is empty."""
    for row in reversed(rows[:at]):
        cell = row.cells[column] if column < len(row.cells) else " "
        if cell == NODE:
            return row.node
        if cell not in DOWN:
            return None
    return None


@given(acyclic())
def test_lines_lead_from_each_node_to_just_what_it_uses(graph):
    at = graph.positions()
    rows = drawn(graph, 30)
    wanted = {node: set() for node in at.values()}
    for edge in graph.edges:
        wanted[at[edge.src]].add(at[edge.dst])
    assert followed(rows) == wanted
    assert not any(row.undrawn for row in rows)


@given(acyclic(), st.integers(1, 4))
def test_lanes_beyond_the_limit_are_named(graph, most):
    at = graph.positions()
    for row in drawn(graph, most):
        assert len(row.cells) <= 2 * most + 1
        assert row.cells.count(NODE) == 1
        wanted = {at[edge.dst] for edge in graph.edges if at[edge.src] == row.node}
        assert set(row.undrawn) <= wanted


def test_all_but_the_drawn_lanes_of_a_fan_are_named():
    rows = drawn(graph_with(6, [(6, number) for number in range(1, 6)]), 3)
    assert rows[-1].undrawn == [3, 4]


def test_rows_are_in_creation_order():
    assert [row.node for row in drawn(samples.rnn(4))] == list(range(36))


def test_a_chain_stays_in_one_lane():
    assert {row.cells for row in drawn(samples.chain(50))} == {NODE}


def test_unconnected_neighbours_do_not_look_joined():
    assert [row.cells.index(NODE) for row in drawn(graph_with(4, []))] == [0, 2, 0, 2]


def test_a_producer_that_comes_later_is_named():
    rows = drawn(graph_with(2, [(1, 2)]))
    assert rows[0].undrawn == [1]
    assert rows[1].undrawn == []


def test_a_residual_block():
    graph = graph_with(4, [(2, 1), (3, 2), (4, 3), (4, 1)])
    assert [row.cells for row in drawn(graph)] == [NODE, f"├─{NODE}", f"│ {NODE}", f"{NODE}─╯"]


def test_lanes_stay_few_however_long_the_graph():
    widths = {max(len(row.cells) for row in drawn(samples.rnn(steps))) for steps in (10, 300)}
    assert len(widths) == 1
