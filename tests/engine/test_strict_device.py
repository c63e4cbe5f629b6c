"""The strict device itself: it refuses what would hide a fault, and allows what CuPy has. Other tests rest on this."""

import contextlib
from pathlib import Path

import agdbg_tests_cupy_api as cupy_api
import agdbg_tests_strict_device as strict
import numpy as np
import pytest

X = strict.put(np.array([1.0, 2.0, 3.0]))
ONE = strict.put(np.array(1.0))

READS = {
    "float": lambda: float(ONE), "int": lambda: int(ONE), "bool": lambda: bool(ONE), "item": lambda: ONE.item(), "get": lambda: X.get(),
    "tolist": lambda: X.tolist(), "asarray": lambda: np.asarray(X), "array": lambda: np.array([X, X]), "a mask": lambda: X[X > 1],
    "nonzero": lambda: X.nonzero(), "unique": lambda: np.unique(X), "where": lambda: np.where(X > 1), "in": lambda: 1.0 in X,
    "bincount": lambda: np.bincount(X.astype(int), minlength=5), "linspace": lambda: np.linspace(X, X + 1, 3), "unravel_index": lambda: np.unravel_index(X.astype(int), (2, 2)),
}  # fmt: skip
MIXES = {
    "add": lambda: X + np.ones(3), "left": lambda: np.ones(3) + X, "0-d": lambda: X * np.array(2.0), "where": lambda: np.where(X > 1, X, np.ones(3)),
    "value in place": lambda: X.__iadd__(np.ones(3)), "index to add at": lambda: strict.add.at(X, np.array([0]), 1.0), "concatenate": lambda: np.concatenate([X, np.ones(1)]),
    "method": lambda: X.dot(np.ones(3)), "out": lambda: np.add(X, 1, out=np.ones(3)),
}  # fmt: skip
LACKS = {
    "ufunc.reduce": lambda: np.add.reduce(X),
    "ufunc.at": lambda: np.add.at(X, 0, 1), "parameter": lambda: X.max(initial=0), "dtype": lambda: X.astype(np.longdouble),
    "a ufunc of other dtypes": lambda: np.logical_not(X.astype(complex)), "a special function of others": lambda: strict.scipy("special").erf(X.astype(complex)),
    "the shape ()": lambda: np.zeros_like(X, shape=()), "partition of NaN": lambda: np.partition(X * np.nan, 1), "the kind of a sort": lambda: np.sort(X, kind="heapsort"),
    "unique slices": lambda: np.unique(X.reshape(3, 1), axis=0), "lexsort of several arrays": lambda: np.lexsort((X, X)), "solve that broadcasts": lambda: np.linalg.solve(X.reshape(3, 1, 1), X.reshape(1, 3, 1, 1)),
    "isin of a number": lambda: np.isin(1.0, X), "where of a bool": lambda: np.where(True, X, X),
    "linalg": lambda: np.linalg.vector_norm(X), "ufunc": lambda: np.spacing(X),
    "multiply.at": lambda: strict.multiply.at(X, strict.put(np.array([0])), 2.0), "special": lambda: strict.scipy("special").eval_legendre(1, X),
}  # fmt: skip


@pytest.mark.parametrize("name", READS)
def test_nothing_is_read_unless_asked(name):
    with pytest.raises((strict.HostRead, strict.Mixed)):
        READS[name]()


@pytest.mark.parametrize("name", [n for n in READS if n not in ("asarray", "array")])
def test_reading_when_asked(name):
    with strict.allowed_host_reads():
        READS[name]()


@pytest.mark.parametrize("name", MIXES)
def test_numpy_arrays_do_not_mix(name):
    with pytest.raises(strict.Mixed):
        MIXES[name]()


def test_indices_and_what_is_put_at_them_are_copied_as_cupy_does():
    x = strict.put(np.arange(6.0).reshape(2, 3))
    index = np.array([[1, 0, 1]])
    assert strict.host(x[index[0]]).tolist() == [[3, 4, 5], [0, 1, 2], [3, 4, 5]]
    assert strict.host(x.take(index)).tolist() == strict.host(np.take(x, index)).tolist() == [[1, 0, 1]]
    assert strict.host(np.take_along_axis(x, index, 0)).tolist() == [[3, 1, 5]]
    x[[0]] = np.array([7.0, 8.0, 9.0])
    x[1] = np.array(4.0)
    assert strict.host(x).tolist() == [[7, 8, 9], [4, 4, 4]]
    with pytest.raises(strict.Mixed):
        x[0] = np.array([7.0, 8.0, 9.0])
    broadcast = np.broadcast_to(x[1, :1], (3,))
    broadcast[0] = 5.0  # nothing on the device is read-only
    assert strict.host(x)[1].tolist() == [5, 4, 4]
    with pytest.raises(strict.HostRead):
        x[np.array([True, False])]


@pytest.mark.parametrize("name", LACKS)
def test_what_cupy_lacks(name):
    with pytest.raises((strict.Missing, AttributeError)):
        LACKS[name]()


def test_every_refusal_is_noted():
    strict.refusals.clear()
    with contextlib.suppress(strict.HostRead):
        float(ONE)
    (text,) = strict.refusals
    assert "__float__" in text
    assert "test_strict_device.py" in text


def test_results_are_arrays_on_the_device():
    for found in (X.sum(), np.sqrt(X), X[0], np.allclose(X, X), X == X, np.linalg.norm(X), -X, X.T, X.real):
        assert type(found) is strict.ndarray
    x = X
    x += np.float64(0)
    assert x is X


def test_ufuncs_give_the_dtypes_of_cupy():
    half = X.astype(np.float16)
    assert strict.scipy("special").expit(half).dtype == np.float64  # SciPy gives float16
    assert (X.astype(np.int8) + 1).dtype == np.int8
    assert (X.astype(np.int8) * 1.5).dtype == np.float64
    assert np.sqrt(X.astype(np.int32)).dtype == np.float64
    assert [each.dtype for each in np.frexp(half)] == [np.float16, np.int32]


def test_results_lie_as_those_of_cupy():
    x = strict.put(np.arange(24.0).reshape(2, 3, 4)).transpose(2, 0, 1)
    for made in (np.exp(x), x + x, -x, np.where(x > 1, x, x), x.sum(0), x[strict.put(np.array([1, 0]))], x.copy()):
        assert made.flags.c_contiguous
    for made in (x.copy("K"), x.astype(np.float32), np.zeros_like(x)):
        assert not made.flags.c_contiguous
    host = np.arange(6.0).reshape(2, 3)
    assert strict.array(host.T).strides == host.T.strides
    assert strict.array(np.arange(24.0).reshape(2, 3, 4).transpose(0, 2, 1)).flags.c_contiguous
    with strict.allowed_host_reads():
        assert strict.put(host.T).get().flags.c_contiguous
        assert strict.put(host.T).get(order="A").flags.f_contiguous


def test_views_share_memory_and_have_one_base():
    x = strict.zeros((2, 3))
    x[0][1] = 5.0
    assert strict.host(x)[0, 1] == 5.0
    assert x[0].base is x
    assert x.T[1:].base is x
    assert x.base is None


_HOST, _SHAPES, _DTYPES = (
    "for NumPy's arrays only, behind a test",
    "of shapes, not of arrays",
    "of dtypes, not of arrays",
)
NOT_OF_CUPY = {
    "numpy.broadcast_shapes": _SHAPES, "numpy.promote_types": _DTYPES, "numpy.geterr": "NumPy's own settings",
    "numpy.add.reduce": _HOST, "numpy.add.reduceat": _HOST, "numpy.maximum.reduce": _HOST, "numpy.vecdot": _HOST, "numpy.linalg.cholesky": _HOST,
    "numpy.lib.array_utils.byte_bounds": _HOST, "numpy.lib.format.read_array_header_1_0": "files", "numpy.lib.format.read_magic": "files",
    "numpy.lib.format.write_array": "files", "cupyx.scipy.special.airy": "refused on a device: ops/host_only.py",
    **dict.fromkeys((f"cupyx.scipy.special.eval_{name}" for name in ("chebyt", "chebyu", "hermite", "hermitenorm", "laguerre", "legendre")), "refused on a device: ops/host_only.py"),
    **dict.fromkeys(("scipy.linalg.blas", "scipy.linalg.get_blas_funcs", "scipy.linalg.get_lapack_funcs", "scipy.linalg.lapack", "scipy.linalg.lstsq", "scipy.spatial.distance"), _HOST),
    **dict.fromkeys(("ndarray.argsort", "ndarray.ctypes", "ndarray.max", "ndarray.reshape"), _HOST),
}  # fmt: skip
"""What the engine uses that CuPy lacks, or lacks with these parameters, and why no array of a device comes there."""


MAY_BE = {
    "creation.py": "zeros ones empty full zeros_like ones_like empty_like full_like", "repeated_index.py": "add maximum minimum",
    "ops/compare.py": "bitwise_and bitwise_or bitwise_xor", "ops/wide/pointwise/written_tests.py": "logical_and logical_or logical_xor",
    "numpy_interop.py": "",  # asks only whether there is such a ufunc
    "ops/wide/layers/embedding_bag.py": "", "ops/wide/linalg/ldl.py": "",  # of NumPy's arrays, behind a test
    "ops/wide/special/polynomials.py": "", "ops/wide/special/scipy_values.py": "",  # by functions that are looked at where they are given a name
}  # fmt: skip
"""Files that use a function of the libraries by a name that is computed, and the names that it may be."""


def test_the_engine_asks_for_nothing_that_cupy_lacks():
    """Every function of NumPy that the engine's code names, of the array module, and of SciPy by way of the array."""
    engine = Path(__import__("agdbg_engine").__file__).parent
    found = [(path, *each) for path in engine.rglob("*.py") for each in cupy_api.asked(path.read_text())]
    written = [each for each in found if not each[1].endswith(cupy_api.COMPUTED)]
    assert [f"{path.name}: {reason}" for path, name, reason in written if name not in NOT_OF_CUPY] == []
    assert {name for _, name, _ in written} == set(NOT_OF_CUPY)  # nothing is excused that is gone
    computed = {path.relative_to(engine).as_posix() for path, name, _ in found if name.endswith(cupy_api.COMPUTED)}
    assert computed == set(MAY_BE)
    for names in MAY_BE.values():
        assert [name for name in names.split() if name not in cupy_api.API["cupy"]] == []


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("np.spacing(x)", "numpy.spacing"), ("spacing(x)", "numpy.spacing"), ("np.max(x, initial=0)", "numpy.max"),
        ("np.multiply.reduce(x)", "numpy.multiply.reduce"), ("np.log(x, where=x > 0)", "numpy.log"), ("np.linalg.vector_norm(x)", "numpy.linalg.vector_norm"),
        ("xp.multiply.at(x, 0, 1)", "cupy.multiply.at"), ("array_module(x._a).spacing(x)", "cupy.spacing"),
        ("functions_of(x).eval_legendre(1, x)", "cupyx.scipy.special.eval_legendre"), ("scipy_for(x, 'linalg').schur(x)", "cupyx.scipy.linalg.schur"),
        ("module_of(p).spacing(x)", "cupy.spacing"), ("backend_of(x).module.spacing(x)", "cupy.spacing"), ("getattr(module_of(p), n)(x)", "cupy.<computed>"),
        ("lib = array_module(x) if y else np; lib.spacing(x)", "cupy.spacing"), ("(np if y else xp).spacing(x)", "cupy.spacing"),
        ("lib = array_module(x); lib.spacing(x)", "cupy.spacing"), ("f = np.add; g = f; g.reduce(x)", "numpy.add.reduce"),
        ("f = (lib := xp).multiply.at; f(x, 0, 1)", "cupy.multiply.at"), ("a, b = np, np.linalg; b.vector_norm(x)", "numpy.linalg.vector_norm"),
        ("table = {'f': np.spacing}", "numpy.spacing"), ("np.cumsum(x, 0, None, None, 1)", "numpy.cumsum"),
        ("import numpy; numpy.spacing(x)", "numpy.spacing"), ("import numpy as N; N.spacing(x)", "numpy.spacing"), ("import numpy.linalg; numpy.linalg.vector_norm(x)", "numpy.linalg.vector_norm"),
        ("import numpy.linalg as L; L.vector_norm(x)", "numpy.linalg.vector_norm"), ("from numpy import linalg as L; L.vector_norm(x)", "numpy.linalg.vector_norm"), ("from numpy import *", "numpy.*"),
        ("getattr(np, 'spacing')(x)", "numpy.spacing"), ("getattr(np, 'max')(x, initial=0)", "numpy.max"), ("getattr(xp, x)(1)", "cupy.<computed>"), ("f = getattr(np.linalg, x)", "numpy.linalg.<computed>"),
        ("by_scipy('eval_legendre')", "cupyx.scipy.special.eval_legendre"), ("from scipy.special import erf", "scipy.special.erf"), ("import scipy.special as s; s.erf(x)", "scipy.special"),
        ("x.max(initial=0)", "ndarray.max"), ("(x + 1).sum(where=x > 0)", "ndarray.sum"), ("x.argsort(kind='stable')", "ndarray.argsort"), ("x.setflags(write=False)", "ndarray.setflags"), ("x.ctypes.data", "ndarray.ctypes"),
    ],
)  # fmt: skip
def test_a_function_that_only_numpy_has_does_not_slip_in(code, name):
    source = f"import numpy as np\nfrom numpy import spacing\ndef f(x, xp):\n    {code}\n"
    assert name in [each for each, _ in cupy_api.asked(source)]
    fine = source.replace(
        code, "np.linalg.det(np.add(x, np.pi, out=x)) + xp.add.at(x, 0, 1) + functions_of(x).gammaln(x)"
    )
    assert list(cupy_api.asked(fine)) == []
