"""Python of the person that the program runs at a stop: one expression after another, each for as long as it takes."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agdbg_ui.text import shorten

#: How an expression is ended.
HOW = "Esc, then ^C interrupts it; a call into C not before it returns"
#: How long one may take before the screen says so, in seconds: most end before that.
HUSH_S = 0.1
_MOST = 40


class Evaluations:
    """What runs, and since when.

    Args:
        say: told whether something runs, once it takes a while.
        done: called when an expression is over: values may be others.
        clock: seconds.
    """

    def __init__(self, say: Callable[[bool], object], done: Callable[[], object], clock: Callable[[], float]) -> None:
        self._say, self._done, self._clock = say, done, clock
        self._running: list[tuple[str, float]] = []

    @contextmanager
    def of(self, expression: str) -> Iterator[None]:
        """The program is asked for this one, and does it behind those before."""
        mine = expression, self._clock()
        self._running.append(mine)
        said = asyncio.get_running_loop().call_later(HUSH_S, lambda: self._say(True))
        try:
            yield
        finally:
            said.cancel()
            self._running.remove(mine)
            self._say(bool(self._running))
            self._done()

    @property
    def is_any(self) -> bool:
        """Whether something runs."""
        return bool(self._running)

    def words(self) -> str:
        """What runs, for how long, and how it is ended; "" when nothing does."""
        if not self._running:
            return ""
        expression, since = self._running[0]
        return f"{shorten(expression, _MOST)} has run for {max(self._clock() - since, 0):.0f} s ({HOW})"


def result_words(body: dict[str, Any]) -> str:
    """A value after its type, or that a statement is done; then the notes, one a line."""
    kind, value = body.get("type"), body["result"]
    said = f"{kind}: {value}" if kind else value or "done"
    return said + "".join(f"\n({note})" for note in body.get("notes", ()))
