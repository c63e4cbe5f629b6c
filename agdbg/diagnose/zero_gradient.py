"""zero-gradient: what is trained gets gradients of zeros alone, since one op turns every gradient into zeros.

Told of ops whose derivative is zero everywhere, of a ``relu`` that was not active anywhere in several passes, and of the nodes that
do nothing but call the backward hooks of a module. All other gradients of zeros are a remark of ``no_gradient``: they may come of
weights that are still zero.

Needs: SUMMARY (the extra ``values``), edges, TENSOR, OPTIMIZER, HOOK.
"""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.given_names import leaf_name
from agdbg.diagnose.hook_list import hook_words
from agdbg.diagnose.leaf_fates import LeafFate, fates
from agdbg.diagnose.leaves import Leaves
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.singular import stem
from agdbg.diagnose.source import call_text
from agdbg.diagnose.walk import Mask
from agdbg.diagnose.words import Lines, listed, op_words
from agdbg.events import Summarized
from agdbg.record.facts import NodeFact
from agdbg.record.hooked import HookFact, hooks

KIND = "zero-gradient"
#: Ops whose derivative is zero wherever they have one, and those that may be inactive everywhere.
_FLAT, _INACTIVE = frozenset(("Round", "Sign", "Floor", "Ceil", "Trunc")), frozenset(("Relu",))
#: What calls the hooks of a module, and sends on what they return.
_HOOKS = "BackwardHookFunction"
_KILLING = _FLAT | _INACTIVE | {_HOOKS}
#: Passes in which a relu must have been inactive, and parameters that are named.
PASSES, NAMED = 3, 4


def findings(case: Case) -> list[Found]:
    """One finding for each line whose op leaves trained parameters with gradients of zeros alone."""
    found = (_finding(case, node, mine) for node, mine in _groups(case, Leaves(case)))
    return [each for each in found if each is not None]


def told(case: Case, leaves: Leaves) -> set[int]:
    """The storages of the leaves that a finding is about."""
    groups = _groups(case, leaves)
    return {each.leaf.storage for node, mine in groups if _finding(case, node, mine) is not None for each in mine}


def _groups(case: Case, leaves: Leaves) -> list[tuple[NodeFact, list[LeafFate]]]:
    """The ops that send zeros on, one for each line, and the leaves below them."""
    if not len(case.measured.rows):
        return []
    zeros = [each for each in fates(case, leaves) if each.how == "zeros" and _is_meant(leaves, each)]
    if not zeros:
        return []
    killers = _killers(case)
    groups: dict[int, tuple[NodeFact, list[LeafFate]]] = {}
    for fate in zeros:
        node = _above(case, fate, killers)
        if node is not None:
            groups.setdefault(int(case.walk.made_at[case.walk.place(node.id)]), (node, []))[1].append(fate)
    return list(groups.values())


def _is_meant(leaves: Leaves, fate: LeafFate) -> bool:
    """Whether a leaf is meant to be trained: an optimizer has it, or it is a parameter in a program without any."""
    return leaves.is_trained(fate.leaf) or (bool(fate.leaf.name) and not leaves.are_optimized)


def _killers(case: Case) -> Mask:
    """The places of such ops into which a gradient came and out of which nothing but zeros went."""
    walk, measured = case.walk, case.measured
    alive = (measured.largest > 0) | measured.bad
    came, went = (measured.what == what for what in (Summarized.GRADIENT_IN, Summarized.GRADIENT_OUT))
    masks = [np.zeros(len(walk.ids), bool) for _ in range(3)]
    for mask, chosen in zip(masks, (came & alive, went, went & alive), strict=True):
        mask[measured.place[chosen]] = True
    killed: Mask = masks[0] & masks[1] & ~masks[2]
    ops = walk.made_at >> np.uint64(32)
    known = [op for op in np.unique(ops[killed]).tolist() if stem(case.facts.trace.op(op).name) in _KILLING]
    killed &= np.isin(ops, np.array(known, np.uint64))
    return killed


def _hook_of(case: Case, node: NodeFact) -> HookFact | None:
    """The hook of a module that fired last at a node which only calls such; its registration where that is told."""
    if stem(node.op.name) != _HOOKS:
        return None
    told = [each for each in hooks(case.facts) if each.kind.startswith("module-backward")]
    fired = [each for each in told if each.what == "fired" and each.node == node.id]
    if not fired:
        return None
    return next((each for each in told if each.what == "registered" and each.number == fired[-1].number), fired[-1])


def _above(case: Case, fate: LeafFate, killers: Mask) -> NodeFact | None:
    """The op that turned the gradients of a leaf into zeros: the first one above it; None when there is none."""
    everything = np.ones(len(killers), bool)
    for place in fate.leaf.places:
        start = np.zeros(len(killers), bool)
        start[place] = True
        above = np.flatnonzero(case.walk.above(start, everything) & killers)
        if len(above):
            return case.facts.node(int(case.walk.ids[above[0]]))
    return None


def _finding(case: Case, node: NodeFact, group: list[LeafFate]) -> Found | None:
    runs = case.passes_at(place for each in group for place in each.leaf.places)
    flat, hook = stem(node.op.name) in _FLAT, _hook_of(case, node)
    if not runs or (not flat and hook is None and len(runs) < PASSES):
        return None
    call = runs[0]
    lines = Lines(call.site)
    names = list(dict.fromkeys(name for each in group if (name := leaf_name(case, each)))) or ["of the optimizer"]
    several = len(names) > 1
    module = case.facts.module_of(node.id)
    layer = f" in layer `{module.path}` ({module.class_name})" if module is not None and module.path else ""
    why = "its derivative is zero everywhere" if flat else f"it was inactive everywhere in {len(runs)} passes"
    certainty: Certainty = "possible" if not flat and hook is None else "likely"
    killer = f"{made_by(node)}{lines.at(node.site)}{layer} sends zeros on, since {why}"
    if hook is not None:
        killer = f"{hook_words(case.facts, hook)}{lines.at(hook.defined)} turns every gradient into zeros"
    return Found(
        call.row,
        Finding(
            kind=KIND,
            cause=(
                f"Parameter{'s' if several else ''} {listed(names, NAMED)} {'get' if several else 'gets'} gradients of zeros "
                f"alone: {killer}."
            ),
            evidence=(
                *_evidence_of(hook),
                Evidence("zeros", node.site, f"{op_words(node)}: a gradient came in, and zeros went out", node.id),
                Evidence("needed", call.site, f"`{call_text(call.site, call.call)}` left zeros there"),
            ),
            nodes=(node.id,),
            certainty=certainty,
            fix=_FLAT_FIX if flat else _INACTIVE_FIX if hook is None else _HOOK_FIX,
        ),
    )


def _evidence_of(hook: HookFact | None) -> tuple[Evidence, ...]:
    if hook is None:
        return ()
    defined = (Evidence("hook", hook.defined, "the function", hook.node),) if hook.defined.line else ()
    return (Evidence("registered", hook.site, f"{hook.kind} hook", hook.node), *defined)


_HOOK_FIX = (
    "Look at what the hook returns: None leaves the gradient as it is. To freeze what lies below, use requires_grad_(False) or "
    "detach() instead."
)
_FLAT_FIX = (
    "Use a smooth function in its place, or let the gradient pass through: `x + (y - x).detach()` with `y` the result."
)
_INACTIVE_FIX = (
    "Look at what goes in there: it is negative throughout. A smaller bias or learning rate, another initialisation, or "
    "leaky_relu() keeps gradients alive."
)
