"""``meta.json``: who was recorded, by which engine, and what its adapter sees. Always replaced as a whole."""

import contextlib
import json
import os
import sys
from datetime import datetime
from pathlib import Path

from agdbg.ranks import rank_of
from agdbg.record.errors import TraceError
from agdbg.record.format import FORMAT_NAME, META_FILE, RECORDS_FILE, STRINGS_FILE, VERSION

_dumps = json.dumps  # the program may replace it

ROOM = 600
"""Spaces at the end of ``meta.json``: so much more can be said in place when the disk is full."""


def describe_program() -> dict[str, object]:
    """The program entry of this process: arguments, directory, Python, the local time with its zone, its rank where it has one."""
    rank = rank_of(os.environ)
    return {
        "argv": list(sys.argv),
        "cwd": _cwd(),
        "python": sys.version.split()[0],
        "started": datetime.now().astimezone().isoformat(timespec="seconds"),
        **({} if rank is None else rank.table()),
    }


def _cwd() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # the directory was removed under us
        return ""


def refuse_used(directory: Path) -> None:
    """Raise :class:`TraceError` when ``directory`` holds a trace or a part of one."""
    if directory.exists() and not directory.is_dir():
        raise TraceError(f"{directory} is a file: a trace is a directory, name another path")
    for name in (RECORDS_FILE, STRINGS_FILE, META_FILE):
        if (directory / name).exists():
            raise TraceError(f"{directory} holds a trace already ({name}): name another directory")


def write_meta(directory: Path, content: dict[str, object]) -> None:
    """Write ``meta.json`` whole or not at all (a temporary file, then a rename).

    Raises:
        OSError: it could not be written; the old file is still there.
    """
    temporary = directory / (META_FILE + ".new")
    try:
        temporary.write_bytes(_encoded(content) + b" " * ROOM + b"\n")
        os.replace(temporary, directory / META_FILE)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def remove_meta(directory: Path) -> None:
    """Remove the ``meta.json`` of a trace that could not be begun. Never raises."""
    with contextlib.suppress(OSError):
        (directory / META_FILE).unlink()


def rewrite_meta(directory: Path, content: dict[str, object]) -> None:
    """Write ``meta.json`` again, over its own bytes where the disk has no room for another file.

    Raises:
        OSError: neither was possible.
    """
    try:
        write_meta(directory, content)
    except OSError:
        data = _encoded(content)
        with open(directory / META_FILE, "r+b") as file:
            room = len(file.read())
            if len(data) > room:
                raise
            file.seek(0)
            file.write(data.ljust(room))


def _encoded(content: dict[str, object]) -> bytes:
    full = {"format": FORMAT_NAME, "version": VERSION, "pid": os.getpid(), "parent": None, **content}
    return _dumps(full, indent=1, default=str).encode()


def read_meta(directory: Path) -> tuple[dict[str, object], list[str]]:
    """Read ``meta.json``: its content, empty when it is lost, and the problems met."""
    path = directory / META_FILE
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}, [f"{META_FILE} is missing: program and engine are unknown"]
    except (OSError, ValueError, RecursionError) as error:
        return {}, [f"{META_FILE} is unreadable ({error}): program and engine are unknown"]
    if not isinstance(content, dict):
        return {}, [f"{META_FILE} does not hold an object: program and engine are unknown"]
    return content, []
