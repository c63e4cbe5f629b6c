"""Where an export goes: a file that is replaced as a whole, or standard output."""

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from agdbg.commands.output import write_bytes
from agdbg.errors import InputError

STDOUT = "-"
#: How exports begin, by suffix: "txt" has no mark of its own, so its second line must look like a summary.
_MARKS = (
    re.compile(rb"<svg [^>]*>.*agdbg|<svg [^>]*\bviewBox=[^>]*aria-label=", re.DOTALL),
    re.compile(rb"(//[^\n]*\n)*digraph agdbg \{"),
    re.compile(rb'\{\s*"format": "agdbg-graph"'),
    re.compile(rb"[^\n]*\n[\d,]+ nodes?\b"),
)
_LOOKED_AT = 4096


@dataclass(frozen=True)
class Destination:
    """The output of an export; it is checked before the work is done, and written after."""

    name: str

    @property
    def is_stdout(self) -> bool:
        """True for ``-``."""
        return self.name == STDOUT

    def check(self) -> None:
        """Find out whether the file can be written, without touching it.

        Raises:
            InputError: it cannot.
        """
        path = Path(self.name)
        if self.is_stdout or _is_special(path):
            return
        if path.is_dir():
            raise InputError(f"-o {self.name}: it is a directory; name a file in it")
        if not path.parent.is_dir():
            raise InputError(f"-o {self.name}: there is no directory {path.parent}; make it, or name another")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise InputError(f"-o {self.name}: {path.parent} is not writable; name another directory")
        self._refuse_foreign(path)

    def _refuse_foreign(self, path: Path) -> None:
        """Only an earlier export is replaced: not a script, nor a part of a trace, nor anything else."""
        try:
            if path.exists() and not _is_export(path):
                raise InputError(
                    f"-o {self.name}: there is a file which is no earlier export of agdbg; remove it, or name another"
                )
        except OSError as error:
            raise InputError(f"-o {self.name}: cannot look at the file there ({error.strerror or error})") from None

    def write(self, text: str) -> None:
        """Write the text, as UTF-8. A file that was there stays as it is until the new one is whole.

        Raises:
            InputError: it cannot be written; the disk is full, say.
            BrokenPipeError: the reader of standard output is gone.
        """
        data = text.encode()
        if self.is_stdout:
            write_bytes(data)
            return
        path = Path(self.name)
        try:
            if _is_special(path):
                path.write_bytes(data)
            else:
                self._refuse_foreign(path)  # the script may have made it
                _replace(path.resolve(), data)
        except OSError as error:
            raise InputError(f"-o {self.name}: cannot write it ({error.strerror or error})") from None


def _is_special(path: Path) -> bool:
    """True for a pipe or a device such as ``/dev/stdout``, which must not be replaced, also where it leads to a file."""
    if path.exists() and (path.is_dir() or not path.is_file()):
        return not path.is_dir()
    return Path(os.path.abspath(path)).parts[1:2] in (("dev",), ("proc",))


def _is_export(path: Path) -> bool:
    """True for an empty file and for one that looks like what a renderer writes."""
    with open(path, "rb") as file:
        start = file.read(_LOOKED_AT)
    return not start or any(mark.match(start) for mark in _MARKS)


def _replace(path: Path, data: bytes) -> None:
    """Put a new file in the place of ``path``, with the permissions of the old one or of a file made anew."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
