"""Hooks on what modules are given to hold: they see every parameter, buffer and sub-module, and may replace it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from ..hooks import Hook, Hooks, RemovableHandle
from ..hooks.quiet import QuietHandle

parameters: Hooks = OrderedDict()
buffers: Hooks = OrderedDict()
modules: Hooks = OrderedDict()


def passed(hooks: Hooks, module: Any, name: str, value: Any) -> Any:
    """``value`` as the hooks leave it."""
    for hook in hooks.values():
        answer = hook(module, name, value)
        if answer is not None:
            value = answer
    return value


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when any module is given a parameter; what it returns replaces that."""
    return QuietHandle(parameters, hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when any module is given a buffer; what it returns replaces that."""
    return QuietHandle(buffers, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` when any module is given another; what it returns replaces that."""
    return QuietHandle(modules, hook)
