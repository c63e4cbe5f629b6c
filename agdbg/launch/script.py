"""Loading a script as ``python SCRIPT`` does: source in any encoding, ``.pyc``, standard input."""

import io
import marshal
import os
import stat
import sys
from collections.abc import Callable
from importlib.machinery import SourceFileLoader, SourcelessFileLoader
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType
from typing import NoReturn

from agdbg.sources import remember

STDIN = "-"
_PYC_HEADER = 16


def absolute(target: str) -> str:
    """``target`` below the current directory, not normalised: the ``__file__`` that Python gives a script."""
    if target == STDIN or os.path.isabs(target):
        return target
    try:
        return os.path.join(os.getcwd(), target) if target else os.getcwd()
    except OSError:  # the current directory was removed
        return target


def is_importable(path: str) -> bool:
    """True for a directory or a zip file: Python runs the ``__main__`` module in it."""
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        return True
    return False


def execute(target: str, main: ModuleType, abandon: Callable[[], None]) -> None:
    """Load the script and run it as ``main``.

    What Python must refuse, it is left to refuse: its own reader of files has messages of its own for one
    that it cannot open, decode or compile. ``abandon`` is called, then ``python SCRIPT`` replaces this
    process.
    """
    path = absolute(target)
    try:
        code, loader = _load(path)
    except (OSError, SyntaxError, ValueError, EOFError, TypeError):
        if not sys.executable or not _can_be_read_again(path):
            raise
        abandon()
        _hand_over()
    namespace = main.__dict__
    namespace["__file__"] = "<stdin>" if path == STDIN else path
    namespace["__cached__"] = None
    if loader is not None:
        namespace["__loader__"] = loader
    allow_frames_below(calls_from_c=1)
    exec(code, namespace)


def allow_frames_below(calls_from_c: int = 0) -> None:
    """Raise the recursion limit by what is on the stack, so that the program may recurse as deep as ever.

    Args:
        calls_from_c: calls that the caller makes through C; Python 3.11 counts them with its own.
    """
    depth, frame = 0, sys._getframe().f_back
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    counted = calls_from_c if sys.version_info < (3, 12) else 0
    sys.setrecursionlimit(sys.getrecursionlimit() + depth + counted)


def _load(path: str) -> tuple[CodeType, object]:
    """The code of a script, and the loader that Python names as its ``__loader__``."""
    if path == STDIN:
        return compile(sys.stdin.buffer.read(), "<stdin>", "exec", dont_inherit=True), None
    with io.open_code(path) as file:
        content = file.read()
    if path.endswith(".pyc") or content[:2] == MAGIC_NUMBER[:2]:
        return _compiled(content), SourcelessFileLoader("__main__", path)
    remember(path, content)
    return compile(content, path, "exec", dont_inherit=True), SourceFileLoader("__main__", path)


def _compiled(content: bytes) -> CodeType:
    """The code object in a ``.pyc`` file."""
    code = marshal.loads(content[_PYC_HEADER:])
    if content[: len(MAGIC_NUMBER)] != MAGIC_NUMBER or not isinstance(code, CodeType):
        raise ValueError("not compiled by this Python")
    return code


def _can_be_read_again(path: str) -> bool:
    """False for standard input and pipes, which have been read to their end; True for what is not there."""
    try:
        return path != STDIN and not stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return True


def _hand_over() -> NoReturn:
    """Become ``python SCRIPT ARGS...``, with the options this interpreter was started with."""
    from subprocess import _args_from_interpreter_flags  # type: ignore[attr-defined]  # as multiprocessing uses it

    os.execv(sys.executable, [sys.orig_argv[0], *_args_from_interpreter_flags(), *sys.argv])
