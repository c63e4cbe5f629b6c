"""Lines of source files as they were when the program was loaded: a file may be edited while it runs."""

import linecache
import os
from types import CodeType

#: Said of a file that is not as it was when the program began.
WRITTEN_TO = "the file was written to after the program began: its lines may be others than those that run"
#: What stands behind an instruction that keeps something, in bytecode.
_CACHE = 0

_loaded: dict[str, list[str]] = {}


def remember(file: str, content: bytes) -> None:
    """Quote ``file`` as ``content`` from now on; what cannot be decoded is left to be read when it is quoted."""
    from importlib.util import decode_source

    try:
        _loaded[os.path.abspath(file)] = decode_source(content).splitlines()
    except (SyntaxError, UnicodeError):
        return


def line_of(file: str, line: int) -> str:
    """Line number ``line`` of ``file``, without its end; empty when there is none."""
    lines = _loaded.get(file)
    if lines is None:
        return _read(file, line)
    return lines[line - 1] if 0 < line <= len(lines) else ""


def _read(file: str, line: int) -> str:
    """The line in the file as it is now. A pipe is left alone: what is in it is for the program, and may never come."""
    try:
        if os.path.exists(file) and not os.path.isfile(file):
            return ""
        return linecache.getline(file, line)
    except ValueError:  # a name that no file can have
        return ""


def instruction_at(code: CodeType, lasti: int) -> int:
    """Where the instruction begins that is at ``lasti``.

    Once a function has run some times, CPython lets a frame that calls from it stand in the inline cache behind the
    instruction instead: the same place of a program then has another ``lasti`` than before.
    """
    raw = code.co_code
    at = min(lasti, len(raw) - 2)
    while at > 0 and raw[at] == _CACHE:
        at -= 2
    return at
