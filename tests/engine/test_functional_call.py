"""``functional_call``: a module with other tensors for its parameters, as in PyTorch, and gradients through a step by hand."""

import numpy as np
import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for this")


def model(t):
    nn = t.nn

    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2)
            self.b = nn.Linear(2, 2)
            self.b.weight = self.a.weight
            self.register_buffer("shift", t.ones(2))

        def forward(self, x, scale=1.0):
            return self.b(self.a(x).tanh()) * scale + self.shift

    made = Tied().double()
    with t.no_grad():
        for i, p in enumerate(made.parameters()):
            p.copy_((t.arange(p.numel()).reshape(p.shape).double() - i) * 0.3)
    return made


def ones(t, *names):
    return {name: t.ones(2, 2).double() if name.endswith("weight") else t.ones(2).double() for name in names}


CALLS = {
    "nothing": lambda t: ({}, {}),
    "one": lambda t: (ones(t, "a.bias"), {}),
    "tied": lambda t: (ones(t, "a.weight"), {}),
    "untied": lambda t: (ones(t, "a.weight"), {"tie_weights": False}),
    "both": lambda t: (ones(t, "a.weight", "b.weight"), {}),
    "buffer": lambda t: ({"shift": t.zeros(2)}, {"kwargs": {"scale": 2.0}}),
    "several": lambda t: ((ones(t, "a.bias"), ones(t, "b.bias")), {}),
    "twice": lambda t: ((ones(t, "a.bias"), ones(t, "a.bias")), {}),
    "unknown": lambda t: (ones(t, "a.c"), {}),
    "unknown part": lambda t: (ones(t, "z.c"), {}),
    "strict": lambda t: (ones(t, "a.bias", "c.d"), {"strict": True}),
    "strict all": lambda t: (ones(t, "a.bias", "a.weight", "b.bias", "shift"), {"strict": True}),
    "no dicts": lambda t: (3, {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(torch, name):
    found = []
    for t in (ag, torch):
        module, x = model(t), t.ones(3, 2).double()
        before = {n: id(p) for n, p in module.named_parameters(remove_duplicate=False)}
        given, options = CALLS[name](t)
        try:
            found.append(np.asarray(t.func.functional_call(module, given, x, **options).detach().numpy()).tolist())
        except Exception as error:
            found.append((type(error).__name__, str(error).split("\n")[:2]))
        assert {n: id(p) for n, p in module.named_parameters(remove_duplicate=False)} == before
    if isinstance(found[1], list):
        np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
    else:
        assert found[0] == found[1]


def test_gradients_through_a_step(torch):
    found = []
    for t in (ag, torch):
        module, x = model(t), t.arange(6).reshape(3, 2).double()
        params = dict(module.named_parameters())
        loss = (t.func.functional_call(module, params, x) ** 2).sum()
        grads = t.autograd.grad(loss, list(params.values()), create_graph=True)
        stepped = {name: p - 0.01 * g for (name, p), g in zip(params.items(), grads, strict=True)}
        (t.func.functional_call(module, stepped, x) ** 2).sum().backward()
        found.append([p.grad.numpy() for p in module.parameters()])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10)
