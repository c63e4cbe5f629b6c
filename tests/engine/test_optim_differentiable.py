"""Gradients through the steps of optimizers (``differentiable=True``): values, first and second order are PyTorch's."""

import warnings

import numpy as np
import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for these numbers")


CASES = {
    "SGD": [
        {},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        {"momentum": 0.5, "dampening": 0.2, "maximize": True},
    ],
    "Adam": [{}, {"amsgrad": True, "weight_decay": 0.1}, {"maximize": True, "lr": 0.1}],
    "AdamW": [{"lr": 0.1}, {"amsgrad": True}],
    "RMSprop": [{}, {"momentum": 0.9, "centered": True}, {"weight_decay": 0.1, "centered": True}],
    "Adagrad": [{}, {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.2}],
    "Adadelta": [{}, {"rho": 0.5, "weight_decay": 0.1}],
    "Adamax": [{}, {"weight_decay": 0.1}],
    "NAdam": [{}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [{}, {"weight_decay": 0.1, "decoupled_weight_decay": True}, {"betas": (0.5, 0.6)}],
    "Rprop": [{}, {"etas": (0.3, 1.5)}],
    "ASGD": [{}, {"lambd": 0.1, "t0": 1}],
}
ALL = [(name, options) for name, cases in CASES.items() for options in cases]


def through_steps(t, name, options, dtype="float64"):
    """What comes of three steps, a loss of it, and its derivatives with respect to the two inputs."""
    start, weights = inputs(t, dtype)
    p = descended(t, name, options, start, weights)
    loss = (p.abs() ** 3).sum()
    first = t.autograd.grad(loss, [start, weights], create_graph=True)
    second = t.autograd.grad(sum((g.abs() ** 2).sum() for g in first), [start, weights])
    return [x.detach().numpy() for x in (p, *first, *second)]


def inputs(t, dtype="float64"):
    rng = np.random.default_rng(3)
    scale = 1 + 0.5j if "c" in dtype else 1.0
    return [t.tensor((rng.standard_normal(5) * scale).astype(dtype)).requires_grad_() for _ in range(2)]


def descended(t, name, options, start, weights):
    """``start`` after three steps by gradients that depend on ``start`` and ``weights``."""
    p = start.clone()
    optimizer = getattr(t.optim, name)([p], differentiable=True, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gradient of a tensor that is no leaf is set and read
        for _ in range(3):
            q = p.clone()  # what is saved of it stays as it is when the step writes to p
            inner = ((q * weights).abs() ** 2).sum() + ((q - 1).abs() ** 4).sum() * 0.1
            (p.grad,) = t.autograd.grad(inner, q, create_graph=True)
            optimizer.step()
    return p


@pytest.mark.parametrize(("name", "options"), ALL, ids=[f"{n} {o}" for n, o in ALL])
def test_gradients_through_three_steps(torch, name, options):
    found = through_steps(ag, name, options)
    try:
        expected = through_steps(torch, name, options)
    except RuntimeError as error:  # with some options PyTorch's own second step writes to what its first one saved
        assert "modified by an inplace operation" in str(error)
        assert ag.autograd.gradcheck(lambda *x: descended(ag, name, options, *x), inputs(ag), atol=1e-4)
        return
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=5e-6, atol=1e-9)  # PyTorch has some numbers in float32


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad"])
def test_complex_parameters(torch, name):
    for mine, theirs in zip(*(through_steps(t, name, {}, "complex128") for t in (ag, torch)), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=5e-6, atol=1e-9)


OPTIONS = [("SGD", "lr"), ("Adam", "lr"), ("AdamW", "lr"), ("SGD", "weight_decay")]


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_gradients_of_an_option(torch, name, option):
    found = []
    for t in (ag, torch):
        value = t.tensor(0.05, dtype=t.float64).requires_grad_()
        p = t.tensor([1.0, -2.0, 3.0], dtype=t.float64).requires_grad_().clone()
        optimizer = getattr(t.optim, name)([p], differentiable=True, **{option: value})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(3):
                (p.grad,) = t.autograd.grad(((p - 0.5) ** 2).sum(), p, create_graph=True)
                optimizer.step()
        (p**2).sum().backward()
        found.append((p.detach().numpy(), value.grad.numpy()))
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_a_leaf_cannot_be_stepped_differentiably(torch):
    for t in (ag, torch):
        p = t.ones(2).requires_grad_()
        p.grad = t.ones(2)
        with pytest.raises(
            RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"
        ):
            t.optim.SGD([p], differentiable=True).step()


def test_what_is_computed_before_a_step_cannot_be_run_backward_after_it(torch):
    for t in (ag, torch):
        p = t.ones(2).requires_grad_()
        optimizer = t.optim.SGD([p], lr=0.1)
        loss = (p * p).sum()
        p.grad = t.ones(2)
        optimizer.step()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
