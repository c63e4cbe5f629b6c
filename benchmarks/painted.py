"""What a terminal shows, from the bytes that an app of Textual's writes: characters in their styles, where the cursor was moved."""

from __future__ import annotations

import codecs
import re

#: Moves of the cursor, styles, whatever else is asked of a terminal (which changes no cell), and ends of lines.
_CONTROL = re.compile(
    r"\x1b\[(?P<row>\d+);(?P<column>\d+)H|\x1b\[(?P<style>[\d;:]*)m|\x1b\[[^@-~]*[@-~]|\x1b[\]P].*?(?:\x07|\x1b\\)|\x1b[^\[\]P]|(?P<end>[\r\n])",
    re.DOTALL,
)
_CUT = re.compile(r"\x1b(?:\[[^@-~]*|[\]P][^\x07]*)?\Z")


class Painted:
    """The cells of a screen: of each, by row and column from 1 on, the character and the style it was written in.

    That is all that Textual needs of a terminal: it neither scrolls nor erases. Every character counts as one cell wide.
    """

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], tuple[str, str]] = {}
        self._row = self._column = 1
        self._style = self._rest = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, written: bytes) -> None:
        """What came from the app. A sequence that is cut off waits for the rest of it."""
        text = self._rest + self._decoder.decode(written)
        cut = _CUT.search(text)
        text, self._rest = (text[: cut.start()], text[cut.start() :]) if cut else (text, "")
        at = 0
        for control in _CONTROL.finditer(text):
            self._put(text[at : control.start()])
            at = control.end()
            if control["row"]:
                self._row, self._column = int(control["row"]), int(control["column"])
            elif control["style"] is not None:
                self._style = "" if control["style"] in ("", "0") else self._style + ";" + control["style"]
            elif control["end"]:
                self._row, self._column = self._row + (control["end"] == "\n"), 1
        self._put(text[at:])

    def _put(self, text: str) -> None:
        for character in text:
            self.cells[self._row, self._column] = character, self._style
            self._column += 1

    def lines(self) -> list[str]:
        """The characters without their styles, row by row."""
        rows = max((row for row, _ in self.cells), default=0)
        columns = max((column for _, column in self.cells), default=0)
        return [
            "".join(self.cells.get((row, column), (" ", ""))[0] for column in range(1, columns + 1)).rstrip()
            for row in range(1, rows + 1)
        ]
