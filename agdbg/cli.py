"""The command line: ``agdbg run``, ``explain``, ``export``, ``trace``.

Importing this costs little: what a command needs is imported when it runs.
"""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Any

from agdbg import __version__
from agdbg.commands import explain, export, run, trace

DESCRIPTION = """\
agdbg is a debugger for automatic differentiation. It runs a training script, records
every autograd graph, and says who saved, who wrote and who freed when backward fails."""
EPILOG = """\
Results go to standard output, everything else to standard error.
Exit status: that of the program for run; 0 done, 2 bad input, 70 a mistake in agdbg."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status.

    ``run`` raises what ends its program: ``SystemExit`` and, after reporting it, ``KeyboardInterrupt``.
    """
    words, program_args = export.split_arguments(sys.argv[1:] if argv is None else argv)
    options = _parser().parse_args(words, Namespace(program_args=program_args))
    code: int = options.execute(options)
    return code


def _parser() -> ArgumentParser:
    common: dict[str, Any] = {"allow_abbrev": False, "formatter_class": RawDescriptionHelpFormatter}
    parser = ArgumentParser(prog="agdbg", description=DESCRIPTION, epilog=EPILOG, **common)
    parser.add_argument("--version", action="version", version=f"agdbg {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for command in (run, explain, export, trace):
        command.configure(commands, common)
    return parser
