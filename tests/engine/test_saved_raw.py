"""What nodes show of what they saved: ``_saved_<name>``, and ``_raw_saved_<name>`` with hooks of its own."""

import pytest
from agdbg_tests_differential import Programs, error_of, facts, leaf, outcome, raised, same, unnamed

import agdbg_engine as ag
from agdbg_engine.backward import BackwardPass
from agdbg_engine.journal import Journal, runs_user_code
from agdbg_engine.saved import first_refusal
from agdbg_engine.sites import caller

programs = Programs()


def keep(v):
    return v


@programs
def hooks_on_an_input(t):
    x, seen = leaf(t, 1.0, 2.0), []
    y = x * x
    raw = y.grad_fn._raw_saved_self
    raw.register_hooks(
        lambda v: (seen.append([v, v is x, t.is_grad_enabled(), v._version]), v * 10)[1], lambda v: v / 5
    )
    saved = y.grad_fn._saved_self
    y.sum().backward()
    return [seen, saved, saved is x, x.grad]


def test_identity_hooks_that_write_later_are_found_out():
    """PyTorch's switch the check off."""
    kept = []
    x = leaf(ag, 1.0, 2.0)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda v: (kept.append(v), v)[1], lambda v: v)
    with ag.no_grad():
        kept[0].mul_(2)
    assert y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@programs
def hooks_on_an_output(t):
    x, seen = leaf(t, 1.0, 2.0), []
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda v: (seen.append([v, v is y]), v.clone())[1], lambda v: v * 2)
    saved = y.grad_fn._saved_result
    y.sum().backward()
    return [seen, saved, saved.grad_fn is y.grad_fn, x.grad]


@programs
def what_the_object_shows(t):
    x = leaf(t, 1.0, 2.0)
    y, unpack = x * x, lambda v: v[0]
    raw = y.grad_fn._raw_saved_self
    seen = [raw.data is x, raw.unpack() is x, raw.unpack_hook]
    raw.register_hooks(lambda v: (v,), unpack)
    seen += [raw.data, raw.unpack(), raw.unpack_hook is unpack]
    y.sum().backward()
    return [seen, raw.data, error_of(raw.unpack), raw.unpack_hook]


@programs
def an_output_shows_its_data_only(t):
    y = leaf(t, 1.0, 2.0).exp()  # kept: PyTorch's object does not keep the node, and crashes without it
    return y.grad_fn._raw_saved_result.data


@programs
def refusals(t):
    x, c = leaf(t, 1.0, 2.0), t.ones(2, dtype=t.float64)
    y = x * c
    empty, full = y.grad_fn._raw_saved_self, y.grad_fn._raw_saved_other
    seen = [
        error_of(empty.register_hooks, keep, keep), empty.data, empty.unpack(), empty.unpack_hook,
        error_of(full.register_hooks, 3, keep), error_of(full.register_hooks, keep, None), full.register_hooks(keep, keep),
        error_of(full.register_hooks, keep, keep), error_of(lambda: y.grad_fn._raw_saved_nothing),
    ]  # fmt: skip
    y.sum().backward()
    return [*seen, error_of(full.register_hooks, keep, keep), error_of(lambda: y.grad_fn._saved_other), empty.data]


@programs
def what_holds_nothing_takes_no_hooks(t):
    x = leaf(t, 1.0, 2.0)
    y, z = x * 2, x / 2
    raws = [y.grad_fn._raw_saved_self, y.grad_fn._raw_saved_other, z.grad_fn._raw_saved_self]
    seen = [(r.data, r.unpack(), r.unpack_hook) for r in raws]
    seen += [error_of(r.register_hooks, keep, keep) for r in (raws[0], raws[2])]
    seen.append(error_of(raws[0].register_hooks, 3, keep))
    y.sum().backward()
    raw = y.grad_fn._raw_saved_other
    return [*seen, raw.data, error_of(raw.unpack), error_of(raw.register_hooks, keep, keep)]


@programs
def indices_as_objects(t):
    x = t.ones(3, 4, requires_grad=True)
    y = x[:, t.tensor([0, 2])]
    seen = [(raw.data, raw.unpack(), raw.unpack_hook) for raw in y.grad_fn._raw_saved_indices]
    seen.append(error_of(y.grad_fn._raw_saved_indices[0].register_hooks, keep, keep))
    y.sum().backward()
    return [seen, error_of(lambda: y.grad_fn._raw_saved_indices), error_of(lambda: y.grad_fn._saved_indices)]


@programs
def operands_that_are_not_kept(t):
    """A linear layer and a loss on it: sizes, and the input of the loss, which its producer saved."""
    x, w, b = t.ones(4, 3), t.ones(2, 3, requires_grad=True), t.zeros(2, requires_grad=True)
    y = t.nn.functional.linear(x, w, b)
    logs = t.nn.functional.log_softmax(y, 1)
    loss = t.nn.functional.nll_loss(logs, t.tensor([0, 1, 1, 0]))
    first, last = y.grad_fn, loss.grad_fn
    seen = [getattr(first, f"_saved_{m}_sym_{what}") for m in ("mat1", "mat2") for what in ("sizes", "strides")]
    seen += [last._saved_self, last._saved_total_weight, last._saved_weight, last._saved_ignore_index]
    loss.backward()
    return [*seen, error_of(lambda: last._saved_self), error_of(lambda: last._saved_total_weight)]


@programs
def factors_of_a_determinant(t):
    x = t.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    nodes = [t.linalg.det(x).grad_fn, t.linalg.det(x.mT).grad_fn, t.linalg.solve(x, t.ones(2, 1)).grad_fn]
    return [(n._saved_LU, n._saved_pivots) for n in nodes]


@programs
def corrections_that_were_not_given(t):
    x = t.ones(2, 3, requires_grad=True)
    made = [
        x.std(), x.var(), x.std(0), x.std(unbiased=True), x.var(unbiased=False), x.std(correction=1),
        t.std_mean(x)[0], t.var_mean(x, 0)[0],
    ]  # fmt: skip
    return [(y.grad_fn._saved_correction, y.grad_fn._saved_dim) for y in made]


@programs
def hooks_that_fail(t):
    x = leaf(t, 1.0, 2.0)
    y = x.exp()
    z, w = x.exp(), x.exp()
    seen = [
        error_of(y.grad_fn._raw_saved_result.register_hooks, lambda v: v.add_(1), keep),
        error_of(z.grad_fn._raw_saved_result.register_hooks, lambda v: 1 / 0, keep),
        w.grad_fn._raw_saved_result.register_hooks(lambda v: 3, keep),
    ]
    return [seen, y, error_of(lambda: w.grad_fn._saved_result), error_of(w.sum().backward)]


@programs
def disabling_default_hooks_leaves_them(t):
    x = leaf(t, 1.0, 2.0)
    y = x.exp()
    with t.autograd.graph.disable_saved_tensors_hooks("none"):
        y.grad_fn._raw_saved_result.register_hooks(lambda v: v.clone(), lambda v: v * 2)
    y.sum().backward()
    return x.grad


@programs
def packed_by_default_hooks_already(t):
    x = leaf(t, 1.0, 2.0)
    with t.autograd.graph.saved_tensors_hooks(keep, keep):
        y = x.exp()
    return error_of(y.grad_fn._raw_saved_result.register_hooks, keep, keep)


@programs
def create_graph_through_hooks(t):
    x = leaf(t, 1.0, 2.0)
    y = x.exp() * x
    for name in ("self", "other"):
        getattr(y.grad_fn, f"_raw_saved_{name}").register_hooks(lambda v: v.clone(), lambda v: v.clone())
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    return [unnamed(g), t.autograd.grad(g.sum(), x)]


@programs
def nothing_can_be_written(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 3
    z = y.exp().sum(0)
    leaf_node, raw = y.grad_fn.next_functions[0][0], z.grad_fn.next_functions[0][0]._raw_saved_result
    tried = [
        *((y.grad_fn, name) for name in ("_saved_self", "_saved_other", "_raw_saved_other")),
        *((z.grad_fn, name) for name in ("_saved_dim", "_saved_keepdim", "_saved_self_sym_sizes", "_saved_nothing")),
        (leaf_node, "variable"),
    ]
    refused = [[error_of(setattr, o, name, 1), error_of(delattr, o, name)] for o, name in tried]
    return [refused, [error_of(setattr, raw, name, 1).kind for name in ("data", "register_hooks", "another")]]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    pytest.importorskip("torch")
    same(program)


# ----- names and values of what is saved -----

OPS = {
    "add": lambda t, x, v: x + v, "sub": lambda t, x, v: x - v, "rsub": lambda t, x, v: 1 - x, "mul": lambda t, x, v: x * v,
    "mul by a number": lambda t, x, v: x * 3, "div by a number": lambda t, x, v: x / 2.0, "pow": lambda t, x, v: x**2,
    "pow of": lambda t, x, v: 2.0**x, "sum": lambda t, x, v: x.sum(), "sum over": lambda t, x, v: x.sum(1),
    "mean": lambda t, x, v: x.mean(), "mean over": lambda t, x, v: x.mean((0, 1)), "amax": lambda t, x, v: x.amax(1),
    "softmax": lambda t, x, v: x.softmax(1), "logsumexp": lambda t, x, v: x.logsumexp(1), "clamp": lambda t, x, v: x.clamp(0, 1),
    "cat": lambda t, x, v: t.cat([x, x], 1), "stack": lambda t, x, v: t.stack([x, x], 1), "unbind": lambda t, x, v: x.unbind(1)[0],
    "split": lambda t, x, v: x.split(2, 1)[0], "split into": lambda t, x, v: x.split([1, 2], 1)[0],
    "transpose": lambda t, x, v: x.transpose(0, 1), "permute": lambda t, x, v: x.permute(1, 0), "view": lambda t, x, v: x.view(9),
    "expand": lambda t, x, v: v.expand(3, 3), "select": lambda t, x, v: x[1], "slice": lambda t, x, v: x[1:, :],
    "index": lambda t, x, v: x[t.tensor([0, 1])], "max": lambda t, x, v: x.max(), "std": lambda t, x, v: x.std(1),
    "norm": lambda t, x, v: x.norm(), "addmm": lambda t, x, v: t.addmm(v, x, x), "tanh": lambda t, x, v: x.tanh(),
}  # fmt: skip

ANOTHER_FORM = {("slice", "end")}
"""What the engine keeps in another form: the end of a slice is cut to the size."""


def saved_by(t, op):
    """All ``_saved_*`` of the node of ``op``; sizes by their name, numbers and tensors as facts."""
    x = t.tensor([[1.0, 2.0, 4.0], [3.0, 0.5, 7.0], [0.25, 9.0, 5.0]], requires_grad=True)
    v = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
    node = OPS[op](t, x, v).grad_fn
    return {n[7:]: facts(getattr(node, n)) for n in dir(node) if n.startswith("_saved_")}


@pytest.mark.parametrize("op", OPS)
def test_saved_values_have_the_names_that_torch_gives_them(op):
    torch = pytest.importorskip("torch")
    theirs, ours = saved_by(torch, op), saved_by(ag, op)
    common = [n for n in theirs if n in ours and (op, n) not in ANOTHER_FORM]
    assert [theirs[n] for n in common] == [ours[n] for n in common]
    assert ours.keys() == theirs.keys()


def test_a_leaf_that_was_written_is_not_shown_as_what_was_saved():
    x = ag.ones(3, requires_grad=True)
    node = x.gather(0, ag.tensor([0])).grad_fn
    assert node._saved_self is x
    with ag.no_grad():
        x.add_(1)
    assert not hasattr(node, "_saved_self")
    assert "_saved_self" not in dir(node)


def test_numbers_and_indices_take_no_hooks_and_say_so():
    x = ag.ones(3, requires_grad=True)
    for raw in ((x * 2).grad_fn._raw_saved_other, x[ag.tensor([0])].grad_fn._raw_saved_indices[0]):
        assert "not as a tensor" in str(_error(lambda raw=raw: raw.register_hooks(keep, keep)))


def test_listing_the_names_calls_no_hook():
    x = ag.ones(2, 3, requires_grad=True)
    with ag.autograd.graph.saved_tensors_hooks(keep, lambda v: 1 / 0):
        y = ag.nn.functional.nll_loss(ag.nn.functional.log_softmax(x, 1), ag.tensor([0, 1]))
        z = ag.linalg.det(x @ x.T)
    assert {"_saved_self", "_raw_saved_self", "_saved_total_weight"} <= set(dir(y.grad_fn))
    assert {"_saved_LU", "_raw_saved_pivots"} <= set(dir(z.grad_fn))


def test_every_name_that_dir_lists_can_be_read():
    x = ag.ones(3, 3, requires_grad=True)
    for name, op in OPS.items():
        node = op(ag, x, ag.ones(3, requires_grad=True)).grad_fn
        names = [n for n in dir(node) if n.startswith(("_saved_", "_raw_saved_"))]
        assert all(hasattr(node, n) for n in names), name
        assert {f"_saved_{slot}" for slot in node.slots} <= set(names)


# ----- the rest of the engine copes with packed slots -----


def packed_graph():
    x = leaf(ag, 1.0, 2.0)
    with ag.autograd.graph.saved_tensors_hooks(lambda v: v.detach(), keep):
        y = x * 2
        z = y * y
    return x, y, z


def test_a_refusal_is_foreseen_in_packed_slots():
    _, y, z = packed_graph()
    assert first_refusal([z.grad_fn, y.grad_fn]) is None
    y.add_(1)
    refusal = first_refusal([y.grad_fn, z.grad_fn])
    assert refusal.node is z.grad_fn
    assert (refusal.slot, refusal.freed) == ("self", None)
    assert raised(refusal.error()) == error_of(z.sum().backward)


def _error(function):
    with pytest.raises(RuntimeError) as caught:
        function()
    return caught.value


def test_a_late_storage_of_a_saved_output_is_still_checked():
    x = leaf(ag, 1.0, 2.0)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(keep, keep)
    y.mul_(2)
    assert "modified by an inplace operation" in str(_error(y.sum().backward))


def test_a_node_that_unpacks_is_a_barrier_and_can_be_undone_in_the_dark():
    x, _, z = packed_graph()
    bp = BackwardPass("backward", False, False, *caller())
    bp.start([(z.grad_fn, 0, z._a * 0 + 1)])
    journal = Journal(bp)
    assert runs_user_code(z.grad_fn)
    journal.step()
    assert journal.barrier() is z.grad_fn
    assert journal.gradients_out(z.grad_fn) is None
    journal.undo(force=True)
    bp.run()
    assert x.grad.tolist() == [8.0, 16.0]


def test_a_program_that_reads_a_saved_tensor_twice_reads_the_same():
    assert outcome(lambda t: packed_graph()[2].grad_fn._saved_self, ag) == outcome(
        lambda t: packed_graph()[2].grad_fn._saved_other, ag
    )


def test_what_nodes_show_is_what_they_have():
    node = (leaf(ag, 1.0) * 3).sum().grad_fn
    shown = {name for name in dir(node) if name.startswith("_saved_")}
    assert shown == {"_saved_self_sym_sizes"}
    assert not hasattr(node, "_saved_self")


SEVERAL = {
    "qr": lambda t, x: t.linalg.qr(x)[1],
    "max": lambda t, x: x.max(0)[0],
    "svd": lambda t, x: t.linalg.svd(x)[1],
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, (2,)),
}


@pytest.mark.parametrize("op", SEVERAL)
def test_hooks_on_a_saved_result_of_several(op):
    def both(t):
        x = t.tensor([[2.0, 1.0], [0.5, 3.0]], dtype=t.float64, requires_grad=True)
        y, packed = SEVERAL[op](t, x), []
        for name in sorted(n for n in dir(y.grad_fn) if n.startswith("_raw_saved_")):
            said = error_of(
                getattr(y.grad_fn, name).register_hooks, lambda v: packed.append(v.shape) or v.clone(), lambda v: v * 1
            )
            packed.append("hooked" if said == "nothing" else None)
        y.sum().backward()
        return [x.grad, [tuple(p) for p in packed if p not in ("hooked", None)]]

    same(both)


RETURNED = {
    "the tensor": lambda v: v,
    "nothing": lambda v: None,
    "a clone": lambda v: v.clone(),
    "a number": lambda v: 2,
}


@pytest.mark.parametrize(
    ("op", "returned"), [(o, r) for o in ("mul", "exp") for r in RETURNED if (o, r) != ("exp", "the tensor")]
)
def test_a_pack_hook_that_writes_is_refused_and_what_it_returned_is_kept(op, returned):
    def both(t):
        x = leaf(t, 1.0, 2.0)
        a = x * 1
        y = a * a if op == "mul" else a.exp()
        raw = y.grad_fn._raw_saved_self if op == "mul" else y.grad_fn._raw_saved_result
        seen = [error_of(raw.register_hooks, lambda v: RETURNED[returned](v.mul_(2)), keep), error_of(y.sum().backward)]
        return [*seen, error_of(raw.register_hooks, keep, keep), x.grad, a.detach(), y.detach()]

    same(both)


@pytest.mark.parametrize(("op", "saved"), [("sin", "self"), ("exp", "result")])
def test_what_a_writing_pack_hook_has_changed_gives_no_gradient(op, saved):
    """PyTorch computes with the written values."""
    x = leaf(ag, 1.0, 2.0)
    y = getattr(x * 1, op)()
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
        getattr(y.grad_fn, f"_raw_saved_{saved}").register_hooks(lambda v: v.mul_(2), keep)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


RESULTS = {
    "exp": lambda t, x: x.exp(), "inv": lambda t, x: t.linalg.inv(x), "cholesky": lambda t, x: t.linalg.cholesky(x),
    "solve": lambda t, x: t.linalg.solve(x, x[0]), "svd": lambda t, x: t.linalg.svd(x)[1], "qr": lambda t, x: t.linalg.qr(x)[1],
    "eigh": lambda t, x: t.linalg.eigh(x)[0], "max": lambda t, x: x.max(0)[0], "softmax": lambda t, x: x.softmax(1),
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, (2,)),
    "group_norm": lambda t, x: t.nn.functional.group_norm(x[None], 1),
    "batch_norm": lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True),
    "lu_factor": lambda t, x: t.linalg.lu_factor(x)[0], "pinv": lambda t, x: t.linalg.pinv(x, hermitian=True),
    "logcumsumexp": lambda t, x: x.logcumsumexp(1), "norm": lambda t, x: x.norm(),
}  # fmt: skip
"""Ops that save their results, and the last node of each."""


@pytest.mark.parametrize("op", RESULTS)
def test_what_is_kept_of_a_result_is_a_tensor(op):
    def kept(t):
        x = t.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=t.float64, requires_grad=True)
        node, found = RESULTS[op](t, x).grad_fn, []
        for name in sorted(n for n in dir(node) if n.startswith("_raw_saved_")):
            data = getattr(node, name).data
            dtype = str(getattr(data, "dtype", None)).removeprefix("torch.")
            found.append([name, data is None or (isinstance(data, t.Tensor), tuple(data.shape), dtype)])
        return found

    torch = pytest.importorskip("torch", reason="its names are compared")
    theirs, ours = kept(torch), kept(ag)
    assert [x for x in theirs if x in ours] == ours
