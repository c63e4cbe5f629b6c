"""none-grad: ``grad`` was asked for the gradient of a tensor that its outputs were not computed from.

Needs: the error with its text, which has the index; the source line, for the name.
"""

import ast
import re

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.source import call_text, called, calls
from agdbg.diagnose.syntax import name_of
from agdbg.diagnose.words import Lines
from agdbg.record.lookup import Site

KIND = "none-grad"
_INDEX = re.compile(r"Tensor at index (\d+)")


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind whose line names the tensor: else the error says it all."""
    told = [(failure.first.row, _finding(failure)) for failure in case.failures(KIND)]
    return [Found(row, finding) for row, finding in told if finding is not None]


def _finding(failure: Failure) -> Finding | None:
    site, index = failure.first.site, _INDEX.search(failure.first.text)
    name = _input(site, int(index[1])) if index is not None else ""
    if not name:
        return None
    call = f"`{call_text(site, 'grad')}`{Lines(site).at(site)}"
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


def _input(site: Site, index: int) -> str:
    """The name of the tensor with this index in the inputs of a call of ``grad``."""
    made = next((each for each in calls(site) if called(each) == "grad"), None)
    if made is None:
        return ""
    given = made.args[1] if len(made.args) > 1 else next((k.value for k in made.keywords if k.arg == "inputs"), None)
    if isinstance(given, ast.Tuple | ast.List):
        given = given.elts[index] if index < len(given.elts) else None
    elif index:
        return ""
    return name_of(given) if given is not None else ""
