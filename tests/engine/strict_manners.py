"""Functions of CuPy's that are not quite NumPy's: what they read or refuse, by their arguments."""

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


def _solve(a, b):
    if b.ndim > 1 and a.shape[:-1] != b.shape[:-1]:
        refuse(Missing, f"solve of batches that are to be broadcast, {a.shape} and {b.shape}")


def _arrays(*args, **kwargs):
    for x in args:
        if not _on_device(x):
            refuse(Missing, f"{type(x).__name__} where CuPy takes arrays only")


MANNERS = {
    "bincount": _reads("bincount, which looks for the largest and for negative numbers"), "unravel_index": _reads("unravel_index"),
    "linspace": _linspace, "partition": _partition, "sort": _sort, "argsort": _sort, "unique": _unique, "lexsort": _lexsort,
    "solve": _solve, "isin": _arrays,
    "where": lambda condition, *args: None if isinstance(condition, np.generic) else _arrays(condition), "searchsorted": lambda a, *args, **kwargs: _arrays(a),
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "full_like"), _shaped_like),
}  # fmt: skip
"""By name, what looks at the arguments of functions before they are called."""
