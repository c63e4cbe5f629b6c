"""Indexing and scattering where samples do not reach: repeated, negative and wrong indices, ties, zeros, views, what has no gradient."""

import warnings

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is the reference here")

import torch

import agdbg_engine as engine

ERRORS = """
x.index_select(0, L([0, 5]))
x.index_select(0, L([-1]))
x.index_select(0, L([[0]]))
x.index_select(0, L([0.]))
L(3.).index_select(0, L([0, 0]))
x.index_add(0, L([0, 5]), x)
x.index_add(0, L([0]), x)
x.index_add(0, L([0, 1]), x.long())
x.index_add(0, L([[0, 1]]), x)
x.index_add(0, L([0, 1]), x[:, :2])
x.index_add(0, L([0, 1]), L(2.))
x.index_copy(0, L([-1, 0]), x)
x.index_copy(0, L([0]), x)
x.index_copy(0, L([0, 1]), x[0])
x.index_copy(0, L([0, 1]), x[:, :2])
x.index_fill(0, L([0, -3]), 1.)
x.index_fill(0, L([0]), L([1.]))
x.index_fill(0, L([0]), 1j)
x.index_reduce(0, L([0, 1]), x, "sum")
x.index_reduce(0, L([0, 5]), x, "prod")
x.scatter(0, L([[0, 5]]), x)
x.scatter(0, L([[0, -1]]), 1.)
x.scatter(0, L([0, 1]), x)
x.scatter(0, L([[0] * 4]), x)
x.scatter(0, L([[0]]), x.long())
x.scatter(0, L([[0]]), 2., reduce="mean")
x.scatter_add(0, L([[0]]), 2.)
x.scatter_reduce(0, L([[0]]), x, "foo")
(x > 1).scatter_reduce(0, L([[0]]), x > 1, "mean")
x.gather(0, L([[0, -1]]))
x.take(L([0, 9]))
x.take(L([0, -7]))
torch.zeros(0).take(L([0]))
x.put(L([0, 1]), L([1., 2, 3]))
x.put(L([0, 1]), L([1, 2]))
torch.take_along_dim(x, L([0]), 0)
torch.take_along_dim(x, L([[0., 1, 1]]), 0)
x.masked_select(L([1]))
x.masked_select(L([True, False]))
x.masked_scatter(x > 1, L([1.]))
x.masked_scatter(x > 1, L([1, 2, 3, 4]))
x.repeat_interleave(-1)
x.repeat_interleave(L([1, 2]))
x.repeat_interleave(L([1, -2]), 0)
x.repeat_interleave(2, 0, output_size=5)
torch.nonzero_static(x, size=-1)
torch.nn.functional.one_hot(L([0, 2]), 2)
torch.nn.functional.one_hot(L([0, -2]))
torch.nn.functional.one_hot(L([0.]))
torch.unravel_index(L([1.]), (2, 3))
torch.unravel_index(L([1]), (2, -3))
x.__setitem__(L([True, False, True]), 1.)
x.__setitem__(L([0, 1]), L([1., 2., 3., 4.]))
x.__setitem__(L([0, 7]), 1.)
x.requires_grad_().__setitem__(L([True, False, True]), 1.)
x.requires_grad_().__setitem__(L([0, 1]), L([1., 2., 3., 4.]))
x.requires_grad_().__setitem__(L([0, 7]), 1.)
x.requires_grad_().index_put_((L([0, 1]),), L([1., 2., 3., 4.]))
x.requires_grad_().index_put_((L([True, False, True]),), L([1.]))
""".strip().split("\n")

VALUES = """
x.index_fill(0, L([0, -1]), 1.)
x.index_add(0, L(0), x[:1])
L(1.).index_add(0, L(0), L(2.))
L(1.).index_copy(0, L(0), L(2.))
x.scatter(0, L([], dtype=torch.int64), x)
L(1.).scatter(0, L([0]), L([2.]))
x.take(L([[0, -6], [-1, 3]]))
x.put(L([0, -6, 0]), L([1., 2, 3]), True)
torch.take_along_dim(x, L([[0, 1, -1]]), 0)
torch.repeat_interleave(L([1, 0, 2]))
x.repeat_interleave(L([2]), 0)
torch.nonzero(L(1.))
torch.nonzero(L(0.))
torch.where(x > 2)
torch.where(L(1.))
torch.nonzero(L(1.), as_tuple=True)
torch.nonzero_static(x, size=7, fill_value=-5)
torch.nn.functional.one_hot(L([[0], [2]]))
torch.unravel_index(L([5, -1]), (2, 3))
L([-7, 3, 4]).scatter_reduce(0, L([0, 0, 1]), L([2, 2, 4]), "mean")
""".strip().split("\n")


def outcome(library, text):
    x = library.arange(6, dtype=library.float32).reshape(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = eval(text, {"L": library.tensor, "torch": library, "x": x})
        except Exception as error:
            return type(error), str(error).split("\n")[0]
    return [
        (t.tolist(), tuple(t.shape), str(t.dtype).removeprefix("torch."))
        for t in (found if type(found) is tuple else (found,))
    ]


@pytest.mark.parametrize("text", ERRORS)
def test_errors_are_in_the_words_of_pytorch(text):
    theirs = outcome(torch, text)
    assert isinstance(theirs, tuple), "PyTorch refuses it"
    assert outcome(engine, text) == theirs


@pytest.mark.parametrize("text", VALUES)
def test_values_at_the_edges(text):
    assert outcome(engine, text) == outcome(torch, text)


REPEATED = {
    "index_select": lambda t, x, s: x.index_select(0, t.tensor([1, 1, 0, 1])) ** 3,
    "index_add": lambda t, x, s: x.index_add(0, t.tensor([1, 1]), s, alpha=-2) ** 3,
    "index_fill": lambda t, x, s: x.index_fill(0, t.tensor([1, 1]), s[0, 0]) ** 3,
    "scatter_add": lambda t, x, s: x.scatter_add(1, t.tensor([[0, 0, 2], [1, 1, 1]]), s) ** 3,
    "take": lambda t, x, s: x.take(t.tensor([[0, 5], [-1, 0]])) ** 3,
    "put": lambda t, x, s: x.put(t.tensor([0, 0, 3]), s[0], accumulate=True) ** 3,
    "masked_select": lambda t, x, s: x.masked_select(t.tensor([True, False, True])) ** 3,
    "masked_scatter": lambda t, x, s: x.masked_scatter(t.tensor([[True], [False]]), s) ** 3,
    "repeat_interleave": lambda t, x, s: x.repeat_interleave(t.tensor([2, 3]), 0) ** 3,
    **{
        f"scatter_reduce {how} {kept}": lambda t, x, s, how=how, kept=kept: (
            x.scatter_reduce(0, t.tensor([[0, 1, 0], [0, 1, 1]]), s, how, include_self=kept) ** 2
        )
        for how in ("sum", "prod", "mean", "amax", "amin")
        for kept in (True, False)
    },
    **{
        f"index_reduce {how} {kept}": lambda t, x, s, how=how, kept=kept: (
            x.index_reduce(0, t.tensor([1, 1]), s, how, include_self=kept) ** 2
        )
        for how in ("prod", "mean", "amax", "amin")
        for kept in (True, False)
    },
}


def derivatives(library, function, x, s):
    """Value, gradients, and those of a product of theirs."""
    x, s = (library.tensor(v, dtype=library.float64, requires_grad=True) for v in (x, s))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = function(library, x, s)
    weights = library.arange(1, out.numel() + 1, dtype=library.float64).reshape(out.shape)
    grads = library.autograd.grad((out * weights).sum(), (x, s), create_graph=True, allow_unused=True)
    first = [g for g in grads if g is not None]
    second = library.autograd.grad(sum((g**2).sum() for g in first), (x, s), allow_unused=True)
    return [None if t is None else t.detach().numpy() for t in (out, *grads, *second)]


@pytest.mark.parametrize("name", REPEATED)
def test_repeated_indices(name):
    x, s = [[1.0, 2.0, 3.0], [2.0, -1.0, 0.5]], [[1.0, -2.0, 3.0], [0.25, 5.0, 0.5]]
    for mine, theirs in zip(*(derivatives(lib, REPEATED[name], x, s) for lib in (engine, torch)), strict=True):
        if theirs is None or mine is None:
            assert not np.any(mine if theirs is None else theirs)
        else:
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


TIES = [[1.0, 0.0, 3.0], [2.0, 0.0, 0.0]], [[1.0, 0.0, 3.0], [0.0, 5.0, 0.0]]


@pytest.mark.parametrize("name", [n for n in REPEATED if "reduce" in n])
def test_ties_and_zeros_have_the_gradient_of_pytorch(name):
    found = []
    for library in (engine, torch):
        x, s = (library.tensor(v, dtype=library.float64, requires_grad=True) for v in TIES)
        out = REPEATED[name](library, x, s)
        found.append([g.numpy() for g in library.autograd.grad((out + out**0.5).sum(), (x, s))])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_two_zeros_in_one_place_have_no_second_derivative():
    for library in (engine, torch):
        x = library.ones(2, dtype=library.float64, requires_grad=True)
        s = library.zeros(3, dtype=library.float64, requires_grad=True)
        out = x.scatter_reduce(0, library.tensor([0, 0, 1]), s, "prod")
        (g,) = library.autograd.grad(out.sum(), s, create_graph=True)
        with pytest.raises(RuntimeError, match="Double backward is unsupported for src"):
            g.sum().backward()


def test_a_source_larger_than_the_index_gets_zeros_elsewhere():
    s = engine.ones(3, 4, dtype=engine.float64, requires_grad=True)
    engine.zeros(2, 3, dtype=engine.float64).scatter_add(0, engine.tensor([[0, 1]]), s * 2).sum().backward()
    wanted = np.zeros((3, 4))
    wanted[0, :2] = 2
    np.testing.assert_array_equal(s.grad.numpy(), wanted)


@pytest.mark.parametrize("reduce", ["add", "multiply"])
def test_scatter_with_reduce_is_recorded_without_a_gradient(reduce):
    for library in (engine, torch):
        x = library.ones(2, 3, requires_grad=True)
        out = x.scatter(0, library.tensor([[0, 1]]), 2.0, reduce=reduce)
        with pytest.raises(RuntimeError, match="derivative for aten::scatter is not implemented"):
            out.sum().backward()


WRITES = {
    "index_add_": lambda t, v, s: v.index_add_(0, t.tensor([1, 1]), s),
    "index_copy_": lambda t, v, s: v.index_copy_(0, t.tensor([1, 0]), s),
    "index_fill_": lambda t, v, s: v.index_fill_(1, t.tensor([0, 2]), s[0, 0]),
    "scatter_": lambda t, v, s: v.scatter_(0, t.tensor([[1, 0, 1]]), s[:1]),
    "scatter_add_": lambda t, v, s: v.scatter_add_(0, t.tensor([[1, 0, 1]]), s[:1]),
    "scatter_reduce_": lambda t, v, s: v.scatter_reduce_(0, t.tensor([[1, 0, 1]]), s[:1], "prod"),
    "put_": lambda t, v, s: v.put_(t.tensor([0, 4]), s[0, :2]),
    "masked_scatter_": lambda t, v, s: v.masked_scatter_(t.tensor([True, False, True]), s),
}


@pytest.mark.parametrize("name", WRITES)
def test_writing_through_a_view(name):
    found = []
    for library in (engine, torch):
        x = library.arange(12, dtype=library.float64).reshape(3, 4).requires_grad_()
        s = library.tensor([[1.0, -2.0, 3.0], [0.25, 5.0, 0.5]], dtype=library.float64, requires_grad=True)
        y = x * 2
        WRITES[name](library, y[1:].t()[1:].t(), s)
        (y**2).sum().backward()
        found.append([y.detach().numpy(), x.grad.numpy(), s.grad.numpy()])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", ["scatter", "scatter_add", "scatter_reduce", "scatter_"])
@pytest.mark.parametrize("source", [(3,), (), (1,)])
@pytest.mark.parametrize("places", [(), (1,)])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_scattering_without_dimensions(shape, places, source, name):
    """One element of a row. PyTorch has no gradient where source and index have other shapes."""
    seen = []
    for library in (torch, engine):
        x, index = library.zeros(shape), library.zeros(places, dtype=library.int64)
        values = (library.arange(3.0)[: source[0]] if source else library.tensor(2.0)) + 5
        how = ["amax"] if name == "scatter_reduce" else []
        seen.append(getattr(x, name)(0, index, values, *how).tolist())
    assert seen[0] == seen[1]
    x, values = engine.zeros(shape, requires_grad=True), engine.ones(source, requires_grad=True)
    (x * 1).scatter_add(0, engine.zeros(places, dtype=engine.int64), values).sum().backward()
    assert np.ravel(values.grad.numpy()).tolist() == [1.0, 0.0, 0.0][: values.numel()]


MASK = [1, 0, 1]
ONE_BY_BYTES = {
    "a number": lambda lib, m: lib.zeros(3).__setitem__(m, 2.0),
    "one that does not fit": lambda lib, m: lib.zeros(3, dtype=lib.uint8).__setitem__(m, 300),
    "no dimensions": lambda lib, m: lib.zeros(3).__setitem__(m, lib.tensor(2.0)),
    "one element": lambda lib, m: lib.zeros(3).__setitem__(m, lib.tensor([2.0])),
    "behind a slice": lambda lib, m: lib.zeros(2, 3).__setitem__((slice(None), m), 2.0),
    "before a number": lambda lib, m: lib.zeros(3, 2).__setitem__((m, 0), 2.0),
    "behind dots": lambda lib, m: lib.zeros(2, 3).__setitem__((..., m), 2.0),
    "index_put": lambda lib, m: lib.zeros(3).index_put((m,), lib.tensor(2.0)),
    "index_put_": lambda lib, m: lib.zeros(3).index_put_((m,), lib.tensor([2.0])),
    "added": lambda lib, m: lib.zeros(3).index_put_((m,), lib.tensor([2.0]), accumulate=True).tolist(),
    "as many as it picks": lambda lib, m: lib.zeros(3).index_put_((m,), lib.tensor([2.0, 3.0])).tolist(),
    "two masks": lambda lib, m: lib.zeros(3, 3).index_put_((m, m), lib.tensor(2.0)).tolist(),
    "another size": lambda lib, m: lib.zeros(4).__setitem__(m, 2.0),
}


@pytest.mark.parametrize("name", ONE_BY_BYTES)
@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_one_element_by_a_mask_of_bytes(name):
    """PyTorch makes ``masked_fill_`` of it, which takes bools alone."""

    def told(lib):
        try:
            return ONE_BY_BYTES[name](lib, lib.tensor(MASK, dtype=lib.uint8))
        except (RuntimeError, IndexError) as error:
            return type(error), str(error).partition("\n")[0]

    assert told(engine) == told(torch)
