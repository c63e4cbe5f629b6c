"""Gradient mode: whether ops record a graph, per thread, and the contexts that switch it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

from . import events
from .sites import caller

F = TypeVar("F", bound=Callable[..., Any])


class _Mode(threading.local):
    """The modes of the running thread; a new thread starts with gradients on, as in PyTorch."""

    grad = True


mode = _Mode()


def is_grad_enabled() -> bool:
    """Whether ops on tensors that require grad record a graph in this thread."""
    return mode.grad


def _switch(enabled: bool) -> None:
    mode.grad = enabled
    if events.sink is not None:
        events.sink.grad_mode(enabled, *caller())


class set_grad_enabled:
    """Set gradient mode; as a plain call it stays set, as a context or decorator it is put back."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = bool(enabled)
        self.before = [mode.grad]
        _switch(self.enabled)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _switch(self.before.pop())

    def __call__(self, function: F) -> F:
        """Decorate ``function``: the mode is that of its calls, not of here."""
        _switch(self.before.pop())
        return _decorated(function, self.enabled)


class _Context:
    """A re-enterable context, usable as ``@no_grad()`` and ``@no_grad`` alike."""

    enabled: bool

    def __new__(cls, function: Any = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self) -> None:
        self.before: list[bool] = []

    def __enter__(self) -> None:
        self.before.append(mode.grad)
        _switch(self.enabled)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _switch(self.before.pop())

    def __call__(self, function: F) -> F:
        return _decorated(function, self.enabled)


class no_grad(_Context):
    """Ops inside record no graph; results do not require grad."""

    enabled = False


class enable_grad(_Context):
    """Ops inside record a graph again."""

    enabled = True


def _decorated(function: F, enabled: bool) -> F:
    """``function`` run under the mode; a generator function keeps it between its yields only."""
    import inspect

    if inspect.isgeneratorfunction(function):
        return _decorated_generator(function, enabled)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return _under(enabled, function, *args, **kwargs)

    return wrapper  # type: ignore[return-value]  # wraps keeps the signature, which mypy cannot see


def _under(enabled: bool, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    before = mode.grad
    _switch(enabled)
    try:
        return function(*args, **kwargs)
    finally:
        _switch(before)


def _decorated_generator(function: Any, enabled: bool) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume, payload = generator.send, None
        while True:
            try:
                item = _under(enabled, resume, payload)
            except StopIteration as stop:
                return stop.value
            try:
                payload = yield item
                resume = generator.send
            except GeneratorExit:
                _under(enabled, generator.close)
                raise
            except BaseException as error:
                resume, payload = generator.throw, error

    return wrapper
