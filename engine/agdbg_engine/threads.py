"""How many threads matrix products run on: those of the OpenBLAS libraries that come with NumPy and SciPy."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import warnings
from pathlib import Path
from typing import Any

_PREFIXES = ("scipy_", "")
_SUFFIXES = ("64_", "", "_64")


def set_num_threads(num: int) -> None:
    """Let matrix products and decompositions run on ``num`` threads (everything else runs on one).

    Only where NumPy brings its own OpenBLAS, as its wheels do; elsewhere nothing changes and a warning says so: set the variable
    of the environment that the library reads (``OMP_NUM_THREADS``, ``MKL_NUM_THREADS``) before Python starts.
    """
    if not isinstance(num, int):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(num).__name__}")
    if num <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    found = _functions()
    if not found:
        warnings.warn(
            "set_num_threads has no effect: NumPy's linear algebra library is not a bundled OpenBLAS. Set OMP_NUM_THREADS or "
            "MKL_NUM_THREADS in the environment instead.",
            UserWarning,
            stacklevel=2,
        )
    for _, put in found:
        put(num)


def get_num_threads() -> int:
    """On how many threads matrix products run; the number of processors where that cannot be asked."""
    found = _functions()
    return int(found[0][0]()) if found else os.cpu_count() or 1


@functools.cache
def _functions() -> list[tuple[Any, Any]]:
    """What gets and what sets the number, for the library of NumPy and then for that of SciPy."""
    found = []
    for package in ("numpy", "scipy"):
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            continue
        home = Path(spec.origin).parent
        for path in sorted([*home.parent.glob(f"{package}.libs/*openblas*"), *home.glob(".dylibs/*openblas*")]):
            found += _pair(path)
    return found


def _pair(path: Path) -> list[tuple[Any, Any]]:
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return []
    for prefix in _PREFIXES:
        for suffix in _SUFFIXES:
            get = getattr(library, f"{prefix}openblas_get_num_threads{suffix}", None)
            put = getattr(library, f"{prefix}openblas_set_num_threads{suffix}", None)
            if get is not None and put is not None:
                return [(get, put)]
    return []
