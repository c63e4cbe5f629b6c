"""Why a hook never fired: one reason for each, and whether that is a mistake."""

from __future__ import annotations

from dataclasses import dataclass

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence
from agdbg.diagnose.hook_list import Registered
from agdbg.events import Kind, ModuleEvent, a_of
from agdbg.record.facts import PassFact


@dataclass(frozen=True)
class Reason:
    """Why a hook never fired.

    Attributes:
        words: the reason, to follow "because".
        mistake: whether somebody should look at it; a hook for a pass that never came is none.
        fix: what to do.
        evidence: further lines.
    """

    words: str
    mistake: bool
    fix: str = ""
    certainty: Certainty = "certain"
    evidence: tuple[Evidence, ...] = ()


_USE_TENSOR = (
    "Register on the tensor: `x.register_hook(f)` for its gradient on the way, or `x.register_post_accumulate_grad_hook(f)` "
    "for its `.grad`; these outlive the graph. Or keep the AccumulateGrad node in a variable."
)


def reason(case: Case, hook: Registered) -> Reason:
    """The reason for one that did not fire."""
    fact = hook.fact
    passes = [each for each in case.facts.passes if fact.row < each.end_row and each.row < hook.removed]
    if fact.kind.startswith("module-forward"):
        return Reason("the module was not called while it was registered", mistake=False)
    if fact.kind == "final-callback":
        return Reason("the pass did not come to its end", mistake=False)
    if not passes:
        return _no_pass(case, hook)
    if all(each.outcome != "ok" for each in passes):
        return Reason("every pass after it was registered ended in an error", mistake=False)
    if fact.kind.startswith("module-"):
        return _of_module(case, hook)
    return _of_node(case, hook, passes)


def _no_pass(case: Case, hook: Registered) -> Reason:
    before = [case.facts.pass_of(run.pass_id) for run in case.facts.runs_of(hook.fact.node)] if hook.fact.node else []
    ran = next((each for each in before if each is not None and each.row < hook.fact.row), None)
    if ran is not None and not _is_leaf(case, hook.fact.node):
        return _too_late(ran)
    if hook.removed < len(case.facts.trace.records):
        return Reason("it was removed before any pass ran", mistake=False)
    return Reason("no backward pass ran after it was registered", mistake=False)


def _too_late(ran: PassFact) -> Reason:
    return Reason(
        "the pass that ran its node was over when it was registered",
        mistake=True,
        fix="Register it before that call of backward().",
        evidence=(Evidence("call", ran.site, "ran the node before"),),
    )


def _of_module(case: Case, hook: Registered) -> Reason:
    if not _entered_since(case, hook.fact.row):
        return Reason(
            "no module was called after it was registered: a backward hook of a module takes hold when the module is called",
            mistake=True,
            fix="Register it before the forward pass.",
        )
    return Reason("no gradient went through a call of its module after it was registered", mistake=False)


def _entered_since(case: Case, row: int) -> bool:
    rows = case.facts.rows(Kind.MODULE)
    later = rows[rows > row].tolist()
    return any(a_of(case.facts.words(each)[0]) == ModuleEvent.ENTERED for each in later) or not len(rows)


def _of_node(case: Case, hook: Registered, passes: list[PassFact]) -> Reason:
    fact, facts = hook.fact, case.facts
    runs = [run for run in facts.runs_of(fact.node) if fact.row < run.row < hook.removed] if fact.node else []
    if runs and fact.kind != "post-accumulate":
        return Reason("its node ran, but no gradient came in", mistake=False)
    if all(each.call == "grad" for each in passes) and (fact.kind == "post-accumulate" or _is_leaf(case, fact.node)):
        return _only_grad(passes[0])
    if _is_leaf(case, fact.node) and fact.kind in ("pre", "post"):
        return _dead_accumulator(case, hook)
    earlier = next((facts.pass_of(run.pass_id) for run in facts.runs_of(fact.node) if run.row < fact.row), None)
    if earlier is not None and not _is_leaf(case, fact.node):
        return _too_late(earlier)
    return _written_since(case, hook) or _unreached(case, hook)


def _only_grad(first: PassFact) -> Reason:
    return Reason(
        "autograd.grad() accumulates nothing: it returns the gradient, and the leaf's AccumulateGrad does not run",
        mistake=True,
        fix="Call backward(), or use `x.register_hook(f)`, which fires with grad() too.",
        evidence=(Evidence("call", first.site, "computes gradients without accumulating them"),),
    )


def _dead_accumulator(case: Case, hook: Registered) -> Reason:
    twins = accumulators_of(case, hook.fact.storage) - {hook.fact.node}
    ran = any(run.row > hook.fact.row for twin in twins for run in case.facts.runs_of(twin))
    return Reason(
        "it is on an AccumulateGrad node that nothing held: the leaf got a new one with its next graph, and that has no hook",
        mistake=True,
        fix=_USE_TENSOR,
        certainty="certain" if ran else "likely",
    )


def accumulators_of(case: Case, storage: int) -> set[int]:
    """The AccumulateGrad nodes of the leaves in a storage, as far as names and shapes tell."""
    named = {each.producer for each in case.facts.tensors if storage and each.storage == storage and each.producer}
    told = case.facts.rows(Kind.SHAPE)
    words = case.facts.trace.records[told]
    return named | set(words[words[:, 4] == storage, 1].tolist() if storage else [])


def _written_since(case: Case, hook: Registered) -> Reason | None:
    """A view whose base was written, or a tensor that was written through one: it has a new node, the hook stays with the old."""
    storage = 0 if _is_leaf(case, hook.fact.node) or not hook.fact.node else hook.fact.storage
    bumps = [each for each in case.facts.bumps(storage) if hook.fact.row < each.row < hook.removed] if storage else []
    if not bumps:
        return None
    return Reason(
        "its tensor got a new grad_fn when the memory was written in place, and the hook stays with the old one",
        mistake=True,
        fix="Register the hook after the in-place op, or write the op out of place.",
        certainty="likely",
        evidence=(
            Evidence(
                "wrote", bumps[0].site, f"{bumps[0].op.name} gave the tensor another place in the graph", bumps[0].node
            ),
        ),
    )


def _unreached(case: Case, hook: Registered) -> Reason:
    node = case.facts.node(hook.fact.node)
    leaf = _is_leaf(case, hook.fact.node) or (node is None and hook.fact.kind in ("tensor", "post-accumulate"))
    return Reason(
        "no backward pass reached it: what was differentiated does not depend on it",
        mistake=not leaf and hook.fact.kind in ("tensor", "pre", "post"),
        fix="Register it on a tensor that the loss is computed from, or look for the place where the path was cut.",
        certainty="likely",
    )


def _is_leaf(case: Case, number: int) -> bool:
    node = case.facts.node(number) if number else None
    return node is not None and node.op.name.endswith("AccumulateGrad")
