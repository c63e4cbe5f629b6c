"""What a stream can show: a few colours on terminals, or none (files and pipes, dumb terminals, NO_COLOR); its characters."""

import os
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True)
class Palette:
    """Wraps text in the ANSI codes of a style, or leaves it as it is.

    Attributes:
        coloured: the stream shows colours.
        encoding: that of the stream; a character that it lacks is written as its number, ``\\xe9``.
    """

    coloured: bool = False
    encoding: str = "utf-8"

    @classmethod
    def of(cls, stream: TextIO | None) -> "Palette":
        """The palette for a stream: coloured when it is a terminal that can and nobody minds."""
        encoding = getattr(stream, "encoding", None) or "utf-8"
        if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return cls(False, encoding)
        try:
            return cls(stream.isatty(), encoding)
        except ValueError:  # it is closed
            return cls(False, encoding)

    def written(self, text: str) -> str:
        """What the stream will show of a text: what must stand below a place in it is counted by that."""
        return text if text.isascii() else text.encode(self.encoding, "backslashreplace").decode(self.encoding)

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
