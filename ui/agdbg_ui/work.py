"""Work of the hub that takes a while, as it tells of it: what, how far, and how to end it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.amounts import bar
from agdbg_ui.text import Pieces, safe
from agdbg_ui.themes import ASIDE, LABEL

_BAR_CELLS = 12


class Work(NamedTuple):
    """One request that the hub works at; `percentage` is None where nobody knows.

    A cancelled one goes on until the hub can break it off.
    """

    id: str
    title: str
    message: str = ""
    percentage: float | None = None
    cancellable: bool = False
    is_cancelled: bool = False

    @property
    def words(self) -> str:
        """What is done, and how far it is."""
        part = "" if self.percentage is None else f" {self.percentage:.0f}%"
        return safe(f"{self.title}{f': {self.message}' if self.message else ''}{part}")

    def pieces(self, is_free: bool = True) -> Pieces:
        """The same with a bar; `is_free`: Esc does nothing else before it cancels."""
        drawn = "" if self.percentage is None else f"  {bar(self.percentage / 100, _BAR_CELLS)}"
        leave = (
            "   is being cancelled …" if self.is_cancelled else "   Esc cancels" if self.cancellable and is_free else ""
        )
        return [(f" {self.words}", ""), (drawn, LABEL), (leave, ASIDE)]


class Works:
    """All that the hub works at for this client, the newest last."""

    def __init__(self) -> None:
        self._works: dict[str, Work] = {}

    @property
    def newest(self) -> Work | None:
        """What is shown: of those that go on, else of those that are being cancelled."""
        return max(reversed(self._works.values()), key=lambda work: not work.is_cancelled, default=None)

    def cancel(self) -> Work | None:
        """The newest is not wanted any more; None: there is none, or it cannot be cancelled, or was already."""
        work = self.newest
        if work is None or not work.cancellable or work.is_cancelled:
            return None
        self._works[work.id] = work._replace(is_cancelled=True)
        return work

    def start(self, body: Mapping[str, Any]) -> None:
        """The body of ``progressStart``."""
        number = body["progressId"]
        self._works[number] = Work(
            number, body["title"], body.get("message", ""), body.get("percentage"), body.get("cancellable", False)
        )

    def update(self, body: Mapping[str, Any]) -> None:
        """The body of ``progressUpdate``: what is not in it holds on, but a percentage belongs to its message."""
        if (known := self._works.get(body["progressId"])) is not None:
            message = body.get("message", known.message)
            self._works[known.id] = known._replace(message=message, percentage=body.get("percentage"))

    def end(self, body: Mapping[str, Any]) -> None:
        """The body of ``progressEnd``."""
        self._works.pop(body["progressId"], None)

    def clear(self) -> None:
        """The hub is gone."""
        self._works.clear()


def was_cancelled(error: BaseException) -> bool:
    """Whether a request was given up because somebody wanted that."""
    return isinstance(error, RequestFailed) and error.code == "cancelled"
