"""Every op works on arrays of another library than NumPy and copies nothing between host and device."""

import contextlib

import agdbg_tests_strict_device as strict
import numpy as np
import pytest
from agdbg_tests_op_samples import SAMPLES, Raw

import agdbg_engine as ag
from agdbg_engine.ops import ROWS, _generated, inplace
from agdbg_engine.ops.table import TABLE
from agdbg_engine.tensor import wrap

BY_NAME = {row.name: row for row in TABLE}


@pytest.fixture(autouse=True)
def reading(request):
    """Masks as indices may be read, as in PyTorch; nothing else may."""
    sample = request.node.callspec.params.get("sample") if hasattr(request.node, "callspec") else None
    keys = [k for a in getattr(sample, "args", ()) if isinstance(a, Raw) for k in a.value if isinstance(k, np.ndarray)]
    masks = any(k.dtype == bool for k in keys) or request.node.name == "test_programs[masks]"
    with strict.allowed_host_reads() if masks else contextlib.nullcontext():
        yield


every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)


def arguments(sample, put):
    """The arguments of a row with every array made by ``put``; float tensors that have a gradient require it."""
    row = BY_NAME[sample.row]
    args = []
    for name, a in zip(row.args, sample.args, strict=False):
        if isinstance(a, np.ndarray):
            t = wrap(put(a))
            args.append(t.requires_grad_() if name in row.differentiable and a.dtype == np.float64 else t)
        elif isinstance(a, Raw):
            args.append(tuple(put(k) if isinstance(k, np.ndarray) else k for k in a.value))
        else:
            args.append(a)
    return args


def numbers(shape):
    return np.asarray(np.sin(np.arange(int(np.prod(shape))) + 0.5)).reshape(shape)


def run(sample, put, create_graph):
    """Buffers of the value and of all gradients."""
    args = arguments(sample, put)
    leaves = [a for a in args if isinstance(a, ag.Tensor) and a.requires_grad]
    out = ROWS[sample.row](*args)
    g = wrap(put(numbers(out.shape).astype(out.dtype)))
    out.backward(g, create_graph=create_graph)
    return [out._a, *(x.grad._a for x in leaves)]


def on_device(arrays):
    assert {type(a) for a in arrays} == {strict.ndarray}
    return [strict.host(a) for a in arrays]


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@every_sample
@pytest.mark.parametrize("create_graph", [False, True], ids=["buffers", "recorded"])
def test_value_and_gradients(sample, create_graph):
    same(on_device(run(sample, strict.put, create_graph)), run(sample, np.copy, create_graph))


@every_sample
def test_through_a_hook(sample):
    args = arguments(sample, strict.put)
    out = ROWS[sample.row](*args)
    out.register_hook(lambda g: g * 2)
    out.backward(wrap(strict.put(numbers(out.shape).astype(out.dtype))))
    on_device([a.grad._a for a in args if isinstance(a, ag.Tensor) and a.requires_grad])


TENSORS_ONLY = [
    s
    for s in SAMPLES
    if all(
        isinstance(a, np.ndarray)
        for n, a in zip(BY_NAME[s.row].args, s.args, strict=False)
        if n in BY_NAME[s.row].differentiable
    )
]


@pytest.mark.parametrize("sample", TENSORS_ONLY, ids=str)
def test_tangent(sample):
    row = BY_NAME[sample.row]
    args = arguments(sample, strict.put)
    args += [eval(row.defaults[a]) for a in row.args[len(args) :]]
    result = ROWS[row.name](*arguments(sample, strict.put))
    tangents = [
        wrap(strict.put(numbers(a.shape)))
        for n, a in zip(row.args, sample.args, strict=False)
        if n in row.differentiable
    ]
    on_device([getattr(_generated, f"jvp_{row.name}")(*args, result, *tangents)._a])


INPLACE = [
    s
    for s in SAMPLES
    if BY_NAME[s.row].inplace
    and s.row
    != "index_put"  # its samples have indices that are no tensors, which only the row takes: see "writing" below
    and isinstance(s.args[0], np.ndarray)
    and np.shape(s.numpy(*s.args)) == s.args[0].shape
]


@pytest.mark.parametrize("sample", INPLACE, ids=str)
def test_inplace_form(sample):
    args = arguments(sample, strict.put)
    target = args[0] * 1
    inplace.inplace(target, f"{sample.row}_", ROWS[sample.row], tuple(args[1:]))
    target.backward(wrap(strict.put(numbers(target.shape))))
    on_device([target._a, *(a.grad._a for a in args if isinstance(a, ag.Tensor) and a.requires_grad)])


PROGRAMS = {
    "accumulation": lambda x, y: x * y + x + y * 2 + x,
    "comparisons": lambda x, y: ag.where(x < y, x, y) + ag.where((x > 0) & (y == y), x, 0.0),
    "matmul": lambda x, y: (x @ y.T) @ (x[None] @ y.T),
    "max along": lambda x, y: x.max(1).values + y.min(0, True)[0].sum(),
    "reductions": lambda x, y: x.var(0).sum() + y.std() + x.norm() + y.mean(1).sum() + x.logsumexp(0).sum(),
    "joining": lambda x, y: ag.cat([x, y]).sum(0) + ag.stack([x, y], 1)[0, 0] + x.split(2)[0][0] + y.unbind()[1],
    "reshaping": lambda x, y: x.reshape(-1) * y.T.reshape(-1) * x.T.contiguous().flatten(),
    "indexing": lambda x, y: (
        x[0] + y[:, 1:2].sum(0) + x[None, ..., 0].sum() + y[ag.arange(2).to("cpu").tolist()].sum(0)
    ),
    "writing": lambda x, y: (
        (x * 1).index_put_((ag.tensor([1, 1, 0], device=x.device), y[0].argsort()), y[1]).sum(0)
        + (x * 1).index_put_((x > 0,), ag.tensor(2.0, dtype=x.dtype, device=x.device)).sum(0)
        + (x * 1).index_put_((ag.tensor([1, 1], device=x.device),), y, accumulate=True).sum(0)
    ),
    "masks": lambda x, y: x[x > 0].sum() + y[(y > 0).logical_not()].sum() + x.masked_fill(y > 0, 1).sum(),
    "powers": lambda x, y: (x * x + 1) ** 0.5 + 2**x + (y * y) ** x.abs(),
    "clamping": lambda x, y: x.clamp(-1, 1) + y.clamp(min=0) + x.clamp_min(y),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    def result(put):
        x, y = (wrap(put(numbers((2, 3)) * f)).requires_grad_() for f in (1.5, -0.7))
        out = PROGRAMS[name](x, y).sum()
        out.backward()
        return [out._a, x.grad._a, y.grad._a]

    same(on_device(result(strict.put)), result(np.copy))


def test_assignments():
    x = wrap(strict.put(numbers((3, 3)))).requires_grad_()
    y = x * 1
    y[0] = 1.0
    y[1:, 0] = x[0, :2]
    y[y > 0.5] = 0.0
    y[[0, 2]] = x[1]
    y.sum().backward()
    on_device([y._a, x.grad._a])


def test_reading_a_value_is_the_users_wish():
    with pytest.raises(strict.HostRead):
        wrap(strict.put(np.ones(1))).item()
