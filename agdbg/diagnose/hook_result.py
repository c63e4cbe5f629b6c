"""hook-error: a hook of a backward pass returned what cannot take the place of the gradient that it was given.

Needs: the error with its node and its text; HOOK records, by which the hook is known that fired last before the error.
"""

import re

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.hook_list import function_name, hook_words
from agdbg.diagnose.words import Lines, capital, count, op_words
from agdbg.events import Kind
from agdbg.record.hooked import HookFact, hook_at

KIND = "hook-error"
_SIZE = re.compile(r"the gradient has shape (\[[\d, ]*\]), and what came back has shape (\[[\d, ]*\])")
_TYPE = re.compile(r"changed the type of value \(was (\S+) got (\S+)\)")
_NO_TENSOR = re.compile(r"expected Variable, but hook returned '([^']*)'")
_NO_TUPLE = re.compile(r"expected tuple, but hook returned '([^']*)'")
_COUNT = re.compile(r"incorrect number of values \(got (\d+), but expected (\d+)\)")
_NO_GRADIENT = "can't replace a None gradient"
#: What a type is called in an error, and in the program.
_DTYPES = {"Float": "float32", "Double": "float64", "Half": "float16", "Int": "int32", "Long": "int64", "Bool": "bool"}
_TENSOR = re.compile(r"torch\.(?:(\w+)\.)?(\w+)Tensor")
_AS_IT_IS = "or nothing, which leaves the gradient as it is"


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind whose text says what was wrong, and whose hook is known."""
    return case.found(KIND, _finding)


def _finding(case: Case, failure: Failure) -> Finding | None:
    error, facts = failure.first, case.facts
    node, wrong, fired = facts.node(error.node), _wrong(error.text), _fired_last(case, error.node, error.row)
    if node is None or wrong is None or fired is None:
        return None
    what, fix = wrong
    hook = _registered(case, fired)
    where = Lines(error.site).at(fired.defined) if fired.defined.line else ""
    name = function_name(fired.defined)
    return Finding(
        kind=KIND,
        cause=f"{capital(hook_words(facts, hook))}{where} returned {what}.",
        evidence=(
            Evidence("created", node.site, f"built {op_words(node)}", node.id),
            *([Evidence("registered", hook.site, f"{hook.kind} hook", hook.node)] if hook is not fired else []),
            *([Evidence("hook", fired.defined, "the function", fired.node)] if fired.defined.line else []),
            Evidence("needed", error.site, "ran it"),
        ),
        nodes=(node.id,),
        certainty="certain",
        fix=fix.format(hook=f"`{name}`" if name else "the hook"),
    )


def _fired_last(case: Case, node: int, before: int) -> HookFact | None:
    """The hook on a node that fired last before a record: an answer is looked at before the next one is called."""
    rows = [int(row) for row in case.facts.rows_about(Kind.HOOK, node) if row < before]
    last = hook_at(case.facts, rows[-1]) if rows else None
    return last if last is not None and last.what == "fired" else None


def _registered(case: Case, fired: HookFact) -> HookFact:
    """What is told of the registration of a hook; that it fired where nothing is."""
    for row in case.facts.rows_about(Kind.HOOK, fired.node):
        hook = hook_at(case.facts, int(row))
        if hook.what == "registered" and hook.number == fired.number:
            return hook
    return fired


def _wrong(text: str) -> tuple[str, str] | None:
    """What was returned, and the fix; None when the text says something else."""
    size, kind, number = _SIZE.search(text), _TYPE.search(text), _COUNT.search(text)
    no_tensor, no_tuple = _NO_TENSOR.search(text), _NO_TUPLE.search(text)
    if size is not None:
        return (
            f"a gradient of shape {size[2]} in place of one of shape {size[1]}",
            f"Return a tensor of shape {size[1]} from {{hook}}, one element for each of the gradient, {_AS_IT_IS}.",
        )
    if kind is not None:
        was, got = _type(kind[1]), _type(kind[2])
        return f"a gradient of {got} in place of one of {was}", f"Return it in {was} from {{hook}}, {_AS_IT_IS}."
    if no_tensor is not None:
        return (
            f"a {no_tensor[1]}, which is no tensor, in place of the gradient",
            f"Return a tensor like the gradient from {{hook}}, {_AS_IT_IS}.",
        )
    if no_tuple is not None:
        return (
            f"a {no_tuple[1]}: a hook on a node returns a tuple",
            "Return a tuple from {hook} with one value for each gradient of the tuple that it is to change, as "
            "`(gradient,)`, or nothing.",
        )
    if number is not None:
        return (
            f"{count(int(number[1]), 'gradient')} where {number[2]} {'is' if int(number[2]) == 1 else 'are'} expected",
            f"Return a tuple of {number[2]} from {{hook}}: one for each that it was given, None where none was, or nothing.",
        )
    if _NO_GRADIENT in text:
        return (
            "a gradient where none had come, for which there is no place",
            "Let {hook} return None for each gradient that is None.",
        )
    return None


def _type(text: str) -> str:
    """``torch.FloatTensor`` as a program says it."""
    found = _TENSOR.fullmatch(text)
    if found is None:
        return text
    return f"{_DTYPES.get(found[2], found[2].lower())}{f' on {found[1]}' if found[1] else ''}"
