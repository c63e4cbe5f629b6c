"""Sessions at a port, one after the other: a hub serves each, at a socket that it inherits.

No hub is started before somebody knocks, so nothing idles; what knocks while one hub ends waits for the next.
"""

import os
import secrets
import select
import socket

from agdbg import status
from agdbg.hub.listening import BACKLOG, address_of, at_port
from agdbg.hub.starting import HubAddress, start_hub
from agdbg.tell import tell


def serve(host: str, port: int, token: str, *, once: bool = False) -> int:
    """Serve until Ctrl-C or a signal ends this process; hubs with a program that runs are not ended by that.

    Args:
        host, port: where; port 0 takes a free one.
        token: what clients must show; empty: a new one, which is printed.
        once: end after the first session.

    Raises:
        InputError: the port cannot be had.
        HubFailed: a hub cannot be started.
    """
    with at_port(host, port, f"--host {host} --port {port}") as listening:
        listening.listen(BACKLOG)
        shown = token or secrets.token_urlsafe(24)
        tell(f"listening at {address_of(listening)}")
        tell("the token is the one given" if token else f"the token is {shown}")
        while True:
            select.select([listening], [], [])
            _await_end(_hub_at(listening, shown))
            if once:
                return status.OK


def _hub_at(listening: socket.socket, token: str) -> HubAddress:
    fd = listening.fileno()
    return start_hub(["--listen-fd", str(fd)], token=token, pass_fds=[fd])


def _await_end(hub: HubAddress) -> None:
    try:
        ended = os.pidfd_open(hub.pid)
    except ProcessLookupError:
        return
    try:
        select.select([ended], [], [])
    finally:
        os.close(ended)
