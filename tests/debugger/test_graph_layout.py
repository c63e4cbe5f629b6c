"""The layered layout: nothing overlaps, all edges point one way, cost is linear, nothing recurses."""

import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agdbg.graph import samples
from agdbg.graph.crossings import count_crossings
from agdbg.graph.layers import MAX_SPAN
from agdbg.graph.layout import layout
from agdbg.graph.model import Graph, GraphEdge, GraphNode
from agdbg.graph.shelves import pack
from agdbg.graph.topology import topology_of

SIZE = (120.0, 50.0)


def fixed(node, ports_to, ports_from):
    return SIZE


def graph_with(size, pairs):
    """A graph of nodes 1 to `size` and edges (consumer, producer)."""
    edges = [GraphEdge(consumer, producer) for consumer, producer in pairs]
    return Graph("", [GraphNode(number, "Op") for number in range(1, size + 1)], edges)


@st.composite
def acyclic(draw, most=30):
    size = draw(st.integers(0, most))
    if size < 2:
        return graph_with(size, [])
    pair = st.tuples(st.integers(1, size), st.integers(1, size)).filter(lambda pair: pair[0] != pair[1])
    pairs = draw(st.lists(pair, max_size=2 * size))
    return graph_with(size, [(max(pair), min(pair)) for pair in pairs])


@st.composite
def any_graph(draw):
    """Also edges against creation order, cycles and self-loops, as a damaged trace may hold."""
    size = draw(st.integers(1, 14))
    ends = st.integers(1, size)
    return graph_with(size, draw(st.lists(st.tuples(ends, ends), max_size=3 * size)))


sizes = st.lists(st.tuples(st.integers(20, 300), st.integers(20, 200)), min_size=1, max_size=7)


def measure_from(choices):
    return lambda node, ports_to, ports_from: tuple(map(float, choices[node % len(choices)]))


def overlap(one, other):
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def check_boxes(placed):
    for at, box in enumerate(placed.boxes):
        assert box.x >= -1e-6 and box.y >= -1e-6
        assert box.x + box.width <= placed.width + 1e-6
        assert box.y + box.height <= placed.height + 1e-6
        assert not any(overlap(box, other) for other in placed.boxes[:at])


def check_edges(graph, placed):
    """Routed edges climb from consumer to producer; every edge is routed or has a port at both ends."""
    at = graph.positions()
    routed = Counter(route.edge for route in placed.routes)
    ports_to = Counter(edge for edges in placed.ports_to.values() for edge in edges)
    ports_from = Counter(edge for edges in placed.ports_from.values() for edge in edges)
    assert ports_to == ports_from
    assert routed + ports_to == Counter(range(len(graph.edges)))
    for route in placed.routes:
        consumer, producer = at[graph.edges[route.edge].src], at[graph.edges[route.edge].dst]
        assert 0 < placed.layer[consumer] - placed.layer[producer] <= MAX_SPAN
        upper, lower = placed.boxes[producer], placed.boxes[consumer]
        assert upper.y + upper.height < lower.y
        heights = [lower.y, *(y for _, below, above in route.bends for y in (below, above))]
        heights.append(upper.y + upper.height)
        assert heights == sorted(heights, reverse=True)


def check_lines_keep_clear(placed):
    """Where a line passes a row, no box of the row is in its way."""
    for route in placed.routes:
        for x, below, above in route.bends:
            for box in placed.boxes:
                same_row = above < box.y + box.height and box.y < below
                assert not (same_row and box.x < x < box.x + box.width)


@given(acyclic(), sizes)
@settings(deadline=None)
def test_boxes_keep_apart_and_edges_point_one_way(graph, choices):
    placed = layout(graph, measure_from(choices))
    assert len(placed.boxes) == len(graph.nodes)
    check_boxes(placed)
    check_edges(graph, placed)
    check_lines_keep_clear(placed)
    assert not placed.ports_to or max(placed.layer) > MAX_SPAN


@given(any_graph(), sizes)
@settings(deadline=None)
def test_impossible_edges_become_ports(graph, choices):
    placed = layout(graph, measure_from(choices))
    check_boxes(placed)
    check_edges(graph, placed)


@given(acyclic())
@settings(deadline=None)
def test_a_layout_is_always_the_same(graph):
    again = Graph(graph.title, list(graph.nodes), list(graph.edges))
    assert layout(graph, fixed) == layout(again, fixed)


@given(acyclic(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_puts_producers_first_however_nodes_are_told(graph, shuffle):
    shuffle.shuffle(graph.nodes)
    topology = topology_of(graph)
    place = {node: at for at, node in enumerate(topology.order)}
    assert sorted(topology.order) == list(range(len(graph.nodes)))
    assert not topology.against
    pairs = zip(topology.consumers, topology.producers, strict=True)
    assert all(place[producer] < place[consumer] for consumer, producer in pairs)


def test_nothing_to_lay_out():
    placed = layout(Graph(), fixed)
    assert (placed.width, placed.height, placed.boxes, placed.routes) == (0, 0, [], [])


def test_a_single_node_fills_the_drawing():
    placed = layout(graph_with(1, []), fixed)
    assert placed.boxes == [(0, 0, *SIZE)]
    assert (placed.width, placed.height) == SIZE


def test_two_edges_between_the_same_nodes_are_two_lines():
    placed = layout(graph_with(2, [(2, 1), (2, 1)]), fixed)
    starts = {route.start for route in placed.routes}
    assert len(placed.routes) == len(starts) == 2


def test_an_edge_to_nowhere_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="#7"):
        layout(graph_with(2, [(2, 7)]), fixed)


def test_two_nodes_with_one_id_are_an_error_that_names_it():
    graph = Graph("", [GraphNode(3, "Op"), GraphNode(5, "Op"), GraphNode(5, "Op")])
    with pytest.raises(ValueError, match="5"):
        layout(graph, fixed)


def test_a_chain_is_a_straight_line():
    placed = layout(samples.chain(40), fixed)
    assert placed.layer == list(range(40))
    assert {box.x for box in placed.boxes} == {0}


def test_edges_longer_than_the_limit_become_ports_at_both_ends():
    graph = samples.chain(40)
    graph.edges += [GraphEdge(1 + MAX_SPAN, 1), GraphEdge(2 + MAX_SPAN, 1)]
    short, long = len(graph.edges) - 2, len(graph.edges) - 1
    placed = layout(graph, fixed)
    assert placed.ports_to == {1 + MAX_SPAN: [long]}
    assert placed.ports_from == {0: [long]}
    routes = {route.edge: route for route in placed.routes}
    assert len(routes[short].bends) == MAX_SPAN - 1


def test_measure_is_told_of_ports():
    graph = samples.chain(20)
    graph.edges.append(GraphEdge(20, 1))
    told = {}
    layout(graph, lambda node, to, come: told.update({node: (len(to), len(come))}) or SIZE)
    assert told[19] == (1, 0)
    assert told[0] == (0, 1)
    assert told[5] == (0, 0)


def test_weights_stand_next_to_what_uses_them():
    graph = samples.mlp()
    placed = layout(graph, fixed)
    weights = [node.id for node in graph.nodes if node.op == "TBackward0"]
    at = graph.positions()
    spans = {placed.layer[at[edge.src]] - placed.layer[at[edge.dst]] for edge in graph.edges if edge.dst in weights}
    assert spans == {1}


def test_the_trunk_is_straight():
    graph = samples.rnn(12)
    placed = layout(graph, fixed)
    trunk = [box.x for node, box in zip(graph.nodes, placed.boxes, strict=True) if node.op == "TanhBackward0"]
    assert max(trunk) - min(trunk) < 1


def test_unconnected_parts_are_packed_into_a_page():
    graph = graph_with(900, [])
    placed = layout(graph, fixed)
    assert set(placed.layer) == {0}
    assert 0.5 < placed.width / placed.height < 4


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500)), max_size=20), st.integers(1, 50))
def test_shelves_keep_their_gap(boxes, gap):
    corners = pack(boxes, gap)
    for at, ((x, y), (width, height)) in enumerate(zip(corners, boxes, strict=True)):
        for (other_x, other_y), (other_width, other_height) in zip(corners[:at], boxes[:at], strict=True):
            beside = x + width + gap <= other_x or other_x + other_width + gap <= x
            below = y + height + gap <= other_y or other_y + other_height + gap <= y
            assert beside or below


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25))
def test_crossings_are_counted_as_by_hand(pairs):
    above = [[] for _ in range(16)]
    below = [[] for _ in range(16)]
    for upper, lower in pairs:
        above[8 + lower].append(upper)
        below[upper].append(8 + lower)
    by_hand = sum((one[0] - other[0]) * (one[1] - other[1]) < 0 for at, one in enumerate(pairs) for other in pairs[:at])
    assert count_crossings([list(range(8)), list(range(8, 16))], above, below) == by_hand


def test_barycentres_undo_a_shuffled_ladder():
    """Twenty parallel chains whose nodes come in any order can be drawn without a crossing, and are."""
    order = random.Random(5)
    rows = [order.sample(range(row * 20 + 1, row * 20 + 21), 20) for row in range(6)]
    pairs = [(low, high) for upper, lower in pairwise(rows) for high, low in zip(upper, lower, strict=True)]
    joined = [(140, number) for number in rows[-1]]
    graph = graph_with(140, pairs + joined)
    placed = layout(graph, fixed)
    at = graph.positions()
    lines = [
        (placed.layer[at[edge.dst]], placed.boxes[at[edge.dst]].x, placed.boxes[at[edge.src]].x) for edge in graph.edges
    ]
    crossings = sum(
        one[0] == other[0] and (one[1] - other[1]) * (one[2] - other[2]) < 0
        for number, one in enumerate(lines)
        for other in lines[:number]
    )
    assert crossings == 0


# ----- cost -----


def lines_run(work):
    """How many lines of Python the work runs: a cost that does not depend on the machine."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def hub(size):
    """One node that all others use, one after the other."""
    graph = samples.chain(size)
    graph.edges += [GraphEdge(number, 1) for number in range(3, size + 1)]
    return graph


def fan(size):
    """One node that uses all others."""
    return graph_with(size, [(size, number) for number in range(1, size)])


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (samples.chain, 400),
        (samples.rnn, 40),
        (samples.resnet, 50),
        (hub, 400),
        (lambda size: graph_with(size, []), 400),
    ],
    ids=["chain", "rnn", "resnet", "hub", "apart"],
)
def test_cost_grows_as_the_graph_does(make, size):
    small, large = make(size), make(4 * size)
    layout(small, fixed)  # caches and imports
    ratio = lines_run(lambda: layout(large, fixed)) / lines_run(lambda: layout(small, fixed))
    assert ratio < 4.5


def test_a_wide_row_costs_no_more_than_its_logarithm():
    small, large = fan(300), fan(1200)
    ratio = lines_run(lambda: layout(large, fixed)) / lines_run(lambda: layout(small, fixed))
    assert ratio < 4 * 1.6


def test_shared_weights_do_not_widen_an_unrolled_rnn():
    few, many = layout(samples.rnn(20), fixed), layout(samples.rnn(200), fixed)
    assert many.width < 1.05 * few.width
    assert not many.ports_to


def test_fifteen_hundred_nodes_in_a_chain_with_a_recursion_limit_of_100():
    script = """
import sys
from agdbg.graph import samples
from agdbg.graph.collapse import collapse
from agdbg.render import renderer_for, suffixes

renderers = [renderer_for("x" + suffix) for suffix in suffixes()]
for renderer in renderers:
    renderer.render(collapse(samples.chain(300)))  # all imports are done
sys.setrecursionlimit(100)
graph = samples.chain(1500)
assert len(collapse(graph).nodes) == 3
assert collapse(graph, full=True) is graph
for renderer in renderers:
    assert renderer.render(graph).count("MulBackward0") >= 1500
late = samples.Graph("", graph.nodes[::-1], graph.edges)
for renderer in renderers:
    assert renderer.render(late).count("MulBackward0") >= 1500
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_ids_need_no_order():
    """The same graph under other ids lies the same."""
    graph = samples.shared_encoder()
    moved = Graph(
        "",
        [replace(node, id=1000 - node.id) for node in graph.nodes],
        [replace(edge, src=1000 - edge.src, dst=1000 - edge.dst) for edge in graph.edges],
    )
    assert layout(moved, fixed) == layout(graph, fixed)
