"""The strict device itself: it refuses what would hide a fault, and allows what CuPy has. Other tests rest on this."""

import contextlib
import re
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
}  # fmt: skip
MIXES = {
    "add": lambda: X + np.ones(3), "left": lambda: np.ones(3) + X, "0-d": lambda: X * np.array(2.0), "where": lambda: np.where(X > 1, X, np.ones(3)),
    "index": lambda: X[np.array([0])], "value": lambda: X.__setitem__(0, np.array(1.0)), "concatenate": lambda: np.concatenate([X, np.ones(1)]),
    "method": lambda: X.dot(np.ones(3)), "out": lambda: np.add(X, 1, out=np.ones(3)),
}  # fmt: skip
LACKS = {
    "ufunc.reduce": lambda: np.add.reduce(X),
    "ufunc.at": lambda: np.add.at(X, 0, 1), "parameter": lambda: X.max(initial=0), "dtype": lambda: X.astype(np.longdouble),
    "linalg": lambda: np.linalg.vector_norm(X), "ufunc": lambda: np.spacing(X),
    "multiply.at": lambda: strict.multiply.at(X, strict.put(np.array([0])), 2.0), "special": lambda: strict.scipy("special").eval_legendre(1, X),
}  # fmt: skip


@pytest.mark.parametrize("name", READS)
def test_nothing_is_read_unless_asked(name):
    with pytest.raises(strict.HostRead):
        READS[name]()


@pytest.mark.parametrize("name", [n for n in READS if n not in ("asarray", "array")])
def test_reading_when_asked(name):
    with strict.allowed_host_reads():
        READS[name]()


@pytest.mark.parametrize("name", MIXES)
def test_numpy_arrays_do_not_mix(name):
    with pytest.raises(strict.Mixed):
        MIXES[name]()


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


def test_views_share_memory_and_have_one_base():
    x = strict.zeros((2, 3))
    x[0][1] = 5.0
    assert strict.host(x)[0, 1] == 5.0
    assert x[0].base is x
    assert x.T[1:].base is x
    assert x.base is None


NAMED = re.compile(r"\b(?:xp|array_module\(\w+(?:\._a)?\))\.([a-z]\w*(?:\.[a-z]\w*)*)")


def test_what_the_engine_asks_of_the_array_module_is_there():
    """Functions that kernels call by the module of their arrays; those called by NumPy's name are checked when they run."""
    engine = Path(__import__("agdbg_engine").__file__).parent
    found = {name for path in engine.rglob("*.py") for name in NAMED.findall(path.read_text())}
    assert len(found) > 10
    spaces = cupy_api.API
    for name in found - {"ogrid"}:
        space, _, last = f"cupy.{name}".rpartition(".")
        if last in cupy_api.UFUNC_METHODS:
            assert spaces["cupy"][space.removeprefix("cupy.")][0] == "ufunc", name
            assert space.removeprefix("cupy.") in (cupy_api.UFUNC_METHODS[last] or spaces["cupy"]), name
        else:
            assert last in spaces[space], name
