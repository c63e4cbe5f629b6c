"""Why rows of ``benchmarks/ops.py`` take more than three times as long as in PyTorch, by pattern of their names."""

from __future__ import annotations

from fnmatch import fnmatchcase

REASONS: dict[str, str] = {}


def reason(name: str) -> str:
    """Why the row of this name stays above 3."""
    found = [why for patterns, why in REASONS.items() if any(fnmatchcase(name, p) for p in patterns.split())]
    return found[0] if found else "small shapes: the checks and the record of a call; else not looked at"
