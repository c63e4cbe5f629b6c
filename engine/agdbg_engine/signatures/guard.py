"""What looks at the arguments of one function before it runs: once for each combination of types."""

from __future__ import annotations

import functools
import sys
from typing import Any

from .. import events
from ..sites import caller
from .in_python import InPython, python_function
from .parser import Parser
from .signature import Args, Keywords
from .table import forms

_LISTS = (list, tuple)
_MOST = 1000
"""Combinations of types that are remembered for a function."""


@functools.cache
def _look(key: str) -> Parser | InPython | None:
    """What looks at the arguments of a function (``topk``, ``linalg.norm``) or method (``Tensor.topk``); ``None``: none that
    PyTorch has in C++, or one with rules of its own.
    """
    found = forms(key)
    if found is None:
        return python_function(key)
    shown, signatures = found
    return Parser(shown, signatures, key.startswith("Tensor."))


def refusal(key: str, args: Args, kwargs: Keywords) -> Exception | None:
    """What PyTorch raises for the types of the arguments of a call; ``None`` where it takes them."""
    look = _look(key)
    return None if look is None else look.refusal(args, kwargs)


class Guard:
    """Looks at the arguments of the function ``key`` of the table; one that is not there takes everything.

    A caller in haste asks it only if ``kwargs or (len(args) > guard.free and tuple(map(type, args)) not in guard.known)``.
    """

    __slots__ = ("_before", "_fewest", "_key", "_lists", "blind", "free", "known")

    def __init__(self, key: str, before: int = 0, fewest: int = 0) -> None:
        self._key, self._before, self._fewest = key, before, fewest
        self._lists = before
        self.free = before + fewest
        """So many arguments by place are not looked at: those ``before`` the ones in the table and those that are tensors in all
        forms, else ``fewest``. The function itself tells of them.
        """
        self.blind = False
        """Whether it was found that the function is not in the table."""
        self.known: set[tuple[Any, ...]] = set()
        """Types of arguments that fit; where there are lists, followed by those of the elements."""

    def examine(self, args: Args, kwargs: Keywords) -> tuple[Args, Keywords]:
        """Raise what PyTorch raises for the types of a call's arguments; else these, in the order of a form that is shown and
        with Python's numbers.
        """
        kinds: tuple[Any, ...] = tuple(map(type, args))
        if kwargs:
            kinds = (*kinds, *kwargs, *map(type, kwargs.values()))
        if kinds in self.known:
            return args, kwargs
        lists = [tuple(map(type, v)) for v in (*args[self._lists :], *kwargs.values()) if type(v) in _LISTS]
        if lists:
            kinds = (*kinds, *lists)
            if kinds in self.known:
                return args, kwargs
        look = _look(self._key)
        if look is None:
            self.free, self.blind = sys.maxsize, True
            return args, kwargs
        self.free, self._lists = self._before + (look.tensors or self._fewest), self._before + look.lists
        if not kwargs and len(args) <= self.free:
            return args, kwargs
        try:
            rest, kwargs, by_types = look.examine(args[self._before :], kwargs)
        except TypeError as error:
            if events.sink is not None:
                events.sink.op_failed(error, *caller())
            raise
        if by_types and len(self.known) < _MOST:
            self.known.add(kinds)
        return (*args[: self._before], *rest), kwargs

    def gathered(self, args: Args) -> Args | None:
        """The arguments of a call that fits, with what stands for one list of integers in a tuple: ``x.squeeze(0, 1)``.

        ``None`` where nothing does.
        """
        look, rest = _look(self._key), args[self._before :]
        if len(rest) < 2 or not isinstance(look, Parser) or not any(s.takes_several for s in look.signatures):
            return None
        return (*args[: self._before], rest)
