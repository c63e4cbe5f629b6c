"""Where the program stops and stands: breakpoints, watches, kinds of events, threads, processes, errors."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.message import Message

from agdbg_ui.breakpoints import what_of
from agdbg_ui.filters import Filter
from agdbg_ui.text import Pieces, cells, shorten, shorten_name, shorten_start
from agdbg_ui.themes import ALERT, ASIDE, BREAKPOINT_MARK, BREAKPOINT_STYLE, FAINT, LABEL, NOTICE, OFF_MARK, OFF_STYLE
from agdbg_ui.widgets.rows import Rows

Body = Mapping[str, Any]
_PLACE_CELLS = 32


class Item(NamedTuple):
    """A line of the list, with what is known of it: a heading (`sort` is ""), a breakpoint, an error, a thread or a process."""

    sort: str
    text: str
    more: str = ""
    mark: str = " "
    style: str = ""
    number: int = 0
    name: str = ""
    file: str = ""
    line: int = 0


class StopsPane(Rows):
    """Lists them; the owner answers `StopsPane.Wanted` with `show`.

    | Key | Does |
    | --- | --- |
    | enter | goes to the line or the name; turns to the thread; switches the error on or off |
    | space | switches the breakpoint, the watch or the error off, and on again |
    | d, delete | removes the breakpoint or the watch |
    | equals sign | gives the breakpoint a condition |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "switch", "Off and on", show=False),
        Binding("d,delete", "remove", "Remove", show=False),
        Binding("equals_sign", "condition", "Condition", show=False),
    ]

    class Wanted(Message):
        """It is seen, and may be out of date."""

    class Chosen(Message):
        """Enter was pressed on an item."""

        def __init__(self, item: Item) -> None:
            super().__init__()
            self.item = item

    class Removed(Message):
        """A breakpoint is to be removed."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class Switched(Message):
        """A breakpoint is to be switched off, or on again."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._items: list[Item] = []
        #: Called with the number of a breakpoint that is to have a condition; by no message, as what is typed next goes into it.
        self.on_condition: Callable[[int], object] = lambda number: None

    def show(self, items: list[Item]) -> None:
        """Show these."""
        if items == self._items:
            return
        here = self._items[self.cursor] if self._items else None
        self._items = items
        if here is not None:
            key = (here.sort, here.number, here.name, here.text if not here.sort else "")
            same = (
                at
                for at, each in enumerate(items)
                if (each.sort, each.number, each.name, each.text if not each.sort else "") == key
            )
            self.set_reactive(Rows.cursor, next(same, min(self.cursor, len(items) - 1)))
        self.rows_changed()

    def outdate(self) -> None:
        """What is shown may be otherwise now."""
        if self.display and self.size.height:
            self.post_message(self.Wanted())

    @property
    def items(self) -> list[Item]:
        """What is shown."""
        return self._items

    def forget(self) -> None:
        """The threads that were told of are gone; all else is the same in the next run, with the cursor on it."""
        self.show([each for each in self._items if each.sort != "thread"])

    @property
    def row_count(self) -> int:
        """Headings and items."""
        return len(self._items)

    def row(self, index: int, width: int) -> Pieces:
        """An item."""
        item = self._items[index]
        if not item.sort:
            return [(item.text, LABEL), (f"  {item.more}", FAINT)]
        head: Pieces = [("  ", ""), (f"{item.mark} ", item.style)]
        text = shorten_name(item.text, width - 4)
        room = width - 6 - cells(text)
        return [*head, (text, ""), (f"  {shorten(item.more, room)}" if item.more and room > 3 else "", ASIDE)]

    def on_row_chosen(self, index: int) -> None:
        """Tell which."""
        if self._items[index].sort:
            self.post_message(self.Chosen(self._items[index]))

    def action_remove(self) -> None:
        """Remove a breakpoint."""
        if (number := self._breakpoint()) is not None:
            self.post_message(self.Removed(number))
        else:
            self.app.notify("d removes a breakpoint or a watch: select one first", markup=False)

    def action_switch(self) -> None:
        """Switch a breakpoint or an error off or on; choose anything else."""
        if (number := self._breakpoint()) is not None:
            self.post_message(self.Switched(number))
        else:
            self.action_choose()

    def action_condition(self) -> None:
        """Give a breakpoint a condition."""
        if (number := self._breakpoint()) is not None:
            self.on_condition(number)
        else:
            self.app.notify("= gives a breakpoint a condition: select one first", markup=False)

    def _breakpoint(self) -> int | None:
        """The number of the breakpoint or watch that is selected; None for anything else."""
        item = self._items[self.cursor] if self._items else None
        return item.number if item is not None and item.sort == "breakpoint" else None

    def on_show(self) -> None:
        """It is seen: ask."""
        self.post_message(self.Wanted())


def items_of(
    breakpoints: Sequence[Body],
    hits: Mapping[int, int],
    filters: Sequence[Filter],
    on: frozenset[str],
    threads: Sequence[Body],
    processes: Sequence[Body] = (),
    off: Collection[int] = (),
    nothing: str = "none",
) -> list[Item]:
    """The list.

    Args:
        breakpoints: as the protocol has them.
        hits: by the number of a breakpoint, how often the program has stopped at it while this screen was there.
        filters: all filters of errors.
        on: the ids of those that are on.
        threads: ``id``, ``name``, ``stopped``, and ``where`` in words for those that stand.
        processes: ``number``, ``mark``, ``name`` and ``told`` in words of those that the hub knows.
        off: the numbers of those breakpoints that are switched off.
        nothing: what is said where there are no threads and no processes.
    """
    watched = [_breakpoint(each, hits, each["id"] in off) for each in breakpoints if "dataId" in each]
    others = [_breakpoint(each, hits, each["id"] in off) for each in breakpoints if "dataId" not in each]
    parts = {
        "Breakpoints": others,
        "Watches": watched,
        "Threads": [_thread(each) for each in threads],
        "Processes": [
            Item("process", each["name"], each["told"], each["mark"], NOTICE, each["number"]) for each in processes
        ],
        "Errors": [
            Item("filter", each.label, each.id, "✓" if each.id in on else " ", NOTICE, name=each.id) for each in filters
        ],
    }
    none = {"Threads": nothing, "Processes": nothing}
    return [
        item
        for name, found in parts.items()
        for item in (Item("", name, str(len(found)) if found else none.get(name, "none")), *found)
    ]


def _breakpoint(body: Body, hits: Mapping[int, int], is_off: bool) -> Item:
    file, line = str((body.get("source") or {}).get("path") or ""), int(body.get("line") or 0)
    what = shorten_start(what_of(body), _PLACE_CELLS) if file else what_of(body)
    words = {
        "when": "only in {}", "condition": "if {}", "hitCondition": "hits {}", "ignore": "ignores {}",
        "logMessage": "logs {}", "temporary": "once",
    }  # fmt: skip
    more = [text.format(body[field]) for field, text in words.items() if body.get(field)]
    if count := hits.get(body["id"], 0):
        more.append(f"stopped {count:,} {'time' if count == 1 else 'times'}")
    if body.get("message"):
        more.append(str(body["message"]))
    mark, style = (BREAKPOINT_MARK, BREAKPOINT_STYLE) if body.get("verified") else ("✗", ALERT)
    if is_off:
        mark, style, more = OFF_MARK, OFF_STYLE, ["off", *more]
    return Item(
        "breakpoint",
        f"{body['id']}  {what}",
        "  ".join(more),
        mark,
        style,
        body["id"],
        str(body.get("name") or ""),
        file,
        line,
    )


def _thread(body: Body) -> Item:
    mark = "■" if body["stopped"] else "»"
    where = str(body.get("where") or ("stopped" if body["stopped"] else "runs"))
    name = f"{body['id']}  {body['name']}"
    return Item("thread", name, where, mark, NOTICE if body["stopped"] else ASIDE, body["id"])
