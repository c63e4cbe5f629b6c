"""``agdbg trace``: about traces themselves."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from agdbg import status
from agdbg.commands import report, traceexport, tracequery
from agdbg.commands.guard import guarded
from agdbg.commands.output import print_json, print_text

if TYPE_CHECKING:
    from argparse import _SubParsersAction


def configure(commands: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "trace", help="look at a trace directory", description="Look at a trace directory.", **common
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    info = actions.add_parser(
        "info",
        help="what was recorded, and what is lost",
        description="Say what a trace holds: program, engine, numbers of records, errors, damage.",
        **common,
    )
    info.add_argument("trace", metavar="TRACE", help="the directory of a trace")
    info.add_argument("--json", action="store_true", help="print JSON")
    info.set_defaults(execute=guarded(show_info), parser=info, hint="")
    tracequery.configure(actions, common)
    traceexport.configure(actions, common)
    report.configure(actions, common)


def show_info(options: Namespace) -> int:
    """Print what a trace holds."""
    from agdbg.record import Trace
    from agdbg.record.info import render, summary

    found = summary(Trace.open(options.trace))
    if options.json:
        print_json(found)
    else:
        print_text(render(found).rstrip("\n"))
    return status.OK
