"""Reductions of the pieces of a dimension against PyTorch's: values and gradients with ties, zeros and empty pieces; errors."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is the reference here")

import torch

import agdbg_engine as engine

CASES = {
    "vector": ((5,), 0, [2, 0, 3, 0], False),
    "matrix": ((5, 3), 0, [0, 1, 2, 2], False),
    "rest left out": ((10, 2, 3), 0, [1, 2, 0, 6, 0], True),
    "a part": ((3, 2), 0, [1, 1], True),
    "rows apart": ((3, 5), 1, [[2, 0, 3], [0, 1, 4], [1, 1, 3]], False),
    "with more dimensions": ((2, 5, 3), 1, [[0, 1, 2, 2], [5, 0, 0, 0]], False),
}


@pytest.mark.parametrize("initial", [None, 1, -0.5])
@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("by", ["lengths", "offsets"])
@pytest.mark.parametrize("case", CASES)
def test_value_and_gradient(case, by, reduce, initial):
    shape, axis, lengths, unsafe = CASES[case]
    pieces = np.array(lengths)
    if by == "offsets":
        pieces = np.concatenate([0 * pieces[..., :1], pieces], -1).cumsum(-1)
    numbers = np.round(np.random.default_rng(0).standard_normal(shape))
    found = []
    for library in (engine, torch):
        x = library.from_numpy(numbers.copy()).requires_grad_()
        how = {by: library.from_numpy(pieces), "axis": axis, "unsafe": unsafe, "initial": initial}
        y = library.segment_reduce(x, reduce, **how)
        weights = library.arange(1, y.numel() + 1, dtype=library.float64).reshape(y.shape)
        (g,) = library.autograd.grad((y.masked_fill(~library.isfinite(y), 0.0) * weights).sum(), x)
        found.append((y.detach().numpy(), g.numpy()))
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-14)


NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("coming", [[NAN, 1.0], [1.0, INF], [1.0, 2.0]], ids=str)
@pytest.mark.parametrize(
    "x", [[1.0, 2.0, 3.0, NAN, 5.0], [2.0, 2.0, 3.0, 4.0, 3.0], [2.0, 2.0, NAN, NAN, -INF]], ids=str
)
@pytest.mark.parametrize("initial", [None, 3.0])
@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
def test_what_comes_in_reaches_what_is_chosen(reduce, initial, x, coming):
    found = []
    for library in (engine, torch):
        t = library.tensor(x, dtype=library.float64, requires_grad=True)
        y = library.segment_reduce(t, reduce, lengths=library.tensor([2, 3]), initial=initial)
        found.append(library.autograd.grad(y, t, library.tensor(coming, dtype=library.float64))[0].tolist())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
def test_the_result_is_new_and_its_node_is_that_of_pytorch(reduce):
    found = []
    for library in (engine, torch):
        x, lengths = library.arange(1.0, 7.0, requires_grad=True), library.tensor([2, 4])
        y = library.segment_reduce(x * 1, reduce, lengths=lengths, initial=2)
        node = y.grad_fn
        told = [y._is_view(), node.name(), node.next_functions[0][0].name(), node._saved_reduce, node._saved_axis]
        told += [node._saved_initial, node._saved_offsets, node._saved_lengths.tolist(), node._saved_result.tolist()]
        for what in ("data", "result", "lengths"):
            data, lengths = x * 1, library.tensor([2, 4])
            y = library.segment_reduce(data, reduce, lengths=lengths)
            {"data": data, "result": y, "lengths": lengths}[what].mul_(2)
            with pytest.raises(RuntimeError) as raised:
                y.sum().backward()
            told.append(str(raised.value).split("\n")[0])
        found.append(told)
    assert found[0] == found[1]


@pytest.mark.parametrize("initial", [None, 1.2])
@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("case", ["vector", "a part"])
def test_forward_mode_and_second_derivatives(case, reduce, initial):
    shape, axis, lengths, unsafe = CASES[case]
    x = engine.from_numpy(np.random.default_rng(0).standard_normal(shape)).requires_grad_()

    def reduced(x):
        y = engine.segment_reduce(x, reduce, lengths=engine.tensor(lengths), axis=axis, unsafe=unsafe, initial=initial)
        return y.masked_fill(~y.isfinite(), 0.0)

    assert engine.autograd.gradcheck(reduced, x, check_forward_ad=True)
    assert engine.autograd.gradgradcheck(lambda x: reduced(x).sin(), x, check_fwd_over_rev=True)


def test_no_pieces():
    found = []
    for library in (engine, torch):
        x = library.ones(2, 3, requires_grad=True)
        y = library.segment_reduce(x, "mean", lengths=library.zeros(0, dtype=library.int64), unsafe=True)
        y.sum().backward()
        found.append((y.tolist(), x.grad.tolist(), tuple(y.shape)))
    assert found[0] == found[1]


@pytest.mark.parametrize("coming", [1.0, -1.0, NAN])
@pytest.mark.parametrize("x", [[NAN, 2.0, 3.0, 0.0], [NAN, NAN, 2.0, 3.0], [0.0, NAN, 0.0, 1.0]], ids=str)
@pytest.mark.parametrize("lengths", [[2, 2], [4], [0, 3, 1]], ids=str)
@pytest.mark.parametrize("initial", [None, 2.0])
def test_product_with_numbers_that_are_none(initial, lengths, x, coming):
    found = []
    for library in (engine, torch):
        t = library.tensor(x, dtype=library.float64, requires_grad=True)
        y = library.segment_reduce(t, "prod", lengths=library.tensor(lengths), initial=initial)
        found.append(library.autograd.grad(y, t, library.full_like(y, coming))[0].tolist())
    np.testing.assert_array_equal(*found)


ERRORS = """
R(x, "sum")
R(x, "median", lengths=L([6]))
R(x, "sum", lengths=L([5]))
R(x, "sum", lengths=L([-1, 7]))
R(x, "sum", lengths=L([2, 4.]))
R(x, "sum", lengths=L([2, 4]), axis=1)
R(x.reshape(2, 3), "sum", lengths=L([1, 1]), axis=1)
R(x.long(), "sum", lengths=L([6]))
R(x, "sum", lengths=L([6]), indices=L([0, 6]))
""".strip().split("\n")


@pytest.mark.parametrize("text", ERRORS)
def test_errors_are_in_the_words_of_pytorch(text):
    found = []
    for library in (engine, torch):
        names = {"L": library.tensor, "R": library.segment_reduce, "x": library.arange(6, dtype=library.float32)}
        with pytest.raises(Exception) as caught:
            eval(text, names)
        found.append((caught.type, str(caught.value).split("\n")[0]))
    assert found[0] == found[1]
