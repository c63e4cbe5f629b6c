"""What a trace explains: the findings of the diagnoses, and whether the program dealt with each error."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agdbg.diagnose import Evidence, Finding, diagnose
from agdbg.record import Facts, Trace
from agdbg.record.facts import ErrorFact

FORMAT = "agdbg-findings"
VERSION = 1


@dataclass(frozen=True)
class Explained:
    """A finding, and what became of its error.

    Attributes:
        caught: True when the program went on after the error, False when the error ended it; None when there
            was no error, or the trace does not say how the program ended.
    """

    finding: Finding
    caught: bool | None


@dataclass(frozen=True)
class Explanation:
    """All that a trace explains. ``problems`` says what of the trace is lost or damaged."""

    path: Path
    findings: list[Explained]
    nodes: int
    passes: int
    problems: list[str]


def explain(path: str | os.PathLike[str]) -> Explanation:
    """Read the trace in the directory ``path`` and diagnose it.

    Raises:
        TraceError: there is no trace there, or not one that this version reads.
    """
    trace = Trace.open(path)
    facts = Facts(trace)
    findings = diagnose(facts)
    explained = [Explained(*pair) for pair in zip(findings, _fates(findings, facts), strict=True)]
    return Explanation(trace.path, explained, len(facts.node_ids), len(facts.passes), trace.problems)


def _fates(findings: list[Finding], facts: Facts) -> list[bool | None]:
    """For each finding whether its error was caught; None where there is none, or nothing to tell it by."""
    kinds = {error.kind for error in facts.errors}
    fates = [True if finding.kind in kinds and facts.trace.closed else None for finding in findings]
    fatal = _fatal_error(facts)
    if fatal is not None:
        about = max(range(len(findings)), key=lambda at: _likeness(findings[at], fatal, facts), default=None)
        if about is not None and _likeness(findings[about], fatal, facts):
            fates[about] = False
    return fates


def _fatal_error(facts: Facts) -> ErrorFact | None:
    """The error that ended the program: the last one that is in the chain of the uncaught error."""
    ended = facts.trace.meta.get("exit")
    uncaught = ended.get("uncaught") if isinstance(ended, dict) else None
    chain = uncaught.get("chain") if isinstance(uncaught, dict) else None
    told = {_first_line(str(error)) for error in chain} if isinstance(chain, list) else set()
    matching = [error for error in facts.errors if _first_line(error.text) in told]
    return matching[-1] if matching else None


def _likeness(finding: Finding, error: ErrorFact, facts: Facts) -> int:
    """How well a finding fits an error, 0 for not at all: a finding stands for all repeats of its error."""
    if finding.kind != error.kind:
        return 0
    node = facts.node(error.node)
    sites = [evidence.site for evidence in finding.evidence]
    return 1 + 4 * (error.node in finding.nodes) + 2 * (error.site in sites) + (node is not None and node.site in sites)


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()


def as_json(explanation: Explanation) -> dict[str, Any]:
    """The explanation in values that JSON knows; ``docs/explain-json.md`` is its schema."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "trace": str(explanation.path),
        "nodes": explanation.nodes,
        "passes": explanation.passes,
        "problems": explanation.problems,
        "findings": [_finding(explained) for explained in explanation.findings],
    }


def _finding(explained: Explained) -> dict[str, Any]:
    finding = explained.finding
    return {
        "kind": finding.kind,
        "cause": finding.cause,
        "certainty": finding.certainty,
        "fix": finding.fix,
        "caught": explained.caught,
        "nodes": list(finding.nodes),
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    site = evidence.site
    return {
        "role": evidence.role,
        "note": evidence.note,
        "file": site.file,
        "line": site.line,
        "end_line": site.end_line,
        "col": site.col,
        "end_col": site.end_col,
        "func": site.func,
        "text": site.text,
    }
