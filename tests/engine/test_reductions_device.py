"""Reductions, scans and sorting on arrays of another library than NumPy: same values and gradients, no hidden copies."""

import contextlib

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.tensor import wrap

PLAIN = np.random.default_rng(0).random((5, 7)) + 0.2
ZEROS = PLAIN.copy()
ZEROS[2, 3] = ZEROS[2, 5] = ZEROS[0, 0] = 0

DIFFERENTIABLE = {
    "prod": lambda x: ag.prod(x),
    "prod along": lambda x: ag.prod(x, 1),
    "cumsum": lambda x: ag.cumsum(x, 1),
    "cumprod": lambda x: ag.cumprod(x, 1),
    "logcumsumexp": lambda x: ag.logcumsumexp(x, 1),
    "cummax": lambda x: ag.cummax(x, 1).values,
    "median": lambda x: ag.median(x),
    "median along": lambda x: ag.median(x, 1).values,
    "nanmedian": lambda x: ag.nanmedian(x, 1).values,
    "mode": lambda x: ag.mode(x).values,
    "kthvalue": lambda x: ag.kthvalue(x, 2).values,
    "topk": lambda x: ag.topk(x, 3).values,
    "sort": lambda x: ag.sort(x, 0, True).values,
    "aminmax": lambda x: ag.aminmax(x).max,
    "std_mean": lambda x: ag.std_mean(x, 1)[0],
    "nansum": lambda x: ag.nansum(x, 1),
    "nanmean": lambda x: ag.nanmean(x, 1),
    "renorm": lambda x: ag.renorm(x, 2, 0, 1.0),
    "quantile": lambda x: ag.quantile(x, 0.3, 1),
    "diff": lambda x: ag.diff(x),
    "trapezoid": lambda x: ag.trapezoid(x),
    "gradient": lambda x: ag.gradient(x)[0],
    "cov": lambda x: ag.cov(x),
    "masked softmax": lambda x: ag.masked.softmax(x, 1, mask=x.detach() > 0.4),
    "masked std": lambda x: ag.masked.std(x, 1, mask=x.detach() > 0.4),
}
WITHOUT = {
    "unique": lambda x: ag.unique(x),
    "unique_consecutive": lambda x: ag.unique_consecutive(x),
    "histc": lambda x: ag.histc(x, 5),
    "histogram": lambda x: ag.histogram(x, 3).hist,
    "searchsorted": lambda x: ag.searchsorted(ag.sort(x).values, x),
    "isin": lambda x: ag.isin(x, x[:2]),
    "count_nonzero": lambda x: ag.count_nonzero(x, 0),
    "argsort": lambda x: ag.argsort(x, 1),
}


READING = {"prod", "prod along", "cumprod", "unique", "unique_consecutive", "histc", "histogram"}
"""Those whose size or formula depends on values: they read, as in PyTorch."""


@pytest.fixture(autouse=True)
def reading(request):
    """Only they may read."""
    with strict.allowed_host_reads() if request.node.callspec.params["name"] in READING else contextlib.nullcontext():
        yield


def on_device(array):
    assert type(array) is strict.ndarray
    return strict.host(array)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("create_graph", [False, True], ids=["buffers", "recorded"])
@pytest.mark.parametrize("data", [PLAIN, ZEROS], ids=["plain", "zeros"])
def test_values_and_gradients(name, create_graph, data):
    found = []
    for put in (strict.put, np.copy):
        x = wrap(put(data)).requires_grad_()
        out = DIFFERENTIABLE[name](x)
        (g,) = ag.grad((out * out).sum(), x, create_graph=create_graph)
        found.append((out._a, g._a))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(on_device(ours), theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["logcumsumexp", "cumsum", "std_mean"])
def test_tangents_and_second_derivatives_read_nothing(name):
    found = []
    for put in (strict.put, np.copy):
        x = wrap(put(PLAIN)).requires_grad_()
        (g,) = ag.grad(DIFFERENTIABLE[name](x).square().sum(), x, create_graph=True)
        (h,) = ag.grad(g.square().sum(), x)
        tangent = ag.func.jvp(DIFFERENTIABLE[name], (wrap(put(PLAIN)),), (wrap(put(ZEROS)),))[1]
        found.append((h._a, tangent._a))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(on_device(ours), theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", WITHOUT)
def test_values(name):
    theirs = WITHOUT[name](wrap(PLAIN.copy()))._a
    np.testing.assert_allclose(on_device(WITHOUT[name](wrap(strict.put(PLAIN)))._a), theirs, rtol=1e-12)
