"""Objects of the program as named values, page by page, with references to what is inside of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from types import FrameType
from typing import Any

TEXT = 200
"""Characters of a value at most."""

Describe = Callable[[Any], str | None]


class References:
    """Numbers for objects that a client may look into; they hold for one stop.

    Args:
        describe: text for an engine's own objects, ``None`` for others.
    """

    def __init__(self, describe: Describe) -> None:
        self._describe = describe
        self._objects: list[Any] = []

    def variable(self, name: str, value: Any) -> dict[str, Any]:
        """``value`` as a client shows it."""
        return {"name": name, "value": self.text(value), "type": type(value).__name__, "reference": self.of(value)}

    def of(self, value: Any) -> int:
        """The number under which the content of ``value`` can be asked for; 0 when there is none."""
        if isinstance(value, str | bytes | int | float | complex | type | None) or not _has_content(value):
            return 0
        self._objects.append(value)
        return len(self._objects)

    def text(self, value: Any) -> str:
        """``repr(value)``, cut; whatever the program's class makes of that."""
        try:
            found = self._describe(value)
            text = _bounded_repr(value) if found is None else found
        except Exception as error:
            text = f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
        line = " ".join(text.split())
        return line if len(line) <= TEXT else line[: TEXT - 1] + "\N{HORIZONTAL ELLIPSIS}"

    def children(self, reference: int, start: int, count: int) -> dict[str, Any]:
        """A page of the content of an object.

        Raises:
            KeyError: there is no such reference.
        """
        if not 0 < reference <= len(self._objects):
            raise KeyError(reference)
        return self.page(list(_content(self._objects[reference - 1])), start, count)

    def child(self, reference: int, name: str) -> Any:
        """What an object has under a name; None when it has nothing there.

        Raises:
            KeyError: there is no such reference.
        """
        if not 0 < reference <= len(self._objects):
            raise KeyError(reference)
        return next((value for each, value in _content(self._objects[reference - 1]) if each == name), None)

    def locals(self, frame: FrameType, start: int, count: int) -> dict[str, Any]:
        """A page of the local variables of a frame."""
        named = [(n, v) for n, v in frame.f_locals.items() if not n.startswith("__")]
        return self.page(named, start, count)

    def page(self, named: Sequence[tuple[str, Any]], start: int, count: int) -> dict[str, Any]:
        """A part of ``named`` values; a count of 0 means all."""
        end = start + count if count else None
        return {"variables": [self.variable(n, v) for n, v in named[start:end]], "total": len(named)}


def _has_content(value: Any) -> bool:
    return isinstance(value, Mapping | Sequence | set | frozenset) or bool(getattr(value, "__dict__", None))


def _content(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((_bounded_repr(k), v) for k, v in value.items())
    elif isinstance(value, Sequence):
        yield from ((f"[{i}]", v) for i, v in enumerate(value))
    elif isinstance(value, set | frozenset):
        yield from ((f"{{{i}}}", v) for i, v in enumerate(value))
    else:
        yield from ((n, v) for n, v in vars(value).items())


def _bounded_repr(value: Any) -> str:
    """``repr``, without going through a big container."""
    if isinstance(value, str | bytes):
        return repr(value[:TEXT]) + ("..." if len(value) > TEXT else "")
    if type(value) in (list, tuple, set, frozenset, dict) and len(value) > 20:
        shown = ", ".join(_bounded_repr(each) for each in islice(value, 5))
        return f"{type(value).__name__} of {len(value):,}: {shown}, ..."
    return repr(value)
