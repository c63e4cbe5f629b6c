"""The options that commands share which run a program: what to run, and what is kept of it."""

from argparse import REMAINDER, Action, ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING, Any

from agdbg.errors import InputError
from agdbg.extras import extras_of

if TYPE_CHECKING:
    from agdbg.launch.program import Program

HINT = "what is for the script goes behind its name; a script whose name begins with a dash goes behind --"
"""What to say of an option that such a command does not know."""


def add_orphan(parser: ArgumentParser, last: str) -> None:
    """``--on-orphan``; ``last`` is whose end leaves a stopped program alone."""
    parser.add_argument(
        "--on-orphan", choices=("continue", "wait"), default="continue", metavar="continue|wait",
        help=f"what a stopped program does when {last} (default: continue)",
    )  # fmt: skip


def add_recording(parser: ArgumentParser, usual: str) -> None:
    """Where the trace goes, and what more is in it; ``usual`` says what that is when nothing is said."""
    traces = parser.add_mutually_exclusive_group()
    traces.add_argument("--trace", metavar="DIR", help="write the trace here (default: .agdbg/SCRIPT-DATE-TIME)")
    traces.add_argument("--no-trace", action="store_true", help="explain, and keep no trace")
    parser.add_argument(
        "--also", type=_extras, action=_More, metavar="WHAT",
        help=f"record more: shapes, values, checksums, separated by commas, or all ({usual})",
    )  # fmt: skip


def add_program(parser: ArgumentParser) -> None:
    """The program and its arguments: all the words that are left."""
    parser.add_argument("-m", dest="module", nargs=REMAINDER, metavar="MODULE", help="run a module, as python -m")
    parser.add_argument("script", nargs=REMAINDER, metavar="SCRIPT", help="the script and its arguments")


def wanted(options: Namespace) -> "Program":
    """What to run.

    Raises:
        InputError: nothing.
    """
    from agdbg.launch.program import Program

    words = options.script if options.module is None else options.module
    if options.module is None and words[:1] == ["--"]:
        words = words[1:]
    if not words:
        command = options.parser.prog
        raise InputError(f"nothing to run: {command} SCRIPT [ARG ...], or {command} -m MODULE [ARG ...]")
    return Program(words[0], words[1:], is_module=options.module is not None)


class _More(Action):
    """What an option names in several places is wanted all together."""

    def __call__(self, parser: ArgumentParser, names: Namespace, values: Any, option: str | None = None) -> None:
        """Add to what is there."""
        setattr(names, self.dest, (getattr(names, self.dest) or frozenset()) | values)


def _extras(text: str) -> frozenset[str]:
    try:
        return extras_of(text)
    except InputError as error:
        raise ArgumentTypeError(str(error)) from None
