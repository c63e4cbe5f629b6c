"""``agdbg lint``: run a program, check every graph of it, and say what is wrong even where nothing failed."""

import shutil
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agdbg import status
from agdbg.commands import signals
from agdbg.commands.guard import guarded
from agdbg.commands.output import print_json, print_text
from agdbg.commands.program_options import HINT, add_program
from agdbg.errors import InputError
from agdbg.record.children import children_of
from agdbg.tell import tell

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from agdbg.explain.choice import Choice
    from agdbg.explain.explanation import Explanation

DESCRIPTION = """\
Run a Python script or module as python does, with everything recorded that can be, and
check every graph. Nothing of what the program computes changes. What was found is printed
on standard output when the program has ended; what the program prints goes to standard
error. Exit status: 0 nothing was found, 3 something was, 4 nothing was but the program
failed or was not recorded to its end."""


def configure(commands: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "lint",
        help="run a script and check every graph of it",
        description=DESCRIPTION,
        usage="agdbg lint [--only KIND] [--ignore KIND] [--trace DIR] [--json] (SCRIPT | -m MODULE) [ARG ...]",
        **common,
    )
    parser.add_argument("--only", action="append", default=[], metavar="KIND", help="tell findings of this kind only")
    parser.add_argument("--ignore", action="append", default=[], metavar="KIND", help="tell no findings of this kind")
    parser.add_argument("--trace", metavar="DIR", help="keep the trace here")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_program(parser)
    parser.set_defaults(execute=guarded(execute), parser=parser, hint=HINT)


def execute(options: Namespace) -> int:
    """Run, check, tell."""
    from agdbg.explain.choice import Choice
    from agdbg.explain.explanation import explain
    from agdbg.launch import place
    from agdbg.launch.subrun import how_it_ended

    words = _wanted(options)
    choice = Choice(_kinds(options.only), _kinds(options.ignore))
    with signals.raised(), _directory(options.trace) as directory:
        code = _run(words, directory)
        if not place.holds_trace(directory):
            raise InputError(f"{_called(words)} {how_it_ended(code)} and recorded no graph: nothing to check")
        everything, unrecorded = explain(directory, lints=True), str(children_of(directory))
    found = choice.of(everything)
    _print(found, code, options)
    _tell_left_out(everything, choice)
    if unrecorded:
        tell(unrecorded)
    if code:
        tell(f"{_called(words)} {how_it_ended(code)}")
    if found.findings:
        return status.FOUND
    return status.UNFINISHED if code or found.is_incomplete else status.OK


def _wanted(options: Namespace) -> list[str]:
    """The program as words for ``agdbg run``.

    Raises:
        InputError: there is none.
    """
    words: list[str] = options.script if options.module is None else options.module
    if not [word for word in words if word != "--"]:
        raise InputError("nothing to check: agdbg lint SCRIPT [ARG ...], or agdbg lint -m MODULE [ARG ...]")
    return words if options.module is None else ["-m", *words]


def _called(words: list[str]) -> str:
    return " ".join(words[:2]) if words[0] == "-m" else next(word for word in words if word != "--")


def _kinds(words: list[str]) -> list[str]:
    """``--only a,b --only c`` is as ``--only a --only b --only c``.

    Raises:
        InputError: a pattern fits no kind that there is: a slip, which would hide everything or nothing.
    """
    from agdbg.diagnose.kinds import unknown

    kinds = [kind.strip() for word in words for kind in word.split(",") if kind.strip()]
    for problem in filter(None, map(unknown, kinds)):
        raise InputError(problem)
    return kinds


@contextmanager
def _directory(named: str | None) -> Iterator[Path]:
    """Where the trace goes: where the user says, or for the time being where temporary files go."""
    from agdbg.launch import place

    if named is not None:
        yield place.named(named)
        return
    directory = Path(tempfile.mkdtemp(prefix="agdbg-lint-"))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _run(words: list[str], directory: Path) -> int:
    from agdbg.launch.subrun import run_recorded

    more = ["--unexplained", "--also", "all"]
    return run_recorded(words, directory, output_to_stderr=True, mention_trace=False, options=more)


def _tell_left_out(everything: "Explanation", choice: "Choice") -> None:
    """A slip in a kind must not look like a program without faults."""
    from agdbg.explain.places import counted

    kinds = [each.finding.kind for each in everything.findings if not choice.takes(each.finding.kind)]
    if kinds:
        tell(f"left out by --only and --ignore: {counted(len(kinds), 'finding')} ({', '.join(sorted(set(kinds)))})")


def _print(found: "Explanation", code: int, options: Namespace) -> None:
    if options.json:
        from agdbg.explain import explanation

        kept = str(found.path) if options.trace is not None else None
        print_json({**explanation.as_json(found), "trace": kept, "program_status": code})
        return
    from agdbg.explain.palette import Palette
    from agdbg.explain.text import as_text

    print_text(as_text(found, base=_here(), palette=Palette.of(sys.stdout)))


def _here() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None
