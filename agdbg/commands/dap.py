"""``agdbg dap``: a debug adapter, as editors start one: on standard input and output, or at a port."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from agdbg.commands.guard import guarded
from agdbg.errors import InputError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

DESCRIPTION = """\
Speak the Debug Adapter Protocol. Without options on standard input and output, for one
client; with --port at a port, for those who show the token, one session after the other.
The program that is debugged is watched by a hub, a process of its own, which outlives
this one. docs/editors.md has the configurations of editors."""


def configure(commands: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "dap",
        help="serve an editor by the Debug Adapter Protocol",
        description=DESCRIPTION,
        usage="agdbg dap [--hub ID | --port N [--host H] [--token-file FILE] [--once]]",
        **common,
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--hub", metavar="ID", help="join what a hub runs: its id, as agdbg attach --list names it, or its socket"
    )
    where.add_argument("--port", type=int, metavar="N", help="serve at a port; 0 takes any that is free")
    parser.add_argument("--host", metavar="H", help="with --port: the address (default: 127.0.0.1)")
    parser.add_argument(
        "--token-file", metavar="FILE",
        help="with --port: clients are to show the token in FILE (default: that in AGDBG_TOKEN, or a new one, which is printed)",
    )  # fmt: skip
    parser.add_argument("--once", action="store_true", help="with --port: end after the first session")
    parser.set_defaults(execute=guarded(execute), parser=parser, hint="")


def execute(options: Namespace) -> int:
    """Serve until the client is gone, or at a port until this process is ended."""
    if options.port is not None:
        from agdbg.dap.at_port import serve
        from agdbg.protocol.token import token_from

        return serve(options.host or "127.0.0.1", options.port, token_from(options.token_file), once=options.once)
    for name in ("host", "token_file", "once"):
        if getattr(options, name):
            raise InputError(f"--{name.replace('_', '-')} goes with --port")
    from agdbg.dap.on_stdio import serve_stdio

    return serve_stdio(_socket_of(options.hub))


def _socket_of(hub: str | None) -> str | None:
    """The socket of a hub that runs; None: start one."""
    if hub is None or "/" in hub:
        return hub
    from agdbg.hub.place import running

    for found in running():
        if found.directory.name == hub:
            return str(found.client_socket)
    raise InputError(f"--hub {hub}: no such hub runs; agdbg attach --list prints those that do")
