"""Reductions, scans and sorting where the samples of PyTorch's list do not reach: ties, zeros, NaN, errors, what is kept."""

import numpy as np
import pytest
import torch

import agdbg_engine as ag

NAN, INF = float("nan"), float("inf")


def leaf(values):
    return ag.tensor(values, dtype=ag.float64, requires_grad=True)


def gradient(function, values):
    x = leaf(values)
    function(x).sum().backward()
    return x.grad.tolist()


def second(function, values):
    """The gradient of the sum of squares of the gradient."""
    x = leaf(values)
    (g,) = ag.grad(function(x).sum(), x, create_graph=True)
    (h,) = ag.grad((g * g).sum(), x)
    return h.tolist()


# ----- orders with NaN -----


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
@pytest.mark.parametrize("right", [False, True])
def test_places_among_numbers_with_nan(kind, right):
    rng = np.random.default_rng(0)
    for count in range(9):
        bounds = np.sort(rng.integers(-3, 4, (2, count)).astype(float))
        bounds[rng.random(bounds.shape) < 0.3] = NAN
        if count % 3 == 0:
            bounds.sort()
        looked_for = [[-4, -3, -1, 0, 1, 3, 4, NAN, INF, -INF]] * 2
        found = []
        for lib in (ag, torch):
            x, sequence = (lib.tensor(v, dtype=getattr(lib, kind)) for v in (looked_for, bounds.tolist()))
            found.append([
                lib.searchsorted(sequence, x, right=right).tolist(), lib.searchsorted(sequence[0].clone(), x, right=right).tolist(),
                lib.bucketize(x, sequence[1].clone(), right=right).tolist(),
            ])  # fmt: skip
        assert found[0] == found[1], bounds


# ----- products and zeros -----


@pytest.mark.parametrize(
    ("values", "expected"),
    [([2.0, 3.0, 4.0], [12, 8, 6]), ([2.0, 0.0, 4.0], [0, 8, 0]), ([0.0, 0.0, 4.0], [0, 0, 0]), ([5.0], [1])],
)
def test_prod_at_zeros(values, expected):
    assert gradient(ag.prod, values) == expected
    assert gradient(lambda x: ag.prod(x, 0), values) == expected


def test_prod_of_two_zeros_still_has_a_second_derivative():
    x = leaf([0.0, 0.0, 4.0])
    (g,) = ag.grad(ag.prod(x), x, create_graph=True)
    assert ag.grad(g[0], x)[0].tolist() == [0, 4, 0]


def test_long_products_are_those_of_numpy():
    x = np.random.default_rng(0).normal(1, 0.1, (7, 1001))
    np.testing.assert_allclose(ag.prod(ag.tensor(x), 1)._a, x.prod(1), rtol=1e-12)
    np.testing.assert_allclose(ag.prod(ag.tensor(x))._a, x.prod(), rtol=1e-12)
    np.testing.assert_allclose(ag.prod(ag.tensor(x), 1, True)._a, x.prod(1, keepdims=True), rtol=1e-12)


def test_cumprod_at_zeros():
    assert gradient(lambda x: ag.cumprod(x, 0), [2.0, 0.0, 3.0, 0.0]) == [1, 8, 0, 0]
    by_hand = second(lambda x: ag.stack([x[0], x[0] * x[1], x[0] * x[1] * x[2]]), [2.0, 0.0, 3.0])
    assert second(lambda x: ag.cumprod(x, 0), [2.0, 0.0, 3.0]) == by_hand


# ----- ties and NaN -----


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (ag.median, [0, 0.5, 0.5, 0]),  # even among ties
        (lambda x: ag.median(x, 0).values, [0, 1, 0, 0]),
        (lambda x: ag.aminmax(x)[1], [0, 0, 0, 1]),
        (lambda x: ag.mode(x).values, [0, 0, 1, 0]),  # the last of them
        (lambda x: ag.cummax(x, 0).values, [1, 1, 1, 1]),
        (lambda x: ag.sort(x, descending=True).values[1:3].select(0, 0), [0, 1, 0, 0]),  # in the order that they had
    ],
)
def test_ties(function, expected):
    assert gradient(function, [1.0, 2.0, 2.0, 3.0]) == expected


def test_nan_is_above_all_and_stays():
    x = ag.tensor([2.0, NAN, 1.0])
    assert ag.sort(x).indices.tolist() == [2, 0, 1]
    assert ag.sort(x, descending=True).indices.tolist() == [1, 0, 2]
    assert ag.topk(x, 1).indices.tolist() == [1]
    assert ag.cummin(x, 0).indices.tolist() == [0, 1, 1]
    assert np.isnan(ag.median(x).item())
    assert ag.nanmedian(x).item() == 1
    assert gradient(ag.nanmedian, [2.0, NAN, 1.0]) == [0, 0, 1]
    assert gradient(ag.nansum, [2.0, NAN, 1.0]) == [1, 0, 1]


def test_quantiles_of_rows_with_nan():
    x = ag.tensor([[1.0, 2.0, 3.0], [1.0, NAN, 2.0]])
    found = ag.quantile(x, ag.tensor([0.0, 0.5]), 1)
    np.testing.assert_array_equal(found._a, [[1, NAN], [2, NAN]])
    assert ag.nanquantile(x, 0.5, 1).tolist() == [2, 1.5]


def test_spreads_of_equal_numbers_have_no_nan_in_their_gradient():
    assert gradient(lambda x: ag.std_mean(x)[0], [2.0, 2.0]) == [0, 0]


def test_logcumsumexp_neither_overflows_nor_loses_small_numbers():
    x = leaf([-1000.0, 0.0, 1000.0])
    y = ag.logcumsumexp(x, 0)
    assert y.tolist() == [-1000, 0, 1000]
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


# ----- what is kept, what is refused -----


def test_a_scan_notices_that_what_it_saved_was_written():
    x = leaf([1.0, 2.0])
    y = ag.cumprod(x * 1, 0)
    z = y.sum()
    with ag.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_results_are_named():
    x = ag.tensor([[1.0, 2.0]])
    for found in (ag.sort(x), ag.topk(x, 1), ag.kthvalue(x, 1), ag.mode(x), ag.cummax(x, 0), ag.median(x, 0)):
        assert found._fields == ("values", "indices")
    assert ag.aminmax(x)._fields == ("min", "max")
    assert ag.histogram(x, 2)._fields == ("hist", "bin_edges")


EDGES = "[T.tensor([0.0, 1.0])] * 2"


@pytest.mark.parametrize(
    "call",
    [
        "T.histogram(x, 2)[0]", "T.histogram(x, 2)[1]", "T.histogram(T.ones(2), 3, weight=x)[0]",
        "T.histogram(T.ones(2), x.cumsum(0))[0]", "T.histogramdd(T.ones(2, 2), [2, 2], weight=x)[0]",
        "T.histogramdd(T.ones(2, 2), 2, weight=x)[1][0]", f"T.histogramdd(T.ones(2, 2), {EDGES}, weight=x)[0]",
        "T.histogramdd(x.expand(2, 2), [2, 2])[0]", "T.histogramdd(T.ones(2, 2), [x.cumsum(0)] * 2)[0]",
        f"T.histogramdd(x.expand(2, 2), {EDGES})[0]", "T.bincount(T.tensor([0, 1]), x)",
    ],
)  # fmt: skip
def test_what_is_counted_has_no_derivative_and_says_so(call):
    found = []
    for lib in (ag, torch):
        y = eval(call, {"T": lib, "x": lib.tensor([0.5, 1.0], requires_grad=True)})
        with pytest.raises(RuntimeError) as error:
            y.sum().backward()
        found.append((y.grad_fn.name(), str(error.value).splitlines()[0]))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "call",
    [
        "T.histogram(x, 4)", "T.histogram(x, 4, range=(0.0, 4.0))", "T.histogram(x[:0], 4, range=(0.0, 4.0))",
        "T.histogram(x, T.tensor([0.0, 1, 2, 5]).to(x.dtype))", "T.histogram(x, 4, range=(0.0, 4.0), weight=x)",
        "T.histogram(x, 4, range=(0.0, INF))", "T.histogram(x, 4, range=(0.0, 1e39))", "T.histogram(x, 4, range=(1.0, 1.0))",
        "T.histogram(x, 4, range=(2.0, 1.0))", "T.histogramdd(x.reshape(2, 2), [2, 2])[0]",
        "T.histogramdd(x.reshape(2, 2), [2, 2], range=(0.0, 4.0, 0.0, 4.0))[0]", "T.histc(x, 4, 0, 4)", "T.histc(x, 4, 0, 1e39)", "T.histc(x, 0)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["float16", "float32", "int64", "bool", "complex64"])
def test_histograms_of_every_kind_of_number(call, kind):
    found = []
    for lib in (ag, torch):
        x = lib.tensor([1.0, 2.0, 3.0, 2.5]).to(getattr(lib, kind))
        try:
            y = eval(call, {"T": lib, "x": x, "INF": INF})
        except (RuntimeError, NotImplementedError) as error:
            found.append((type(error), str(error).partition("\n")[0]))
        else:
            found.append(
                [(part.tolist(), str(part.dtype).split(".")[-1]) for part in (y if isinstance(y, tuple) else [y])]
            )
    assert found[0] == found[1]


def test_edges_that_are_given_come_back_as_they_are():
    edges = [ag.tensor([0.0, 1.0], requires_grad=True) * 2] * 2
    assert ag.histogramdd(ag.ones(2, 2), edges).bin_edges[1] is edges[1]


@pytest.mark.parametrize(
    "call",
    [
        "T.nn.functional.batch_norm(T.ones(3, 2), x, T.ones(2))", "T.nn.functional.batch_norm(T.ones(3, 2), T.ones(2), x)",
        "T.nn.functional.instance_norm(T.ones(3, 2, 2), T.ones(2), x)",
        "T.linalg.pinv(T.eye(2), rtol=x[0])", "T.linalg.pinv(T.eye(2), atol=x[0])",
    ],
)  # fmt: skip
def test_what_must_be_a_constant(call):
    found = []
    for lib in (ag, torch):
        with pytest.raises(RuntimeError) as error:
            eval(call, {"T": lib, "x": lib.tensor([0.5, 1.0], requires_grad=True)})
        found.append(str(error.value).splitlines()[0])
    assert found[0] == found[1]


@pytest.mark.parametrize("of", [{}, {"dim": 0}])
def test_what_is_unique_has_no_derivative_and_says_so(of):
    x = leaf([3.0, 1.0, 3.0])
    with pytest.raises(NotImplementedError, match=r"the derivative for '_?unique(2|_dim)' is not implemented"):
        ag.unique(x, **of).sum().backward()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda x: ag.prod(x, (0, 1)),
            TypeError,
            "prod() received an invalid combination of arguments - got (Tensor, tuple)",
        ),
        (lambda x: ag.cumsum(x, 2), IndexError, "Dimension out of range"),
        (lambda x: ag.kthvalue(x, 3), RuntimeError, "kthvalue(): selected number k out of range for dimension 1"),
        (lambda x: ag.topk(x, 3), RuntimeError, "selected index k out of range"),
        (lambda x: ag.sort(x * 1j), RuntimeError, "Sort does not support complex dtypes on CPU"),
        (lambda x: ag.median(x > 1), NotImplementedError, "\"median_cpu\" not implemented for 'Bool'"),
        (lambda x: ag.quantile(x, 1.5), RuntimeError, "quantile() q must be in the range [0, 1] but got 1.5"),
        (lambda x: ag.diff(x, -1), RuntimeError, "order must be non-negative but got -1"),
        (lambda x: ag.renorm(x, 2, 0, -1.0), RuntimeError, "renorm: expected maxnorm to be >= 0 but got -1"),
        (lambda x: ag.histc(x, 0), RuntimeError, "torch.histogram(): bins must be > 0, but got 0 for dimension 0"),
        (lambda x: ag.bincount(x), NotImplementedError, "\"bincount_cpu\" not implemented for 'Float'"),
        (lambda x: ag.cumsum(x.requires_grad_(), 0, dtype=ag.int64), RuntimeError, "Autograd not support dtype: Long"),
        (lambda x: ag.zeros(0).amax(), RuntimeError, "amax(): Expected reduction dim to be specified"),
        (lambda x: ag.mode(ag.zeros(0)), IndexError, "mode(): Expected reduction dim 0 to have non-zero size."),
        (lambda x: ag.masked.mean(x.to(ag.int64)), ValueError, "mean(): Could not infer output dtype."),
    ],
)
def test_errors_in_pytorchs_words(call, error, text):
    with pytest.raises(error) as caught:
        call(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert str(caught.value).strip().startswith(text)


# ----- masks -----


def test_masked_elements_get_no_gradient():
    mask = ag.tensor([True, False, True])
    assert gradient(lambda x: ag.masked.prod(x, mask=mask), [2.0, NAN, 3.0]) == [3, 0, 2]
    assert gradient(lambda x: ag.masked.amax(x, mask=mask), [2.0, 9.0, 3.0]) == [0, 0, 1]
    assert gradient(lambda x: ag.masked.softmax(x, 0, mask=mask)[1], [2.0, 9.0, 3.0]) == [0, 0, 0]


def test_masked_functions_are_found_by_name_only():
    assert "logsumexp" in dir(ag.masked)
    with pytest.raises(AttributeError, match=r"module 'agdbg_engine.masked' has no attribute 'sinus'"):
        _ = ag.masked.sinus
