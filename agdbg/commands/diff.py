"""``agdbg diff``: the first event where two runs part."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING, Any

from agdbg import status
from agdbg.commands.guard import guarded
from agdbg.commands.output import print_json, print_text
from agdbg.errors import InputError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from agdbg.events import Kind

DESCRIPTION = """\
Compare two traces and show the first event in which they differ, with what came before and
after in both. Numbers of nodes and storages, times, addresses and folders do not count.
Exit status: 0 the runs did the same, 1 they part, 2 bad input."""


def configure(commands: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("diff", help="show where two runs part", description=DESCRIPTION, **common)
    parser.add_argument("trace", metavar="TRACE", help="the directory of a trace")
    parser.add_argument("other", metavar="TRACE", help="the directory of another one")
    parser.add_argument("--context", type=_count, default=3, metavar="N", help="events shown around (default: 3)")
    parser.add_argument("--moved", action="store_true", help="lines of the script may have moved")
    parser.add_argument(
        "--tolerance", type=_tolerance, default=None, metavar="T", help="norms may differ by this part (default: 1e-6)"
    )
    parser.add_argument("--without", action="append", default=[], metavar="KIND", help="do not compare these events")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(execute=guarded(execute), parser=parser, hint="")


def execute(options: Namespace) -> int:
    """Compare and show."""
    from agdbg.compare import shown
    from agdbg.compare.parting import TOLERANCE, compare
    from agdbg.record import Trace

    one, other = Trace.open(options.trace), Trace.open(options.other)
    tolerance = TOLERANCE if options.tolerance is None else options.tolerance
    found = compare(one, other, moved=options.moved, tolerance=tolerance, without=_kinds(options.without))
    difference = shown.Shown(one, other, found, options.context)
    if options.json:
        print_json(shown.as_json(difference))
    else:
        print_text(shown.as_text(difference))
    return status.OK if found.same else status.DIFFERENT


def _kinds(words: list[str]) -> "list[Kind]":
    """The kinds with these names, several of which may stand in a word, with commas between.

    Raises:
        InputError: there is no such kind.
    """
    from agdbg.compare.parting import kinds
    from agdbg.events import Kind

    names = [name.strip() for word in words for name in word.split(",") if name.strip()]
    for name in names:
        if name not in kinds():
            raise InputError(f"--without {name}: there is no such kind; there are {', '.join(kinds())}")
    return [Kind[name.upper()] for name in names]


def _count(word: str) -> int:
    if not word.isdecimal():
        raise ArgumentTypeError(f"{word!r} is no number of events")
    return int(word)


def _tolerance(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1:
        raise ArgumentTypeError(f"{word!r} is no part of a number: 0, or something like 1e-5")
    return number
