"""gradient-cast: ``backward`` of a custom Function returned a gradient in a dtype that holds less than its argument's.

PyTorch casts it in silence. That is right where nothing is lost by it: from a wider dtype, and where the gradients that
``backward`` was given were as narrow (mixed precision: the Function's output is half, and so is all of its backward).

Needs: CAST, FUNCTION.
"""

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.functions import defined
from agdbg.diagnose.words import Lines
from agdbg.events import Fractions, FunctionCall
from agdbg.record.rare import CastFact

KIND = "gradient-cast"
#: Bits of a number, by the dtype; of a complex one those of each part.
_DIGITS = {
    "bfloat16": 8,
    "float16": 11,
    "float32": 24,
    "float64": 53,
    "complex32": 11,
    "complex64": 24,
    "complex128": 53,
}


def findings(case: Case) -> list[Found]:
    """One finding for each Function, argument and dtype, about the gradient of which most is known."""
    found: dict[tuple[str, str, str], CastFact] = {}
    for each in case.facts.casts:
        key = each.op.name, each.argument, each.got
        if _loses(each) and (key not in found or (_is_cut(each) and not _is_cut(found[key]))):
            found[key] = each
    return [Found(each.row, _finding(case, each)) for each in found.values()]


def _is_cut(cast: CastFact) -> bool:
    """Whether fractions are known to have come in."""
    return cast.fractions == Fractions.YES


def _loses(cast: CastFact) -> bool:
    """Whether the gradient is narrower than the argument, and than what came in; one of integers always is."""
    got = _DIGITS.get(cast.got, 0)
    return got < min(_DIGITS.get(cast.wanted, 0), _DIGITS.get(cast.given, 0))


def _finding(case: Case, cast: CastFact) -> Finding:
    lines, node, call = Lines(cast.site), case.facts.node(cast.node), case.facts.pass_of(cast.pass_id)
    name = f"`{cast.op.name.removesuffix('Backward')}`"
    what, certainty, fix = _words(cast)
    backward = defined(case, cast.node, FunctionCall.BACKWARD)
    return Finding(
        kind=KIND,
        cause=(
            f"backward() of {name}, applied{lines.at(cast.site)}, returned {_a(cast.got)} gradient for its argument "
            f"`{cast.argument}`, which is {cast.wanted}: {what} The cast to {cast.wanted} brings nothing back, and nothing is "
            "raised."
        ),
        evidence=(
            Evidence("applied", cast.site, name, cast.node),
            *((Evidence("backward", backward, "defined here"),) if backward.line else ()),
            *((Evidence("call", call.site, "ran it"),) if call is not None else ()),
        ),
        nodes=(cast.node,) if node is not None else (),
        certainty=certainty,
        fix=fix,
    )


def _words(cast: CastFact) -> tuple[str, Certainty, str]:
    """What is lost, how sure that is, and what to do."""
    if cast.got in _DIGITS:
        return (
            f"what came in is {cast.given}, and {cast.got} keeps {_DIGITS[cast.got]} of its {_DIGITS[cast.given]} bits.",
            "likely",
            f"Compute it in {cast.given}: leave out the cast to {cast.got} in backward().",
        )
    fix = (
        f"Return a gradient of {cast.wanted} there: no cast to {cast.got}, and a mask or a sign only multiplied by the gradient "
        "that comes in."
    )
    if _is_cut(cast):
        return f"the gradients that came in have fractions, of which {cast.got} holds none.", "likely", fix
    return f"{cast.got} holds no fractions.", "possible", fix


def _a(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
