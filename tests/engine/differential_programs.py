"""Small programs for PyTorch and the engine, by section; and what is compared of them.

A program is a function of the namespace ``t``. It is written once; everything that can be seen of it counts: what it
returns (tensors with all their state, nodes, errors, logs), the exception that ends it and the warnings it gives.
"""

import warnings

import numpy as np
from agdbg_tests_differential import Numbers, name_of, raised

PROGRAMS = {}
"""Every program by ``section/name``."""


def section(name):
    """A decorator that adds programs to a section."""

    def add(program):
        key = f"{name}/{program.__name__}"
        assert key not in PROGRAMS, key
        PROGRAMS[key] = program
        return program

    return add


def family(add, table, name, build):
    """Add one program for every row of ``table``: ``build(value)`` is the program, ``name`` and the key its name."""
    for key, value in table.items():
        program = build(value)
        program.__name__ = f"{name}_{key}"
        add(program)


def observed(program, t):
    """Everything that is seen of ``program`` on ``t``: result or exception, and the warnings."""
    with warnings.catch_warnings(record=True) as caught, t.enable_grad():
        warnings.simplefilter("always")
        try:
            result = facts(program(t))
        except Exception as error:
            result = raised(error)
    said = [f"{w.category.__name__}: {first_line(w)}" for w in caught]
    return {"result": result, "warnings": [s for s in said if not any(once in s for once in ONCE)]}


ONCE = ("Using backward() with create_graph=True", "Converting a tensor with requires_grad=True to a scalar")
"""What PyTorch warns of once in a process, whichever program is the first."""


def first_line(warning):
    """Without PyTorch's own places in it."""
    line = str(warning.message).partition("\n")[0].partition(" (Triggered internally")[0]
    return line.removesuffix(" See github.com/pytorch/pytorch/pull/30531 for more information.")


def facts(value):
    """``value`` without any trace of where it comes from."""
    if isinstance(value, list | tuple):
        return [facts(v) for v in value]
    if isinstance(value, dict):
        return {k: facts(v) for k, v in value.items()}
    if isinstance(value, float):
        return Numbers(value)
    if hasattr(type(value), "grad_fn"):
        return tensor_facts(value)
    return value.name() if hasattr(value, "next_functions") else value


def tensor_facts(x):
    """The state of a tensor; its grad_fn comes first, which brings a view up to date or fails if it lost its history."""
    try:
        node = name_of(x.grad_fn)
    except RuntimeError as error:
        return {"error": raised(error), "values": Numbers(x.tolist()), "version": x._version}
    return {
        "grad_fn": node,
        "values": numbers(x),
        "dtype": str(x.dtype).removeprefix("torch."),
        "requires_grad": x.requires_grad,
        "is_leaf": x.is_leaf,
        "output_nr": x.output_nr,
        "is_view": x._is_view(),
        "version": None if x.is_inference() else x._version,
        "retains_grad": x.retains_grad,
        "strides": [] if x.numel() < 2 else list(x.stride()),
    }


def numbers(x):
    if getattr(x, "_is_zerotensor", bool)():
        return Numbers(np.zeros(tuple(x.shape)))
    return Numbers(x.detach().resolve_conj().resolve_neg().numpy())


def plain(value):
    """Only values and whether a graph hangs on them: for gradients, whose formulas may be written down differently."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if hasattr(type(value), "grad_fn"):
        return {"values": numbers(value), "requires_grad": value.requires_grad, "is_leaf": value.is_leaf}
    return value


def grads(t, y, *xs, weight=None):
    """The gradients of the sum of ``y``, or nothing where there is no path; the graph is kept."""
    total = y.sum() if weight is None else (y * weight).sum()
    return t.autograd.grad(total, xs, retain_graph=True, allow_unused=True)


def x2(t, *values):
    """A leaf of two numbers, which is not changed by rounding."""
    return t.tensor(list(values or (0.5, 2.0)), dtype=t.float64, requires_grad=True)


def m23(t):
    """A leaf of shape (2, 3)."""
    return t.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]], dtype=t.float64, requires_grad=True)
