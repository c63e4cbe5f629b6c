"""Where CuPy's functions are not NumPy's: what the engine makes of it is the same on a device as on the CPU, and nothing is read there."""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
import agdbg_engine.nn.functional as F
from agdbg_engine.autograd import grad

NAN = float("nan")


def both(function, *arrays):
    """The results of ``function`` on the CPU and on the device as arrays of NumPy's."""
    found = []
    for device in ("cpu", "strict"):
        strict.refusals.clear()
        result = function(*(ag.tensor(a, device=device) for a in arrays))
        results = [x._a for x in (result if isinstance(result, tuple) else (result,))]
        found.append([x if device == "cpu" else strict.host(x) for x in results])
    assert not strict.refusals
    return zip(*found, strict=True)


def same(function, *arrays):
    for expected, found in both(function, *arrays):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_nan_is_last_in_order(dtype):
    x = np.array([[3, NAN, 1, 2], [NAN, NAN, 0, -1], [5, 4, 3, 2]], dtype)
    for k in (1, 2, 3, 4):
        same(lambda x, k=k: x.kthvalue(k).values, x)  # which of equal ones, only the CPU says as PyTorch
    same(lambda x: tuple(x.median(1)), x)
    same(lambda x: tuple(x.nanmedian(1)), x)
    same(lambda x: x.median(), x)


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.float32, np.uint8])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_unique_slices(dtype, dim):
    x = np.random.default_rng(0).integers(0, 2, (6, 2, 3)).astype(dtype)
    x[3:] = x[:3]
    x[:, :, 2] = x[:, :, 0]
    with strict.allowed_host_reads():
        same(lambda x: ag.unique(x, return_inverse=True, return_counts=True, dim=dim), x)


def test_unique_slices_of_nothing_and_of_nan():
    with strict.allowed_host_reads():
        same(
            lambda x: ag.unique(x, return_inverse=True, return_counts=True, dim=0),
            np.array([[NAN, 1], [0, 1], [NAN, 1]]),
        )
        same(lambda x: ag.unique(x, return_inverse=True, return_counts=True, dim=1), np.ones((2, 1)))


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor", "logical_and_", "logical_not"])
def test_complex_numbers_as_truths(name):
    x, y = np.array([0, 1j, 2, NAN * 1j, 0]), np.array([0, 0, 1, 0, 1j])
    same(lambda x, y: getattr(x, name)(*([] if "not" in name else [y])), x, y)


def test_how_often_rows_are_looked_up_is_not_read():
    def gradient(weight, index, mode):
        weight.requires_grad_()
        if mode is None:
            found = F.embedding(index, weight, scale_grad_by_freq=True)
        else:
            found = F.embedding_bag(index, weight, mode=mode, padding_idx=1)
        return grad(found.sum(), weight)[0]

    weight, index = np.arange(8.0).reshape(4, 2), np.array([[0, 1, 1, 3], [3, 3, 1, 3]])
    for mode in (None, "mean", "max"):
        same(lambda w, i, mode=mode: gradient(w, i, mode), weight, index)


def test_integers_are_pooled_by_counts_that_differ():
    same(
        lambda x: F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False),
        np.arange(-12, 13).reshape(1, 1, 5, 5),
    )


def test_numbers_without_dimensions():
    def gradients(x, i):
        x.requires_grad_()
        return grad(x.index_select(0, i).sum() + x.take(i).sum() + x.masked_select(x > 0).sum(), x)[0]

    with strict.allowed_host_reads():
        same(gradients, np.array(2.0), np.array([0]))
        same(lambda x: x[:0].median(), np.array([1.0]))
