"""One form of a function: whether a call fits it, and what is wrong if not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .kinds import Parameter, Taken, in_python, is_integer, is_tensor, type_name

Args = tuple[Any, ...]
Keywords = dict[str, Any]

_OTHER_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}


class Wrong(NamedTuple):
    """What is wrong with a call."""

    text: str
    """Follows the function's name, unless that is not shown."""
    named: bool = True
    final: bool = False
    """The call fits by what PyTorch looks at to choose a form: no other form is asked."""


class Signature:
    """One form of a function."""

    def __init__(self, parameters: list[Parameter], hidden: bool = False, no_arguments: bool = False) -> None:
        self.all = parameters
        self.parameters = [p for p in parameters if p.name != "out"]
        """Those that are looked at here."""
        self.hidden = hidden
        """A form that PyTorch takes, and warns of."""
        self.no_arguments = no_arguments
        """A method without arguments, of which Python itself tells."""
        self.positional = [p for p in self.parameters if not p.keyword_only]
        self.fewest = sum(p.default is None for p in self.parameters)
        only = self.positional[0] if len(self.positional) == 1 else None
        self.takes_several = only is not None and only.kind == "int" and only.size == 0

    def __str__(self) -> str:
        parts: list[str] = []
        for p in self.all:
            if p.keyword_only and "*" not in parts:
                parts.append("*")
            parts.append(str(p))
        return f"({', '.join(parts)})"

    def in_python(self, args: Args, kwargs: Keywords) -> tuple[Args, Keywords] | None:
        """The arguments of a call that fits with Python's numbers; ``None`` where they have no others."""
        several = [self.positional[0]] * len(args) if len(args) > len(self.positional) else self.positional
        return in_python(several, args, self._named, kwargs)

    def _named(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if name == p.name or name in _OTHER_NAMES.get(p.name, ())), None)

    def has(self, name: str) -> bool:
        """Whether there is a parameter of that ``name``, or one that it stands for."""
        return self._named(name) is not None

    def bound(self, args: Args, kwargs: Keywords) -> Iterator[tuple[Parameter, Any]]:
        """The arguments of a call that fits, with what they are."""
        for at, p in enumerate(self.parameters):
            if at < len(args):
                yield p, args[at]
            elif p.name in kwargs:
                yield p, kwargs[p.name]

    def wrong(self, args: Args, kwargs: Keywords, numbers: bool, taken: Taken, alone: bool) -> Wrong | None:
        """What is wrong with a call; ``None`` when it fits. ``alone``: there is no other form."""
        if len(args) > len(self.positional) and not self.takes_several:
            return self._too_many(args)
        at, used = 0, 0
        late: Wrong | None = None
        for i, p in enumerate(self.parameters):
            value: Any = None
            by_name = given = False
            if at < len(args):
                if p.keyword_only:
                    return self._too_many(args)
                value, given = args[at], True
            elif (name := _given_as(p.name, kwargs)) is not None:
                value, given, by_name = kwargs[name], True, True
            if not given:
                if p.default is None:
                    return self._missing(i)
                continue
            if at == 0 and not by_name and self.takes_several and _is_integer(value):
                late, at = self._elements(p, args), len(args)
                continue
            if not (value is None and p.none) and not taken.takes(p, value, numbers):
                if not by_name and len(args) > len(self.positional):
                    return self._too_many(args)
                return self._type(p, value, at, by_name, taken.element)
            if isinstance(value, tuple | list) and p.size is not None:
                wrong = self._in_list(p, value, at)
                if wrong is not None and not wrong.final:
                    return wrong
                late = late or wrong
            at, used = (at, used + 1) if by_name else (at + 1, used)
        if at < len(args):
            return self._too_many(args)
        return (self._left(args, kwargs) if used < len(kwargs) else None) or late

    def wrong_one(self, p: Parameter, value: Any, at: int, by_name: bool, taken: Taken) -> Wrong | None:
        """What is wrong with one argument; ``None`` when it will do."""
        if value is None and p.none:
            return None
        if not taken.takes(p, value, False):
            return self._type(p, value, at, by_name, taken.element)
        return self._in_list(p, value, at) if isinstance(value, tuple | list) and p.size is not None else None

    # ----- words -----

    def _too_many(self, args: Args) -> Wrong:
        most, fewest = len(self.positional), self.fewest
        if most == fewest:
            were = "was" if len(args) == 1 else "were"
            return Wrong(f"takes {most} positional argument{'' if most == 1 else 's'} but {len(args)} {were} given")
        return Wrong(f"takes from {fewest} to {most} positional arguments but {len(args)} were given")

    def _missing(self, first: int) -> Wrong:
        missing = [p.name for p in self.parameters[first:] if p.default is None]
        s = "s" if len(missing) == 1 else ""  # as PyTorch has it
        return Wrong(f"missing {len(missing)} required positional argument{s}: " + ", ".join(f'"{n}"' for n in missing))

    def _type(self, p: Parameter, value: Any, at: int, by_name: bool, element: int) -> Wrong:
        if by_name:
            return Wrong(f": argument '{p.name}' must be {p.wanted}, not {type_name(value)}")
        if element >= 0:
            inner = type_name(value[element])
            return Wrong(
                f": argument '{p.name}' (position {at + 1}) must be {p.wanted}, but found element of type {inner} at pos {element}"
            )
        return Wrong(f": argument '{p.name}' (position {at + 1}) must be {p.wanted}, not {type_name(value)}")

    def _in_list(self, p: Parameter, values: Any, at: int) -> Wrong | None:
        if p.kind == "Tensor":
            for i, v in enumerate(values):
                if not is_tensor(v):
                    return Wrong(
                        f"expected Tensor as element {i} in argument {at}, but got {type_name(v)}", named=False
                    )
            return None
        return self._elements(p, tuple(values))

    def _elements(self, p: Parameter, values: Args) -> Wrong | None:
        if p.kind != "int":
            return None
        for i, v in enumerate(values):
            if not _is_integer(v) and not isinstance(v, bool):
                return Wrong(
                    f": argument '{p.name}' failed to unpack the object at pos {i + 1} with error "
                    f'"type must be {p.wanted},but got {type_name(v)}"',
                    final=True,
                )
        return None

    def _left(self, args: Args, kwargs: Keywords) -> Wrong | None:
        names = {n for p in self.parameters for n in (p.name, *_OTHER_NAMES.get(p.name, ()))}
        for name in kwargs:
            if name not in names:
                return Wrong(f"got an unexpected keyword argument '{name}'")
        by_place = {p.name for p in self.parameters[: len(args)]}
        twice = next((n for n in kwargs if n in by_place), None)
        return None if twice is None else Wrong(f"got multiple values for argument '{twice}'")


def _given_as(name: str, kwargs: Keywords) -> str | None:
    if name in kwargs:
        return name
    return next((n for n in _OTHER_NAMES.get(name, ()) if n in kwargs), None)


def _is_integer(value: Any) -> bool:
    from ..tensor import Tensor

    if isinstance(value, Tensor):
        return bool(value.numel() == 1 and value._a.dtype.kind in "iub")
    return not is_tensor(value) and is_integer(value, True)
