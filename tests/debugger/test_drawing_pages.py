"""Pages of drawings hold what the whole graph has, and cost what they hold."""

import random
from collections import deque
from time import perf_counter

import pytest

from agdbg.events import ACCUMULATE_SEQUENCE, RETAIN_GRAPH, Kind, Outcome, Provenance, head, pack_edge, pack_site_op
from agdbg.graph.from_trace import graph_of
from agdbg.graph.told import edges_of
from agdbg.hub.history import History
from agdbg.record import Facts, Trace

UNBORN = 10_000


class Scribble:
    """A trace of random nodes, told as engines may tell them: late, twice, out of order, by several threads."""

    def __init__(self, recorder, seed):
        self.random = random.Random(seed)
        self.recorder = recorder
        self.threads = self.random.choice([1, 1, 2])
        self.nodes, self.leaves = [], []
        self.leaf_op, self.op = recorder.op("AccumulateGrad"), recorder.op("MulBackward0")

    def emit(self, kind, number, *words, **fields):
        thread = self.random.randint(1, self.threads)
        self.recorder.emit(head(kind, thread, **fields), number, *words, *(0,) * (6 - len(words)))

    def producer(self):
        there = self.random.choice([self.nodes, self.nodes, self.leaves]) or [0]
        return pack_edge(self.random.choice([*there[-6:], *self.random.choices([0, UNBORN, UNBORN + 1], [8, 1, 1])]), 1)

    def node(self):
        number = self.recorder.new_node()
        is_leaf = self.random.random() < 0.3
        sequence = ACCUMULATE_SEQUENCE if is_leaf else self.random.randint(1, 99)
        edges = [] if is_leaf else [self.producer() for _ in range(self.random.randint(0, 4))]
        word = pack_site_op(0, self.leaf_op if is_leaf else self.op)
        how = self.random.choice([Provenance.OBSERVED, Provenance.INFERRED])
        self.emit(Kind.BORN, number, sequence, word, *[*edges, 0, 0][:2], flags=how, a=len(edges))
        for index, edge in enumerate(edges[2:], 2):
            self.emit(Kind.EDGE, number, index, edge)
        if edges and self.random.random() < 0.2:
            again = self.random.choice([Provenance.OBSERVED, Provenance.INFERRED])
            self.emit(Kind.EDGE, number, self.random.randint(0, 2), self.producer(), flags=again)
        (self.leaves if is_leaf else self.nodes).append(number)

    def backward(self):
        number = self.recorder.new_pass()
        roots = [self.random.choice([*self.nodes, *self.leaves[:1], UNBORN]) for _ in range(self.random.randint(1, 2))]
        flags = RETAIN_GRAPH * self.random.randint(0, 1)
        self.emit(Kind.PASS_STARTED, number, 0, pack_edge(roots[0]), flags=flags, a=len(roots))
        for index, root in enumerate(roots[1:], 1):
            self.emit(Kind.ROOT, number, index, pack_edge(root))
        ran = self.random.sample([*self.nodes, *self.leaves], min(len(self.nodes), 5))
        outcome = self.random.choice([Outcome.OK, Outcome.OK, Outcome.ERROR])
        for order, node in enumerate(ran):
            is_last = order == len(ran) - 1
            self.emit(
                Kind.RAN, node, number, order, 0, 0, outcome if is_last else self.random.choice(list(Outcome)[::2])
            )
        if outcome and self.random.random() < 0.5:
            self.emit(Kind.ERROR, ran[-1], number, pack_site_op(0, self.recorder.op("other")))
        self.emit(Kind.PASS_FINISHED, number, outcome)

    def write(self):
        for _ in range(self.random.randint(3, 15)):
            self.node()
        if self.nodes:
            self.backward()
        self.recorder.flush()


def near(graph, starts, hops):
    """The nodes that are at most so many edges away, by the whole graph."""
    away, todo = dict.fromkeys(starts, 0), deque(starts)
    while todo:
        node = todo.popleft()
        for edge in graph.edges if away[node] < hops else ():
            for one, other in ((edge.src, edge.dst), (edge.dst, edge.src)):
                if one == node and other not in away:
                    away[other] = away[node] + 1
                    todo.append(other)
    return set(away)


def told(body):
    """What a body says, as plain values."""
    nodes = [(node["id"], node["op"], node["state"]) for node in body["nodes"]]
    edges = [(edge["consumer"], edge["producer"], edge["output"], edge["input"]) for edge in body["edges"]]
    return body["title"], body["total"], nodes, edges


def drawn(graph, within=None, title=None):
    """What it is to say of a graph, or of a part of it."""
    shown = [node for node in graph.nodes if within is None or node.id in within]
    edges = {node.id: [] for node in shown}
    for edge in graph.edges:
        if edge.src in edges and edge.dst in edges:
            edges[edge.src].append((edge.src, edge.dst, edge.output_nr, edge.input_index))
    nodes = [(node.id, node.op, node.state) for node in shown]
    return title or graph.title, len(shown), nodes, [edge for each in edges.values() for edge in each]


def users(facts, graph, leaf):
    found = ((node.id, facts.node(node.id)) for node in graph.nodes)
    return [number for number, fact in found if fact and any(edge.node == leaf for edge in fact.edges)]


@pytest.mark.parametrize("seed", range(25))
def test_pages_are_as_the_whole_graph_has_them(new_recorder, seed):
    recorder = new_recorder()
    script = Scribble(recorder, seed)
    history = History(recorder.path)
    for _ in range(4):  # the trace grows
        script.write()
        history.poll()
        facts = Facts(Trace.open(recorder.path))
        everything = graph_of(facts, "all")
        assert told(history.graph(0, 1000)) == drawn(everything)
        for each in facts.passes:
            assert told(history.graph(0, 1000, pass_id=each.id)) == drawn(graph_of(facts, each.id))
        shown = {node.id for node in everything.nodes}
        for node in [*script.nodes, *script.leaves, UNBORN]:
            hops = script.random.randint(0, 3)
            starts = [node] if node in shown else users(facts, everything, node)
            if not starts:
                with pytest.raises(ValueError, match="no node"):
                    history.graph(0, 1000, node=node, hops=hops)
                continue
            title = f"within {hops} {'edge' if hops == 1 else 'edges'} of #{node}"
            expected = drawn(everything, near(everything, starts, hops), title)
            assert told(history.graph(0, 1000, node=node, hops=hops)) == expected


def test_a_page_is_a_part_of_the_whole(new_recorder):
    recorder = new_recorder()
    script = Scribble(recorder, 7)
    for _ in range(3):
        script.write()
    history = History(recorder.path)
    whole, page = history.graph(0, 1000), history.graph(4, 5)
    assert page["nodes"] == whole["nodes"][4:9] and page["total"] == whole["total"]
    shown = {node["id"] for node in page["nodes"]}
    assert page["edges"] == [edge for edge in whole["edges"] if edge["consumer"] in shown]


@pytest.fixture
def chain(new_recorder):
    """A history of 60,000 nodes, each of which uses the one before, and a leaf; and the nodes."""
    recorder = new_recorder()
    leaf = recorder.new_node()
    recorder.emit(
        head(Kind.BORN, 1), leaf, ACCUMULATE_SEQUENCE, pack_site_op(0, recorder.op("AccumulateGrad")), 0, 0, 0, 0
    )
    nodes, word = [], pack_site_op(0, recorder.op("MulBackward0"))
    for sequence in range(60_000):
        before = pack_edge(nodes[-1]) if nodes else 0
        nodes.append(recorder.new_node())
        recorder.emit(head(Kind.BORN, 1, a=2), nodes[-1], sequence + 1, word, before, pack_edge(leaf), 0, 0)
    recorder.emit(head(Kind.PASS_STARTED, 1, a=1), recorder.new_pass(), 0, pack_edge(nodes[-1]), 0, 0, 0, 0)
    recorder.flush()
    return History(recorder.path), nodes, leaf


def test_only_what_is_shown_is_built(chain, monkeypatch):
    history, nodes, _ = chain
    built, node = [], type(history.live).node
    monkeypatch.setattr(type(history.live), "node", lambda facts, number: built.append(number) or node(facts, number))
    walked = []
    monkeypatch.setattr(
        "agdbg.graph.selection.edges_of", lambda growing, edge: walked.extend(edge.tolist()) or edges_of(growing, edge)
    )
    near = history.graph(0, 50, node=nodes[30_000], hops=2)
    assert [each["id"] for each in near["nodes"]] == nodes[29_998:30_003]
    assert walked == [nodes[30_000], nodes[29_999], nodes[30_001]]
    page = history.graph(100, 50, pass_id=1)
    assert (page["total"], [each["id"] for each in page["nodes"]]) == (60_000, nodes[100:150])
    assert len(built) < 200


def test_a_long_chain_is_walked_in_no_time(chain):
    history, nodes, leaf = chain
    history.graph(0, 50, node=nodes[5], hops=2)
    start = perf_counter()
    history.graph(0, 50, node=nodes[40_000], hops=2)
    history.graph(0, 50, pass_id=1)
    assert perf_counter() - start < 2
    assert history.graph(0, 50, node=leaf, hops=0)["total"] == 60_000
