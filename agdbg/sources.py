"""Lines of source files as they were when the program was loaded: a file may be edited while it runs."""

import linecache
import os

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
