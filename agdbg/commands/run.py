"""``agdbg run``: run a program, record it, and explain at its end."""

from argparse import REMAINDER, SUPPRESS, ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agdbg.commands import screen
from agdbg.commands.guard import complain
from agdbg.errors import InputError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from agdbg.launch.program import Program
    from agdbg.launch.recording import Recording

DESCRIPTION = """\
Run a Python script or module as python does and record its autograd graphs. On a terminal
it stops at the first backward pass, to be stepped through; otherwise, or with --headless,
what went wrong is explained on standard error. The exit status is the program's own."""


def configure(commands: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "run",
        help="run a script, record and explain it",
        description=DESCRIPTION,
        usage="agdbg run [--headless | --go] [--trace DIR | --no-trace] (SCRIPT | -m MODULE) [ARG ...]",
        **common,
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--headless", action="store_true", help="no user interface, even on a terminal")
    ways.add_argument("--go", action="store_true", help="do not stop at the first backward pass")
    parser.add_argument(
        "--on-orphan", choices=("continue", "wait"), default="continue", metavar="continue|wait",
        help="what a stopped program does when its user interface dies (default: continue)",
    )  # fmt: skip
    traces = parser.add_mutually_exclusive_group()
    traces.add_argument("--trace", metavar="DIR", help="write the trace here (default: .agdbg/SCRIPT-DATE-TIME)")
    traces.add_argument("--no-trace", action="store_true", help="explain, and keep no trace")
    parser.add_argument("-m", dest="module", nargs=REMAINDER, metavar="MODULE", help="run a module, as python -m")
    parser.add_argument("script", nargs=REMAINDER, metavar="SCRIPT", help="the script and its arguments")
    parser.add_argument("--unmentioned", action="store_true", help=SUPPRESS)  # the trace is not for the user
    parser.add_argument("--agent", metavar="DIR", help=SUPPRESS)  # a hub started this, and serves in DIR
    hint = "what is for the script goes behind its name; a script whose name begins with a dash goes behind --"
    parser.set_defaults(execute=execute, parser=parser, hint=hint)


def execute(options: Namespace) -> int:
    """Run the program; whatever it raises is its own and passes through."""
    from agdbg.launch.program import run

    try:
        if not options.headless and options.agent is None and screen.is_possible() and options.script[:1] != ["-"]:
            return on_screen(options)
        program, recording = prepared(options)
    except Exception as error:
        return complain(error)
    return run(program, recording)


def on_screen(options: Namespace) -> int:
    """Run the program in the terminal UI."""
    import os
    import tempfile

    program = wanted(options)
    columns, rows = os.get_terminal_size()
    arguments: dict[str, Any] = {
        "module" if program.is_module else "program": program.target,
        "args": program.args,
        "cwd": os.getcwd(),
        "stopOnEntry": not options.go,
        "onOrphan": options.on_orphan,
        "columns": columns,
        "rows": rows,
    }
    if options.no_trace:
        return screen.run({**arguments, "trace": tempfile.mkdtemp(prefix="agdbg-")}, keep=False)
    return screen.run({**arguments, "trace": options.trace})


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
        raise InputError("nothing to run: agdbg run SCRIPT [ARG ...], or agdbg run -m MODULE [ARG ...]")
    return Program(words[0], words[1:], is_module=options.module is not None)


def prepared(options: Namespace) -> "tuple[Program, Recording]":
    """What to run, and its recording.

    Raises:
        InputError: no program, or the trace cannot go where it should.
    """
    from agdbg.launch import place
    from agdbg.launch.recording import Recording

    program = wanted(options)
    if options.agent is not None:
        return program, Recording(program.name, Path(options.trace), agent=options.agent)
    directory = place.named(options.trace) if options.trace is not None else None
    return program, Recording(program.name, directory, keep=not options.no_trace, mention=not options.unmentioned)
