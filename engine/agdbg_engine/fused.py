"""Formulas that are one kernel where a device has kernels: a few lines of C beside what NumPy computes.

NumPy runs the Python function. A backend may compile the C instead (CuPy does): one launch where the function takes several,
and no memory for what lies between. Tests compile the C for the CPU and compare the two.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from numpy import generic, ndarray

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Fused:
    """An elementwise formula in C.

    Attributes:
        inputs, outputs: declarations such as ``T g, T x, float64 beta``; all of ``T`` have one dtype, float32 or float64.
        body: statements in C++ that use and set those names.
        reference: the same in Python, for NumPy; of an update a function that changes its last arguments, the outputs.
        updates: whether the outputs are read too: they are arrays that the formula changes.
    """

    name: str
    inputs: str
    outputs: str
    body: str
    reference: Callable[..., Any]
    updates: bool = False


FUSED: dict[str, Fused] = {}
"""All of them, by the name of the Python function."""

_COMPILED = "fdQ"
"""Type codes of the dtypes of the first parameter for which the C is used."""


def fused(inputs: str, outputs: str, body: str) -> Callable[[F], F]:
    """Let a function of arrays be the kernel ``body`` on devices that have kernels.

    Its first parameter is an array; parameters come in the order of ``inputs``. Where those of ``T`` have not one dtype, or one of
    them is none, the Python function is run there as well.
    """
    alike = [i for i, part in enumerate(inputs.split(", ")[1:]) if part.startswith("T ")]

    def decorate(reference: F) -> F:
        formula = _declared(Fused(reference.__name__, inputs, outputs, body, reference))

        @functools.wraps(reference)
        def call(first: Any, *rest: Any) -> Any:
            if type(first) is ndarray or isinstance(first, generic) or first.dtype.char not in _COMPILED:
                return reference(first, *rest)
            if any(getattr(rest[i], "dtype", None) != first.dtype for i in alike):
                return reference(first, *rest)
            from .backends import backend_of

            return (backend_of(first).elementwise(formula) or reference)(first, *rest)

        return cast(F, call)

    return decorate


def update(name: str, inputs: str, outputs: str, body: str, reference: Callable[..., None]) -> Fused:
    """Declare a formula that changes arrays in place: the step of an optimizer."""
    return _declared(Fused(name, inputs, outputs, body, reference, updates=True))


def _declared(formula: Fused) -> Fused:
    if formula.name in FUSED:
        raise ValueError(f"there is a fused formula {formula.name} already: C has one space of names")
    FUSED[formula.name] = formula
    return formula


def updated(formula: Fused, numbers: tuple[Any, ...], *arrays: Any) -> bool:
    """Whether a kernel has changed the last of ``arrays`` by ``formula``; the first of them are its inputs, before ``numbers``."""
    first = arrays[0]
    if type(first) is ndarray or any(a.dtype != first.dtype or a.dtype.char not in "fd" for a in arrays):
        return False
    from .backends import backend_of

    kernel = backend_of(first).elementwise(formula)
    if kernel is None:
        return False
    inputs = len(arrays) - len(formula.outputs.split(", "))
    kernel(*arrays[:inputs], *numbers, *arrays[inputs:])
    return True
