"""not-optimized: parameters get gradients, and the optimizer that should train them has others.

It is built with the parameters that a model has at that moment. One that is replaced later is not among them, nor is one of a
module that a list or a dictionary hides. Left out on purpose looks much the same, so only what cannot be meant is told:
an optimizer with tensors that the program no longer uses beside a parameter that takes their place in the same model, and a
module without a parent that runs inside of another one, and a parameter that was made in ``forward``, when the optimizer was
there already.

Needs: OPTIMIZER, TENSOR, RAN, MODULE, for the places in its models SHAPE.
"""

from dataclasses import dataclass

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.layers import enclosing_modules, root_of
from agdbg.diagnose.leaves import Leaf, Leaves
from agdbg.diagnose.made_late import made_inside
from agdbg.diagnose.plain_parameter import plain_parameters
from agdbg.diagnose.source import expression
from agdbg.diagnose.still_used import last_use, models_of
from agdbg.diagnose.touched import last_touched
from agdbg.diagnose.walk import Mask
from agdbg.diagnose.words import Lines, count, listed, same_line
from agdbg.record.deep_facts import ModuleFact, OptimizerFact
from agdbg.record.facts import CutFact, NodeFact, PassFact

KIND = "not-optimized"
#: Parameters that are named in a sentence.
NAMED = 4


@dataclass(frozen=True)
class _Left:
    """Parameters that get gradients and that no optimizer has."""

    leaves: list[Leaf]
    user: NodeFact
    call: PassFact


def findings(case: Case) -> list[Found]:
    """One finding for what was replaced, and one for each module that is hidden from the optimizer."""
    leaves = Leaves(case)
    left = _left_out(leaves)
    others = _copied(case, leaves, left) or _replaced(case, leaves, left)
    if others is not None:
        return [others]
    hidden, late = _hidden(case, leaves, left), _late(case, leaves, left)
    return [*hidden, *([late] if late is not None else []), *plain_parameters(case, leaves)]


def remarks(case: Case) -> list[Found]:
    """What may well be left out on purpose, and is told on request."""
    leaves = Leaves(case)
    left, story = _left_out(leaves), None
    if left and not findings(case):
        story = _left(case, left)
    return [_remark(leaves, left, story)] if story is not None else []


def _left_out(leaves: Leaves) -> list[Leaf]:
    """The parameters that get gradients and that no optimizer has, in a program in which one steps."""
    if not leaves.are_stepped:
        return []
    return [leaf for leaf in leaves.all if leaf.name and _gets_gradients(leaves, leaf) and not leaves.is_trained(leaf)]


def _remark(leaves: Leaves, left: list[Leaf], story: "_Left") -> Found:
    names, several = _names(left)
    holder = next(iter(leaves.built.values()))
    return _told(
        story,
        holder,
        cause=f"{names} {'get' if several else 'gets'} gradients and no optimizer has {'them' if several else 'it'}.",
        used="the first use",
        certainty="certain",
        fix="Nothing, if that is meant; requires_grad_(False) then saves the work. Else give them to an optimizer.",
    )


def _told(
    story: "_Left", holder: OptimizerFact, cause: str, used: str, certainty: Certainty, fix: str, built: str = ""
) -> Found:
    """What all findings of this kind have in common: the optimizer, the use, and the pass that leaves gradients there."""
    return Found(
        story.call.row,
        Finding(
            kind=KIND,
            cause=cause,
            evidence=(
                Evidence("optimizer", holder.site, f"{holder.op.name} is built{built}"),
                Evidence("used", story.user.site, used, story.user.id),
                Evidence("needed", story.call.site, "leaves gradients there that nothing steps"),
            ),
            nodes=(story.user.id,),
            certainty=certainty,
            fix=fix,
        ),
    )


def _gets_gradients(leaves: Leaves, leaf: Leaf) -> bool:
    return bool(leaf.places) and bool(leaves.given[leaf.places].any())


# ----- replaced -----


def predecessor(case: Case, leaves: Leaves, leaf: Leaf, models: dict[int, set[int]]) -> Leaf | None:
    """The leaf that stood in this one's place of the same model, that an optimizer has, and that is used no more."""
    mine = models.get(leaf.storage, set())
    for old in leaves.all:
        same = old.name == leaf.name and old.storage in leaves.built and old is not leaf and old.row < leaf.row
        if same and mine & models.get(old.storage, set()) and last_use(case, old) < leaf.row:
            return old
    return None


def replaced(case: Case, leaves: Leaves) -> set[int]:
    """The storages of the parameters that an optimizer has and that others took the place of, which get gradients."""
    left = _left_out(leaves)
    models = models_of(case) if left else {}
    found = {old.storage for leaf in left if (old := predecessor(case, leaves, leaf, models)) is not None}
    return found or {each.storage for each in (_never_used(case, leaves, left) or _copies(case, leaves, left)[0])}


def _replaced(case: Case, leaves: Leaves, left: list[Leaf]) -> Found | None:
    """The parameters that took the place of those that the optimizer has."""
    models = models_of(case) if left else {}
    pairs: list[tuple[Leaf, OptimizerFact]] = []
    certain: Certainty = "certain"
    for leaf in left:
        old = predecessor(case, leaves, leaf, models)
        if old is not None:
            pairs.append((leaf, leaves.built[old.storage]))
    if not pairs:
        never = _never_used(case, leaves, left)
        pairs = [(leaf, never[0]) for leaf in left] if never else []
        certain = "likely"
    if not pairs:
        return None
    return _found(case, [leaf for leaf, _ in pairs], pairs[0][1], certain)


def _never_used(case: Case, leaves: Leaves, left: list[Leaf]) -> list[OptimizerFact]:
    """What an optimizer steps and nothing uses, as many as were left out: no graph, no read, no step with a gradient."""
    found = _idle(leaves)
    first = min((leaf.row for leaf in left), default=0)
    if not len(found) >= len(left) > 0 or found[0].row >= first:
        return []
    in_use = last_touched(case, {each.storage for each in found}) >= first
    return [] if in_use else found


def _idle(leaves: Leaves) -> list[OptimizerFact]:
    """What an optimizer steps and no graph has."""
    known = {leaf.storage: leaf for leaf in leaves.all}
    stepped = {each.storage for each in leaves.held if each.when == "stepped"}
    found = [each for each in leaves.built.values() if each.storage in stepped]
    return [
        each
        for each in found
        if each.storage not in known or not (known[each.storage].places or known[each.storage].name)
    ]


def _copies(case: Case, leaves: Leaves, left: list[Leaf]) -> tuple[list[OptimizerFact], CutFact | None]:
    """What an optimizer has and no graph, where the line that built it cuts copies off; and that cut."""
    found = _idle(leaves)
    if not len(found) >= len(left) > 0:
        return [], None
    cut = next((each for each in case.facts.cuts if same_line(each.site, found[0].site)), None)
    return (found, cut) if cut is not None else ([], None)


def _copied(case: Case, leaves: Leaves, left: list[Leaf]) -> Found | None:
    """The optimizer that was built with copies of the parameters."""
    found, cut = _copies(case, leaves, left)
    story = _left(case, left) if cut is not None else None
    if cut is None or story is None:
        return None
    names, several = _names(left)
    made = expression(cut.site) or cut.op.name
    return _told(
        story,
        found[0],
        cause=(
            f"{names} {'get' if several else 'gets'} gradients and no optimizer has {'them' if several else 'it'}: "
            f"{found[0].op.name}{Lines(story.call.site).at(found[0].site)} was built with copies, `{made}`."
        ),
        built="; it steps copies that nothing uses",
        used=f"what is used {'are the parameters themselves' if several else 'is the parameter itself'}",
        certainty="likely",
        fix="Give the optimizer the parameters themselves: `model.parameters()`, without clone(), detach() or copies.",
    )


def _found(case: Case, left: list[Leaf], holder: OptimizerFact, certainty: Certainty) -> Found | None:
    story = _left(case, left)
    if story is None:
        return None
    lines = Lines(holder.site)
    names, several = _names(left)
    has = f"{holder.op.name}{lines.at(holder.site)} was built with what had {'their places' if several else 'its place'} before"
    return _told(
        story,
        holder,
        cause=f"{names} {'get' if several else 'gets'} gradients and no optimizer has {'them' if several else 'it'}: {has}.",
        built="; it goes on with tensors that nothing uses any more",
        used=f"what is used now is {'others' if several else 'another'}, made or moved since",
        certainty=certainty,
        fix=(
            "Build the optimizer after the last change of the model (new layers, to() of another dtype or device, "
            "load of other parameters), or give it the new ones with add_param_group()."
        ),
    )


def _names(left: list[Leaf]) -> tuple[str, bool]:
    names = list(dict.fromkeys(f"`{leaf.name}`" for leaf in left))
    several = len(names) > 1
    return f"Parameter{'s' if several else ''} {listed(names, NAMED)}", several


def _left(case: Case, left: list[Leaf]) -> _Left | None:
    """The first use of these leaves, and the first pass that left a gradient in one."""
    walk = case.walk
    places = {place for leaf in left for place in leaf.places}
    mask: Mask = walk.mask(walk.ids[sorted(places)])
    edges = walk.edges
    at = mask[edges.target].nonzero()[0]
    users = [case.facts.node(int(walk.ids[edges.source[each]])) for each in at[:1].tolist()]
    user = users[0] if users else None
    ran = [number for place in sorted(places) for number in case.facts.passes_of(int(walk.ids[place]))[:1]]
    call = case.facts.pass_of(min(ran)) if ran else None
    return _Left(left, user, call) if user is not None and call is not None else None


# ----- hidden in a list -----


def _hidden(case: Case, leaves: Leaves, left: list[Leaf]) -> list[Found]:
    found: dict[tuple[int, ...], tuple[ModuleFact, list[Leaf], _Left]] = {}
    for leaf in left:
        story = _left(case, [leaf])
        around = enclosing_modules(case, story.user) if story is not None else []
        if story is None or len(around) < 2:
            continue
        outer = next((each for each in around[1:] if root_of(case, each).id != root_of(case, around[0]).id), None)
        if outer is not None:
            found.setdefault((outer.id, around[0].id), (outer, [], story))[1].append(leaf)
    by_outer: dict[int, list[tuple[ModuleFact, list[Leaf], _Left]]] = {}
    for (number, _), each in found.items():
        by_outer.setdefault(number, []).append(each)
    return [_hidden_found(case, leaves, group) for group in by_outer.values()]


def _hidden_found(case: Case, leaves: Leaves, group: list[tuple[ModuleFact, list[Leaf], _Left]]) -> Found:
    outer, mine, story = group[0]
    holder = next(iter(leaves.built.values()))
    what = f"`{outer.class_name}.forward`"
    number = count(len(group), "module")
    return _told(
        story,
        holder,
        cause=(
            f"{what} calls {number} that {'is' if len(group) == 1 else 'are'} no part of it, so no optimizer has "
            f"{listed([f'`{leaf.name}`' for leaf in mine], NAMED)} of {'it' if len(group) == 1 else 'each'}."
        ),
        built="; parameters() gave it none of these",
        used=f"runs inside of {what} and belongs to no model",
        certainty="likely",
        fix=(
            "Keep it as an attribute of the module, or a list or dictionary of such in nn.ModuleList or nn.ModuleDict, so that "
            "parameters() finds it. If it is not meant to be trained, requires_grad_(False) says so."
        ),
    )


# ----- made too late -----


def _late(case: Case, leaves: Leaves, left: list[Leaf]) -> Found | None:
    """The parameters that were made while their own model ran, when an optimizer had been built before."""
    first = min((each.row for each in leaves.built.values()), default=0)
    mine = [leaf for leaf in left if leaf.row > first and made_inside(case, leaf)]
    story = _left(case, mine) if mine else None
    if story is None:
        return None
    holder = next(iter(leaves.built.values()))
    names, several = _names(mine)
    return _told(
        story,
        holder,
        cause=(
            f"{names} {'are' if several else 'is'} made in forward(), after {holder.op.name}"
            f"{Lines(story.call.site).at(holder.site)} was built, so no optimizer has {'them' if several else 'it'}."
        ),
        used="the first use, in the call that made what is used",
        certainty="likely",
        fix="Make it in __init__(), or run the model once before the optimizer is built, as with lazy layers.",
    )
