"""invalid-gradient: a custom Function's ``backward`` returned what cannot be the gradients of its arguments.

Needs: the error with its node and its text, in which the engine names the argument; the node's line.
"""

import re

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.words import Lines, op_words

KIND = "invalid-gradient"
_SHAPES = re.compile(r"gradient at index (\d+) - got (\[[\d, ]*\]) but expected shape compatible with (\[[\d, ]*\])")
_COUNT = re.compile(r"incorrect number of gradients \(expected (\d+), got (\d+)\)")
_ARGUMENT = re.compile(r"that is the gradient for argument '([^']+)'")


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind whose node is known and whose text says what was wrong."""
    told = [(failure.first.row, _finding(case, failure)) for failure in case.failures(KIND)]
    return [Found(row, finding) for row, finding in told if finding is not None]


def _finding(case: Case, failure: Failure) -> Finding | None:
    error, node = failure.first, case.facts.node(failure.first.node)
    wrong = _wrong(error.text)
    if node is None or wrong is None:
        return None
    what, fix = wrong
    built = f"{op_words(node)}{Lines(error.site).at(node.site)}"
    return Finding(
        kind=KIND,
        cause=f"The backward() of {built} returned {what}.",
        evidence=(
            Evidence("applied", node.site, f"built {op_words(node)}"),
            Evidence("needed", error.site, "ran its backward()"),
        ),
        nodes=(node.id,),
        certainty="certain",
        fix=fix,
    )


def _wrong(text: str) -> tuple[str, str] | None:
    """What was returned, and the fix; None when the text says something else."""
    shapes, number, named = _SHAPES.search(text), _COUNT.search(text), _ARGUMENT.search(text)
    if shapes is not None:
        index, got, wanted = shapes.groups()
        which = f"its argument `{named[1]}`" if named is not None else f"input {index}"
        return (
            f"a gradient of shape {got} for {which}, which has shape {wanted}",
            f"Return a gradient of shape {wanted} there, one element for each of the argument; what forward() broadcast is "
            "summed back, and what it reduced is expanded.",
        )
    if number is not None:
        return (
            f"{number[2]} of the {number[1]} gradients",
            f"Return {number[1]} values, one for each argument of forward() after ctx, in their order; None for what takes no "
            "gradient.",
        )
    return None
