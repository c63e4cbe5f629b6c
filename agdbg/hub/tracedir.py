"""The directory of a run's trace: where it goes, and whether it is worth keeping."""

import shutil
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

from agdbg.errors import InputError
from agdbg.hub.output import OUTPUT_FILE, OutputLog
from agdbg.launch import place


class TraceDirectory:
    """A directory with a trace, or for one.

    Args:
        path: the directory.
        is_ours: the user has not named it, so that it goes when there is nothing in it.
        stem: the name that the user has given the first of several runs; that of ``path`` when left out.
        why_here: why it is not where the user will look first; empty: it is there.
    """

    def __init__(self, path: Path, is_ours: bool, stem: str = "", why_here: str = "") -> None:
        self.path, self.why_here = path, why_here
        self._stem = stem or path.name
        self._is_ours, self._is_moved = is_ours, False

    @classmethod
    def for_launch(cls, cwd: Path, stem: str, name: str | None) -> "TraceDirectory":
        """Make the directory for a new run.

        Args:
            cwd: where the program is started.
            stem: its name.
            name: what the user named, below ``cwd`` if it is relative; None: nothing.

        Raises:
            InputError: it cannot be made or is not empty.
        """
        if name is not None:
            return cls(place.named(str(cwd / name) if name else ""), is_ours=False)
        try:
            return cls(place.reserved(cwd, stem, time.time()), is_ours=True)
        except OSError as error:
            why = f"cannot write to {cwd / place.FOLDER} ({error.strerror})"
        try:
            path = place.temporary(stem)
            return cls(path, is_ours=True, why_here=f"{why}: the trace goes to {path}")
        except OSError as error:
            raise InputError(
                f"trace: cannot make a directory below {cwd / place.FOLDER} or for temporary files "
                f"({error.strerror}); name one as trace"
            ) from None

    def another(self, cwd: Path, stem: str) -> "TraceDirectory":
        """Make the directory for the same program, run once more: beside this one with a number, when the user named it.

        Raises:
            InputError: it cannot be made.
        """
        if self._is_ours:
            return self.for_launch(cwd, stem, None)
        taken = (self.path.with_name(f"{self._stem}-{number}") for number in count(2))
        return TraceDirectory(place.named(str(next(path for path in taken if not path.exists()))), False, self._stem)

    def moved(self, path: Path) -> None:
        """The program has removed the directory, or given it another name; what is recorded is in ``path``."""
        self.path, self._is_ours, self._is_moved = path, False, True

    def keep_output(self, log: OutputLog) -> None:
        """The program has ended. What it has printed is beside its trace, also where it has removed the file of that."""
        if self._is_moved and not self.output.exists():
            with suppress(OSError):  # there is no room: clients have seen it
                self.output.write_bytes(log.read(0, log.size))

    @property
    def output(self) -> Path:
        """The file with what the program prints."""
        return self.path / OUTPUT_FILE

    @property
    def holds_something(self) -> bool:
        """True when something was recorded."""
        return place.holds_trace(self.path)

    def tidy(self) -> None:
        """Remove the directory when there is nothing in it, recorded or printed, unless the user named it."""
        if self._is_ours and not self.holds_something and not _has_content(self.output):
            shutil.rmtree(self.path, ignore_errors=True)


def _has_content(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except OSError:
        return False
