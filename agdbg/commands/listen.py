"""``agdbg listen``: run a program that a debugger may join over the network."""

from argparse import REMAINDER, ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from agdbg.commands.guard import complain

if TYPE_CHECKING:
    from argparse import _SubParsersAction

DESCRIPTION = """\
Run a Python script or module as `agdbg run --headless` does, and let debuggers join it:
at a port, for those who show the token, or at a socket of this user. The program keeps
its terminal, its output and its exit status, and waits for nobody unless --wait is given."""


def configure(commands: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "listen",
        help="run a script that a debugger may join",
        description=DESCRIPTION,
        usage="agdbg listen [--host H] [--port N] [--path PATH] [--wait] (SCRIPT | -m MODULE) [ARG ...]",
        **common,
    )
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="H", help="the address to listen at (default: 127.0.0.1)"
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port (default: any that is free)")
    parser.add_argument("--path", metavar="PATH", help="listen at a socket there, not at a port; no token is needed")
    parser.add_argument(
        "--token-file", metavar="FILE",
        help="clients are to show the token in FILE (default: that in AGDBG_TOKEN, or a new one, which is printed)",
    )  # fmt: skip
    parser.add_argument("--wait", action="store_true", help="start the program when a client has come")
    parser.add_argument(
        "--on-orphan", choices=("continue", "wait"), default="continue", metavar="continue|wait",
        help="what a stopped program does when its last client has gone (default: continue)",
    )  # fmt: skip
    traces = parser.add_mutually_exclusive_group()
    traces.add_argument("--trace", metavar="DIR", help="write the trace here (default: .agdbg/SCRIPT-DATE-TIME)")
    traces.add_argument("--no-trace", action="store_true", help="explain, and keep no trace")
    parser.add_argument(
        "--also", default="", metavar="WHAT",
        help="record more: shapes, values, checksums, separated by commas, or all (default: none)",
    )  # fmt: skip
    parser.add_argument("-m", dest="module", nargs=REMAINDER, metavar="MODULE", help="run a module, as python -m")
    parser.add_argument("script", nargs=REMAINDER, metavar="SCRIPT", help="the script and its arguments")
    hint = "what is for the script goes behind its name; a script whose name begins with a dash goes behind --"
    parser.set_defaults(execute=execute, parser=parser, hint=hint)


def execute(options: Namespace) -> int:
    """Run the program; whatever it raises is its own and passes through."""
    from agdbg.commands.run import wanted
    from agdbg.extras import extras_of
    from agdbg.launch import listening, place
    from agdbg.launch.program import run
    from agdbg.launch.recording import Recording
    from agdbg.protocol.token import token_from
    from agdbg.tell import tell

    try:
        program = wanted(options)
        token = token_from(options.token_file)
        directory = place.named(options.trace) if options.trace is not None else None
        recording = Recording(program.name, directory, keep=not options.no_trace, also=extras_of(options.also))
        found = listening.start(
            recording, options.host, options.port, path=options.path, token=token,
            argv=[program.target, *program.args], on_orphan=options.on_orphan,
        )  # fmt: skip
    except Exception as error:
        return complain(error)
    if options.wait:
        tell("waiting for a client")
        try:
            found.wait()
        except KeyboardInterrupt:
            recording.abandon()
            return _end_by_interrupt()
    return run(program, recording)


def _end_by_interrupt() -> int:
    """End quietly, as Ctrl-C ends a process that does nothing about it."""
    import os
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    return 128 + signal.SIGINT
