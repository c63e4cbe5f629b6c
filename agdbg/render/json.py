"""A graph as JSON, for other programs.

Schema, version 1; fields are only ever added within a version::

    {
      "format": "agdbg-graph", "version": 1,
      "title": str,
      "notes": [str, ...],                  what was folded or left out
      "nodes": [                            in creation order
        {"id": int,                         as in the trace; a fold has the id of its first member
         "op": str, "site": "file.py:12" or "", "text": source line or "",
         "state": "pending" | "ran" | "freed" | "failed",
         "badges": [{"text": str, "kind": "parameter" | "leaf" | "saved"}, ...],
         "count": int,                      1, or how many nodes a fold stands for
         "shapes": ["float32[3, 4]", ...],  of its outputs; none when they were not recorded
         "module": str}],                   the path of the module that it was built in; "" for none and for the root
      "edges": [                            from the consumer (nearer the loss) to the producer
        {"from": node id, "to": node id,
         "output_nr": int,                  which output of the producer
         "input_index": int,                which input of the consumer
         "count": int,                      1, or how many edges stand behind an edge of a fold
         "certainty": "observed" | "inferred" | "unknown"}]
    }

Strings are as recorded, without shortening. The text is ASCII, all else is escaped, lone surrogates too.
One node or edge a line, so that files of two runs can be compared line by line.
"""

import json
from collections.abc import Iterable

from agdbg.graph.model import Graph, GraphEdge, GraphNode

FORMAT = "agdbg-graph"
VERSION = 1


class JsonRenderer:
    """Writes the schema of this module's docstring."""

    def render(self, graph: Graph) -> str:
        """Return the JSON text of `graph`."""
        return (
            "{\n"
            f'"format": {json.dumps(FORMAT)}, "version": {VERSION},\n'
            f'"title": {json.dumps(graph.title)},\n'
            f'"notes": {_lines(graph.notes)},\n'
            f'"nodes": {_lines(map(_node, graph.nodes))},\n'
            f'"edges": {_lines(map(_edge, graph.edges))}\n'
            "}\n"
        )


def _lines(items: Iterable[object]) -> str:
    lines = ",\n".join(map(json.dumps, items))
    return f"[\n{lines}\n]" if lines else "[]"


def _node(node: GraphNode) -> dict[str, object]:
    return {
        "id": node.id,
        "op": node.op,
        "site": node.site,
        "text": node.text,
        "state": node.state,
        "badges": [{"text": badge.text, "kind": badge.kind} for badge in node.badges],
        "count": node.count,
        "shapes": list(node.shapes),
        "module": node.module,
    }


def _edge(edge: GraphEdge) -> dict[str, object]:
    return {
        "from": edge.src,
        "to": edge.dst,
        "output_nr": edge.output_nr,
        "input_index": edge.input_index,
        "count": edge.count,
        "certainty": edge.certainty,
    }
