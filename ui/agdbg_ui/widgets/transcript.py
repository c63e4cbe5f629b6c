"""What was said at the console: each line with its answer, the newest below."""

from collections import deque

from agdbg_ui.text import Pieces, expand, safe, wrap_hanging
from agdbg_ui.themes import ALERT, LABEL
from agdbg_ui.widgets.rows import Rows

#: Lines that are kept.
KEPT = 10_000


class Transcript(Rows):
    """The lines typed at ``:`` and their answers, which scroll; Enter opens the line again."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._said: deque[tuple[str, str]] = deque(maxlen=KEPT)
        self._lines: list[tuple[str, str]] = []
        self._wrapped_to = 0

    def add(self, line: str, answer: str, bad: bool = False) -> None:
        """A line and what came of it."""
        follow = self.cursor >= self.row_count - 1
        self._said.append((f": {line}", LABEL))
        self._said.extend((text, ALERT if bad else "") for text in answer.split("\n") if answer)
        self._wrap()
        self.rows_changed()
        if follow:
            self.cursor = self.row_count - 1

    @property
    def lines(self) -> list[str]:
        """All that is kept, before it is wrapped."""
        return [text for text, _ in self._said]

    @property
    def row_count(self) -> int:
        """Lines as they are wrapped."""
        return len(self._lines)

    @property
    def empty_text(self) -> str:
        """How to begin."""
        return "nothing was asked yet; : begins, help lists the commands"

    def row(self, index: int, width: int) -> Pieces:
        """A line."""
        return [self._lines[index]]

    def row_text(self, index: int) -> str:
        """A line as it was said."""
        return self._lines[index][0].strip()

    def on_resize(self) -> None:
        """Wrap anew."""
        if self.inner_width != self._wrapped_to:
            at_end = self.cursor >= self.row_count - 1
            self._wrap()
            self.rows_changed()
            if at_end:
                self.cursor = self.row_count - 1
        super().on_resize()

    def _wrap(self) -> None:
        self._wrapped_to = width = self.inner_width
        self._lines = [
            (part, style) for text, style in self._said for part in wrap_hanging(safe(expand(text)), width or 200)
        ]
