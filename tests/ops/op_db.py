"""PyTorch's own list of ops, and where the engine has each of them.

An entry of ``op_db`` calls its op through ``op.op``: a function of PyTorch, a method, or a small function of the list
itself that calls one. The last are called with the name ``torch`` bound to the engine, so that both libraries do what
the entry says.
"""

import functools
import importlib.util
import sys
import types
import unittest
import warnings

import torch

import agdbg_engine as engine
from agdbg_engine.missing import reason


def _load():
    """The entries, in the order of the list."""
    if importlib.util.find_spec("expecttest") is None:  # a base class of PyTorch's tests, which are not run here
        stand_in = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase
        sys.modules["expecttest"] = stand_in
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch._decomp import decompositions_for_jvp  # noqa: F401 - warns when forward mode loads it at first use
        from torch.testing._internal.common_methods_invocations import op_db
    return list(op_db)


OPS = {f"{op.name}:{op.variant_test_name}" if op.variant_test_name else op.name: op for op in _load()}
"""Entry by its name, with the name of the variant behind a colon where it has one."""

INTERNAL = frozenset(("max_pool2d_with_indices_backward",))
"""Entries that call ATen by arguments which no public function takes."""

NAMESPACES = ("", "linalg", "special", "fft", "nn.functional")


def dotted(root, name):
    """What lies under a dotted name, or None; dtypes, modules and classes that have an op's name are no ops."""
    found = root
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found if callable(found) and not isinstance(found, type) else None


def method(name):
    """The engine's method or attribute of tensors as a function, or None."""
    found = getattr(engine.Tensor, name, None)
    if found is None:
        return None
    return found if callable(found) else lambda x: getattr(x, name)


def has(op):
    """Whether the engine has the op of an entry: the function where PyTorch has one, else the method, maybe only in place, or a row."""
    if (op.name.startswith("_") and not op.name.startswith("__")) or op.name in INTERNAL:
        return False  # no public op of PyTorch
    if reason(op.name) is not None:
        return False  # at most a method that tells why it is not there
    if dotted(torch, op.name) is not None:
        return dotted(engine, op.name) is not None
    return any(f is not None for f in (method(op.name), method(op.name + "_"), dotted(engine.ops, op.name)))


def present():
    """Names of the entries whose op the engine has."""
    return [name for name, op in OPS.items() if has(op)]


def of_torch(function):
    """A function of the list as it is, but that the caller sees to the seed."""
    return bound(function, torch)


def of_engine(op):
    """The engine's function for an entry."""
    if _of_the_list(op.op) or isinstance(op.op, functools.partial):
        return bound(op.op, engine)
    return dotted(engine, op.name) or method(op.name) or dotted(engine.ops, op.name)


def method_of_engine(op, variant):
    """The engine's method for a method of PyTorch (``op.method_variant`` or ``op.inplace_variant``), or None."""
    if _of_the_list(variant) or isinstance(variant, functools.partial):
        return bound(variant, engine)
    names = (op.name, op.name + "_", op.name.rpartition(".")[2], getattr(variant, "__name__", ""))
    return next((method(n) for n in names if n and getattr(torch.Tensor, n, None) is variant), None)


def bound(function, library):
    """``function`` with ``torch`` meaning ``library`` in it, if the list defines it; else its counterpart in the library."""
    if isinstance(function, functools.partial):
        return functools.partial(bound(function.func, library), *function.args, **function.keywords)
    if not _of_the_list(function):
        return function if library is torch else _counterpart(function)
    cells = function.__closure__ and tuple(_cell(c, library) for c in function.__closure__)
    made = types.FunctionType(
        function.__code__, _globals(function, library), function.__name__, function.__defaults__, cells
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _of_the_list(function):
    return isinstance(function, types.FunctionType) and function.__module__.startswith("torch.testing.")


def _cell(cell, library):
    content = cell.cell_contents
    return types.CellType(bound(content, library)) if callable(content) and not isinstance(content, type) else cell


def _counterpart(function):
    """The engine's function of the same place, or the function itself if there is none."""
    name = getattr(function, "__name__", None)
    for space in NAMESPACES:
        path = f"{space}.{name}".strip(".")
        if name and dotted(torch, path) is function:
            return dotted(engine, path) or function
    if name and getattr(torch.Tensor, name, None) is function:
        return method(name) or function
    return function


_made = {}


def _globals(function, library):
    """The names that a function of the list sees, made once for each of its modules and each library."""
    theirs = function.__globals__
    key = id(theirs), library.__name__
    if key not in _made:
        ours = _made[key] = dict(theirs)
        for name, value in theirs.items():
            if isinstance(value, types.FunctionType) and value.__globals__ is theirs and not value.__closure__:
                ours[name] = types.FunctionType(value.__code__, ours, name, value.__defaults__)
                ours[name].__kwdefaults__ = value.__kwdefaults__
        ours["torch"] = library
        ours["F"] = library.nn.functional
        ours["wrapper_set_seed"] = lambda function, *args, **kwargs: function(*args, **kwargs)
    return _made[key]
