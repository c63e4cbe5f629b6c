"""checkpoint: a checkpointed function did something else when backward ran it again.

Needs: the error with its pass and its text, in which the engine tells the first op that differs and the lines.
"""

import re

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines
from agdbg.record.lookup import Site

KIND = "checkpoint"
_OP = r'{}:\s+(\S+) -> (.+?) at File "([^"\n]+)", line (\d+), in ([^:\n]+): ([^\n]*)'
_FIRST, _AGAIN = re.compile(_OP.format("first run")), re.compile(_OP.format("recomputation"))


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind that tells the op of both runs."""
    told = [(failure.first.row, _finding(case, failure)) for failure in case.failures(KIND)]
    return [Found(row, finding) for row, finding in told if finding is not None]


def _finding(case: Case, failure: Failure) -> Finding | None:
    error, call = failure.first, case.facts.pass_of(failure.first.pass_id)
    first, again = _FIRST.search(error.text), _AGAIN.search(error.text)
    if first is None or again is None or call is None:
        return None
    lines = Lines(call.site)
    then, now = _site(first), _site(again)
    return Finding(
        kind=KIND,
        cause=(
            f"A checkpointed function did not do the same when `{call_text(call.site, call.call)}`{lines.at(call.site)} ran "
            f"it again: the first op that differs was {first[1]}{lines.at(then)} and became {again[1]}{lines.at(now)}."
        ),
        evidence=(
            Evidence("first run", then, f"{first[1]}, which made {first[2]}"),
            Evidence("second run", now, f"{again[1]}, which made {again[2]}"),
            Evidence("needed", call.site, "ran the function again"),
        ),
        nodes=(error.node,) if error.node else (),
        certainty="certain",
        fix=(
            "Make the function depend on its arguments alone: no counters, no global or module state that changes between "
            "the two runs, and the same autocast and grad modes. Random numbers are repeated only with "
            "preserve_rng_state=True."
        ),
    )


def _site(found: re.Match[str]) -> Site:
    return Site(file=found[3], line=int(found[4]), func=found[5], text=found[6])
