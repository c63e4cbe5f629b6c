"""Linear algebra beyond the samples of test_op_db.py: errors, singular matrices, derivatives of derivatives, large batches."""

import math

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.autograd import forward_ad as fw

rng = np.random.default_rng(0)
SPD = np.eye(4) + (lambda a: a @ a.T)(rng.normal(size=(4, 4)))
WEIGHTS = rng.normal(size=64)


def tensor(data, requires_grad=False):
    return ag.tensor(np.asarray(data), requires_grad=requires_grad)


# ----- errors, in PyTorch's words -----

SINGULAR = "The diagonal element 1 is zero, the inversion could not be completed because the input matrix is singular."
INDEFINITE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order 1 is not "
    "positive-definite)."
)
ERRORS = {
    "inv of a singular one": (lambda z: ag.linalg.inv(z(2, 2)), f"linalg.inv: {SINGULAR}"),
    "inv of a batch": (lambda z: ag.linalg.inv(z(2, 2, 2)), f"linalg.inv: (Batch element 0): {SINGULAR}"),
    "inv_ex": (lambda z: ag.linalg.inv_ex(z(2, 2), check_errors=True), f"linalg.inv_ex: {SINGULAR}"),
    "solve": (
        lambda z: ag.linalg.solve(z(2, 2), z(2)),
        "torch.linalg.solve: The solver failed because the input matrix is singular.",
    ),
    "cholesky": (lambda z: ag.linalg.cholesky(z(2, 2)), f"linalg.cholesky: {INDEFINITE}"),
    "the older cholesky": (lambda z: ag.cholesky(z(2, 2)), f"cholesky: {INDEFINITE}"),
    "svd of NaN": (
        lambda z: ag.linalg.svd(z(2, 2) * math.nan),
        "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_a_matrix_without_an_answer(case):
    function, text = ERRORS[case]
    with pytest.raises(ag.linalg.LinAlgError) as caught:
        function(lambda *shape: ag.zeros(*shape))
    assert str(caught.value).splitlines()[0] == text


SHAPES = {
    "not square": (
        lambda z: ag.linalg.det(z(2, 3)),
        "linalg.det: A must be batches of square matrices, but they are 2 by 3 matrices",
    ),
    "no matrix": (lambda z: ag.linalg.qr(z(3)), "linalg.qr: The input tensor A must have at least 2 dimensions."),
    "integers": (
        lambda z: ag.linalg.inv(z(2, 2).to(ag.int64)),
        "linalg.inv: Expected a floating point or complex tensor as input. Got Long",
    ),
    "half precision": (
        lambda z: ag.linalg.svd(z(2, 2).to(ag.float16)),
        "\"linalg_svd_cpu\" not implemented for 'Half'",
    ),
    "sizes that do not fit": (
        lambda z: ag.linalg.solve(z(2, 2), z(3, 1)),
        "linalg.solve: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)",
    ),
    "pivots that are none": (
        lambda z: ag.linalg.lu_solve(z(2, 2), z(2).to(ag.int32), z(2, 1)),
        "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the result of lu_factor?",
    ),
    "an order of norm": (lambda z: ag.linalg.matrix_norm(z(2, 2), 5), "linalg.matrix_norm: Order 5 not supported."),
    "a chain": (
        lambda z: ag.linalg.multi_dot([z(2, 2), z(3, 2)]),
        "multi_dot(): tensors 0 and 1 with shapes [2, 2] and [3, 2] cannot be multiplied",
    ),
}


@pytest.mark.parametrize("case", SHAPES)
def test_arguments_are_checked(case):
    function, text = SHAPES[case]
    with pytest.raises(RuntimeError) as caught:
        function(lambda *shape: ag.zeros(*shape))
    assert str(caught.value).splitlines()[0] == text


def test_no_gradient_where_a_vector_that_was_not_computed_is_needed():
    r = ag.linalg.qr(tensor(SPD, requires_grad=True), mode="r").R
    with pytest.raises(RuntimeError, match="depends on Q, which is not computed when mode='r'"):
        r.sum().backward()


def test_a_loss_may_not_depend_on_the_phase_of_vectors():
    x = ag.tensor(SPD + 0j, requires_grad=True)
    turn = ag.tensor(rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4)))
    for vectors in (lambda: ag.linalg.eigh(x)[1], lambda: ag.linalg.eig(x)[1], lambda: ag.linalg.svd(x)[0]):
        with pytest.raises(RuntimeError, match="making it ill-defined"):
            (vectors() * turn).sum().abs().backward()


# ----- singular matrices -----


def cofactors(a):
    n = len(a)
    minors = [[np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(n)] for i in range(n)]
    return np.array(minors) * (-1.0) ** np.add.outer(np.arange(n), np.arange(n))


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("batch", [False, True])
def test_the_determinant_of_a_singular_matrix_has_a_gradient(create_graph, batch):
    singular = np.array([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]])
    a = np.stack([np.eye(3), singular, SPD[:3, :3]]) if batch else singular
    x = tensor(a, requires_grad=True)
    (g,) = ag.autograd.grad(ag.det(x).sum(), x, create_graph=create_graph)
    want = np.stack([cofactors(m) for m in a]) if batch else cofactors(a)
    assert np.allclose(g.detach().numpy(), want, atol=1e-10)


def test_the_gradient_of_a_singular_determinant_has_one_itself():
    a = np.array([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]])
    weights = rng.normal(size=(3, 3))
    x = tensor(a, requires_grad=True)
    (g,) = ag.autograd.grad(ag.det(x), x, create_graph=True)
    (second,) = ag.autograd.grad((g * tensor(weights)).sum(), x)
    h = 1e-5

    def along(i, j):
        step = np.zeros((3, 3))
        step[i, j] = h
        return ((cofactors(a + step) - cofactors(a - step)) * weights).sum() / (2 * h)

    assert np.allclose(second.numpy(), [[along(i, j) for j in range(3)] for i in range(3)], atol=1e-6)


def test_the_condition_of_a_singular_matrix_is_infinite():
    assert float(ag.linalg.cond(ag.zeros(2, 2), 1)) == math.inf
    assert float(ag.linalg.cond(ag.zeros(2, 2), "fro")) == math.inf


def test_the_logarithm_of_a_negative_determinant_is_no_number():
    assert math.isnan(float(ag.logdet(tensor([[0.0, 1], [1, 0]]))))


# ----- derivatives of derivatives -----

COMPOSED = {
    "inv": lambda x: [ag.linalg.inv(x)],
    "det": lambda x: [ag.linalg.det(x)],
    "slogdet": lambda x: [ag.linalg.slogdet(x)[1]],
    "solve": lambda x: [ag.linalg.solve(x, x * x)],
    "solve for a vector": lambda x: [ag.linalg.solve(x, x[0])],
    "solve from the right": lambda x: [ag.linalg.solve(x, x * x, left=False)],
    "solve_triangular": lambda x: [ag.linalg.solve_triangular(x, x * x, upper=True)],
    "cholesky": lambda x: [ag.linalg.cholesky(x)],
    "qr": lambda x: list(ag.linalg.qr(x)),
    "qr of a wide one": lambda x: list(ag.linalg.qr(x[:2])),
    "svd": lambda x: [ag.linalg.svd(x)[0] ** 2, ag.linalg.svd(x)[1], ag.linalg.svd(x)[2] ** 2],
    "eigh": lambda x: [ag.linalg.eigh(x)[0], ag.linalg.eigh(x)[1] ** 2],
    "lu": lambda x: list(ag.linalg.lu(x))[1:],
    "lu_factor": lambda x: [ag.linalg.lu_factor(x)[0]],
    "pinv": lambda x: [ag.linalg.pinv(x)],
    "lstsq": lambda x: [ag.linalg.lstsq(x, x * x)[0]],
    "matrix_exp": lambda x: [ag.matrix_exp(x * 0.1)],
    "vector_norm": lambda x: [ag.linalg.vector_norm(x, 3, 0)],
    "householder_product": lambda x: [ag.linalg.householder_product(x, x[0] * 0.1)],
}


def loss_gradient(outputs, x):
    total = sum((o * o * tensor(WEIGHTS[: o.numel()].reshape(tuple(o.shape)))).sum() for o in outputs(x))
    return ag.autograd.grad(total, x, create_graph=True)[0]


@pytest.mark.parametrize("name", COMPOSED)
def test_forward_over_reverse(name):
    """The saved results of ops with several have tangents too."""
    direction = rng.normal(size=(4, 4))
    direction = direction + direction.T

    def at(a):
        return loss_gradient(COMPOSED[name], tensor(a, requires_grad=True)).detach().numpy()

    h = 1e-5
    want = (at(SPD + h * direction) - at(SPD - h * direction)) / (2 * h)
    with fw.dual_level():
        x = fw.make_dual(tensor(SPD, requires_grad=True), tensor(direction))
        got = fw.unpack_dual(loss_gradient(COMPOSED[name], x)).tangent.detach().numpy()
    assert np.allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(want).max())


# ----- norms -----


@pytest.mark.parametrize("order", [1, 2, 3, 0.5, 1.5, math.inf])
def test_the_norm_of_zeros_has_gradient_zero(order):
    x = ag.zeros(3, requires_grad=True)
    ag.linalg.vector_norm(x, order).backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_elements_that_are_equally_large_share_the_gradient():
    x = ag.tensor([3.0, -3.0, 1.0], requires_grad=True)
    ag.linalg.vector_norm(x, math.inf).backward()
    assert x.grad.tolist() == [0.5, -0.5, 0]


def test_counting_has_no_gradient():
    x = ag.ones(3, requires_grad=True)
    ag.linalg.vector_norm(x, 0).backward()
    assert x.grad is None


def test_a_large_complex_norm():
    x = ag.tensor(rng.normal(size=3000) + 1j * rng.normal(size=3000), requires_grad=True)
    x.norm().backward()
    assert np.allclose(x.grad.numpy(), x.detach().numpy() / np.linalg.norm(x.detach().numpy()))


# ----- batches -----


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_many_small_triangular_systems_are_solved_row_by_row(left, upper, unit):
    a, b = rng.normal(size=(50, 1, 3, 3)) + 4 * np.eye(3), rng.normal(size=(2, 3, 3))
    x = ag.linalg.solve_triangular(tensor(a), tensor(b), upper=upper, left=left, unitriangular=unit).numpy()
    m = np.triu(a) if upper else np.tril(a)
    if unit:
        m[..., range(3), range(3)] = 1
    assert x.shape == (50, 2, 3, 3)
    assert np.allclose(m @ x if left else x @ m, b)


def test_a_singular_triangular_system_is_infinite():
    for n in (1, 5):
        a = ag.zeros(n, 2, 2)
        assert bool(ag.isfinite(ag.linalg.solve_triangular(a, ag.ones(n, 2, 1), upper=True)).logical_not().all())


def test_one_singular_matrix_in_a_batch():
    found = ag.linalg.inv_ex(tensor(np.stack([SPD, np.zeros((4, 4))])))
    assert found.info.tolist() == [0, 1]
    assert np.allclose(found.inverse[0].numpy(), np.linalg.inv(SPD))


def test_integers_are_unpacked_from_packed_factors():
    packed = ag.tensor([[2, 3], [4, 5]])
    p, low, up = ag.lu_unpack(packed, ag.tensor([2, 2], dtype=ag.int32))
    assert [x.tolist() for x in (p, low, up)] == [[[0, 1], [1, 0]], [[1, 0], [4, 1]], [[2, 3], [0, 5]]]
    assert {str(x.dtype) for x in (p, low, up)} == {"int64"}


@pytest.mark.parametrize("shape", [(1,), (3,), (1, 2), ()])
def test_as_many_pivots_as_rows_are_unpacked(shape):
    with pytest.raises(RuntimeError, match=r"lu_unpack: Expected LU_pivots of shape \[2\], got \[.*\]"):
        ag.lu_unpack(ag.ones(2, 2), ag.ones(shape, dtype=ag.int32))


# ----- batches, which are treated together from some size on -----


def matrices(*shape, dtype=np.float64):
    made = rng.normal(size=shape)
    return (made + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else made).astype(dtype)


def one_by_one(function, batch, *arrays):
    """What the function gives for every element of the batch by itself, stacked."""
    found = [function(*(tensor(a[i]) for a in arrays)) for i in range(batch)]
    return [np.stack([x.numpy() for x in column]) for column in zip(*found, strict=True)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (1, 1)])
def test_factors_of_a_batch_are_those_of_each_matrix(shape, dtype):
    a = matrices(60, *shape, dtype=dtype)
    a[7] = 0
    a[8, :, 0] = 0
    found = ag.linalg.lu_factor_ex(tensor(a))
    for x, each in zip(found, one_by_one(ag.linalg.lu_factor_ex, 60, a), strict=True):
        assert x.numpy().dtype == each.dtype
        np.testing.assert_allclose(x.numpy(), each, rtol=1e-3 if dtype == np.float32 else 1e-9)
    assert found.info.tolist()[7:9] == [1, 1]


def test_the_factors_of_a_batch_name_the_singular_matrix():
    a = matrices(60, 3, 3)
    a[5, 2] = a[5, 0] = 0
    with pytest.raises(RuntimeError, match=r"\(Batch element 5\): U\[2,2\] is zero"):
        ag.linalg.lu_factor(tensor(a))


@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("one", [True, False], ids=["one matrix", "as many matrices"])
def test_a_batch_is_solved_with_its_factors(left, adjoint, one):
    a, b = matrices(*(() if one else (30,)), 4, 4, dtype=np.complex128), matrices(30, 4, 4, dtype=np.complex128)
    lu, pivots = ag.linalg.lu_factor(tensor(a))
    x = ag.linalg.lu_solve(lu, pivots, tensor(b), left=left, adjoint=adjoint).numpy()
    m = np.conj(np.swapaxes(a, -1, -2)) if adjoint else a
    np.testing.assert_allclose(m @ x if left else x @ m, b, atol=1e-9)


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (4, 4)])
def test_least_squares_of_a_batch_are_those_of_each_matrix(shape, driver):
    a, b = matrices(20, *shape), matrices(20, shape[0], 2)
    a[3, :, 1] = a[3, :, 0]
    a[4] = 0
    if driver == "gels":
        a[3:5] = matrices(2, *shape)
    found = ag.linalg.lstsq(tensor(a), tensor(b), driver=driver)
    each = one_by_one(lambda x, y: (lambda f: (f[0], f[2], f[3]))(ag.linalg.lstsq(x, y, driver=driver)), 20, a, b)
    np.testing.assert_allclose(found.solution.numpy(), each[0], rtol=1e-8, atol=1e-8)
    if driver != "gels":
        assert found.rank.tolist() == each[1].tolist()
    if driver in ("gelsd", "gelss"):
        np.testing.assert_allclose(found.singular_values.numpy(), each[2], atol=1e-12)


def test_the_rank_at_a_tolerance_is_that_of_the_driver():
    a = np.stack([np.diag([1.0, t]) for t in (0.5, 0.2, 0.05, 0.01)])
    for driver in ("gelsy", "gelsd", "gelss"):
        found = ag.linalg.lstsq(tensor(a), tensor(np.ones((4, 2, 1))), rcond=0.1, driver=driver)
        assert found.rank.tolist() == [2, 2, 1, 1]
        np.testing.assert_allclose(found.solution[2].numpy(), [[1], [0]], atol=1e-12)


def taylor(a):
    """Exponentials by a series, in the precision of ``a``."""
    a = a / 2**10
    term = total = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    for i in range(1, 20):
        term = term @ a / i
        total = total + term
    for _ in range(10):
        total = total @ total
    return total


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("size", [1e-3, 1, 5])
def test_exponentials_are_right_to_rounding(dtype, size):
    a = matrices(20, 3, 3, dtype=dtype) * np.asarray(size, dtype)
    a[2] = 0
    a[3] *= 1e-3
    found, true = ag.matrix_exp(tensor(a)).numpy(), taylor(a.astype(np.clongdouble))
    assert found.dtype == dtype
    rounding = np.finfo(dtype).eps * max(size, 1) * 50
    assert all(np.abs(x - y).max() <= rounding * np.abs(y).max() for x, y in zip(found, true, strict=True))


def test_no_numbers_stay_with_their_matrix():
    a = np.zeros((20, 2, 2))
    a[3, 0, 0], a[4, 1, 1] = math.nan, math.inf
    for found in (ag.matrix_exp(tensor(a)), ag.linalg.lu_factor_ex(tensor(a + np.eye(2))).LU):
        spoilt = ~np.isfinite(found.numpy()).all((-2, -1))
        assert np.flatnonzero(spoilt).tolist() == [3, 4]


def test_reflections_of_a_batch_are_those_of_each_matrix():
    a = matrices(10, 4, 3)
    for x, each in zip(ag.geqrf(tensor(a)), one_by_one(ag.geqrf, 10, a), strict=True):
        np.testing.assert_allclose(x.numpy(), each, atol=1e-12)
