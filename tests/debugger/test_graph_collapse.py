"""Folding: small graphs stay as they are, big ones get small, and every count is honest."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agdbg.graph import samples
from agdbg.graph.by_module import fold_modules
from agdbg.graph.collapse import DEFAULT_NODE_LIMIT, LEAST_LIMIT, collapse
from agdbg.graph.model import Badge, Graph, GraphEdge, GraphNode, ModuleCall
from agdbg.graph.repeats import LEAST_REPEATS, Repeat, find_repeats
from agdbg.graph.topology import topology_of

TIMES = "\N{MULTIPLICATION SIGN}"


def mixed(ops, state="ran"):
    """A chain whose nodes have the given ops, each on a line of its own name."""
    nodes = [GraphNode(at + 1, op, f"m.py:{ord(op[0])}", op, state) for at, op in enumerate(ops)]
    return Graph("mixed", nodes, [GraphEdge(at + 1, at) for at in range(1, len(nodes))])


def folds(graph):
    return [node for node in graph.nodes if node.count > 1]


def check_honest(before, after):
    """Nodes are counted once, edges too, and nothing makes a cycle."""
    assert after.size == before.size
    assert len({node.id for node in after.nodes}) == len(after.nodes)
    kept = {node.id for node in after.nodes if node.count == 1}
    assert all(node in before.nodes for node in after.nodes if node.count == 1)
    assert sum(edge.count for edge in after.edges) <= sum(edge.count for edge in before.edges)
    between_kept = [edge for edge in before.edges if edge.src in kept and edge.dst in kept]
    assert [edge for edge in after.edges if edge.src in kept and edge.dst in kept] == between_kept
    assert not topology_of(after).against


@given(st.text("AB", max_size=300), st.integers(LEAST_LIMIT, 60))
@settings(deadline=None)
def test_any_chain_folds_honestly_to_its_limit(ops, limit):
    before = mixed(ops)
    after = collapse(before, limit)
    check_honest(before, after)
    assert len(after.nodes) <= limit
    assert (after is before) == (len(ops) <= limit)


@st.composite
def tangled(draw):
    size = draw(st.integers(20, 80))
    graph = mixed(draw(st.text("ABC", min_size=size, max_size=size)))
    pair = st.tuples(st.integers(1, size), st.integers(1, size)).filter(lambda pair: pair[0] != pair[1])
    graph.edges = [GraphEdge(max(pair), min(pair)) for pair in draw(st.lists(pair, max_size=2 * size))]
    states = draw(st.lists(st.sampled_from(["pending", "ran", "freed"]), min_size=size, max_size=size))
    failed = draw(st.none() | st.integers(0, size - 1))
    graph.nodes = [
        replace(node, state="failed" if at == failed else state)
        for at, (node, state) in enumerate(zip(graph.nodes, states, strict=True))
    ]
    return graph


@given(tangled())
@settings(deadline=None)
def test_what_failed_and_its_neighbours_stay(before):
    after = collapse(before, LEAST_LIMIT)
    check_honest(before, after)
    failed = {node.id for node in before.nodes if node.state == "failed"}
    near = failed | {edge.src for edge in before.edges if edge.dst in failed}
    near |= {edge.dst for edge in before.edges if edge.src in failed}
    assert near <= {node.id for node in after.nodes if node.count == 1}
    assert len(after.nodes) <= LEAST_LIMIT + 2 * len(near)


def test_small_graphs_are_not_touched():
    graph = samples.chain(DEFAULT_NODE_LIMIT)
    assert collapse(graph) is graph


def test_full_draws_everything():
    graph = samples.chain(DEFAULT_NODE_LIMIT + 1)
    assert collapse(graph, full=True) is graph
    assert len(collapse(graph).nodes) == 3


def test_a_limit_too_small_is_an_error_that_names_the_least():
    with pytest.raises(ValueError, match=f"at least {LEAST_LIMIT}, not 3"):
        collapse(samples.chain(2), 3)


def test_a_long_chain_keeps_its_ends():
    after = collapse(samples.chain(1500))
    first, fold, last = after.nodes
    assert (first.id, fold.id, last.id) == (1, 2, 1500)
    assert (fold.count, fold.op) == (1498, f"1,498 {TIMES} MulBackward0")
    assert after.edges == [GraphEdge(2, 1), GraphEdge(1500, 2)]


def test_steps_of_a_recurrent_network_fold_into_one_box():
    after = collapse(samples.rnn(200))
    (fold,) = folds(after)
    assert fold.count == 198 * 9
    assert fold.op == f"198 {TIMES} 9 nodes"
    assert fold.text == "T, Mm, Add, Tanh, Mean"
    assert fold.site == "rnn.py:19-20"
    assert [badge.text for badge in fold.badges] == ["W", "U", "b"]
    assert len(after.nodes) == 9 + 1 + 9


def test_nested_loops_fold_again_with_true_counts():
    inner = range(2, 42)
    ops = "".join("A" * length * 4 + "B" for length in inner)
    after = collapse(mixed(ops), 40)
    assert len(after.nodes) < 20
    assert after.size == len(ops)
    (outer,) = [fold for fold in folds(after) if "repeats" in fold.op]
    repeats, nodes = map(int, re.findall(r"\d+", outer.op.replace(",", "")))
    assert repeats == len(inner) - 2
    assert nodes == outer.count == len(ops) - 2 * 1 - 4 * inner[0] - 4 * inner[-1]


def test_notes_say_what_was_folded():
    graph = samples.rnn(200)
    graph.notes.append("first")
    after = collapse(graph)
    assert graph.notes == ["first"]
    assert after.notes == [
        "first",
        "19 boxes stand for 1,800 nodes; a full drawing shows every node.",
        f"Folded at #10: 198 {TIMES} 9 nodes (T, Mm, Add, Tanh, Mean) at rnn.py:19-20.",
    ]


def test_many_folds_get_one_note_together():
    ops = "".join(chr(0x100 + at) * 6 for at in range(40))
    after = collapse(mixed(ops), 130)
    assert len(folds(after)) == 40
    assert after.notes[-1] == "32 more folds are marked in the drawing."
    assert sum(note.startswith("Folded at") for note in after.notes) == 8


def test_a_pass_that_stopped_half_way_folds_what_ran_and_what_did_not_apart():
    graph = samples.rnn(100)
    graph.nodes = [
        replace(node, state="failed" if node.id == 500 else "pending" if node.id < 500 else "ran")
        for node in graph.nodes
    ]
    after = collapse(graph)
    assert [fold.state for fold in folds(after)] == ["pending", "ran"]
    assert any(node.id == 500 and node.state == "failed" for node in after.nodes)


def test_without_repeats_the_part_next_to_the_loss_stays():
    graph = mixed([chr(0x100 + at) for at in range(500)])
    after = collapse(graph)
    kept = [node.id for node in after.nodes if node.count == 1]
    assert len(after.nodes) <= DEFAULT_NODE_LIMIT
    assert kept == list(range(500 - len(kept) + 1, 501))
    assert len(kept) > DEFAULT_NODE_LIMIT * 0.8
    assert {fold.op for fold in folds(after)[:-1]} == {f"{folds(after)[0].count} nodes folded"}


def test_without_repeats_the_part_around_a_failure_stays():
    graph = mixed([chr(0x100 + at) for at in range(500)])
    graph.nodes[250] = replace(graph.nodes[250], state="failed")
    after = collapse(graph)
    kept = [node.id for node in after.nodes if node.count == 1]
    assert len(after.nodes) <= DEFAULT_NODE_LIMIT
    assert abs((min(kept) + max(kept)) / 2 - 251) <= 1


def test_a_fold_of_mixed_states_counts_them():
    graph = mixed([chr(0x100 + at) for at in range(400)])
    graph.nodes = [replace(node, state="ran" if node.id % 3 else "pending") for node in graph.nodes]
    fold = folds(collapse(graph))[0]
    pending = sum(node.state == "pending" for node in graph.nodes[: fold.count])
    assert fold.state == "pending"
    assert fold.text.startswith(f"{pending} pending, {fold.count - pending} ran: ")


def test_edges_of_a_fold_are_counted_and_as_certain_as_the_weakest():
    graph = samples.chain(300)
    graph.edges += [GraphEdge(300, number, certainty="inferred") for number in range(100, 200)]
    after = collapse(graph)
    (edge,) = [edge for edge in after.edges if edge.src == 300]
    assert (edge.dst, edge.count, edge.certainty) == (2, 101, "inferred")


def test_a_fold_names_a_few_badges_and_counts_the_rest():
    graph = samples.chain(300)
    graph.nodes = [replace(node, badges=(Badge(f"w{node.id}", "parameter"),)) for node in graph.nodes]
    (fold,) = folds(collapse(graph))
    assert [badge.text for badge in fold.badges] == ["w2", "w3", "w4", "295 more"]


def test_sites_of_a_fold_in_several_files():
    graph = samples.chain(300)
    graph.nodes = [
        replace(node, site=("a.py:1", "b.py:2", "")[node.id % 3], op="ABC"[node.id % 3]) for node in graph.nodes
    ]
    (fold,) = folds(collapse(graph))
    assert fold.site == "b.py:2 and 1 other line"


# ----- repeats -----


@given(st.lists(st.integers(0, 2), max_size=60), st.integers(1, 12))
def test_repeats_are_repeats(keys, longest):
    end = 0
    for start, period, times in find_repeats(keys, longest):
        assert start >= end and times >= LEAST_REPEATS and 1 <= period <= longest
        end = start + period * times
        assert keys[start:end] == keys[start : start + period] * times


@given(st.lists(st.integers(0, 2), max_size=40))
def test_no_repeat_is_missed_where_none_is_found(keys):
    if not find_repeats(keys):
        for period in range(1, len(keys) // LEAST_REPEATS + 1):
            for start in range(len(keys)):
                block = keys[start : start + period]
                assert keys[start : start + period * LEAST_REPEATS] != block * LEAST_REPEATS


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ("", []),
        ("aaa", []),
        ("aaaa", [Repeat(0, 1, 4)]),
        ("xabababaB", []),
        ("xababababy", [Repeat(1, 2, 4)]),
        ("aaaabaaaabaaaabaaaab", [Repeat(0, 5, 4)]),
        ("aaaabbbb", [Repeat(0, 1, 4), Repeat(4, 1, 4)]),
    ],
)
def test_known_repeats(keys, found):
    assert find_repeats([ord(key) for key in keys]) == found


# ----- by module -----


def call(path, number, kind="Linear"):
    return ModuleCall(path, kind, number)


def in_modules(*modules, failed=()):
    """A chain of nodes, each built in these modules."""
    nodes = [
        GraphNode(at, f"Op{at}", state="failed" if at in failed else "ran", shapes=(f"float32[{at}]",), modules=each)
        for at, each in enumerate(modules, 1)
    ]
    return Graph("g", nodes, [GraphEdge(at + 1, at) for at in range(1, len(nodes))])


ROOT, BLOCK, A, B = call("", 1, "Net"), call("block", 2, "Block"), call("block.a", 3), call("block.b", 4)


def test_the_nodes_of_a_module_are_one_box():
    graph = in_modules(
        (ROOT,), (ROOT, BLOCK, A), (ROOT, BLOCK, A), (ROOT, BLOCK), (ROOT, BLOCK, B), (ROOT, BLOCK, B), ()
    )
    folded = fold_modules(graph)
    assert [(n.id, n.op, n.count) for n in folded.nodes] == [
        (1, "Op1", 1), (2, "block.a (Linear)", 2), (4, "Op4", 1), (5, "block.b (Linear)", 2), (7, "Op7", 1)
    ]  # fmt: skip
    assert [(e.src, e.dst) for e in folded.edges] == [(2, 1), (4, 2), (5, 4), (7, 5)]
    assert [n.module for n in folded.nodes] == ["", "block.a", "block", "block.b", ""]
    assert folded.nodes[1].shapes == ("float32[3]",)
    assert folded.size == 7 and folded.notes == ["2 boxes are modules."]


def test_with_a_depth_what_a_module_calls_is_in_its_box():
    graph = in_modules((ROOT,), (ROOT, BLOCK, A), (ROOT, BLOCK), (ROOT, BLOCK, B), ())
    assert [(n.op, n.count) for n in fold_modules(graph, 1).nodes] == [("Op1", 1), ("block (Block)", 3), ("Op5", 1)]
    assert [n.count for n in fold_modules(graph, 2).nodes] == [1] * 5


def test_two_calls_of_one_module_are_two_boxes():
    again = call("block.a", 9)
    graph = in_modules((A,), (A,), (again,), (again,))
    assert [(n.op, n.count) for n in fold_modules(graph).nodes] == [("block.a (Linear)", 2)] * 2


def test_what_failed_is_in_no_box():
    graph = in_modules((A,), (A,), (A,), (A,), (A,), failed=(3,))
    assert [(n.op, n.count) for n in fold_modules(graph).nodes] == [
        ("block.a (Linear)", 2), ("Op3", 1), ("block.a (Linear)", 2)
    ]  # fmt: skip


def test_without_modules_nothing_is_folded():
    graph = in_modules((), (ROOT,), ())
    assert fold_modules(graph).nodes == graph.nodes
    assert fold_modules(Graph("empty")).nodes == []


def test_boxes_of_modules_fold_further():
    graph = in_modules(*[(call(f"layers.{at}", at),) for at in range(100) for _ in range(3)])
    folded = fold_modules(graph)
    assert len(folded.nodes) == 100
    small = collapse(folded, 16)
    assert len(small.nodes) <= 16 and small.size == 300
