"""Hooks around the steps of optimizers: of one, or of all."""

from __future__ import annotations

import functools
from collections import OrderedDict
from typing import Any

from .. import events
from ..hooks import Hook, Hooks, RemovableHandle
from ..hooks.quiet import QuietHandle
from ..sites import caller

_before: Hooks = OrderedDict()
_after: Hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before the step of every optimizer; it may return new ``(args, kwargs)``."""
    return QuietHandle(_before, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after the step of every optimizer."""
    return QuietHandle(_after, hook)


def hooked(step: Any) -> Any:
    """``step`` of a class of optimizers with the hooks around it."""

    @functools.wraps(step)
    def with_hooks(self: Any, *args: Any, **kwargs: Any) -> Any:
        if events.sink is not None:
            events.sink.optimizer_stepped(self, *caller())
        before, after = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        if not (before or after or _before or _after):
            return step(self, *args, **kwargs)
        whole = (self, *args)
        for hook in (*_before.values(), *before.values()):
            answer = hook(self, whole, kwargs)
            if answer is not None:
                if not (isinstance(answer, tuple) and len(answer) == 2):
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {answer}."
                    )
                whole, kwargs = answer
        result = step(*whole, **kwargs)
        for hook in (*after.values(), *_after.values()):
            hook(self, whole, kwargs)
        return result

    with_hooks.hooked = True  # type: ignore[attr-defined]  # so that it is not wrapped twice
    return with_hooks
