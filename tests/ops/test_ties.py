"""Which of equal elements a selection names, and so where its gradient goes: those that PyTorch names."""

import numpy as np
import pytest

import agdbg_engine as ag

torch = pytest.importorskip("torch", reason="the tests compare with it")

SELECTIONS = {
    "median": lambda x, k: x.median(-1),
    "nanmedian": lambda x, k: x.nanmedian(-1, keepdim=True),
    "kthvalue": lambda x, k: x.kthvalue(k),
    "topk": lambda x, k: x.topk(k),
    "topk smallest": lambda x, k: x.topk(k, largest=False),
    "mode": lambda x, k: x.mode(-1),
}


def rows_with_ties(n, seed):
    """Rows of ``n`` elements of which few, some or most are equal."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.integers(0, most, (8, n)) for most in (1, 2, 4, 50)]).astype(np.float64)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 16, 17, 33, 130, 700])
@pytest.mark.parametrize("name", SELECTIONS)
def test_of_equal_elements_the_same_is_named(name, n):
    x = rows_with_ties(n, seed=n)
    for k in {n // 60 + 1, n // 3 + 1, n - 1, n}:
        theirs, ours = (SELECTIONS[name](t.tensor(x), k) for t in (torch, ag))
        assert ours.values.tolist() == theirs.values.tolist()
        assert ours.indices.tolist() == theirs.indices.tolist(), k


@pytest.mark.parametrize("name", ["median", "kthvalue", "topk", "topk smallest"])
def test_nan_are_equal(name):
    x = rows_with_ties(20, seed=3)
    x[np.random.default_rng(1).random(x.shape) < 0.2] = np.nan
    assert SELECTIONS[name](ag.tensor(x), 13).indices.tolist() == SELECTIONS[name](torch.tensor(x), 13).indices.tolist()


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("name", ["median", "nanmedian", "kthvalue", "topk", "mode"])
def test_gradient_along_every_dimension(name, dim):
    a = rows_with_ties(18, seed=5)[:24].reshape(6, 4, 18)
    arguments = (2, dim) if name in ("kthvalue", "topk") else (dim,)
    grads = []
    for t in (torch, ag):
        x = t.tensor(a, requires_grad=True)
        values = getattr(x, name)(*arguments).values
        (values * t.arange(1.0, values.numel() + 1).reshape(values.shape)).sum().backward()
        grads.append(x.grad.tolist())
    assert grads[0] == grads[1]


def test_rows_without_ties_and_one_element_of_many():
    x = np.concatenate([np.arange(200.0)[::-1], [199.0, 199.0]])
    assert ag.tensor(x).topk(1).indices.tolist() == torch.tensor(x).topk(1).indices.tolist() == [0]
    assert ag.tensor(x[:200]).kthvalue(7).indices.item() == 193


@pytest.mark.parametrize("arranged", ["as they come", "rising", "falling"])
def test_mode_of_long_rows(arranged):
    x = rows_with_ties(6000, seed=8)[::4]
    if arranged != "as they come":
        x = np.sort(x, -1)[:, :: 1 if arranged == "rising" else -1].copy()
    theirs, ours = torch.tensor(x).mode(-1), ag.tensor(x).mode(-1)
    assert ours.values.tolist() == theirs.values.tolist()
    assert ours.indices.tolist() == theirs.indices.tolist()
