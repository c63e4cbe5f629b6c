"""How a family of ops declares itself: rows, kernels, formulas, and under which names a function is public.

A family is one file of this package. It declares a row with :func:`op` or one of its short forms; the value is computed by
the kernel of the row's name (:func:`kernel`), gradients by the formulas of the row, the longer ones of which are functions
of their own (:func:`formula`). Functions that check arguments first, or are made of other ops, are written out and made
:func:`public`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from .. import _generated, formulas, graph, kernels
from ..row import Row
from .interpret import Op, tangent_function

F = TypeVar("F", bound=Callable[..., Any])

OPS: dict[str, Op] = {}
"""The interpreted rows by name."""

NAMESPACES = ("torch", "Tensor", "nn.functional", "linalg", "fft", "special", "masked", "signal.windows")


class Public(NamedTuple):
    """A function under a public name."""

    function: Callable[..., Any]
    out: bool
    """Whether it takes ``out=``."""


PUBLIC: dict[str, dict[str, Public]] = {n: {} for n in NAMESPACES}
"""By namespace of PyTorch the functions in it; ``Tensor`` holds the methods."""

INPLACE: dict[str, Callable[..., Any]] = {}
"""Functions that have an in-place method, by its name."""


RESHAPING: dict[str, Callable[..., Any]] = {}
"""The methods by name that give a tensor another shape in place."""


def public(where: str, *, out: bool = False, inplace: bool = False) -> Callable[[F], F]:
    """Make a function public: ``where`` lists namespaces, with another name after a dot (``"torch Tensor special.expit"``).

    ``inplace`` adds the method ``name_`` that writes into its first argument.
    """

    def declare(function: F) -> F:
        for place in where.split():
            namespace, name = (place, function.__name__) if place in NAMESPACES else place.rsplit(".", 1)
            if name in PUBLIC[namespace]:
                raise ValueError(f"{namespace}.{name} is declared twice")
            PUBLIC[namespace][name] = Public(function, out)
            if inplace and namespace == "Tensor":
                INPLACE[name + "_"] = function
        return function

    return declare


def kernel(function: F) -> F:
    """Make a function of buffers the kernel of the op of its name, or a part of formulas."""
    return _named(kernels, function)


def formula(function: F) -> F:
    """Make ``f(F, ...)`` a part of formulas; ``F`` is what has the functions: kernels, or recorded ops."""
    return _named(formulas, function)


def recorded(function: F) -> F:
    """Make a function of tensors the counterpart of a kernel that is no op by itself."""
    return _named(graph, function)


def in_both(name: str, on_buffers: Callable[..., Any], on_tensors: Callable[..., Any]) -> None:
    """A part of formulas that is no op by itself, in its two forms."""
    _named(kernels, on_buffers, name)
    _named(graph, on_tensors, name)


def _named(space: Any, function: F, name: str = "") -> F:
    name = name or function.__name__
    if hasattr(space, name):
        raise ValueError(f"{space.__name__} has a {name} already")
    setattr(space, name, function)
    return function


def op(
    signature: str, node: str, *, jvp: str = "", alias: str = "", where: str = "", out: bool = False, value: Any = None,
    **columns: Any,
) -> Op:  # fmt: skip
    """Declare a row; keywords that are no column of :class:`Row` are gradient formulas by argument name.

    ``value`` is the kernel where it is somebody else's function, or the formula of an argument of that name; without ``jvp``
    forward mode is refused.
    """
    if isinstance(value, str):
        columns["value"], value = value, None
    known = {k: columns.pop(k) for k in list(columns) if k in Row.__dataclass_fields__}
    made = Op(Row(signature, node, columns, jvp=jvp, alias=frozenset(alias.split()), **known))
    name = made.row.name
    if value is not None:
        _named(kernels, value, name)
    _named(graph, made, name)
    OPS[name] = made
    if jvp:
        places = tuple(made.row.args.index(d) for d in made.row.differentiable)
        _generated.JVPS[name] = (tangent_function(made), places)
    return public(where, out=out, inplace=made.row.inplace)(made)


def unary(signature: str, node: str, self: str, *, where: str = "torch Tensor", **columns: Any) -> Op:
    """An elementwise function of one tensor with in-place and ``out=`` forms; its tangent is its gradient formula applied
    to the tangent. Integers are computed in the default dtype unless ``floats=False``.
    """
    tangent = re.sub(r"\bg\b", "self_t", self)
    columns = {"elementwise": True, "inplace": True, "out": True, "floats": True, "jvp": tangent, **columns}
    return op(signature, node, self=self, where=where, **columns)


def linear(signature: str, node: str, self: str, **columns: Any) -> Op:
    """A linear function of one tensor: its tangent is the function of the tangent."""
    return op(signature, node, self=self, jvp="linear", **columns)


def view(signature: str, node: str, self: str, **columns: Any) -> Op:
    """Other sizes or strides over the same memory."""
    return linear(signature, node, self, view=True, **columns)
