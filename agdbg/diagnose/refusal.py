"""What all findings about refusals share: the line that was refused, and what it would have written to."""

from agdbg.diagnose.case import Failure
from agdbg.diagnose.finding import Certainty, Evidence, Finding
from agdbg.diagnose.source import expression
from agdbg.diagnose.words import Lines
from agdbg.diagnose.writes import write
from agdbg.record.facts import ErrorFact


def finding(failure: Failure, cause: str, evidence: list[Evidence], certainty: Certainty, fix: str) -> Finding:
    """The finding about a refusal."""
    nodes = dict.fromkeys([failure.first.node, failure.last.node])
    return Finding(failure.first.kind, cause, tuple(evidence), tuple(n for n in nodes if n), certainty, fix)


def refused(failure: Failure, note: str) -> Evidence:
    """The line that was refused, with how often."""
    times = f"\nthe same error came {failure.count:,} times" if failure.count > 1 else ""
    return Evidence("refused", failure.first.site, note + times)


def writing(error: ErrorFact) -> str:
    """The beginning of a cause: the write, its line, and ``writes into``."""
    text = write(error.site).text or expression(error.site)
    return f"{f'`{text}`' if text else 'An in-place op'}{Lines(error.site).at(error.site)} writes into"
