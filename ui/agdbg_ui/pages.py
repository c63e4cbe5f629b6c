"""Rows of the lane view by pages, as far as they were looked at; what changed is fetched anew when it is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from agdbg.protocol.limits import PAGE as MOST

if TYPE_CHECKING:
    from agdbg.protocol.vendor import Row

#: Rows of a page: some screens full, and little to send again at each stop.
PAGE = 64
#: Pages that are kept.
KEPT = 256


class Pages:
    """A window into the rows that the hub has.

    Attributes:
        total: how many rows are shown: all that there are, or fewer while newer ones are on their way.
        newest: how many rows there are.
        counter: the row of the node that runs next, or None.
        counter_node: that node; another one than the row's when it is a leaf, or None.
    """

    def __init__(self) -> None:
        self.total = self.newest = 0
        self.counter: int | None = None
        self.counter_node: int | None = None
        self._pages: dict[int, tuple[int, list[Row]]] = {}  # what was fetched last is at the end
        self._age = 0
        self._total_age = -1

    def row(self, index: int) -> Row | None:
        """A row as it was last seen, or None."""
        page = self._pages.get(index // PAGE)
        at = index % PAGE
        return page[1][at] if page is not None and at < len(page[1]) else None

    @property
    def known(self) -> list[Row]:
        """All rows that are kept."""
        return [row for _, rows in self._pages.values() for row in rows]

    def outdate(self) -> int:
        """Everything may have changed: what is seen must be fetched again."""
        self._age += 1
        return self._age

    def forget(self, total: int) -> None:
        """These are other rows now, so many."""
        self._pages.clear()
        self.total, self.newest, self.counter = total, total, None
        self._age += 1

    def begin(self) -> None:
        """Another program's graph follows, of which nothing is known."""
        self.forget(0)
        self.counter_node, self._total_age = None, -1

    @property
    def age(self) -> int:
        """What to pass to `put` with the answer to a request that is made now."""
        return self._age

    def wanted(self, first: int, last: int) -> tuple[int, int] | None:
        """The start and count to ask for so that rows `first` to `last` are known and fresh, or None."""
        if not self.total:
            return None if self._total_age == self._age else (0, PAGE)
        last = min(last, self.newest - 1)
        numbers = [number for number in range(first // PAGE, last // PAGE + 1) if self._lacks(number)]
        if not numbers or last < first:
            return None
        return span(numbers[0] * PAGE, numbers[-1] * PAGE)

    @property
    def is_answered(self) -> bool:
        """Whether there was an answer yet."""
        return self._total_age >= 0

    def put(self, body: dict[str, Any], age: int, grows: bool = False) -> None:
        """Take in an answer; `age` is that of the time when it was asked for.

        Where the view `grows`, what is shown ends with rows that are known: those behind them come with the next answer.
        """
        start, rows = body["start"], cast("list[Row]", body["rows"])
        shown, self.newest = self.total, body["total"]
        self.total = min(self.newest, max(start + len(rows), shown)) if grows else self.newest
        self.counter, self.counter_node = body["pc"], body["pcNode"]
        self._total_age = age
        for at in range(0, max(len(rows), 1), PAGE):  # an empty page too is an answer
            self._pages.pop((start + at) // PAGE, None)
            self._pages[(start + at) // PAGE] = age, rows[at : at + PAGE]
        while len(self._pages) > KEPT:
            del self._pages[next(iter(self._pages))]

    def _lacks(self, number: int) -> bool:
        page = self._pages.get(number)
        return page is None or page[0] != self._age


def span(first: int, last: int) -> tuple[int, int]:
    """The start and count of the pages with these rows, as far as one answer has them."""
    start = max(first, 0) // PAGE * PAGE
    return start, min((max(last, 0) // PAGE + 1) * PAGE - start, MOST // PAGE * PAGE)
