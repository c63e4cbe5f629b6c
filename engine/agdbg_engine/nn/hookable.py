"""The hooks of a module: what :class:`~agdbg_engine.nn.Module` offers to register them."""

from __future__ import annotations

from ..hooks import Hook, Hooks, RemovableHandle
from .module_hooks import ModuleHooks, add_backward, add_backward_pre, add_forward, add_forward_pre


class Hookable:
    """The part of a module about hooks; one without any pays one test a call."""

    _hooks: ModuleHooks | None = None

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``; what it returns replaces the arguments.

        ``with_kwargs``: call ``hook(module, args, kwargs)``, which returns both or ``None``. ``prepend``: before all others.
        """
        return add_forward_pre(self._hooked(), hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args, result)`` after ``forward``; what it returns replaces the result.

        ``with_kwargs``: call ``hook(module, args, kwargs, result)``. ``always_call``: also when ``forward`` or a hook raises.
        """
        return add_forward(self._hooked(), hook, prepend, with_kwargs, always_call)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_outputs)`` when the gradients of the outputs are there; a tuple it returns replaces them."""
        return add_backward_pre(self._hooked(), hook, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_inputs, grad_outputs)`` when backward is through this module.

        What it returns replaces the former. The parameters' ``grad`` need not be there yet. Raises :class:`RuntimeError` beside
        :meth:`register_backward_hook`.
        """
        return add_backward(self._hooked(), hook, True, prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """Deprecated: a hook on the node that makes the result, whose inputs need not be those of the module."""
        return add_backward(self._hooked(), hook, False)

    def _hooked(self) -> ModuleHooks:
        if self._hooks is None:
            self.__dict__["_hooks"] = ModuleHooks()
        assert self._hooks is not None
        return self._hooks

    @property
    def _forward_pre_hooks(self) -> Hooks:
        """By number, in the order in which they fire."""
        return self._hooked().forward_pre

    @property
    def _forward_hooks(self) -> Hooks:
        """By number, in the order in which they fire."""
        return self._hooked().forward

    @property
    def _backward_pre_hooks(self) -> Hooks:
        """By number, in the order in which they fire."""
        return self._hooked().backward_pre

    @property
    def _backward_hooks(self) -> Hooks:
        """By number, in the order in which they fire."""
        return self._hooked().backward
