"""What is said beside the findings: errors without a diagnosis, the end of the program, what is missing."""

from pathlib import Path

from agdbg.explain.explanation import Explanation
from agdbg.explain.fates import Fate, Undiagnosed
from agdbg.explain.palette import Palette
from agdbg.explain.places import counted, place_of
from agdbg.render.clean import printable

#: Errors without a diagnosis that are named one by one.
SHOWN = 5
_FATE: dict[Fate, str] = {
    "caught": "; the program went on",
    "program": "; it ended the program",
    "thread": "; it ended a thread",
    "predicted": "",
    "silent": "; nothing was raised",
    "remark": "",
    None: "",
}


def damage(explanation: Explanation, palette: Palette) -> list[str]:
    """A block of what of the trace is lost: it stands first, since all that follows is about the rest."""
    lines = [palette.aside(f"the trace is damaged: {each}") for each in explanation.problems]
    return ["\n".join(lines)] if lines else []


def standing_at(explanation: Explanation, base: Path | None) -> list[str]:
    """A block about the error at which the program stands, where it has no diagnosis and there is more to tell."""
    error = explanation.stands_at
    if error is None or not (explanation.findings or len(explanation.undiagnosed) > 1):
        return []
    return [f"the program stands at an error that agdbg has no diagnosis for: {_line(error, base)}"]


def remarks(explanation: Explanation, base: Path | None, palette: Palette) -> list[str]:
    """Blocks of text, each of one or more lines; nothing is called well beside something that is not."""
    first = explanation.stands_at if standing_at(explanation, base) else None
    errors = [each for each in explanation.undiagnosed if each is not first]
    blocks = [_without_diagnosis(errors, base)] if errors else []
    if explanation.left_out and not (blocks or explanation.findings):
        blocks.append(f"nothing of what was asked for was found; {counted(explanation.left_out, 'finding')} left out")
    if not (blocks or explanation.findings or explanation.nodes or explanation.is_incomplete):
        blocks.append("no autograd activity recorded: the engine built no graph")
    if explanation.uncaught:
        told = explanation.undiagnosed or explanation.findings or explanation.left_out
        rest = "none of the above is about it" if told else "no autograd mistake was found"
        where = " in what is left of the trace" if explanation.problems else ""
        ended = f"the program ended with {printable(explanation.uncaught).rstrip('.')}; {rest}{where}"
        blocks = (
            [*blocks, ended] if told else ["\n".join((*blocks, ended))]
        )  # of nothing built and nothing found one block
    if not blocks and not explanation.findings:
        blocks.append(_all_well(explanation, palette))
    if str(explanation.ending):
        blocks.append(palette.mark(printable(str(explanation.ending))))
    return blocks


def _all_well(explanation: Explanation, palette: Palette) -> str:
    recorded = f"{counted(explanation.nodes, 'node')}, {counted(explanation.passes, 'backward pass', 'es')} recorded"
    if not explanation.is_incomplete:
        unseen = f"\n{palette.aside(explanation.unseen)}" if explanation.unseen else ""
        return f"nothing to explain: {recorded}, no error{unseen}"
    return f"no autograd mistake was found in what was recorded: {recorded}"


def _without_diagnosis(errors: list[Undiagnosed], base: Path | None) -> str:
    count = sum(each.count for each in errors)
    lines = [_line(each, base) for each in errors[:SHOWN]]
    head = f"{counted(count, 'error')} that agdbg has no diagnosis for:"
    if len(errors) == 1:
        return f"{head} {lines[0]}"
    more = [f"   ... and {len(errors) - SHOWN:,} more"] if len(errors) > SHOWN else []
    return "\n".join([head, *(f"   {line}" for line in lines), *more])


def _line(each: Undiagnosed, base: Path | None) -> str:
    text = printable((each.error.text.strip().splitlines() or [each.error.kind])[0])
    place = place_of(each.error.site, base)
    times = f" ({each.count:,} times)" if each.count > 1 else ""
    return f"{text}{' at ' if place else ''}{place}{times}{_FATE[each.fate]}"
