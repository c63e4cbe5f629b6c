"""A trace that the program has removed, or moved, while it is written: its files are still open, so nothing of it is lost."""

import shutil
import tempfile
from pathlib import Path

from agdbg.record.appendfile import AppendFile
from agdbg.record.format import RECORDS_FILE, STRINGS_FILE
from agdbg.record.metafile import write_meta


def save(
    name: str, strings: AppendFile, records: AppendFile, meta: dict[str, object]
) -> tuple[Path, AppendFile, AppendFile]:
    """Copy what was written so far to a new temporary directory, where it goes on: the directory and its two files.

    Args:
        name: of the directory that was removed.
        strings, records: its files; they are closed when all is saved.
        meta: the content of its ``meta.json``.

    Raises:
        OSError: it cannot be saved there; nothing is left of the attempt.
    """
    directory = Path(tempfile.mkdtemp(prefix=f"agdbg-{name}-"))
    try:
        write_meta(directory, meta)
        copies = strings.saved_as(directory / STRINGS_FILE), records.saved_as(directory / RECORDS_FILE)
    except OSError:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    for file in (strings, records):
        file.close()
    return directory, *copies


def found(strings: AppendFile, records: AppendFile) -> Path | None:
    """The directory to which the program has moved both files; None: they are where they were, or nobody can tell."""
    moved = records.moved_to
    if moved is None or strings.moved_to != moved.with_name(STRINGS_FILE):
        return None
    strings.follow(moved.with_name(STRINGS_FILE))
    records.follow(moved)
    return moved.parent
