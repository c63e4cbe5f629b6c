"""What is wrong with a graph before its backward, from the graph as it lies in memory.

Each function gives the findings of one kind. What the engine holds is observed, so what is said of it is certain; what would
have to be known of the program besides (whether ``backward()`` will be called at all) is not said.
"""

from os.path import basename

from agdbg.diagnose.finding import Certainty, Evidence, Finding, weakest
from agdbg.diagnose.source import expression
from agdbg.diagnose.words import count, listed, slot_words
from agdbg.incode.live import LiveGraph, LiveNode, LiveTrouble
from agdbg.record.lookup import NO_SITE, Site

_SHOWN = 6


def findings(graph: LiveGraph) -> list[Finding]:
    """All findings about a graph, those first that make its backward fail."""
    if not graph.root:
        return no_graph(graph)
    return [*not_scalar(graph), *freed(graph), *modified(graph), *not_finite(graph), *unreached(graph)]


def no_graph(graph: LiveGraph) -> list[Finding]:
    """``backward()`` of what requires no grad is refused, that of a leaf goes no further."""
    if graph.requires_grad:
        return []
    cause = "The tensor has no graph and does not require grad: `backward()` on it fails, and no gradient can come through it."
    fix = "Look for a detach(), no_grad(), .data or integer op on its way; agdbg.record() names the place."
    return [Finding("no-grad-fn", cause, (), (), "certain", fix)]


def not_scalar(graph: LiveGraph) -> list[Finding]:
    """``backward()`` without a gradient needs a single number."""
    if graph.elements == 1:
        return []
    shape = f"[{', '.join(map(str, graph.shape))}]"
    cause = f"The tensor has shape {shape}: `backward()` without a gradient is for a single number only."
    root = _node(graph, graph.root)
    fix = "Reduce it, as by sum() or mean(), or pass a gradient of its shape."
    return [Finding("non-scalar", cause, _made(root), (graph.root,), "certain", fix)]


def freed(graph: LiveGraph) -> list[Finding]:
    """An earlier call has freed what nodes had saved; one finding for each such call."""
    calls: dict[tuple[str, Site], list[LiveNode]] = {}
    for node in graph.nodes:
        if node.trouble is not None and node.trouble.kind == "backward-twice":
            calls.setdefault((node.trouble.call, node.trouble.site), []).append(node)
    return [twice(nodes, call, site) for (call, site), nodes in calls.items()]


def twice(nodes: list[LiveNode], call: str, site: Site) -> Finding:
    """What ``nodes`` had saved was freed by one call."""
    last = nodes[-1]
    cause = (
        f"`{call}()`{_at(site)} freed what {_nodes(nodes)} of this graph had saved{_at(last.site)}: a backward through "
        f"{'it' if len(nodes) == 1 else 'them'} fails."
    )
    evidence = (Evidence("created", last.site, last.op, last.id), Evidence("first call", site, "freed what was saved"))
    fix = (
        "Call backward() once, on the sum of the losses; or pass retain_graph=True to that call; or detach() what is carried "
        "over from an earlier iteration."
    )
    return Finding("backward-twice", cause, _known(evidence), tuple(each.id for each in nodes[:_SHOWN]), "certain", fix)


def modified(graph: LiveGraph) -> list[Finding]:
    """What nodes had saved was written to since; one finding for each line that built such a node."""
    found: dict[Site, LiveNode] = {}
    for node in graph.nodes:
        if node.trouble is not None and node.trouble.kind == "inplace-modified":
            found.setdefault(node.site, node)
    return [written(node, node.trouble) for node in found.values() if node.trouble is not None]


def written(node: LiveNode, trouble: LiveTrouble) -> Finding:
    """What ``node`` had saved was written."""
    lines = list(dict.fromkeys(_line(write.site) for write in trouble.writes if write.site.line))
    by = f"{listed(lines)} changed in place since" if lines else "was changed in place since"
    cause = (
        f"{node.op}{_at(node.site)} saved {slot_words(trouble.slot)} at version {trouble.expected}, which {by}: it is at version "
        f"{trouble.current} now, and a backward through it fails."
    )
    evidence = [
        Evidence(
            "saved", node.site, f"{node.op} saved {slot_words(trouble.slot)} at version {trouble.expected}", node.id
        )
    ]
    for write in trouble.writes[-_SHOWN:]:
        evidence.append(Evidence("wrote", write.site, f"{write.op}: version {write.version}"))
    missing = trouble.current - trouble.expected - len(trouble.writes)
    certainty: Certainty = "certain" if not missing else "likely" if trouble.writes else "possible"
    fix = "Write out of place there, or after the backward, or let the op that saves work on a clone()."
    return Finding("inplace-modified", cause, _known(tuple(evidence)), (node.id,), certainty, fix)


def not_finite(graph: LiveGraph) -> list[Finding]:
    """The tensor itself holds NaN or infinity; the earliest node that saved something like it is where to look first."""
    if graph.finite is not False:
        return []
    first = next((node for node in graph.nodes if node.finite is False), None)
    what = "NaN" if graph.has_nan else "infinity"
    cause = f"The tensor holds {what}, and gradients will not be finite either."
    if first is not None:
        cause = f"The tensor holds {what}, and {first.op}{_at(first.site)} is the first node that saved such a number."
    certainty: Certainty = "possible" if first is None else "likely"
    nodes = (graph.root,) if first is None else (first.id,)
    evidence = (
        _made(_node(graph, graph.root)) if first is None else (Evidence("saved", first.site, first.op, first.id),)
    )
    fix = "Look at that line's inputs: a sqrt or log at 0, a division by 0, an exp that overflows."
    return [Finding("nan" if graph.has_nan else "inf", cause, evidence, nodes, certainty, fix)]


def unreached(graph: LiveGraph) -> list[Finding]:
    """Parameters of the models in the graph that require grad and that it does not reach.

    That this loss gives them no gradient is certain; that it should, or that no other loss does, is not.
    """
    missing = [each.name for each in graph.parameters if each.requires_grad and not each.reached]
    if not missing:
        return []
    have = "has" if len(missing) == 1 else "have"
    reached = sum(each.reached for each in graph.parameters)
    does = "does" if reached == 1 else "do"
    others = f", though the model's other {count(reached, 'parameter')} {does}" if reached else ""
    cause = (
        f"{listed((f'`{name}`' for name in missing), _SHOWN)} {have} no part in this graph{others}: no gradient comes from "
        "this loss. Whether one comes from another is not known here."
    )
    fix = (
        "If this loss should train them, use them, or look for a detach() or no_grad() on the way; if none should, freeze them "
        "with requires_grad_(False)."
    )
    return [Finding("no-gradient", cause, (), (), "possible", fix)]


def surest(told: Finding | None, seen: Finding | None) -> Finding | None:
    """What a trace tells of something, unless what was seen in memory is surer: a trace may have begun too late."""
    if told is None or seen is None:
        return told or seen
    return seen if weakest(told.certainty, seen.certainty) != seen.certainty else told


# ----- words -----


def _node(graph: LiveGraph, number: int) -> LiveNode:
    return next(node for node in graph.nodes if node.id == number)


def _made(node: LiveNode) -> tuple[Evidence, ...]:
    return _known((Evidence("created", node.site, node.op, node.id),))


def _known(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    return tuple(each for each in evidence if each.site != NO_SITE)


def _nodes(nodes: list[LiveNode]) -> str:
    return nodes[0].op if len(nodes) == 1 else count(len(nodes), "node")


def _line(site: Site) -> str:
    """The expression that ran there, or the line where its columns are not known, and the place."""
    text = expression(site) or site.text.strip()
    return f"`{text}` at {basename(site.file)}:{site.line}" if text else f"{basename(site.file)}:{site.line}"


def _at(site: Site) -> str:
    return f" at {basename(site.file)}:{site.line}" if site.line else ""
