"""Reachability in a trace: the same answers as asking for one node after the other, for graphs of any size."""

from functools import partial

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agdbg.diagnose import diagnose
from agdbg.diagnose.walk import Walk
from agdbg.events import ACCUMULATE_SEQUENCE, Kind, head, pack_edge, pack_pair, pack_save, pack_site_op
from agdbg.record import Facts, Recorder, Trace


def write(path, records):
    recorder = Recorder(path, program={}, engine={}, sees={})
    for words in records(recorder) if callable(records) else records:
        recorder.emit(*words, *(0,) * (8 - len(words)))
    recorder.close()
    return Facts(Trace.open(path))


NODES = st.integers(1, 9)
WORDS = NODES.map(pack_edge) | st.just(0)
BORN = st.tuples(st.integers(0, 2), NODES, WORDS, WORDS).map(
    lambda drawn: (head(Kind.BORN, flags=drawn[0], a=2), drawn[1], 5, 0, drawn[2], drawn[3])
)
EDGE = st.tuples(st.integers(0, 2), NODES, st.integers(0, 3) | st.just(1 << 20), WORDS).map(
    lambda drawn: (head(Kind.EDGE, flags=drawn[0]), *drawn[1:])
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(records=st.lists(BORN | EDGE, max_size=25), start=NODES, block=NODES)
def test_walks_agree_with_asking_node_by_node(tmp_path_factory, records, start, block):
    facts = write(tmp_path_factory.mktemp("walk"), records)
    walk = Walk(facts)
    born = {words[1] for words in records if words[0] & 255 == Kind.BORN}
    edges = {number: {edge.node for edge in facts.node(number).edges if edge.node} for number in born}
    told = {(int(walk.ids[s]), int(walk.ids[t])) for s, t in zip(walk.edges.source, walk.edges.target, strict=True)}
    assert {pair for pair in told if pair[0] in born} == {(s, t) for s, ts in edges.items() for t in ts}
    every = {number: set() for number in walk.ids.tolist()}
    for source, target in told:
        every[source].add(target)
    below = reach(every, {start} & set(every))
    assert set(walk.ids[walk.below(walk.mask([start]))].tolist()) == below
    within = set(every) - {block}
    back = {n: {s for s, t in told if t == n and s in within} for n in within}
    above = walk.above(walk.mask([start]), walk.mask(within))
    assert set(walk.ids[above].tolist()) == reach(back, {start} & within)


def reach(edges, start):
    found, todo = set(start), list(start)
    while todo:
        new = edges.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def test_leaves_and_births(made_up):
    told = made_up("a = f(x)\nb = f(x)")
    told.leaf("x")
    told.node("a", "ExpBackward0", 1, "f(x)", ["x"], result=("a", 0))
    told.node("a2", "ExpBackward0", 1, "f(x)", ["x"])
    told.node("b", "ExpBackward0", 2, "f(x)", ["x"])
    told.emit(Kind.BORN, 77, 3, told.where(0, "torch::autograd::AccumulateGrad"))
    facts = told.facts()
    walk = Walk(facts)
    places = {label: walk.place(number) for label, number in told.nodes.items()}
    assert walk.ids[walk.leaves].tolist() == [told.nodes["x"], 77]
    assert walk.ids[walk.saving].tolist() == [told.nodes["a"]]
    assert walk.born_again(places["a"], walk.born[places["a"]], len(facts.trace.records)).tolist() == [places["a2"]]
    assert walk.born_again(places["a"], -1, walk.born[places["a"]]).tolist() == []
    assert walk.born_again(walk.place(77), -1, 99).tolist() == [], "a node without a line is never made again"
    assert [walk.place(number) for number in (0, -1, 76, 2**64, 2**70)] == [-1] * 5


def test_an_empty_trace(made_up):
    walk = Walk(made_up("pass").facts())
    assert len(walk.ids) == 0 and not walk.below(walk.mask([1])).any()


def test_a_chain_of_many_nodes_is_diagnosed_without_recursion(tmp_path):
    facts = write(tmp_path / "long", partial(long_chain, 300_000))
    (found,) = diagnose(facts)
    assert found.kind == "backward-twice" and found.nodes[0] == 1
    assert any("300,000 nodes shared" in evidence.note for evidence in found.evidence)


def long_chain(length, recorder):
    """A chain that two passes go through, the second from a node of its own on top of it."""
    save = pack_save(1, 0, 0)
    yield (head(Kind.BORN), length + 2, ACCUMULATE_SEQUENCE)
    yield (head(Kind.BORN, a=1, b=1), 1, 0, 0, pack_edge(length + 2), 0, save)
    for number in range(2, length + 1):
        yield (head(Kind.BORN, a=1, b=1), number, number, 0, pack_edge(number - 1), 0, save)
    yield (head(Kind.PASS_STARTED, a=1), 1, 0, pack_edge(length))
    for order in range(length):
        yield (head(Kind.RAN), length - order, 1, order)
    yield (head(Kind.PASS_FINISHED), 1, 0)
    yield (head(Kind.BORN, a=1), length + 1, length + 1, 0, pack_edge(length))
    yield (head(Kind.PASS_STARTED, a=1), 2, 0, pack_edge(length + 1))
    yield (head(Kind.ERROR), 1, 2, pack_site_op(0, recorder.op("backward-twice")), 0, pack_pair(0, 0), 0, 1)


def test_numpy_words_do_not_leak(made_up):
    told = made_up("loss = exp(x)\nloss.backward()\nloss.backward()")
    told.leaf("x")
    told.node("exp", "ExpBackward0", 1, "exp(x)", ["x"], result=("y", 0))
    told.backward(2, "exp", "x")
    told.twice(3, "exp", "exp")
    (found,) = diagnose(told.facts())
    assert {type(number) for number in found.nodes} == {int} and not isinstance(found.nodes[0], np.integer)
