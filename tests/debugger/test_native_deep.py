"""Shapes, values, checksums and modules of real programs: the facts are right, and the results those of a plain run."""

import itertools
import threading
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from agdbg_tests_rare_programs import PROGRAMS

import agdbg_engine as ag
from agdbg.engines import native, native_deep
from agdbg.events import Kind
from agdbg.extras import EXTRAS
from agdbg.record import Facts, Recorder, Trace
from agdbg_engine import nn, optim

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TRAINING = sorted(p.stem for p in EXAMPLES.glob("train_*.py"))


@pytest.fixture
def record(tmp_path, capfd):
    """A function that runs a program, recorded with these extras or not at all; its result, and the facts of its trace."""
    number = itertools.count()

    def run(program, also=EXTRAS, said="", watched=True):
        recorder = Recorder(tmp_path / f"trace{next(number)}", program={}, engine={}, sees=native.sees(also))
        if watched:
            native.attach(recorder, None, also)
        try:
            result = program()
        finally:
            native.detach()
            recorder.close()
        err = capfd.readouterr().err
        assert err.count(said) == 1 if said else err == ""
        facts = Facts(Trace.open(recorder.path))
        assert facts.trace.problems == []
        return result, facts

    return run


def plain(value):
    """A result as what can be compared: bytes and layout of arrays, texts of errors."""
    if isinstance(value, ag.Tensor):
        array = value.detach()._a
        return array.dtype.str, array.shape, array.strides, array.tobytes()
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value


def ids_of(facts, op):
    return [n for n in facts.node_ids.tolist() if facts.node(n).op.name == op]


def texts(facts, op):
    """What the outputs of the nodes of an op are."""
    return [shape.text for n in ids_of(facts, op) for shape in facts.shapes(n)]


# ----- the program is the same -----


@pytest.mark.parametrize("name", TRAINING)
def test_training_gives_the_same_to_the_bit(name, record, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    example = import_module(name)

    def program():
        ag.manual_seed(0)
        model = example.Model()
        losses = example.train(model, 2)
        return [losses, [(p, p.grad) for p in model.parameters()], list(model.buffers())]

    expected = plain(program())
    result, facts = record(program)
    assert plain(result) == expected
    assert {Kind.MODULE, Kind.SHAPE, Kind.SUMMARY, Kind.PROBE, Kind.OPTIMIZER} <= set(facts.trace.kinds.tolist())
    assert facts.bad_summaries == [] and facts.silent_writes == []
    assert {each.when for each in facts.optimized} == {"built", "stepped"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_rare_programs_give_the_same(name, record):
    results = []
    for watched in (False, True):
        ag.manual_seed(3)
        results.append(plain(record(PROGRAMS[name], watched=watched)[0]))
    assert results[0] == results[1]


def test_nothing_is_told_that_was_not_asked_for(record):
    def program():
        w = ag.ones(3, requires_grad=True)
        (w * w).sum().backward()

    kinds = {"shapes": Kind.SHAPE, "values": Kind.SUMMARY, "checksums": Kind.PROBE}
    for also in [(), *((name,) for name in EXTRAS), ("shapes", "checksums")]:
        _, facts = record(program, also)
        assert {name for name, kind in kinds.items() if len(facts.rows(kind))} == set(also)
        assert {name for name in EXTRAS if facts.trace.meta["sees"][name]} == set(also)


# ----- modules -----


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(2, 2)
        self.fails = False

    def forward(self, x):
        y = self.part(self.part(x)).exp()
        if self.fails:
            raise KeyError("mine")
        return y


def test_nodes_know_their_module_called_twice_raising_and_in_threads(record):
    def program():
        model = nn.Sequential(Twice(), nn.Tanh())
        model(ag.ones(1, 2)).sum()
        model[0].fails = True
        with pytest.raises(KeyError):
            model(ag.ones(1, 2))
        ag.ones(1, requires_grad=True).sin()
        thread = threading.Thread(target=model[1], args=(ag.ones(1, requires_grad=True),))
        thread.start()
        thread.join()

    _, facts = record(program, ())
    paths = {op: [facts.module_path(n) for n in ids_of(facts, op)] for op in ("AddmmBackward0", "ExpBackward0")}
    assert paths == {"AddmmBackward0": ["0.part"] * 4, "ExpBackward0": ["0"] * 2}
    assert [facts.module_of(n).class_name for n in ids_of(facts, "TanhBackward0")] == ["Tanh", "Tanh"]
    assert facts.module_of(ids_of(facts, "SinBackward0")[0]) is None
    assert facts.module_of(ids_of(facts, "SumBackward0")[0]) is None
    kinds = [(m.path, m.class_name) for m in facts.modules]
    assert kinds == [("", "Sequential"), ("0", "Twice"), ("0.part", "Linear"), ("1", "Tanh")]


def test_parameters_are_told_used_or_not_and_frozen_ones_as_such(record):
    def program():
        model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        model.spare = nn.Parameter(ag.ones(1))
        model[0].bias.requires_grad_(False)
        model[0](ag.ones(3, 2))

    _, facts = record(program, ())
    last = {t.name: (t.kind, t.requires_grad) for t in facts.tensors}
    assert last["spare"] == ("parameter", True) and last["0.bias"] == ("parameter", False)
    assert last["1.running_mean"] == ("buffer", False) and last["0.weight"] == ("parameter", True)


def test_an_optimizer_with_groups(record):
    def program():
        model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
        groups = [{"params": model[0].parameters()}, {"params": [model[1].weight], "lr": 0.5}]
        first = optim.Adam(groups)
        second = optim.SGD([model[1].bias], lr=0.1)
        model(ag.ones(1, 2)).sum().backward()
        first.step()
        second.step()
        first.step()

    _, facts = record(program, ())
    told = [(o.when, o.number, o.op.name, *facts.names(o.storage)) for o in facts.optimized]
    adam, sgd = ["0.weight", "0.bias", "1.weight"], ["1.bias"]
    assert told == [
        *(("built", 1, "Adam", name) for name in adam), *(("built", 2, "SGD", name) for name in sgd),
        *(("stepped", 1, "Adam", name) for name in adam), *(("stepped", 2, "SGD", name) for name in sgd),
    ]  # fmt: skip
    assert "optim.Adam(groups)" in facts.optimized[0].site.text and "first.step()" in facts.optimized[4].site.text


# ----- shapes -----


def test_shapes_of_views_writes_and_several_outputs(record):
    def program():
        x = ag.zeros(3, 4, requires_grad=True)
        y = x * 2
        y.t()[1:].mul_(3)
        z = y.expand(5, 3, 4)
        y.add_(1)
        w, v = ag.linalg.eigh((x @ x.t()).double())
        first, second = w.split([1, 2])
        return z, v, first, second

    _, facts = record(program, ("shapes",))
    assert texts(facts, "AccumulateGrad") == ["float32[3, 4]"]
    assert texts(facts, "TBackward0")[0] == "float32[4, 3]"
    assert texts(facts, "SliceBackward0") == ["float32[3, 3]"]
    assert texts(facts, "LinalgEighBackward0") == ["float64[3]", "float64[3, 3]"]
    assert texts(facts, "SplitWithSizesBackward0") == ["float64[1]", "float64[2]"]
    mul, copied, add = ids_of(facts, "MulBackward0"), ids_of(facts, "CopySlices"), ids_of(facts, "AddBackward0")
    memory = facts.shape(mul[0]).storage
    assert {facts.shape(n).storage for n in (*copied, *add, *ids_of(facts, "ExpandBackward0"))} == {memory}
    expanded = facts.shape(ids_of(facts, "ExpandBackward0")[0])
    assert (expanded.text, expanded.nbytes, expanded.storage_nbytes) == ("float32[5, 3, 4]", 240, 48)
    assert {facts.shape(n).device for n in facts.node_ids.tolist()} == {"cpu"}
    assert facts.storage_nbytes(memory) == 48


def test_memory_of_what_was_saved_is_known(record):
    def program():
        w = ag.ones(4, requires_grad=True)
        data = ag.zeros(10)[:4]
        for _ in range(2):
            (w * data).exp().sum()

    _, facts = record(program, ("shapes",))
    for op, sizes in {"MulBackward0": [40], "ExpBackward0": [16]}.items():
        saved = [facts.storage_nbytes(save.storage) for save in facts.node(ids_of(facts, op)[0]).saves]
        assert saved == sizes
    unborn = [row for row in facts.rows(Kind.SHAPE).tolist() if not facts.shape_at(row).node]
    assert len(unborn) == 1


def test_outputs_of_custom_functions(record):
    _, facts = record(PROGRAMS["function"], ("shapes", "values"))
    [pair] = ids_of(facts, "PairBackward")
    assert [s.output for s in facts.shapes(pair)] == [0, 1]
    assert {s.index for s in facts.summaries(pair) if s.what == "output"} == {0, 1}
    assert {s.index for s in facts.summaries(pair) if s.what == "gradient out"} == {0, 1}


# ----- values -----


def test_the_first_nan_is_at_the_op_that_made_it(record):
    def program():
        x = ag.tensor([4.0, -1.0, 9.0], requires_grad=True)
        (x.sqrt() * 2).sum()

    _, facts = record(program, ("values",))
    first = facts.bad_summaries[0]
    assert facts.node(first.node).op.name == "SqrtBackward0"
    assert (first.what, first.nans, first.first_bad, first.norm, first.largest, first.elements) == (
        "output", 1, 1, pytest.approx(13**0.5), 3.0, 3,
    )  # fmt: skip


def test_the_first_bad_gradient_is_at_the_node_that_sent_it(record):
    def program():
        x = ag.tensor([4.0, 0.0], requires_grad=True)
        y = x.sqrt()
        (y * 3).sum().backward()
        return x.grad

    grad, facts = record(program, ("values",))
    first = facts.bad_summaries[0]
    assert facts.node(first.node).op.name == "SqrtBackward0"
    assert (first.what, first.index, first.infs, first.first_bad) == ("gradient out", 0, 1, 1)
    assert first.pass_id == facts.passes[0].id
    assert np.isinf(grad.numpy()[1])
    [arrived] = [s for s in facts.summaries(first.node) if s.what == "gradient in"]
    assert (arrived.norm, arrived.nans) == (pytest.approx(18**0.5), 0)


def test_gradients_of_every_pass_are_told_where_there_are_hooks_captures_and_second_derivatives(record):
    def program():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        y.register_hook(lambda g: g * 10)
        (g,) = ag.autograd.grad(y.sum(), x, create_graph=True)
        g.sum().backward()

    _, facts = record(program, ("values",))
    [exp] = ids_of(facts, "ExpBackward0")
    first, second = (p.id for p in facts.passes)
    seen = [(s.what, round(s.largest, 3)) for s in facts.summaries(exp) if s.pass_id == first]
    assert seen == [("gradient in", 1.0), ("gradient out", round(10 * np.e**2, 3))]
    assert [s.what for s in facts.summaries(exp) if s.pass_id == second].count("gradient in") == 1
    born_in_first = [s for n in ids_of(facts, "MulBackward0") for s in facts.summaries(n) if s.what == "output"]
    assert {s.pass_id for s in born_in_first} == {first}


def test_integers_have_no_summary_and_small_types_have_one(record):
    def program():
        x = ag.ones(2, dtype=ag.float16, requires_grad=True)
        c = ag.ones(2, dtype=ag.complex64, requires_grad=True)
        x.argmax()
        (x * 70000.0).sum()
        (c * 2j).abs().sum().backward()

    _, facts = record(program, ("values",))
    assert facts.bad_summaries[0].infs == 2
    [abs_] = ids_of(facts, "AbsBackward0")
    assert [s.largest for s in facts.summaries(abs_)][:2] == [2.0, 1.0]


def test_the_order_of_records_is_the_order_of_what_happened(record):
    def program():
        x = ag.ones(3, requires_grad=True)
        (x * 2 + x).sum().backward()

    _, facts = record(program)
    for node in facts.node_ids.tolist():
        born, [run] = facts.node(node).row, facts.runs_of(node)
        rows = {what: [s.row for s in facts.summaries(node) if s.what == what] for what in ("output", "gradient in")}
        assert born < rows["output"][0] < rows["gradient in"][0] < run.row
        assert all(s.row < run.row for s in facts.summaries(node))


# ----- checksums -----


def test_a_write_that_nobody_counted_is_found(record):
    def program():
        w, buffer = ag.ones(3, requires_grad=True), np.ones(3, "f4")
        data, hidden = ag.from_numpy(buffer), ag.zeros(3)
        seen = ag.from_numpy(np.ones(3, "f4"))
        loss = (w * data).sum() + (w * hidden).sum() + (w * seen).sum() + w.exp().sum()
        buffer[1] = 5
        hidden.data.fill_(2)
        loss.backward()
        w.exp().sum().backward()

    _, facts = record(program, ("checksums",))
    found = [
        (then.slot, facts.node(then.node).op.name, then.version == now.version) for then, now in facts.silent_writes
    ]
    assert found == [("other", "MulBackward0", True)] * 2
    storages = {then.storage for then, _ in facts.silent_writes}
    assert len(storages) == 2


def test_what_was_written_in_the_open_is_no_silent_write(record):
    def program():
        x = ag.ones(3, requires_grad=True)
        y = x * 2
        y.exp_()
        z = x.sin()
        z.cos().sum()
        z.mul_(2)
        rows = ag.zeros(4, 3)
        loss = (rows[0] * x).sum() + y.sum()
        rows.data[1].fill_(3)  # not what was saved
        loss.backward()
        kept = z * z
        z.data.mul_(1)
        kept.sum().backward(retain_graph=True)
        kept.sum().backward()

    _, facts = record(program, ("checksums",))
    assert facts.silent_writes == []
    assert {p.when for p in facts.probes} == {"saved", "checked"}


def test_an_inplace_result_is_probed_as_it_was_written(record):
    def program():
        x = ag.ones(3, requires_grad=True)
        y = x * 1
        y.exp_()
        y.data.mul_(3)
        y.sum().backward()

    _, facts = record(program, ("checksums",))
    [(then, now)] = facts.silent_writes
    assert (then.slot, then.version, now.version) == ("result", 1, 1)


# ----- under the stepper, and when something fails -----


def test_a_summary_that_fails_is_left_out_and_told_once(record, monkeypatch):
    def broken(array):
        raise ArithmeticError("no")

    monkeypatch.setattr(native_deep, "summarised", broken)

    def program():
        x = ag.ones(3, requires_grad=True)
        (x * 2).sum().backward()
        return x.grad.tolist()

    result, facts = record(program, EXTRAS, said="is not recorded: ArithmeticError: no")
    assert result == [2.0] * 3
    assert len(facts.rows(Kind.SUMMARY)) == 0 and len(facts.rows(Kind.SHAPE)) and len(facts.passes) == 1


def test_the_limit_of_recursion_is_no_fault(record):
    class Deep(nn.Module):
        def forward(self, x):
            return self(x * 1)

    def program():
        x = ag.ones(1, requires_grad=True)
        with pytest.raises(RecursionError):
            Deep()(x)
        (x * 2).sum().backward()
        return x.grad.item()

    result, facts = record(program)
    assert result == 2.0
    assert facts.module_of(ids_of(facts, "SumBackward0")[-1]) is None
