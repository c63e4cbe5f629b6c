"""A file that only grows, written at a known offset."""

import contextlib
import errno
import os
from pathlib import Path

from agdbg.descriptors import identity, out_of_the_way


class AppendFile:
    """A new file, open for appending.

    :meth:`write` does not move :attr:`offset`: whoever writes sets it together with taking what was written
    off the waiting list. A write that was interrupted is then simply repeated, over its own bytes.

    The program may close our descriptor, and its next file may get the number: the file is looked at before each
    write, and opened again by its path when it is not ours any more.

    Raises:
        OSError: the file cannot be made, or it is there already.
    """

    def __init__(self, path: Path) -> None:
        self._path = str(path.absolute())
        self._fd = out_of_the_way(os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666))
        self._identity = identity(self._fd)
        self.offset = 0

    def write(self, data: bytes) -> int:
        """Write all of ``data`` at the offset and return the offset after it; one call may write less."""
        if not self._is_ours():
            self._open_again()
        os.lseek(self._fd, self.offset, os.SEEK_SET)
        view = memoryview(data)
        while view:
            written = os.write(self._fd, view)
            if not written:
                raise OSError(errno.EIO, "the system wrote nothing")
            view = view[written:]
        return self.offset + len(data)

    @property
    def written(self) -> int:
        """How many bytes there are, also those of a write that broke off; what was written for certain where nobody can tell."""
        return os.fstat(self._fd).st_size if self._is_ours() else self.offset

    @property
    def is_removed(self) -> bool:
        """Whether the program has removed the file; it is still there for who has it open."""
        try:
            status = os.fstat(self._fd)
        except OSError:
            return False
        return not status.st_nlink and (status.st_dev, status.st_ino) == self._identity

    @property
    def is_in_place(self) -> bool:
        """Whether the file lies where it did."""
        return _names(self._path, self._identity)

    @property
    def moved_to(self) -> Path | None:
        """Where the file lies now that its directory has another name; None: where it did, or nobody can tell."""
        try:
            if not self._is_ours() or self.is_in_place:
                return None
            found = Path(os.readlink(f"/proc/self/fd/{self._fd}"))
            return found if _names(found, self._identity) else None
        except OSError:  # only Linux tells
            return None

    def follow(self, path: Path) -> None:
        """The file is found under ``path`` from now on."""
        self._path = str(path)

    def saved_as(self, path: Path) -> "AppendFile":
        """What was written so far in a new file. This one stays as it is.

        Raises:
            OSError: it cannot be made or read; nothing is left of the attempt.
        """
        other = AppendFile(path)
        try:
            while other.offset < self.offset:
                data = os.pread(self._fd, min(_PIECE, self.offset - other.offset), other.offset)
                if not data:
                    raise OSError(errno.EIO, "the file was cut")
                other.offset = other.write(data)
        except OSError:
            other.remove()
            raise
        return other

    def _is_ours(self) -> bool:
        try:
            return identity(self._fd) == self._identity
        except OSError:
            return False

    def _open_again(self) -> None:
        fd = out_of_the_way(os.open(self._path, _FLAGS))
        if identity(fd) != self._identity:
            os.close(fd)
            raise OSError(errno.ESTALE, "the program replaced a file of the trace")
        self._fd = fd

    def settle(self) -> None:
        """Let the system say now what it would say when the file is closed: on some, a write fails only then.

        Raises:
            OSError: what was written is not all there.
        """
        if self._is_ours():
            os.close(os.dup(self._fd))

    def close(self) -> None:
        """Close the file; that the program closed it behind our back is no error."""
        if self._is_ours():
            with contextlib.suppress(OSError):  # it is closed even so; who wants to know has called `settle`
                os.close(self._fd)

    def remove(self) -> None:
        """Close and remove a file that is of no use."""
        self.close()
        with contextlib.suppress(OSError):
            os.unlink(self._path)


def _names(path: str | Path, file: tuple[int, int]) -> bool:
    """Whether a path leads to a file."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == file


_PIECE = 1 << 20
_FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0)
