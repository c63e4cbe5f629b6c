"""Parametrized weights: values, gradients, names and errors are PyTorch's."""

import copy
import pickle

import numpy as np
import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for this")


def filled(t, module):
    with t.no_grad():
        for i, p in enumerate(module.parameters()):
            p.copy_(((t.arange(p.numel()).reshape(p.shape).double() + i) * 0.7).cos())
    return module


def symmetric(t):
    class Symmetric(t.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).t()

        def right_inverse(self, a):
            return a.triu()

    return Symmetric()


def twice(t):
    class Twice(t.nn.Module):
        def forward(self, x):
            return x * 2

    return Twice()


def facts(t, module, x):
    module.zero_grad()
    y = module(x)
    (y * y).sum().backward()
    grads = [p.grad.numpy().copy() for p in module.parameters()]
    return [repr(module), list(module.state_dict()), y.detach().numpy(), module.weight.detach().numpy(), *grads]


def weight_norm(dim):
    def program(t):
        module = filled(t, t.nn.Linear(3, 2).double())
        t.nn.utils.parametrizations.weight_norm(module, dim=dim)
        x = t.arange(6).reshape(2, 3).double()
        found = facts(t, module, x)
        old = t.nn.Linear(3, 2).double().state_dict()
        state = {"bias": old["bias"] * 0, "weight_g": module.parametrizations.weight.original0.detach() * 2}
        module.load_state_dict({**state, "weight_v": t.ones(2, 3).double()})
        found += facts(t, module, x)
        t.nn.utils.parametrize.remove_parametrizations(module, "weight")
        return found + facts(t, module, x)

    return program


def own(t):
    P = t.nn.utils.parametrize
    module = filled(t, t.nn.Linear(3, 3).double())
    P.register_parametrization(module, "weight", symmetric(t))
    x = t.arange(6).reshape(2, 3).double()
    found = facts(t, module, x)
    module.weight = t.ones(3, 3).double()
    found += facts(t, module, x)
    P.register_parametrization(module, "weight", twice(t))
    found += [*facts(t, module, x), P.is_parametrized(module), P.is_parametrized(module, "bias")]
    other = copy.deepcopy(module)
    found += facts(t, other, x)
    with P.cached():
        found.append(module.weight is module.weight)
    found.append(module.weight is module.weight)
    P.remove_parametrizations(module, "weight", leave_parametrized=False)
    return [*found, *facts(t, module, x), P.is_parametrized(module)]


def spectral(t):
    module = filled(t, t.nn.Linear(4, 3).double())
    t.nn.utils.parametrizations.spectral_norm(module, n_power_iterations=200)
    x = t.arange(8).reshape(2, 4).double()
    found = facts(t, module, x)
    module.eval()
    return found + facts(t, module, x)


def spectral_conv(t):
    module = filled(t, t.nn.ConvTranspose1d(2, 3, 2).double())
    t.nn.utils.parametrizations.spectral_norm(module, n_power_iterations=200)
    return facts(t, module, t.arange(8).reshape(1, 2, 4).double())


PROGRAMS = {
    "weight norm": weight_norm(0),
    "weight norm across": weight_norm(1),
    "weight norm of all": weight_norm(None),
    "of one's own": own,
    "spectral norm": spectral,
    "spectral norm of a convolution": spectral_conv,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_parametrized_modules(torch, name):
    mine, theirs = (PROGRAMS[name](t) for t in (ag, torch))
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        if isinstance(b, np.ndarray):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
        else:
            assert a == b


def shaped(t, unsafe=False):
    class Smaller(t.nn.Module):
        def forward(self, x):
            return x[:1]

    module = t.nn.Linear(2, 2)
    t.nn.utils.parametrize.register_parametrization(module, "weight", Smaller(), unsafe=unsafe)
    return tuple(module.weight.shape)


def assigned(t):
    module = t.nn.Linear(2, 2)
    t.nn.utils.parametrize.register_parametrization(module, "weight", twice(t))
    module.weight = t.ones(2, 2)


REFUSED = {
    "shape": shaped,
    "shape unsafe": lambda t: shaped(t, unsafe=True),
    "no such tensor": lambda t: t.nn.utils.parametrize.register_parametrization(t.nn.ReLU(), "w", twice(t)),
    "not parametrized": lambda t: t.nn.utils.parametrize.remove_parametrizations(t.nn.ReLU(), "w"),
    "assigned": assigned,
    "pickled": lambda t: pickle.dumps(t.nn.utils.parametrizations.weight_norm(t.nn.Linear(1, 1))),
    "spectral norm of nothing": lambda t: t.nn.utils.parametrizations.spectral_norm(t.nn.ReLU()),
    "spectral norm without steps": lambda t: t.nn.utils.parametrizations.spectral_norm(
        t.nn.Linear(1, 1), n_power_iterations=0
    ),
    "spectral norm elsewhere": lambda t: t.nn.utils.parametrizations.spectral_norm(t.nn.Linear(1, 1), dim=3),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(torch, name):
    found = []
    for t in (ag, torch):
        try:
            found.append(REFUSED[name](t))
        except Exception as error:
            found.append((type(error).__name__, str(error).split("\n")[0]))
    assert found[0] == found[1]
