"""Clipping of gradients, parameters as a vector, and first values of parameters: as PyTorch has them."""

import math
import warnings

import numpy as np
import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for this")


def outcome(t, program):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", RuntimeWarning)  # of NumPy, which the filter of the engine ignores
        try:
            answer = program(t, t.nn)
        except Exception as error:
            answer = (type(error).__name__, str(error).split("\n")[0])
    return answer, [str(w.message).split("\n")[0] for w in said]


def same(torch, program):
    mine, theirs = (outcome(t, program) for t in (ag, torch))
    assert mine[1] == theirs[1]
    if isinstance(theirs[0], list):
        assert len(mine[0]) == len(theirs[0])
        for a, b in zip(mine[0], theirs[0], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
    else:
        assert mine[0] == theirs[0]


def params(t, scale=1.0):
    made = [t.ones(2, 3).double().requires_grad_(), t.ones(4).double().requires_grad_(), t.ones(1).requires_grad_()]
    leaves = [x.detach().requires_grad_() for x in made]
    for p in leaves[:2]:
        p.grad = t.arange(p.numel()).reshape(p.shape).double() * scale - 1
    return leaves


def clipped(t, ps, norm=None):
    return [*(p.grad.numpy() for p in ps if p.grad is not None), *([] if norm is None else [norm.item()])]


@pytest.mark.parametrize("kind", [2.0, 1, 3.5, math.inf, 0.5])
@pytest.mark.parametrize("bound", [0.5, 100.0])
def test_clipping_by_norm(torch, kind, bound):
    def program(t, nn):
        ps = params(t)
        return clipped(t, ps, nn.utils.clip_grad_norm_(ps, bound, kind))

    same(torch, program)


def test_clipping_what_is_not_finite(torch):
    def infinite(error):
        def program(t, nn):
            ps = params(t, math.inf)
            return clipped(t, ps, nn.utils.clip_grad_norm_(ps, 1.0, error_if_nonfinite=error))

        return program

    same(torch, infinite(True))
    same(torch, infinite(False))


def test_clipping_of_nothing_of_one_and_by_value(torch):
    same(torch, lambda t, nn: nn.utils.clip_grad_norm_([], 1.0).item())
    same(torch, lambda t, nn: nn.utils.clip_grad_norm_((p for p in ()), 1.0).item())
    same(torch, lambda t, nn: nn.utils.clip_grad_norm(params(t)[0], 1.0).item())

    def one(t, nn):
        p = params(t)[0]
        return clipped(t, [p], nn.utils.clip_grad_norm_(p, 1.0))

    def by_value(t, nn):
        ps = params(t)
        assert nn.utils.clip_grad_value_(ps, 1) is None
        return clipped(t, ps)

    def in_parts(t, nn):
        ps = params(t)
        norm = nn.utils.get_total_norm([p.grad for p in ps[:2]])
        nn.utils.clip_grads_with_norm_(ps, 0.7, norm)
        return clipped(t, ps, norm)

    for program in (one, by_value, in_parts):
        same(torch, program)


def test_parameters_as_a_vector(torch):
    def program(t, nn):
        model = nn.Linear(2, 3).double()
        with t.no_grad():
            for p in model.parameters():
                p.fill_(0.5)
        vector = nn.utils.parameters_to_vector(model.parameters())
        (vector * vector).sum().backward()
        nn.utils.vector_to_parameters(t.arange(9).double(), model.parameters())
        kept = [p.requires_grad for p in model.parameters()]
        return [
            vector.detach().numpy(),
            model.weight.grad.numpy(),
            *(p.detach().numpy() for p in model.parameters()),
            kept,
        ]

    same(torch, program)
    same(torch, lambda t, nn: nn.utils.vector_to_parameters(3, []))


FIXED = {
    "constant": lambda t, i: i.constant_(t.empty(2, 3), 0.5),
    "ones": lambda t, i: i.ones_(t.empty(2, 3)),
    "zeros": lambda t, i: i.zeros_(t.ones(2, 3)),
    "eye": lambda t, i: i.eye_(t.empty(2, 3)),
    "eye 3d": lambda t, i: i.eye_(t.empty(2, 3, 1)),
    "dirac": lambda t, i: i.dirac_(t.empty(4, 3, 5)),
    "dirac groups": lambda t, i: i.dirac_(t.empty(6, 2, 3, 4), groups=2),
    "dirac 5d": lambda t, i: i.dirac_(t.empty(2, 3, 3, 2, 1)),
    "dirac 2d": lambda t, i: i.dirac_(t.empty(2, 3)),
    "dirac bad groups": lambda t, i: i.dirac_(t.empty(5, 2, 3), groups=2),
    "sparse 1d": lambda t, i: i.sparse_(t.empty(2), 0.5),
    "xavier 1d": lambda t, i: i.xavier_uniform_(t.empty(2)),
    "kaiming empty": lambda t, i: i.kaiming_uniform_(t.empty(2, 0)),
    "kaiming empty normal": lambda t, i: i.kaiming_normal_(t.empty(2, 0)),
    "kaiming mode": lambda t, i: i.kaiming_normal_(t.empty(2, 2), mode="fan"),
    "kaiming nonlinearity": lambda t, i: i.kaiming_normal_(t.empty(2, 2), nonlinearity="swish"),
    "orthogonal 1d": lambda t, i: i.orthogonal_(t.empty(2)),
    "orthogonal empty": lambda t, i: i.orthogonal_(t.empty(2, 0)),
    "deprecated": lambda t, i: i.constant(t.empty(2), 1.0),
    "far": lambda t, i: i.trunc_normal_(t.ones(0), mean=9.0),
}


@pytest.mark.parametrize("name", FIXED)
def test_values_that_are_not_random(torch, name):
    def program(t, nn):
        return [FIXED[name](t, nn.init).numpy()]

    same(torch, program)


def test_gains(torch):
    for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu", "swish"):
        same(torch, lambda t, nn, name=name: nn.init.calculate_gain(name))
    for slope in (0.2, 1, True, "a"):
        same(torch, lambda t, nn, slope=slope: nn.init.calculate_gain("leaky_relu", slope))


RANDOM = {
    "uniform": lambda t, i, x: i.uniform_(x, -1.0, 3.0),
    "normal": lambda t, i, x: i.normal_(x, 1.0, 2.0),
    "trunc": lambda t, i, x: i.trunc_normal_(x, 0.5, 1.0, -1.0, 1.5),
    "trunc tail": lambda t, i, x: i.trunc_normal_(x, 0.0, 1.0, 1.5, 3.0),
    "xavier uniform": lambda t, i, x: i.xavier_uniform_(x, gain=2.0),
    "xavier normal": lambda t, i, x: i.xavier_normal_(x),
    "kaiming uniform": lambda t, i, x: i.kaiming_uniform_(x, a=0.3, mode="fan_out"),
    "kaiming normal": lambda t, i, x: i.kaiming_normal_(x, nonlinearity="relu"),
    "sparse": lambda t, i, x: i.sparse_(x, 0.3, std=2.0),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_values_have_the_same_distribution(torch, name):
    made = []
    for t in (ag, torch):
        t.manual_seed(1)  # one run in a hundred would differ by more
        made.append(np.sort(RANDOM[name](t, t.nn.init, t.empty(300, 400)).numpy(), axis=None))
    assert np.abs(made[0] - made[1])[1000:-1000].max() < 0.05 * made[1].std()
    assert abs(made[0].mean() - made[1].mean()) < 0.02 * made[1].std()
    assert abs(made[0].std() / made[1].std() - 1) < 0.02


def test_a_seed_repeats_values_and_parameters_stay_leaves():
    for name, draw in RANDOM.items():
        found = []
        for _ in range(2):
            ag.manual_seed(3)
            p = ag.nn.Parameter(ag.zeros(20, 30))
            assert draw(ag, ag.nn.init, p) is p, name
            assert p.is_leaf
            assert p._version > 0
            found.append(p.detach().numpy())
        np.testing.assert_array_equal(*found)
    one, two = (ag.nn.init.normal_(ag.empty(5), generator=ag.Generator().manual_seed(2)).tolist() for _ in range(2))
    assert one == two


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (3, 2, 5)])
def test_orthogonal_rows_or_columns(shape):
    x = ag.nn.init.orthogonal_(ag.empty(*shape), gain=2.0).numpy().reshape(shape[0], -1)
    square = x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x
    np.testing.assert_allclose(square, 4 * np.eye(len(square)), atol=1e-5)


def test_columns_of_a_sparse_matrix_have_as_many_zeros():
    x = ag.nn.init.sparse_(ag.empty(10, 7), 0.25).numpy()
    assert (x == 0).sum(0).tolist() == [3] * 7
