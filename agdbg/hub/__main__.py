"""``python -m agdbg.hub [--listen HOST:PORT]``: a hub; its first line of output says where it listens.

The token that it demands at a port is that of ``AGDBG_TOKEN``, which programs that it starts do not get to see, or else
a new one, which it tells in that line.
"""

import json
import os
import secrets
import signal
import socket
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from agdbg.errors import InputError
from agdbg.hub.adopted import adopt
from agdbg.hub.log import log, log_error
from agdbg.hub.place import Runtime
from agdbg.hub.server import Server
from agdbg.protocol.address import place_of
from agdbg.protocol.token import TOKEN_VARIABLE
from agdbg.record.errors import reason_of

#: Seconds after which a thread that computes lets the loop have its turn.
_SWITCH_S = 0.0002


def main(argv: Sequence[str] | None = None) -> int:
    """Serve, and return the exit status."""
    parser = ArgumentParser(prog="python -m agdbg.hub", description="Serve a program, or a trace, to clients.")
    parser.add_argument("--listen", metavar="HOST:PORT", help="serve at a port as well, to those who have the token")
    parser.add_argument("--listen-fd", type=int, metavar="FD", help="the same at a socket that is there already")
    parser.add_argument("--socket", default="", metavar="PATH", help="serve this user's clients there as well")
    parser.add_argument("--adopt", metavar="JSON", help="look after the program that this tells of, which runs already")
    parser.add_argument("--lifeline", type=int, metavar="FD", help="at the end of this pipe, end if nothing is served")
    parser.add_argument("--foresee", metavar="TRACE", help="read this trace meanwhile: a client will ask for it")
    options = parser.parse_args(argv)
    try:
        listen = _port(options.listen) if options.listen_fd is None else socket.socket(fileno=options.listen_fd)
        runtime = Runtime.create()
    except InputError as error:
        print(f"agdbg: {error}", file=sys.stderr)
        return 2
    try:
        return _serve(runtime, listen, options)
    finally:
        runtime.remove()


def _serve(runtime: Runtime, listen: tuple[str, int] | socket.socket | None, options: Namespace) -> int:
    token = os.environ.pop(TOKEN_VARIABLE, "") or secrets.token_urlsafe(24)
    try:
        server = Server(runtime, listen, token if listen is not None else "", options.socket)
        if options.adopt is not None:
            adopt(server.session, json.loads(options.adopt))
    except OSError as error:
        print(f"agdbg: the hub cannot write to {runtime.directory}: {reason_of(error)}", file=sys.stderr)
        return 2
    except InputError as error:
        print(f"agdbg: {error}", file=sys.stderr)
        return 2
    if options.lifeline is not None:
        server.depend_on(options.lifeline)
    if options.foresee is not None:
        server.session.foresee(Path(options.foresee))
    _outlive_everything(server)
    runtime.describe()
    announced = {"client_socket": str(runtime.client_socket), "pid": os.getpid()}
    if listen is not None:
        announced |= {"address": server.address, "token": token}
    try:
        print(json.dumps(announced), flush=True)
    except BrokenPipeError:
        log("nobody reads where this hub can be reached")
    _detach(str(server.session.log_path))
    sys.setswitchinterval(_SWITCH_S)
    try:
        server.serve()
    except Exception:
        log_error("the hub failed")
        return 70
    return 0


def _port(word: str | None) -> tuple[str, int] | None:
    if word is None:
        return None
    try:
        place = place_of(word)
    except ValueError as error:
        raise InputError(f"--listen {word}: {error}; port 0 takes any that is free") from None
    if isinstance(place, str):
        raise InputError(f"--listen {word}: it is no host and port, as localhost:5678 or [::1]:0")
    return place


def _outlive_everything(server: Server) -> None:
    """Signals of a terminal are not for us. They are caught, not ignored: what is ignored, the program inherits."""

    def nothing(number: int, frame: object) -> None:
        return

    def end(number: int, frame: object) -> None:
        server.loop.post(server.loop.stop)

    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, nothing)
    signal.signal(signal.SIGTERM, end)
    signal.set_wakeup_fd(server.loop.wakeup, warn_on_full_buffer=False)
    if os.getsid(0) != os.getpid() and os.getpgrp() != os.getpid():
        os.setsid()


def _detach(log_path: str) -> None:
    """Let go of the standard streams of whoever started us; what is written to them goes to the log, if there can be one."""
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        written = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError:  # the disk is full
        written = os.dup(nothing)
    os.dup2(nothing, 0)
    os.dup2(written, 1)
    os.dup2(written, 2)
    os.close(nothing)
    os.close(written)


if __name__ == "__main__":
    sys.exit(main())
