"""One client on standard input and output, which carry nothing but the protocol."""

import os
import sys

from agdbg import status
from agdbg.dap.bridge import Bridge, apology, write_all
from agdbg.errors import InputError
from agdbg.tell import tell


def serve_stdio(hub: str | None) -> int:
    """Carry messages between a client and a hub until one of them is gone; return the exit status.

    Args:
        hub: the socket of the hub; None starts one.

    Raises:
        InputError: standard input or output is closed.
    """
    taken, given = _own_streams()
    try:
        bridge = Bridge.to(hub if hub is not None else _new_hub())
    except (InputError, OSError) as error:
        write_all(given, apology(1, str(error)))
        tell(f"error: {error}")
        return status.BAD_INPUT
    return bridge.carry(taken, given)


def _new_hub() -> str:
    from agdbg.hub.starting import start_hub

    return start_hub().client_socket


def _own_streams() -> tuple[int, int]:
    """Both streams, for the protocol alone: what anything else in this process prints goes to standard error.

    Raises:
        InputError: one of them is closed.
    """
    if sys.__stdin__ is None or sys.__stdout__ is None:
        raise InputError("agdbg dap speaks on standard input and output, and one of them is closed")
    taken, given = os.dup(0), os.dup(1)
    for fd in (taken, given):
        os.set_blocking(fd, True)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null if sys.__stderr__ is None else 2, 1)
    os.close(null)
    return taken, given
