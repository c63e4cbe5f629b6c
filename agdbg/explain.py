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
    fatal = _fatal_error(facts)
    findings = [Explained(finding, _caught(finding, facts, fatal)) for finding in diagnose(facts)]
    return Explanation(trace.path, findings, len(facts.node_ids), len(facts.passes), trace.problems)


def _fatal_error(facts: Facts) -> ErrorFact | None:
    """The error that ended the program: the last one whose message is in the chain of the uncaught error."""
    ended = facts.trace.meta.get("exit")
    uncaught = ended.get("uncaught") if isinstance(ended, dict) else None
    chain = uncaught.get("chain") if isinstance(uncaught, dict) else None
    messages = {_first_line(str(message)) for message in chain} if isinstance(chain, list) else set()
    matching = [error for error in facts.errors if _first_line(error.text) in messages]
    return matching[-1] if matching else None


def _caught(finding: Finding, facts: Facts, fatal: ErrorFact | None) -> bool | None:
    """Whether the program survived the errors that a finding is about."""
    about = [error for error in facts.errors if _is_about(finding, error)]
    if not about or not facts.trace.closed:
        return None
    return fatal not in about


def _is_about(finding: Finding, error: ErrorFact) -> bool:
    return error.kind == finding.kind and (error.node in finding.nodes or not error.node)


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
