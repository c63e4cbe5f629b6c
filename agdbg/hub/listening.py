"""The sockets at which a hub waits for clients and for the program: made so that only the right ones get in."""

import os
import socket
import stat
from pathlib import Path

from agdbg.errors import InputError

BACKLOG = 64


def at(path: Path) -> socket.socket:
    """A socket at a path, for this user alone."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(str(path))
    except OSError:
        listening.close()
        raise
    finally:
        os.umask(before)
    return listening


def at_named(path: str) -> socket.socket:
    """A socket at a path that the user has named; what a hub that was killed has left there is replaced.

    Raises:
        InputError: it cannot be had.
    """
    try:
        if _is_left_over(path):
            os.unlink(path)
        return at(Path(path))
    except OSError as error:
        raise InputError(f"--socket {path}: {error.strerror or error}; name another path") from None


def _is_left_over(path: str) -> bool:
    """True for a socket at which nobody listens any more."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trying:
            trying.connect(path)
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def at_port(host: str, port: int, named: str = "") -> socket.socket:
    """A socket at a host and port; port 0 takes a free one. ``named`` is how a person has said which, for messages.

    Raises:
        InputError: it cannot be had.
    """
    named = named or f"--listen {host}:{port}"
    if not 0 <= port < 1 << 16:
        raise InputError(f"{named}: a port is below 65536; name another host and port, port 0 for any")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
        except OSError:
            listening.close()
            raise
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{named}: {reason}; name another host and port, port 0 for any") from None
    return listening


def address_of(listening: socket.socket) -> str:
    """``host:port``, an IPv6 host in brackets."""
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
