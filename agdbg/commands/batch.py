"""``--batch``: commands of the console in place of a person, on a program, on one that runs, or on a trace."""

import json
import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agdbg import status
from agdbg.errors import InputError
from agdbg.tell import tell

if TYPE_CHECKING:
    from agdbg.protocol.client import Client

_SIGNAL_BASE = 128
#: How long an answer is waited for: explaining or drawing a big trace takes its time.
_PATIENCE_S = 600.0


class _Commands(Action):
    """Keeps ``-x`` and ``-X`` in the order in which they are written."""

    def __call__(self, parser: ArgumentParser, options: Namespace, value: Any, option: str | None = None) -> None:
        options.commands = [*(options.commands or []), (option or "-x", value)]


def configure(parser: ArgumentParser, *, has_json: bool = False) -> None:
    """Add the options to a command; ``has_json``: it has a ``--json`` already."""
    group = parser.add_argument_group("scripted, without a person")
    group.add_argument("--batch", action="store_true", help="do the commands of -x and -X; no user interface")
    group.add_argument("-x", dest="commands", action=_Commands, metavar="COMMAND", help="a command, as -x 'break mul'")
    group.add_argument(
        "-X", dest="commands", action=_Commands, metavar="FILE", help="a file with a command on each line"
    )
    if not has_json:
        group.add_argument("--json", action="store_true", help="with --batch: print one JSON object a command")


def check(options: Namespace) -> None:
    """Refuse options that make no sense without ``--batch``.

    Raises:
        InputError: there are some.
    """
    if not options.batch and options.commands:
        raise InputError(f"{options.commands[0][0]} is for --batch, which is missing")


def lines_of(options: Namespace) -> Iterator[str]:
    """The commands, those of files in their place; those of standard input one by one, as they are asked for.

    Raises:
        InputError: a file cannot be read; standard input, when its turn comes.
    """
    given = [_lines(option, value) for option, value in options.commands or ()]
    return (line for line in map(str.strip, chain.from_iterable(given)) if line and not line.startswith("#"))


def _lines(option: str, value: str) -> Iterable[str]:
    if option == "-x":
        return [value]
    if value == "-":
        return _typed()
    try:
        return Path(value).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise _unreadable(value, error) from None


def _typed() -> Iterator[str]:
    """The lines of standard input, each when it is there: whoever writes them may wait for the answer to one before the next."""
    try:
        yield from sys.stdin
    except (OSError, ValueError) as error:
        raise _unreadable("-", error) from None


def _unreadable(name: str, error: Exception) -> InputError:
    return InputError(f"-X {name}: cannot be read ({getattr(error, 'strerror', None) or error})")


def run(options: Namespace, lines: Iterable[str]) -> int:
    """Do commands on a program; ``options.launch`` are the arguments of the protocol's ``launch``."""
    from agdbg.protocol.client import Disconnected

    with _connected(options) as client:
        batch = Batch(client, options, launch=options.launch)
        try:
            batch.execute(lines)
            return batch.finished()
        except Disconnected as error:
            return _hub_is_gone(error)
        except BaseException:
            batch.end_program()
            raise


def look(options: Namespace, lines: Iterator[str]) -> int:
    """Do commands on a trace (``options.trace``) or on what a hub runs, which is left as it is."""
    from agdbg.protocol.client import Disconnected

    with _connected(options) as client:
        _attach(client, options.trace)
        try:
            batch = Batch(client, options)
            rest = batch.execute_leading(lines) if options.trace is None else []
            _join(client)
            batch.settle()
            batch.execute(chain(rest, lines))
            return batch.left()
        except Disconnected as error:
            return _hub_is_gone(error)


def _hub_is_gone(error: Exception) -> int:
    tell(f"error: {error}; the program, if there is one, goes on without a debugger")
    return status.INTERNAL


def _connected(options: Namespace) -> "Client":
    """A connection to the hub at ``options.address``, with ``options.token`` where that is at a port.

    Raises:
        InputError: nothing answers there.
    """
    from agdbg.protocol.client import Client, Disconnected

    try:
        client = Client.connect(options.address, getattr(options, "token", "") or None, timeout=_PATIENCE_S)
    except Disconnected as error:
        raise InputError(str(error)) from None
    client.request("initialize", adapterID="agdbg", clientName="agdbg --batch")
    return client


def _attach(client: "Client", trace: str | None) -> None:
    """Join what the hub runs, or show a trace.

    Raises:
        InputError: the hub refuses.
    """
    from agdbg.protocol.client import Disconnected, RequestFailed

    try:
        client.request("attach", **({} if trace is None else {"trace": str(Path(trace).absolute())}))
    except (RequestFailed, Disconnected) as error:
        raise InputError(str(error)) from None


def _join(client: "Client") -> None:
    """Say that all breakpoints are there: a program that waits for its first client goes on.

    Raises:
        InputError: the hub refuses.
    """
    from agdbg.protocol.client import Disconnected, RequestFailed

    try:
        client.request("configurationDone")
    except (RequestFailed, Disconnected) as error:
        raise InputError(str(error)) from None


class Batch:
    """Does commands one after the other, and prints what comes of each.

    Args:
        client: has sent ``initialize``.
        options: ``json`` and what stands on the command line.
        launch: the arguments with which the program is to be started; None: it is there.
    """

    def __init__(self, client: "Client", options: Namespace, launch: dict[str, Any] | None = None) -> None:
        from agdbg.commands.batch_pump import Pump
        from agdbg.console import Console

        self._client, self._as_json = client, options.json
        reads_input = launch is not None and ("-X", "-") not in (options.commands or [])
        is_at_end = launch is not None and not reads_input
        output = sys.stderr if self._as_json else sys.stdout
        self._pump: Pump = Pump(client, output, feeds=reads_input, is_at_end=is_at_end)
        self._console: Console = Console(
            client,
            launch=launch,
            on_output=self._pump.there_is_output,
            on_warning=tell,
            on_restart=self._pump.restarted,
            next_event=self._pump.next_event,
        )
        self._pump.runs = lambda: not self._console.is_waiting and not self._console.state.is_over
        self._refusals: list[str] = []
        self._is_temporary = bool(getattr(options, "no_trace", False))

    def settle(self) -> None:
        """Learn where all stands: what the hub tells a client that joins has come when it has answered once more."""
        if self._client.request("agdbg/status")["state"] in ("trace", "ended"):
            self._console.drain()
            while not self._console.state.stops:
                message = self._client.next_event()
                if message is None:
                    break
                self._console.state.take(message)

    def execute_leading(self, lines: Iterator[str]) -> list[str]:
        """Do the commands at the beginning that only say where to stop; the one that ended them, which is still to be done."""
        from agdbg.console.table import says_where_to_stop

        for line in lines:
            if not says_where_to_stop(line):
                return [line]
            self.execute([line])
        return []

    def execute(self, lines: Iterable[str]) -> None:
        """Do the commands, up to ``quit``; one that is refused is told, and the next one is done."""
        from agdbg.console import CommandError

        for line in lines:
            try:
                reply = self._console.execute(line)
            except CommandError as error:
                self._refusals.append(str(error))
                self._tell_refusal(line, str(error))
                continue
            self._pump.flush()
            if self._console.wants_to_quit:
                return
            self._print(line, reply.text, reply.value)

    def _print(self, line: str, text: str, value: Any) -> None:
        if self._as_json:
            self._pump.say_result(json.dumps({"command": line, "ok": True, "text": text, "value": value}))
        elif text:
            self._pump.say_result(text)

    def _tell_refusal(self, line: str, why: str) -> None:
        self._pump.flush()
        if self._as_json:
            self._pump.say_result(json.dumps({"command": line, "ok": False, "error": why}))
        tell(f"error: {line}: {why}")

    # ----- the end -----

    def finished(self) -> int:
        """Let the program run to its end; its exit status, unless a command was refused."""
        state = self._console.state
        self._console.settle()  # the last command may have ended it
        if not state.is_over:
            if not self._let_go():
                return status.BAD_INPUT
            tell("the commands are done; breakpoints are dropped, and the program goes on to its end")
        self._pump.finish()
        for note in self._console.state.taken_notes():
            tell(note)
        ended = state.ended or {}
        if ended.get("trace"):
            self._leave(ended["trace"])
        else:
            self._tell_why_nothing()
        return status.REFUSED if self._refusals else _status(ended)

    def _tell_why_nothing(self) -> None:
        """Nothing was recorded: say why, as whoever asks for what is wrong is told."""
        from agdbg.protocol.client import Disconnected, RequestFailed

        try:
            self._client.request("agdbg/findings")
        except RequestFailed as error:
            tell(str(error).removeprefix(f"{error.command}: "))
        except Disconnected:
            return

    def _leave(self, trace: str) -> None:
        """Say where the trace is, or remove the one that was not to be kept: the program may have driven it elsewhere."""
        if self._is_temporary:
            from agdbg.launch import place

            place.remove(trace)
            return
        from agdbg.commands import screen

        screen.mention_trace(Path(trace))

    def _let_go(self) -> bool:
        """Let the program run to its end, and start it first when no command has; False when a command has told why it cannot be.

        Raises:
            InputError: it cannot be started.
        """
        from agdbg.protocol.client import RequestFailed

        try:
            self._console.let_go()
        except RequestFailed as error:
            if str(error).removeprefix(f"{error.command}: ") in self._refusals:
                return False
            raise InputError(str(error)) from None
        return True

    def left(self) -> int:
        """Leave a trace, or a program that goes on as it is."""
        if not self._console.state.is_over and self._client.request("agdbg/status")["pid"] is not None:
            tell("the commands are done; the program is left to its other clients, or goes on without breakpoints")
        self._client.request("disconnect")
        return status.REFUSED if self._refusals else status.OK

    def end_program(self) -> None:
        """Let the program not outlive its script."""
        from agdbg.protocol.client import Disconnected, RequestFailed

        try:
            self._client.request("disconnect", terminateDebuggee=True)
        except (Disconnected, RequestFailed, TimeoutError):
            return


def _status(ended: dict[str, Any]) -> int:
    """The exit status of the program, as a shell has it."""
    if ended.get("signal"):
        import signal

        named = getattr(signal, str(ended["signal"]), None)
        return _SIGNAL_BASE + int(named or 0)
    return int(ended.get("exit") or 0)
