"""The console behind the line ``:``: ``agdbg.console`` on the session's own connection, one line at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from agdbg_ui.bridge import Bridge
from agdbg_ui.evaluations import result_words
from agdbg_ui.text import reason_of

if TYPE_CHECKING:
    from agdbg.console import Console
    from agdbg_ui.session import Session


class ConsoleRunner:
    """Runs commands beside the screen.

    Args:
        session: whose connection it is.
        late: told the value of an expression that nobody waited for any more, and the expression.
    """

    def __init__(self, session: Session, late: Callable[[str, str], object] = lambda said, line: None) -> None:
        self._session, self._late = session, late
        self._bridge: Bridge | None = None
        self._console: Console | None = None
        self._thread = ThreadPoolExecutor(1, "console")
        self.is_busy = False
        self._loop_call: Callable[[Callable[[], object]], object] = lambda job: None

    async def execute(self, line: str) -> tuple[str, bool]:
        """Do a command: what it says, and whether it wants the debugger to end.

        Raises:
            CommandError: it cannot be done, or another one has not ended.
        """
        from agdbg.console.table import CommandError

        if self.is_busy:
            raise CommandError(
                "the command before has not ended; Esc waits no longer, also before the program has answered"
            )
        self.is_busy = True
        try:
            bridge = self._begin()
            bridge.begin_line()
            said, ends, turned = await asyncio.get_running_loop().run_in_executor(self._thread, self._do, line)
            self._session.turn_to(turned)
            return said, ends
        finally:
            self.is_busy = False

    def leave(self) -> bool:
        """Wait no longer for the command that runs; False when there is none."""
        if not self.is_busy or self._bridge is None:
            return False
        self._bridge.leave()
        return True

    def close(self) -> None:
        """The screen ends."""
        if self._bridge is not None:
            self._bridge.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _begin(self) -> Bridge:
        """Join the session when the first command comes: what stands by then is told as if it had just stopped."""
        if self._bridge is None:
            loop = asyncio.get_running_loop()
            self._loop_call = loop.call_soon_threadsafe
            self._bridge = Bridge(self._session.ask_for_console, loop)
            self._bridge.on_late = self._told_late
            for body in self._session.stops_told():
                self._bridge.tell("stopped", body)
            for body in self._session.breakpoints.bodies:
                self._bridge.tell("breakpoint", {"reason": "new", "breakpoint": body})
            self._session.listener = self._bridge.tell
        return self._bridge

    def _told_late(self, command: str, arguments: dict[str, Any], answer: Future[dict[str, Any]]) -> None:
        if command != "evaluate" or answer.cancelled():
            return
        error = answer.exception()
        value = result_words(answer.result()) if error is None else reason_of(error)
        expression = str(arguments["expression"])
        self._late(f"{expression}  →  {value}", expression)

    def _do(self, line: str) -> tuple[str, bool, int]:
        """What it says, whether it wants the debugger to end, and the thread that it turns to, or 0."""
        from agdbg.console import Console

        assert self._bridge is not None
        if self._console is None:
            self._console = Console(self._bridge, next_event=self._bridge.next_event)  # type: ignore[arg-type]  # the part of a client that it uses
        filters, breakpoints, table = self._session.filters, self._session.breakpoints, self._console.table
        table.switch(filters.on, breakpoints.off, {body["id"] for body in breakpoints.bodies})
        if (here := self._session.stopped_thread) is not None:
            self._console.follow(here)
        before = table.off
        try:
            reply = self._console.execute(line)
        finally:
            after = table.off
            changed = {number: body for number, body in after.items() if before.get(number) != body}
            if changed or before.keys() - after.keys():
                self._loop_call(lambda: breakpoints.put_off(changed, before.keys() - after.keys()))
        ends, self._console.wants_to_quit = self._console.wants_to_quit, False
        return reply.text, ends, reply.value.get("thread", 0) if isinstance(reply.value, dict) else 0
