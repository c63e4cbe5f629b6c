"""The program's process and its output, as the loop watches them."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

from agdbg.hub.adopted import AnyProgram
from agdbg.hub.input_end import InputEnd
from agdbg.hub.log import log, log_error
from agdbg.hub.loop import Loop, Timer

#: How long to wait for the rest of the output of a program that has ended, in seconds: what it has started may
#: have its terminal open for ever.
_REST_S = 1.0
#: How long a program that is to end may take before it is killed, in seconds.
GRACE_S = 5.0
_RETRY_S = 1.0
#: How long the end of a program is waited for when a thread of it is gone: longer than for the rest of its output.
_WHY_GONE_S = 3.0
_SIGNAL_BASE = 128


@dataclass(frozen=True)
class Ended:
    """How a program ended, and the one number that the protocol has for it: 128 and more for a signal."""

    status: int | None
    signal: str | None

    @property
    def code(self) -> int:
        """The number, as a shell gives it."""
        if self.status is not None:
            return self.status
        named = getattr(signal, self.signal or "", None)
        return _SIGNAL_BASE + int(named) if named is not None else _SIGNAL_BASE

    def __str__(self) -> str:
        """What is said behind "the program"."""
        if self.signal:
            return f"was ended by {self.signal}"
        return "has ended" if self.status is None else f"has ended with exit status {self.status}"


class Running:
    """Watches a program from its start to its end.

    Args:
        loop: calls us.
        program: not started yet.
        name: what it is called.
        on_output: called when it has printed something.
        on_end: called once, when it has ended and its output is there.

    Attributes:
        is_alive: it was started, and has not ended.
        has_ended: it has.
        was_told: that it has was told.
        was_asked_to_end: it was sent SIGTERM.
        exit: how it ended.
        input_end: keeps its input at the end; None: more may be typed.
    """

    def __init__(
        self,
        loop: Loop,
        program: AnyProgram,
        name: str,
        on_output: Callable[[], object],
        on_end: Callable[[], object],
    ) -> None:
        self.program, self.name = program, name
        self.is_alive = self.has_ended = self.was_told = self.was_asked_to_end = False
        self.exit = Ended(None, None)
        self._loop, self._on_output, self._on_end = loop, on_output, on_end
        self.input_end: InputEnd | None = None
        self._ends_a_line = True
        self._ear = -1
        self._is_drained = False
        self._rest: Timer | None = None
        self._asked_why: list[Callable[[], object]] = []

    def start(self) -> None:
        """Start it.

        Raises:
            InputError: it cannot be started.
        """
        self.program.start()
        self.is_alive = True
        self._loop.watch(self.program.ended, self._exited)
        self._listen()

    def send(self, data: bytes) -> None:
        """Type into its terminal.

        Raises:
            InputError: too much is waiting already.
        """
        self.program.send(data)
        self._ends_a_line = data.endswith(b"\n") if data else self._ends_a_line
        self._watch_input()

    def end_input(self) -> None:
        """From here on, behind all that was typed, the program finds the end of its input, however often it reads."""
        if self.input_end is None:
            program = self.program
            self.input_end = InputEnd(
                self._loop,
                program.terminal_path,
                self.send,
                lambda: program.wants_write,
                ends_a_line=self._ends_a_line,
            )
            self.input_end.begin()

    def ask_to_end(self) -> None:
        """Ask it to end, which it may take as it likes."""
        self.was_asked_to_end = True
        self.program.terminate()

    def end(self) -> None:
        """Ask it to end, and kill it when it does not."""
        if self.is_alive:
            self.ask_to_end()
            self._loop.after(GRACE_S, self.kill)

    def kill(self) -> None:
        """End it at once."""
        if self.is_alive:
            self.program.kill()

    def ask_why_gone(self, then: Callable[[str], object]) -> None:
        """Say why a thread does not answer any more: as a rule since the program has ended, which is known a moment later."""

        def tell() -> None:
            if tell in self._asked_why:
                self._asked_why.remove(tell)
                then(f"the program {self.exit}" if self.has_ended else "the thread has ended")

        self._asked_why.append(tell)
        if self.was_told:
            tell()
        else:
            self._loop.after(_WHY_GONE_S, tell)

    def close(self) -> None:
        """Look away; the program and its keeper go on."""
        if self.input_end is not None:
            self.input_end.close()
        if self.is_alive or self.has_ended:
            for fd in (self.program.ended, self._ear, self.program.master):
                if fd >= 0:
                    self._loop.unwatch(fd)
        self.program.close()

    # ----- its terminal -----

    def _watch_input(self) -> None:
        self._loop.watch(self.program.master, None, self._typed if self.program.wants_write else None)

    def _typed(self) -> None:
        self.program.flush_input()
        self._watch_input()

    def _listen(self) -> None:
        self._ear = self.program.wakeup
        self._loop.watch(self._ear, self._heard)

    def _heard(self) -> None:
        """The keeper has written something, or has ended."""
        try:
            at_end = not os.read(self._ear, 1 << 12)
        except BlockingIOError:
            return
        except OSError:
            at_end = True
        self._on_output()
        if at_end:
            self._loop.unwatch(self._ear)
            self._ear = -1
            self._mend()

    def _mend(self) -> None:
        """All output is there, or the keeper was killed and another one goes on."""
        try:
            is_new = self.program.mend_keeper()
        except OSError:
            log_error("the keeper of the output cannot be started again")
            self._loop.after(_RETRY_S, self._mend)
            return
        if is_new:
            log("the keeper of the output was gone; there is a new one")
            self._listen()
            return
        self._is_drained = True
        if self.has_ended:
            self._finish()

    # ----- its end -----

    def _exited(self) -> None:
        found = self.program.exit()
        if found is None:
            return
        self._loop.unwatch(self.program.ended)
        if self.input_end is not None:
            self.input_end.close()
        self.exit = Ended(found.status, found.signal)
        self.has_ended, self.is_alive = True, False
        if self._is_drained:
            self._finish()
        else:
            self._rest = self._loop.after(_REST_S, self._finish)

    def _finish(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        self.was_told = True
        for tell in self._asked_why[:]:
            tell()
        callback, self._on_end = self._on_end, _nothing
        callback()


def _nothing() -> None:
    """The end was told."""
