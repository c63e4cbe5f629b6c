"""What is said about a name that a module has not: one line, with the nearest name that it has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def missing(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """``module`` has no ``name``; it has the names ``known``."""
    text = f"module '{module}' has no attribute '{name}'"
    if name.startswith("_"):
        return AttributeError(text)
    import difflib  # here, since nobody pays for it who makes no mistake

    near = difflib.get_close_matches(name, known, 1)
    return AttributeError(f"{text}; the nearest that it has is '{near[0]}'" if near else text)


def lookup(module: str, functions: Mapping[str, Any]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a ``module`` that has ``functions``."""

    def __getattr__(name: str) -> Any:
        if name not in functions:
            raise missing(module, name, functions)
        return functions[name]

    return __getattr__
