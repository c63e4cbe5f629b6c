"""What went wrong, told from the trace alone: one file per kind of finding, registered in ``DIAGNOSES``.

``docs/diagnoses.md`` says what each finding rests on and how to add one.
"""

from collections.abc import Callable

from agdbg.diagnose import (
    backward_twice,
    inplace,
    not_a_number,
    only_once,
    rebuilt,
    refused,
    strict_write,
    unused_input,
    wrong_gradient,
)
from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.record import Facts
from agdbg.record.facts import ErrorFact

__all__ = ["DIAGNOSES", "Certainty", "Evidence", "Finding", "diagnose", "diagnose_predicted", "finding_of"]

Diagnosis = Callable[[Case], list[Found]]

#: Every diagnosis there is. Each looks at the whole trace for its own kind of trouble.
DIAGNOSES: tuple[Diagnosis, ...] = (
    backward_twice.findings,
    inplace.findings,
    refused.findings,
    wrong_gradient.findings,
    unused_input.findings,
    not_a_number.findings,
    strict_write.findings,
    rebuilt.findings,
    only_once.findings,
)


def diagnose(facts: Facts) -> list[Finding]:
    """All findings about a trace, in the order in which things went wrong; none where nothing did."""
    return _all(Case(facts))


def diagnose_predicted(facts: Facts) -> list[Finding]:
    """What is found about the predicted errors that never came, in the order in which they were predicted.

    An error came when one of the same kind at the same node was raised later.
    """
    missing = [error for error in facts.predicted if not any(_came_true(error, raised) for raised in facts.errors)]
    return _all(Case(facts, missing)) if missing else []


def finding_of(facts: Facts, error: ErrorFact) -> Finding | None:
    """What is found about one error, raised or predicted, as if there were no other; None when nothing is."""
    return next(iter(_all(Case(facts, [error]))), None)


def _came_true(predicted: ErrorFact, raised: ErrorFact) -> bool:
    return raised.row > predicted.row and (raised.kind, raised.node) == (predicted.kind, predicted.node)


def _all(case: Case) -> list[Finding]:
    found = [each for diagnosis in DIAGNOSES for each in diagnosis(case)]
    return [each.finding for each in sorted(found, key=lambda each: each.row)]
