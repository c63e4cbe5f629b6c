"""Why rows of ``benchmarks/ops.py`` take more than three times as long as in PyTorch: the table in docs/ops-speed.md, by name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "ops-speed.md"
HEAD = "| op | shape | reason |"


@cache
def table() -> dict[str, str]:
    """Shape and reason by the names in the first column, which are those of rows without a namespace, or begin them."""
    found: dict[str, str] = {}
    for line in PAGE.read_text(encoding="utf-8").partition(HEAD)[2].strip().splitlines()[1:]:
        if not line.startswith("|"):
            break
        names, shape, why = (cell.strip() for cell in line.strip("| ").split(" | ", 2))
        for name in names.split(", "):
            found.setdefault(name.split()[0], f"{shape}: {why}")
    return found


OF_A_CALL = "small: checks of arguments in Python and the record of a call take 3 to 10 µs"


def reason(name: str, small_only: bool) -> str:
    """Why the row of this name stays above 3, at small shapes only or at others too."""
    plain = re.sub(r"^(F|nn|linalg|fft|special)\.", "", name)
    known = table()
    for of in (plain, plain.partition("(")[0]):
        if of in known:
            return known[of]
    begins = [of for of in known if plain.startswith(of)]
    if begins:
        return known[max(begins, key=len)]
    return OF_A_CALL if small_only else "no reason known: look at it"
