"""``agdbg attach``: come back to a program that runs under agdbg."""

import shlex
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from agdbg import status
from agdbg.commands import batch, screen
from agdbg.commands.guard import guarded
from agdbg.commands.output import print_json, print_text
from agdbg.errors import InputError
from agdbg.tell import tell

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from agdbg.hub.place import HubInfo


DESCRIPTION = """\
Join a program that runs under agdbg: one whose UI was left or has died, one that an editor
watches, or one that listens at a port for those who have its token."""


def configure(commands: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "attach",
        help="come back to a program that was left running",
        description=DESCRIPTION,
        usage="agdbg attach [ID | PATH | --host H --port N [--token-file FILE]] [--batch [-x COMMAND] ...]\n"
        "       agdbg attach --list [--json]",
        **common,
    )
    parser.add_argument(
        "hub",
        nargs="?",
        metavar="ID",
        help="which one: the number of its program, its name in --list, or its socket (default: the only one)",
    )
    parser.add_argument("--host", metavar="H", help="with --port: the machine where it listens (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, metavar="N", help="join one that listens at a port")
    parser.add_argument("--token-file", metavar="FILE", help="show the token in FILE (default: that in AGDBG_TOKEN)")
    parser.add_argument("--token", metavar="T", help="the token itself, which others can read on the command line")
    parser.add_argument("--list", action="store_true", help="print those that there are")
    parser.add_argument("--json", action="store_true", help="with --list or --batch: print JSON")
    batch.configure(parser, has_json=True)
    parser.set_defaults(execute=guarded(execute), parser=parser, hint="")


def execute(options: Namespace) -> int:
    """Show the program until the user leaves."""
    batch.check(options)
    if options.list:
        from agdbg.hub.place import running

        _print(running(), options.json)
        return status.OK
    address, token = _reached(options)
    if options.batch:
        options.address, options.trace, options.token = address, None, token
        return batch.look(options, batch.lines_of(options))
    screen.require("attach", f"--batch does without, and an editor can attach to {address}")
    return screen.attach(address, token)


def _reached(options: Namespace) -> tuple[str, str]:
    """The address of the hub that is meant, and the token to show there.

    Raises:
        InputError: there is none, or more than one; or a port without a token, or a token without a port.
    """
    given = [name for name in ("host", "token", "token_file") if getattr(options, name) is not None]
    if options.port is not None:
        if options.hub is not None:
            raise InputError(f"{options.hub} and --port {options.port} name two programs; name one")
        return _at_port(options.host or "127.0.0.1", options.port), _token(options)
    if given:
        raise InputError(f"--{given[0].replace('_', '-')} goes with --port")
    if options.hub is not None and "/" in options.hub:
        return options.hub, ""
    from agdbg.hub.place import running

    return str(_chosen(running(), options.hub).client_socket), ""


def _at_port(host: str, port: int) -> str:
    if not 0 < port < 1 << 16:
        raise InputError(f"--port {port}: a port is between 1 and 65535")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _token(options: Namespace) -> str:
    from agdbg.protocol.token import TOKEN_VARIABLE, token_from

    token = options.token if options.token is not None else token_from(options.token_file)
    if not token:
        raise InputError(
            f"--port {options.port}: the program at a port wants its token: set {TOKEN_VARIABLE} or name a --token-file"
        )
    return str(token)


def _chosen(hubs: "list[HubInfo]", wanted: str | None) -> "HubInfo":
    """The hub that is meant, by its name or by the process number of its program.

    Raises:
        InputError: none, or more than one.
    """
    if not hubs:
        raise InputError("nothing runs under agdbg; agdbg run SCRIPT starts something")
    meant = [hub for hub in hubs if wanted in (None, hub.directory.name)]
    meant = meant or [hub for hub in hubs if hub.program and wanted == str(hub.program)]
    if not meant:
        raise InputError(f"there is no {wanted}; there are: {_names(hubs)}")
    if len(meant) > 1:
        raise InputError(f"{len(meant)} programs run under agdbg; name one: {_names(hubs)}")
    return meant[0]


def _names(hubs: "list[HubInfo]") -> str:
    return ", ".join(f"{hub.directory.name} ({shlex.join(hub.argv) or 'no program yet'})" for hub in hubs)


def _print(hubs: "list[HubInfo]", as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {
                    "id": hub.directory.name,
                    "pid": hub.program or None,
                    "argv": hub.argv,
                    "cwd": hub.cwd,
                    "trace": hub.trace,
                    "socket": str(hub.client_socket),
                    "rank": None if hub.rank is None else hub.rank.number,
                }
                for hub in hubs
            ]
        )
        return
    if not hubs:
        tell("nothing runs under agdbg; agdbg run SCRIPT starts something")
    for hub in hubs:
        process = f"pid {hub.program}, " if hub.program else ""
        rank = "" if hub.rank is None else f"{hub.rank.told}, "
        name = shlex.join(hub.argv) or "no program yet"
        print_text(f"{hub.directory.name}  {name}  ({process}{rank}in {hub.cwd or '?'})")
