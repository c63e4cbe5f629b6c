"""What a tensor knows about its place in a graph: requires_grad, leaves, history, views, attributes."""

import subprocess
import sys

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, logged_warnings, same

torch = pytest.importorskip("torch")
programs = Programs()


def setting(x, name, value):
    return error_of(setattr, x, name, value)


@programs
def requires_grad_by_method(t):
    x, y, n = leaf(t, 1.0), leaf(t, 1.0) * 2, t.ones(2, dtype=t.int64)
    return [
        x.requires_grad_(False), x.requires_grad_() is x, y.requires_grad_(), n.requires_grad_(False),
        error_of(y.requires_grad_, False), error_of(n.requires_grad_), error_of(x.requires_grad_, 1), error_of(x.requires_grad_, "a"),
    ]  # fmt: skip


@programs
def requires_grad_by_assignment(t):
    x, y, n = leaf(t, 1.0), leaf(t, 1.0) * 2, t.ones(2, dtype=t.int64)
    errors = [setting(x, "requires_grad", v) for v in (1, None, "a", False, True)]
    errors += [setting(y, "requires_grad", v) for v in (True, False)]
    return [*errors, *(setting(n, "requires_grad", v) for v in (True, False)), x]


@programs
def requires_grad_of_new_tensors(t):
    made = [t.ones(1, requires_grad=True), t.tensor([1j], requires_grad=True)]
    return [
        *made,
        error_of(lambda: t.tensor([1], requires_grad=True)),
        error_of(lambda: t.zeros(2, dtype=t.bool, requires_grad=True)),
    ]


@programs
def leaves(t):
    x, c = leaf(t, 1.0), t.ones(1)
    y = x * 2
    return [
        [v.is_leaf for v in (x, c, y, c * 2, y.detach(), x[:1], c[:1])],
        [v.output_nr for v in (x, y, *(x * 1).unbind())],
    ]


@programs
def history_of_a_view_is_made_anew(t):
    y = leaf(t, 1.0, 2.0) * 1
    v = y[:1]
    before = [v.grad_fn, v._version]
    y.mul_(2)
    return [before, v.grad_fn, v.output_nr, v._base is y, v._is_view(), v._version, y._version]


@programs
def a_view_of_a_view_has_the_first_base(t):
    y = t.ones(2, 2)
    return [y[0][:1]._base is y, y._base, y.detach()._base, y.detach()._is_view(), y.data._is_view()]


@programs
def read_only(t):
    x = leaf(t, 1.0)
    names = ["grad_fn", "_version", "is_leaf", "output_nr", "_base", "retains_grad", "T", "shape"]
    return [[setting(x, name, v) for name in names for v in (3, None)], [error_of(delattr, x, name) for name in names]]


@programs
def retaining(t):
    x = leaf(t, 1.0)
    y = x * 2
    seen = [y.retains_grad, error_of(t.ones(1).retain_grad)]
    x.retain_grad()
    y.retain_grad()
    y.retain_grad()
    (y * 3).backward()
    return [*seen, x.retains_grad, y.retains_grad, y.grad, x.grad]


@programs
def detaching_in_place(t):
    x, y = leaf(t, 1.0), leaf(t, 1.0, 2.0) * 2
    view = (leaf(t, 1.0, 2.0) * 2)[:1]
    back = y.detach_() is y
    return [back, y, x.detach_(), error_of(view.detach_), error_of(t.ones(2)[:1].detach_)]


@programs
def detaching_shares_memory_and_version(t):
    x = leaf(t, 1.0) * 2
    d = x.detach()
    d.add_(1)
    return [x, d, x._version, d._version, d.data_ptr() == x.data_ptr()]


@programs
def volatile_warns(t):
    x = leaf(t, 1.0)
    with logged_warnings() as said:
        seen = x.volatile
        x.volatile = True
        del x.volatile
    return [seen, said]


@programs
def backward_hooks(t):
    x, fired = leaf(t, 1.0), []
    before = [x._backward_hooks, (x * 2)._backward_hooks, t.ones(1)._backward_hooks]
    x.register_hook(lambda g: fired.append(1))
    y = x * 2
    y.register_hook(lambda g: fired.append(2))
    counts = [len(x._backward_hooks), len(y._backward_hooks)]
    y.backward()
    return [before, counts, fired]


@programs
def backward_hooks_by_assignment(t):
    fired, x = [], leaf(t, 1.0)
    y = x * 2
    x._backward_hooks = {1: lambda g: fired.append("x")}
    y._backward_hooks = {1: lambda g: fired.append("y")}
    y.backward()
    return [fired, len(x._backward_hooks)]


@programs
def sizes_and_places(t):
    x = t.arange(12.0).reshape(3, 4)
    v = x[1:, 2:]
    facts = [
        v.element_size(),
        v.nelement(),
        v.itemsize,
        v.nbytes,
        v.storage_offset(),
        v.ndimension(),
        v.stride(),
        v.stride(1),
    ]
    facts += [
        v.data_ptr() - x.data_ptr(),
        v.is_same_size(x),
        v.is_same_size(v.clone()),
        v.size(0),
        x.T.storage_offset(),
    ]
    return [*facts, error_of(v.is_same_size, 3)]


@programs
def kinds(t):
    x, z, n = t.ones(1), t.tensor([1j]), t.ones(1, dtype=t.uint8)
    asked = (
        "is_complex",
        "is_floating_point",
        "is_signed",
        "is_inference",
        "is_conj",
        "is_neg",
        "get_device",
        "is_contiguous",
    )
    flags = (
        *(
            "is_cuda",
            "is_cpu",
            "is_sparse",
            "is_sparse_csr",
            "is_quantized",
            "is_meta",
            "is_nested",
            "is_mkldnn",
            "name",
        ),
        *("is_ipu", "is_maia", "is_mps", "is_mtia", "is_vulkan", "is_xla", "is_xpu"),
    )
    return [[getattr(v, a)() for a in asked] + [getattr(v, f) for f in flags] for v in (x, z, n)]


@programs
def new_tensors_like_this(t):
    x = t.ones(2, dtype=t.float64, requires_grad=True)
    made = [x.new_zeros(2, 3), x.new_zeros((2,), dtype=t.int64), x.new_ones(2, requires_grad=True), x.new_full((2,), 3)]
    return [*made, x.new_tensor([1, 2]), x.new_tensor(5), x.new_empty(2).shape == (2,), x.new_empty((0, 3))]


@programs
def new_tensors_refused(t):
    x = t.ones(2)
    return [
        error_of(x.new_full, 2, 3), error_of(x.new_zeros, -2), error_of(x.new_ones, -2), error_of(x.new_empty, "a"),
        error_of(x.new_full, (-1,), 1), error_of(lambda: x.new_zeros(2, dtype=t.int64, requires_grad=True)),
    ]  # fmt: skip


@programs
def new_tensor_of_a_tensor_warns(t):
    x = t.ones(2)
    with logged_warnings() as said:
        y, z = x.new_tensor(x), t.tensor(x, dtype=t.float64, requires_grad=True)
        others = t.as_tensor(x), t.asarray(x), t.tensor([x.sum(), x.sum()]), t.full((2,), x.sum())
    y.add_(1)
    return [said, x, y, z, *others]


@programs
def the_same_place(t):
    x = t.ones(4)
    others = (
        x,
        x.detach(),
        x[:],
        x[1:],
        x.view(2, 2),
        x.view(t.int32),
        x.data,
        x.clone(),
        t.ones(3),
        x.double(),
        x.view(2, 2).t(),
    )
    square = x.view(2, 2)
    return [
        *(x.is_set_to(y) for y in others),
        square.is_set_to(square.t()),
        t.ones(0).is_set_to(t.ones(0)),
        error_of(x.is_set_to, 3),
    ]


@programs
def grad_dtype_of_a_non_leaf(t):
    given = []
    for value in (None, t.float64, t.float32, "a", 3):
        y = leaf(t, 1.0) * 2
        with logged_warnings() as said:
            given.append(setting(y, "grad_dtype", value))
        given.append([text.partition(" See github")[0] for text in said])
    y.retain_grad()
    with logged_warnings() as said:
        given.append(setting(y, "grad_dtype", None))
    return [*given, said]


LAYOUT = """
import sys, warnings, importlib
t = importlib.import_module(sys.argv[1])
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for record in (False, True, False):
        x = t.ones(3, 2).t().requires_grad_()
        (x * 2).sum().backward()
        (x * 2).sum().backward(create_graph=record)  # a gradient that backward() made is laid out like its leaf
    print(len([w for w in said if "layout" in str(w.message)]))
    for record in (False, True, False):
        x = t.ones(3, 2).t().requires_grad_()
        x.grad = t.ones(2, 3)
        (x * 2).sum().backward(create_graph=record)
for w in said:
    print(w.category.__name__, w.message)
"""


def test_a_gradient_that_is_laid_out_otherwise_is_told_once_for_each_way_to_add():
    theirs, ours = (
        subprocess.run([sys.executable, "-c", LAYOUT, name], capture_output=True, text=True, check=True).stdout
        for name in ("torch", "agdbg_engine")
    )
    told = [[line.partition(" (Triggered")[0] for line in text.splitlines()] for text in (theirs, ours)]
    assert told[0] == told[1]
    assert "UserWarning grad and param do not obey the gradient layout contract" in ours


@programs
def variables(t):
    x, made = leaf(t, 1.0), t.autograd.Variable
    v = made(x)
    w = made(x * 2, requires_grad=True)
    with logged_warnings() as said:
        made(t.ones(1), volatile=True)
    return [v, v is x, w, isinstance(x, made), isinstance(3, made), said, error_of(made, [1.0]), made().shape == (0,)]


@programs
def the_gradient_of_a_non_leaf_warns(t):
    x = leaf(t, 1.0)
    y, z = x * 2, x * 3
    z.retain_grad()
    with logged_warnings() as said:
        seen = [y.grad, z.grad, x.grad, x.detach().grad]
    return [[s.partition(" instead")[0] for s in said], seen]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
