"""What is shown on a terminal that is too small for anything else."""

from rich.text import Text
from textual.widget import Widget


class TooSmall(Widget):
    """Says how large the terminal is, and how large it must be.

    Args:
        columns, rows: the least.
    """

    def __init__(self, columns: int, rows: int, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._least = columns, rows

    def render(self) -> Text:
        """The two sizes."""
        size, (columns, rows) = self.app.size, self._least
        return Text(f"too small: {size.width} x {size.height}\nagdbg needs {columns} x {rows}", justify="center")
