"""Gradient mode and inference mode: whether ops record a graph, per thread, and the contexts that switch them."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self, TypeVar

from . import events
from .sites import caller

F = TypeVar("F", bound=Callable[..., Any])


class _Mode(threading.local):
    """The modes of the running thread; a new thread starts with gradients on, as in PyTorch."""

    grad = True
    """Whether ops record: what they look at."""
    told = True
    """What instruments were told last that it is: they are not told when the engine itself switches it off for a while."""
    inference = False
    """Whether this is inference mode, in which nothing is recorded whatever the gradient mode."""
    overriding = True
    """Whether classes with ``__torch_function__`` are asked."""
    asked = False
    """The gradient mode in inference mode, which has no effect there but can be asked for."""
    saved_hooks: tuple[Any, ...] = ()
    """The pairs of hooks for what ops save (``saved.hooks.Pair``), the innermost last."""
    hooks_refused: str | None = None
    """What is said to whoever wants such hooks while they are disabled."""
    strict = 0
    """How many contexts of strict saved tensors are open."""
    born: list[Any] | None = None
    """While an in-place op computes: the nodes made so far, whose saved tensors are looked at when it is about to write."""
    writes_view = False
    """Whether an in-place op computes what it is about to write through a view."""
    forward = True
    """Whether tangents are seen and computed (not in inference mode, whatever this says)."""
    fw_limit: float = math.inf
    """Ops see tangents of levels below this: what computes tangents of a level may not see that level again."""
    fw_nested = 0
    """How many nested levels of forward mode are open."""
    transform: Any = None
    """The innermost function transform that runs (``inside.Inside``)."""
    grad_layout = True
    """Whether a leaf's first gradient is to be laid out like the leaf."""
    custom: Any = None
    """The custom Function (its node) whose forward runs: that nothing is recorded in it cuts no gradient path."""
    random_refused = False
    """Whether random ops are refused, as while a Jacobian is computed column by column."""
    op_log: Any = None
    """Where the ops of a checkpointed function are written down (``op_log.OpLog``)."""


mode = _Mode()


def is_grad_enabled() -> bool:
    """Whether ops on tensors that require grad record a graph in this thread (unless it is in inference mode)."""
    return mode.asked if mode.inference else mode.grad


def tangents_pass() -> bool:
    """Whether tangents, if there are any, are seen and computed in this thread: backward must then run on tensors."""
    return bool(events.special & events.FORWARD) and mode.forward and not mode.inference


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return mode.inference


def _switch(enabled: bool) -> None:
    if mode.inference:
        mode.asked = enabled
    else:
        mode.grad = enabled
    mode.told = enabled
    if events.sink is not None:
        events.sink.grad_mode(enabled, *caller())


def tell_return() -> None:
    """The engine has switched gradients on again after a while in which it had them off: instruments are told if a context
    that the program left meanwhile had said that they are off.
    """
    if mode.grad and not mode.told:
        mode.told = True
        if events.sink is not None:
            events.sink.grad_mode(True, *caller())


class _Decorator:
    """Of a context: applied to a function, every call of it runs in a context of its own."""

    def clone(self) -> Self:
        """A context of the same mode that has not been entered."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        raise NotImplementedError

    def __call__(self, orig_func: F) -> F:
        """Decorate ``orig_func`` (a generator function keeps the mode between its yields only)."""
        if inspect.isclass(orig_func):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
                "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method "
                "and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
        if inspect.isgeneratorfunction(orig_func):
            return _decorated_generator(orig_func, self.clone)
        return _decorated(orig_func, self.clone)


def check_bool(function: str, name: str, position: int, value: Any) -> None:
    """``value`` of the argument ``name`` of ``function`` must be a bool, and nothing that counts as one."""
    if not isinstance(value, bool):
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be bool, not {type(value).__name__}"
        )


class set_grad_enabled(_Decorator):
    """Set gradient mode; as a plain call it stays set, as a context or decorator it is put back."""

    def __init__(self, mode: bool) -> None:
        check_bool("set_grad_enabled", "enabled", 1, mode)
        self.mode = mode
        self.before = is_grad_enabled()
        _switch(mode)

    def __enter__(self) -> None:
        if is_grad_enabled() != self.mode:  # else it is so since this was made, and was told
            _switch(self.mode)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _switch(self.before)

    def __call__(self, orig_func: F) -> F:
        """Decorate ``orig_func``: the mode is that of its calls, not of here."""
        _switch(self.before)
        return super().__call__(orig_func)

    def clone(self) -> set_grad_enabled:
        """A context of the same mode; like every one it sets the mode when it is made."""
        return type(self)(self.mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class set_multithreading_enabled(_Decorator):
    """Say whether backward may use other threads than the caller's; as a plain call it stays, as a context it is put back.

    Passes run in the thread that calls them anyway (nested ones may move on to fresh threads, in PyTorch with this off too).
    """

    def __init__(self, mode: bool) -> None:
        check_bool("set_multithreading_enabled", "enabled", 1, mode)
        self.mode = mode
        self.before = _threads.allowed
        _threads.allowed = mode

    def __enter__(self) -> None:
        """Nothing: the mode is set already."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _threads.allowed = self.before

    def clone(self) -> set_multithreading_enabled:
        """A context of the same mode."""
        return type(self)(self.mode)


class enforce_grad_layout_policy(_Decorator):
    """Say whether the first gradient of a leaf must be laid out like it; as a plain call it stays, as a context it is put back.

    With ``False`` a gradient that nobody else holds is kept as it came, without a copy; where one is made, it is laid out like
    the leaf all the same. It is the thread's that runs the pass.
    """

    def __init__(self, enable: bool = True) -> None:
        check_bool("set_grad_layout_enforcement_enabled", "enabled", 1, enable)
        self.mode = enable
        self.before = mode.grad_layout
        mode.grad_layout = enable

    def __call__(self, orig_func: F) -> F:
        """Decorate ``orig_func``: the policy is that of its calls, not of here."""
        mode.grad_layout = self.before
        return super().__call__(orig_func)

    def __enter__(self) -> None:
        """Nothing: the policy is set already."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        mode.grad_layout = self.before

    def clone(self) -> enforce_grad_layout_policy:
        """A context of the same policy."""
        return type(self)(self.mode)


class _Threads(threading.local):
    allowed = True


_threads = _Threads()


def is_multithreading_enabled() -> bool:
    """Whether backward may use other threads than the caller's."""
    return _threads.allowed


class _NoParamDecoratorContextManager(_Decorator):
    """A context usable as ``@no_grad()`` and ``@no_grad`` alike.

    As in PyTorch the object remembers one mode to put back: entered while it is open, it leaves its own mode behind in the end.
    """

    enabled: bool

    before = False
    """The mode to put back."""

    def __new__(cls, orig_func: Any = None) -> Any:
        """A context; a function that runs in one if ``orig_func`` is given."""
        return super().__new__(cls) if orig_func is None else cls()(orig_func)

    def __enter__(self) -> None:
        self.before = is_grad_enabled()
        _switch(self.enabled)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _switch(self.before)

    def clone(self) -> Self:
        """Another context of this kind."""
        made: Self = type(self)()
        return made


class no_grad(_NoParamDecoratorContextManager):
    """Ops inside record no graph; results do not require grad."""

    enabled = False

    def __init__(self) -> None:
        self.before = False


class quiet_no_grad:
    """The same for a while of the engine's own, as when an op is computed by others: instruments are told of nothing."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before, mode.grad = mode.grad, False

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        mode.grad = self._before


class enable_grad(_NoParamDecoratorContextManager):
    """Ops inside record a graph again (not in inference mode)."""

    enabled = True


class inference_mode(_Decorator):
    """Ops inside record nothing and their results are inference tensors, which never can be part of a graph.

    They have no version counter, are not written to in place outside, cannot be saved for backward and cannot require grad
    outside; a ``clone()`` made outside is an ordinary tensor. ``inference_mode(False)`` leaves the mode, and records.
    """

    def __new__(cls, mode: Any = True) -> Any:
        """The context; anything but a bool is a function to decorate."""
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self.before: list[tuple[bool, bool, bool]] = []

    def __enter__(self) -> None:
        self.before.append((mode.inference, mode.grad, mode.asked))
        if self.mode:
            events.use(events.INFERENCE)
        self._set(self.mode, not self.mode, False)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._set(*self.before.pop())
        if self.mode:
            events.use(events.INFERENCE, -1)

    def _set(self, inference: bool, grad: bool, asked: bool) -> None:
        mode.inference, mode.grad, mode.asked = inference, grad, asked
        mode.told = grad
        if events.sink is not None:
            events.sink.grad_mode(grad, *caller())

    def clone(self) -> inference_mode:
        """A context of the same mode."""
        made: inference_mode = type(self)(self.mode)
        return made


@contextlib.contextmanager
def ordinary() -> Iterator[None]:
    """A context that is not inference mode, so that tensors made in it are ordinary ones; without recording where it was."""
    if not mode.inference:
        yield
        return
    with inference_mode(False), no_grad():
        yield


def within(context: Callable[[], AbstractContextManager[Any]]) -> Callable[[F], F]:
    """A decorator: every call runs in a new context. A frame of what contextlib makes of it would count as the user's."""
    return lambda function: _decorated(function, context)


def _decorated(function: F, context: Callable[[], AbstractContextManager[Any]]) -> F:
    """``function`` with every call in a new context."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with context():
            return function(*args, **kwargs)

    return wrapper  # type: ignore[return-value]  # wraps keeps the signature, which mypy cannot see


def _decorated_generator(function: Any, context: Callable[[], AbstractContextManager[Any]]) -> Any:
    """A generator function that is in the context while it runs, and out of it while its caller does."""

    def resumed(step: Callable[..., Any], *payload: Any) -> Any:
        with context():
            return step(*payload)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume, payload = generator.send, None
        while True:
            try:
                item = resumed(resume, payload)
            except StopIteration as stop:
                return stop.value
            try:
                payload = yield item
                resume = generator.send
            except GeneratorExit:
                resumed(generator.close)
                raise
            except BaseException as error:
                resume, payload = generator.throw, error

    return wrapper
