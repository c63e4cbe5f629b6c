"""``agdbg run``: run a program, record it, and explain at its end."""

from argparse import SUPPRESS, ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agdbg import interrupts
from agdbg.commands import batch, screen, signals
from agdbg.commands.guard import complain, guarded
from agdbg.commands.program_options import HINT, add_orphan, add_program, add_recording, wanted

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
        usage="agdbg run [--headless | --go] [--trace DIR | --no-trace] [--also WHAT] (SCRIPT | -m MODULE) [ARG ...]\n"
        "       agdbg run --batch [-x COMMAND | -X FILE] ... [--json] (SCRIPT | -m MODULE) [ARG ...]",
        **common,
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--headless", action="store_true", help="no user interface, even on a terminal")
    ways.add_argument("--go", action="store_true", help="do not stop at the first backward pass")
    add_orphan(parser, "its user interface dies")
    add_recording(parser, "on a terminal: shapes beside what is named; none: nothing more")
    batch.configure(parser)
    add_program(parser)
    parser.add_argument("--unmentioned", action="store_true", help=SUPPRESS)  # the trace is not for the user
    parser.add_argument("--unexplained", action="store_true", help=SUPPRESS)  # who started this explains
    parser.add_argument("--agent", metavar="DIR", help=SUPPRESS)  # a hub started this, and serves in DIR
    parser.add_argument("--unwatched", action="store_true", help=SUPPRESS)  # nothing is to stop: it explains by itself
    parser.set_defaults(execute=execute, parser=parser, hint=HINT)


def execute(options: Namespace) -> int:
    """Run the program; whatever it raises is its own and passes through."""
    from agdbg.launch.program import run

    try:
        batch.check(options)
        if options.batch:
            return in_batch(options)
        if not options.headless and options.agent is None and options.script[:1] != ["-"]:
            if screen.is_possible():
                return on_screen(options)
            screen.mention_dumb()
        program, recording = prepared(options)
    except Exception as error:
        return complain(error)
    interrupts.hear()  # it is the program's from here on
    return run(program, recording)


@guarded
def in_batch(options: Namespace) -> int:
    """Run the program with commands in place of a person."""
    from agdbg.hub.starting import start_hub
    from agdbg.launch import place

    lines = batch.lines_of(options)
    with signals.raised():
        options.launch = {**launch_arguments(options), "echo": False}
        try:
            options.address = start_hub().client_socket
            return batch.run(options, lines)
        finally:
            if options.no_trace:
                place.remove(options.launch["trace"])


def on_screen(options: Namespace) -> int:
    """Run the program in the terminal UI."""
    return screen.run(launch_arguments(options), keep=not options.no_trace)


def launch_arguments(options: Namespace) -> dict[str, Any]:
    """What the protocol's ``launch`` is to be told."""
    import os
    import tempfile

    program = wanted(options)
    columns, rows = _terminal_size()
    arguments: dict[str, Any] = {
        "module" if program.is_module else "program": program.target,
        "args": program.args,
        "cwd": os.getcwd(),
        "stopOnEntry": not options.go,
        "onOrphan": options.on_orphan,
        "also": _on_screen(options.also),
        "columns": columns,
        "rows": rows,
    }
    return {**arguments, "trace": tempfile.mkdtemp(prefix="agdbg-") if options.no_trace else options.trace}


def _on_screen(also: frozenset[str] | None) -> list[str]:
    """What is recorded under a hub: shapes beside all that is named, which the screen has columns for; nothing for ``none``."""
    return [] if also == frozenset() else sorted({"shapes"} | (also or frozenset()))


def _terminal_size() -> tuple[int, int]:
    import shutil

    return shutil.get_terminal_size()  # 80 by 24 where there is no terminal, or one that does not know its size


def prepared(options: Namespace) -> "tuple[Program, Recording]":
    """What to run, and its recording.

    Raises:
        InputError: no program, or the trace cannot go where it should.
    """
    from agdbg.launch import place
    from agdbg.launch.recording import Recording

    program, also = wanted(options), options.also or ()
    if options.agent is not None:
        agent = None if options.unwatched else options.agent
        return program, Recording(program.name, Path(options.trace), mention=agent is not None, agent=agent, also=also)
    directory = place.named(options.trace) if options.trace is not None else None
    return program, Recording(
        program.name,
        directory,
        keep=not options.no_trace,
        mention=not options.unmentioned,
        explain=not options.unexplained,
        also=also,
    )
