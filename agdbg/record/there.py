"""Whether there is a trace, and how many records of it are whole: without NumPy."""

import os
from pathlib import Path
from typing import BinaryIO

from agdbg.record.errors import TraceError
from agdbg.record.format import RECORD_SIZE, RECORDS_FILE, check_header


def check(path: str | os.PathLike[str]) -> None:
    """Refuse what cannot be opened as a trace, as :meth:`agdbg.record.Trace.open` does.

    Raises:
        TraceError: there is nothing, it is no trace, or a version that this reader does not know.
    """
    file = records_file(Path(path))
    try:
        with open(file, "rb") as stream:
            whole_records(stream, file)
    except OSError as error:
        raise unreadable(file, error) from error


def records_file(directory: Path) -> Path:
    """The file with the records of the trace in a directory.

    Raises:
        TraceError: there is none.
    """
    if not directory.exists():
        raise TraceError(f"{directory} does not exist")
    if not directory.is_dir():
        program = f"; `agdbg lint {directory}` runs a program and explains it" if directory.suffix == ".py" else ""
        raise TraceError(f"{directory} is a file: a trace is a directory with {RECORDS_FILE} in it{program}")
    file = directory / RECORDS_FILE
    if not file.is_file():
        newest = newest_in(directory)
        other = "" if newest is None else f"; it holds traces, of which the newest is {newest}"
        raise TraceError(f"{directory} is not a trace: there is no {RECORDS_FILE} in it{other}")
    return file


def newest_in(directory: Path) -> Path | None:
    """The trace in a directory of traces that was written to last, as the one of a program that nobody could tell of any more."""
    try:
        inside = [(each.stat().st_mtime_ns, each.parent) for each in directory.glob(f"*/{RECORDS_FILE}")]
    except OSError:  # one of them has just gone, or cannot be looked at
        return None
    return max(inside)[1] if inside else None


def whole_records(stream: BinaryIO, file: Path) -> tuple[int, list[str]]:
    """How many whole records there are, and what follows them, from the beginning of a file.

    Raises:
        TraceError: the file is no trace, or of a version that is not known.
        OSError: it cannot be read.
    """
    whole = check_header(stream.read(RECORD_SIZE), file)
    size = os.fstat(stream.fileno()).st_size
    if not whole:
        return 0, [f"{RECORDS_FILE} ends in its header, after {size} bytes"]
    count, rest = divmod(size - RECORD_SIZE, RECORD_SIZE)
    return count, [f"{RECORDS_FILE}: the last record is cut after {rest} bytes"] if rest else []


def unreadable(file: Path, error: OSError) -> TraceError:
    """What to raise where a file cannot be read."""
    return TraceError(f"cannot read {file}: {error.strerror or error}")
