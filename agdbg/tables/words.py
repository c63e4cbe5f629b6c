"""The words of many records at once."""

from typing import Any

import numpy as np
import numpy.typing as npt

from agdbg.events import Kind
from agdbg.record import Facts

Words = npt.NDArray[np.uint64]

LOW, HIGH = np.uint64((1 << 32) - 1), np.uint64(32)
NODE, OUTPUT = np.uint64((1 << 48) - 1), np.uint64(48)
PROVENANCE = ("observed", "inferred", "unknown", "unknown")
_BYTE = np.uint64(255)


class Told:
    """The records of one kind, void ones left out."""

    def __init__(self, facts: Facts, kind: Kind, rows: Any = None) -> None:
        found = facts.rows(kind) if rows is None else rows
        if facts.void and rows is None:
            found = found[~np.isin(found, np.fromiter(facts.void, np.int64))]
        self.rows = found
        self.records = facts.trace.records[found]
        self._trace = facts.trace

    def __getitem__(self, word: int) -> Words:
        """A whole word."""
        found: Words = self.records[:, word]
        return found

    @property
    def a(self) -> Words:
        """The small number ``a``."""
        return self.records[:, 0] >> np.uint64(16) & _BYTE

    @property
    def b(self) -> Words:
        """The small number ``b``."""
        return self.records[:, 0] >> np.uint64(24) & _BYTE

    @property
    def flags(self) -> Words:
        """The flags."""
        return self.records[:, 0] >> np.uint64(8) & _BYTE

    @property
    def thread(self) -> Words:
        """The thread."""
        return self.records[:, 0] >> HIGH

    def site(self, word: int) -> Words:
        """The string ids of places."""
        return self[word] & LOW

    def op(self, word: int) -> list[str]:
        """The names of ops."""
        return self._named(self[word] >> HIGH, lambda number: self._trace.op(number).name)

    def text(self, word: int, half: int | None = None) -> list[str]:
        """Texts: of a whole word, or of its low (0) or high (1) half."""
        numbers = self[word] if half is None else self[word] >> HIGH if half else self[word] & LOW
        return self._named(numbers, self._trace.text)

    def node(self, word: int) -> Words:
        """The nodes of EDGE words."""
        return self[word] & NODE

    def output(self, word: int) -> Words:
        """The output numbers of EDGE words."""
        return self[word] >> OUTPUT

    def floats(self, word: int) -> list[float]:
        """Words that hold floats."""
        found: list[float] = np.ascontiguousarray(self[word]).view(np.float64).tolist()
        return found

    @staticmethod
    def _named(numbers: Words, name: Any) -> list[str]:
        unique, inverse = np.unique(numbers, return_inverse=True)
        names = [name(number) for number in unique.tolist()]
        return [names[at] for at in inverse.tolist()]


def words(numbers: Words, names: tuple[str, ...]) -> list[str]:
    """Small numbers in words; one that is too big is the last."""
    last = len(names) - 1
    return [names[min(number, last)] for number in numbers.tolist()]
