"""non-leaf: the ``.grad`` of a tensor is read that is no leaf: it stays None, while the gradient goes to the leaf.

``x = x.to(device)`` and ``w = randn(3, requires_grad=True) * 0.1`` give a name to what was computed. That is no fault by
itself: it is one where the program then reads the name's ``.grad``. An engine that tells of such reads makes it certain; of
one that does not the source has to say (``lost_leaf.py``).

Needs: GRAD_READ, or else edges to leaves, TENSOR (parameters of modules have other names) and the source file; PASS_STARTED.
"""

import ast
import re
from collections.abc import Iterator

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.guarded import guarded_update
from agdbg.diagnose.lost_leaf import grad_read, is_lost_parameter, makes_leaf_at, name_of_copy
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.source import assigned
from agdbg.diagnose.syntax import name_of, read
from agdbg.diagnose.words import Lines, op_words
from agdbg.record.facts import NodeFact
from agdbg.record.hooked import grad_reads
from agdbg.record.lookup import Site

KIND = "non-leaf"
#: Lines that are looked at.
LIMIT = 500
_TESTED = re.compile(r"\.grad\s+is\s+(not\s+)?None")


def findings(case: Case) -> list[Found]:
    """One finding for each line that made something whose gradient is read and never kept."""
    last = max((each.row for each in case.facts.passes), default=-1)
    found = {node.site: told for node, told in _reads(case)}
    sees = case.facts.trace.meta.get("sees")
    told_by_engine = isinstance(sees, dict) and bool(sees.get("gradient reads"))
    for node, index in _first_users(case):
        if node.row >= last or node.site in found:
            continue
        name = name_of_copy(node, index)
        read_at = grad_read(node.site, name) if name and not told_by_engine else None
        if read_at is not None or is_lost_parameter(node.site, name):
            found[node.site] = _found(case, node, name, read_at, "likely")
    return list(found.values())


def _reads(case: Case) -> Iterator[tuple[NodeFact, Found]]:
    """The nodes that made tensors whose missing gradient was read, those of one line once."""
    seen: set[Site] = set()
    for told in grad_reads(case.facts):
        node = case.facts.node(told.node)
        if node is None or node.op.name.endswith("AccumulateGrad") or node.site in seen:
            continue
        name, tested = _read_name(told.site), bool(_TESTED.search(told.site.text))
        mine = bool(name) and name == assigned(node.site)
        if tested and not (mine and (guarded_update(told.site, name) or _takes_name(case, node, name))):
            continue
        seen.add(node.site)
        yield node, _found(case, node, name, told.site, "likely" if tested else "certain")


def _read_name(site: Site) -> str:
    """The name whose ``grad`` is read at a site; empty when it is not known."""
    reading = read(site)
    return name_of(reading.found.value) if reading is not None and isinstance(reading.found, ast.Attribute) else ""


def _first_users(case: Case) -> list[tuple[NodeFact, int]]:
    """The first node of each line that uses a leaf which is no parameter of a module, and as which input."""
    walk = case.walk
    named = walk.mask(each.producer for each in case.facts.tensors if each.producer)
    edges = walk.edges
    at = np.flatnonzero((walk.leaves & ~named)[edges.target])
    _, first = np.unique(walk.made_at[edges.source[at]], return_index=True)
    chosen = at[np.sort(first)][:LIMIT]
    users = [(case.facts.node(int(walk.ids[edges.source[each]])), int(edges.index[each])) for each in chosen.tolist()]
    return [(node, index) for node, index in users if node is not None]


def _takes_name(case: Case, node: NodeFact, name: str) -> bool:
    """Whether the line that built a node leaves a leaf without a name of its own, so that a test of the name means the leaf."""
    below = [case.facts.node(edge.node) if edge.node else None for edge in node.edges]
    leaves = [each is not None and each.op.name.endswith("AccumulateGrad") for each in below]
    if makes_leaf_at(node.site):
        return name_of_copy(node, 0) == name
    return any(is_leaf and name_of_copy(node, index) == name for index, is_leaf in enumerate(leaves))


def _is_copy(case: Case, node: NodeFact) -> bool:
    """Whether a node works on a leaf alone."""
    below = [case.facts.node(edge.node) for edge in node.edges if edge.node]
    return len(below) == 1 and below[0] is not None and below[0].op.name.endswith("AccumulateGrad")


def _found(case: Case, node: NodeFact, name: str, read_at: Site | None, certainty: Certainty) -> Found:
    lines, what = Lines(node.site), f"`{name}`" if name else "a tensor"
    made = f"{made_by(node)}{lines.at(node.site)}"
    call = next((each for each in case.facts.passes if each.row > node.row), None)
    evidence = [Evidence("copied", node.site, f"{op_words(node)}: what it gives is no leaf", node.id)]
    if call is not None:
        evidence.append(Evidence("needed", call.site, "leaves the gradient in the leaf"))
    if read_at is not None:
        test = _TESTED.search(read_at.text)
        truth = f"; so this test is {'never' if test[1] else 'always'} true" if test is not None else ""
        note = f"reads the grad of {what}, which is None: only that of a leaf is filled{truth}"
        evidence.append(Evidence("read", read_at, note))
    if _is_copy(case, node):
        how = f"{what} is a non-leaf copy of a leaf since {made}: the gradient goes to that leaf"
    else:
        how = f"{what}, made by {made}, is no leaf: the gradient goes through it and on to the leaves"
    return Found(
        node.row,
        Finding(
            kind=KIND,
            cause=f"{how[:1].upper()}{how[1:]}, and {f'`{name}.grad`' if name else 'its grad'} stays None.",
            evidence=tuple(evidence),
            nodes=(node.id,),
            certainty=certainty,
            fix=_fix(case, node, name or "x"),
        ),
    )


def _fix(case: Case, node: NodeFact, name: str) -> str:
    if f"{name}.grad" in node.site.text:
        return (
            f"Update it in place and without a graph: `with no_grad(): {name} -= ...`, so that it stays the same leaf."
        )
    if not _is_copy(case, node):
        return f"Call `{name}.retain_grad()` before backward(), or read the grad of the leaf that it was computed from."
    return (
        f"Make the leaf last: compute and convert first, then `{name}.requires_grad_()`; or give the copy another name and "
        f"read the leaf's grad; or call `{name}.retain_grad()` before backward()."
    )
