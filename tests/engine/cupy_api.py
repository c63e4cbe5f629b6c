"""What CuPy has: the names in ``data/cupy_api.txt``, by namespace, with the parameters where they are known."""

import ast
import functools
from pathlib import Path

import numpy as np


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

AT = {
    "add": "iILQefd", "subtract": "iI", **dict.fromkeys(("maximum", "minimum"), "iILQ"),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), "ilqILQ"),
}  # fmt: skip
"""The type codes that ``at`` takes, by ufunc. CuPy takes floats for extremes too, but loses NaN and rounds doubles to single precision."""


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


@functools.cache
def loop(space, name, *operands):
    """The type codes of the results of a ufunc of CuPy's for operands of these dtypes; ``None`` where it takes none of them."""
    for each in API[space][name][1]:
        takes, _, gives = each.partition("->")
        if len(takes) == len(operands) and all(map(np.can_cast, operands, takes)):
            return gives
    return None


# ----- what code asks for -----

_SPECIAL = {"functions_of": "cupyx.scipy.special"}
"""Functions of the engine that give a namespace."""
_NAMED = {
    **dict.fromkeys(("_scipy", "by_scipy", "_eval"), "cupyx.scipy.special.{}"), "made": "cupy.{}", "_like": "cupy.{}_like",
}  # fmt: skip
"""Functions of the engine that call one by its name, which is their first argument."""
COMPUTED = "<computed>"
"""Stands for a name that is not written where it is used: whoever lists what code asks for says which they may be."""
NUMPYS_ALONE = {"ctypes", "getfield", "resize", "setfield", "setflags"}
"""Methods and attributes of NumPy's arrays that CuPy's lack, and tensors too, so that the name alone tells."""
KEYWORDS = {
    **dict.fromkeys(("max", "min", "sum", "prod", "all", "any", "mean"), frozenset(("initial", "where"))), "argsort": {"kind", "stable"}, "sort": {"kind", "stable"},
    "reshape": {"copy"}, "partition": {"kind"}, "argpartition": {"kind"}, "cumsum": {"where"}, "std": {"where", "correction", "mean"}, "take": {"mode"},
}  # fmt: skip
"""Parameters that methods of NumPy's arrays have and those of CuPy's lack."""


def asked(source):
    """What ``source`` uses of NumPy, of SciPy by the array and of the array module that CuPy does not have: name and reason."""
    tree = ast.parse(source)
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    imported = dict(_imports(tree))
    yield from (
        (name, "SciPy itself takes no arrays of a device") for name in imported.values() if name.startswith("scipy")
    )
    yield from ((name, "all names at once") for name in imported.values() if name.endswith(".*"))
    imported |= _aliases(tree, imported)
    inside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if (found := _of_array(node, called.get(id(node)))) is not None:
            yield found
        name = _name(node, imported)
        if name is not None and name.endswith(COMPUTED):
            yield name, "the name is computed"
            continue
        if name is None or (id(node) in inside and not callable(_found(name))):
            continue
        space, _, last = name.rpartition(".")
        if space == "cupyx.scipy":
            continue
        method_of = space.rpartition(".")
        if last in UFUNC_METHODS and isinstance(_found(space), np.ufunc):
            reason = f"{space}.{last} by way of NumPy" if space.startswith("numpy") else _method(method_of[2], last)
        elif space.startswith("cupyx") or (callable(_found(name)) and not isinstance(_found(name), type)):
            reason = _refused(space.replace("numpy", "cupy", 1), last, called.get(id(node)))
        else:
            continue
        if reason:
            yield name, reason


def _imports(tree):
    """Names by which a module knows NumPy and SciPy and what is in them."""
    for node in ast.walk(tree):
        names = node.names if isinstance(node, ast.Import | ast.ImportFrom) else ()
        inside = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in names:
            name = inside + alias.name
            root = name.partition(".")[0]
            if root not in ("numpy", "scipy") or getattr(node, "level", 0):
                continue
            if isinstance(node, ast.Import) and not alias.asname:
                yield root, root
            else:
                yield alias.asname or alias.name, name


def _of_array(node, call):
    """What a method or attribute that arrays of NumPy alone have is called, and why; ``None`` for others."""
    if not isinstance(node, ast.Attribute):
        return None
    if node.attr in NUMPYS_ALONE:
        return f"ndarray.{node.attr}", f"cupy.ndarray has no {node.attr}"
    of_library = isinstance(node.value, ast.Name) and node.value.id in ("np", "xp", "numpy")
    unknown = KEYWORDS.get(node.attr, set()) & {k.arg for k in call.keywords} if call and not of_library else set()
    return (f"ndarray.{node.attr}", f"no argument {', '.join(sorted(unknown))}") if unknown else None


def _aliases(tree, imported):
    """Variables that are always given something of the libraries (``lib = array_module(x)``, ``f = lib.add``), by name."""
    given = {}
    for node in ast.walk(tree):
        pairs = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            pairs = [(node.target, node.value)]
        for target, value in pairs:
            together = (
                isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts)
            )
            for name, each in zip(target.elts, value.elts, strict=True) if together else [(target, value)]:
                if isinstance(name, ast.Name):
                    given.setdefault(name.id, []).append(each)
    found = {}
    while True:
        names = {k: {_name(v, imported | found) for v in values} for k, values in given.items() if k not in found}
        new = {k: name for k, v in names.items() if (name := _one_of(v)) is not None}
        if not new:
            return found
        found |= new


def _one_of(names):
    """What stands where one of these may: of NumPy and CuPy the one that has less; ``None`` where that is not known."""
    if names == {"numpy", "cupy"}:
        return "cupy"
    return next(iter(names)) if len(names) == 1 else None


def _method(ufunc, method):
    allowed = UFUNC_METHODS[method]
    return None if allowed is None or ufunc in allowed else f"cupy.{ufunc}.{method} does not exist"


def _refused(space, name, call):
    if space not in API:
        return f"{space} does not exist"
    keywords = [k.arg for k in call.keywords if k.arg] if call else []
    plain = [] if call is None or any(isinstance(a, ast.Starred) for a in call.args) else call.args
    return refusal(space, name, len(plain), keywords)


def _name(node, imported):
    """``numpy.linalg.det`` of ``np.linalg.det``, of a name imported from NumPy, of ``xp.linalg.det``."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return imported.get(node.id) or {"np": "numpy", "xp": "cupy"}.get(node.id)
    if isinstance(node, ast.NamedExpr):
        return _name(node.value, imported)
    if isinstance(node, ast.IfExp):
        return _one_of({_name(node.body, imported), _name(node.orelse, imported)})
    if isinstance(node, ast.Attribute):
        inner = _name(node.value, imported)
        if inner is None and node.attr == "module":  # of a backend
            return "cupy"
        return f"{inner}.{node.attr}" if inner else None
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        if called == "getattr" and (inner := _name(node.args[0], imported)):
            return f"{inner}.{_constant(node.args[1])}"
        if called in _NAMED and node.args:
            written = _constant(node.args[0])
            return _NAMED[called].format(written) if written != COMPUTED else None
        if called in ("array_module", "module_of"):
            return "cupy"
        if called == "scipy_for" and isinstance(node.args[1], ast.Constant):
            return f"cupyx.scipy.{node.args[1].value}"
        return _SPECIAL.get(called)
    return None


def _constant(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else COMPUTED


@functools.cache
def _found(name):
    """The thing of NumPy's that goes by a name of NumPy's or CuPy's; ``None`` for none."""
    found = np
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found if name.partition(".")[0] in ("numpy", "cupy") else None
