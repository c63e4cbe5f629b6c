"""Sums of many numbers of half precision: added up in single, in forward and backward, so that they do not stop at 2048."""

import numpy as np
import pytest

import agdbg_engine as ag

F = ag.nn.functional
MANY = 5000
"""2048 + 1 is 2048 in half precision; this many is a number that it has."""


def ones(*shape):
    return ag.ones(shape, dtype=ag.float16)


def zeros(n):
    return ag.zeros(n, dtype=ag.int64)


def batch_norm_bias(b):
    return F.batch_norm(ones(MANY, 4), None, None, None, b, True)


GRADIENTS = {
    "add": lambda b: ones(MANY, 4) + b,
    "mul": lambda b: ones(MANY, 4) * b,
    "linear": lambda b: F.linear(ones(MANY, 4), ones(4, 4), b),
    "conv1d": lambda b: F.conv1d(ones(MANY, 2, 1), ones(4, 2, 1), b),
    "layer_norm": lambda b: F.layer_norm(ones(MANY, 4), (4,), None, b),
    "batch_norm": batch_norm_bias,
    "group_norm": lambda b: F.group_norm(ones(MANY, 4), 2, None, b),
    "expand": lambda b: b.expand(MANY, 4),
    "where": lambda b: ag.where(ones(MANY, 4) > 0, b, ones(MANY, 4)),
    "index": lambda b: b[zeros(MANY)][:, None].expand(MANY, 1),
    "gather": lambda b: b.gather(0, zeros(MANY)),
    "as_strided": lambda b: b.as_strided((MANY,), (0,)),
    "pad": lambda b: F.pad(b.view(1, 1, 4), (MANY - 1, 0), mode="replicate"),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_the_gradient_of_what_is_used_many_times(name):
    b = ones(4).requires_grad_()
    out = GRADIENTS[name](b)
    out.backward(ag.ones_like(out))
    assert b.grad.dtype == np.float16
    assert b.grad[0].item() == MANY


@pytest.mark.parametrize("width", [4, 64])
@pytest.mark.parametrize("rows", [1, 3])
def test_the_gradient_of_rows_that_are_named_many_times(width, rows):
    weight = ones(rows, width).requires_grad_()
    out = F.embedding(ag.arange(MANY * rows) % rows, weight)
    out.backward(ag.ones_like(out))
    assert (weight.grad == MANY).all()


VALUES = {
    "sum": (lambda x: x.sum(0), MANY),
    "nansum": (lambda x: x.nansum(0), MANY),
    "logsumexp": (lambda x: x.logsumexp(0), 1 + np.log(MANY)),
    "index_add": (lambda x: ag.zeros(1, 4, dtype=ag.float16).index_add(0, zeros(MANY), x), MANY),
    "scatter_add": (lambda x: ag.zeros(1, 4, dtype=ag.float16).scatter_add(0, zeros((MANY, 4)), x), MANY),
}


@pytest.mark.parametrize("name", VALUES)
def test_sums_along_columns(name):
    function, expected = VALUES[name]
    found = function(ones(MANY, 4))
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.numpy().astype(np.float64), expected, rtol=1e-3)
