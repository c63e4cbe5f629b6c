"""All about one node: its gradients, what it saved and what became of that, its edges and hooks."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.message import Message

from agdbg_ui.text import Pieces, cells, crop, pad_name, safe, shorten, shorten_start, wrap, wrap_phrases
from agdbg_ui.themes import ASIDE, FAINT, LABEL, TITLE, Look, node_look, saved_look
from agdbg_ui.widgets.rows import Rows

GRADIENTS_IN = "Gradients in"
NEXT_EDGES = "Next edges"
_EMPTY = "no node is selected"
#: Sections whose values go on below where one line has no room for them, and how many lines they get.
_WRAPPED = (GRADIENTS_IN, "Gradients out", "Saved tensors")
_WRAPPED_ROWS = 4
_NAME_CELLS = 48
_VALUE_ROWS = 12
#: Cells around a name and its value: indent, mark, gap, and what Enter would do.
_AROUND = 8
_INDENT = "      "
#: What an entry of those sections is called on a page of its own.
_WORDS = dict(zip(_WRAPPED, ("gradient in", "gradient out", "saved tensor"), strict=True))
#: Type and shape in the words for a value.
_KIND = re.compile(r"[a-z]+\d* \[[\d, ]*\]")
_NODE = re.compile(r"#(\d+)")

_TOLD = (saved_look("modified"), saved_look("freed"))

Entry = Mapping[str, Any]


class _Row(NamedTuple):
    """A row of the list: a section's heading, an entry, or a further line of its value (`is_more`)."""

    section: str
    entry: Entry | None = None
    text: str = ""
    entries: int = 0
    is_more: bool = False
    names: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Names it in another node as well."""
        return self.section, str(self.entry["name"]) if self.entry else ""


class Inspector(Rows):
    """Shows the body of an ``agdbg/node`` response.

    | Key | Does |
    | --- | --- |
    | left, right | fold and unfold a section, or the value of an entry that is too long for its line |
    | enter | on a section: fold, unfold; on an incoming gradient that may be changed: change it; on an edge: go there |
    | enter | on a value: a page of it |
    | space | on a value: a page of it |

    Sections stay folded from node to node.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "fold", "Fold", show=False),
        Binding("right", "unfold", "Unfold", show=False),
        Binding("space", "open", "Open", show=False),
    ]

    class ValueWanted(Message):
        """A page of a value is wanted; `heading` says what it is."""

        def __init__(self, heading: str, entry: Entry) -> None:
            super().__init__()
            self.heading, self.entry = heading, entry

    class Goto(Message):
        """The user wants to see another node."""

        def __init__(self, node: int) -> None:
            super().__init__()
            self.node = node

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes, header=0)
        self._body: Mapping[str, Any] | None = None
        self._list: list[_Row] = []
        self._folded: set[str] = set()
        self._opened: set[tuple[str, str]] = set()
        self._wrapped_to = 0
        #: Called with an incoming gradient that is to be replaced; by no message, since what is typed next goes into the line.
        self.on_set: Callable[[Entry], object] = lambda entry: None

    def show(self, body: Mapping[str, Any] | None) -> None:
        """Show a node, or none."""
        if body == self._body:
            return
        here = self._list[self.cursor].key if self._list else ("", "")
        if body is None or self._body is None or body.get("node") != self._body.get("node"):
            self._opened.clear()
        self._body = body
        self.header = 0 if body is None else 2
        self._rebuild(here)

    def forget(self) -> None:
        """Show no node; what is folded stays so."""
        self.show(None)
        super().forget()

    @property
    def body(self) -> Mapping[str, Any] | None:
        """What is shown."""
        return self._body

    # ----- the list -----

    @property
    def row_count(self) -> int:
        """Headings, entries that are not folded, and lines of unfolded values."""
        return len(self._list)

    @property
    def empty_text(self) -> str:
        """What is said when no node is shown."""
        return _EMPTY if self._body is None else "nothing is known about this node"

    def row_text(self, index: int) -> str:
        """An entry as a whole, however many lines it takes."""
        row = self._list[index]
        if row.entry is None:
            return super().row_text(index)
        return f"{row.entry['name']}  {_told(_value(row.entry), saved_look(row.entry.get('state', '')))}"

    def _rebuild(self, here: tuple[str, str]) -> None:
        """Make the rows anew; the cursor stays on the entry it was on, or else on its section."""
        self._list = []
        self._wrapped_to = self.inner_width
        for section in self._body["sections"] if self._body else ():
            name, entries = section["name"], section["entries"]
            self._list.append(_Row(name, entries=len(entries)))
            if name not in self._folded:
                names = self._name_width(entries)
                for entry in entries:
                    self._list += self._rows_of(name, entry, names)
        keys = [row.key for row in self._list]
        found = next((keys.index(key) for key in (here, (here[0], "")) if key in keys), 0)
        self.set_reactive(Rows.cursor, found)
        self.rows_changed()
        self.show_row(found)

    def _rows_of(self, section: str, entry: Entry, names: int) -> list[_Row]:
        """An entry, with the lines of its value that go below."""
        row = _Row(section, entry, names=names)
        width = max(self.inner_width - len(_INDENT), 10)
        if row.key in self._opened:
            lines = ["", *_bounded(wrap(safe(_value(entry)[: width * (_VALUE_ROWS + 1)]), width), _VALUE_ROWS, width)]
        else:
            lines = self._lines_of(row, width)
        first, *more = lines
        return [row._replace(text=first), *(row._replace(text=line, is_more=True) for line in more)]

    def _lines_of(self, row: _Row, width: int) -> list[str]:
        assert row.entry is not None
        value = _told(_value(row.entry), saved_look(row.entry.get("state", "")))
        room = self._room(row, self.inner_width)
        if row.section not in _WRAPPED or not self.inner_width:
            return [value]
        lines = wrap_phrases(safe(value[: width * (_WRAPPED_ROWS + 1)]), room, width)
        return _bounded(lines, _WRAPPED_ROWS, width)

    def _room(self, row: _Row, width: int) -> int:
        """Cells of the value beside its name."""
        return width - 4 - row.names - 2 - cells(self._act(row))

    def _act(self, row: _Row) -> str:
        """What Enter would do."""
        return " ✎" if self.editable(row) else " →" if self._target(row) else ""

    # ----- drawing -----

    def header_row(self, index: int, width: int) -> Pieces:
        """The node and its state; where it was made."""
        body = self._body or {}
        look = node_look(body.get("state", ""))
        if index == 0:
            look = look if not body.get("doing") else node_look("next")._replace(word=body["doing"])
            tail = f"  #{body.get('node', 0)}  {look.mark} {look.word}"
            return [(shorten(body.get("op", ""), width - cells(tail)), TITLE), (tail, look.style or ASIDE)]
        return _place(body, width)

    def row(self, index: int, width: int) -> Pieces:
        """A heading or an entry."""
        row = self._list[index]
        if row.entry is None:
            fold = "▸" if row.section in self._folded else "▾"
            return [(f"{fold} {safe(row.section)}", LABEL), (f"  {row.entries}" if row.entries else "  none", FAINT)]
        if row.is_more:
            return [(_INDENT, ""), (row.text, ASIDE if row.key in self._opened else _style(row.entry))]
        return self._entry(row, width)

    def _entry(self, row: _Row, width: int) -> Pieces:
        assert row.entry is not None
        look = saved_look(row.entry.get("state", ""))
        name, act = f"{pad_name(str(row.entry['name']), row.names)}  ", self._act(row)
        value = shorten(row.text, self._room(row, width))
        pieces = [("  ", ""), (f"{look.mark} ", look.style), (name, ASIDE), (value, look.style)]
        return [*pieces, (act, LABEL)] if act else pieces

    def _name_width(self, entries: Sequence[Entry]) -> int:
        """Cells for the names of a section: a third of the width, or what its values leave."""
        longest = max((cells(safe(str(entry["name"])[: 2 * _NAME_CELLS])) for entry in entries), default=0)
        values = max((len(_value(entry)) for entry in entries), default=0)
        if not self.inner_width:
            return min(longest, _NAME_CELLS)
        return min(longest, max(self.inner_width // 3, 4, self.inner_width - _AROUND - values))

    # ----- acting -----

    def editable(self, row: _Row) -> bool:
        """Whether the entry can be replaced: an incoming gradient, which is there, of the node that runs next."""
        return self._would_be_editable(row) and bool(row.entry and row.entry.get("reference"))

    def _would_be_editable(self, row: _Row) -> bool:
        body = self._body or {}
        is_next = body.get("state") == "next" and not body.get("doing")  # in its middle it is too late
        return row.entry is not None and row.section == GRADIENTS_IN and is_next

    def action_move(self, by: int) -> None:
        """Move the cursor by entries: what goes on below belongs to its entry, unless it was unfolded to be read."""
        to = self.cursor + by
        while 0 <= to < len(self._list) and self._list[to].is_more and self._list[to].key not in self._opened:
            to += by
        if 0 <= to < len(self._list):
            self.cursor = to

    def watch_cursor(self, old: int, new: int) -> None:
        """Show the entry with what goes on below it."""
        super().watch_cursor(old, new)
        last = new
        while last + 1 < len(self._list) and self._list[last + 1].is_more:
            last += 1
        self.show_row(last)
        self.show_row(new)

    def on_row_chosen(self, index: int) -> None:
        """Act on an entry, or fold or unfold."""
        row = self._list[index]
        if row.entry is not None and self.editable(row):
            self.on_set(row.entry)
        elif self._would_be_editable(row):
            self.action_open()  # which says why there is no value
        elif target := self._target(row):
            self.post_message(self.Goto(target))
        elif row.entry is not None and row.entry.get("reference"):
            self.action_open()
        else:
            self._toggle(row)

    def action_open(self) -> None:
        """A page of the value."""
        row = self._row_of_cursor()
        if row is not None and row.entry is not None and row.section in _WRAPPED:
            self.post_message(self.ValueWanted(self._heading(row.section, row.entry), row.entry))

    def _heading(self, section: str, entry: Entry) -> str:
        """``saved tensor other of MulBackward0 #7: float32 [2, 3], modified``."""
        body = self._body or {}
        found = _KIND.search(_value(entry))
        state = saved_look(entry.get("state", ""))
        kind = (f": {found[0]}" if found else "") + (f", {state.word}" if state in _TOLD else "")
        return f"{_WORDS[section]} {entry['name']} of {body.get('op', '')} #{body.get('node', 0)}{kind}"

    def action_fold(self) -> None:
        """Fold the value of the entry, or else its section."""
        if row := self._row_of_cursor():
            if row.entry is None or row.key not in self._opened:
                self._folded.add(row.section)
            else:
                self._opened.discard(row.key)
            self._rebuild(row.key)

    def action_unfold(self) -> None:
        """Unfold the section, or the value of the entry."""
        if row := self._row_of_cursor():
            if row.entry is None:
                self._folded.discard(row.section)
            else:
                self._opened.add(row.key)
            self._rebuild(row.key)

    def _toggle(self, row: _Row) -> None:
        if row.entry is None:
            self._folded ^= {row.section}
        else:
            self._opened ^= {row.key}
        self._rebuild(row.key)

    def _row_of_cursor(self) -> _Row | None:
        return self._list[self.cursor] if self._list else None

    def _target(self, row: _Row) -> int:
        """The node that an edge leads to; 0: none."""
        if row.entry is None or row.section != NEXT_EDGES:
            return 0
        if node := row.entry.get("node"):
            return int(node)
        found = _NODE.search(_value(row.entry)) or _NODE.search(str(row.entry["name"]))
        return int(found[1]) if found else 0

    def on_resize(self) -> None:
        """Wrap values anew."""
        if self.inner_width != self._wrapped_to and (row := self._row_of_cursor()):
            self._rebuild(row.key)
        super().on_resize()


def _value(entry: Entry) -> str:
    return str(entry.get("value", ""))


def _style(entry: Entry) -> str:
    return saved_look(entry.get("state", "")).style


def _told(value: str, look: Look) -> str:
    """A value that says in words, too, what became of it."""
    return value if look not in _TOLD or look.word in value else f"{look.word}  {value}"


def _bounded(lines: list[str], most: int, width: int) -> list[str]:
    """At most so many lines; an ellipsis says that there were more."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], crop(lines[most - 1], width - 1) + "…"]


def _place(body: Mapping[str, Any], width: int) -> Pieces:
    """The forward line: its end says most, and the source text where there is room."""
    if not body.get("file"):
        return [("made at an unknown line", ASIDE)]
    place = shorten_start(f"{body['file'].rsplit('/', 1)[-1]}:{body.get('line', 0)}", width)
    text = str(body.get("text", "")).strip()
    return [(place, ASIDE), (f"  {shorten(text, width - cells(place) - 2)}" if text else "", "")]
