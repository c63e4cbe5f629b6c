"""no-gradient: a parameter that an optimizer trains, or nothing else than a leaf, and no gradient ever reaches it.

A parameter that no optimizer holds in a program that has one, or that requires no gradient, is left alone on purpose as far as
anybody can know; ``remarks`` tells of those on request, and of gradients that are there and zero.

Needs: TENSOR (names; whether a gradient is required), edges, PASS_STARTED and RAN, CUT, OPTIMIZER, MODULE, for other leaves than
parameters SHAPE, for zeros SUMMARY.
"""

from agdbg.diagnose import zero_gradient
from agdbg.diagnose.by_hand import is_trained_by_hand
from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.given_names import leaf_name
from agdbg.diagnose.layers import model_ran
from agdbg.diagnose.leaf_fates import LeafFate, fates
from agdbg.diagnose.leaves import Leaves
from agdbg.diagnose.lost_leaf import makes_leaf_at
from agdbg.diagnose.mends import CUT_WORDS, OTHERWISE, mend_of
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.not_optimized import replaced
from agdbg.diagnose.reentrant import CHECKPOINTS
from agdbg.diagnose.rewrapped import becomes_leaf, is_rewrapped
from agdbg.diagnose.source import call_text, expression, goes_to_numpy, quoted
from agdbg.diagnose.switched_off import switched_off_at
from agdbg.diagnose.words import Lines, capital, count, listed, op_words
from agdbg.record.deep_facts import OptimizerFact
from agdbg.record.facts import CutFact, PassFact

KIND = "no-gradient"
#: Parameters that are named in a sentence.
NAMED = 4
#: What more of the program may still have changed.
_LATER = ("idle", "unused", "loose", "reentrant")
_HOW = {
    "no_grad": "with gradients switched off",
    "integer": "an integer or bool result",
    "rewrap": "a new tensor of its values",
}


def findings(case: Case) -> list[Found]:
    """One finding for each cause that keeps gradients from leaves that are meant to have them."""
    leaves = Leaves(case)
    others = replaced(case, leaves)
    wrong = [each for each in fates(case, leaves) if _is_wrong(case, leaves, each) and each.leaf.storage not in others]
    wrong = [each for each in wrong if each.how not in _LATER or not _broke_off(case)]
    return [_found(case, leaves, group) for group in _groups(wrong)]


def _broke_off(case: Case) -> bool:
    """Whether an error ended the program: what it had not come to may have used a leaf, or differentiated what it went into."""
    end = case.facts.trace.meta.get("exit")
    return isinstance(end, dict) and bool(end.get("uncaught"))


def remarks(case: Case) -> list[Found]:
    """What there is to know of the other leaves: frozen, left out on purpose, with gradients of zeros."""
    leaves = Leaves(case)
    zeroed = zero_gradient.told(case, leaves)
    told = [each for each in fates(case, leaves) if each.how != "gradient" and not _is_wrong(case, leaves, each)]
    told = [each for each in told if each.leaf.storage not in zeroed]
    groups = [group for group in _groups(told) if group[0].leaf.name or group[0].how == "zeros"]
    return [_found(case, leaves, group, meant=True) for group in groups]


def _is_wrong(case: Case, leaves: Leaves, fate: LeafFate) -> bool:
    """Whether somebody must have meant this leaf to have a gradient."""
    if fate.how in ("gradient", "zeros", "frozen"):
        return False
    if leaves.are_optimized:
        return leaves.is_trained(fate.leaf)
    if fate.how == "refused":
        return True
    if fate.how == "cut":
        return fate.cut is not None and not _is_for_show(fate, fate.cut) and not _begins_anew(leaves, fate, fate.cut)
    return bool(fate.leaf.name) and fate.how in ("unused", "idle", "reentrant") and model_ran(case, fate.leaf.layer)


def _is_for_show(fate: LeafFate, cut: CutFact) -> bool:
    """Whether a cut may well be meant in a program without an optimizer: an evaluation, or a number to print."""
    if fate.leaf.name:
        return cut.op.name == "no_grad"
    if not fate.leaf.places and is_trained_by_hand(cut.site):
        return False
    return (cut.op.name in ("item", "numpy") or goes_to_numpy(cut.site)) and not is_rewrapped(cut.site)


def _begins_anew(leaves: Leaves, fate: LeafFate, cut: CutFact) -> bool:
    """Whether a leaf without a name gave its values to one with a gradient: ``Parameter((Parameter(t) * 0.1).detach())``."""
    if fate.user is None or not makes_leaf_at(fate.user.site):
        return False
    made = any(each.storage == cut.storage and leaves.has_gradient(each) for each in leaves.all)
    return made or becomes_leaf(cut.site)  # .data has a version of its own, and so another storage


def _groups(fates: list[LeafFate]) -> list[list[LeafFate]]:
    """Fates that have one cause, each group in the order of the leaves."""
    groups: dict[object, list[LeafFate]] = {}
    for each in fates:
        groups.setdefault(_cause_key(each), []).append(each)
    return list(groups.values())


def _cause_key(fate: LeafFate) -> object:
    if fate.cut is not None:
        return ("cut", fate.cut.site.file, fate.cut.site.line, fate.cut.op.name, fate.off and fate.off.line)
    if fate.site is not None:
        return (fate.how, fate.site.file, fate.site.line)
    if fate.node is not None:
        return (fate.how, fate.node.site.file, fate.node.site.line)
    return (fate.how,)


# ----- the finding -----


def _found(case: Case, leaves: Leaves, group: list[LeafFate], *, meant: bool = False) -> Found:
    fate = group[0]
    call = _call(case, group)
    lines = Lines(call.site)
    users = [each.user.id for each in group if each.user is not None]
    nodes = dict.fromkeys([*([fate.node.id] if fate.node else []), *users])
    return Found(
        call.row,
        Finding(
            kind=KIND if fate.how != "zeros" else "zero-gradient",
            cause=_cause(case, group, lines, call),
            evidence=_evidence(case, leaves, group, call),
            nodes=tuple(nodes)[:NAMED],
            certainty="certain" if fate.how in ("cut", "zeros", "frozen", "refused") and not fate.others else "likely",
            fix=_meant(fate) if meant else _fix(case, group, lines, _holder(leaves, group)),
        ),
    )


def _call(case: Case, group: list[LeafFate]) -> PassFact:
    """The first call after these leaves were known; there is one."""
    first = min(each.leaf.row for each in group)
    return next(each for each in case.facts.passes if each.row > first)


def _subject(case: Case, group: list[LeafFate]) -> tuple[str, bool]:
    """The leaves as the subject of a sentence, and whether they are several."""
    named = list(dict.fromkeys(filter(None, (leaf_name(case, each) for each in group))))
    if not named and not any(each.leaf.places for each in group):
        number = count(len(group), "parameter")
        return (f"{number if len(group) > 1 else 'a parameter'} that an optimizer has", len(group) > 1)
    if not named:
        return (
            ("a leaf that requires grad", False)
            if len(group) == 1
            else (f"{len(group)} leaves that require grad", True)
        )
    what = "parameter" if all(each.leaf.name or not each.leaf.places for each in group) else "leaf"
    several = len(named) > 1
    noun = {"parameter": "parameters", "leaf": "leaves"}[what] if several else what
    return f"{noun} {listed(named, NAMED)}", several


def _cause(case: Case, group: list[LeafFate], lines: Lines, call: PassFact) -> str:
    fate, (subject, several) = group[0], _subject(case, group)
    get, are = ("get", "are") if several else ("gets", "is")
    them, they = ("them", "they") if several else ("it", "it")
    if fate.how == "zeros":
        return f"{capital(subject)} {get} a gradient that is zero throughout: it is there, and not None."
    if fate.how == "frozen":
        return f"{capital(subject)} {are} frozen (requires_grad=False), so no gradient is computed for {them}."
    start = f"{capital(subject)} {get} no gradient"
    if fate.how == "cut" and fate.cut is not None:
        others = [f"{_cut_words(each)}{lines.at(each.site)}" for each in fate.others if each.site != fate.cut.site]
        also = f", as does {listed(others, NAMED)}" if others else ""
        return f"{start}: {_cut_words(fate.cut)}{lines.at(fate.cut.site)} ends the path that leads to {them}{also}."
    if fate.how == "refused":
        by = f"{op_words(fate.node)}{lines.at(fate.node.site)}" if fate.node is not None else "a node on the way"
        return f"{start}: the backward of {by} returns None where the path to {them} begins."
    if fate.how == "loose":
        made = f"{made_by(fate.node)}{lines.at(fate.node.site)}" if fate.node is not None else "it"
        go = "go" if several else "goes"
        return f"{start}: {they} {go} into {made}, and no call of backward() comes from there."
    if fate.site is not None:
        made = f"`{call_text(fate.site, *CHECKPOINTS)}`{lines.at(fate.site)}"
        return f"{start}: {made} is reentrant, and none of its inputs requires grad, so what it computes has no graph."
    layer = "their layers never run" if several else "its layer never runs"
    if fate.how == "idle":
        return f"{start}: {layer}."
    return f"{start}: nothing is computed from {them} while gradients are recorded."


def _cut_words(cut: CutFact) -> str:
    text = expression(cut.site) or quoted(cut.site.text.strip())
    how = _HOW.get(cut.op.name, "")
    if not text:
        return how or cut.op.name
    return f"`{text}` ({how})" if how else f"`{text}`"


def _evidence(case: Case, leaves: Leaves, group: list[LeafFate], call: PassFact) -> tuple[Evidence, ...]:
    fate = group[0]
    found: list[tuple[int, Evidence]] = []
    if fate.user is not None:
        name = leaf_name(case, fate)
        found.append(
            (
                fate.user.row,
                Evidence("used", fate.user.site, f"{op_words(fate.user)} uses {name or 'the leaf'}", fate.user.id),
            )
        )
    if fate.cut is not None:
        times = f", at least {count(fate.cut.count, 'time')}" if fate.cut.count > 1 else ""
        found.append(
            (
                fate.cut.row,
                Evidence(
                    "cut", fate.cut.site, CUT_WORDS.get(fate.cut.op.name, "ended the path") + times, fate.cut.producer
                ),
            )
        )
        found += [
            (
                each.row,
                Evidence("cut", each.site, f"{CUT_WORDS.get(each.op.name, 'ended the path')} as well", each.producer),
            )
            for each in fate.others[:NAMED]
        ]
        if fate.cut.op.name == "no_grad":
            blocks = (fate.off, *(switched_off_at(case, each.row, each.site) for each in fate.others))
            found += [
                (fate.cut.row - 1, Evidence("switched off", each, "gradients are switched off since here"))
                for each in blocks
                if each is not None
            ]
    if fate.node is not None and fate.node is not fate.user:
        note = "sends no gradient on" if fate.how == "refused" else "the last that is computed from it"
        found.append(
            (
                fate.node.row,
                Evidence("refused" if fate.how == "refused" else "made", fate.node.site, note, fate.node.id),
            )
        )
    if fate.site is not None:
        found.append((call.row - 1, Evidence("cut", fate.site, "runs its function with gradients switched off")))
    holder = _holder(leaves, group)
    if holder is not None:
        found.append(
            (
                holder.row,
                Evidence("optimizer", holder.site, f"{holder.op.name} has {'them' if len(group) > 1 else 'it'}"),
            )
        )
    found.append((call.row, Evidence("needed", call.site, _needed(fate))))
    return tuple(evidence for _, evidence in sorted(found, key=lambda each: each[0]))


def _holder(leaves: Leaves, group: list[LeafFate]) -> OptimizerFact | None:
    """The optimizer that has one of these leaves."""
    return next((leaves.built[each.leaf.storage] for each in group if each.leaf.storage in leaves.built), None)


def _needed(fate: LeafFate) -> str:
    if fate.how == "zeros":
        return "left zeros there"
    return "left its grad as it was, None if it had none before"


def _meant(fate: LeafFate) -> str:
    """What to do about a leaf that may well be meant to be as it is."""
    if fate.how == "zeros":
        return (
            "Nothing, if that is meant. Else look for what makes it zero: a relu() that is never active, a factor of 0, round(), a "
            "where() or clamp() that always takes the other value, weights that are still zero."
        )
    return {
        "frozen": "Nothing, if that is meant; else requires_grad_(True).",
        "cut": "Nothing, if that is meant; else let the gradient through there, and give the parameters to an optimizer.",
    }.get(fate.how, "Nothing, if that is meant; else use it in what is differentiated, and give it to an optimizer.")


def _fix(case: Case, group: list[LeafFate], lines: Lines, holder: OptimizerFact | None) -> str:
    fate = group[0]
    them = "them" if len(group) > 1 else "it"
    if fate.how == "cut" and fate.cut is not None:
        keep = f" or keep {them} out of the optimizer" if holder is not None else ""
        how = mend_of(fate.cut, f" ({lines(fate.off)})" if fate.off is not None else "") or OTHERWISE
        if fate.others:
            how = _of_several(case, fate, how, lines)
        return f"At {lines(fate.cut.site)}: {how}. If no gradient is wanted, set requires_grad=False{keep}."
    if fate.how == "refused":
        return (
            "Return a gradient there, one for each argument of forward() that needs one; None says that there is none."
        )
    if fate.how == "loose":
        return f"Add what is made of {them} to the loss, or compute it under no_grad() if no gradient is wanted."
    if fate.how == "reentrant":
        return "Give it use_reentrant=False, which needs no such input; or call requires_grad_() on an input of it."
    they = "they are meant to stay as they are" if len(group) > 1 else "it is meant to stay as it is"
    if not any(each.leaf.name for each in group):
        return f"Use {them} in what is differentiated, or take {them} out of the optimizer; if {they}, requires_grad=False says so."
    return f"Use {them} in forward(), or take {them} out of the model; if {they}, requires_grad=False says so."


def _of_several(case: Case, fate: LeafFate, how: str, lines: Lines) -> str:
    """The mend of one of several cuts, and what is known of the others; of one line in several blocks the blocks."""
    sites = [each.site for each in fate.others]
    if fate.cut is not None and fate.cut.site in sites:
        sites = [switched_off_at(case, each.row, each.site) or each.site for each in fate.others]
    others = listed(list(dict.fromkeys(map(lines, sites))), NAMED)
    if fate.known:
        return f"{how}: an optimizer that has it steps on that loss. At {others} it may be meant"
    if all(each.op.name == "no_grad" for each in fate.others):
        return (
            f"{how}. At {others} gradients are switched off, which may be meant (a target, say); else mend that instead"
        )
    return f"{how}, or at {others}: only in the loss that is to train it, the others are meant to leave it alone"
