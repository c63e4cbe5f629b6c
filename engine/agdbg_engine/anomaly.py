"""Anomaly mode: every node remembers the lines that built it, and NaN in a gradient is an error that shows them.

A trace is noted as ``(code, lasti)`` pairs, which costs an attribute or two per frame, and turned into text when somebody reads
it. Where a node fails the trace goes into the exception itself, and into a :class:`UserWarning` as in PyTorch.
"""

from __future__ import annotations

import contextlib
import linecache
import warnings
from collections.abc import Iterator, Sequence
from sys import _getframe
from types import CodeType, FrameType
from typing import Any, overload

import numpy as np

from . import errors, events
from .current import current
from .grad_mode import check_bool
from .node import Node
from .sites import INTERNAL, RUNNERS, user_stacklevel, where


class _State:
    """Like in PyTorch the mode is that of the whole process."""

    enabled = False
    check_nan = True


state = _State()


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return state.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether NaN is looked for while anomaly mode is on."""
    return state.check_nan


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off; :class:`TypeError` for what is no bool."""
    check_bool("set_anomaly_enabled", "enabled", 1, enabled)
    check_bool("set_anomaly_enabled", "check_nan", 2, check_nan)
    if enabled != state.enabled:
        events.use(events.ANOMALY, 1 if enabled else -1)
    state.enabled, state.check_nan = enabled, check_nan


class _Restoring:
    """A context at whose end the mode is as it was when the context was made."""

    def __init__(self) -> None:
        self.prev = state.enabled
        self.prev_check_nan = state.check_nan

    def __exit__(self, *exc: object) -> None:
        set_anomaly_enabled(self.prev, self.prev_check_nan)


class detect_anomaly(_Restoring):
    """Anomaly mode for a block; with ``check_nan`` a node that gives NaN raises :class:`RuntimeError`."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)


class set_detect_anomaly(_Restoring):
    """Switch anomaly mode at once; used as a context it is put back at the end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        """Nothing: the mode is set already."""


# ----- while the graph is built -----


class Trace(Sequence[str]):
    """The lines that were running, outermost first, in the form of ``traceback.format_stack``; made when they are read."""

    __slots__ = ("sites",)

    def __init__(self, frame: FrameType | None) -> None:
        """Note the user's frames at and above ``frame``: those of the engine say nothing about the program."""
        self.sites: list[tuple[CodeType, int]] = []
        while frame is not None and frame.f_code.co_filename not in RUNNERS:
            if frame.f_code.co_filename not in INTERNAL:
                self.sites.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        self.sites.reverse()

    def __len__(self) -> int:
        return len(self.sites)

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        return [_line(*s) for s in self.sites[i]] if isinstance(i, slice) else _line(*self.sites[i])

    def __str__(self) -> str:
        return "".join(self)


def _line(code: CodeType, lasti: int) -> str:
    site = where(code, lasti)
    linecache.checkcache(site.file)
    text = f"    {site.text}\n" if site.text else ""
    return f'  File "{site.file}", line {site.line}, in {site.function}\n{text}'


def remember(node: Node) -> None:
    """Note in the metadata of ``node``, which is being born, the lines that run and the node whose gradient it belongs to."""
    notes = node.metadata
    notes["traceback_"] = Trace(_getframe(1))
    if current.node is not None:
        notes["parent_"] = current.node


# ----- while it is run -----


def check(node: Node, grads: Sequence[Any]) -> None:
    """Raise PyTorch's :class:`RuntimeError` if one of the ``grads`` that ``node`` gives (tensors or buffers) has NaN."""
    for i, g in enumerate(grads):
        if g is None:
            continue
        array = getattr(g, "_a", g)
        if array.dtype.kind in "fc" and bool(np.isnan(array).any()):
            raise errors.make(
                RuntimeError,
                errors.Details("nan", node),
                f"Function '{node.name()}' returned nan values in its {i}th output.",
            )


def report(error: BaseException, node: Node) -> None:
    """Tell where ``node``, which failed with ``error``, was built: in the error, and in a warning."""
    if not isinstance(error, Exception):
        return
    found = list(_texts(node))
    text = "\n".join(t.strip("\n") for t in found)
    if errors.details_of(error).kind != "other" and error.args and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]}\n{text}", *error.args[1:])
    else:  # the user's own: its text stays as it is
        error.add_note(text)
    level = user_stacklevel()
    with contextlib.suppress(Warning):  # made an error by a filter, it would hide the one that matters
        for t in found:
            warnings.warn(t, UserWarning, stacklevel=level)


def _texts(node: Node) -> Iterator[str]:
    """PyTorch's messages about ``node`` and the nodes whose gradients it, one after the other, belongs to."""
    yield f"Error detected in {node.name()}. {_trace(node, 'caused the error')}"
    parent = _notes(node).get("parent_")
    while parent is not None:
        yield f"\n\nPrevious calculation was induced by {parent.name()}. {_trace(parent, 'induced the previous calculation')}"
        parent = _notes(parent).get("parent_")


def _trace(node: Node, did: str) -> str:
    trace = _notes(node).get("traceback_")
    if trace is None:
        return "No forward pass information available. Enable detect anomaly during forward pass for more information."
    return f"Traceback of forward call that {did}:\n{''.join(trace)}"


def _notes(node: Node) -> dict[str, Any]:
    """The metadata of ``node``, which is not made for this."""
    return {} if node.hooks is None else node.hooks.metadata
