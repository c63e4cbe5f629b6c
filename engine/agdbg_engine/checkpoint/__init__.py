"""Checkpoints: a function's saved tensors are thrown away, and it runs again when backward needs them.

Where the recomputation differs from the first run, the report names the first op that does: its line, what it made.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..grad_mode import is_grad_enabled
from ..op_log import logging
from ..random import drawing_from, rng_states
from .frame import CheckpointError, Frame
from .redrawing import drawn_from, drawn_since
from .reentrant import CheckpointFunction, check_backward_validity, detach_variable, run_reentrant

__all__ = [
    "CheckpointError", "CheckpointFunction", "check_backward_validity", "checkpoint", "checkpoint_sequential", "detach_variable",
    "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
]  # fmt: skip

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

_CHECKS = ["default", "none"]

_SUPPRESSED = (
    "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during the "
    "checkpointed forward. This is not supported because checkpoint cannot return a value for a failed forward."
)


class _Settings:
    early_stop: bool | None = None
    debug: bool | None = None


_settings = _Settings()


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """For calls of :func:`checkpoint` inside: whether to stop recomputing at the last saved tensor."""
    before, _settings.early_stop = _settings.early_stop, enable
    try:
        yield
    finally:
        _settings.early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """For calls of :func:`checkpoint` inside: ``debug``, whatever they say; ``None`` leaves it to them."""
    before, _settings.debug = _settings.debug, enabled
    try:
        yield
    finally:
        _settings.debug = before


def noop_context_fn() -> Contexts:
    """Two contexts that do nothing."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, whose ops save nothing: it runs again in backward.

    With ``use_reentrant`` (the default, with a warning) it runs without a graph, and its whole backward is one node, which
    supports ``backward()`` without ``inputs`` only. Otherwise the graph is there and only the saved tensors are missing;
    ``context_fn`` makes the contexts of the first run and of the recomputation, ``determinism_check`` ("default" or "none")
    says whether what is recomputed is compared, ``debug`` lists all ops when it differs, ``early_stop`` ends a recomputation
    as soon as everything needed is there. ``preserve_rng_state`` (on by default) lets it draw the same random numbers.

    Raises :class:`CheckpointError` in backward if the recomputation saves other tensors; where it runs other ops that save
    the same kind of tensors, which PyTorch does not notice, a warning says so.
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling "
            "checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to "
            "preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
            "differences between the two variants.",
            UserWarning,
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _checkpoint(function, preserve, context_fn, determinism_check, debug, early_stop, args, kwargs)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return run_reentrant(function, preserve, args)


def _checkpoint(
    function: Callable[..., Any],
    preserve: bool,
    context_fn: Callable[[], Contexts],
    determinism_check: str,
    debug: bool,
    early_stop: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    debug = debug if _settings.debug is None else _settings.debug
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {_CHECKS}, but got {determinism_check}")
    first, second = context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)

    def recompute(*arguments: Any) -> None:
        with drawing_from(state), second:
            function(*arguments, **kwargs)

    state = rng_states() if preserve else None
    begun = None if preserve else drawn_from()
    stop = early_stop if _settings.early_stop is None else _settings.early_stop
    frame = Frame(recompute, args, stop, determinism_check == "default", debug)
    with frame.hooks(), logging(frame.log), first:
        result = function(*args, **kwargs)
        frame.completed = True
    frame.drawn_to = drawn_since(begun)
    if not frame.completed:
        raise RuntimeError(_SUPPRESSED)
    return result


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run ``functions`` (modules, a ``Sequential``) one after the other in ``segments`` parts, all but the last of them
    checkpointed.
    """
    from ..nn import Sequential

    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In version "
            "2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, but if you need "
            "to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
            "differences between the two variants.",
            UserWarning,
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if isinstance(functions, Sequential) else functions
    size = len(steps) // segments
    last = size * (segments - 1)
    for start in range(0, last, size):
        part = steps[start : start + size]
        input = checkpoint(_chained(part), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _chained(steps[last:])(input)


def _chained(steps: Any) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        for step in steps:
            x = step(x)
        return x

    return run
