"""``agdbg.lint``: what is wrong with the graph of a tensor before its backward."""

from typing import Any

from agdbg.counted import counted
from agdbg.diagnose.finding import Finding
from agdbg.incode.findings import Findings
from agdbg.incode.live import LiveGraph, LiveNode
from agdbg.incode.live_findings import findings, surest
from agdbg.incode.readers import reader_of
from agdbg.record.lookup import NO_SITE


def lint(tensor: Any, model: Any = None) -> Findings:
    """Check the graph of a tensor without running it; nothing is changed by that.

    With a recording on, what the trace tells of the same nodes is there too, and whoever wrote or freed is named by it.

    Args:
        tensor: the loss, say.
        model: a module whose parameters the graph should reach; without it those models are meant of which it reaches some.

    Raises:
        TypeError: it is no tensor of an engine that agdbg can read.
    """
    reader = reader_of(tensor)
    graph = reader.read(tensor, model)
    found = findings(graph)
    recorder = reader.recorder()
    if recorder is not None:
        recorder.flush()
        found = _with_trace(graph, found, recorder)
    return Findings(found, f"nothing was found in a graph of {counted(len(graph.nodes), 'node')}")


def _with_trace(graph: LiveGraph, found: list[Finding], recorder: Any) -> list[Finding]:
    """The findings with those of the trace: its own in place of ours about the same error, and its lints about these nodes."""
    from agdbg.diagnose import lint as lint_trace
    from agdbg.record import Facts, Trace

    facts = Facts(Trace.open(recorder.path))
    better = {node.id: _told(facts, node) for node in graph.nodes if _is_written(node)}
    result = [_better(each, better) for each in found]
    nodes = {node.id for node in graph.nodes}
    kinds = {each.kind for each in result}
    for each in lint_trace(facts):
        if nodes.intersection(each.nodes) and each.kind not in kinds:
            result.append(each)
    return list(dict.fromkeys(result))


def _is_written(node: LiveNode) -> bool:
    """Whether the trace may know more: who freed is known, and what would call again is not."""
    return node.trouble is not None and node.trouble.kind == "inplace-modified"


def _better(seen: Finding, told: dict[int, Finding | None]) -> Finding:
    """A finding, or what the trace tells of one of its nodes."""
    about = next((found for number in seen.nodes if (found := told.get(number))), None)
    return surest(about, seen) or seen


def _told(facts: Any, node: LiveNode) -> Finding | None:
    """What the diagnoses of the trace say of the error that the node will raise."""
    from agdbg.diagnose import finding_of
    from agdbg.record.facts import ErrorFact

    trouble = node.trouble
    assert trouble is not None
    row = len(facts.trace.records)
    error = ErrorFact(
        trouble.kind, node.id, 0, NO_SITE, trouble.storage, trouble.expected, trouble.current, trouble.text, trouble.slot,
        row, True,
    )  # fmt: skip
    return finding_of(facts, error)
