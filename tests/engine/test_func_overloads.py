"""The error of a write to a captured tensor names the form of the op that PyTorch calls."""

import re

import pytest

import agdbg_engine as ag

torch = pytest.importorskip("torch", reason="PyTorch is the reference here")

CALLS = [
    "c.bernoulli_(0.5)", "c.bernoulli_()", "c.bernoulli_(t.full_like(c, 0.5))", "c.div_(2, rounding_mode='floor')",
    "c.div_(x, rounding_mode=None)", "c.divide_(x, rounding_mode='trunc')", "c.div_(x)", "c.round_(decimals=1)", "c.round_()",
    "c.fill_diagonal_(1)", "c.random_()", "c.random_(3)", "c.random_(1, 3)", "c.clamp_(min=x)", "c.clamp_(0, 1)", "c.clamp_min_(x)",
    "c.clamp_max_(0)", "c.clip_(x)", "c.float_power_(2)", "c.float_power_(x)", "c.scatter_(0, t.tensor([[0]]), 1)",
    "c.scatter_(0, t.tensor([[0]]), 1, reduce='add')", "c.scatter_(0, t.tensor([[0]]), x)",
    "c.scatter_(0, t.tensor([[0]]), x, reduce='multiply')", "c.xlogy_(2.0)", "c.index_fill_(0, t.tensor([0]), 1)",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_same_as_torch(call):
    forms = []
    for t in (ag, torch):
        c = t.tensor([[0.3, 0.6], [0.2, 0.9]])

        def write(x, t=t, c=c):
            eval(call, {"t": t, "x": x, "c": c})
            return x.sum()

        with pytest.raises(RuntimeError, match="would mutate a captured Tensor") as caught:
            t.func.grad(write)(t.ones(2, 2))
        forms += re.findall(r"\(aten::[^)]*\)", str(caught.value))
    assert forms[0] == forms[1]
