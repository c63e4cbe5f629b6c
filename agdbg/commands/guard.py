"""How a command ends when it cannot do its work: a line on standard error and a documented status."""

import os
import signal
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress

from agdbg import interrupts, status
from agdbg.commands import output
from agdbg.errors import EndedBySignal, InputError
from agdbg.tell import tell

Command = Callable[[Namespace], int]


def guarded(command: Command) -> Command:
    """Turn what a command raises into a line on standard error and an exit status."""

    def run(options: Namespace) -> int:
        try:
            with interrupts.heard():
                code = command(options)
                output.flush()
        except EndedBySignal as ended:
            return _end_by(ended.number)
        except BrokenPipeError:
            return _reader_is_gone()
        except KeyboardInterrupt:
            return _end_by(signal.SIGINT)
        except Exception as error:
            signalled = interrupts.last()
            if signalled is not None and not _is_input_error(error):
                return _end_by(signalled)
            code = complain(error)
            if getattr(options, "json", None) is True and not getattr(options, "batch", False):
                _print_as_json(error, code)
            return code
        return code

    return run


def complain(error: Exception) -> int:
    """Say what went wrong and return the status for it."""
    if _is_input_error(error):
        tell(f"error: {error}")
        return status.BAD_INPUT
    where = traceback.extract_tb(error.__traceback__)[-1]
    tell(f"internal error: {type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})")
    if os.environ.get("AGDBG_DEBUG"):
        tell("".join(traceback.format_exception(error)).rstrip())
    else:
        tell("this is a mistake in agdbg; AGDBG_DEBUG=1 in the environment shows where")
    return status.INTERNAL


def _print_as_json(error: Exception, code: int) -> None:
    """Whoever reads JSON finds some in any case."""
    with suppress(InputError, BrokenPipeError):  # standard output may be what is wrong
        output.print_json({"error": str(error), "status": code})


def _is_input_error(error: Exception) -> bool:
    """True for errors about what the user gave; those of traces and hubs come from modules that are loaded then."""
    known: list[type[Exception]] = [InputError]
    if (traces := sys.modules.get("agdbg.record.errors")) is not None:
        known.append(traces.TraceError)
    if (hubs := sys.modules.get("agdbg.protocol.errors")) is not None:
        known += [hubs.Disconnected, hubs.RequestFailed]
    return isinstance(error, tuple(known))


def _reader_is_gone() -> int:
    output.drop()
    return status.BROKEN_PIPE


def _end_by(number: int) -> int:
    """End by a signal, quietly; that is how a shell script learns that it was Ctrl-C."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number
