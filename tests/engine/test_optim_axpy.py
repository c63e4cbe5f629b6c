"""``y += a x``: the same numbers whether BLAS adds or NumPy does, in whatever memory ``y`` is."""

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.optim.axpy import add_scaled, fits
from agdbg_engine.optim.elementwise import BLOCK

N = 3 * BLOCK + 5


def unaligned(x):
    out = np.frombuffer(bytearray(x.nbytes + 1), x.dtype, x.size, offset=1).reshape(x.shape)
    out[...] = x
    return out


LAYOUTS = {
    "contiguous": lambda x: x.copy(),
    "matrix": lambda x: x[:-5].reshape(3, -1).copy(),
    "column by column": lambda x: np.asfortranarray(x[:-5].reshape(3, -1)),
    "every second": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "unaligned": unaligned,
    "small": lambda x: x[:7].copy(),
    "0-d": lambda x: np.array(x[3]),
    "empty": lambda x: x[:0].copy(),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "f2"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_multiple_is_added_in_place(layout, dtype):
    rng = np.random.default_rng(0)
    y, x = (LAYOUTS[layout](rng.standard_normal(N).astype(dtype)) for _ in range(2))
    expected = y - 0.1 * x
    tolerance = {"f4": 1e-6, "c8": 1e-6, "f8": 1e-14, "f2": 2e-3}[dtype]
    kept = y.view()
    add_scaled(y, x, -0.1)
    np.testing.assert_allclose(kept, expected, rtol=tolerance, atol=tolerance)


def test_blas_is_given_only_what_it_can_write():
    y = np.zeros(N)
    assert fits(y, y, 1.0)
    assert not fits(unaligned(y), y, 1.0)
    y.flags.writeable = False
    assert not fits(y, y, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        add_scaled(y, np.ones(N), 1.0)


@pytest.mark.parametrize("options", [{}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.2, "nesterov": False}])
def test_large_parameters_go_as_in_pytorch(options):
    torch = pytest.importorskip("torch", reason="PyTorch is the reference for these numbers")
    start, slope = (np.random.default_rng(i).standard_normal((200, 300)).astype("f") for i in range(2))
    found = []
    for t in (ag, torch):
        p = t.tensor(start.copy(), requires_grad=True)
        optimizer = t.optim.SGD([p], lr=0.1, **options)
        for _ in range(4):
            optimizer.zero_grad()
            ((p * p) * t.tensor(slope)).sum().backward()
            optimizer.step()
        found.append(p.detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("options", [{"lr": 0.0}, {"lr": 1e-60}, {"lr": 0.1, "momentum": 0.9, "dampening": 1.0}])
def test_nothing_of_what_is_not_finite_is_not_finite(options, bad):
    """0 * NaN is NaN, however many elements there are."""
    torch = pytest.importorskip("torch", reason="PyTorch is the reference for these numbers")
    found = []
    for t in (ag, torch):
        p = t.ones(N, requires_grad=True)
        optimizer = t.optim.SGD([p], **options)
        for _ in range(2):
            p.grad = t.ones(N)
            optimizer.step()
            p.grad[0] = bad
        with np.errstate(invalid="ignore"):
            optimizer.step()
        found.append(p.detach().numpy())
    np.testing.assert_array_equal(np.isnan(found[0]), np.isnan(found[1]))
    assert np.isnan(found[0][0]) and not np.isnan(found[0][1])


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_memory_that_shows_twice_is_not_stepped(name):
    torch = pytest.importorskip("torch", reason="PyTorch is the reference for these errors")
    for t in (ag, torch):
        p = t.ones(1).expand(3).requires_grad_()
        p.grad = t.ones(3)
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
            getattr(t.optim, name)([p], lr=0.5).step()
        assert p.tolist() == [1.0] * 3


def test_a_gradient_that_is_a_part_of_its_parameter_is_not_stepped():
    torch = pytest.importorskip("torch", reason="PyTorch is the reference for these errors")
    for t in (ag, torch):
        b = t.arange(5.0)
        p = b[1:].detach().requires_grad_()
        p.grad = b[:-1]
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer"):
            t.optim.SGD([p], lr=0.5).step()
