"""Python's operators on the ops of the families: what is neither tensor nor number is left to the other operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import overrides
from ....overrides import ask_all
from ....tensor import Tensor
from ..interpret import NUMBERS
from .arithmetic import floor_divide, remainder
from .integers import left, right


def _operator(function: Callable[..., Tensor], reflected: bool = False) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, (Tensor, *NUMBERS)):
            return ask_all(operator, self, other)
        asked = overrides.asked_by(self, (other,)) if overrides.seen else ()
        if asked:
            return overrides.ask(overrides.canonical.get(operator, operator), asked, (self, other), {})
        return function(other, self) if reflected else function(self, other)

    operator.__name__ = operator.__qualname__ = function.__name__
    operator.__doc__ = f"The operator of :func:`{function.__name__}`."
    return operator


def in_place(method: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The operator of an in-place ``method``: what that says is of a wrong type is left to the other operand."""

    def operator(self: Any, other: Any) -> Any:
        asked = overrides.asked_by(self, (other,)) if overrides.seen else ()
        if asked:
            return overrides.ask(overrides.canonical.get(operator, operator), asked, (self, other), {})
        try:
            return method(self, other)
        except TypeError:
            if isinstance(other, (Tensor, *NUMBERS)) or overrides.overrides(type(other)):
                raise
            return NotImplemented

    operator.__name__ = operator.__qualname__ = method.__name__
    operator.__doc__ = f"The operator of :meth:`{method.__name__}`."
    return operator


FUNCTIONS: dict[str, tuple[str, Callable[..., Tensor]]] = {
    "mod": ("remainder", remainder), "floordiv": ("floor_divide", floor_divide),
    "lshift": ("bitwise_left_shift", left), "rshift": ("bitwise_right_shift", right),
}  # fmt: skip
"""By Python's name of the operator that of the method, and the function."""

OPERATORS: dict[str, Callable[..., Any]] = {f"__{n}__": _operator(f) for n, (_, f) in FUNCTIONS.items()}
REFLECTED = {f"__r{n}__": _operator(f, reflected=True) for n, (_, f) in FUNCTIONS.items()}
