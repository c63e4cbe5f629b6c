"""The one exception of the recorder and the reader, and why a file cannot be written."""

import errno
import resource


class TraceError(Exception):
    """A trace cannot be written or read; the message names the path, what is wrong and the way out."""


def reason_of(error: Exception) -> str:
    """Why nothing more can be written, in the words of the system; of a limit on the size of files which one that is."""
    if not isinstance(error, OSError) or not error.strerror:
        return repr(error)
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if error.errno != errno.EFBIG or limit == resource.RLIM_INFINITY:
        return error.strerror
    return f"{error.strerror}: this process may write files of {limit:,} bytes at most (ulimit -f)"
