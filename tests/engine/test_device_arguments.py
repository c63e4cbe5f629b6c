"""Tensors of a device given for numbers: whoever gives them asks for their values, and each is read once, as in PyTorch."""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag

F = ag.nn.functional


def on(device):
    """The arguments of the cases on ``device``."""
    there = lambda value: ag.tensor(value, device=device)
    x = ag.arange(12.0).reshape(3, 4).to(device)
    return x, there(1), there(3), there(0.5), there(2.0), device


CASES = {
    "a list": (3, lambda x, i, j, a, b, d: ag.tensor([[a, b], [b, 1.0]], device=d)),
    "as_tensor": (2, lambda x, i, j, a, b, d: ag.as_tensor([a, b])), "new_tensor": (2, lambda x, i, j, a, b, d: x.new_tensor([a, b])),
    "a size": (1, lambda x, i, j, a, b, d: ag.zeros(j, device=d)), "sizes": (2, lambda x, i, j, a, b, d: ag.ones((j, i), device=d)),
    "full": (2, lambda x, i, j, a, b, d: ag.full((j,), a, device=d)), "eye": (2, lambda x, i, j, a, b, d: ag.eye(j, i, device=d)),
    "arange": (2, lambda x, i, j, a, b, d: ag.arange(a, b, device=d)), "linspace": (2, lambda x, i, j, a, b, d: ag.linspace(a, b, 3, device=d)),
    "an index": (1, lambda x, i, j, a, b, d: x[i]), "a slice": (2, lambda x, i, j, a, b, d: x[i:j]), "a slice of all": (2, lambda x, i, j, a, b, d: x[i - 1:j, :]),
    "a slice among others": (3, lambda x, i, j, a, b, d: x[i:j, ::j]), "a slice assigned": (2, lambda x, i, j, a, b, d: written(x, slice(i, j), b)),
    "select": (2, lambda x, i, j, a, b, d: x.select(i, j)), "narrow": (2, lambda x, i, j, a, b, d: x.narrow(1, i, j)), "split": (1, lambda x, i, j, a, b, d: x.split(j)),
    "a dimension": (1, lambda x, i, j, a, b, d: x.sum(i)), "reshape": (1, lambda x, i, j, a, b, d: x.reshape(-1, j)), "expand": (1, lambda x, i, j, a, b, d: x[:1].expand(j, 4)),
    "tile": (1, lambda x, i, j, a, b, d: x.tile(j)), "roll": (1, lambda x, i, j, a, b, d: x.roll(j)), "correction": (1, lambda x, i, j, a, b, d: x.std(correction=i)),
    "alpha": (1, lambda x, i, j, a, b, d: ag.add(x, x, alpha=b)), "value": (1, lambda x, i, j, a, b, d: ag.addcmul(x, x, x, value=b)), "slope": (1, lambda x, i, j, a, b, d: F.leaky_relu(x, a)),
    "uniform_": (2, lambda x, i, j, a, b, d: ag.zeros_like(x.clone().uniform_(a, b))),
    # operands: nothing is read
    "fill_": (0, lambda x, i, j, a, b, d: x.clone().fill_(b)), "clamp": (0, lambda x, i, j, a, b, d: x.clamp(min=a)), "pow": (0, lambda x, i, j, a, b, d: x**b),
    "masked_fill": (0, lambda x, i, j, a, b, d: x.masked_fill(x > 2, a)), "index_fill": (0, lambda x, i, j, a, b, d: x.index_fill(0, i, a)), "a 0-d tensor": (0, lambda x, i, j, a, b, d: ag.tensor(a)),
}  # fmt: skip


def written(x, key, value):
    x = x.clone()
    x[key] = value
    return x


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
def test_each_is_read_once(name):
    reads, run = CASES[name]
    given = on("strict")
    strict.refusals.clear()
    strict.copies.clear()
    with strict.allowed_host_reads():
        found = run(*given)
    assert len(strict.copies) == reads
    assert strict.refusals == []
    wanted = run(*on("cpu"))
    pairs = zip(found, wanted, strict=True) if isinstance(found, tuple | list) else [(found, wanted)]
    for there, here in pairs:
        array = strict.host(there._a) if there.device.type == "strict" else there.numpy()
        np.testing.assert_array_equal(array, here.numpy())


# ----- sizes that depend on values -----

MASK = np.array([[True, False, True, False], [False, True, True, False], [True, True, False, True]])
SIZED = {
    "one_hot": (1, lambda x, m, i: F.one_hot(i)), "one_hot of so many": (0, lambda x, m, i: F.one_hot(i, 5)),
    "masked_scatter": (0, lambda x, m, i: x.masked_scatter(m, x * 2)), "masked_scatter, broadcast": (0, lambda x, m, i: x.masked_scatter(m[:1], x[:2] + 5)),
    "nonzero_static": (0, lambda x, m, i: ag.nonzero_static(x, size=5)), "nonzero_static of more": (0, lambda x, m, i: ag.nonzero_static(m, size=15, fill_value=7)),
    "nonzero_static of nothing": (0, lambda x, m, i: ag.nonzero_static(x[:0], size=2)), "nonzero_static of a number": (0, lambda x, m, i: ag.nonzero_static(x[0, 0], size=2)),
    "histc": (1, lambda x, m, i: ag.histc(x, 4)), "histc in a range": (0, lambda x, m, i: ag.histc(x, 5, min=1, max=8.5)), "histc of NaN": (0, lambda x, m, i: ag.histc(x / (x * 0 + (x != 3)), 5, min=-1, max=20)),
    "histogram": (1, lambda x, m, i: ag.histogram(x, 4)), "histogram in a range": (0, lambda x, m, i: ag.histogram(x, 4, range=(1.0, 9.0), weight=x * 0.5)),
    "histogramdd": (0, lambda x, m, i: ag.histogramdd(x[:, :2], [2, 3], range=[0.0, 8.0, 1.0, 9.0])[0]), "bincount": (1, lambda x, m, i: ag.bincount(i, minlength=9)),
    "bincount with weights": (1, lambda x, m, i: ag.bincount(i, x[0, :3])), "bincount of nothing": (0, lambda x, m, i: ag.bincount(i[:0])),
    "repeat_interleave": (1, lambda x, m, i: x.repeat_interleave(i, 0)), "repeat_interleave of so many": (0, lambda x, m, i: x.repeat_interleave(i, 0, output_size=7)),
}  # fmt: skip


@pytest.mark.parametrize("name", SIZED)
def test_a_size_is_read_only_where_nobody_says_it(name):
    reads, run = SIZED[name]
    given = lambda device: (
        ag.arange(12.0).reshape(3, 4).to(device),
        ag.tensor(MASK).to(device),
        ag.tensor([4, 1, 2]).to(device),
    )
    there = given("strict")
    strict.refusals.clear()
    strict.copies.clear()
    with strict.allowed_host_reads():
        found = run(*there)
    assert len(strict.copies) == reads, strict.copies
    assert strict.refusals == []
    wanted = run(*given("cpu"))
    for a, b in zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]:
        assert strict.host(a._a).dtype == b.dtype
        np.testing.assert_allclose(strict.host(a._a), b.numpy())


def test_gradients_of_masked_scatter_read_nothing():
    def gradients(device):
        x, source = (ag.arange(12.0, dtype=ag.float64).reshape(3, 4).to(device).requires_grad_() for _ in range(2))
        out = x.masked_scatter(ag.tensor(MASK).to(device), source)
        first = ag.autograd.grad((out * out * out).sum(), (x, source), create_graph=True)
        second = ag.autograd.grad(sum((g * g).sum() for g in first), (x, source))
        return [out.detach(), *(g.detach() for g in (*first, *second))]

    strict.refusals.clear()
    found = gradients("strict")
    assert strict.refusals == []
    for a, b in zip(found, gradients("cpu"), strict=True):
        np.testing.assert_allclose(strict.host(a._a), b.numpy())


def _of_masks(device, put):
    x, rows, columns = (
        ag.tensor(value, device=device) for value in (MASK * 0.5, [True, False, True], [False, True, False, True])
    )
    value = ag.tensor([3.0, 4.0], dtype=ag.float64, device=device, requires_grad=True)
    x = x.to(ag.float64)
    put(x, rows, columns, value)
    grads = ag.autograd.grad((x * x).sum(), value) if x.requires_grad else ()
    return [x.detach(), *grads]


@pytest.mark.parametrize(
    "put",
    [
        lambda x, rows, columns, value: x.__setitem__((rows, columns), 7.0),
        lambda x, rows, columns, value: x.__setitem__((rows, columns), value),
        lambda x, rows, columns, value: x.__setitem__((rows, columns), value[0]),
        lambda x, rows, columns, value: x.__setitem__((rows, ag.tensor([1, 2], device=x.device)), value),
        lambda x, rows, columns, value: x.index_put_((rows, columns), value, accumulate=True),
    ],
    ids=["number", "tensor", "one", "indices", "added"],
)
@pytest.mark.parametrize("device", ["strict", strict.PLACE])
def test_several_masks_pick_where_values_are_put(put, device):
    strict.refusals.clear()
    with strict.allowed_host_reads():  # how much they pick
        found = _of_masks(device, put)
    assert strict.refusals == []
    for a, b in zip(found, _of_masks("cpu", put), strict=True):
        np.testing.assert_array_equal(strict.host(a._a), b.numpy())


def test_several_masks_that_do_not_fit_each_other():
    told = []
    for device in ("cpu", "strict"):
        x, many, few = (ag.tensor(v, device=device) for v in ([[0.0] * 3] * 3, [True, True, True], [True, True, False]))
        with strict.allowed_host_reads(), pytest.raises(IndexError, match="shape mismatch: indexing tensors") as error:
            x[many, few] = 1.0
        told.append(str(error.value))
    assert told[0] == told[1]


def test_classes_that_do_not_fit_are_told_on_the_cpu_only():
    indices = ag.tensor([4, 1])
    with pytest.raises(RuntimeError, match="smaller than num_classes"):
        F.one_hot(indices, 3)
    assert strict.host(F.one_hot(indices.to("strict"), 3)._a).tolist() == [[0, 0, 0], [0, 1, 0]]
