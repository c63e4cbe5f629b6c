"""Handing over to pdb: at the first line of a function of the program that a node is about to call, on the program's terminal."""

import functools
import inspect
import pdb
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import CodeType, FrameType
from typing import Any

from agdbg.engines.native_saved import unpack_hooks
from agdbg_engine.node import Node
from agdbg_engine.view import CopySlices

_OURS = ("agdbg", "agdbg.*", "agdbg_engine", "agdbg_engine.*")


def functions_of(node: Node) -> set[CodeType]:
    """The code of the program's functions that running ``node`` calls: its hooks, those that unpack what it saved, and the backward
    of a custom Function.
    """
    return {code for function in _functions(node) if (code := _code_of(function)) is not None}


def _functions(node: Node) -> Iterator[Callable[..., Any]]:
    for _, _, hook in node.hooks.firing() if node.hooks is not None else ():
        yield hook
    for _, hook in unpack_hooks(node):
        if getattr(hook, "__module__", "").partition(".")[0] != "agdbg_engine":  # as that of a checkpoint
            yield hook
    while isinstance(node, CopySlices):
        node = node.inner
    user_function = getattr(type(node), "_get_user_fn", None)
    if user_function is not None:
        yield user_function(node)


def _code_of(function: Any) -> CodeType | None:
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__"):  # an object with a method for it
        function = inspect.getattr_static(type(function), "__call__", None)
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


class Handover:
    """Waits in the running thread for one of some functions to be called, and enters pdb there; once.

    Args:
        codes: those of the functions.
        standing: what the thread is in while it stands, at pdb's prompt.
    """

    def __init__(self, codes: set[CodeType], standing: Callable[[], AbstractContextManager[None]]) -> None:
        self._codes, self._standing = codes, standing

    def begin(self) -> None:
        """Wait; the thread must have no other trace function."""
        sys.settrace(self._called)

    def end(self) -> None:
        """Wait no more, if no such function was called."""
        if sys.gettrace() == self._called:
            sys.settrace(None)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event != "call" or frame.f_code not in self._codes:
            return None
        debugger = _Pdb(frame, self._standing)
        debugger.reset()
        debugger.set_step()
        sys.settrace(debugger.trace_dispatch)
        return debugger.trace_dispatch(frame, "call", argument)


class _Pdb(pdb.Pdb):
    """Leaves the program alone when the function returns, and when it is told to quit."""

    def __init__(self, top: FrameType, standing: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__(skip=_OURS, nosigint=True)
        self._top, self._standing = top, standing

    def cmdloop(self, intro: Any = None) -> None:
        """Take commands."""
        with self._standing():
            super().cmdloop(intro)

    def dispatch_return(self, frame: FrameType, arg: Any) -> Any:
        found = super().dispatch_return(frame, arg)
        if frame is self._top:
            self._leave()
        return found

    def set_quit(self) -> None:
        """Quitting ends pdb, and not the program."""
        self._leave()

    def _leave(self) -> None:
        self.set_continue()
        sys.settrace(None)  # also when there are breakpoints of pdb's
        frame: FrameType | None = self._top
        while frame is not None:
            if frame.f_trace == self.trace_dispatch:
                frame.f_trace = None
            frame = frame.f_back
