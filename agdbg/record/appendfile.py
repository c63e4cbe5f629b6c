"""A file that only grows, written at a known offset."""

import errno
import os
from pathlib import Path


class AppendFile:
    """A new file, open for appending.

    :meth:`write` does not move :attr:`offset`: whoever writes sets it together with taking what was written
    off the waiting list. A write that was interrupted is then simply repeated, over its own bytes.

    Raises:
        OSError: the file cannot be made, or it is there already.
    """

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        self.offset = 0

    def write(self, data: bytes) -> int:
        """Write all of ``data`` at the offset and return the offset after it; one call may write less."""
        os.lseek(self._fd, self.offset, os.SEEK_SET)
        view = memoryview(data)
        while view:
            written = os.write(self._fd, view)
            if not written:
                raise OSError(errno.EIO, "the system wrote nothing")
            view = view[written:]
        return self.offset + len(data)

    def close(self) -> None:
        """Close the file; that the program closed it behind our back is no error."""
        try:
            os.close(self._fd)
        except OSError:
            return
