"""What to do about a saved tensor that was written, by the kind of writer."""

from agdbg.diagnose.asked import asked_again
from agdbg.diagnose.carrying import cut_loose, kept_to_compare
from agdbg.diagnose.case import Case
from agdbg.diagnose.naming import entry_names
from agdbg.diagnose.out_of_place import NAMED, out_of_place
from agdbg.diagnose.source import call_text, differentiated
from agdbg.diagnose.stain import Stain
from agdbg.diagnose.untrained import instead
from agdbg.diagnose.words import count, same_line
from agdbg.diagnose.writers import Writer

_RERUN = "or run the forward again after it."


def remedy(case: Case, stain: Stain, *, in_parts: bool) -> str:
    """A few sentences; ``in_parts``: a part of the memory was saved and a part of it was written."""
    if stain.entries and stain.writers and stain.writers[0].manner in ("step", "no_grad"):
        cut = _cut(case, stain)
        kept = stain.turn is not None and (stain.turn.retain_graph or stain.turn.create_graph)
        return f"{cut}; retain_graph=True is not needed then." if kept else f"{cut}."
    if stain.kept is not None and stain.writers and stain.writers[0].manner == "step":
        return f"{kept_to_compare(case, stain.kept, stain.lines)}; retain_graph=True is not needed then."
    if not stain.writers:
        return (
            "Look for a write to it after that line: an op whose name ends in _, out=, .data, an optimizer step. "
            "Write out of place there, or work on a clone()."
        )
    lines = list(
        {(each.site.file, each.site.line) if each.site.line else each: each for each in stain.writers}.values()
    )
    known = [sentence for each in lines[:NAMED] if (sentence := _by_purpose(case, stain, each))]
    others = [each for each in lines[:NAMED] if not _by_purpose(case, stain, each)]
    if others:
        known.append(_in_parts(stain) if in_parts else out_of_place(case, stain, others))
    if len(lines) > NAMED:
        known.append(f"The same goes for {count(len(lines) - NAMED, 'more line')}.")
    return " ".join(dict.fromkeys(known))


def _cut(case: Case, stain: Stain) -> str:
    """The advice for all that is carried over: a sentence for each line of which the first one says nothing."""
    told = [cut_loose(case, stain.entries, stain.lines, stain.turn, stain.call)]
    for each in stain.entries[1:]:
        names = entry_names(case, each)
        if names and not any(f"`{name}" in one for name in names for one in told):
            mine = [other for other in stain.entries if same_line(other.node.site, each.node.site)]
            told.append(cut_loose(case, mine, stain.lines, stain.turn, stain.call))
    cut = asked_again(". ".join(told), stain.needed)
    return instead(case, stain, cut) if not stain.before else cut


def _by_purpose(case: Case, stain: Stain, writer: Writer) -> str:
    """The sentence where it is known what the write is for; else empty."""
    if writer.manner == "step":
        return _step(case, stain, writer)
    if writer.manner in ("gradient", "zeroed"):
        return "Work on a clone() of the gradient, or clear it with zero_grad(set_to_none=True)."
    if writer.manner in ("loaded", "no_grad"):
        does = "Load the state" if writer.manner == "loaded" else "Do the update"
        last = f"after the last backward() that uses this graph{_needed(stain)}"
        return f"{does} at {stain.lines(writer.site)} {last}, {_RERUN}"
    return ""


def _step(case: Case, stain: Stain, writer: Writer) -> str:
    called = f"`{call_text(writer.site, 'step')}`" if writer.site.line else "the optimizer step"
    where = stain.lines.at(writer.site)
    last = f"the last backward() that uses this graph{_needed(stain)}"
    before = case.facts.pass_of(stain.before)
    if before is not None and stain.call is not None and set(before.roots) & set(stain.call.roots):
        if same_line(before.site, stain.call.site):
            last = f"the loop around {stain.lines(stain.needed)}"
        return (
            f"Both calls are of the same result, so step once: move {called}{where} behind {last}. If you want two "
            "steps, run the forward again after the first one."
        )
    return (
        f"Run the forward again after {called}{where}, and compute {_loss(stain)}. Only if all these losses are "
        f"meant to train the same parameters, step once instead, behind {last}."
    )


def _loss(stain: Stain) -> str:
    name = differentiated(stain.needed)
    return f"`{name}` from it" if name else "anew what this call starts from"


def _needed(stain: Stain) -> str:
    return f" ({stain.lines(stain.needed)})" if stain.needed.line else ""


def _in_parts(stain: Stain) -> str:
    used = stain.lines.at(stain.node.site) if stain.node is not None else ""
    return (
        f"clone() each part of it that is used{used}, or keep the parts in a list and join them with stack() or cat()."
    )
