"""Convolution, pooling, padding and resampling copy nothing between host and device."""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.nn import functional as F
from agdbg_engine.tensor import wrap

IMAGE, GRID = (2, 4, 4, 6), (2, 3, 3, 2)
CASES = {
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, 2, 1), (2, 4, 5, 6), (6, 4, 3, 3), (6,)),
    "conv_transpose2d": (lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1), (2, 4, 5, 6), (4, 6, 3, 3), (6,)),
    "max_pool1d": (lambda x: F.max_pool1d(x, 2), (2, 4, 5)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), IMAGE),
    "max_unpool2d": (lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), IMAGE),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), IMAGE),
    "lp_pool2d": (lambda x: F.lp_pool2d(x, 2, 2), IMAGE),
    "fewer": (lambda x: F.adaptive_avg_pool2d(x, (3, 4)), IMAGE),
    "more": (lambda x: F.adaptive_avg_pool2d(x, (7, 8)), IMAGE),
    "one": (lambda x: F.adaptive_avg_pool2d(x, 1), IMAGE),
    "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, (3, 4)), IMAGE),
    "unfold": (lambda x: F.unfold(x, 2), IMAGE),
    "fold": (lambda x: F.fold(x, (4, 5), 2), (2, 8, 12)),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), IMAGE),
    "channel_shuffle": (lambda x: F.channel_shuffle(x, 2), IMAGE),
    "constant": (lambda x: F.pad(x, (1, 2, -1, 0), value=3), IMAGE),
    "reflect": (lambda x: F.pad(x, (1, 2, 1, 0), "reflect"), IMAGE),
    "replicate": (lambda x: F.pad(x, (12, 2, 1, 0), "replicate"), IMAGE),
    "circular": (lambda x: F.pad(x, (1, 2, 1, 0), "circular"), IMAGE),
    "nearest": (lambda x: F.interpolate(x, (3, 9)), IMAGE),
    "bilinear": (lambda x: F.interpolate(x, (3, 9), mode="bilinear"), IMAGE),
    "bicubic": (lambda x: F.interpolate(x, (3, 2), mode="bicubic", antialias=True), IMAGE),
    "grid": (lambda x, g: F.grid_sample(x, g, align_corners=False), IMAGE, GRID),
    "cubic grid": (lambda x, g: F.grid_sample(x, g, "bicubic", "reflection", False), IMAGE, GRID),
    "affine_grid": (lambda t: F.affine_grid(t, (2, 1, 3, 4), False), (2, 2, 3)),
}


def run(function, arrays, put, create_graph):
    """Buffers of the result and of all gradients."""
    inputs = [wrap(put(a)).requires_grad_() for a in arrays]
    y = function(*inputs)
    g = wrap(put(np.sin(np.arange(y.numel(), dtype=float)).reshape(y.shape)))
    return [y._a, *(x._a for x in ag.autograd.grad(y, inputs, g, create_graph=create_graph))]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("create_graph", [False, True], ids=["buffers", "recorded"])
def test_value_and_gradients(name, create_graph):
    function, *shapes = CASES[name]
    arrays = [np.random.default_rng(0).standard_normal(s) for s in shapes]
    ours = run(function, arrays, strict.put, create_graph)
    assert {type(a) for a in ours} == {strict.ndarray}
    for a, b in zip(ours, run(function, arrays, np.copy, create_graph), strict=True):
        np.testing.assert_allclose(strict.host(a), b, rtol=1e-10, atol=1e-12)


def test_fractional_pooling_draws_on_the_device():
    x = wrap(strict.put(np.random.default_rng(0).standard_normal(IMAGE))).requires_grad_()
    y = F.fractional_max_pool2d(x, 2, 3)
    (g,) = ag.autograd.grad(y.sum(), x)
    assert type(y._a) is type(g._a) is strict.ndarray and y.shape == (2, 4, 3, 3)
