"""The token that a hub at a port demands: never a word of a command line, which every user of the machine can read."""

import os
import stat

from agdbg.errors import InputError

#: The environment variable that may hold it.
TOKEN_VARIABLE = "AGDBG_TOKEN"
_LONGEST = 4096


def token_from(file: str | None) -> str:
    """The token in a file, or else in the environment; empty when there is neither.

    Raises:
        InputError: the file cannot be read, is empty, or others than its owner may read it.
    """
    return _read(file) if file is not None else os.environ.get(TOKEN_VARIABLE, "")


def _read(file: str) -> str:
    try:
        with open(file, "rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            if stat.S_ISREG(mode) and mode & 0o077:
                raise InputError(
                    f"--token-file {file}: others may read it (mode {stat.S_IMODE(mode):04o}); chmod 0600 {file}"
                )
            token = stream.read(_LONGEST).decode(errors="replace").strip()
    except OSError as error:
        raise InputError(f"--token-file {file}: {error.strerror or error}; name a file with the token in it") from None
    if not token:
        raise InputError(f"--token-file {file}: it is empty; write the token into it")
    return token
