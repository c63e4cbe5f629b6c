"""The engine's facts, as the trace tells them: nodes, edges, saves, writes, cuts, names, errors."""

import gc
import itertools
import threading
import weakref

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg.engines import native
from agdbg.events import Kind
from agdbg.record import Facts, Recorder, Trace
from agdbg_engine import events, nn, optim


@pytest.fixture
def record(tmp_path):
    """A function that runs a program under recording and returns the facts of its trace."""
    number = itertools.count()

    def run(program):
        path = tmp_path / f"trace{next(number)}"
        recorder = Recorder(path, program={"argv": ["x.py"]}, engine={"name": "agdbg_engine"}, sees=native.SEES)
        native.attach(recorder)
        try:
            program()
        finally:
            native.detach()
            recorder.close()
        return Facts(Trace.open(path))

    return run


def by_op(facts):
    return {facts.node(n).op.name: facts.node(n) for n in facts.node_ids}


def test_a_node_has_its_line_its_edges_and_what_it_saved(record):
    def program():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        (x * x).exp().sum()

    facts = record(program)
    nodes = by_op(facts)
    assert list(nodes) == ["AccumulateGrad", "MulBackward0", "ExpBackward0", "SumBackward0"]
    mul, leaf = nodes["MulBackward0"], nodes["AccumulateGrad"]
    assert [e.node for e in mul.edges] == [leaf.id, leaf.id]
    assert [(s.slot, s.version) for s in mul.saves] == [("self", 0), ("other", 0)]
    assert mul.saves[0].storage == mul.saves[1].storage
    assert [s.slot for s in nodes["ExpBackward0"].saves] == ["result"]
    assert "(x * x).exp().sum()" in mul.site.text
    assert mul.site.text[mul.site.col : mul.site.end_col] == "x * x"
    assert mul.site.func.endswith("program")
    assert leaf.seq == 2**64 - 1


def test_a_pass_has_its_call_its_order_and_its_leaf(record):
    def program():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        y = (x * 2).sum()
        y.backward(retain_graph=True)
        ag.autograd.grad(y, x, create_graph=True)

    facts = record(program)
    first, second = facts.passes
    assert (first.call, first.retain_graph, first.create_graph, first.outcome) == ("backward", True, False, "ok")
    assert (second.call, second.create_graph) == ("grad", True)
    ran = [facts.node(n).op.name for n in facts.ran(first.id)]
    assert ran == ["SumBackward0", "MulBackward0", "AccumulateGrad"]
    assert "y.backward" in first.site.text


def test_a_write_is_linked_to_what_was_saved_in_the_same_memory(record):
    def program():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        y = (x * 2).exp()
        y.mul_(3)

    facts = record(program)
    (saved,) = by_op(facts)["ExpBackward0"].saves
    (bump,) = facts.bumps(saved.storage)
    assert (bump.old, bump.new, bump.op.name) == (0, 1, "mul_")
    assert "y.mul_(3)" in bump.site.text
    assert facts.node(bump.node).op.name == "MulBackward0"


def test_the_result_of_an_in_place_op_is_saved_at_its_new_version(record):
    def program():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.exp_()

    facts = record(program)
    (saved,) = by_op(facts)["ExpBackward0"].saves
    (bump,) = facts.bumps(saved.storage)
    assert (saved.version, bump.new) == (1, 1)


def test_an_input_that_an_in_place_op_keeps_is_a_copy_with_memory_of_its_own(record):
    def program():
        x, w = ag.tensor([1.0], requires_grad=True), ag.tensor([2.0], requires_grad=True)
        y = x * 1
        y.mul_(w)
        y.sum().backward()

    facts = record(program)
    (bump,) = [b for n in facts.node_ids for s in facts.node(n).saves for b in facts.bumps(s.storage)] or [None]
    assert bump is None or bump.op.name != "mul_"
    assert facts.errors == () or facts.errors == []


def test_views_and_their_base_share_a_storage(record):
    def program():
        x = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        y = x * 1
        z = y[0].exp() + (y * y).sum()
        y[1] = 5.0
        assert z is not None

    facts = record(program)
    mul = [facts.node(n) for n in facts.node_ids if facts.node(n).op.name == "MulBackward0"][-1]
    bumps = facts.bumps(mul.saves[0].storage)
    assert [b.op.name for b in bumps] == ["fill_"]


def test_three_edges_and_later_outputs_are_recorded(record):
    def program():
        x = ag.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
        a, b, c = x.unbind(0)
        ag.cat([a, b, c * 2]).sum().backward()

    facts = record(program)
    nodes = by_op(facts)
    unbind = nodes["UnbindBackward0"].id
    cat = nodes["CatBackward0"]
    assert [(e.node == unbind, e.nr) for e in cat.edges][:2] == [(True, 0), (True, 1)]
    assert len(cat.edges) == 3
    assert [(e.node, e.nr) for e in nodes["MulBackward0"].edges] == [(unbind, 2)]


def test_parameters_have_names_through_every_way_to_them(record):
    def program():
        model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            model(ag.ones(1, 2)).sum().backward()
            optimizer.step()

    facts = record(program)
    leaves = [n for n in facts.node_ids if facts.node(n).op.name == "AccumulateGrad"]
    names = {facts.name_of_leaf(n) for n in leaves}
    assert names == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert len(leaves) == 8
    transposed = [facts.node(n) for n in facts.node_ids if facts.node(n).op.name == "TBackward0"]
    assert {facts.name_of_leaf(t.edges[0].node) for t in transposed} == {"0.weight", "2.weight"}
    addmm = [facts.node(n) for n in facts.node_ids if facts.node(n).op.name == "AddmmBackward0"][-1]
    weight = next(s for s in addmm.saves if s.slot == "mat2")
    assert facts.names(weight.storage) == ["2.weight"]
    assert [b.op.name for b in facts.bumps(weight.storage)] == ["SGD.step", "SGD.step"]


def test_a_module_of_some_layers_that_is_gone_again_renames_none(record):
    def program():
        model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
        for layer in model[::2]:
            layer.weight.requires_grad_()
        model(ag.ones(1, 2)).sum().backward()
        part = nn.Sequential(model[2])
        part(ag.ones(1, 3)).sum().backward()

    facts = record(program)
    leaves = [n for n in facts.node_ids if facts.node(n).op.name == "AccumulateGrad"]
    assert {facts.name_of_leaf(n) for n in leaves[:4]} == {"0.weight", "0.bias", "2.weight", "2.bias"}


CUTS = {
    "detach": lambda x: (x * 2).detach(),
    "data": lambda x: (x * 2).data,
    "item": lambda x: (x * 2).sum().item(),
    "integer": lambda x: (x * 2) > 1,
}


@pytest.mark.parametrize("how", CUTS)
def test_a_cut_has_its_kind_its_line_and_its_count(record, how):
    def program():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(11):
            CUTS[how](x)

    (cut,) = record(program).cuts
    assert (cut.op.name, cut.count) == (how, 11)
    assert f'"{how}"' in cut.site.text


def test_no_grad_is_a_cut_where_something_required_grad(record):
    def program():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        with ag.no_grad():
            x * 2
            ag.ones(2) * 2

    facts = record(program)
    (cut,) = facts.cuts
    assert (cut.op.name, cut.count) == ("no_grad", 1)


def error_of(record, program):
    def guarded():
        with pytest.raises(RuntimeError):
            program()

    facts = record(guarded)
    (error,) = facts.errors
    return facts, error


def test_an_error_says_what_was_expected(record):
    def program():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        y = (x * 2).exp()
        y += 1
        y.sum().backward()

    facts, error = error_of(record, program)
    assert (error.kind, error.slot, error.expected, error.current) == ("inplace-modified", "result", 0, 1)
    assert facts.node(error.node).op.name == "ExpBackward0"
    assert error.pass_id == facts.passes[-1].id
    assert facts.passes[-1].outcome == "error"
    assert "y.sum().backward()" in error.site.text


def test_backward_twice_has_both_passes(record):
    def program():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        y = (x * x).sum()
        y.backward()
        y.backward()

    facts, error = error_of(record, program)
    assert error.kind == "backward-twice"
    assert facts.freed_by(error.node) == facts.passes[0].id


def test_refused_writes_are_errors_too(record):
    _, error = error_of(record, lambda: ag.ones(2, requires_grad=True).mul_(2))
    assert error.kind == "leaf-inplace"
    _, error = error_of(record, lambda: ag.ones(2).sum().backward())
    assert error.kind == "no-grad-fn"


def test_an_error_of_the_users_hook_is_recorded_with_its_pass(record):
    def program():
        x = ag.ones(2, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: 1 / 0)
        y.sum().backward()

    def guarded():
        with pytest.raises(ZeroDivisionError):
            program()

    (error,) = record(guarded).errors
    assert error.kind == "other"
    assert "ZeroDivisionError" in error.text


def test_nodes_older_than_the_recording_are_told_when_they_are_met(record):
    x = ag.ones(2, requires_grad=True)
    old = (x * x).exp()
    facts = record(lambda: (old * 2).sum().backward())
    ops = [facts.node(n).op.name for n in facts.node_ids]
    assert sorted(ops) == sorted(["AccumulateGrad", "MulBackward0", "ExpBackward0", "MulBackward0", "SumBackward0"])
    edges = {e.node for n in facts.node_ids for e in facts.node(n).edges}
    assert edges <= set(facts.node_ids.tolist())


def test_an_old_graph_of_any_depth_is_told_without_recursion(record):
    y = ag.ones(1, requires_grad=True)
    for _ in range(5000):
        y = y * 1.0
    facts = record(lambda: y.backward())
    assert len(facts.node_ids) == 5001
    assert len(facts.ran(facts.passes[0].id)) == 5001


def test_recording_twice_mixes_nothing_up(record):
    x = ag.ones(2, requires_grad=True)
    first = record(lambda: (x * x).sum().backward())
    second = record(lambda: (x * x).sum().backward())
    assert not set(first.node_ids.tolist()) & set(second.node_ids.tolist())
    assert [len(f.ran(f.passes[0].id)) for f in (first, second)] == [3, 3]


def test_big_versions_do_not_wrap(record):
    def program():
        x = ag.ones(1)
        x._shared_storage().version = (1 << 20) + 7
        w = ag.ones(1, requires_grad=True)
        (w * x).sum()

    (saved,) = by_op(record(program))["MulBackward0"].saves
    assert saved.version == (1 << 20) + 7


def test_threads_have_numbers_of_their_own(record):
    def work():
        x = ag.ones(2, requires_grad=True)
        for _ in range(50):
            (x * x).sum().backward()

    def program():
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    facts = record(program)
    assert len(facts.passes) == 150
    assert len({p.thread for p in facts.passes}) == 3
    assert all(p.outcome == "ok" for p in facts.passes)


def test_recording_changes_no_result_and_keeps_nothing_alive(record):
    def train(seen):
        ag.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = optim.Adam(model.parameters(), lr=0.1)
        for _ in range(5):
            loss = nn.functional.mse_loss(model(ag.randn(16, 4)), ag.ones(16, 1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        seen.append([p.detach().numpy().copy() for p in model.parameters()])
        seen.append(weakref.ref(loss))

    plain, recorded = [], []
    train(plain)
    facts = record(lambda: train(recorded))
    for a, b in zip(plain[0], recorded[0], strict=True):
        np.testing.assert_array_equal(a, b)
    gc.collect()
    assert recorded[1]() is None
    assert len(facts.passes) == 5


def test_a_failing_recorder_is_dropped_once_and_the_program_goes_on(record, capsys, monkeypatch):
    def broken(*args):
        raise OSError("disk on fire")

    def program():
        monkeypatch.setattr(events.sink, "append", broken)
        monkeypatch.setattr(events.sink, "emit", broken)
        events.sink._writers.clear()
        x = ag.ones(2, requires_grad=True)
        for _ in range(3):
            (x * x).sum().backward()
        assert x.grad.tolist() == [6.0, 6.0]

    record(program)
    err = capsys.readouterr().err
    assert err.count("an instrument failed") == 1
    assert "disk on fire" in err


def test_two_records_a_node(record):
    def program():
        x = ag.ones(4, requires_grad=True)
        y = x
        for _ in range(100):
            y = y * x + 1
        y.sum().backward()

    facts = record(program)
    kinds = facts.trace.kinds
    nodes = len(facts.node_ids)
    assert nodes == 202
    assert np.isin(kinds, [Kind.BORN, Kind.RAN]).sum() == 2 * nodes
    assert len(kinds) <= 2 * nodes + 6


def test_a_program_at_its_recursion_limit_is_recorded_on(record):
    def deep(x, n):
        try:
            y = deep(x, n + 1) * 1.0
        except RecursionError:
            y = x
        return y * x

    def program():
        x = ag.tensor([1.0], requires_grad=True)
        loss = deep(x, 0).sum()
        assert events.sink is not None
        loss.backward()
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()

    facts = record(program)
    assert [e.kind for e in facts.errors] == ["backward-twice"]
    first = facts.passes[0]
    ran = facts.ran(first.id)
    assert len(ran) > 100
    assert all(facts.node(n) is not None for n in ran)


def test_the_trace_says_that_an_instrument_failed(tmp_path, capsys):
    recorder = Recorder(tmp_path / "t", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    native.attach(recorder)
    try:
        x = ag.ones(2, requires_grad=True)
        (x * x).sum().backward()
        events.sink._site = None
        (x * 2).register_hook(lambda g: g)
        assert events.sink is None
    finally:
        native.detach()
        recorder.close()
    meta = Trace.open(tmp_path / "t").meta
    assert meta["stopped"]["reason"].startswith("TypeError")
    assert meta["stopped"]["records"] > 0
    assert "closed" not in meta


def test_a_parameter_that_is_used_without_its_module_has_its_name(record):
    model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 1)))

    def program():
        (ag.ones(1, 3) @ model[1][0].weight.t()).sum().backward()

    facts = record(program)
    (leaf,) = [n for n in facts.node_ids if facts.node(n).op.name == "AccumulateGrad"]
    assert facts.name_of_leaf(leaf) == "1.0.weight"
