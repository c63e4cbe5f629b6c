"""unmarked-write, intermediate-kept, context-cycle, context-written, backward-cut: custom Functions that are wrong in silence.

Needs: FUNCTION, UNMARKED, KEPT; BUMP, RAN, PASS_STARTED, births and CUT.
"""

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.functions import (
    BackwardCall,
    backward_calls,
    born_within,
    defined,
    differentiated_by,
    is_marked_once,
)
from agdbg.diagnose.kept_gradient import FIX, told_by_errors
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines, op_words
from agdbg.events import FunctionCall, Kind, NeedsGrad, unpack_edge
from agdbg.record.facts import BumpFact, PassFact
from agdbg.record.lookup import Site
from agdbg.record.rare import KeptFact, UnmarkedFact

UNMARKED, INTERMEDIATE, CYCLE, WRITTEN, CUT = (
    "unmarked-write",
    "intermediate-kept",
    "context-cycle",
    "context-written",
    "backward-cut",
)
#: Calls of one Function that are looked at.
LIMIT = 200


def findings(case: Case) -> list[Found]:
    """One finding for each Function and each thing that is wrong with it."""
    return [*_unmarked(case), *_kept(case), *_cuts(case)]


def _name(op: str) -> str:
    """The Function's name, of the op of its node."""
    return f"`{op.removesuffix('Backward')}`" if op else "a custom Function"


def _definition(case: Case, node: int, what: FunctionCall) -> tuple[Evidence, ...]:
    site = defined(case, node, what)
    return (Evidence(what.name.lower(), site, "defined here"),) if site.line else ()


# ----- arguments that forward wrote -----


def _unmarked(case: Case) -> list[Found]:
    found: dict[tuple[str, str], UnmarkedFact] = {}
    for each in case.facts.unmarked:
        if case.facts.words(each.row)[5] != NeedsGrad.NO:
            found.setdefault((each.op.name, each.argument), each)
    return [Found(each.row, _unmarked_finding(case, each)) for each in found.values()]


def _unmarked_finding(case: Case, told: UnmarkedFact) -> Finding:
    wrote = next((each for each in reversed(case.facts.bumps(told.storage)) if each.row < told.row), None)
    lines = Lines(told.site)
    where = lines.at(wrote.site) if wrote is not None else ""
    writes = (
        (Evidence("wrote", wrote.site, f"{wrote.op.name} changed `{told.argument}`", wrote.node),)
        if wrote is not None
        else ()
    )
    return Finding(
        kind=UNMARKED,
        cause=(
            f"forward() of {_name(told.op.name)}, applied{lines.at(told.site)}, changes its argument `{told.argument}` in "
            f"place{where} without ctx.mark_dirty(): autograd goes on with the history of the old value, and gradients are wrong."
        ),
        evidence=(
            Evidence("applied", told.site, _name(told.op.name), told.node),
            *_definition(case, told.node, FunctionCall.FORWARD),
            *writes,
        ),
        nodes=(told.node,),
        certainty="certain" if case.facts.words(told.row)[5] == NeedsGrad.YES else "likely",
        fix=(
            f"Call ctx.mark_dirty({told.argument}) in forward() and return `{told.argument}`; or work on "
            f"`{told.argument}.clone()`."
        ),
    )


# ----- tensors on the context -----


def _kept(case: Case) -> list[Found]:
    found: dict[tuple[str, str, str], Found] = {}
    looked: dict[tuple[str, str], int] = {}
    told = told_by_errors(case) if case.facts.kept else set()
    for each in case.facts.kept:
        op = _op(case, each)
        looked[op, each.name] = looked.get((op, each.name), 0) + 1
        if looked[op, each.name] > LIMIT:
            continue
        for made in _of_kept(case, each, op):
            if made.finding.kind == INTERMEDIATE and each.node in told:
                continue
            found.setdefault((op, each.name, made.finding.kind), made)
    return list(found.values())


def _op(case: Case, kept: KeptFact) -> str:
    """The op of the node; of one that no graph needed it is told by its calls."""
    node = case.facts.node(kept.node)
    if node is not None:
        return node.op.name
    rows = case.facts.rows_about(Kind.FUNCTION, kept.node)
    return case.facts.call_at(rows[0]).op.name if rows else ""


def _of_kept(case: Case, kept: KeptFact, op: str) -> list[Found]:
    if kept.role == "changed":
        return _changed(case, kept, op)
    made = []
    if kept.role == "output" and case.facts.node(kept.node) is not None:
        made.append(Found(kept.row, _cycle_finding(case, kept, op)))
    if kept.role == "intermediate" and case.facts.words(kept.row)[5] != NeedsGrad.NO:
        made += _second_derivative(case, kept, op)
    if not kept.name.startswith("saved_tensors["):
        made += _written(case, kept, op)
    return made


def _cycle_finding(case: Case, kept: KeptFact, op: str) -> Finding:
    return Finding(
        kind=CYCLE,
        cause=(
            f"`ctx.{kept.name}` of {_name(op)}, applied{Lines(kept.site).at(kept.site)}, is an output of the Function: output and "
            "context hold each other, and their memory is not freed when the graph is dropped."
        ),
        evidence=(
            Evidence("applied", kept.site, f"its forward() put an output on ctx as `{kept.name}`", kept.node),
            *_definition(case, kept.node, FunctionCall.FORWARD),
        ),
        nodes=(kept.node,),
        certainty="certain",
        fix="Save it with ctx.save_for_backward(), and read ctx.saved_tensors in backward().",
    )


def _second_derivative(case: Case, kept: KeptFact, op: str) -> list[Found]:
    """Only where the gradient of its backward was wanted: else an intermediate is as good as any other tensor."""
    for call in backward_calls(case, kept.node):
        if not call.call.create_graph or is_marked_once(case, call):
            continue
        again = differentiated_by(case, born_within(case, call), call.end)
        return [Found(kept.row, _second_finding(case, kept, op, call, again))]
    return []


def _second_finding(case: Case, kept: KeptFact, op: str, call: BackwardCall, again: PassFact | None) -> Finding:
    lines = Lines(kept.site)
    where = f"ctx.{kept.name}"
    second = (Evidence("second call", again.site, "differentiated that once more"),) if again is not None else ()
    how: Certainty = "likely" if again is not None else "possible"
    return Finding(
        kind=INTERMEDIATE,
        cause=(
            f"`{where}` of {_name(op)}, applied{lines.at(kept.site)}, is neither argument nor output of forward(): the gradient "
            "of backward() does not flow through it, so a second derivative lacks what depends on it, without an error."
        ),
        evidence=(
            Evidence("applied", kept.site, f"its forward() kept `{where}`", kept.node),
            *_definition(case, kept.node, FunctionCall.FORWARD),
            *_definition(case, kept.node, FunctionCall.BACKWARD),
            Evidence(
                "first call",
                call.call.site,
                f"`{call_text(call.call.site, call.call.call)}` ran backward() with create_graph",
            ),
            *second,
        ),
        nodes=(kept.node,),
        certainty=how,
        fix=FIX,
    )


def _written(case: Case, kept: KeptFact, op: str) -> list[Found]:
    """What an attribute of the context holds has no version that is checked."""
    for call in backward_calls(case, kept.node):
        since = [each for each in case.facts.bumps(kept.storage) if kept.row < each.row < call.row]
        if since:
            return [Found(since[0].row, _written_finding(case, kept, op, call, since[0]))]
    return []


def _written_finding(case: Case, kept: KeptFact, op: str, call: BackwardCall, bump: BumpFact) -> Finding:
    lines = Lines(kept.site)
    return Finding(
        kind=WRITTEN,
        cause=(
            f"`ctx.{kept.name}` of {_name(op)}, applied{lines.at(kept.site)}, was changed in place{lines.at(bump.site)} "
            f"({bump.op.name or 'a write'}) before backward() used it: an attribute of ctx has no version that is checked, so "
            "nothing was raised."
        ),
        evidence=(
            Evidence("applied", kept.site, f"its forward() kept `ctx.{kept.name}`", kept.node),
            Evidence(
                "wrote",
                bump.site,
                f"version {bump.old} to {bump.new}, by {bump.op.name or 'an op without a name'}",
                bump.node,
            ),
            Evidence("needed", call.call.site, "ran backward()"),
        ),
        nodes=(kept.node,),
        certainty="certain",
        fix=f"Use ctx.save_for_backward() for arguments and outputs, or keep a clone: `ctx.{kept.name} = ... .clone()`.",
    )


def _changed(case: Case, kept: KeptFact, op: str) -> list[Found]:
    """Its numbers are others, and nobody has told of a write."""
    calls = [each for each in backward_calls(case, kept.node) if each.row < kept.row]
    if case.facts.words(kept.row)[5] != NeedsGrad.YES or not calls:
        return []
    return [Found(kept.row, _changed_finding(case, kept, op, calls[-1]))]


def _changed_finding(case: Case, kept: KeptFact, op: str, call: BackwardCall) -> Finding:
    name, element, _ = kept.name.partition("[")
    where = "list or dict" if element else "memory"
    copy = f"`ctx.{name} = ... .{'clone' if kept.storage else 'copy'}()`"
    return Finding(
        kind=WRITTEN,
        cause=(
            f"`ctx.{kept.name}` of {_name(op)}, applied{Lines(kept.site).at(kept.site)}, holds other numbers when backward() "
            f"reads it than when forward() ended: it was changed in between, by NumPy, through `.data` or in a {where} that "
            "others have too. Nothing checks that, and the gradient is that of the new numbers."
        ),
        evidence=(
            Evidence("applied", kept.site, f"its forward() kept `ctx.{kept.name}`", kept.node),
            *_definition(case, kept.node, FunctionCall.FORWARD),
            *_definition(case, kept.node, FunctionCall.BACKWARD),
            Evidence("needed", call.call.site, "ran backward()"),
        ),
        nodes=(kept.node,),
        certainty="certain",
        fix=(
            f"Put copies of the elements into a new list or dict for `ctx.{name}` in forward()."
            if element
            else f"Keep a copy in forward(): {copy}."
        ),
    )


# ----- graphs that end inside of backward -----


def _cuts(case: Case) -> list[Found]:
    """Where ``backward`` leaves the graph while a graph of the gradient is wanted."""
    facts = case.facts
    rows = facts.rows(Kind.CUT)
    if not len(rows) or not any(each.create_graph for each in facts.passes):
        return []
    found: dict[Site, Found] = {}
    nodes = dict.fromkeys(each.node for each in facts.function_calls if each.what == "backward" and each.pass_id)
    calls = (call for node in nodes for call in backward_calls(case, node))
    for call in (each for each in calls if each.call.create_graph and not is_marked_once(case, each)):
        for row in rows[rows.searchsorted(call.row) : rows.searchsorted(call.end)].tolist():
            site, op = facts.site_and_op(facts.words(row)[2])
            if site not in found and unpack_edge(facts.words(row)[3])[0]:
                found[site] = Found(row, _cut_finding(case, call, site, op.name))
    return list(found.values())


def _cut_finding(case: Case, call: BackwardCall, site: Site, how: str) -> Finding:
    node = case.facts.node(call.node)
    name = _name(node.op.name) if node is not None else "a custom Function"
    lines = Lines(call.call.site)
    applied = (Evidence("applied", node.site, f"built {op_words(node)}", node.id),) if node is not None else ()
    return Finding(
        kind=CUT,
        cause=(
            f"backward() of {name} leaves the graph{lines.at(site)} ({how}) while "
            f"`{call_text(call.call.site, call.call.call)}`{lines.at(call.call.site)} wants a graph of the gradient: a second "
            "derivative lacks this part, without an error."
        ),
        evidence=(
            *applied,
            *_definition(case, call.node, FunctionCall.BACKWARD),
            Evidence("cut", site, how),
            Evidence("first call", call.call.site, "ran it with create_graph"),
        ),
        nodes=(call.node,),
        certainty="likely",
        fix="Compute the gradient with operations of tensors all the way, or mark backward() with @once_differentiable.",
    )
