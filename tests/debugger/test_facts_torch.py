"""Facts of a second engine: late edges and saves, inferred, own sparse ids, sequence numbers that repeat."""

import pytest

from agdbg.events import ACCUMULATE_SEQUENCE, Kind, Provenance
from agdbg.record import Facts, Trace


def facts_of(run):
    trace = Trace.open(run.path)
    assert trace.problems == []
    return Facts(trace)


def test_edges_that_arrive_late_are_as_good_as_inline_ones(torch_two_losses):
    run, facts = torch_two_losses, facts_of(torch_two_losses)
    node = facts.node(run.nodes["head_a"])
    assert node.op.name == "AddmmBackward0"
    expected = [run.nodes["head_a.bias"], run.nodes["relu"], run.nodes["head_a.t"]]
    assert [edge.node for edge in node.edges] == expected
    assert {edge.provenance for edge in node.edges} == {Provenance.INFERRED}
    assert [edge.node for edge in facts.node(run.nodes["encoder"]).edges][1] == 0


def test_saves_that_arrive_late_have_slot_names(torch_optimizer_step):
    run, facts = torch_optimizer_step, facts_of(torch_optimizer_step)
    saves = {save.slot: save for save in facts.node(run.nodes["1"]).saves}
    assert set(saves) == {"_saved_mat1", "_saved_mat2"}
    assert saves["_saved_mat2"].storage == run.storages["1.weight"]
    assert saves["_saved_mat2"].provenance == Provenance.INFERRED


def test_a_leaf_is_born_after_edges_named_it(torch_carried_state):
    run, facts = torch_carried_state, facts_of(torch_carried_state)
    leaf = facts.node(run.nodes["w"])
    assert (leaf.op.name, leaf.seq) == ("AccumulateGrad", ACCUMULATE_SEQUENCE)
    assert leaf.row > facts.rows_about(Kind.EDGE, run.nodes["mul1"])[0]
    assert facts.name_of_leaf(run.nodes["w"]) == "w"


def test_ids_are_the_adapters_own(torch_two_losses):
    run, facts = torch_two_losses, facts_of(torch_two_losses)
    assert sorted(run.nodes.values()) == facts.node_ids.tolist()
    assert facts.node(min(run.nodes.values()) - 1) is None
    assert facts.node(max(run.nodes.values()) + 1) is None


def test_sequence_numbers_repeat_across_threads(torch_two_losses):
    run, facts = torch_two_losses, facts_of(torch_two_losses)
    first, second = facts.node(run.nodes["encoder.t"]), facts.node(run.nodes["head_b.t"])
    assert first.seq == second.seq
    assert (first.thread, second.thread) == (1, 2)


@pytest.mark.parametrize("name", ["torch_two_losses", "torch_carried_state"])
def test_backward_twice_names_who_freed(name, request):
    run = request.getfixturevalue(name)
    facts = facts_of(run)
    (error,) = facts.errors
    assert error.kind == "backward-twice"
    assert error.text.startswith("Trying to backward through the graph a second time")
    assert facts.freed_by(error.node) == 1
    assert error.pass_id == 2
    assert facts.passes_of(error.node) == [1, 2]
    assert not len(facts.rows(Kind.FREED))


def test_the_state_that_was_carried_reaches_the_first_iteration(torch_carried_state):
    run, facts = torch_carried_state, facts_of(torch_carried_state)
    assert facts.node(run.nodes["mul2"]).edges[0].node == run.nodes["tanh1"] == facts.errors[0].node
    assert facts.errors[0].site.text == "    loss.backward()"


def test_the_optimizer_is_the_writer(torch_optimizer_step):
    facts = facts_of(torch_optimizer_step)
    (error,) = facts.errors
    assert (error.kind, error.slot) == ("inplace-modified", "_saved_mat2")
    assert (error.expected, error.current) == (0, 1)
    assert facts.names(error.storage) == ["1.weight"]
    (bump,) = facts.bumps(error.storage)
    assert (bump.site.line, bump.site.text, bump.op.name) == (3, "optimizer.step()", "aten::add_")
    first, second = facts.passes
    assert first.end_row < bump.row < second.row
    assert facts.freed_by(error.node) == 0, "the first pass retained the graph"


def test_passes(torch_two_losses):
    run, facts = torch_two_losses, facts_of(torch_two_losses)
    first, second = facts.passes
    assert (first.outcome, second.outcome) == ("ok", "error")
    assert first.roots == ((run.nodes["sum_head_a"], 0),)
    assert not first.retain_graph and second.site.line == 5
    labels = {number: label for label, number in run.nodes.items()}
    assert [labels[node] for node in facts.ran(2).tolist()] == [
        *("sum_head_b", "head_b", "head_b.bias", "head_b.t", "head_b.weight"),
        "relu",
    ]
