"""Which of several clients moves the program, as far as this one has heard of it."""

from collections.abc import Callable
from typing import Any, Literal

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.backend import Backend

#: "" while no other client is known that moves the program.
Hands = Literal["", "watching", "in control"]
Body = dict[str, Any]


class Control:
    """Asks who has control, and takes it.

    Args:
        backend: the connection.
        show: called with what the title says, when that is something else.
    """

    def __init__(self, backend: Backend, show: Callable[[Hands], object]) -> None:
        self._backend, self._show = backend, show
        self._is_shared = False
        self._changes = 0  # an answer to what was asked before the last of them is out of date

    async def look(self) -> None:
        """Learn who has it, as one that has just come, or has moved the program itself: no event tells of that."""
        await self._look()

    async def _look(self) -> Body:
        while True:
            changes = self._changes
            body = await self._backend.request("agdbg/control")
            if changes == self._changes:
                self._took(body)
                return body

    async def take(self) -> str:
        """Take it; what to say of that. Who had it is told by the hub."""
        before = await self._look()
        if before["has"]:
            return "this screen has control already"
        await self._backend.request("agdbg/control", take=True)
        await self._look()
        former = before["holder"]
        return f"in control now; {former} was told" if former else "in control now: no other client had it"

    def _took(self, body: Body) -> None:
        if body["holder"] and not body["has"]:
            self._is_shared = True
            self._show("watching")
        else:
            self._show("in control" if body["has"] and self._is_shared else "")

    def changed(self, holder: str, *, lost: bool) -> str:
        """Another client has it now, or nobody; what to say of that, if anything."""
        self._changes += 1
        self._took({"has": False, "holder": holder})
        return f"{holder} has taken control: C takes it back" if lost else ""


def words_of(error: BaseException) -> str:
    """A refusal for want of control, with the key that helps in place of the request; "" for other errors."""
    is_refused = isinstance(error, RequestFailed) and error.code == "control"
    return f"{str(error).rpartition('; ')[0]}; C takes it over" if is_refused else ""
