"""What went wrong, told from the trace alone: one file per kind of finding, registered in ``DIAGNOSES`` or ``LINTS``.

``docs/diagnoses.md`` says what each finding rests on and how to add one.
"""

from collections.abc import Callable

from agdbg.diagnose import (
    backward_twice,
    early_read,
    flow,
    function_lint,
    gradcheck,
    gradient_casts,
    growth,
    harmless_write,
    higher,
    hook_result,
    hooks,
    inference,
    inplace,
    never_run,
    no_gradient,
    nonfinite,
    nonleaf,
    not_a_number,
    not_implemented,
    not_optimized,
    only_once,
    penalty,
    rebuilt,
    recomputation,
    refused,
    silent_write,
    strict_write,
    unused_input,
    wrong_gradient,
    zero_gradient,
)
from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.progress import report
from agdbg.record import Facts
from agdbg.record.facts import ErrorFact

__all__ = [
    "DIAGNOSES",
    "LINTS",
    "REMARKS",
    "Certainty",
    "Evidence",
    "Finding",
    "bad_values",
    "diagnose",
    "diagnose_predicted",
    "finding_of",
    "lint",
    "remarks",
]

Diagnosis = Callable[[Case], list[Found]]

#: Every diagnosis there is. Each looks at the whole trace for its own kind of trouble.
DIAGNOSES: tuple[Diagnosis, ...] = (
    backward_twice.findings,
    inplace.findings,
    refused.findings,
    inference.findings,
    wrong_gradient.findings,
    hook_result.findings,
    unused_input.findings,
    not_a_number.findings,
    strict_write.findings,
    rebuilt.findings,
    only_once.findings,
    gradcheck.findings,
    not_implemented.findings,
)

#: What looks for trouble that raised nothing: a program may end well and yet be wrong. Silent on correct programs.
LINTS: tuple[Diagnosis, ...] = (
    nonfinite.findings,
    no_gradient.findings,
    nonleaf.findings,
    zero_gradient.findings,
    not_optimized.findings,
    silent_write.findings,
    flow.findings,
    higher.findings,
    penalty.findings,
    hooks.findings,
    early_read.findings,
    function_lint.findings,
    gradient_casts.findings,
    recomputation.findings,
    growth.findings,
)

#: What is worth knowing and no fault, told on request only.
REMARKS: tuple[Diagnosis, ...] = (
    harmless_write.remarks,
    nonfinite.remarks,
    no_gradient.remarks,
    not_optimized.remarks,
    higher.remarks,
    never_run.remarks,
)


def diagnose(facts: Facts) -> list[Finding]:
    """All findings about a trace, in the order in which things went wrong; none where nothing did."""
    return _all(Case(facts))


def lint(facts: Facts) -> list[Finding]:
    """What is wrong or suspicious although nothing was raised, in the order in which it came about.

    Where no extra facts were recorded (``docs/trace-format.md``) only that is found which needs none.
    """
    return _all(Case(facts), LINTS)


def bad_values(facts: Facts) -> list[Finding]:
    """Of what :func:`lint` finds the NaN and infinities that did harm, which anybody wants to know of."""
    return _all(Case(facts), (nonfinite.findings,)) if facts.bad_summaries else []


def remarks(facts: Facts) -> list[Finding]:
    """What is worth knowing of a program and no fault of it: parameters that are frozen, writes that nothing minds."""
    return _all(Case(facts), REMARKS)


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


def _all(case: Case, diagnoses: tuple[Diagnosis, ...] = DIAGNOSES) -> list[Finding]:
    found = []
    for done, diagnosis in enumerate(diagnoses):
        kind = diagnosis.__module__.rpartition(".")[2].replace("_", " ")
        report(f'"{kind}"?', done, len(diagnoses))  # a question, as nothing of it need be there
        found += diagnosis(case)
    return [each.finding for each in sorted(found, key=lambda each: each.row)]
