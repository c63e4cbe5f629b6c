"""Put the connected parts of a drawing side by side on shelves, in their own order."""

from collections.abc import Sequence
from math import sqrt

ASPECT = 1.6
"""Width to height that a drawing of many parts aims at."""


def pack(sizes: Sequence[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Return the left top corner of each (width, height), so that none comes nearer than `gap` to another."""
    area = sum((width + gap) * (height + gap) for width, height in sizes)
    limit = max(max((width for width, _ in sizes), default=0.0), sqrt(area * ASPECT))
    corners = []
    x = y = shelf = 0.0
    for width, height in sizes:
        if x and x + width > limit:
            x, y, shelf = 0.0, y + shelf + gap, 0.0
        corners.append((x, y))
        x += width + gap
        shelf = max(shelf, height)
    return corners
