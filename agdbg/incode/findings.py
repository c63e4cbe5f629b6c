"""Findings as an object that shows itself: in a terminal, in a notebook, as JSON."""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from agdbg.diagnose.finding import Finding


class Findings(list[Finding]):
    """A list of findings; ``str()`` of it is what ``agdbg explain`` prints.

    Args:
        findings: they.
        nothing: what is said where there are none.
    """

    def __init__(self, findings: Iterable[Finding] = (), nothing: str = "nothing was found") -> None:
        super().__init__(findings)
        self._nothing = nothing

    def __str__(self) -> str:
        from agdbg.explain.explanation import Explained, Explanation
        from agdbg.explain.text import as_text

        if not self:
            return self._nothing
        explained = [Explained(finding, None) for finding in self]
        return as_text(Explanation(Path(), explained, 0, 0, []), base=_here())

    def __repr__(self) -> str:
        return f"<Findings: {', '.join(f'{each.kind} ({each.certainty})' for each in self) or self._nothing}>"

    def as_json(self) -> list[dict[str, Any]]:
        """The findings in values that JSON knows, as in ``docs/explain-json.md``."""
        from agdbg.explain.explanation import finding_as_json

        return [finding_as_json(each) for each in self]

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text("Findings(...)" if cycle else str(self))


def _here() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None
