"""Products beyond the samples of test_op_db.py: errors, what einsum understands, multiples that leave the operand out."""

import math

import numpy as np
import pytest

import agdbg_engine as ag

ERRORS = {
    "fewer operands": ("ij,jk", [(2, 3)], "einsum(): fewer operands were provided than specified in the equation"),
    "more operands": ("ij", [(2, 3), (2, 3)], "einsum(): more operands were provided than specified in the equation"),
    "an output that is not there": (
        "ij->ik",
        [(2, 3)],
        "einsum(): output subscript k does not appear in the equation for any input operand",
    ),
    "twice in the output": ("ij->ii", [(2, 3)], "einsum(): output subscript i appears more than once in the output"),
    "too few subscripts": (
        "i",
        [(2, 3)],
        "einsum(): the number of subscripts in the equation (1) does not match the number of dimensions (2) for operand 0 and "
        "no ellipsis was given",
    ),
    "sizes": (
        "ij,jk->ik",
        [(2, 3), (2, 3)],
        "einsum(): subscript j has size 2 for operand 1 which does not broadcast with previously seen size 3",
    ),
    "no diagonal": (
        "ii",
        [(2, 3)],
        "einsum(): subscript i is repeated for operand 0 but the sizes don't match, 3 != 2",
    ),
    "a digit": (
        "i1",
        [(2, 3)],
        "einsum(): invalid subscript given at index 1 in the equation string, subscripts must be in [a-zA-Z]",
    ),
    "a dot": ("i.j", [(2, 3)], "einsum(): found '.' for operand 0 that is not part of any ellipsis"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_equations_that_mean_nothing(case):
    equation, shapes, text = ERRORS[case]
    with pytest.raises(RuntimeError) as caught:
        ag.einsum(equation, *(ag.ones(*s) for s in shapes))
    assert str(caught.value).splitlines()[0] == text


EQUATIONS = {
    "ij,jk": [(2, 3), (3, 4)],
    "ij,jk->ki": [(2, 3), (3, 4)],
    "bij,bjk->bik": [(5, 2, 3), (5, 3, 4)],
    "...ij,...jk->...ik": [(2, 1, 2, 3), (5, 3, 4)],
    "i,j,k->kji": [(2,), (3,), (4,)],
    "ij,jk,kl->il": [(2, 3), (3, 4), (4, 5)],
    "ii->i": [(3, 3)],
    "iij,jk->ik": [(3, 3, 2), (2, 4)],
    "i,i": [(3,), (3,)],
    "ij->": [(2, 3)],
    "...i->i": [(2, 2, 3)],
    "bhqd,bhkd->bhqk": [(2, 2, 3, 4), (2, 2, 5, 4)],
    "bn,anm,bm->ba": [(2, 3), (5, 3, 4), (2, 4)],
    " i j , j -> i ": [(2, 3), (3,)],
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum_agrees_with_numpy(equation):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=s) for s in EQUATIONS[equation]]
    want = np.einsum(equation if "..." not in equation or "i->i" not in equation else "abi->i", *arrays)
    got = ag.einsum(equation, *map(ag.tensor, arrays))
    assert np.allclose(got.numpy(), want)


def test_einsum_with_lists_of_subscripts():
    a, b = ag.ones(2, 3), ag.ones(3, 4)
    assert ag.einsum(a, [0, 1], b, [1, 2], [2, 0]).shape == (4, 2)
    assert ag.einsum(a, [..., 0], [0]).tolist() == [2, 2, 2]


def test_dimensions_of_size_one_broadcast():
    a = ag.ones(1, 3)
    assert ag.einsum("ij,ij->i", a, ag.ones(2, 3)).tolist() == [3, 3]


def test_what_is_multiplied_by_zero_is_not_read():
    nan = ag.full((2, 2), math.nan)
    for found in (
        ag.addmm(nan, ag.ones(2, 2), ag.ones(2, 2), beta=0),
        ag.addmv(nan[0], ag.ones(2, 2), ag.ones(2), beta=0),
        ag.baddbmm(nan[None], ag.ones(1, 2, 2), ag.ones(1, 2, 2), beta=0),
        ag.addbmm(nan, ag.ones(1, 2, 2), ag.ones(1, 2, 2), beta=0),
    ):
        assert set(found.flatten().tolist()) == {2}


def test_integers_are_multiplied_by_whole_numbers():
    x = ag.ones(2, dtype=ag.int64)
    assert ag.addmv(x, ag.ones(2, 2, dtype=ag.int64), x, beta=1.7).tolist() == [3, 3]
    with pytest.raises(
        RuntimeError, match="For integral input tensors, argument beta must not be a floating point number"
    ):
        ag.addr(ag.ones(2, 2, dtype=ag.int64), x, x, beta=0.5)


@pytest.mark.parametrize("factors", [(2, 3), (0.5j, 1 - 2j)])
def test_factors_are_conjugated_in_gradients(factors):
    beta, alpha = factors
    rng = np.random.default_rng(0)
    x, a, b = (ag.tensor(rng.normal(size=(2, 2)) + 1j, requires_grad=True) for _ in range(3))
    got = ag.autograd.grad(ag.addmm(x, a, b, beta=beta, alpha=alpha).abs().sum(), (x, a, b))
    want = ag.autograd.grad((x * ag.tensor(beta + 0j) + a @ b * ag.tensor(alpha + 0j)).abs().sum(), (x, a, b))
    assert all(np.allclose(g.numpy(), w.numpy()) for g, w in zip(got, want, strict=True))


def test_a_sum_in_place():
    x = ag.ones(2, 2)
    assert x.addmm_(ag.ones(2, 2), ag.ones(2, 2), beta=2, alpha=3) is x
    assert x.tolist() == [[8, 8], [8, 8]]


def test_contracted_dimensions_must_fit():
    with pytest.raises(RuntimeError, match="contracted dimensions need to match, but first has size 3 in dim -1"):
        ag.tensordot(ag.ones(2, 3), ag.ones(2, 3), 1)


@pytest.mark.parametrize("turn", ["as made", "input transposed", "weight transposed"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("rows", [0, 1, 3, 75, 76, 200])
def test_a_layer_on_few_and_many_rows(rows, dtype, turn):
    """A large weight is multiplied in another order for few rows; values and layout are those of PyTorch."""
    torch = pytest.importorskip("torch", reason="PyTorch is the reference for these numbers")
    rng = np.random.default_rng(rows)
    x, w, b = (rng.standard_normal(s).astype(dtype) for s in ((rows, 500), (300, 500), (300,)))
    x = np.asfortranarray(x) if turn == "input transposed" else x
    w = np.asfortranarray(w) if turn == "weight transposed" else w
    ours, theirs = (t.nn.functional.linear(*(t.from_numpy(a) for a in (x, w, b))) for t in (ag, torch))
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4, atol=1e-4)
    assert not rows or ours.stride() == theirs.stride()
