"""none-grad: ``grad`` was asked for the gradient of a tensor that its outputs were not computed from.

Needs: the error with its text, which has the index; the source line, for the name.
"""

import re

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.constant_in import constant_in, inputs_of
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines
from agdbg.record.facts import PassFact
from agdbg.record.lookup import Site

KIND = "none-grad"
_INDEX = re.compile(r"Tensor at index (\d+)")


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind whose line names the tensor: else the error says it all."""
    return case.found(KIND, _finding)


def _finding(case: Case, failure: Failure) -> Finding | None:
    site, index = failure.first.site, _INDEX.search(failure.first.text)
    name = _input(site, int(index[1])) if index is not None else ""
    if not name:
        return None
    call = f"`{call_text(site, 'grad')}`{Lines(site).at(site)}"
    first = constant_in(case, failure.first, name)
    if first is not None:
        return _constant(site, name, call, first)
    return Finding(
        kind=KIND,
        cause=f"{call} asks for the gradient of `{name}`, and what it starts from was not computed from `{name}`.",
        evidence=(Evidence("refused", site, f"no path leads to `{name}`"),),
        nodes=(),
        certainty="certain",
        fix=(
            f"Compute the output from this very tensor: another one that was called `{name}` when the output was computed does "
            "not count. Or pass allow_unused=True; with materialize_grads=True it gets zeros."
        ),
    )


def _constant(site: Site, name: str, call: str, first: PassFact) -> Finding:
    """The finding about the gradient of a function that is linear in what it is differentiated by."""
    made = f"`{call_text(first.site, first.call)}`{Lines(site).at(first.site)}"
    return Finding(
        kind=KIND,
        cause=(
            f"{call} asks for the gradient of `{name}` and starts from a gradient that does not depend on it: what {made} "
            f"differentiates is linear in `{name}`, so its gradient is constant in `{name}`, and the derivative of that is 0."
        ),
        evidence=(
            Evidence("first call", first.site, f"create_graph=True; what it gives is computed without `{name}`"),
            Evidence("refused", site, f"no path leads to `{name}`"),
        ),
        nodes=(),
        certainty="likely",
        fix="Take this derivative as zero or leave the term out; allow_unused=True with materialize_grads=True gives zeros.",
    )


def _input(site: Site, index: int) -> str:
    """The name of the tensor with this index in the inputs of a call of ``grad``."""
    names = inputs_of(site)
    return names[index] if index < len(names) else ""
