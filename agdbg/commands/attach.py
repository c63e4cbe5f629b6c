"""``agdbg attach``: come back to a program that runs under agdbg."""

import shlex
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from agdbg import status
from agdbg.commands import screen
from agdbg.commands.guard import guarded
from agdbg.commands.output import print_json, print_text
from agdbg.errors import InputError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from agdbg.hub.place import HubInfo


def configure(commands: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "attach",
        help="come back to a program that was left running",
        description="Join a program that runs under agdbg and whose UI was left or has died.",
        **common,
    )
    parser.add_argument("hub", nargs="?", metavar="ID", help="which one, as --list names it (default: the only one)")
    parser.add_argument("--list", action="store_true", help="print those that there are")
    parser.add_argument("--json", action="store_true", help="with --list: print JSON")
    parser.set_defaults(execute=guarded(execute), parser=parser, hint="")


def execute(options: Namespace) -> int:
    """Show the program until the user leaves."""
    from agdbg.hub.place import running

    hubs = running()
    if options.list:
        _print(hubs, options.json)
        return status.OK
    found = _chosen(hubs, options.hub)
    screen.require("attach", "an editor can attach to " + str(found.client_socket))
    return screen.attach(str(found.client_socket))


def _chosen(hubs: "list[HubInfo]", wanted: str | None) -> "HubInfo":
    """The hub that is meant.

    Raises:
        InputError: none, or more than one.
    """
    if not hubs:
        raise InputError("nothing runs under agdbg; agdbg run SCRIPT starts something")
    meant = [hub for hub in hubs if wanted in (None, hub.directory.name)]
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
                {"id": h.directory.name, "argv": h.argv, "cwd": h.cwd, "trace": h.trace, "socket": str(h.client_socket)}
                for h in hubs
            ]
        )
        return
    for hub in hubs:
        print_text(f"{hub.directory.name}  {shlex.join(hub.argv) or 'no program yet'}  (in {hub.cwd or '?'})")
