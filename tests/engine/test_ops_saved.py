"""What nodes are called and what they save: as in PyTorch, by which inputs require grad."""

import itertools

import numpy as np
import pytest
from agdbg_tests_op_samples import SAMPLES, Raw

import agdbg_engine as ag
from agdbg_engine.ops import ROWS
from agdbg_engine.ops.table import TABLE

BY_NAME = {row.name: row for row in TABLE}

OTHER_NODES = {
    "max_dim": "PyTorch computes the positions in the same op, which the sample's torch function cannot be given",
    "min_dim": "as max_dim",
    "index_backward": "PyTorch has no node for it: index_put into zeros",
    "gather_backward": "PyTorch has no node for it: scatter_add into zeros",
    "conj_raw": "PyTorch has a node for complex tensors only",
    "conj_copy": "as conj_raw",
}
"""Rows whose samples do not end in the same node in PyTorch, and why."""

FEWER_SAVED = {
    "gather": {"self"},
    "threshold_backward": {"self"},
    "leaky_relu_backward": {"self"},
    "nll_loss_raw": {"self", "total_weight"},
}
"""Slots that PyTorch fills though the gradient needs at most their shape."""


@pytest.fixture(scope="session")
def torch():
    """PyTorch, or a visible skip."""
    return pytest.importorskip("torch")


def subsets(sample):
    row = BY_NAME[sample.row]
    positions = [i for i in sample.floats if row.args[i] in row.differentiable]
    for n in range(1, len(positions) + 1):
        yield from itertools.combinations(positions, n)


CASES = [(s, wanted) for s in SAMPLES for wanted in subsets(s)]
SAME_NODE = [(s, w) for s, w in CASES if s.row not in OTHER_NODES]
every_case = pytest.mark.parametrize(("sample", "wanted"), SAME_NODE, ids=str)


def tensors(from_numpy, sample, wanted, raw):
    for i, a in enumerate(sample.args):
        if isinstance(a, np.ndarray):
            t = from_numpy(a)
            yield t.requires_grad_() if i in wanted else t
        else:
            yield raw(a)


def engine_node(sample, wanted):
    args = tensors(ag.from_numpy, sample, wanted, lambda a: a.value if isinstance(a, Raw) else a)
    return ROWS[sample.row](*args).grad_fn


def torch_node(torch, sample, wanted):
    return sample.torch(*tensors(torch.from_numpy, sample, wanted, lambda a: a)).grad_fn


def saved_by_pytorch(torch, node):
    """Names of the saved tensors; a number that PyTorch wrapped into a tensor is none."""
    names = set()
    for attribute in dir(node):
        if attribute.startswith("_saved_"):
            value = getattr(node, attribute)
            if any(isinstance(v, torch.Tensor) for v in (value if isinstance(value, tuple) else (value,))):
                names.add(attribute.removeprefix("_saved_"))
    return names


def saved_by_engine(node):
    names = {slot for slot in node.slots if getattr(node, "s_" + slot) is not None}
    return names | {"indices"} & set(node.consts)


@every_case
def test_the_node_has_pytorchs_name(sample, wanted, torch):
    assert engine_node(sample, wanted).name() == torch_node(torch, sample, wanted).name()


@every_case
def test_the_same_tensors_are_saved(sample, wanted, torch):
    numbers = {BY_NAME[sample.row].args[i] for i, a in enumerate(sample.args) if isinstance(a, int | float)}
    theirs = saved_by_pytorch(torch, torch_node(torch, sample, wanted)) - numbers
    theirs -= FEWER_SAVED.get(sample.row, set()) - saved_by_engine(engine_node(sample, wanted))
    assert saved_by_engine(engine_node(sample, wanted)) == theirs


@pytest.mark.parametrize(
    ("sample", "wanted"), [(s, w) for s, w in SAME_NODE if s.row != "nll_loss_raw_backward"], ids=str
)
def test_edges_are_those_of_pytorch(sample, wanted, torch):
    """Which inputs have an edge, in which order; PyTorch has an empty one also for a number, or a tensor that gives a shape."""
    ours = [n is not None for n, _ in engine_node(sample, wanted).next_functions]
    theirs = [n is not None for n, _ in torch_node(torch, sample, wanted).next_functions]
    given = [
        isinstance(a, np.ndarray)
        for a, name in zip(sample.args, BY_NAME[sample.row].args, strict=False)
        if name in BY_NAME[sample.row].differentiable
    ]
    assert ours == (
        theirs if len(ours) == len(theirs) else [edge for edge, tensor in zip(theirs, given, strict=True) if tensor]
    )


@pytest.mark.parametrize(("sample", "wanted"), CASES, ids=str)
def test_no_slot_is_filled_for_nobody(sample, wanted):
    """With fewer inputs that require grad never more is saved, and what is saved has the value it had."""
    node = engine_node(sample, wanted)
    everything = engine_node(sample, [i for s, w in CASES if s is sample for i in w])
    assert saved_by_engine(node) <= saved_by_engine(everything)
    for slot in node.slots:
        saved = getattr(node, "_saved_" + slot)
        assert (saved is None) == (getattr(node, "s_" + slot) is None)
        if saved is not None and slot != "result":
            np.testing.assert_array_equal(saved.detach().numpy(), sample.args[BY_NAME[sample.row].args.index(slot)])


@every_case
def test_what_a_slot_keeps_is_a_tensor(sample, wanted, torch):
    """Results too, which the node has as buffers."""
    node = engine_node(sample, wanted)
    for slot in node.slots:
        raw = getattr(node, "_raw_saved_" + slot)
        saved = raw.unpack()
        assert (raw.data is None) if saved is None else isinstance(raw.data, ag.Tensor)
        if saved is not None:
            np.testing.assert_array_equal(raw.data.detach().numpy(), saved.detach().numpy())


def test_exceptions_are_needed(torch):
    """No row is excused that needs no excuse."""
    for name in OTHER_NODES:
        mine = [(s, w) for s, w in CASES if s.row == name]
        theirs = [torch_node(torch, *case) for case in mine]
        assert any(
            node is None or node.name() != engine_node(*case).name() for node, case in zip(theirs, mine, strict=True)
        ), name
    for name, excused in FEWER_SAVED.items():
        mine = [case for case in CASES if case[0].row == name]
        fewer = [saved_by_pytorch(torch, torch_node(torch, *c)) - saved_by_engine(engine_node(*c)) for c in mine]
        assert excused <= set().union(*fewer), name


# ----- index arrays: nothing else can tell that they were written to -----


@pytest.mark.parametrize("index", [np.array([0, 2]), np.array([True, False, True])], ids=["positions", "mask"])
def test_gradient_of_an_index_that_is_written_to_afterwards(index):
    x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    i = ag.from_numpy(index.copy())
    y = x[i].sum()
    z = x * 1
    z[i] = 5.0
    i.numpy()[...] = 1
    y.backward()
    z.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


@pytest.mark.parametrize(("reduction", "number"), [("none", 0), ("mean", 1), ("sum", 2)])
def test_reductions_are_numbers(torch, reduction, number):
    for t in (torch, ag):
        x = t.ones(2, requires_grad=True)
        assert t.nn.functional.mse_loss(x, t.zeros(2), reduction=reduction).grad_fn._saved_reduction == number


def test_sizes_and_factors_have_one_name_each(torch):
    for t in (torch, ag):
        x = t.ones(2, 3, requires_grad=True)
        names = [n for n in dir(x.sum(0).grad_fn) if n.startswith("_saved_")]
        assert names == ["_saved_dim", "_saved_keepdim", "_saved_self_sym_sizes"]
        assert t.trapezoid(x).grad_fn._saved_other == 1
