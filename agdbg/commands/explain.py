"""``agdbg explain``: what a trace explains."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agdbg import status
from agdbg.commands.guard import guarded
from agdbg.commands.output import print_json, print_text

if TYPE_CHECKING:
    from argparse import _SubParsersAction


def configure(commands: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "explain",
        help="explain what went wrong in a trace",
        description="Diagnose a trace: causes, the lines of code that are the evidence, and what to do.",
        **common,
    )
    parser.add_argument("trace", metavar="TRACE", help="the directory of a trace")
    parser.add_argument("--all", action="store_true", help="also what raised nothing, and what is no fault")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(execute=guarded(execute), parser=parser, hint="")


def execute(options: Namespace) -> int:
    """Print the explanation; finding something is no failure of this command."""
    from agdbg.explain.explanation import as_json, explain
    from agdbg.explain.palette import Palette
    from agdbg.explain.text import as_text

    found = explain(options.trace, lints=options.all, notes=options.all)
    if options.json:
        print_json(as_json(found))
    else:
        print_text(as_text(found, base=_here(), palette=Palette.of(sys.stdout)))
    return status.OK


def _here() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None
