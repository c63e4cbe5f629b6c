"""The function-override protocol: a class with ``__torch_function__`` decides what functions of tensors do with its objects.

Names and rules are PyTorch's (``torch.overrides``), so a subclass written for it works here. Plain tensors pay nothing: an
op of the table reads its inputs as ``t._in``, which for them is the buffer and for such a subclass raises
:class:`Overridden`; methods and properties are wrapped in the subclass itself (:mod:`.subclass`); functions written by hand
look for overriding arguments once a class that overrides was seen.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from . import foreign
from .arguments import check_options, explained, numbered, renamed, without_history
from .grad_mode import mode
from .signatures import Guard, refusal

__all__ = [
    "DisableTorchFunctionSubclass", "handle_torch_function", "has_torch_function", "is_tensor_like",
    "is_tensor_method_or_property", "overridable", "resolve_name",
]  # fmt: skip

NAME = "__torch_function__"
_BASIC = frozenset((int, float, bool, complex, str, type(None), slice, type(...), dict))
_plain: list[type] = []
"""``Tensor`` itself, which overrides nothing: put here by the module that makes it."""

seen = False
"""Whether a class that overrides was met in this process: functions written by hand look for its objects from then on."""

canonical: dict[Any, Callable[..., Any]] = {}
"""By op of the table the public function for which it stands as an operator: ``x + y`` is ``Tensor.add``."""

operators: set[Any] = set()
"""The functions among them that answer ``NotImplemented`` to Python where nobody knows what to do."""


class Overridden(Exception):
    """An op was given an object whose class overrides it."""


class DisableTorchFunctionSubclass:
    """While this is open nothing is overridden in this thread: subclasses are plain tensors, and results too."""

    def __enter__(self) -> None:
        self._before = mode.overriding
        mode.overriding = False

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        mode.overriding = self._before


def disabled(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """A ``__torch_function__`` that overrides nothing: ``Parameter`` has it."""
    if foreign.belongs_to_pytorch(func):
        return foreign.refused_there(func, types, args, kwargs or {})
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def overrides(kind: type) -> bool:
    """Whether objects of ``kind`` want to be asked."""
    handler = getattr(kind, NAME, None)
    return handler is not None and handler is not disabled and kind not in _plain


def asks(kind: type) -> bool:
    """Whether objects of ``kind`` override, and are no tensors of PyTorch."""
    return overrides(kind) and not foreign.is_foreign(kind)


def overloaded(values: Iterable[Any]) -> list[Any]:
    """One object of every class that overrides, of ``values`` and the lists among them, in the order in which they are asked.

    That is from left to right, but subclasses before their base classes.
    """
    found: list[Any] = []
    for value in values:
        for v in value if type(value) in (list, tuple) else (value,):
            kind = type(v)
            if kind in _BASIC or kind in _plain or not overrides(kind) or any(type(f) is kind for f in found):
                continue
            place = next((i for i, f in enumerate(found) if issubclass(kind, type(f))), len(found))
            found.insert(place, v)
    return found


def ask(function: Any, asked: Iterable[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the first of ``asked`` makes of ``function(*args, **kwargs)``; ``NotImplemented`` when all decline.

    Tensors of PyTorch are not asked: :class:`TypeError` when nobody else knows what to do with them.
    """
    types = tuple(type(v) for v in asked)
    strangers = False
    for v in asked:
        if foreign.is_foreign(type(v)):
            strangers = True
            continue
        result = getattr(v, NAME)(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    if strangers:
        raise foreign.refused(function, resolve_name(function) or "", args, kwargs)
    return NotImplemented


def dispatch(function: Any, asked: Iterable[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """As :func:`ask`; :class:`TypeError` when all decline."""
    result = ask(function, asked, args, kwargs)
    if result is NotImplemented:
        raise TypeError(_nobody(function, tuple(type(v) for v in asked)))
    return result


def ask_all(function: Any, *args: Any) -> Any:
    """What overriding ones of ``args`` make of a call with just these; ``NotImplemented`` when there is none."""
    return ask(function, overloaded(args), args, {}) if mode.overriding else NotImplemented


def _nobody(function: Any, types: tuple[type, ...]) -> str:
    name = resolve_name(function) or getattr(function, "__name__", repr(function))
    if getattr(function, "in_python", False):
        return f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}"
    lines = [f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:"]
    return "\n".join([*lines, "", *(f"  - tensor subclass {kind}" for kind in types)])


def asked_by(self: Any, args: tuple[Any, ...]) -> list[Any]:
    """Who overrides a method of ``self`` that was called with ``args``; nobody unless one of ``args`` does.

    Methods of a class that overrides ask by themselves.
    """
    return overloaded((self, *args)) if seen and mode.overriding and overloaded(args) else []


def from_op(function: Any, error: Exception | None, args: tuple[Any, ...]) -> Any:
    """The result of op ``function``, which failed with ``error``, if an argument overrides it; else :class:`Overridden`."""
    asked = overloaded(args) if mode.overriding else []
    if not asked:
        raise Overridden
    if function.__name__ == "mm" and any(not is_tensor_like(a) for a in args):
        return NotImplemented  # as an operator
    try:
        how = ask if function in operators else dispatch
        return how(canonical.get(function, function), asked, args, {})
    except BaseException as raised:
        if error is not None:
            _forget(raised, error)
        raise


def _forget(raised: BaseException, error: BaseException) -> None:
    """Leave the engine's own ``error`` out of what is shown as having led to ``raised``."""
    link: BaseException | None = raised
    while link is not None:
        if link.__context__ is error:
            link.__context__ = None
        link = link.__context__


def overridable(function: Any, public: str = "torch", in_python: bool = False, into: Any = None, form: str = "") -> Any:
    """A function written by hand, made to ask its arguments first.

    Objects that are no tensors are asked when it turns out that the function cannot do with them. Where there is an ``into``,
    that makes the call if there is an argument ``out``. ``form`` is its name in the table of :mod:`.signatures`.
    """
    key = form or f"{public}.{function.__name__}".removeprefix("torch.")
    guard = Guard(key)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        global seen
        if (kwargs or (len(args) > guard.free and tuple(map(type, args)) not in guard.known)) and not (
            seen and mode.overriding and overloaded((*args, *kwargs.values()))
        ):
            args, kwargs = guard.examine(args, kwargs)
        if kwargs:
            args, kwargs = renamed(function, args, kwargs)
            if guard.blind:
                check_options(function.__name__, kwargs)
        asked = overloaded((*args, *kwargs.values())) if seen and mode.overriding else ()
        if not asked:
            try:
                if kwargs and into is not None and "out" in kwargs:
                    return into(function, args, kwargs)
                return function(*args, **kwargs)
            except Exception as error:
                asked = overloaded((*args, *kwargs.values())) if mode.overriding else ()
                if not asked:
                    numbers = numbered(function, args, kwargs)
                    if numbers is not None:
                        return call(*numbers[0], **numbers[1])
                    better = None if kwargs else refusal(key, args, {})  # those with keywords were looked at
                    better = better or without_history(function, error, args, kwargs)
                    better = better or explained(function, error, args, kwargs, in_python=in_python)
                    if better is None:
                        raise
                    raise better from None
            seen = seen or not all(foreign.is_foreign(type(v)) for v in asked)
        return dispatch(call, asked, args, kwargs)

    call.in_python = in_python  # type: ignore[attr-defined]  # what _nobody says depends on it
    call.__name__ = call.__qualname__ = key.rpartition(".")[2]
    call.public = f"{public}.{call.__name__}"  # type: ignore[attr-defined]  # as above
    return call


# ----- torch.overrides -----


def has_torch_function(args: Iterable[Any]) -> bool:
    """Whether one of ``args`` is to be asked."""
    return mode.overriding and bool(overloaded(args))


def handle_torch_function(public_api: Any, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the overriding ones of ``relevant_args`` make of a call; :class:`TypeError` when all decline."""
    asked = overloaded(relevant_args)
    result = ask(public_api, asked, args, kwargs)
    if result is not NotImplemented:
        return result
    name, types = f"{public_api.__module__}.{public_api.__name__}", [type(v) for v in asked]
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {types}")


def resolve_name(f: Any) -> str | None:
    """The full name of an overridable function in PyTorch (``torch.Tensor.add``); ``None`` for any other."""
    public = getattr(f, "public", None)
    return public if public is not None else _names().get(f)


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether ``func`` is a method of tensors or the getter or setter of one of their properties."""
    return (resolve_name(func) or "").startswith("torch.Tensor.")


def is_tensor_like(inp: Any) -> bool:
    """Whether ``inp`` is a tensor or of a class with ``__torch_function__``."""
    return isinstance(inp, tuple(_plain)) or hasattr(inp, NAME)


@functools.cache
def _names() -> dict[Any, str]:
    from .subclass import public_attributes

    names: dict[Any, str] = {}
    for name, attribute in public_attributes().items():
        if isinstance(attribute, property):
            names |= {getattr(attribute, how): f"torch.Tensor.{name}.{how}" for how in ("__get__", "__set__")}
        else:
            names.setdefault(attribute, f"torch.Tensor.{name}")
    return names
