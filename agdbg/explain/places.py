"""Numbers and places as explanations word them."""

from pathlib import Path

from agdbg.counted import counted as counted
from agdbg.record.lookup import Site


def place_of(site: Site, base: Path | None) -> str:
    """``file.py:12 in func``; empty when nothing is known."""
    if not site.file:
        return ""
    path = Path(site.file)
    file = str(path.relative_to(base)) if base is not None and path.is_relative_to(base) else site.file
    line = f":{site.line}" if site.line else ""
    func = f" in {site.func}" if site.func else ""
    return f"{file}{line}{func}"
