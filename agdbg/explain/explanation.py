"""What a trace explains: the findings of the diagnoses, what became of each error, and what is missing."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agdbg.diagnose import Evidence, Finding, bad_values, diagnose, diagnose_predicted, lint, remarks
from agdbg.events import Kind
from agdbg.explain.fates import Fate, Undiagnosed, fates, is_recorded, uncaught_of, undiagnosed
from agdbg.explain.stop_finding import findings_of
from agdbg.record import Facts, Trace
from agdbg.record.ending import CLOSED, Ending, ending_of
from agdbg.record.stopped import stopped_in

FORMAT = "agdbg-findings"
VERSION = 1


@dataclass(frozen=True)
class Explained:
    """A finding, and what became of its error."""

    finding: Finding
    fate: Fate


@dataclass(frozen=True)
class Explanation:
    """All that a trace explains.

    Attributes:
        path: the trace.
        findings: what was diagnosed.
        nodes, passes: how much was recorded.
        problems: what of the trace is lost or damaged.
        undiagnosed: recorded errors of which no finding speaks.
        uncaught: ``Type: message`` of the error that ended the program when it is none of the recorded ones.
        ending: how the recording ended.
        left_out: how many findings and errors are there and were not asked for.
        stands_at: the one of the ``undiagnosed`` at which the program stands: it is told first.
        unseen: how to find what raises no error, when that was not looked for; empty when it was.
    """

    path: Path
    findings: list[Explained]
    nodes: int
    passes: int
    problems: list[str]
    undiagnosed: list[Undiagnosed] = field(default_factory=list)
    uncaught: str = ""
    ending: Ending = CLOSED
    left_out: int = 0
    unseen: str = ""
    stands_at: Undiagnosed | None = None

    @property
    def is_incomplete(self) -> bool:
        """True when there may be, or was, more than the trace holds."""
        return bool(self.problems or str(self.ending))


def explain(path: str | os.PathLike[str], *, lints: bool = False, notes: bool = False) -> Explanation:
    """Read the trace in the directory ``path`` and diagnose it.

    Args:
        path: the trace.
        lints: also tell what is wrong or suspicious although nothing was raised.
        notes: also tell what is worth knowing and no fault.

    Raises:
        TraceError: there is no trace there, or not one that this version reads.
    """
    return explain_facts(Facts(Trace.open(path)), lints=lints, notes=notes)


def explain_facts(facts: Facts, *, lints: bool = False, notes: bool = False, bad: bool = False) -> Explanation:
    """Diagnose a trace that is open already; ``bad``: of the lints at least what tells of NaN and Inf.

    For what a debugger has stopped the program is told in any case.
    """
    trace = facts.trace
    stopped = stopped_in(trace.path)
    findings = diagnose(facts)
    explained = [Explained(*pair) for pair in zip(findings, fates(findings, facts), strict=True)]
    explained.sort(key=lambda each: each.fate != "program")  # what ended it matters most, whatever it caught before
    explained += [Explained(finding, "predicted") for finding in diagnose_predicted(facts)]
    silent = findings_of(facts, stopped.stops)
    others = lint(facts) if lints else bad_values(facts) if bad else []
    silent += [finding for finding in others if finding not in silent]
    explained += [Explained(finding, "silent") for finding in silent if finding not in findings]
    if notes:
        explained += [Explained(finding, "remark") for finding in remarks(facts)]
    return Explanation(
        trace.path,
        explained,
        len(facts.node_ids),
        len(facts.passes),
        [*trace.problems, *stopped.problems],
        undiagnosed(findings, facts),
        _foreign_error(facts),
        ending_of(trace),
        unseen=_unseen(facts, lints),
    )


def _unseen(facts: Facts, lints: bool) -> str:
    """How to look for what raises no error; a NaN in values that were not recorded is found by no look at the trace."""
    if not len(facts.rows(Kind.SUMMARY)):
        return (
            "values were not recorded: NaN and what else raises no error is found by agdbg lint, or with --also values"
        )
    return "" if lints else "NaN and what else raises no error is told by agdbg explain --all"


def _foreign_error(facts: Facts) -> str:
    """The error that ended the program, when it is no recorded one."""
    uncaught = uncaught_of(facts.trace)
    if uncaught is None or is_recorded(uncaught, facts):
        return ""
    lines = str(uncaught.get("message") or "").splitlines()
    return ": ".join([str(uncaught.get("type")), *lines[:1]])


def as_json(explanation: Explanation) -> dict[str, Any]:
    """The explanation in values that JSON knows; ``docs/explain-json.md`` is its schema."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "trace": str(explanation.path),
        "nodes": explanation.nodes,
        "passes": explanation.passes,
        "problems": explanation.problems,
        "state": explanation.ending.state,
        "ending": str(explanation.ending),
        "uncaught": explanation.uncaught,
        "undiagnosed": [undiagnosed_as_json(each) for each in explanation.undiagnosed],
        "findings": [_finding(explained) for explained in explanation.findings],
    }


def undiagnosed_as_json(each: Undiagnosed) -> dict[str, Any]:
    """An error of which no finding speaks, in values that JSON knows."""
    site = each.error.site
    return {
        "kind": each.error.kind,
        "text": each.error.text,
        "count": each.count,
        "caught": _is_caught(each.fate),
        "ended": _ended(each.fate),
        "file": site.file,
        "line": site.line,
    }


def _is_caught(fate: Fate) -> bool | None:
    return None if fate in (None, "predicted", "silent", "remark") else fate == "caught"


def _ended(fate: Fate) -> str | None:
    return fate if fate in ("program", "thread") else None


def finding_as_json(finding: Finding) -> dict[str, Any]:
    """One finding of which nothing else is known, in values that JSON knows."""
    return _finding(Explained(finding, None))


def _finding(explained: Explained) -> dict[str, Any]:
    finding = explained.finding
    return {
        "kind": finding.kind,
        "cause": finding.cause,
        "certainty": finding.certainty,
        "fix": finding.fix,
        "caught": _is_caught(explained.fate),
        "ended": _ended(explained.fate),
        "predicted": explained.fate == "predicted",
        "lint": explained.fate == "silent",
        "remark": explained.fate == "remark",
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
        "node": evidence.node,
    }
