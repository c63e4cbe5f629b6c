"""An explanation as text: the cause first, then the evidence with its source lines, then what to do."""

from pathlib import Path

from agdbg.diagnose import Evidence, Finding
from agdbg.explain.excerpt import excerpt
from agdbg.explain.explanation import Explained, Explanation
from agdbg.explain.palette import Palette
from agdbg.record.lookup import Site

#: Findings that are shown when a program ends; ``agdbg explain`` shows all.
SHOWN_AT_EXIT = 5
_FATE = {
    True: ", caught: the program went on after this error",
    False: ", uncaught: this error ended the program",
    None: "",
}


def as_text(
    explanation: Explanation, *, base: Path | None, palette: Palette | None = None, limit: int | None = None
) -> str:
    """Render an explanation; lines are joined by LF, without one at the end.

    Args:
        explanation: what to render.
        base: files below this directory are named from there; None: all are absolute.
        palette: the colours; None: none.
        limit: show so many findings and say how many there are besides; None: all.
    """
    palette = palette or Palette()
    findings = explanation.findings
    shown = findings if limit is None else findings[:limit]
    blocks = ["\n".join(_block(number, explained, base, palette)) for number, explained in enumerate(shown, 1)]
    if len(findings) > len(shown):
        more = len(findings) - len(shown)
        blocks.append(f"... and {counted(more, 'more finding')}: agdbg explain {explanation.path}")
    if not findings:
        recorded = f"{counted(explanation.nodes, 'node')}, {counted(explanation.passes, 'backward pass', 'es')}"
        blocks.append(f"nothing to explain: {recorded} recorded, no error")
    if explanation.problems:
        blocks.append("\n".join(palette.aside(f"trace damaged: {problem}") for problem in explanation.problems))
    return "\n\n".join(blocks)


def counted(number: int, noun: str, plural: str = "s") -> str:
    """``1 node``, ``2 nodes``, ``1,000 nodes``."""
    return f"{number:,} {noun}{'' if number == 1 else plural}"


def _block(number: int, explained: Explained, base: Path | None, palette: Palette) -> list[str]:
    finding = explained.finding
    width = max(len(role) for role in ["fix", *(evidence.role for evidence in finding.evidence)])
    lines = [
        f"{number}. {palette.headline(finding.cause)}",
        f"   {palette.aside(_standing(finding, explained.caught))}",
    ]
    for evidence in finding.evidence:
        lines += _evidence(evidence, width, base, palette)
    if finding.fix:
        lines += _labelled("fix", finding.fix, width, palette)
    return lines


def _standing(finding: Finding, caught: bool | None) -> str:
    return f"{finding.kind}, {finding.certainty}{_FATE[caught]}"


def _evidence(evidence: Evidence, width: int, base: Path | None, palette: Palette) -> list[str]:
    """The place, the source line with its carets, and what there is to say about it."""
    indent = " " * (3 + width + 2)
    first, *notes = [place for place in (place_of(evidence.site, base), *evidence.note.splitlines()) if place] or [""]
    lines = _labelled(evidence.role, first, width, palette)
    source, carets = excerpt(evidence.site)
    if source:
        lines.append(f"{indent}    {source}")
    if carets:
        lines.append(f"{indent}    {palette.mark(carets)}")
    return lines + [f"{indent}{note}" for note in notes]


def _labelled(label: str, text: str, width: int, palette: Palette) -> list[str]:
    indent = " " * (3 + width + 2)
    first, *rest = text.splitlines() or [""]
    return [
        f"   {palette.label(label.ljust(width))}  {first}".rstrip(),
        *(f"{indent}{line}" for line in rest),
    ]


def place_of(site: Site, base: Path | None) -> str:
    """``file.py:12 in func``; empty when nothing is known."""
    if not site.file:
        return ""
    path = Path(site.file)
    file = str(path.relative_to(base)) if base is not None and path.is_relative_to(base) else site.file
    line = f":{site.line}" if site.line else ""
    func = f" in {site.func}" if site.func else ""
    return f"{file}{line}{func}"
