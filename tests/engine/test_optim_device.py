"""Optimizers on arrays of another library: the same numbers, nothing copied to the host."""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.tensor import wrap

CASES = [
    ("SGD", {}), ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1, "maximize": True}), ("Adam", {}),
    ("Adam", {"amsgrad": True, "weight_decay": 0.1}), ("AdamW", {}), ("RMSprop", {"momentum": 0.5, "centered": True}),
    ("Adagrad", {}), ("Adadelta", {}), ("Adamax", {}), ("NAdam", {}), ("RAdam", {"betas": (0.5, 0.6)}), ("Rprop", {}),
    ("ASGD", {"t0": 1}),
]  # fmt: skip


def after_three_steps(name, options, put):
    params = [
        wrap(put(np.linspace(-1, 1, n).reshape(shape))) for n, shape in ((12, (3, 4)), (1, ()), (20000, (100, 200)))
    ]
    for p in params:
        p.requires_grad_()
    optimizer = getattr(ag.optim, name)(params, **options)
    for step in range(3):
        for p in params:
            p.grad = wrap(put(np.cos(np.arange(p.numel()) + step).reshape(p.shape)))
        optimizer.step()
    return [p._a for p in params]


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_steps(name, options):
    strict.refusals.clear()
    here = after_three_steps(name, options, np.asarray)
    there = after_three_steps(name, options, strict.put)
    assert not strict.refusals
    with strict.allowed_host_reads():
        for a, b in zip(there, here, strict=True):
            np.testing.assert_allclose(strict.host(a), b, rtol=1e-12)
