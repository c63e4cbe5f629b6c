"""What functions with several results return: named tuples that go by the name of the function, as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

C = TypeVar("C", bound=type)


def returned_as(name: str) -> Callable[[C], C]:
    """Give a class of named tuples the ``name`` of the function that returns them; they are shown one field a line."""

    def declare(kind: C) -> C:
        kind.__name__ = kind.__qualname__ = name
        kind.__repr__ = _shown  # type: ignore[method-assign,assignment]  # of all such classes
        return kind

    return declare


def _shown(self: Any) -> str:
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"agdbg_engine.return_types.{type(self).__name__}(\n{fields})"
