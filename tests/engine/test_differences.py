"""docs/differences.md is true: every row of it has an anchor and is run on both sides."""

import copy
import math
import pickle
import re
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from agdbg_tests_differences_calls import CALLS
from agdbg_tests_differences_numbers import NUMBERS
from agdbg_tests_differences_views import VIEWS

import agdbg_engine as ag

PAGE = (Path(__file__).parents[2] / "docs" / "differences.md").read_text("utf-8")


def identity_hooks(T):
    x = T.tensor(1.0, requires_grad=True)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = (2 * x).exp()
    with T.no_grad():
        y.mul_(3)
    y.backward()
    return round(x.grad.item(), 1)


def writing_unpack_hook(T):
    x = T.tensor(1.0, requires_grad=True)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t.mul_(3)):
        y = (2 * x).exp()
    y.backward()
    return round(x.grad.item(), 1)


def logical_history(T):
    x, given = T.full((2,), 3.0, requires_grad=True), []
    for write in (
        lambda y: y.logical_not_(), lambda y: y.logical_and_(T.ones(2)), lambda y: y.logical_or_(T.ones(2)),
        lambda y: y.logical_xor_(T.ones(2)),
    ):  # fmt: skip
        y = x * 2
        write(y)
        try:
            given.append(T.autograd.grad(y.sum(), x)[0].tolist())
        except RuntimeError as error:
            given.append("derivative for aten::logical" in str(error))
    return given


def inverse_hyperbolic(T):
    given = []
    for op, at in (("acosh_", math.sqrt(2)), ("asinh_", 0.0), ("atanh_", 0.0)):
        x = T.full((1,), at, requires_grad=True)
        y = x * 1
        getattr(y, op)()
        try:
            y.backward()
            given.append(round(x.grad.item(), 4))
        except NotImplementedError:
            given.append("not implemented")
    return given


def saved_again(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        first = y * y
        y.data.mul_(2)
        second = y * y
        (first + second).sum().backward()
    return x.grad.tolist()  # 2 y of the first and 2 (2 y) of the second


def dual_squared(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        found = []
        for write in (lambda d: d.mul_(d), lambda d: d.addcmul_(d, d), lambda d: d.addcdiv_(T.tensor([2.0]), d)):
            d = fw.make_dual(T.tensor([2.0]), T.ones(1))
            found.append(round(fw.unpack_dual(write(d)).tangent.item(), 3))
        return found


def logical_tangent(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(T.tensor([3.0]), T.ones(1))
        d.logical_not_()
        return fw.unpack_dual(d).tangent.tolist()


def inference_write(T):
    with T.inference_mode():
        x = T.ones(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        x.add_(1)
    return x.tolist()


def softmax_tangent(T):
    fw, x = T.autograd.forward_ad, T.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        y = T.softmax(fw.make_dual(x, T.tensor([1.0, 0.0])), 0)
        fw.unpack_dual(y).tangent[0].backward()
    return [round(v, 4) for v in x.grad.tolist()]  # p (1 - p) (1 - 2 p) at p = 1 / (1 + e), and its opposite


def more_forward(T):
    fw, found = T.autograd.forward_ad, []
    calls = (
        lambda x: T.nn.functional.embedding_bag(T.tensor([[0, 1]]), x.view(2, 1)),
        lambda x: T.nn.functional.grid_sample(x.view(1, 1, 2, 1), T.zeros(1, 1, 1, 2), align_corners=False),
        lambda x: x.index_reduce(0, T.tensor([0, 0]), x, "prod").sum(),
        lambda x: T.segment_reduce(x, "mean", lengths=T.tensor([2])),
    )
    with fw.dual_level():
        for call in calls:
            try:
                found.append(fw.unpack_dual(call(fw.make_dual(T.ones(2), T.tensor([1.0, 3.0])))).tangent.item())
            except NotImplementedError:
                found.append("not there")
    return found


def summed_version(T):
    x = T.ones(2, requires_grad=True)
    return T.autograd.grad((x * x).sum(), x)[0]._version


def hessian_view(T):
    w = T.ones(1, 2, requires_grad=True)
    with T.no_grad():
        v = w.view(2)
    found = (
        T.func.hessian(lambda x: (x * x * x).sum())(v),
        T.func.jvp(lambda x: x * x, (v,), (T.ones(2),))[1],
        T.func.jacfwd(lambda x: x * x)(v),
    )
    return [x.requires_grad for x in found]


def squeezed_dim(T):
    return T.ones(1, 2, requires_grad=True).squeeze(0).grad_fn._saved_dim


def unsqueezed_dim(T):
    return T.ones(2, requires_grad=True).unsqueeze(-1).grad_fn._saved_dim


def saved_as_given(T):
    x = T.ones(2, 3, requires_grad=True)
    return [x.topk(1)[0].grad_fn._saved_dim, x.select(-1, 0).grad_fn._saved_dim, x[1:].grad_fn._saved_end]


def saved_unneeded(T):
    x, b, F = T.ones(2, 3, requires_grad=True), T.ones(3), T.nn.functional
    nodes = (
        (F.layer_norm(x, (3,), b, b), "bias"),
        (T.fft.fft(x), "self"),
        (T.cholesky_solve(x, T.eye(2).requires_grad_()), "self"),
        (x.index_add(0, T.tensor([0]), x[:1]), "source"),
        (T.complex(x, x), "real"),
        (T.div(x, x, rounding_mode="floor"), "other"),
        (T.div(x, x, rounding_mode="floor"), "rounding_mode"),
        (F.multilabel_margin_loss(x, T.tensor([[0, -1, 1], [1, 2, -1]])), "is_target"),
        (x.masked_scatter(x > 0, x), "source_sym_sizes"),
        (F.conv1d(x, T.ones(1, 2, 2))[0].grad_fn.next_functions[0][0].next_functions[0][0], "bias_sym_sizes_opt"),
    )
    return [hasattr(getattr(n, "grad_fn", n), f"_saved_{name}") for n, name in nodes]


def embedding_bag_fields(T):
    x, found = T.ones(3, 2, requires_grad=True), []
    for mode in ("mean", "max"):
        node = T.nn.functional.embedding_bag(T.tensor([[0, 1]]), x, mode=mode).grad_fn
        found.append([hasattr(node, f"_saved_{name}") for name in ("offsets", "mode", "bags", "at")])
    return found


def input_metadata(T):
    x = T.ones(2, 3, requires_grad=True)
    return [None if m is None else list(m.shape) for n in (x * 2, x.exp()) for m in n.grad_fn._input_metadata]


def split_views(T):
    x = T.ones(3, 2, requires_grad=True) * 1
    c = T.view_as_complex(x)
    r = T.view_as_real(c)
    x.mul_(2)
    return [v.grad_fn.name() for v in (c, r)]


def strides_of_results(T):
    x, y = T.ones(3, 2).t(), T.ones(2, 3)
    made = x * x, x * y, y * x, x.sort(0)[0], x.flip(0), x.masked_fill(x > 1, 0.0)
    return [m.stride()[0] for m in made]


def strides_of_jacobians(T):
    made = T.func.jacfwd(lambda x: x * 2)(T.ones(3)), T.func.hessian(lambda x: (x**3).sum())(T.ones(3))
    return [m.stride()[0] for m in made]


def tensor_name(T):
    x = T.ones(1)
    return [x.name, x.__setattr__("name", "x")]


def warnings_once(T):
    T.ones(()).mT
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        T.ones(()).mT
    return len(said)


def sequence_numbers(T):
    x, numbers = T.ones(1, requires_grad=True), []

    def build():
        numbers.append((x * 2).grad_fn._sequence_nr())

    for _ in range(2):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join()
    return numbers[0] < numbers[1]


def index_tensors(T):
    x, i = T.arange(4.0).requires_grad_(), T.tensor([0, 1])
    y = x[i]
    i.add_(1)
    y.sum().backward()
    return x.grad.tolist()


def conj(T):
    return T.ones(2, dtype=T.complex64).conj().is_conj()


def mixed_dtypes(T):
    made = T.ones(2, requires_grad=True) * T.ones(2, dtype=T.float64)
    return [node.name() for node, _ in made.grad_fn.next_functions if node is not None]


def shape(T):
    return type(T.ones(2).shape).__name__


def bfloat16(T):
    return str(T.bfloat16)


def fill_integers(T):
    return T.zeros(2, dtype=T.int64).fill_(T.tensor(1.0, requires_grad=True)).grad_fn is not None


def packed_before(T):
    packed = []
    with T.autograd.graph.saved_tensors_hooks(packed.append, lambda kept: kept):
        try:
            _ = T.ones(2, requires_grad=True) * T.ones(3, requires_grad=True)
        except RuntimeError:
            return len(packed)
    return None


def hooks_of_copies(T):
    x = T.ones(1)
    return [t._backward_hooks is None for t in (pickle.loads(pickle.dumps(x)), copy.copy(x))]


def data_of_another_shape(T):
    x = T.ones(3, requires_grad=True)
    old = (x * 2).sum()
    x.data = T.zeros(2)
    seen = []
    for root in ((x * 2).sum(), old):
        try:
            seen.append(T.autograd.grad(root, x)[0].tolist())
        except RuntimeError as error:
            seen.append(str(error).splitlines()[0])
    return seen


def checkpoint_written(T):
    x, w = T.ones(1, requires_grad=True), T.full((1,), 2.0)
    y = T.utils.checkpoint.checkpoint(lambda x: x * w * w, x, use_reentrant=False)
    w.fill_(3.0)
    y.backward()
    return x.grad.tolist()  # by the 2 that y was computed with it would be 4


def copied_version(T):
    x = T.ones(2, requires_grad=True)
    x.sum().backward()
    return x.grad._version


def keyword_only(T):
    class Times(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, *, k=1):
            return x * k

        @staticmethod
        def backward(ctx, g):
            return g

    return Times.apply(T.ones(1, requires_grad=True), k=2).tolist()


def _named(build):
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as refused:
        build()
    return re.findall(r"is output 0 of (\w+)", str(refused.value))


def which_written(T):
    F, found = T.nn.functional, []
    for op in (lambda a, b: F.kl_div(a, b, reduction="sum"), lambda a, b: F.cosine_similarity(a, b, 0)):
        a, b = T.ones(3, requires_grad=True) * 2, T.ones(3, requires_grad=True).exp()
        made = op(a, b)
        with T.no_grad():
            a.add_(1), b.add_(1)
        found += _named(made.backward)
    return found


def inner_nodes(T):
    x = T.ones(2, requires_grad=True)
    return T.autograd.grad(T.sigmoid(x).sum(), x, create_graph=True)[0].grad_fn.name()


def first_reason(T):
    with pytest.raises(RuntimeError) as refused:
        T.ones(1).expand(3).clamp_()
    return "more than one element" in str(refused.value)


def strict_mode(T):
    x = T.ones(2, requires_grad=True)
    kept = x.detach().numpy()[:]
    with T.autograd.graph.strict_saved_tensors():
        y = (x * x).sum()
        kept[0] = 5.0
        with pytest.raises(RuntimeError, match="saved"), T.no_grad():
            x.add_(1)
    y.backward()
    return x.tolist()


def jvp_constants(T):
    w, given = T.ones(2, requires_grad=True), []

    def f(x):
        y = w * 2
        given.append(y.requires_grad)
        try:
            y.register_hook(print)
        except RuntimeError as error:
            given.append("doesn't require gradient" in str(error))
        return (y.detach() * x).sum()

    T.func.jvp(f, (T.ones(2),), (T.ones(2),))
    T.func.grad(f)(T.ones(2))
    T.func.jvp(lambda x: (given.append(x.requires_grad), x)[1], (w,), (T.ones(2),))
    return given


def number_out(T):
    return T.add(T.ones(()), 1, out=3.5).item()


def inference_twice(T):
    mode = T.inference_mode()
    with mode, mode:
        pass
    return T.is_inference_mode_enabled()


def refused_dual(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(T.ones(2), T.ones(2, requires_grad=True))
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            d.mul_(2)
        return d.tolist()


def refused_dual_out(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(T.ones(2), T.ones(2))
        with pytest.raises(NotImplementedError, match="because it is an out= function"):
            T.add(T.ones(2), 1, out=d)
        return d.tolist()


def aliased_gradients(T):
    a, b = (T.ones(2, requires_grad=True) for _ in range(2))
    first, second = T.autograd.grad(a + b, [a, b], T.ones(2))
    first.mul_(2)
    return second.tolist()


def device_kinds(T):
    text = outcome = None
    try:
        T.device("gpu")
    except RuntimeError as error:
        text = str(error)
    try:
        outcome = str(T.device("mps"))
    except RuntimeError as error:
        outcome = str(error)
    return "privateuseone" in text, outcome[:15]


def version_kept(T):
    x = T.ones(1)
    with T.autograd._unsafe_preserve_version_counter(x):
        x.add_(1)
    return x._version


def resized_views(T):
    base = T.arange(4.0)
    tail = base[2:]
    tail.resize_(6).fill_(9)
    return base.tolist()


def cut_views(T):
    base, written = T.zeros(4), T.ones(3, requires_grad=True)
    tail = base[2:]
    base.resize_(3).copy_(written * 2)
    return T.autograd.grad(tail.sum(), written)[0].tolist()


def numpy_warnings(T):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        T.log(T.zeros(2) - 1)
    return len(said)


def not_there_in_place(T):
    named = []
    for op in ("floor_divide_", "heaviside_"):
        y = T.ones(2, requires_grad=True) * 1
        with pytest.raises(RuntimeError, match="is not implemented") as refused:
            getattr(y, op)(T.ones(2)).sum().backward()
        named += re.findall(r"aten::(\w+)", str(refused.value))
    return named


def second_tangent(T):
    def f(x):
        e = (x * T.ones(2)).expand(2, 2)
        e.masked_fill_(T.tensor([True, False]), x * x)
        return e[0].sum()

    one = T.ones(())
    return T.func.jvp(lambda x: T.func.jvp(f, (x,), (one,))[1], (3 * one,), (one,))[1].item()


#: By anchor of the page: a program, what PyTorch gives, what the engine gives; an exception stands for its class.
ROWS = (
    {
        "identity-hooks": (identity_hooks, 44.3, RuntimeError),
        "writing-unpack-hook": (writing_unpack_hook, 44.3, RuntimeError),
        "logical-history": (logical_history, [[2.0, 2.0]] * 4, [True] * 4),
        "inverse-hyperbolic": (inverse_hyperbolic, ["not implemented"] * 3, [1.0] * 3),
        "saved-again": (saved_again, [4.0, 8.0], [6.0, 12.0]),
        "dual-squared": (dual_squared, [6.0, 13.0, 0.778], [4.0, 5.0, 0.5]),
        "logical-tangent": (logical_tangent, [1.0], [0.0]),
        "inference-write": (inference_write, [2.0, 2.0], [1.0, 1.0]),
        "softmax-tangent": (softmax_tangent, RuntimeError, [0.0909, -0.0909]),
        "more-forward": (more_forward, ["not there"] * 4, [2.0, 2.0, 8.0, 2.0]),
        "summed-version": (summed_version, 1, 0),
        "copied-version": (copied_version, 1, 0),
        "hessian-view": (hessian_view, [True] * 3, [False] * 3),
        "squeezed-dim": (squeezed_dim, 0, AttributeError),
        "unsqueezed-dim": (unsqueezed_dim, 2**64 - 1, -1),
        "saved-as-given": (saved_as_given, [2**64 - 1, 2**64 - 1, 2**63 - 1], [1, 1, 2]),
        "saved-unneeded": (saved_unneeded, [True] * 10, [False] * 10),
        "embedding-bag-fields": (
            embedding_bag_fields,
            [[True, True, False, False]] * 2,
            [[False, False, True, False], [False, False, False, True]],
        ),
        "input-metadata": (input_metadata, [[2, 3], [2, 3]], [None, [2, 3]]),
        "split-views": (split_views, ["ViewAsComplexBackward0", "ViewAsRealBackward0"], ["AsStridedBackward0"] * 2),
        "strides-of-jacobians": (strides_of_jacobians, [1, 1], [3, 3]),
        "strides-of-results": (strides_of_results, [1, 1, 3, 1, 1, 3], [1, 3, 3, 3, 3, 1]),
        "tensor-name": (tensor_name, AttributeError, [None, None]),
        "warnings-once": (warnings_once, 0, 1),
        "sequence-numbers": (sequence_numbers, False, True),
        "index-tensors": (index_tensors, RuntimeError, [1.0, 1.0, 0.0, 0.0]),
        "refused-dual": (refused_dual, [2.0, 2.0], [1.0, 1.0]),
        "refused-dual-out": (refused_dual_out, [2.0, 2.0], [1.0, 1.0]),
        "aliased-gradients": (aliased_gradients, [2.0, 2.0], [1.0, 1.0]),
        "device-kinds": (device_kinds, (True, "mps"), (False, "Expected one of")),
        "version-kept": (version_kept, 0, AttributeError),
        "resized-views": (resized_views, [0.0, 1.0, 9.0, 9.0], [0.0, 1.0, 2.0, 3.0]),
        "cut-views": (cut_views, [0.0, 0.0, 2.0], RuntimeError),
        "numpy-warnings": (numpy_warnings, 0, 1),
        "not-there-in-place": (not_there_in_place, ["floor_divide_", "heaviside_"], ["floor_divide", "heaviside"]),
        "second-tangent": (second_tangent, 2.0, RuntimeError),
        "conj": (conj, True, False),
        "mixed-dtypes": (mixed_dtypes, ["torch::autograd::AccumulateGrad"], ["ToCopyBackward0"]),
        "shape": (shape, "Size", "tuple"),
        "bfloat16": (bfloat16, "torch.bfloat16", AttributeError),
        "fill-integers": (fill_integers, True, False),
        "packed-before": (packed_before, 2, 0),
        "hooks-of-copies": (hooks_of_copies, [False, False], [True, True]),
        "data-of-another-shape": (
            data_of_another_shape,
            [
                "Function MulBackward0 returned an invalid gradient at index 0 - got [2] but expected shape compatible with [3]",
                [2.0] * 3,
            ],
            [[2.0] * 2, [2.0] * 3],
        ),
        "checkpoint-written": (checkpoint_written, [9.0], RuntimeError),
        "strict-mode": (strict_mode, AttributeError, [5.0, 1.0]),
        "which-written": (which_written, ["Exp", "Mul"], ["Mul", "Exp"]),
        "inner-nodes": (inner_nodes, "SigmoidBackwardBackward0", "MulBackward0"),
        "first-reason": (first_reason, False, True),
        "jvp-constants": (jvp_constants, [False, True, False, True, False], [True] * 3),
        "number-out": (number_out, 2.0, TypeError),
        "keyword-only": (keyword_only, TypeError, [2.0]),
        "inference-twice": (inference_twice, True, False),
    }
    | CALLS
    | NUMBERS
    | VIEWS
)


def given(program, lib):
    """What it gives, in a thread of its own: a mode that stays on by mistake ends with that."""
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(program, lib).result()
        except Exception as error:
            return type(error)


def test_every_row_of_the_page_is_here():
    assert set(re.findall(r'<a id="([^"]+)">', PAGE)) == set(ROWS)


def test_every_row_of_a_table_has_an_anchor():
    rows = [line for line in PAGE.splitlines() if line.startswith("|") and not line.startswith(("| |", "|---"))]
    assert len(rows) == len(ROWS)
    assert not [row for row in rows if '<a id="' not in row]


# torch compiles some formulas with it at the first dual
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:index_reduce:UserWarning")
@pytest.mark.filterwarnings("ignore:Use of masked_fill_ on expanded tensors is deprecated:UserWarning")
@pytest.mark.filterwarnings("ignore:Tensor.mT is deprecated on 0-D tensors:UserWarning")
@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated:UserWarning")
@pytest.mark.parametrize("row", ROWS)
def test_a_row(row):
    program, theirs, ours = ROWS[row]
    assert given(program, ag) == ours
    assert given(program, torch) == theirs


def test_nothing_stays_on():
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    assert ag.is_grad_enabled() and not ag.is_inference_mode_enabled()
