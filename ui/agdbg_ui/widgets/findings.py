"""What went wrong: each finding with the lines that show it, every one of them a door to its place."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.message import Message

from agdbg_ui.copying import plain
from agdbg_ui.text import Pieces, apart, cells, pad, safe, shorten, shorten_name, shorten_start, width_of, wrap_phrases
from agdbg_ui.themes import ALERT, ASIDE, FAINT, LABEL, NOTICE, TITLE
from agdbg_ui.widgets.rows import Rows

Finding = Mapping[str, Any]
_INDENT = "   "
_ROLE_CELLS, _PLACE_CELLS = 14, 28
#: From so many cells on what goes on with a line stands below what it says, not below its beginning.
_WIDE = 70
#: Cells that a name in a note keeps.
_LEAST_NAME = 12
_QUOTED = re.compile(r"`([^`]+)`")
#: In so many cells each line of code is one line, and the fix is seen; a note that is cut there is above the source on Enter.
_ONE_LINE = 110
#: In place of the number of a finding: the line is of none.
_CAUTION = -1


class _Row(NamedTuple):
    """A line of the list; `evidence` is the index of the line of code that it is about, or -1.

    It `begins` what it is about, or goes on with that.
    """

    finding: int
    pieces: tuple[tuple[str, str], ...]
    evidence: int = -1
    begins: bool = False


class FindingsPane(Rows):
    """The findings of the recording.

    | Key | Does |
    | --- | --- |
    | enter | goes to the node and the line |
    | a | also what is suspicious although nothing was raised |
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("a", "more", "More", show=False)]

    class Chosen(Message):
        """A finding, or a line that shows it, is to be seen; `evidence` is None for the finding itself."""

        def __init__(self, finding: Finding, evidence: Mapping[str, Any] | None) -> None:
            super().__init__()
            self.finding, self.evidence = finding, evidence

    class MoreWanted(Message):
        """Suspicious things are wanted too, or no longer."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._findings: Sequence[Finding] = ()
        self._rows: list[_Row] = []
        self._wrapped_to = 0
        self._note = self._caution = ""
        self._is_over = False
        self.with_lints = False

    # ----- what is shown -----

    def show(self, findings: Sequence[Finding], note: str = "", is_over: bool = False) -> None:
        """Show these; `note` is said when there are none. `is_over`: what has not happened by now does not come."""
        self._note = note
        if findings != self._findings or is_over != self._is_over:
            self._findings, self._is_over = findings, is_over
            self.set_reactive(Rows.cursor, 0)
            self._rebuild()
            self.show_row(0)
        elif not findings:
            self.refresh()

    def say(self, note: str) -> None:
        """What is said while there are none."""
        if note != self._note:
            self._note = note
            self.refresh()

    def warn(self, caution: str) -> None:
        """What is said above them, or above that there are none: that not all of the recording was looked at."""
        if caution != self._caution:
            self._caution = caution
            self._rebuild()

    def forget(self) -> None:
        """Nothing was looked for yet; whether suspicious things are wanted too stays."""
        self._caution = ""
        self.show(())
        super().forget()

    @property
    def findings(self) -> Sequence[Finding]:
        """What is shown."""
        return self._findings

    def select(self, cause: str) -> None:
        """Put the cursor on the finding with that cause, if there is one."""
        for at, row in enumerate(self._rows):
            if row.begins and row.evidence < 0 and self._findings[row.finding]["cause"].partition("\n")[0] == cause:
                self.cursor = at
                self.show_row(at)  # it may have been scrolled away from
                return

    def walk(self, by: int) -> bool:
        """To the next line that shows a finding, or the one before; False when there is none."""
        there = [at for at, row in enumerate(self._rows) if row.evidence >= 0 and row.begins]
        later = [at for at in there if at > self.cursor] if by > 0 else [at for at in there if at < self.cursor]
        if not there:
            return False
        self.cursor = (later or there)[0] if by > 0 else (later or there)[-1]
        self.on_row_chosen(self.cursor)
        return True

    # ----- the list -----

    @property
    def row_count(self) -> int:
        """Lines of all findings."""
        return len(self._rows)

    @property
    def empty_text(self) -> str:
        """That there are none, or that one looks for them."""
        return f"! {self._caution}; {self._note}" if self._caution else self._note

    def row(self, index: int, width: int) -> Pieces:
        """A line."""
        return list(self._rows[index].pieces)

    def row_text(self, index: int) -> str:
        """A line, and of one of code all of it."""
        row = self._rows[index]
        if row.evidence < 0:
            return super().row_text(index)
        return plain(
            "".join(text for text, _ in _evidence(self._findings[row.finding]["evidence"][row.evidence], 1000)[0])
        )

    def on_row_chosen(self, index: int) -> None:
        """Tell what is to be seen."""
        row = self._rows[index]
        if row.finding == _CAUTION:
            return
        finding = self._findings[row.finding]
        self.post_message(self.Chosen(finding, finding["evidence"][row.evidence] if row.evidence >= 0 else None))

    def action_more(self) -> None:
        """Look for suspicious things too, or no longer."""
        self.with_lints = not self.with_lints
        self.post_message(self.MoreWanted())

    def on_resize(self) -> None:
        """Wrap anew."""
        if self.inner_width != self._wrapped_to:
            self._rebuild()
        super().on_resize()

    def _rebuild(self) -> None:
        self._wrapped_to = width = max(self.inner_width, 20)
        here = self._rows[self.cursor] if self._rows else None
        self._rows = [
            row for at, finding in enumerate(self._findings) for row in _rows(at, finding, width, self._is_over)
        ]
        if self._rows and self._caution:
            lines = wrap_phrases(f"!  {safe(self._caution)}", width, width)
            self._rows[:0] = [_Row(_CAUTION, ((line, ALERT),)) for line in lines]
        if here is not None:
            same = (
                at for at, row in enumerate(self._rows) if (row.finding, row.evidence) == (here.finding, here.evidence)
            )
            self.set_reactive(Rows.cursor, next(same, 0))
        self.rows_changed()


def _rows(number: int, finding: Finding, width: int, is_over: bool = False) -> list[_Row]:
    mark, style = _look(finding)
    room = width - len(_INDENT)
    first, *more = wrap_phrases(safe(finding["cause"].replace("\n", " ")), room, room)
    rows = [_Row(number, ((f"{mark}  ", style), (first, TITLE)), begins=True)]
    rows += [_Row(number, ((_INDENT, ""), (line, TITLE))) for line in more]
    kind = f"{finding['kind']}, {finding['certainty']}" + _fate(finding, is_over)
    rows += [_Row(number, ((_INDENT, ""), (line, ASIDE))) for line in wrap_phrases(safe(kind), room, room)]
    told = _told_apart(finding["evidence"], width)
    for at, evidence in enumerate(finding["evidence"]):
        lines = _evidence(told.get(at, evidence), width)
        rows += [_Row(number, tuple(line), at, begins=not which) for which, line in enumerate(lines)]
    fix = wrap_phrases(safe(f"fix: {finding['fix']}"), room, room) if finding.get("fix") else []
    rows += [_Row(number, ((_INDENT, ""), (line, "$text-success"))) for line in fix]
    return rows


def _look(finding: Finding) -> tuple[str, str]:
    if finding.get("lint") or finding.get("remark"):
        return "?", NOTICE
    return ("!", NOTICE) if finding.get("predicted") else ("✗", ALERT)


def _fate(finding: Finding, is_over: bool) -> str:
    if finding.get("lint"):
        return ", nothing was raised"
    if finding.get("predicted"):
        return ", had not happened when the program ended" if is_over else ", has not happened yet"
    return ", caught by the program" if finding.get("caught") else ""


def _told_apart(evidence: Sequence[Mapping[str, Any]], width: int) -> dict[int, Mapping[str, Any]]:
    """By its index each line that did the same as others of them, where it has no room beside its note: the note alone tells which
    it is, and the code stands below the first.
    """
    lines: dict[tuple[str, ...], list[int]] = {}
    for at, each in enumerate(evidence):
        if (note := _note(each)) and cells(_text(each)) + cells(note) + 4 > _room(each, width):
            lines.setdefault((each["role"], each["file"], str(each["line"]), _text(each)), []).append(at)
    told: dict[int, Mapping[str, Any]] = {}
    for places in lines.values():
        if len(places) < 2:
            continue
        room = _room(evidence[places[0]], width)
        notes = apart([_with_short_name(_note(evidence[at]), room) for at in places], room)
        for at, note in zip(places, notes, strict=True):
            told[at] = {
                **evidence[at],
                "text": note,
                "note": "",
                "code": _text(evidence[at]) if at == places[0] else "",
            }
    return told


def _with_short_name(note: str, room: int) -> str:
    """A note in which the first name has no more cells than the rest leaves it."""
    found = _QUOTED.search(note)
    if found is None or (most := room - cells(note) + cells(found[1])) < _LEAST_NAME:
        return note
    return note[: found.start(1)] + shorten_name(found[1], most) + note[found.end(1) :]


def _text(evidence: Mapping[str, Any]) -> str:
    return safe(str(evidence["text"]).strip())


def _note(evidence: Mapping[str, Any]) -> str:
    return safe(str(evidence.get("note") or "").replace("\n", "; "))


def _head(evidence: Mapping[str, Any], width: int) -> Pieces:
    role = pad(str(evidence["role"]), min(_ROLE_CELLS, max(width // 5, 8)))
    name = str(evidence["file"]).rsplit("/", 1)[-1] or "unknown"
    place = shorten_start(f"{name}:{evidence['line']}", min(_PLACE_CELLS, max(width // 3, 8)))
    return [(_INDENT, ""), (role, LABEL), (" ", ""), (place, ASIDE), ("  ", "")]


def _room(evidence: Mapping[str, Any], width: int) -> int:
    """Cells for what is said of a line, behind its place."""
    return width - width_of(_head(evidence, width)) - 2


def _evidence(evidence: Mapping[str, Any], width: int) -> list[Pieces]:
    """``saved  train.py:10  the line  (a note)``; a note that has no room there stands below."""
    pieces, room = _head(evidence, width), _room(evidence, width)
    role, text, note = pieces[1][0], _text(evidence), _note(evidence)
    below: list[str] = []
    indent = _INDENT + " " * (cells(role) + 1) if width >= _WIDE else _INDENT * 2
    if note and cells(text) + cells(note) + 4 > room and width < _ONE_LINE and not _is_name(note):
        said = wrap_phrases(f"({note})" if text else note, width - len(indent) if text else room, width - len(indent))
        said = said[not said[0] :]  # a word that is longer than a line leaves that before it empty
        text, said = (text, said) if text else (said[0], said[1:])
        below = [indent + line for line in said]
    elif note:
        text = f"{text}  ({note})" if text else note
    elif (code := evidence.get("code")) and width < _ONE_LINE:
        below = [indent + shorten(code, width - len(indent))]
    shown = shorten_name(text, room) if _is_name(text) else shorten(text, room)
    return [[*pieces, (shown, ""), (" →", FAINT)], *([(line, ASIDE)] for line in below)]


def _is_name(text: str) -> bool:
    """Whether it is one long name and no text."""
    return "." in text and " " not in text
