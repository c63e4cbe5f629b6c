"""Durations, bytes and shares in few cells; curves as one line of bars."""

from collections.abc import Sequence
from itertools import pairwise

from agdbg.norm import Norm

HEIGHTS = "▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def duration(ns: int) -> str:
    """A duration in words."""
    for unit, factor in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= factor:
            return f"{ns / factor:.1f} {unit}" if ns < 100 * factor else f"{ns / factor:,.0f} {unit}"
    return f"{ns} ns"


def share(part: int, whole: int) -> str:
    """A part in percent; what is there at all is not none, and what is not all is not all."""
    if not part or not whole:
        return "0%"
    percent = 100 * part / whole
    return "<1%" if percent < 1 else ">99%" if 99 < percent < 100 else f"{percent:.0f}%"


def curve(values: Sequence[float], width: int) -> str:
    """A line of bars, each the greatest value of its part; of few values each takes one cell."""
    if not values or width <= 0:
        return ""
    cells = min(width, len(values))
    bounds = [at * len(values) // cells for at in range(cells + 1)]
    parts = [max(values[first:end]) for first, end in pairwise(bounds)]
    most = max(parts)
    return "".join(HEIGHTS[round(part / most * 7)] if most > 0 and part > 0 else " " for part in parts)


def bar(part: float, width: int) -> str:
    """A bar that takes a part of `width` cells, to an eighth of one; what is there at all is seen."""
    eighths = max(round(min(part, 1.0) * width * 8), 1 if part > 0 else 0)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def norm_words(norm: Norm | None) -> str:
    """``|g| 0.0123``, ``|g| nan !``; nothing where it is not known."""
    return "" if norm is None else f"|g| {float(norm):.3g}" + (" !" if is_bad(norm) else "")


def is_bad(norm: Norm | None) -> bool:
    """Whether a norm says that there was a NaN or an Inf."""
    return isinstance(norm, str)
