"""Matrices without an inverse or a factor on a device, whose library gives anything there and says nothing of it."""

import math

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag

DEVICES = ["strict:0", "strict:1"]
L = ag.linalg
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
INDEFINITE = [[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
GOOD = [[2.0, 1.0], [1.0, 3.0]]
NAN = [[float("nan"), 1.0], [1.0, 2.0]]
FAILING = {
    "inv": (L.inv, SINGULAR),
    "inv of a batch": (L.inv, [GOOD, SINGULAR, GOOD]),
    "inv of many": (L.inv, [[GOOD, GOOD, GOOD], [GOOD, GOOD, SINGULAR]]),
    "inverse": (ag.inverse, SINGULAR),
    "inv_ex that checks": (lambda a: L.inv_ex(a, check_errors=True), SINGULAR),
    "tensorinv": (lambda a: L.tensorinv(a.reshape(2, 1, 2), ind=2), SINGULAR),
    "matrix_power": (lambda a: L.matrix_power(a, -1), SINGULAR),
    "solve": (lambda a: L.solve(a, a[..., 0]), SINGULAR),
    "solve of a batch": (lambda a: L.solve(a, a), [GOOD, SINGULAR]),
    "solve from the right": (lambda a: L.solve(a, a, left=False), [SINGULAR, GOOD]),
    "solve_ex that checks": (lambda a: L.solve_ex(a, a, check_errors=True), SINGULAR),
    "tensorsolve": (lambda a: L.tensorsolve(a, a[0]), SINGULAR),
    "cholesky": (L.cholesky, INDEFINITE),
    "cholesky of the upper triangle": (lambda a: L.cholesky(a, upper=True), INDEFINITE),
    "cholesky of a batch": (L.cholesky, [GOOD, [[1.0, 2.0], [2.0, 1.0]]]),
    "the older cholesky": (ag.cholesky, INDEFINITE),
    "cholesky_ex that checks": (lambda a: L.cholesky_ex(a, check_errors=True), INDEFINITE),
    "cholesky of NaN": (L.cholesky, NAN),
    "cholesky_inverse": (ag.cholesky_inverse, [[1.0, 0.0], [2.0, 0.0]]),
    "cholesky_inverse of a batch": (lambda a: ag.cholesky_inverse(a, upper=True), [GOOD, [[0.0, 1.0], [0.0, 2.0]]]),
    "lu_factor": (L.lu_factor, SINGULAR),
    "svd of NaN": (L.svd, NAN),
    "svdvals of NaN": (L.svdvals, [GOOD, NAN]),
    "svd of NaN in a batch": (L.svd, [GOOD, NAN]),
    "pinv of NaN": (L.pinv, NAN),
    "matrix_rank of NaN": (L.matrix_rank, NAN),
    "the nuclear norm of NaN": (lambda a: L.matrix_norm(a, "nuc"), NAN),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", FAILING)
def test_it_is_the_error_of_the_cpu(case, device):
    function, data = FAILING[case]
    with pytest.raises(RuntimeError) as expected:
        function(ag.tensor(data))
    x = ag.tensor(data, device=device)
    with strict.allowed_host_reads(), pytest.raises(type(expected.value)) as caught:
        function(x)
    assert type(caught.value) is type(expected.value)
    assert str(caught.value).splitlines()[0] == str(expected.value).splitlines()[0]


GIVEN = {
    "inv_ex": (L.inv_ex, [GOOD, SINGULAR, GOOD]),
    "inv_ex of one": (L.inv_ex, SINGULAR),
    "solve_ex": (lambda a: L.solve_ex(a, a), [GOOD, SINGULAR]),
    "cholesky_ex": (L.cholesky_ex, [INDEFINITE, np.eye(3).tolist()]),
    "cholesky_ex of one": (L.cholesky_ex, INDEFINITE),
    "lu_factor_ex": (L.lu_factor_ex, [GOOD, SINGULAR]),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", GIVEN)
def test_info_says_which(case, device):
    function, data = GIVEN[case]
    expected = function(ag.tensor(data))
    with strict.allowed_host_reads():
        found = function(ag.tensor(data, device=device))
        assert found.info.device == ag.device(device) and found.info.dtype == ag.int32
        assert found.info.cpu().tolist() == expected.info.tolist()
        good = expected.info == 0
        if good.ndim:
            assert ag.allclose(found[0].cpu()[good], expected[0][good])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("p", [1, -1, float("inf"), "fro", "nuc", 2, None])
def test_condition_numbers_of_singular_matrices(p, device):
    data = [GOOD, [[1.0, 0.0], [0.0, 0.0]]]
    with strict.allowed_host_reads():
        found = L.cond(ag.tensor(data, device=device), p)
        assert ag.allclose(found.cpu(), L.cond(ag.tensor(data), p)) and found.cpu().isinf().tolist() == [False, True]


@pytest.mark.parametrize("device", ["cpu", *DEVICES])
@pytest.mark.parametrize("dtype", [ag.float64, ag.complex128])
def test_the_triangle_that_is_not_asked_for_is_not_read(dtype, device):
    a = ag.tensor([[4.0, 2.0, 1.0], [2.0, 5.0, 3.0], [1.0, 3.0, 6.0]], dtype=dtype, device=device)
    with strict.allowed_host_reads():
        assert ag.allclose(L.cholesky(a.tril()), L.cholesky(a))
        assert ag.allclose(L.cholesky(a.triu(), upper=True), L.cholesky(a, upper=True))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "shapes", [((2, 2), (3, 2, 1)), ((3, 2, 2), (2, 1)), ((3, 1, 2, 2), (2, 2, 1)), ((3, 2, 2), (2,))]
)
def test_systems_whose_batches_broadcast(shapes, device):
    a, b = (ag.arange(float(math.prod(s))).reshape(s) for s in shapes)
    a = a + 5 * ag.eye(2)
    grads = []
    for place in ("cpu", device):
        x, y = (t.clone().to(place).requires_grad_() for t in (a, b))
        with strict.allowed_host_reads():
            out = L.solve(x, y)
            out.square().sum().backward()
            grads.append([t.detach().cpu() for t in (out, x.grad, y.grad)])
    assert all(ag.allclose(p, q) for p, q in zip(*grads, strict=True))


EMPTY = {
    "det": L.det, "slogdet": lambda a: L.slogdet(a)[1], "inv": L.inv, "cholesky": L.cholesky, "lu_factor": lambda a: L.lu_factor(a)[0],
    "solve": lambda a: L.solve(a, a), "svdvals": L.svdvals, "eigvalsh": L.eigvalsh, "pinv": L.pinv, "qr": lambda a: L.qr(a)[1],
}  # fmt: skip


@pytest.mark.parametrize("device", ["cpu", *DEVICES])
@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
@pytest.mark.parametrize("case", EMPTY)
def test_derivatives_of_matrices_without_elements(case, shape, device):
    strict.refusals.clear()
    function, a = EMPTY[case], ag.zeros(shape, device=device, requires_grad=True)
    with strict.allowed_host_reads():
        out = function(a)
        (g,) = ag.autograd.grad(out.sum(), a, create_graph=True)
        assert g.shape == shape and g.device == a.device
        primal, tangent = ag.func.jvp(function, (a.detach(),), (ag.zeros_like(a).detach(),))
        assert primal.shape == tangent.shape == out.shape and tangent.device == a.device
    assert not strict.refusals


def test_the_strict_device_says_nothing_of_a_failure_unless_asked_as_cupy():
    singular, indefinite, nan = strict.put(SINGULAR), strict.put(INDEFINITE), strict.put(NAN)
    assert np.isnan(strict.host(np.linalg.inv(singular))).all()
    assert np.isfinite(strict.host(np.linalg.cholesky(indefinite))).all()
    assert np.isnan(strict.host(np.linalg.svd(nan, compute_uv=False))).all()
    with strict.allowed_host_reads(), strict.BACKEND.linalg_errors(), pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(singular)
    with strict.BACKEND.linalg_errors(), pytest.raises(strict.HostRead):
        np.linalg.inv(singular)
    strict.refusals.clear()
