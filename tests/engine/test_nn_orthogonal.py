"""Weights that stay orthogonal: values, gradients and refusals are PyTorch's."""

import numpy as np
import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference here")


MAPS = ["matrix_exp", "cayley", "householder", None]
SHAPES = [(4, 4), (5, 3), (3, 5), (2, 4, 3)]


class Held:
    """A module with a weight of some shape; the same numbers in both libraries."""

    def __new__(cls, t, shape, dtype="float64", orthonormal=False):
        numbers = np.random.default_rng(0).standard_normal(shape)
        if "complex" in dtype:
            numbers = numbers + 1j * np.random.default_rng(1).standard_normal(shape)
        if orthonormal:
            numbers = np.linalg.qr(numbers)[0]
        module = t.nn.Module()
        module.weight = t.nn.Parameter(t.tensor(numbers, dtype=getattr(t, dtype)))
        return module


def after(t, shape, orthogonal_map, dtype="float64", orthonormal=False, use_trivialization=True):
    """The weight, its columns' products, and what a step of it changes."""
    module = Held(t, shape, dtype, orthonormal)
    t.nn.utils.parametrizations.orthogonal(module, orthogonal_map=orthogonal_map, use_trivialization=use_trivialization)
    if use_trivialization and shape[-1] != shape[-2]:  # completed by random columns: the same ones
        n = max(shape[-2:])
        base = np.linalg.qr(np.random.default_rng(2).standard_normal((*shape[:-2], n, n)))[0]
        module.parametrizations.weight[0].base = t.tensor(base, dtype=getattr(t, dtype))
    found = [module.weight.detach()]
    original = module.parametrizations.weight.original
    with t.no_grad():
        step = t.tensor(np.random.default_rng(3).standard_normal(shape), dtype=getattr(t, dtype))
        original.add_(step.tril(-1), alpha=0.1)
    weight = module.weight
    cotangent = t.tensor(np.random.default_rng(4).standard_normal(shape), dtype=getattr(t, dtype))
    weight.backward(cotangent)
    return [x.numpy() for x in (*found, weight.detach(), original.detach(), original.grad)]


def orthonormal(Q):
    """Whether the columns of tall matrices, the rows of wide ones, are."""
    Q = Q if Q.shape[-2] >= Q.shape[-1] else np.swapaxes(Q, -1, -2)
    products = np.swapaxes(Q.conj(), -1, -2) @ Q
    return np.allclose(products, np.eye(Q.shape[-1]), atol=1e-10)


@pytest.mark.parametrize("orthogonal_map", MAPS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_and_gradients(torch, shape, orthogonal_map):
    mine, theirs = (after(t, shape, orthogonal_map) for t in (ag, torch))
    assert orthonormal(mine[0])
    assert orthonormal(mine[1])
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("orthogonal_map", MAPS[:2])
def test_unitary_matrices(torch, orthogonal_map):
    mine, theirs = (after(t, (3, 3), orthogonal_map, "complex128") for t in (ag, torch))
    assert orthonormal(mine[1])
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_weight_that_is_orthogonal_already_stays(torch, shape):
    for t in (ag, torch):
        before = Held(t, shape, orthonormal=True).weight.detach().numpy()
        if orthonormal(before):
            module = Held(t, shape, orthonormal=True)
            t.nn.utils.parametrizations.orthogonal(module)
            np.testing.assert_allclose(module.weight.detach().numpy(), before, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reflections_around_the_identity(torch, shape):
    mine, theirs = (after(t, shape, "householder", use_trivialization=False) for t in (ag, torch))
    assert orthonormal(mine[1])
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


def assigned(t, use_trivialization, orthogonal_map):
    module = Held(t, (3, 3))
    t.nn.utils.parametrizations.orthogonal(module, orthogonal_map=orthogonal_map, use_trivialization=use_trivialization)
    module.weight = t.eye(3, dtype=t.float64)
    return module.weight.detach().numpy().round(12).tolist()


def wrongly_assigned(t):
    module = t.nn.utils.parametrizations.orthogonal(Held(t, (3, 3)))
    module.weight = t.ones(2, 2)


REFUSED = {
    "no weight": lambda t: t.nn.utils.parametrizations.orthogonal(t.nn.ReLU()),
    "a vector": lambda t: t.nn.utils.parametrizations.orthogonal(t.nn.Linear(2, 2), "bias"),
    "no such map": lambda t: t.nn.utils.parametrizations.orthogonal(t.nn.Linear(2, 2), orthogonal_map="qr"),
    "complex": lambda t: t.nn.utils.parametrizations.orthogonal(
        t.nn.Linear(2, 2, dtype=t.complex128), orthogonal_map="householder"
    ),
    "not invertible": lambda t: assigned(t, False, "cayley"),
    "invertible": lambda t: assigned(t, False, "householder"),
    "around a base": lambda t: assigned(t, True, "matrix_exp"),
    "another shape": wrongly_assigned,
    "repr": lambda t: repr(t.nn.utils.parametrizations.orthogonal(t.nn.Linear(2, 3))),
    "state": lambda t: list(t.nn.utils.parametrizations.orthogonal(t.nn.Linear(2, 3)).state_dict()),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_and_what_is_not(torch, case):
    found = []
    for t in (ag, torch):
        try:
            found.append(REFUSED[case](t))
        except Exception as error:
            found.append((type(error), str(error)))
    assert found[0] == found[1]
