"""``agdbg open``: look at a trace in the terminal UI."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from agdbg.commands import batch, screen
from agdbg.commands.guard import guarded

if TYPE_CHECKING:
    from argparse import _SubParsersAction


def configure(commands: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "open",
        help="look at a trace in the terminal UI",
        description="Step through a recording, forward and back, as through the program that left it.",
        **common,
    )
    parser.add_argument("trace", metavar="TRACE", help="the directory of a trace")
    batch.configure(parser)
    parser.set_defaults(execute=guarded(execute), parser=parser, hint="")


def execute(options: Namespace) -> int:
    """Show the trace until the user quits."""
    from agdbg.record.there import check

    batch.check(options)
    if options.batch:
        from agdbg.commands.opening import opened
        from agdbg.hub.starting import start_hub

        lines = batch.lines_of(options)
        check(options.trace)
        opened(options.trace)
        options.address = start_hub().client_socket
        return batch.look(options, lines)
    check(options.trace)  # one that cannot be read is refused here, before the screen changes
    screen.require("open", f"agdbg explain {options.trace} prints what went wrong")
    return screen.open_trace(options.trace)
