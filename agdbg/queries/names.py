"""Parameters and modules: who uses what."""

from collections import Counter

from agdbg.events import Outcome
from agdbg.queries.model import Answer, Query, line
from agdbg.record import Facts
from agdbg.tables.graph import EDGES
from agdbg.tables.model import Row

_SHOWN = 3


def _parameters(facts: Facts, _: int) -> Answer:
    """Named tensors, in how many passes each got a gradient, and the lines that use them."""
    users = _users(facts)
    rows: dict[tuple[str, str], Row] = {}
    producers: dict[tuple[str, str], set[int]] = {}
    for tensor in facts.tensors:
        key = tensor.name, tensor.kind
        producers.setdefault(key, set()).update({tensor.producer} - {0})
        rows[key] = (tensor.name, tensor.kind, tensor.storage, tensor.requires_grad)
    result = []
    for key, row in rows.items():
        used = [node for leaf in sorted(producers[key]) for node in users.get(leaf, ())]
        lines = Counter(line(node.site) for number in used if (node := facts.node(number)) is not None)
        got = {run.pass_id for leaf in producers[key] for run in facts.runs_of(leaf) if run.outcome == Outcome.OK}
        shown = ", ".join([*list(lines)[:_SHOWN], *(["..."] if len(lines) > _SHOWN else [])])
        result.append((*row, len(used), len(got), shown))
    return Answer(("name", "kind", "storage", "requires_grad", "used", "gradients", "lines"), result)


def _users(facts: Facts) -> dict[int, list[int]]:
    """The consumers of each leaf that has a name."""
    leaves = {tensor.producer for tensor in facts.tensors}
    found: dict[int, list[int]] = {}
    for node, _, producer, *_ in EDGES.rows(facts):
        if producer in leaves:
            found.setdefault(producer, []).append(node)
    return found


def _modules(facts: Facts, _: int) -> Answer:
    counts: Counter[int] = Counter()
    for number in facts.node_ids.tolist() if facts.modules else ():
        module = facts.module_of(number)
        if module is not None:
            counts[module.id] += 1
    rows: list[Row] = [(module.path, module.class_name, counts[module.id]) for module in facts.modules]
    return Answer(("path", "class", "nodes"), rows)


QUERIES = (
    Query("parameters", "named tensors: who uses them, and in how many passes each got a gradient", _parameters),
    Query("modules", "modules, and how many nodes were built in each", _modules),
)
