"""L-BFGS goes PyTorch's way step by step, with and without a line search."""

import numpy as np
import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for these numbers")


def rosenbrock(t, params):
    x = t.cat([p.reshape(-1) for p in params])
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def quartic(t, params):
    return sum(((p - 0.5) ** 4 + 0.1 * (p * p).sum()).sum() for p in params)


def wavy(t, params):
    return sum((p.sin() * 3 + 0.1 * p * p).sum() for p in params)


FUNCTIONS = {"rosenbrock": rosenbrock, "quartic": quartic, "wavy": wavy}
OPTIONS = [
    {"lr": 1e-3, "max_iter": 5},
    {"lr": 0.01, "history_size": 2},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "history_size": 3, "max_iter": 7},
    {"line_search_fn": "strong_wolfe", "max_eval": 4, "lr": 0.5},
    {"line_search_fn": "strong_wolfe", "lr": 30.0, "max_iter": 10},
    {"max_iter": 1, "lr": 1e-3},
]


def run(t, function, options, state=False):
    params = [t.tensor(x, dtype=t.float64).requires_grad_() for x in ([[-1.2, 1.0], [0.3, 2.0]], -0.7)]
    optimizer = t.optim.LBFGS(params, **options)
    calls = 0

    def closure():
        nonlocal calls
        calls += 1
        optimizer.zero_grad()
        loss = FUNCTIONS[function](t, params)
        loss.backward()
        return loss

    found = []
    for _ in range(4):
        loss = optimizer.step(closure)
        found.append([loss.item(), calls, *(p.detach().numpy().copy() for p in params)])
        if state:
            found.append(optimizer.state_dict()["state"][0])
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_four_steps(torch, function, options):
    mine, theirs = (run(t, function, options) for t in (ag, torch))
    for a, b in zip(mine, theirs, strict=True):
        assert a[1] == b[1]
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-9)


def test_in_single_precision_parameters_move_to_the_last_digit_like_torchs(torch):
    rng = np.random.default_rng(0)
    start, ends = [rng.standard_normal(s).astype(np.float32) for s in ((40, 20), (), (0,), (7,))], []
    for t in (ag, torch):
        params = [t.tensor(x).requires_grad_() for x in start]
        optimizer = t.optim.LBFGS(params, lr=3e3, max_iter=1)

        def closure(params=params, optimizer=optimizer):
            optimizer.zero_grad()
            loss = 1e-4 * sum((p * p).sum() for p in params)  # so flat that the first step is lr itself
            loss.backward()
            return loss

        optimizer.step(closure)
        ends.append(np.concatenate([p.detach().numpy().ravel() for p in params]))
    np.testing.assert_array_max_ulp(
        *ends, maxulp=1
    )  # by the processor PyTorch rounds a product and a sum once or twice


def kinds(value):
    if isinstance(value, dict):
        return {k: kinds(v) for k, v in value.items()}
    if isinstance(value, list):
        return [kinds(v) for v in value]
    return (
        type(value).__name__,
        getattr(value, "shape", None),
        str(getattr(value, "dtype", "")).removeprefix("torch."),
    )


def test_the_state_is_laid_out_like_torchs(torch):
    mine, theirs = (run(t, "rosenbrock", OPTIONS[2], state=True) for t in (ag, torch))
    for a, b in zip(mine[1::2], theirs[1::2], strict=True):
        assert kinds(a) == kinds(b)


def test_what_is_refused(torch):
    for t in (ag, torch):
        p, q = (t.ones(2).requires_grad_() for _ in range(2))
        with pytest.raises(ValueError, match="LBFGS doesn't support per-parameter options"):
            t.optim.LBFGS([{"params": [p]}, {"params": [q]}])
        with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
            optimizer = t.optim.LBFGS([p], line_search_fn="golden")

            def closure(p=p):
                loss = (p * p).sum()
                loss.backward()
                return loss

            optimizer.step(closure)
        with pytest.raises(TypeError, match="closure"):
            t.optim.LBFGS([p]).step()


def test_complex_parameters(torch):
    found = []
    for t in (ag, torch):
        p = t.tensor([1 + 2j, -0.5j], dtype=t.complex128).requires_grad_()
        optimizer = t.optim.LBFGS([p], line_search_fn="strong_wolfe")

        def closure(p=p, optimizer=optimizer, t=t):
            optimizer.zero_grad()
            loss = ((p - (0.3 + 0.1j)).abs() ** 4).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        found.append(p.detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-6)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_parameters_of_two_dtypes(torch, search):
    found = []
    for t in (ag, torch):
        x, y = t.ones(3, requires_grad=True), t.ones(2, dtype=t.float64, requires_grad=True)
        optimizer = t.optim.LBFGS([x, y], lr=0.1, max_iter=4, line_search_fn=search)

        def closure(x=x, y=y, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (x * x).sum().double() * 2 + (y - 3).pow(2).sum() + x.sum() * y.sum()
            loss.backward()
            return loss

        for _ in range(2):
            optimizer.step(closure)
        assert (x.dtype, y.dtype) == (t.float32, t.float64)
        found.append([*x.tolist(), *y.tolist()])
    np.testing.assert_allclose(*found, rtol=1e-5)
