"""The command line: ``agdbg run``, ``open``, ``explain``, ``lint``, ``diff`` and the others.

Importing this costs next to nothing: Ctrl-C may come at any time, and is quiet from :func:`main` on.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agdbg import __version__, interrupts

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

DESCRIPTION = """\
agdbg is a debugger for automatic differentiation. It runs a training script, records
every autograd graph, and says who saved, who wrote and who freed when backward fails."""
#: In the order in which help tells of them; each has a module of its name.
COMMANDS = ("run", "open", "attach", "listen", "dap", "explain", "lint", "diff", "export", "trace")
EPILOG = """\
Results go to standard output, everything else to standard error.
Exit status: that of the program for run; 0 done, 2 bad input, 70 a mistake in agdbg."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status.

    ``run`` raises what ends its program: ``SystemExit`` and, after reporting it, ``KeyboardInterrupt``.
    """
    if argv is None:  # this process is ours
        interrupts.hush()
    from argparse import Namespace

    words, program_args = split_arguments(sys.argv[1:] if argv is None else argv)
    options = _parsed(words, Namespace(program_args=program_args))
    code: int = options.execute(options)
    return code


def split_arguments(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split a command line of ``export`` at ``--``: what is behind it belongs to the script."""
    words = list(words)
    if words[:1] != ["export"] or "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _parsed(words: list[str], options: "Namespace") -> "Namespace":
    """Parse; what is not understood is told with the usage of the command that it was for."""
    try:
        _, unknown = _parser(words).parse_known_args(words, options)
        if unknown:
            hint = f" ({options.hint})" if options.hint else ""
            options.parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    except SystemExit as ended:
        raise SystemExit(_with_output(ended.code)) from None
    return options


def _with_output(code: Any) -> Any:
    """The exit status of help and version, which is another one when they could not be printed."""
    from agdbg.commands import output
    from agdbg.commands.guard import complain

    try:
        output.flush()
    except Exception as error:
        return complain(error)
    return code


def _parser(words: Sequence[str] = ()) -> "ArgumentParser":
    """The parser; for a command line that begins with the name of a command only that one is loaded."""
    from argparse import ArgumentParser, RawDescriptionHelpFormatter

    common: dict[str, Any] = {"allow_abbrev": False, "formatter_class": RawDescriptionHelpFormatter}
    parser = ArgumentParser(prog="agdbg", description=DESCRIPTION, epilog=EPILOG, **common)
    parser.add_argument("--version", action="version", version=f"agdbg {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        import_module(f"agdbg.commands.{name}").configure(commands, common)
    return parser
