"""``agdbg listen``: run a program that a debugger may join over the network."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from agdbg import interrupts
from agdbg.commands.guard import complain
from agdbg.commands.program_options import HINT, add_orphan, add_program, add_recording, wanted

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
    add_orphan(parser, "its last client has gone")
    add_recording(parser, "default: none")
    add_program(parser)
    parser.set_defaults(execute=execute, parser=parser, hint=HINT)


def execute(options: Namespace) -> int:
    """Run the program; whatever it raises is its own and passes through."""
    from agdbg.launch import listening, place
    from agdbg.launch.program import run
    from agdbg.launch.recording import Recording
    from agdbg.protocol.token import token_from
    from agdbg.tell import tell

    try:
        program = wanted(options)
        token = token_from(options.token_file)
        directory = place.named(options.trace) if options.trace is not None else None
        recording = Recording(program.name, directory, keep=not options.no_trace, also=options.also or ())
        found = listening.start(
            recording, options.host, options.port, path=options.path, token=token,
            argv=[program.target, *program.args], on_orphan=options.on_orphan,
        )  # fmt: skip
    except Exception as error:
        return complain(error)
    interrupts.hear()  # it is the program's from here on
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
