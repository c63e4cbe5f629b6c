"""Interpreted rows: what they save, how several results are kept, what rare modes see. Values and gradients: test_op_db.py."""

import ast
import gc
import weakref

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine import events
from agdbg_engine.autograd import forward_ad as fw
from agdbg_engine.ops import OPS, formulas
from agdbg_engine.ops.wide.declare import NAMESPACES, PUBLIC, public
from agdbg_engine.saved import Packed, saved_slots


def matrix(requires_grad=True):
    return ag.tensor([[2.0, 1.0], [0.5, 3.0]], dtype=ag.float64, requires_grad=requires_grad)


# ----- saved tensors -----


def test_it_saves_what_its_formulas_read_and_no_more():
    end, weight = matrix(requires_grad=False), matrix(requires_grad=False)
    node = ag.lerp(matrix(), end, weight).grad_fn
    assert {s.slot: s.value is not None for s in saved_slots(node)} == {"self": False, "end": False, "weight": True}


def test_a_saved_input_is_the_same_object():
    x, w = matrix(), ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    assert ag.xlogy(x, w).grad_fn._saved_other is w


def test_several_saved_results_come_back_with_their_history():
    u, s, _ = ag.linalg.svd(matrix())
    saved = s.grad_fn._saved_U
    assert saved.grad_fn is u.grad_fn
    assert saved.output_nr == u.output_nr == 0
    assert np.array_equal(saved.detach().numpy(), u.detach().numpy())


def test_a_node_does_not_hold_its_results():
    gc.disable()
    try:
        u, s, vh = ag.linalg.svd(matrix())
        gone = [weakref.ref(t) for t in (u, s, vh)] + [weakref.ref(s.grad_fn)]
        del u, s, vh
        assert [r() for r in gone] == [None] * 4
    finally:
        gc.enable()


def test_a_write_to_one_of_several_saved_results_is_found():
    u, s, _ = ag.linalg.svd(matrix())
    u.mul_(2)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*which is output 0 of LinalgSvd,"):
        s.sum().backward()


def test_a_write_to_a_saved_input_is_found():
    x, w = matrix(), matrix(requires_grad=False)
    y = ag.xlogy(x, w)
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_the_second_backward_says_who_freed():
    _, s, _ = ag.linalg.svd(matrix())
    s.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        s.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = s.grad_fn._saved_U


def test_retain_graph_keeps_what_is_saved():
    x = matrix()
    _, s, _ = ag.linalg.svd(x)
    s.sum().backward(retain_graph=True)
    first = x.grad.clone()
    s.sum().backward()
    assert np.allclose(x.grad.numpy(), 2 * first.numpy())


def test_hooks_on_saved_tensors_get_inputs_and_results():
    packed, unpacked = [], []

    def pack(t):
        packed.append(tuple(t.shape))
        return t.detach().clone()

    def unpack(t):
        unpacked.append(tuple(t.shape))
        return t

    with ag.autograd.graph.saved_tensors_hooks(pack, unpack):
        _, s, _ = ag.linalg.svd(matrix())
    assert len(packed) == len(s.grad_fn.slots)
    assert all(isinstance(getattr(s.grad_fn, "s_" + n), Packed) for n in s.grad_fn.slots)
    s.sum().backward()
    assert unpacked and set(unpacked) <= set(packed)


# ----- operands -----


def test_a_number_gives_the_node_its_other_name():
    x = matrix()
    assert ag.fmod(x, 2.0).grad_fn.name() == "FmodBackward0"
    assert ag.fmod(x, matrix(requires_grad=False)).grad_fn.name() == "FmodBackward1"


def test_gradients_come_back_in_the_dtype_and_shape_of_each_operand():
    a = ag.ones(2, 3, requires_grad=True)
    b = ag.full((3,), 2.0, dtype=ag.float64, requires_grad=True)
    y = ag.xlogy(a, b)
    assert y.dtype == np.float64
    y.sum().backward()
    assert (a.grad.dtype, a.grad.shape) == (np.float32, (2, 3))
    assert (b.grad.dtype, b.grad.shape) == (np.float64, (3,))


def test_integers_are_computed_in_the_default_dtype():
    assert ag.erf(ag.tensor([1, 2])).dtype == np.float32


def test_what_is_no_tensor_is_refused_in_words():
    with pytest.raises(TypeError, match=r"erf\(\): argument 'input' \(position 1\) must be Tensor, not int"):
        ag.erf(3)


def test_a_result_never_shares_memory_with_an_operand():
    for name, x in (("nan_to_num", ag.ones(3)), ("frac", ag.zeros(3)), ("fmod", ag.ones(3))):
        y = getattr(ag, name)(x, 5.0) if name == "fmod" else getattr(ag, name)(x)
        assert not np.shares_memory(x.numpy(), y.numpy()), name


# ----- in place -----


def test_in_place_on_a_view_rewrites_the_history_of_the_base():
    x = matrix()
    y = x * 1.0
    y[0].erf_()
    y.sum().backward()
    inner = 2 / np.sqrt(np.pi) * np.exp(-(x.detach().numpy()[0] ** 2))
    assert np.allclose(x.grad.numpy(), [inner, [1, 1]])


def test_in_place_on_a_leaf_is_refused_and_nothing_is_written():
    x = matrix()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.erf_()
    assert x.detach().tolist() == [[2.0, 1.0], [0.5, 3.0]]


# ----- modes -----


def test_inference_mode_records_nothing():
    with ag.inference_mode():
        u, s, vh = ag.linalg.svd(matrix())
    assert all(t.is_inference() and not t.requires_grad for t in (u, s, vh))


def test_no_grad_is_told_as_a_cut():
    cuts = []

    class Listener(events.Sink):
        def graph_cut(self, tensor, how, code, lasti):
            cuts.append(how)

    x = matrix()
    events.install(Listener())
    try:
        with ag.no_grad():
            ag.erf(x)
    finally:
        events.remove()
    assert cuts == ["no_grad"]


def test_tangents_of_several_results():
    x, t = matrix(requires_grad=False), ag.ones(2, 2, dtype=ag.float64)
    with fw.dual_level():
        s = ag.linalg.svd(fw.make_dual(x, t)).S
        tangent = fw.unpack_dual(s).tangent
    eps = 1e-6
    a, b = (np.linalg.svd(x.numpy() + k * eps, compute_uv=False) for k in (1, -1))
    assert np.allclose(tangent.numpy(), (a - b) / (2 * eps))


def test_a_row_without_tangent_formula_refuses_forward_mode():
    lacking = [n for n, op in OPS.items() if op.row.differentiable and not op.row.jvp]
    for name in lacking:
        assert name not in ag.ops._generated.JVPS


# ----- declaring -----


def test_a_name_is_declared_once():
    assert PUBLIC["torch"]["erf"]
    with pytest.raises(ValueError, match=r"torch\.erf is declared twice"):
        public("torch.erf")(lambda: None)


@pytest.mark.parametrize("name", sorted(OPS))
def test_every_formula_compiles_and_names_what_exists(name):
    """A formula that samples never reach would fail only in a user's hands."""
    op = OPS[name]
    for numbers in [(), *((s,) for s in op.row.scalars)]:
        cls = op.node_class(numbers)
        for f in cls.formulas:
            assert callable(f.function)
            for space in (ag.ops.kernels, ag.ops.graph):
                missing = [c for c in called(f) if not hasattr(space, c)]
                assert not missing, f"{name}: {space.__name__} has no {missing}"


def called(formula):
    """Functions of the namespace that ``formula`` calls."""
    calls = (n for n in ast.walk(ast.parse(formula.text)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))
    return [n.func.id for n in calls if not hasattr(formulas, n.func.id)]


def test_namespaces_exist_as_modules():
    for namespace in NAMESPACES[2:]:
        module = ag
        for part in namespace.split("."):
            module = getattr(module, part)
        for name in PUBLIC[namespace]:
            assert callable(getattr(module, name)), f"{namespace}.{name}"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("linalg.cholesky_", "cholesky"),
        ("special.erff", "erf"),
        ("fft.fft3", "fft"),
        ("sinhh", "sinh"),
        ("masked.summ", "sum"),
    ],
)
def test_an_op_that_is_not_there_is_named_with_the_nearest_one(name, nearest):
    module, _, op = name.rpartition(".")
    with pytest.raises(AttributeError, match=rf"has no attribute '{op}'; the nearest that it has is '{nearest}'$"):
        getattr(getattr(ag, module) if module else ag, op)


def test_nothing_near_is_no_hint():
    with pytest.raises(AttributeError, match=r"^module 'agdbg_engine' has no attribute 'zzzqq'$"):
        ag.zzzqq
