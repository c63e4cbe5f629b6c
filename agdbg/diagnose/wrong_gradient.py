"""invalid-gradient: a custom Function's ``backward`` returned what cannot be the gradients of its arguments.

Needs: the error with its node and its text, in which the engine names the argument; the node's line.
"""

import re

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.functions import defined
from agdbg.diagnose.words import Lines, count, op_words
from agdbg.events import FunctionCall

KIND = "invalid-gradient"
_SHAPES = re.compile(r"gradient at index (\d+) - got (\[[\d, ]*\]) but expected shape compatible with (\[[\d, ]*\])")
_COUNT = re.compile(r"incorrect number of gradients \(expected (\d+), got (\d+)\)")
_ARGUMENT = re.compile(r"that is the gradient for argument '([^']+)'")
_DTYPE = re.compile(r"that is the gradient for argument '[^']+' of shape \[[\d, ]*\], (\S+)")
_NO_TENSOR = re.compile(r"expected Variable or None \(got ([^)]+)\)")
_NOT_NONE = re.compile(r"returned a gradient different than None at position (\d+)")
_DEVICE = re.compile(r"gradient at index (\d+) - expected device (\S+) but got (\S+)")


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind whose node is known and whose text says what was wrong."""
    return case.found(KIND, _finding)


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
            Evidence("applied", node.site, f"built {op_words(node)}", node.id),
            *_definition(case, node.id),
            Evidence("needed", error.site, "ran its backward()"),
        ),
        nodes=(node.id,),
        certainty="certain",
        fix=fix,
    )


def _definition(case: Case, node: int) -> tuple[Evidence, ...]:
    site = defined(case, node, FunctionCall.BACKWARD)
    return (Evidence("backward", site, "defined here"),) if site.line else ()


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
            f"{count(int(number[2]), 'gradient')} where {number[1]} {'is' if int(number[1]) == 1 else 'are'} expected",
            f"Return {count(int(number[1]), 'value')}, one for each argument of forward() after ctx, in their order; None for what "
            "takes no gradient.",
        )
    return _other(text, f"its argument `{named[1]}`" if named is not None else "one of its arguments")


def _other(text: str, which: str) -> tuple[str, str] | None:
    """The same for what is wrong with neither number nor shape."""
    no_tensor, not_none, device, dtype = (each.search(text) for each in (_NO_TENSOR, _NOT_NONE, _DEVICE, _DTYPE))
    if no_tensor is not None:
        return f"a {no_tensor[1]} as the gradient for {which}, which is no tensor", "Return a tensor there, or None."
    if not_none is not None:
        return (
            f"a gradient for {which}, which is no tensor",
            f"Return None at position {not_none[1]}: gradients are for the tensors among the arguments, in their order.",
        )
    if device is not None:
        return (
            f"a gradient on {device[3]} for {which}, which is on {device[2]}",
            f"Return it on {device[2]}: `.to('{device[2]}')`.",
        )
    if dtype is not None and "input_is_complex" in text and dtype[1].startswith("complex"):
        return (
            f"a gradient of integers for {which}, which is {dtype[1]}",
            f"Return a gradient of {dtype[1]} there; one of real numbers is cast.",
        )
    if dtype is not None and "input_is_complex" in text:
        return (
            f"a complex gradient for {which}, which is {dtype[1]}",
            "Return its real part there: a real argument has a real gradient.",
        )
    return None
