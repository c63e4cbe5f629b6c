"""Limits of numbers in requests: answers are paged, so that their cost follows the screen and not the graph."""

from dataclasses import dataclass

#: The most things that one request gives, ...
PAGE = 1000
#: ... the most bytes of output that it gives, ...
OUTPUT_PAGE = 262_144
#: ... and the largest terminal, in rows and in columns.
CELLS = 65_535


@dataclass(frozen=True)
class Between:
    """In ``Annotated[int, Between(low, high)]``: the number is at least ``low`` and at most ``high`` (None: any)."""

    low: int
    high: int | None = None

    def __str__(self) -> str:
        return f"of at least {self.low}" if self.high is None else f"from {self.low} to {self.high}"

    def holds(self, number: int) -> bool:
        """True when the number is within the limits."""
        return self.low <= number and (self.high is None or number <= self.high)
