"""What is trained no more when state is detached that no loss of its own iteration is made from: ``loss = f(h); h = cell(x, h)``.

Needs: births and edges, TENSOR for the names; the source, for the words.
"""

from agdbg.diagnose.case import Case
from agdbg.diagnose.history import stepped_between
from agdbg.diagnose.naming import entry_words
from agdbg.diagnose.source import call_text, differentiated, expression
from agdbg.diagnose.stain import Stain
from agdbg.diagnose.words import count, listed

#: Parameters that are named.
NAMED = 4


def instead(case: Case, stain: Stain, cut: str) -> str:
    """The advice ``cut`` to detach, with what it costs and the other way; only that way where detaching leaves nothing to train."""
    lost, left = _lost(case, stain)
    if not lost:
        return cut
    entry = stain.entries[0]
    words, step = entry_words(case, entry), stain.writers[0].site
    text = expression(entry.node.site)
    run = f"run `{text}` ({stain.lines(entry.node.site)})" if text else f"compute {words}"
    behind = f", behind `{call_text(step, 'step')}`{stain.lines.at(step)}" if step.line else ""
    way = f"keep what {words} is made from, and {run} at the beginning of the next iteration{behind}"
    if not left:
        loss = differentiated(stain.needed)
        return (
            f"Carry over no result that was computed before the step: {way}. To detach it would leave "
            f"{f'`{loss}`' if loss else 'the loss'} without a gradient"
        )
    names = list(dict.fromkeys(name for each in lost if (name := case.facts.name_of_leaf(each))))
    who = listed([f"`{each}`" for each in names], NAMED) if names else count(len(lost), "parameter")
    get = "get" if len(names or lost) > 1 else "gets"
    return (
        f"{cut}. Then {who} {get} no gradient, since {words} goes into no loss of the iteration that computes it: if that is "
        f"not meant, {way}"
    )


def _lost(case: Case, stain: Stain) -> tuple[list[int], bool]:
    """The trained leaves that the failing pass reaches through what is carried over alone, and whether it reaches others."""
    walk = case.walk
    carried = walk.mask(each.node.id for each in stain.entries)
    roots = walk.mask(root for root, _ in stain.call.roots) if stain.call is not None else carried
    own = walk.below(roots & ~carried, ~carried) & walk.leaves
    lost = walk.ids[walk.below(carried) & walk.leaves & ~own].tolist()
    return [each for each in lost if any(stepped_between(case, (each,), -1, stain.error.row))], bool(own.any())
