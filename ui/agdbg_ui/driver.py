"""The terminal that the screen is drawn on: standard output, and given back when a signal ends the debugger."""

import asyncio
import os
import select
import signal
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, cast

from textual import events
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from agdbg_ui.terminal_guard import Guard

if TYPE_CHECKING:
    from agdbg_ui.app import AgdbgApp

#: Signals by which others end this process, or its terminal's end does.
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class TerminalOutput:
    """Text to a file descriptor; once nobody is there to read it, it goes nowhere."""

    def __init__(self, fd: int, encoding: str) -> None:
        self._fd, self._encoding = fd, encoding
        self._kept: list[str] = []

    def fileno(self) -> int:
        """The file descriptor."""
        return self._fd

    def write(self, text: str) -> None:
        """Keep a text for the next flush."""
        self._kept.append(text)

    def flush(self) -> None:
        """Write all that is kept. A terminal that is gone is no reason to fail: whoever drew on it would wait for ever."""
        data = "".join(self._kept).encode(self._encoding, "backslashreplace")
        self._kept.clear()
        while data:
            try:
                data = data[os.write(self._fd, data) :]
            except BlockingIOError:  # a terminal is shared, and another process may have made it so
                select.select([], [self._fd], [])
            except OSError:
                return


class TerminalDriver(LinuxDriver):
    """Draws on standard output, where Textual draws on standard error, which may go to a file.

    While the screen is up SIGTERM, SIGHUP and SIGINT end the app as the key for that does, so that the terminal is given back;
    one of them that is ignored (``nohup``) stays so. A terminal that is gone ends the app all the same, since nobody could any
    more, and Textual would read its end again and again. Where this process is killed, another one gives the terminal back.
    """

    def __init__(self, app: "AgdbgApp", **how: Any) -> None:
        super().__init__(app, **how)
        assert sys.__stdout__ is not None
        self._ending_app = app
        self._terminal = sys.__stdout__.fileno()
        self._file = cast(TextIOWrapper, TerminalOutput(self._terminal, sys.__stdout__.encoding))
        self._handled: list[signal.Signals] = []
        self._guard: Guard | None = None
        self._hangup: select.epoll | None = None

    def process_message(self, message: Message) -> None:
        """Take what was typed: a letter right behind Esc is a key of its own, as no key here goes with Alt."""
        if isinstance(message, events.Key) and message.key.startswith("alt+") and message.character:
            super().process_message(events.Key("escape", "\x1b"))
            message = events.Key(message.character, message.character)
        super().process_message(message)

    def start_application_mode(self) -> None:
        """Take the terminal."""
        loop = asyncio.get_running_loop()
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self._ending_app.end_by, number)
                self._handled.append(number)
        self._watch_for_its_end(loop)
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual has not typed it
        if self._guard is None and os.isatty(self._terminal):
            with suppress(OSError):  # no process can be had: then a killed UI leaves the terminal as it is
                self._guard = Guard(self._terminal, self.attrs_before)

    def stop_application_mode(self) -> None:
        """Give the terminal back; from then on the signals end the process at once."""
        super().stop_application_mode()
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None
        loop = asyncio.get_running_loop()
        self._watch_no_more(loop)
        while self._handled:
            number = self._handled.pop()
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)  # for SIGINT the loop has put Python's own, which prints a traceback

    def _watch_for_its_end(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the app when the terminal is hung up, also where the signal of that is ignored."""
        self._hangup = select.epoll()
        self._hangup.register(self.fileno, 0)  # of all that may happen to it only its end, which may have come already
        loop.add_reader(self._hangup.fileno(), self._gone, loop)

    def _gone(self, loop: asyncio.AbstractEventLoop) -> None:
        self._watch_no_more(loop)
        self._ending_app.end_by(signal.SIGHUP)

    def _watch_no_more(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._hangup is not None:
            loop.remove_reader(self._hangup.fileno())
            self._hangup.close()
            self._hangup = None
