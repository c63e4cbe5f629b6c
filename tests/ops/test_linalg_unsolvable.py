"""Matrices with a NaN or without full rank, beside PyTorch: where the answer is NaN, and where it is an error."""

import math

import numpy as np
import pytest

import agdbg_engine as ag

torch = pytest.importorskip("torch", reason="the yardstick")

CALLS = {
    "inv": lambda T, a: T.linalg.inv(a),
    "inv_ex": lambda T, a: T.linalg.inv_ex(a).inverse,
    "solve": lambda T, a: T.linalg.solve(a, T.ones(a.shape[-1], 2, dtype=a.dtype)),
    "solve for a vector": lambda T, a: T.linalg.solve(a, T.ones(a.shape[-1], dtype=a.dtype)),
    "solve from the right": lambda T, a: T.linalg.solve(a, T.ones(2, a.shape[-1], dtype=a.dtype), left=False),
    "solve of a batch": lambda T, a: T.linalg.solve(T.stack([T.eye(len(a), dtype=a.dtype), a]), T.ones_like(a)),
    "inv of a batch": lambda T, a: T.linalg.inv(T.stack([T.eye(len(a), dtype=a.dtype), a])),
    "tensorinv": lambda T, a: T.linalg.tensorinv(a.reshape(1, *a.shape), ind=2),
    "singular, too": lambda T, a: T.linalg.inv_ex(a * T.eye(len(a), dtype=a.dtype) * 0).inverse,
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("call", CALLS)
def test_a_nan_anywhere_in_a_matrix_is_everywhere_in_what_is_solved_of_it(call, dtype):
    for n in (1, 2, 3, 4):
        for at in np.ndindex(n, n):
            for start in (np.eye(n), np.tri(n) + n * np.eye(n), np.arange(n * n).reshape(n, n) ** 2 + np.eye(n)):
                data = start.astype(dtype)
                data[at] = math.nan
                if call == "singular, too" and at != (0, 0):
                    continue
                ours, theirs = CALLS[call](ag, ag.tensor(data)), CALLS[call](torch, torch.tensor(data))
                assert np.array_equal(np.isnan(ours.numpy()), theirs.isnan().numpy()), (data, ours, theirs)


def test_it_is_in_the_gradients_too():
    def gradients(T):
        a = T.tensor([[1.0, math.nan, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 1.0]], requires_grad=True)
        b = T.ones(3, requires_grad=True)
        T.linalg.solve(a, b).sum().backward()
        return str([a.grad.tolist(), b.grad.tolist()])

    assert gradients(ag) == gradients(torch)


def gels(T, a):
    return T.linalg.lstsq(a, T.ones(*a.shape[:-1], 1, dtype=a.dtype), driver="gels").solution


REFUSED = {
    "gels of a tall one": lambda T: gels(T, T.ones(3, 2)),
    "gels of a wide one": lambda T: gels(T, T.ones(2, 3)),
    "gels of a batch": lambda T: gels(T, T.stack([T.eye(3)[:, :2], T.ones(3, 2)])),
    "gels of a zero column": lambda T: gels(T, T.tensor([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])),
    "cholesky_inverse": lambda T: T.cholesky_inverse(T.tensor([[0.0, 0.0], [1.0, 3.0]])),
    "cholesky_inverse of an upper one": lambda T: T.cholesky_inverse(T.tensor([[1.0, 1.0], [0.0, 0.0]]), upper=True),
    "cholesky_inverse of a batch": lambda T: T.cholesky_inverse(T.stack([T.eye(2), T.zeros(2, 2)])),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_answer_is_refused_in_the_same_words(case):
    with pytest.raises(torch.linalg.LinAlgError) as theirs:
        REFUSED[case](torch)
    with pytest.raises(ag.linalg.LinAlgError) as ours:
        REFUSED[case](ag)
    assert str(ours.value).splitlines()[0] == str(theirs.value).splitlines()[0]


ANSWERED = {
    "zeros": lambda T: T.zeros(3, 2),
    "zeros in a batch": lambda T: T.stack([T.eye(3)[:2], T.zeros(2, 3)]),
    "of a large condition": lambda T: T.diag(T.tensor([1.0, 1e-5, 1e-9])),
    "nothing": lambda T: T.zeros(0, 3, 2),
}


@pytest.mark.parametrize("case", ANSWERED)
def test_gels_solves_for_zeros_and_whatever_the_condition(case):
    ours, theirs = (gels(T, ANSWERED[case](T)).numpy() for T in (ag, torch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
