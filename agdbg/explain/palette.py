"""A few colours for terminals, or none: for files and pipes, dumb terminals, and whoever set NO_COLOR."""

import os
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True)
class Palette:
    """Wraps text in the ANSI codes of a style, or leaves it as it is."""

    coloured: bool = False

    @classmethod
    def of(cls, stream: TextIO | None) -> "Palette":
        """The palette for a stream: coloured when it is a terminal that can and nobody minds."""
        if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return cls(False)
        try:
            return cls(stream.isatty())
        except ValueError:  # it is closed
            return cls(False)

    def headline(self, text: str) -> str:
        """Style of what matters most."""
        return self._styled("1", text)

    def label(self, text: str) -> str:
        """Style of the word that says what follows."""
        return self._styled("36", text)

    def mark(self, text: str) -> str:
        """Style of what points at something."""
        return self._styled("1;31", text)

    def aside(self, text: str) -> str:
        """Style of what may be skipped."""
        return self._styled("2", text)

    def _styled(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.coloured and text else text
