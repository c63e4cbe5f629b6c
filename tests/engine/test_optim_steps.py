"""Every optimizer with every option: parameters and state are PyTorch's after each of ten steps, to rounding."""

import numpy as np
import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for these numbers")


COMMON = [{}, {"maximize": True}, {"lr": 0.05}, {"foreach": False}]
DECAY = [{"weight_decay": 0.1}, {"weight_decay": 0.1, "maximize": True}]
OPTIONS = {
    "SGD": [
        *COMMON, *DECAY, {"fused": False}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}, {"momentum": 0.5, "maximize": True},
    ],
    "Adam": [
        *COMMON, *DECAY, {"amsgrad": True}, {"betas": (0.7, 0.95), "eps": 1e-3}, {"weight_decay": 0.1, "amsgrad": True},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
    ],
    "AdamW": [*COMMON, *DECAY, {"amsgrad": True}, {"weight_decay": 0}, {"lr": 0.1, "betas": (0.5, 0.6)}],
    "RMSprop": [
        *COMMON, *DECAY, {"alpha": 0.5}, {"momentum": 0.9}, {"centered": True}, {"centered": True, "momentum": 0.5, "eps": 1e-3},
    ],
    "Adagrad": [*COMMON, *DECAY, {"lr_decay": 0.1}, {"initial_accumulator_value": 0.5}, {"eps": 0.1}],
    "Adadelta": [*COMMON, *DECAY, {"rho": 0.5}, {"eps": 1e-2}],
    "Adamax": [*COMMON, *DECAY, {"betas": (0.5, 0.7)}, {"eps": 0.1}],
    "NAdam": [
        *COMMON, *DECAY, {"momentum_decay": 0.1}, {"betas": (0.5, 0.7)}, {"decoupled_weight_decay": True, "weight_decay": 0.1},
    ],
    "RAdam": [*COMMON, *DECAY, {"betas": (0.5, 0.7)}, {"decoupled_weight_decay": True, "weight_decay": 0.1}, {"eps": 0.1}],
    "Rprop": [*COMMON, {"etas": (0.3, 1.5)}, {"step_sizes": (1e-2, 0.05)}, {"lr": 0.5, "step_sizes": (1e-6, 1)}],
    "ASGD": [*COMMON, *DECAY, {"lambd": 0.1}, {"t0": 3}, {"t0": 2, "alpha": 0.3, "lr": 0.1}],
}  # fmt: skip
CASES = [(name, options) for name, cases in OPTIONS.items() for options in cases]
IDS = [f"{name} {options}" for name, options in CASES]


def values(state):
    return {k: np.array(v.detach().numpy() if hasattr(v, "detach") else v) for k, v in state.items()}


def run(t, name, options, shapes, dtype, steps=10):
    """Parameters and states after every step."""
    rng = np.random.default_rng(1)
    numbers = [
        np.asarray(rng.standard_normal(s) + (1j * rng.standard_normal(s) if "c" in dtype else 0)) for s in shapes
    ]
    params = [t.tensor(x.astype(dtype)).requires_grad_() for x in numbers]
    optimizer = getattr(t.optim, name)(params, **options)
    found = []
    for step in range(steps):
        for i, p in enumerate(params):
            if i == 2 and step < 3:
                continue  # it has no gradient yet
            g = np.asarray(rng.standard_normal(p.shape) * 10.0 ** rng.integers(-2, 2) + p.detach().numpy())
            p.grad = t.tensor(g.astype(dtype)) * (0 if step == 4 and i == 1 else 1)
        optimizer.step()
        found.append([p.detach().numpy().copy() for p in params])
        found.append([values(state) for state in optimizer.state_dict()["state"].values()])
    return found


def agree(mine, theirs, rtol):
    if isinstance(theirs, dict):
        assert list(mine) == list(theirs)
        mine, theirs = list(mine.values()), list(theirs.values())
    if isinstance(theirs, list):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            agree(a, b, rtol)
    else:
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_ten_steps(torch, name, options):
    shapes = [(3, 4), (5,), (), (2, 0)]
    agree(*(run(t, name, options, shapes, "float64") for t in (ag, torch)), 1e-12)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_other_dtypes(torch, name, dtype):
    options = OPTIONS[name][-1]
    rtol = 2e-5 if dtype == "float32" else 1e-12
    agree(*(run(t, name, options, [(3, 4), ()], dtype) for t in (ag, torch)), rtol)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_large_parameter_and_one_laid_out_by_columns(torch, name):
    found = []
    for t in (ag, torch):
        rng = np.random.default_rng(2)
        big, across = (t.tensor(rng.standard_normal(s)) for s in ((300, 130), (7, 5)))
        params = [big.requires_grad_(), across.t().requires_grad_()]
        optimizer = getattr(t.optim, name)(params, **OPTIONS[name][-1])
        for _ in range(3):
            for p in params:
                p.grad = t.tensor(rng.standard_normal(p.shape))
            optimizer.step()
        found.append([p.detach().numpy() for p in params])
    agree(*found, 1e-12)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("foreach", [False, True])
def test_a_rate_that_is_a_tensor(torch, name, dtype, foreach):
    """PyTorch computes with it in its dtype: the eighth digit shows whether that is done here."""
    if foreach and name in ("Adam", "AdamW"):
        pytest.skip("PyTorch refuses it")
    found = []
    for t in (ag, torch):
        p = t.tensor(np.arange(3.0)).requires_grad_()
        optimizer = getattr(t.optim, name)([p], lr=t.tensor([0.1], dtype=getattr(t, dtype)), foreach=foreach)
        for _ in range(8):
            p.grad = p.detach() - 1
            optimizer.step()
        found.append([p.detach().numpy(), *map(values, optimizer.state_dict()["state"].values())])
    agree(*found, 1e-12)


@pytest.mark.parametrize("foreach", [False, True])
def test_asgd_with_state_that_was_loaded(torch, foreach):
    """Its rate is rounded as before, although loading has made it float64."""
    found = []
    for t in (ag, torch):
        p = t.tensor(np.arange(3.0)).requires_grad_()
        optimizer = t.optim.ASGD([p], lr=0.1, lambd=0.1, t0=2, foreach=foreach)
        for step in range(9):
            p.grad = p.detach() - 1
            optimizer.step()
            if step == 2:
                state, optimizer = optimizer.state_dict(), t.optim.ASGD([p])
                optimizer.load_state_dict(state)
        found.append([p.detach().numpy(), *map(values, optimizer.state_dict()["state"].values())])
    agree(*found, 1e-14)


def test_rprop_knows_no_weight_decay(torch):
    """A group's option of that name is read by nobody."""
    found = []
    for t in (ag, torch):
        p = t.tensor(np.arange(3.0)).requires_grad_()
        optimizer = t.optim.Rprop([{"params": [p], "weight_decay": 0.5}])
        for _ in range(3):
            p.grad = p.detach() - 1
            optimizer.step()
        found.append([p.detach().numpy(), *map(values, optimizer.state_dict()["state"].values())])
    agree(*found, 0)


@pytest.mark.parametrize("name", OPTIONS)
def test_recorded_steps_go_one_parameter_after_the_other(torch, name):
    found = []
    for t in (ag, torch):
        p = t.ones(2, requires_grad=True).clone()
        p.retain_grad()
        optimizer = getattr(t.optim, name)([p], foreach=True, differentiable=True)
        p.grad = t.ones(2)
        try:
            optimizer.step()
            found.append("")
        except AssertionError as e:
            found.append(str(e))
    assert found[0] == found[1]
