"""Hooks of modules: registering them, on one module or on all, and a call of a module that has some."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from .. import events
from ..hooks import Hook, Hooks, RemovableHandle
from ..sites import caller
from ..tensor import Tensor
from .module_backward import BackwardHook, hook_last_node

if TYPE_CHECKING:
    from .module import Module

_MIXED = "Cannot use both regular backward hooks and full backward hooks {}. Please use only one of them."


class ModuleHooks:
    """The hooks of one module, or those of all."""

    def __init__(self) -> None:
        self.forward_pre: Hooks = OrderedDict()
        self.forward: Hooks = OrderedDict()
        self.backward_pre: Hooks = OrderedDict()
        self.backward: Hooks = OrderedDict()
        self.with_kwargs: OrderedDict[int, bool] = OrderedDict()
        self.always_called: OrderedDict[int, bool] = OrderedDict()
        self.full: bool | None = None
        """Whether the backward hooks are full ones; ``None`` before the first."""

    def full_backward(self) -> list[tuple[int, Hook]]:
        """The hooks that see the gradients of all inputs and outputs, with their numbers."""
        return list(self.backward.items()) if self.full else []

    def last_node_only(self) -> list[tuple[int, Hook]]:
        """The deprecated hooks, that see only what the last node of the forward sees, with their numbers."""
        return [] if self.full else list(self.backward.items())


everywhere: ModuleHooks | None = None
"""The hooks of all modules; ``None`` before the first. Read it through this module: it changes."""


def of_all() -> ModuleHooks:
    """The hooks of all modules, made at first use."""
    global everywhere
    if everywhere is None:
        everywhere = ModuleHooks()
    return everywhere


def add_forward_pre(on: ModuleHooks, hook: Hook, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
    """A hook before ``forward``."""
    handle = RemovableHandle(on.forward_pre, hook, None, "module-forward-pre", (on.with_kwargs,))
    return _placed(handle, on, on.forward_pre, prepend, with_kwargs)


def add_forward(
    on: ModuleHooks, hook: Hook, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """A hook after ``forward``."""
    handle = RemovableHandle(on.forward, hook, None, "module-forward", (on.with_kwargs, on.always_called))
    if always_call:
        on.always_called[handle.id] = True
    return _placed(handle, on, on.forward, prepend, with_kwargs)


def add_backward_pre(on: ModuleHooks, hook: Hook, prepend: bool = False) -> RemovableHandle:
    """A hook on the gradients of the outputs."""
    handle = RemovableHandle(on.backward_pre, hook, None, "module-backward-pre")
    return _placed(handle, on, on.backward_pre, prepend)


def add_backward(on: ModuleHooks, hook: Hook, full: bool, prepend: bool = False) -> RemovableHandle:
    """A hook on the gradients of inputs and outputs; :class:`RuntimeError` where there are hooks of the other sort."""
    if on.full is not None and on.full is not full:
        raise RuntimeError(_MIXED.format("as a global Module hook" if on is everywhere else "on a single Module"))
    on.full = full
    return _placed(RemovableHandle(on.backward, hook, None, "module-backward"), on, on.backward, prepend)


def _placed(
    handle: RemovableHandle, on: ModuleHooks, hooks: Hooks, prepend: bool, with_kwargs: bool = False
) -> RemovableHandle:
    if with_kwargs:
        on.with_kwargs[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Call:
    """One call of a module with hooks."""

    def __init__(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.result: Any = None
        self._called: set[int] = set()
        """Those hooks with ``always_call`` that have been called."""

    def run(self) -> Any:
        """What the module and its hooks make of the arguments; hooks with ``always_call`` are called on an error too."""
        try:
            return self._run()
        except Exception:
            everyone, own = self._sets()
            self._rescue(everyone, "global module", with_kwargs=False)  # PyTorch never gives these the keywords
            self._rescue(own, "module", with_kwargs=True)
            raise

    def _sets(self) -> tuple[ModuleHooks, ModuleHooks]:
        """The hooks of all modules, then those of this one."""
        return everywhere or _NONE, self.module._hooks or _NONE

    def _run(self) -> Any:
        full = [item for hooks in self._sets() for item in hooks.full_backward()]
        pre = [item for hooks in self._sets() for item in hooks.backward_pre.items()]
        deprecated = [item for hooks in self._sets() for item in hooks.last_node_only()]
        self._before()
        backward = BackwardHook(self.module, full, pre) if full or pre else None
        if backward is not None:
            self.args = backward.on_inputs(self.args)
        self.result = self.module.forward(*self.args, **self.kwargs)
        self._after()
        if backward is not None:
            self._warn_of_results()
            self.result = backward.on_outputs(self.result)
        if deprecated:
            hook_last_node(self.module, deprecated, self.args, self.result)
        return self.result

    def _before(self) -> None:
        for hooks, number, hook in [(s, *item) for s in self._sets() for item in s.forward_pre.items()]:
            if number in hooks.with_kwargs:
                answer = _fire(number, hook, "module-forward-pre", self.module, self.args, self.kwargs)
                if answer is not None:
                    self.args, self.kwargs = _arguments(answer)
            else:
                answer = _fire(number, hook, "module-forward-pre", self.module, self.args)
                if answer is not None:
                    self.args = answer if isinstance(answer, tuple) else (answer,)

    def _after(self) -> None:
        for hooks, number, hook in [(s, *item) for s in self._sets() for item in s.forward.items()]:
            if number in hooks.always_called:
                self._called.add(number)
            self._fire_forward(number, hook, number in hooks.with_kwargs)

    def _fire_forward(self, number: int, hook: Hook, with_kwargs: bool) -> None:
        kwargs = (self.kwargs,) if with_kwargs else ()
        answer = _fire(number, hook, "module-forward", self.module, self.args, *kwargs, self.result)
        if answer is not None:
            self.result = answer

    def _rescue(self, hooks: ModuleHooks, whose: str, with_kwargs: bool) -> None:
        for number, hook in list(hooks.forward.items()):
            if number not in hooks.always_called or number in self._called:
                continue
            try:
                self._fire_forward(number, hook, with_kwargs and number in hooks.with_kwargs)
            except Exception as error:
                warnings.warn(
                    f"{whose} forward hook with ``always_call=True`` raised an exception that was silenced as another error was "
                    f"raised in forward: {error}",
                    stacklevel=4,
                )

    def _warn_of_results(self) -> None:
        if not isinstance(self.result, Tensor | tuple):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(self.result)}",
                stacklevel=5,
            )


def _arguments(answer: Any) -> Any:
    if isinstance(answer, tuple) and len(answer) == 2:
        return answer
    raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {answer}.")


def _fire(number: int, hook: Hook, kind: str, *args: Any) -> Any:
    started = perf_counter_ns()
    answer = hook(*args)
    if events.sink is not None:
        told = events.HookFacts(number, hook, ns=perf_counter_ns() - started)
        events.sink.hook("fired", kind, None, *caller(), told)
    return answer


_NONE = ModuleHooks()


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, args)`` before the forward of every module; what it returns replaces the arguments."""
    return add_forward_pre(of_all(), hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, result)`` after the forward of every module; what it returns replaces the result."""
    return add_forward(of_all(), hook, with_kwargs=with_kwargs, always_call=always_call)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """As :meth:`Module.register_full_backward_pre_hook`, of every module and before its own."""
    return add_backward_pre(of_all(), hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """As :meth:`Module.register_full_backward_hook`, of every module and before its own."""
    return add_backward(of_all(), hook, full=True)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Deprecated: as :meth:`Module.register_backward_hook`, of every module."""
    return add_backward(of_all(), hook, full=False)
