"""Checkers of JSON values, made from Python types: from TypedDicts, lists, dicts, literals, unions and limits."""

import types
from collections.abc import Callable
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)


class Problem(NamedTuple):
    """What is wrong with a value.

    Attributes:
        path: where, from the outermost object: ``.breakpoints[0].line``.
        value: what stands there.
        expected: what is to stand there.
        is_missing: nothing stands there.
        known: the fields that there are, when this is none of them.
    """

    path: str
    value: Any
    expected: str
    is_missing: bool = False
    known: tuple[str, ...] | None = None

    def below(self, step: str) -> "Problem":
        """The same problem, seen from one object further out."""
        return self._replace(path=step + self.path)


class Checker(NamedTuple):
    """``problem`` finds what is wrong with a value, or gives None; ``expected`` says what it accepts.

    Nothing is wrong with a value whose type is one of ``types``, so ``problem`` need not be asked.
    """

    problem: Callable[[Any], Problem | None]
    expected: str
    types: tuple[type, ...] = ()


_ANYTHING = Checker(lambda value: None, "anything")
_PLAIN: dict[Any, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a string"),
    int: ((int,), "an integer"),
    float: ((float, int), "a number"),
    bool: ((bool,), "true or false"),
    type(None): ((type(None),), "null"),
}


@cache
def checker(hint: Any, closed: bool = False) -> Checker:
    """The checker of a type; with ``closed`` objects may have no fields but those of their TypedDict."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return _ANYTHING
    if is_typeddict(hint):
        return _object(hint, closed)
    if origin in (Required, NotRequired):
        return checker(arguments[0], closed)
    if origin is Annotated:
        return _limited(checker(arguments[0], closed), arguments[1])
    if origin is Literal:
        return _one_of(arguments)
    if origin in (Union, types.UnionType):
        return _any_of([checker(each, closed) for each in arguments])
    if origin is list:
        return _list(checker(arguments[0], closed))
    if origin is dict:
        return _dict(checker(arguments[1], closed))
    return _plain(*_PLAIN[hint])


def _plain(accepted: tuple[type, ...], expected: str) -> Checker:
    def problem(value: Any) -> Problem | None:
        return None if type(value) in accepted else Problem("", value, expected)

    return Checker(problem, expected, accepted)


def _one_of(choices: tuple[Any, ...]) -> Checker:
    expected = "one of " + ", ".join(map(str, choices)) if len(choices) > 1 else str(choices[0])

    def problem(value: Any) -> Problem | None:
        return None if isinstance(value, str) and value in choices else Problem("", value, expected)

    return Checker(problem, expected)


def _any_of(choices: list[Checker]) -> Checker:
    expected = " or ".join(choice.expected for choice in choices)

    def problem(value: Any) -> Problem | None:
        found = [choice.problem(value) for choice in choices]
        if None in found:
            return None
        inner = next((each for each in found if each and (each.path or each.is_missing)), None)
        return inner or Problem("", value, expected)

    return Checker(problem, expected, tuple(each for choice in choices for each in choice.types))


def _limited(number: Checker, limit: Any) -> Checker:
    expected = f"{number.expected} {limit}"

    def problem(value: Any) -> Problem | None:
        if number.problem(value) is None and limit.holds(value):
            return None
        return Problem("", value, expected)

    return Checker(problem, expected)


def _list(item: Checker) -> Checker:
    def problem(value: Any) -> Problem | None:
        if not isinstance(value, list):
            return Problem("", value, "a list")
        for index, each in enumerate(value):
            if found := item.problem(each):
                return found.below(f"[{index}]")
        return None

    return Checker(problem, "a list")


def _dict(item: Checker) -> Checker:
    def problem(value: Any) -> Problem | None:
        if not isinstance(value, dict):
            return Problem("", value, "an object")
        for key, each in value.items():
            if found := item.problem(each):
                return found.below(f".{key}")
        return None

    return Checker(problem, "an object", (dict,) if item is _ANYTHING else ())


def _object(shape: Any, closed: bool) -> Checker:
    fields: dict[str, Checker] = {}  # filled at the first use: a type may contain itself
    required: frozenset[str] = shape.__required_keys__
    known = tuple(shape.__annotations__)

    def problem(value: Any) -> Problem | None:
        if not isinstance(value, dict):
            return Problem("", value, "an object")
        if not fields and known:
            fields.update({name: checker(hint, closed) for name, hint in _hints(shape).items()})
        for name, each in value.items():
            field = fields.get(name)
            if field is None:
                if closed:
                    return Problem(f".{name}", each, "", known=known)
            elif type(each) not in field.types and (found := field.problem(each)):
                return found.below(f".{name}")
        if required <= value.keys():
            return None
        missing = next(name for name in known if name in required and name not in value)
        return Problem(f".{missing}", None, fields[missing].expected, is_missing=True)

    return Checker(problem, "an object")


def _hints(shape: Any) -> dict[str, Any]:
    return get_type_hints(shape, include_extras=True)
