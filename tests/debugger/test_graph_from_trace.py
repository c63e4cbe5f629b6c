"""From the facts of a trace to a graph: what is reached, in which state, with which badges and notes."""

import pytest

from agdbg.events import (
    ACCUMULATE_SEQUENCE,
    RETAIN_GRAPH,
    Kind,
    Outcome,
    Provenance,
    head,
    pack_edge,
    pack_pair,
    pack_save,
    pack_site_op,
)
from agdbg.graph.from_trace import graph_of
from agdbg.graph.model import Badge, Graph, GraphEdge
from agdbg.graph.topology import topology_of
from agdbg.record import Facts, Trace


class Script:
    """Records what a small engine would; nodes go by the numbers the test gives them."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.sequence = 0

    def _emit(self, kind, number, *words, flags=0, a=0, b=0, thread=1):
        words = (*words, *(0 for _ in range(6 - len(words))))
        self.recorder.emit(head(kind, thread, flags, a, b), number, *words)

    def _where(self, line, op):
        site = self.recorder.site_at("/home/me/train.py", line, "main", f"    line {line} <source>  ")
        return pack_site_op(site, self.recorder.op(op, ("self", "other")))

    def node(self, number, op, line, *producers, thread=1, sequence=None, provenance=Provenance.OBSERVED):
        """A node is born; a producer is a number, or (number, output)."""
        self.sequence += 1
        edges = [pack_edge(*each) if isinstance(each, tuple) else pack_edge(each) for each in producers]
        inline = [*edges, 0, 0][:2]
        saved = pack_save(number, 0, 0)
        words = (sequence or self.sequence, self._where(line, op), *inline, saved, 0)
        self._emit(Kind.BORN, number, *words, flags=provenance, a=len(edges), b=1, thread=thread)
        for index, edge in enumerate(edges[2:], 2):
            self._emit(Kind.EDGE, number, index, edge, flags=provenance)

    def leaf(self, number, name="", kind="parameter"):
        self.node(number, "AccumulateGrad", 0, sequence=ACCUMULATE_SEQUENCE)
        if name:
            names = pack_pair(self.recorder.text(name), self.recorder.text(kind))
            self._emit(Kind.TENSOR, number, 1000 + number, pack_edge(number), names)

    def backward(self, number, root, *ran, line=99, retain=False, failed=0, outcome=Outcome.OK, call="backward"):
        """A pass: nodes that ran well, then perhaps one that failed. Outcome None leaves it unfinished."""
        flags = RETAIN_GRAPH if retain else 0
        self._emit(Kind.PASS_STARTED, number, self._where(line, call), pack_edge(root), flags=flags, a=1)
        for order, each in enumerate(ran):
            self._emit(Kind.RAN, each, number, order, 0, 0, Outcome.OK)
        if failed:
            self._emit(Kind.RAN, failed, number, len(ran), 0, 0, Outcome.ERROR)
            outcome = Outcome.ERROR
        if outcome is not None:
            self._emit(Kind.PASS_FINISHED, number, outcome, len(ran))

    def error(self, node, number, kind, text, versions=(0, 0), slot=1):
        words = (number, self._where(50, kind), node, pack_pair(*versions), self.recorder.text(text), slot)
        self._emit(Kind.ERROR, node, *words)

    def facts(self):
        self.recorder.close()
        return Facts(Trace.open(self.recorder.path))


@pytest.fixture
def script(new_recorder):
    return Script(new_recorder())


def states(graph):
    return {node.id: node.state for node in graph.nodes}


def badges(graph):
    return {node.id: list(node.badges) for node in graph.nodes}


def test_a_pass_with_its_leaves_as_badges(script):
    script.leaf(1, "1.weight")
    script.leaf(2, "running_mean", "buffer")
    script.leaf(3)
    script.node(4, "MulBackward0", 7, 1, 2)
    script.node(5, "AddBackward0", 8, 4, 3)
    script.backward(1, 5, 5, 4, 1, 2, 3)
    graph = graph_of(script.facts())
    assert graph.title == "train.py:99 backward(), pass 1: ok"
    assert [(node.id, node.op, node.site, node.text) for node in graph.nodes] == [
        (4, "MulBackward0", "train.py:7", "line 7 <source>"),
        (5, "AddBackward0", "train.py:8", "line 8 <source>"),
    ]
    assert graph.edges == [GraphEdge(5, 4, 0, 0)]
    assert badges(graph) == {
        4: [Badge("1.weight", "parameter"), Badge("running_mean", "leaf")],
        5: [Badge("unnamed leaf", "leaf")],
    }
    assert states(graph) == {4: "ran", 5: "ran"}
    assert graph.notes == []


def test_one_leaf_used_by_two_hundred_nodes_is_no_hub(script):
    script.leaf(1, "weight")
    for number in range(2, 202):
        script.node(number, "MulBackward0", 3, 1, *([number - 1] if number > 2 else []))
    script.backward(1, 201, *range(201, 1, -1))
    graph = graph_of(script.facts())
    assert len(graph.nodes) == 200 and len(graph.edges) == 199
    assert {tuple(found) for found in badges(graph).values()} == {(Badge("weight", "parameter"),)}


def test_a_leaf_used_twice_by_one_node_is_counted(script):
    script.leaf(1, "w")
    script.node(2, "MulBackward0", 3, 1, 1, 1)
    script.backward(1, 2, 2)
    assert badges(graph_of(script.facts())) == {2: [Badge("w \N{MULTIPLICATION SIGN}3", "parameter")]}


def test_edges_have_outputs_inputs_and_provenance(script):
    script.node(1, "UnbindBackward0", 1)
    script.node(2, "AddBackward0", 2, (1, 3), 0, (1, 70), provenance=Provenance.INFERRED)
    script.backward(1, 2)
    assert graph_of(script.facts()).edges == [
        GraphEdge(2, 1, 3, 0, certainty="inferred"),
        GraphEdge(2, 1, 70, 2, certainty="inferred"),
    ]


def test_only_what_the_roots_reach_is_drawn(script):
    script.node(1, "MulBackward0", 1)
    script.node(2, "AddBackward0", 2, 1)
    script.node(3, "SubBackward0", 3, 1)
    script.backward(1, 2, 2, 1)
    script.backward(2, 3, 3)
    facts = script.facts()
    assert set(states(graph_of(facts, 1))) == {1, 2}
    assert set(states(graph_of(facts))) == {1, 3}
    assert set(states(graph_of(facts, "all"))) == {1, 2, 3}
    assert graph_of(facts, "all").title == "all nodes, backward passes: 2"


def test_the_failing_pass_is_drawn_unless_another_is_asked_for(script):
    script.node(1, "ExpBackward0", 4)
    script.node(2, "SumBackward0", 5, 1)
    script.node(3, "SumBackward0", 6)
    script.backward(1, 2, 2, failed=1)
    script.error(1, 1, "inplace-modified", "modified by an inplace operation\nhint", versions=(0, 2))
    script.backward(2, 3, 3)
    facts = script.facts()
    graph = graph_of(facts)
    assert graph.title == "train.py:99 backward(), pass 1: error"
    assert states(graph) == {1: "failed", 2: "ran"}
    assert badges(graph)[1] == [Badge("self: saved at v0, now v2", "saved")]
    assert graph.notes == ["inplace-modified at #1: modified by an inplace operation"]
    assert states(graph_of(facts, 2)) == {3: "ran"}


def test_an_error_that_names_no_node_fails_the_node_whose_run_ended_in_it(script):
    script.node(1, "ExpBackward0", 4)
    script.node(2, "SumBackward0", 5, 1)
    script.backward(1, 2, 2, failed=1)
    script.error(0, 1, "uncaught", "hook raised", slot=0)
    graph = graph_of(script.facts())
    assert states(graph) == {1: "failed", 2: "ran"}
    assert graph.notes == ["uncaught: hook raised"]


def test_backward_twice_shows_which_pass_freed(script):
    script.node(1, "ExpBackward0", 4)
    script.node(2, "MulBackward0", 5, 1)
    script.node(3, "SumBackward0", 6, 2)
    script.node(4, "MeanBackward0", 7, 2)
    script.backward(1, 3, 3, 2, 1)
    script.backward(2, 4, 4, failed=2)
    script.error(2, 2, "backward-twice", "a second time")
    graph = graph_of(script.facts())
    assert states(graph) == {1: "freed", 2: "failed", 4: "ran"}
    assert badges(graph)[2] == [Badge("self: freed by pass 1", "saved")]


def test_a_retained_graph_is_not_freed(script):
    script.node(1, "ExpBackward0", 4)
    script.node(2, "SumBackward0", 5, 1)
    script.backward(1, 2, 2, 1, retain=True)
    script.backward(2, 2, 2, outcome=None)
    facts = script.facts()
    assert states(graph_of(facts)) == {1: "pending", 2: "ran"}
    assert graph_of(facts).title.endswith("pass 2: unfinished")
    assert states(graph_of(facts, "all")) == {1: "ran", 2: "freed"}


def test_a_later_pass_does_not_change_how_an_earlier_one_looked(script):
    script.node(1, "ExpBackward0", 4)
    script.node(2, "SumBackward0", 5, 1)
    script.backward(1, 2, 2, retain=True, outcome=None)
    script.backward(2, 2, 2, 1)
    assert states(graph_of(script.facts(), 1)) == {1: "pending", 2: "ran"}


def test_grad_is_named_as_called(script):
    script.node(1, "ExpBackward0", 4)
    script.backward(1, 1, 1, call="grad")
    assert graph_of(script.facts()).title == "train.py:99 grad(), pass 1: ok"


def test_a_pass_that_does_not_exist_is_an_error_that_names_those_that_do(script):
    script.node(1, "ExpBackward0", 4)
    script.backward(1, 1, 1)
    script.backward(2, 1)
    with pytest.raises(ValueError, match="no backward pass 7; its passes: 1, 2"):
        graph_of(script.facts(), 7)


def test_without_a_pass_all_nodes_are_drawn_as_pending(script):
    script.node(1, "ExpBackward0", 4)
    script.node(2, "SumBackward0", 5, 1)
    assert states(graph_of(script.facts())) == {1: "pending", 2: "pending"}


def test_an_empty_trace_is_an_empty_graph(script):
    graph = graph_of(script.facts())
    assert graph == Graph("all nodes, backward passes: 0")


def test_a_pass_without_a_graph_says_so(script):
    script.backward(1, 0, outcome=Outcome.ERROR)
    script.error(0, 1, "no-grad-fn", "element 0 of tensors does not require grad", slot=0)
    graph = graph_of(script.facts())
    assert graph.nodes == []
    assert graph.notes == [
        "no-grad-fn: element 0 of tensors does not require grad",
        "The roots of this pass have no graph.",
    ]


def test_backward_of_a_leaf_draws_the_leaf(script):
    script.leaf(1, "x", "variable")
    script.backward(1, 1, 1)
    (node,) = graph_of(script.facts()).nodes
    assert (node.op, node.badges, node.state) == ("AccumulateGrad", (Badge("x", "leaf"),), "ran")


def test_a_leaf_that_failed_is_a_node(script):
    script.leaf(1, "w")
    script.leaf(2, "b")
    script.node(3, "AddBackward0", 4, 1, 2)
    script.backward(1, 3, 3, failed=1)
    script.error(1, 1, "other", "a hook raised", slot=0)
    graph = graph_of(script.facts())
    assert [node.id for node in graph.nodes] == [1, 3]
    assert states(graph) == {1: "failed", 3: "ran"}
    assert badges(graph) == {1: [Badge("w", "parameter")], 3: [Badge("b", "parameter")]}
    assert graph.edges == [GraphEdge(3, 1)]


def test_nodes_from_before_the_recording_are_drawn_and_noted(script):
    script.node(5, "AddBackward0", 4, 2, 3)
    script.backward(1, 5, 5)
    graph = graph_of(script.facts())
    assert [(node.id, node.op) for node in graph.nodes] == [
        (2, "born before recording"),
        (3, "born before recording"),
        (5, "AddBackward0"),
    ]
    assert graph.notes == ["2 nodes were born before recording began."]


def test_order_is_that_of_creation_though_ids_were_given_late(script):
    script.node(10, "SumBackward0", 3, 11, sequence=3)
    script.node(11, "MulBackward0", 2, 12, sequence=2)
    script.node(12, "ExpBackward0", 1, sequence=1)
    script.backward(1, 10)
    assert [node.id for node in graph_of(script.facts()).nodes] == [12, 11, 10]


def test_sequence_numbers_of_two_threads_are_not_compared(script):
    script.node(1, "ExpBackward0", 1, sequence=50)
    script.node(2, "MulBackward0", 2, 1, sequence=1, thread=2)
    script.node(3, "SumBackward0", 3, 2, sequence=51)
    script.backward(1, 3)
    assert [node.id for node in graph_of(script.facts()).nodes] == [1, 2, 3]


def test_a_chain_of_thousands_is_walked_without_recursion(script):
    for number in range(1, 5001):
        script.node(number, "MulBackward0", 1, *([number - 1] if number > 1 else []))
    script.backward(1, 5000)
    graph = graph_of(script.facts())
    assert len(graph.nodes) == 5000 and len(graph.edges) == 4999


def test_cycles_of_a_damaged_trace_end(script):
    script.node(1, "MulBackward0", 1, 2)
    script.node(2, "MulBackward0", 1, 1)
    script.backward(1, 2)
    graph = graph_of(script.facts())
    assert len(graph.nodes) == 2
    assert len(topology_of(graph).against) == 1


def test_two_losses_as_torch_records_them(torch_two_losses):
    graph = graph_of(Facts(Trace.open(torch_two_losses.path)))
    failed = [node for node in graph.nodes if node.state == "failed"]
    assert [node.op for node in failed] == ["ReluBackward0"]
    assert any(badge.text.endswith("freed by pass 1") for badge in failed[0].badges)
    assert graph.certainty == "inferred"
    assert not any("AccumulateGrad" in node.op for node in graph.nodes)


def test_an_optimizer_step_as_torch_records_it_names_the_parameter(torch_optimizer_step):
    graph = graph_of(Facts(Trace.open(torch_optimizer_step.path)))
    (failed,) = [node for node in graph.nodes if node.state == "failed"]
    assert Badge("_saved_mat2 = 1.weight: saved at v0, now v1", "saved") in failed.badges
