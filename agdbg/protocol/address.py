"""Where a hub listens: at a Unix socket, or at a host and port."""

import os
import re
from os import PathLike

_HOST_PORT = re.compile(r"\[?([^/\[\]]+)\]?:(\d{1,5})")
_LAST_PORT = 65_535

Place = str | tuple[str, int]


def place_of(address: str | PathLike[str]) -> Place:
    """The ``(host, port)`` of an address like ``localhost:5678`` or ``[::1]:5678``, else the path of a socket.

    Raises:
        ValueError: there is no such port.
    """
    text = os.fspath(address)
    found = _HOST_PORT.fullmatch(text)
    if not found:
        return text
    if int(found[2]) > _LAST_PORT:
        raise ValueError(f"port {found[2]} is above {_LAST_PORT}")
    return found[1], int(found[2])


def unreachable(address: str | PathLike[str], error: Exception) -> str:
    """What to say when nothing answers at the address."""
    strerror = error.strerror if isinstance(error, OSError) else None
    reason = strerror or str(error) or "it does not accept the connection in time"
    return f"no hub answers at {os.fspath(address)}: {reason}; start one, or attach to one that runs"
