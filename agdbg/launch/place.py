"""Where a trace goes: a directory the user names, a new one under ``.agdbg``, or a temporary one."""

import os
import re
import tempfile
import time
from itertools import count
from pathlib import Path

from agdbg.errors import InputError

#: The folder, in the directory where the program was started, that holds its traces.
FOLDER = ".agdbg"
#: Files that tell that a directory holds a trace.
TRACE_FILES = ("records.bin", "strings.jsonl", "meta.json")
#: What the program printed, beside its trace, when a hub watched it.
OUTPUT_FILE = "output.log"
#: Why nothing was recorded, in the directory of the hub that watches the program, which says so.
UNRECORDED_FILE = "unrecorded"
_STEM_LIMIT = 80
#: Bytes that a disk must have for a trace to begin there: otherwise it is full, and the trace goes elsewhere.
_ROOM = 16 * 1024


def holds_trace(directory: Path) -> bool:
    """True when there is a trace, or a part of one, in ``directory``."""
    return any((directory / name).exists() for name in TRACE_FILES)


def remove(trace: str) -> None:
    """Remove a trace that was not to be kept; of a program that was started anew there are several."""
    import shutil

    named = Path(trace)
    for each in (named, *named.parent.glob(f"{named.name}-[0-9]*")):
        shutil.rmtree(each, ignore_errors=True)


def named(path: str) -> Path:
    """Make the directory that the user named for a trace and return it, absolute.

    Raises:
        InputError: it holds a trace or other files, it is a file, or it cannot be made or written.
    """
    if not path:
        raise InputError('--trace "": the name is empty; name a directory')
    try:
        directory = Path(path).absolute()
        directory.mkdir(parents=True, exist_ok=True)
        others = any(directory.iterdir())
    except FileExistsError:
        raise InputError(f"--trace {path}: it is a file; name a directory") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"--trace {path}: cannot make or read the directory ({reason}); name another one") from None
    if holds_trace(directory):
        raise InputError(f"--trace {path}: there is a trace in it; remove it, or name another directory")
    if others:
        raise InputError(f"--trace {path}: there are other files in it; name a new or an empty directory")
    if not os.access(directory, os.W_OK | os.X_OK):
        raise InputError(f"--trace {path}: the directory is not writable; name another one")
    return directory


def reserved(start: Path, stem: str, began: float) -> Path:
    """Make ``.agdbg/<stem>-<YYYYmmdd-HHMMSS>[-n]`` under ``start``, a directory that was not there before.

    Args:
        start: where the program was started.
        stem: the program's name.
        began: when it was started, in seconds since the epoch.

    Raises:
        OSError: it cannot be made, or a full disk has no room for what is written into it first.
    """
    folder = start / FOLDER
    _make_folder(folder)
    name = f"{_safe(stem)}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(began))}"
    for number in count(1):
        directory = folder / (name if number == 1 else f"{name}-{number}")
        try:
            directory.mkdir()
        except FileExistsError:
            continue
        _need_room(directory)
        return directory
    raise AssertionError("unreachable: count() does not end")


def _need_room(directory: Path) -> None:
    """Write something of the size of a short trace and remove it; the new ``directory`` too, when that fails."""
    probe = directory / ".room"
    try:
        probe.write_bytes(bytes(_ROOM))
        probe.unlink()
    except OSError:
        probe.unlink(missing_ok=True)
        directory.rmdir()
        raise


def temporary(stem: str) -> Path:
    """Make a directory for a trace where temporary files go."""
    return Path(tempfile.mkdtemp(prefix=f"agdbg-{_safe(stem)}-"))


def _make_folder(folder: Path) -> None:
    """Make ``.agdbg``; as other tools do with their caches, keep it out of the user's version control."""
    try:
        folder.mkdir()
    except FileExistsError:
        return
    ignore = folder / ".gitignore"
    try:
        ignore.write_text("*\n", encoding="ascii")
    except OSError:  # the disk is full: leave nothing half made
        ignore.unlink(missing_ok=True)
        folder.rmdir()
        raise


def _safe(stem: str) -> str:
    """``stem`` as a part of a file name that no shell or option parser stumbles over."""
    return re.sub(r"[^\w.-]+", "_", stem).strip(".-_")[:_STEM_LIMIT] or "script"
