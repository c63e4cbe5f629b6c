"""What went wrong, told from the trace alone: one file per kind of finding, registered in ``DIAGNOSES``.

``docs/diagnoses.md`` says what each finding rests on and how to add one.
"""

from collections.abc import Callable

from agdbg.diagnose import backward_twice, inplace, refused
from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.record import Facts

__all__ = ["DIAGNOSES", "Certainty", "Evidence", "Finding", "diagnose"]

Diagnosis = Callable[[Case], list[Found]]

#: Every diagnosis there is. Each looks at the whole trace for its own kind of trouble.
DIAGNOSES: tuple[Diagnosis, ...] = (backward_twice.findings, inplace.findings, refused.findings)


def diagnose(facts: Facts) -> list[Finding]:
    """All findings about a trace, in the order in which things went wrong; none where nothing did."""
    case = Case(facts)
    found = [each for diagnosis in DIAGNOSES for each in diagnosis(case)]
    return [each.finding for each in sorted(found, key=lambda each: each.row)]
