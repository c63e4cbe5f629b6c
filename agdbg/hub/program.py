"""The program that the hub has started: a process on a terminal of its own, whose output a keeper writes down."""

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from agdbg.errors import InputError
from agdbg.hub.keeping import Keeping, leave
from agdbg.hub.output import OUTPUT_FILE
from agdbg.hub.place import Runtime
from agdbg.hub.terminal import Terminal
from agdbg.launch import boot

_BOOT = "from agdbg.launch.terminal import take_terminal\ntake_terminal()\n" + boot.CLI
_PLAIN_TERMINAL = "xterm-256color"


@dataclass(frozen=True)
class LaunchSpec:
    """What to run, as ``python TARGET ARGS`` or ``python -m TARGET ARGS``.

    Attributes:
        cwd: where; None: where the hub is.
        env: additions to the hub's environment; None takes a variable out.
        columns, rows: the size of its terminal.
        also: the extras to record.
        echo: its terminal shows what is typed.
        is_watched: it can be stopped; else it is only recorded, and explains itself at its end.
    """

    target: str
    is_module: bool = False
    args: list[str] = field(default_factory=list)
    cwd: str | None = None
    env: dict[str, str | None] = field(default_factory=dict)
    columns: int = 80
    rows: int = 24
    is_watched: bool = True
    also: list[str] = field(default_factory=list)
    echo: bool = True

    @property
    def environment(self) -> dict[str, str]:
        """The program's environment. A size in it would hide that of the terminal from the program."""
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        environment.setdefault("TERM", _PLAIN_TERMINAL)
        for name, value in self.env.items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = value
        return environment


@dataclass(frozen=True)
class Exit:
    """How a program ended: with an exit status, or by a signal (``SIGKILL``); the other one is None."""

    status: int | None
    signal: str | None


def command_of(spec: LaunchSpec, runtime: Runtime, trace: Path) -> list[str]:
    """The command that runs the program, recorded to ``trace`` and with its agent at the hub's socket."""
    guard = ["--"] if spec.target.startswith("-") and spec.target != "-" else []
    what = ["-m", spec.target] if spec.is_module else [*guard, spec.target]
    agent = ["--agent", str(runtime.directory), *([] if spec.is_watched else ["--unwatched"])]
    also = ["--also", ",".join(spec.also)] if spec.also else []
    options = ["--headless", "--trace", str(trace), *agent, *also]
    return [*boot.command(_BOOT), "run", *options, *what, *spec.args]


class Program:
    """The program, its terminal, and the keeper of its output. All methods return at once.

    Args:
        spec: what to run.
        runtime: the hub's directory.
        trace: the directory of the trace, which is there.
        command: makes the command.

    Attributes:
        output: the file with all that the program has written, line ends as a terminal gets them (CR LF).
        pid: its process number, which is also that of its session and process group; 0 before the start.
        ended: a pidfd, readable once the program has ended; its terminal may still be open in other processes.
    """

    def __init__(
        self,
        spec: LaunchSpec,
        runtime: Runtime,
        trace: Path,
        command: Callable[[LaunchSpec, Runtime, Path], list[str]] = command_of,
    ) -> None:
        self.output = trace.absolute() / OUTPUT_FILE
        self.pid = 0
        self.ended = -1
        self._spec = spec
        self._command = command(spec, runtime, trace.absolute())
        self._terminal: Terminal | None = None
        self._keeping: Keeping | None = None
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it.

        Raises:
            InputError: it cannot be started, and nothing is left of the attempt.
        """
        cwd = self._spec.cwd
        if cwd is not None and not os.path.isdir(cwd):
            raise InputError(f"cannot start the program in {cwd}: there is no such directory; name another cwd")
        try:
            self._start()
        except (OSError, ValueError, InputError) as error:
            self._undo()
            if isinstance(error, InputError):
                raise
            name = getattr(error, "filename", None) or self._command[0]
            raise InputError(f"cannot start {name}: {getattr(error, 'strerror', None) or error}") from None

    def _start(self) -> None:
        try:
            self._keeping = Keeping(self.output)
        except OSError as error:
            place = f"cannot keep the output of the program in {self.output}: {error.strerror}"
            raise InputError(f"{place}; make room there, or name another directory for the trace") from None
        self._terminal = Terminal(echo=self._spec.echo)
        self._terminal.resize(self._spec.columns, self._spec.rows)
        self._child = _spawned(self._command, self._spec, self._terminal.slave)
        self.pid = self._child.pid
        self.ended = os.pidfd_open(self.pid)
        self._keeping.start(self._terminal.master, self.ended)
        self._terminal.hand_over()

    def _undo(self) -> None:
        self.kill()
        if self._child is not None:
            self._child.wait()
        self.close()

    @property
    def master(self) -> int:
        """The terminal's master side, non-blocking: to be watched for writing while :attr:`wants_write`, not read."""
        return self._its_terminal.master

    @property
    def _its_terminal(self) -> Terminal:
        assert self._terminal is not None, "the program was not started"
        return self._terminal

    @property
    def _its_keeping(self) -> Keeping:
        assert self._keeping is not None, "the program was not started"
        return self._keeping

    @property
    def wakeup(self) -> int:
        """A descriptor, readable when the output grew; at its end all output is written, or the keeper is gone.

        At the end, take it out of the selector, and call :meth:`mend_keeper`.
        """
        return self._its_keeping.wakeup

    @property
    def spare(self) -> int:
        """A file in memory with what the file of the output has not taken; -1: there is none."""
        return self._its_keeping.spare

    @property
    def keeper_pid(self) -> int:
        """The process number of the keeper."""
        return self._its_keeping.pid

    def mend_keeper(self) -> bool:
        """Start another keeper when it was killed, which gives a new :attr:`wakeup`; False when all is well.

        What the program writes in the meantime waits in the terminal.

        Raises:
            OSError: there can be none (too many processes, say); the program will stand still when it writes.
        """
        return self._its_keeping.mend()

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size; the program gets SIGWINCH.

        Raises:
            InputError: no terminal can have that size.
        """
        self._its_terminal.resize(columns, rows)

    @property
    def terminal_path(self) -> str:
        """The path of the program's side of its terminal."""
        return self._its_terminal.path

    def send(self, data: bytes) -> None:
        """Type ``data``; what the terminal does not take at once waits.

        Raises:
            InputError: too much is waiting, since the program does not read; nothing of ``data`` was taken.
        """
        self._its_terminal.send(data)

    @property
    def wants_write(self) -> bool:
        """Input is waiting: call :meth:`flush_input` when :attr:`master` is writable."""
        return self._its_terminal.wants_write

    def flush_input(self) -> None:
        """Hand on what the terminal takes now."""
        self._its_terminal.flush()

    def exit(self) -> Exit | None:
        """How the program ended; None while it runs."""
        status = None if self._child is None else self._child.poll()
        if status is None:
            return None
        return Exit(status, None) if status >= 0 else Exit(None, _signal_name(-status))

    def terminate(self) -> None:
        """Ask the program, and what it has started, to end: SIGTERM to its process group."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the program, and what it has started: SIGKILL to its process group."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        """Once its end was seen by :meth:`exit`, the number may be another's."""
        if self._child is not None and self._child.returncode is None:
            try:
                os.killpg(self.pid, number)
            except (ProcessLookupError, PermissionError):
                return

    def close(self) -> None:
        """Close the hub's descriptors; the program runs on, and so does its keeper. May be called again."""
        if self._terminal is not None:
            self._terminal.close()
        if self._keeping is not None:
            self._keeping.close()
        if self.ended >= 0:
            os.close(self.ended)
        leave(self._child)
        self._terminal = self._keeping = None
        self.ended = -1


def _spawned(command: list[str], spec: LaunchSpec, terminal: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=spec.cwd,
        env=spec.environment,
        start_new_session=True,
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
