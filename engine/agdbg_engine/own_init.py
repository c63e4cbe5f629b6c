"""PyTorch's names in what Python itself says about wrong arguments of a class.

Python names the function that takes them: ``Conv2d.__init__() missing 2 required positional arguments``. Classes here share one
where PyTorch has several, and some come of a table; so each public class gets one that has the name of PyTorch's.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from inspect import Parameter, Signature
from typing import Any

__all__ = ["copied", "own_init"]


def own_init(classes: Iterable[type], owners: dict[str, str]) -> None:
    """Give each of ``classes`` an ``__init__`` of its own name, or of the one in ``owners``: a base class that has it in PyTorch.

    One that shows another ``__signature__`` than its ``__init__`` has takes what it shows.
    """
    for cls in classes:
        init: Any = cls.__init__  # type: ignore[misc]  # of a class
        shown: Any = cls if "__init__" not in cls.__dict__ or "__signature__" in cls.__dict__ else None
        signature = getattr(shown, "__signature__", None)
        name = f"{owners.get(cls.__name__, cls.__name__)}.__init__"
        if signature is None and (init.__qualname__ == name or not isinstance(init, types.FunctionType)):
            continue
        own = copied(init) if signature is None else _taking(signature, init)
        own.__qualname__ = name
        cls.__init__ = own  # type: ignore[misc]  # of a class


def copied(function: types.FunctionType) -> types.FunctionType:
    """The same function once more."""
    own = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    own.__kwdefaults__, own.__annotations__ = function.__kwdefaults__, function.__annotations__
    own.__doc__, own.__module__ = function.__doc__, function.__module__
    return own


def _taking(signature: Signature, inner: Callable[..., None]) -> types.FunctionType:
    """A method with the parameters of ``signature`` that hands them all to ``inner``, by name."""
    declared, defaults = ["self"], {}
    for p in signature.parameters.values():
        if p.kind is Parameter.KEYWORD_ONLY and "*" not in declared:
            declared.append("*")
        if p.default is not Parameter.empty:
            defaults[f"_{p.name}"] = p.default
        declared.append(p.name if p.default is Parameter.empty else f"{p.name}=_{p.name}")
    handed = ", ".join(["self", *(f"{n}={n}" for n in signature.parameters)])
    space: dict[str, Any] = {"_inner": inner, **defaults}
    source = f"def __init__({', '.join(declared)}):\n    _inner({handed})"
    exec(compile(source, __file__, "exec"), space)
    made: types.FunctionType = space["__init__"]
    made.__doc__, made.__module__ = inner.__doc__, inner.__module__
    return made
