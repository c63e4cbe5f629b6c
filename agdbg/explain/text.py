"""An explanation as text: the cause first, then the evidence with its source lines, then what to do."""

from pathlib import Path

from agdbg.diagnose import Evidence, Finding
from agdbg.explain.excerpt import excerpt
from agdbg.explain.explanation import Explained, Explanation
from agdbg.explain.fates import Fate, words_of_predicted
from agdbg.explain.palette import Palette
from agdbg.explain.places import counted, place_of
from agdbg.explain.remarks import damage, remarks, standing_at
from agdbg.record.ending import Ending

#: Columns of ``1. `` before a finding, and of the indent of what follows.
_NUMBER = 3
#: Findings that are shown when a program ends; ``agdbg explain`` shows all.
SHOWN_AT_EXIT = 5
_FATE: dict[Fate, str] = {  # but for "predicted"
    "caught": ", caught: the program went on after this error",
    "program": ", uncaught: this error ended the program",
    "thread": ", uncaught: this error ended a thread",
    "silent": ", nothing was raised",
    "remark": ", a remark: no fault",
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
    blocks = [*damage(explanation, palette), *standing_at(explanation, base)]
    blocks += [
        "\n".join(_block(number, explained, explanation.ending, base, palette))
        for number, explained in enumerate(shown, 1)
    ]
    if len(findings) > len(shown):
        more = len(findings) - len(shown)
        blocks.append(f"... and {counted(more, 'more finding')}: agdbg explain {explanation.path}")
    blocks += remarks(explanation, base, palette)
    return "\n\n".join(blocks)


def finding_as_text(explained: Explained, ending: Ending, *, base: Path | None) -> str:
    """A finding alone: without a number, and without what is said of the whole recording."""
    text = "\n".join(_block(1, explained, ending, base, Palette()))
    return "\n".join(line[_NUMBER:] for line in text.split("\n"))


def _block(number: int, explained: Explained, ending: Ending, base: Path | None, palette: Palette) -> list[str]:
    finding = explained.finding
    width = max(len(role) for role in ["fix", *(evidence.role for evidence in finding.evidence)])
    lines = [
        f"{number}. {palette.headline(finding.cause)}",
        f"   {palette.aside(_standing(finding, explained.fate, ending))}",
    ]
    for evidence in finding.evidence:
        lines += _evidence(evidence, width, base, palette)
    if finding.fix:
        lines += _labelled("fix", finding.fix, width, palette)
    return lines


def _standing(finding: Finding, fate: Fate, ending: Ending) -> str:
    became = f", {words_of_predicted(ending)}" if fate == "predicted" else _FATE[fate]
    return f"{finding.kind}, {finding.certainty}{became}"


def _evidence(evidence: Evidence, width: int, base: Path | None, palette: Palette) -> list[str]:
    """The place, the source line with its carets, and what there is to say about it."""
    indent = " " * (3 + width + 2)
    first, *notes = [place for place in (place_of(evidence.site, base), *evidence.note.splitlines()) if place] or [""]
    lines = _labelled(evidence.role, first, width, palette)
    source, carets = excerpt(evidence.site, palette)
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
