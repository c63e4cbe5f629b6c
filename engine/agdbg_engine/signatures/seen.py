"""Types of arguments that were found to fit, so that the next call with the same is not looked at again."""

from __future__ import annotations

from typing import Any

from .signature import Args, Keywords

_LISTS = (list, tuple)
_MOST = 500
"""Combinations of types that are remembered for a function."""


class Seen:
    """What fits one function. Of lists the types of the elements count too."""

    def __init__(self) -> None:
        self._fit: dict[Any, bool] = {}
        """True where lists are among them: then there is an entry for what these hold."""

    def fits(self, args: Args, kwargs: Keywords) -> bool:
        """Whether such a call was found to fit."""
        key: Any = tuple(map(type, args))
        if kwargs:
            key = (key, *kwargs, *map(type, kwargs.values()))
        has_lists = self._fit.get(key)
        if has_lists:
            return (key, _elements(args, kwargs)) in self._fit
        return has_lists is False

    def add(self, args: Args, kwargs: Keywords) -> None:
        """Remember a call that fits for its types alone."""
        if len(self._fit) > _MOST:
            return
        key: Any = tuple(map(type, args))
        if kwargs:
            key = (key, *kwargs, *map(type, kwargs.values()))
        elements = _elements(args, kwargs)
        self._fit[key] = bool(elements)
        if elements:
            self._fit[key, elements] = False


def _elements(args: Args, kwargs: Keywords) -> tuple[Any, ...]:
    return tuple([tuple(map(type, v)) for v in (*args, *kwargs.values()) if type(v) in _LISTS])
