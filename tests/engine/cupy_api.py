"""What CuPy has: the names in ``data/cupy_api.txt``, by namespace, with the parameters where they are known."""

from pathlib import Path


def _read():
    found, space = {}, {}
    for line in (Path(__file__).parent / "data" / "cupy_api.txt").read_text().splitlines():
        if line.startswith("["):
            space = found[line.strip("[]")] = {}
        elif line and not line.startswith("#"):
            name, kind, *parameters = line.split()
            space[name] = kind, tuple(parameters)
    return found


API = _read()
"""Namespace (``cupy``, ``cupy.linalg``, ``cupyx.scipy.special``...) to name to kind and parameters."""

UFUNC_METHODS = {
    "at": {"add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"},
    "reduce": {"add", "multiply"},
    "accumulate": {"add", "multiply"},
    "reduceat": {"add"},
    "outer": None,
}
"""The methods of CuPy's ufuncs, and which ufuncs have them (all, where that is ``None``)."""


def refusal(space, name, args=0, kwargs=()):
    """Why ``space.name`` cannot be called with so many arguments and these keywords; ``None`` when it can."""
    if name not in API[space]:
        return f"{space}.{name} does not exist"
    kind, parameters = API[space][name]
    if kind == "ufunc":
        unknown = set(kwargs) - {"out", "dtype", "casting"}
    elif not parameters:
        return None  # nothing is known
    else:
        unknown = set(kwargs) - set(parameters)
        if "*" not in parameters and args > len(parameters):
            return f"{space}.{name} takes at most {len(parameters)} arguments, not {args}"
    return f"{space}.{name} has no argument {', '.join(sorted(unknown))}" if unknown else None
