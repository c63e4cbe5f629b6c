"""What flows while a batch waits: the hub's events, the program's output to ours, and our input to the program's terminal."""

import codecs
import os
import select
import sys
from collections.abc import Callable
from typing import Any, TextIO

from agdbg.commands.output import print_text, put
from agdbg.protocol.client import Client, Disconnected, RequestFailed

_LOOK_S = 1.0
_PIECE = 4096
_PAGE = 1 << 16


class Pump:
    """Waits for events and carries text.

    Args:
        client: the connection.
        output: where the program's output goes.
        feeds: our standard input goes to the program.
        is_at_end: there is nothing to be typed to it, and it finds the end of its input: the commands were read from ours.

    Attributes:
        runs: says whether there is a program that can be typed to.
    """

    def __init__(self, client: Client, output: TextIO, *, feeds: bool, is_at_end: bool = False) -> None:
        self.runs: Callable[[], bool] = lambda: False
        self._client, self._output = client, output
        self._position, self._has_output, self._held = 0, False, ""
        self._is_seen = output.isatty()
        self._input = _descriptor(sys.stdin) if feeds else -1
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._typed, self._is_at_end = "", is_at_end

    def next_event(self) -> dict[str, Any] | None:
        """The next event; None when none came for a while."""
        if self._client.events:
            return self._client.events.popleft()
        self.flush()
        if self._client.events:
            return self._client.events.popleft()
        waits_for_input = self._input >= 0 and self.runs()
        if self._has_more_to_type and self.runs():
            self._type()
        watched: list[Any] = [self._client, *([self._input] if waits_for_input and not self._typed else [])]
        ready = select.select(watched, [], [], _LOOK_S)[0]
        if self._input in ready:
            self._read()
        return self._client.next_event(0) if self._client in ready else None

    # ----- output -----

    def there_is_output(self, text: str) -> None:
        """The program has printed something: what, is read from the hub, which leaves nothing out."""
        self._has_output = True

    def flush(self) -> None:
        """Print what the program has printed so far."""
        while self._has_output:
            self._has_output = False
            while self._page():
                pass
        self._output.flush()

    def restarted(self) -> None:
        """Print the rest of the run before, and begin at the beginning of the one that starts."""
        while self._page(before=True):
            pass
        held, self._held = self._held, ""
        put(self._output, held)
        self._position, self._has_output = 0, True

    def _page(self, **which: bool) -> bool:
        try:
            page = self._client.request("agdbg/output", start=self._position, length=_PAGE, **which)
        except (Disconnected, RequestFailed):
            return False
        if not which and any(message["event"] == "agdbg/restarted" for message in self._client.events):
            return False  # the position is one in the run before, and the page of that which has started
        if page["end"] == self._position:
            return False
        self._position = page["end"]
        self._print(page["text"])
        return page["end"] < page["total"]  # type: ignore[no-any-return]  # both are integers

    def _print(self, text: str) -> None:
        """Print whole lines; on a terminal also the beginning of one, where a prompt may be waited for."""
        text = self._held + text
        whole = len(text) - text.endswith("\r") if self._is_seen else text.rfind("\n") + 1
        self._held = text[whole:]
        put(self._output, text[:whole].replace("\r\n", "\n"))

    def finish(self) -> None:
        """Print what is left: the program has ended."""
        self._has_output = True
        self.flush()
        held, self._held = self._held, ""
        put(self._output, held)
        self._output.flush()

    def say_result(self, line: str) -> None:
        """Print what a command has found."""
        self.flush()
        print_text(line)

    # ----- input -----

    def _read(self) -> None:
        try:
            data = os.read(self._input, _PIECE)
        except OSError:
            data = b""
        self._typed += self._decoder.decode(data, final=not data)
        if not data:
            self._input, self._is_at_end = -1, True
        self._type()

    @property
    def _has_more_to_type(self) -> bool:
        return bool(self._typed) or self._is_at_end

    def _type(self) -> None:
        """Type what was read, or say that this was all; what the hub does not take now is tried again."""
        try:
            self._client.request("agdbg/input", text=self._typed, end=self._is_at_end)
        except RequestFailed:
            return
        self._typed, self._is_at_end = "", False


def _descriptor(stream: TextIO | None) -> int:
    """The descriptor of our input, -1 when there is none."""
    try:
        return -1 if stream is None or stream.closed else stream.fileno()
    except (OSError, ValueError):
        return -1
