"""What a program writes to its terminal, as lines: the line discipline and the colours, without a screen.

Carriage returns, backspaces, tabs and "erase in line" act on the line that is being written, so a progress bar stays
one line. Other control sequences (cursor movement, titles, bracketed paste) are left out. A sequence may be cut
anywhere between two pieces of the output: any split of a stream gives the same lines.
"""

import re
from collections import deque
from functools import lru_cache
from typing import NamedTuple

from agdbg_ui.ink import PLAIN, Ink
from agdbg_ui.text import cells, safe

#: Lines that are kept.
LINES = 10_000
#: Cells of a line; a longer one goes on in the next, as on a terminal.
COLUMNS = 4096
#: Characters of one piece that are looked at for each line that is kept; of a longer piece only the end is read.
_READ_PER_LINE = 200
_TAB = 8
#: Marks that one character may have; more make no text readable.
_MARKS = 8

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<params>[0-?]{0,256})[ -/]{0,16}(?P<final>[@-~])"  # CSI
    r"|\x1b[\]PX^_][^\x07\x18\x1b\n]*(?:\x07|\x1b\\|(?=[\x18\n]|\x1b[^\\]))"  # OSC, DCS and such: strings
    r"|\x1b(?:[ -/]{1,16}[0-~]|[0-OQ-WYZ\\`-~])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])"
    r"|\x1b(?:\[[0-?]{0,256}[ -/]{0,16}|[ -/]{1,16})?"  # something else stands in the middle of it: void
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]{0,256}[ -/]{0,16}|[\]PX^_][^\x07\x18\x1b\n]*\x1b?|[ -/]{0,16})\Z")
_STRING = re.compile(r"\x1b([\]PX^_])[^\x1b]*")
_SGR = re.compile(r"\x1b\[([0-?]*)m")


#: Cells of a character.
_width = lru_cache(maxsize=16384)(cells)


class Line(NamedTuple):
    """A line of output: its text, fit to show, and how many characters are written in which ink."""

    text: str = ""
    runs: tuple[tuple[int, Ink], ...] = ()


class TerminalLines:
    """The last lines of a terminal's output.

    Args:
        limit: finished lines that are kept; of older ones only the number is known.
    """

    def __init__(self, limit: int = LINES) -> None:
        self.limit = limit
        #: Finished lines, oldest first.
        self.lines: deque[Line] = deque(maxlen=limit)
        #: All finished lines there ever were.
        self.total = 0
        self._ink = PLAIN
        #: What stands in each cell of the line that is being written: a character with its marks, "" behind a wide one.
        self._cells: list[str] = []
        self._inks: list[Ink] = []
        self._column = 0
        self._pending = ""

    @property
    def dropped(self) -> int:
        """How many finished lines are no longer kept."""
        return self.total - len(self.lines)

    @property
    def partial(self) -> Line:
        """The line that is being written: the prompt of a program that waits for input."""
        return _line(self._cells, self._inks)

    def feed(self, text: str) -> None:
        """Take a piece of the output."""
        text = self._tail(text)
        text, self._pending = self._pending + text, ""
        *finished, last = text.split("\n")
        for segment in finished:
            self._finish_with(segment)
        if last:
            self._pending = self._write(last)

    def _tail(self, text: str) -> str:
        """The end of a piece that is far longer than what is kept; the lines before it are counted."""
        start = len(text) - self.limit * _READ_PER_LINE
        if start <= 0:
            return text
        start = text.find("\n", start, start + COLUMNS) + 1 or start
        self._pending = ""
        self._clear()
        self.total += text.count("\n", 0, start)
        self.lines.clear()
        for params in _SGR.findall(text, max(start - COLUMNS, 0), start):
            self._ink = self._ink.changed(params)
        return text[start:]

    def _finish_with(self, segment: str) -> None:
        """Write the rest of a line and end it."""
        if segment.endswith("\r"):
            segment = segment[:-1]
        if not self._column and not self._cells and 2 * len(segment) <= COLUMNS and segment.isprintable():
            text = safe(segment)
            if text.isascii() or all(map(_width, text)):  # no mark has to find what it stands on
                self._append(Line(text, ((len(text), self._ink),) if text else ()))
                return
        self._write(segment)
        self._end_line()

    def _write(self, segment: str) -> str:
        """Act on text that has no line end in it; returns the unfinished sequence at its end."""
        if segment.isprintable():
            self._put(safe(segment))
            return ""
        for match in _TOKEN.finditer(segment):
            if segment[match.start()] == "\x1b" and _UNFINISHED.match(segment, match.start()):
                return _forget_payload(segment[match.start() :])
            self._act(match)
        return ""

    def _act(self, match: re.Match[str]) -> None:
        if (text := match["text"]) is not None:
            self._put(safe(text))
        elif (final := match["final"]) is not None:
            if final == "m":
                self._ink = self._ink.changed(match["params"])
            elif final == "K":
                self._erase(match["params"])
        elif (control := match["control"]) is not None:
            self._control(control)

    def _control(self, control: str) -> None:
        if control == "\r":
            self._column = 0
        elif control == "\b":
            self._column = max(self._column - 1, 0)
        elif control == "\t":
            self._column = min((self._column // _TAB + 1) * _TAB, COLUMNS - 1)
        elif control in "\x0b\x0c":
            self._end_line()

    def _put(self, text: str) -> None:
        if text.isascii():
            while len(text) > (room := COLUMNS - self._column):
                self._overwrite(list(text[:room]))
                self._end_line()
                text = text[room:]
            if text:
                self._overwrite(list(text))
            return
        for character in text:
            width = _width(character)
            if not width:
                self._mark(character)
                continue
            if self._column + width > COLUMNS:
                self._end_line()
            self._overwrite([character, *[""] * (width - 1)])

    def _overwrite(self, written: list[str]) -> None:
        self._reach(self._column)
        end = self._column + len(written)
        self._halve(self._column)
        self._halve(end)
        self._cells[self._column : end] = written
        self._inks[self._column : end] = [self._ink] * len(written)
        self._column = end

    def _mark(self, mark: str) -> None:
        """Put a mark on the character before the cursor; one that has none before it stands on nothing, and is not shown."""
        at = self._column - 1
        if 0 <= at < len(self._cells):
            at -= not self._cells[at]  # the second cell of a wide one
            if len(self._cells[at]) <= _MARKS:
                self._cells[at] += mark

    def _halve(self, column: int) -> None:
        """Of a wide character that is written over, or erased, from its second cell on, or up to it, nothing is left."""
        if 0 < column < len(self._cells) and not self._cells[column]:
            self._cells[column - 1 : column + 1] = "  "

    def _reach(self, column: int) -> None:
        missing = column - len(self._cells)
        self._cells += " " * missing
        self._inks += [PLAIN] * missing

    def _erase(self, params: str) -> None:
        """Erase from the cursor to the end of the line, to its beginning, or all of it."""
        if params == "1":
            before = min(self._column + 1, len(self._cells))
            self._halve(before)
            self._cells[:before] = " " * before
            self._inks[:before] = [PLAIN] * before
        elif params in ("", "0", "2"):
            start = 0 if params == "2" else self._column
            self._halve(start)
            del self._cells[start:], self._inks[start:]

    def _end_line(self) -> None:
        self._append(self.partial)
        self._clear()

    def _clear(self) -> None:
        self._cells, self._inks, self._column = [], [], 0

    def _append(self, line: Line) -> None:
        self.lines.append(line)
        self.total += 1


def _line(written: list[str], inks: list[Ink]) -> Line:
    runs: list[tuple[int, Ink]] = []
    for cell, ink in zip(written, inks, strict=True):
        if runs and (runs[-1][1] is ink or runs[-1][1] == ink):
            runs[-1] = (runs[-1][0] + len(cell), ink)
        else:
            runs.append((len(cell), ink))
    return Line("".join(written), tuple(runs))


def _forget_payload(sequence: str) -> str:
    """An unfinished sequence; of a string, whose content is not used, only its beginning and a closing ESC."""
    match = _STRING.match(sequence)
    return f"\x1b{match[1]}{sequence[match.end() :]}" if match else sequence
