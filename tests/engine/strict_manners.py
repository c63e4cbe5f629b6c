"""Functions of CuPy's that are not quite NumPy's: what they read or refuse, by their arguments."""

import contextlib
import threading

import numpy as np
from agdbg_tests_strict_refusals import Missing, read, refuse


def _on_device(x):
    """Whether ``x`` is an array of the strict device, which is made of this module among others."""
    return hasattr(x, "_host")


def _reads(name):
    return lambda *args, **kwargs: read(name)


def _linspace(start, stop, *args, **kwargs):
    if _on_device(start) or _on_device(stop):
        read("linspace between arrays")


def _shaped_like(*args, **kwargs):
    if kwargs.get("shape") is not None and not kwargs["shape"]:
        refuse(Missing, "an array like another one of the shape (): CuPy gives it the shape of the other one")


def _partition(a, *args, **kwargs):
    if np.isnan(a._host).any():
        refuse(Missing, "partition of NaN, which CuPy does not tell from others")


def _sort(a, axis=-1, kind=None):
    if kind not in (None, "stable"):
        refuse(Missing, f"sort of the kind {kind}")


def _unique(a, *args, axis=None, **kwargs):
    if axis is not None:
        refuse(Missing, "unique along an axis: CuPy compares slices on the host, one by one, and no bools")


def _lexsort(keys, *args, **kwargs):
    if not _on_device(keys) or keys.ndim > 2:
        refuse(Missing, "lexsort of anything but an array of one or two dimensions")


def _full(a, *args, **kwargs):
    if not a.size:
        refuse(Missing, f"linear algebra of matrices {a.shape}, which not all routines of CUDA take")


def _solve(a, b):
    _full(a)
    if b.ndim > 1 and a.shape[:-1] != b.shape[:-1]:
        refuse(Missing, f"solve of batches that are to be broadcast, {a.shape} and {b.shape}")


def _arrays(*args, **kwargs):
    for x in args:
        if not _on_device(x):
            refuse(Missing, f"{type(x).__name__} where CuPy takes arrays only")


MANNERS = {
    "bincount": _reads("bincount, which looks for the largest and for negative numbers"), "unravel_index": _reads("unravel_index"),
    "linspace": _linspace, "partition": _partition, "sort": _sort, "argsort": _sort, "unique": _unique, "lexsort": _lexsort,
    "solve": _solve, "isin": _arrays, **dict.fromkeys(("inv", "cholesky", "lu_factor"), _full),
    "where": lambda condition, *args: None if isinstance(condition, np.generic) else _arrays(condition), "searchsorted": lambda a, *args, **kwargs: _arrays(a),
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "full_like"), _shaped_like),
}  # fmt: skip
"""By name, what looks at the arguments of functions before they are called."""

# ----- the order of elements in memory -----

_ORDERED = {"copy", "astype", "empty_like", "zeros_like", "ones_like", "full_like"}
"""Functions whose results lie as what they are made from, or as they were asked to."""


def in_order(name, result):
    """New memory that CuPy's function ``name`` gives lies in C's order; NumPy's keeps the order of the operands."""
    if isinstance(result, tuple | list):
        items = [in_order(name, x) for x in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    new = isinstance(result, np.ndarray) and result.base is None and name not in _ORDERED
    return np.ascontiguousarray(result) if new and result.ndim else result


def uploaded(data):
    """What ``cupy.array`` makes of an array of NumPy or of lists: in C's order unless all of it lies in Fortran's."""
    return np.array(data, order="A")


# ----- linear algebra that fails -----

_FAILS = {"cholesky", "eig", "eigh", "eigvals", "eigvalsh", "inv", "solve", "svd"}


class _Told(threading.local):
    raises = False


_told = _Told()


@contextlib.contextmanager
def linalg_errors():
    """Inside, linear algebra raises where it failed, and reads from the device to know; otherwise it gives anything, as CuPy does."""
    before, _told.raises = _told.raises, True
    try:
        yield
    finally:
        _told.raises = before


def attempted(function, args, kwargs):
    """``function`` of arrays of NumPy; what CuPy gives where linear algebra fails."""
    if getattr(function, "__module__", None) != "numpy.linalg" or function.__name__ not in _FAILS:
        return function(*args, **kwargs)
    if _told.raises:
        read("what a routine says")
        return function(*args, **kwargs)
    try:
        return function(*args, **kwargs)
    except np.linalg.LinAlgError:
        return _anything(function, args, kwargs)


def _anything(function, args, kwargs):
    """Results of the matrices that have some, and NaN of others; of ``cholesky`` finite numbers that are no factor."""
    batch = args[0].shape[:-2]
    if batch:
        rows = [
            attempted(function, [a[i] if isinstance(a, np.ndarray) else a for a in args], kwargs)
            for i in range(len(args[0]))
        ]
        if isinstance(rows[0], tuple):
            return type(rows[0])(*map(np.stack, zip(*rows, strict=True)))
        return np.stack(rows)
    if function.__name__ == "cholesky":
        return np.tril(args[0])
    good = function(np.eye(*args[0].shape, dtype=args[0].dtype), *args[1:], **kwargs)
    if isinstance(good, tuple):
        return type(good)(*(np.full_like(x, np.nan) for x in good))
    return np.full_like(good, np.nan)
