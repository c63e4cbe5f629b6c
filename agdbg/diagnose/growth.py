"""graph-growth, gradient-cycle: memory that grows from iteration to iteration, since graphs are held that nobody needs.

Needs: HELD, for graphs whose pass is over; births and edges for a sum that links them; PASS_STARTED with the number of
planned nodes, and RAN, for state that is carried over; the source for what no pass goes through (`never_passed.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from agdbg.diagnose.carrying import cut_loose
from agdbg.diagnose.case import Case
from agdbg.diagnose.chains import Chain, chains
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.history import carried
from agdbg.diagnose.holders import Holder, collected_in, put_at
from agdbg.diagnose.meeting import Entry, meet
from agdbg.diagnose.naming import entry_words
from agdbg.diagnose.never_passed import Piled, piled, without_graph
from agdbg.diagnose.running_value import running_value
from agdbg.diagnose.source import assigned, call_text, expression, quoted
from agdbg.diagnose.syntax import unparse
from agdbg.diagnose.words import Lines, count, listed, op_words
from agdbg.record.facts import PassFact
from agdbg.record.hooked import HeldFact, held
from agdbg.record.lookup import Site

GROWTH, CYCLE = "graph-growth", "gradient-cycle"
#: How many graphs must be held, and of how many passes of one line, before it is called growth.
HELD, PASSES = 4, 5
#: The share of its passes that must have left their graph behind.
SHARE = 0.8
#: Nodes of a pass whose names are looked for in collections.
NAMED = 200


def findings(case: Case) -> list[Found]:
    """One finding for each line that makes memory grow."""
    linked = [_chain_found(case, chain) for chain in chains(case)]
    cycles = _cycles(case)
    in_circles = {each.finding.evidence[0].site for each in cycles}  # what a circle keeps is told by its finding
    held_by = [] if linked else [each for each in _roots(case) if each.finding.evidence[-1].site not in in_circles]
    told = [*linked, *held_by, *_carried(case), *cycles]
    lines = {(each.site.file, each.site.line) for found in told for each in found.finding.evidence}
    more = [
        each for each in piled(case, _of_lines(case)) if (each.keeper.site.file, each.keeper.site.line) not in lines
    ]
    return [*told, *map(_piled_finding, more)]


def _of_lines(case: Case) -> list[list[PassFact]]:
    """The passes by the line that called them, inner ones left out."""
    found: dict[Site, list[PassFact]] = {}
    for each in case.facts.passes:
        if each.site.line and not each.parent:
            found.setdefault(each.site, []).append(each)
    return list(found.values())


# ----- sums that link the graphs of all iterations -----


def _chain_found(case: Case, chain: Chain) -> Found:
    site, last = chain.site, chain.last
    name = assigned(site) or "the sum"
    loss = chain.added
    lines = Lines(site)
    ran = (Evidence("call", chain.call.site, "had run those graphs already"),) if chain.call is not None else ()
    certainty: Certainty = "certain" if chain.call is not None else "likely"
    return Found(
        last.row,
        Finding(
            kind=GROWTH,
            cause=(
                f"`{name}`{lines.at(site)} is a sum of tensors with their graphs: it keeps the graphs of "
                f"{count(chain.links + 1, 'iteration')} in memory, and nothing ever differentiates it."
            ),
            evidence=(
                *ran,
                Evidence(
                    "holds", site, f"{op_words(last)} links the graph of each iteration to all before it", last.id
                ),
            ),
            nodes=(last.id,),
            certainty=certainty,
            fix=(
                f"Add the number: `{name} += {loss}.item()`, or `{loss}.detach()` for a tensor."
                if loss
                else f"Add the number: call `.item()` on what is added to `{name}`, or `.detach()` for a tensor."
            ),
        ),
    )


# ----- graphs that live on when their pass is over -----


def _roots(case: Case) -> Iterator[Found]:
    by_pass = {each.pass_id: each for each in held(case.facts) if each.what == "somebody" and each.pass_id}
    for passes in _of_lines(case) if by_pass else []:
        if len(passes) < PASSES or not _made_in_turn(case, passes):
            continue
        told = [by_pass[each.id] for each in passes if each.id in by_pass]
        counts = [each.count for each in told]
        grown = bool(counts) and counts[-1] - counts[0] >= SHARE * (len(passes) - 2)
        if grown and counts[-1] >= HELD and all(b >= a for a, b in pairwise(counts)):
            yield Found(told[-1].row, _roots_finding(case, passes, told[-1]))


def _made_in_turn(case: Case, passes: list[PassFact]) -> bool:
    """Whether most graphs were built when the pass before was over: those built before are held for what is to come."""
    roots = [case.facts.node(each.roots[0][0]) if each.roots else None for each in passes]
    fresh = [node is not None and node.row > before.row for node, before in zip(roots[1:], passes, strict=False)]
    return sum(fresh) >= SHARE * len(fresh)


def _roots_finding(case: Case, passes: list[PassFact], told: HeldFact) -> Finding:
    root = case.facts.node(passes[-1].roots[0][0]) if passes[-1].roots else None
    call = passes[-1]
    name = assigned(root.site) if root is not None else ""
    lines = Lines(call.site)
    held_as, holder = _collected(case, call, name)
    holder = holder or _consumer(case, told)
    state = running_value(case, [each.row for each in passes]) if holder is None else None
    if state is not None:
        holder = Holder(state.text, state.site)
    bank, holder = _put(case, call) if holder is None else ("", holder)
    where = f": `{holder.text}`{lines.at(holder.site)} keeps them" if holder is not None else ""
    made = (
        (Evidence("created", root.site, f"{op_words(root)}: the root of each graph", root.id),)
        if root is not None
        else ()
    )
    keeps = (Evidence("holds", holder.site, "keeps each of them"),) if holder is not None else ()
    kept = held_as or name or "loss"
    number = f"`{kept}.item()`, or " if kept == name else ""
    return Finding(
        kind=GROWTH,
        cause=(
            f"{count(told.count, 'graph')} of earlier iterations were still in memory when `{call_text(call.site, call.call)}`"
            f"{lines.at(call.site)} was called the last time, one more with each call{where}."
        ),
        evidence=(*made, *keeps, Evidence("call", call.site, f"called {count(len(passes), 'time')}")),
        nodes=tuple(node for node in (told.node, root.id if root is not None else 0) if node),
        certainty="certain" if holder is not None else "likely",
        fix=(
            f"Take out of `{bank}` what no backward() goes through any more, as a deque(maxlen=...) does; or, where none is to go "
            f"through it, put it there without its graph, with detach(). A tensor with a graph holds all that it was computed from."
            if bank
            else f"Keep it without its graph: {number}`{kept}.detach()`. A tensor with a graph holds all that it was computed from."
            if state is None
            else f"No backward() goes through `{state.name}`: compute it under no_grad(), or detach it where it is made, "
            f"`{state.name} = {state.name}.detach()` behind {lines(state.site)}."
        ),
    )


# ----- graphs that no pass goes through -----


def _piled_finding(found: Piled) -> Found:
    root, keeper = found.root, found.keeper
    lines = Lines(keeper.site)
    made = "" if root.site.line == keeper.site.line else f", made{lines.at(root.site)},"
    return Found(
        root.row,
        Finding(
            kind=GROWTH,
            cause=(
                f"`{quoted(unparse(keeper.statement))}`{lines.at(keeper.site)} keeps a tensor{made} together with its graph in "
                f"every turn of the loop around `{call_text(found.call.site, found.call.call)}`{lines.at(found.call.site)}: "
                f"{count(found.count, 'graph')} of {count(found.turns, 'turn')} in `{keeper.bank}`, and no "
                f"backward() goes through them."
            ),
            evidence=(
                Evidence("created", root.site, f"{op_words(root)}: the root of each graph", root.id),
                Evidence("holds", keeper.site, "keeps each of them"),
                Evidence("call", found.call.site, "ran none of them"),
            ),
            nodes=(root.id,),
            certainty="likely",
            fix=f"{without_graph(keeper, root.site)}. A tensor with a graph holds all that it was computed from.",
        ),
    )


# ----- state that is carried over, with the graphs kept for it -----


def _collected(case: Case, call: PassFact, name: str) -> tuple[str, Holder | None]:
    """What is put into a collection, by its name, and the statement that does it: near the call, or near the line that made it.

    Names are those that the results of the nodes that the pass ran have on their lines, of the last ones first.
    """
    ran = case.facts.ran(call.id)[:NAMED].tolist()
    nodes = [node for each in ran if (node := case.facts.node(each)) is not None]
    made = [(word, node.site) for node in nodes if (word := assigned(node.site))]
    places = [(word, call.site) for word in dict.fromkeys((name, *(word for word, _ in made))) if word]
    for word, site in dict.fromkeys((*places, *made)):
        holder = collected_in(site, word)
        if holder is not None:
            return word, holder
    return "", None


def _put(case: Case, call: PassFact) -> tuple[str, Holder | None]:
    """The collection that a line of the pass's graph puts what it makes into, with the statement."""
    ran = case.facts.ran(call.id)[:NAMED].tolist()
    sites = dict.fromkeys(node.site for each in ran if (node := case.facts.node(each)) is not None)
    return next((found for site in sites if (found := put_at(site)) is not None), ("", None))


def _consumer(case: Case, told: HeldFact) -> Holder | None:
    """The line of a node outside of the passes' graphs that was computed from what is held: it holds that in turn.

    Not what was computed when it had been held for long already, as a mean behind the loop.
    """
    walk = case.walk
    place = walk.place(told.node)
    above = walk.edges.source[walk.edges.target == place] if place >= 0 else []
    for each in walk.ids[above].tolist():
        node = case.facts.node(each)
        if node is not None and node.row < told.row and node.site.line and not case.facts.passes_of(each):
            return Holder(expression(node.site) or op_words(node), node.site)
    return None


def _carried(case: Case) -> Iterator[Found]:
    for passes in _of_lines(case):
        if len(passes) < PASSES or passes[-1].outcome != "ok":
            continue
        planned = [each.planned for each in passes[-PASSES:]]
        if not planned[0] or not all(b > a for a, b in pairwise(planned)):
            continue
        meeting = meet(case, passes[-2], passes[-1], passes[-1].roots[0][0] if passes[-1].roots else 0)
        entries = carried(case, meeting, passes[-1].end_row)
        if entries and meeting.shared:
            yield Found(passes[-1].row, _carried_finding(case, passes, entries))


def _carried_finding(case: Case, passes: list[PassFact], entries: list[Entry]) -> Finding:
    first, last = passes[0], passes[-1]
    entry, lines = entries[0], Lines(last.site)
    cut = cut_loose(case, entries, lines, passes[-2], last, last.end_row)
    names = listed(list(dict.fromkeys(entry_words(case, each) for each in entries))[:3])
    return Finding(
        kind=GROWTH,
        cause=(
            f"`{call_text(last.site, last.call)}`{lines.at(last.site)} goes back through all earlier iterations, through {names}: "
            f"{count(first.planned, 'node')} in the first call, {count(last.planned, 'node')} in the last."
        ),
        evidence=(
            Evidence("entry", entry.node.site, f"{op_words(entry.node)}: made in the iteration before", entry.node.id),
            Evidence("call", last.site, f"called {count(len(passes), 'time')}"),
        ),
        nodes=(entry.node.id,),
        certainty="certain",
        fix=(
            f"{cut}. Where more of the past is to be trained, detach every few "
            "iterations: what is kept then is bounded."
        ),
    )


# ----- gradients with a graph -----


def _cycles(case: Case) -> list[Found]:
    found: dict[Site, list[HeldFact]] = {}
    for each in held(case.facts):
        call = case.facts.pass_of(each.pass_id) if each.what == "gradient" else None
        if call is not None:
            found.setdefault(call.site, []).append(each)
    return [
        Found(each[0].row, _cycle_finding(case, site, each))
        for site, each in found.items()
        if not _is_broken(case, site, each)
    ]


def _is_broken(case: Case, site: Site, told: list[HeldFact]) -> bool:
    """Whether each turn of a loop took away the gradients of the turn before, so that only those of the last are there."""
    passes = [each.id for each in case.facts.passes if each.site == site and each.create_graph]
    return len(passes) > 1 and {each.pass_id for each in told} == {passes[-1]}


def _cycle_finding(case: Case, site: Site, told: list[HeldFact]) -> Finding:
    call = case.facts.pass_of(told[0].pass_id)
    leaves = dict.fromkeys(each.node for each in told)
    names = [case.facts.name_of_leaf(each.node) or next(iter(case.facts.names(each.storage)), "") for each in told]
    known = [f"`{name}.grad`" for name in dict.fromkeys(filter(None, names))]
    what = listed(known) if known else "the `.grad` of its leaves"
    times = len({each.pass_id for each in told})
    made = call_text(site, call.call if call is not None else "backward")
    again = f", {count(times, 'time')}" if times > 1 else ""
    return Finding(
        kind=CYCLE,
        cause=(
            f"`{made}`{Lines(site).at(site)} with create_graph=True gives {what} a graph{again}, which reaches back to "
            "the leaf that has it: such a circle is not freed when its variables are gone."
        ),
        evidence=(Evidence("call", site, "create_graph=True: the gradient has a graph"),),
        nodes=tuple(leaves),
        certainty="certain",
        fix=(
            "Use `autograd.grad(loss, parameters, create_graph=True)`, which leaves `.grad` alone; or set `.grad = None` "
            "when it was used."
        ),
    )
