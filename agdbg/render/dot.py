"""A graph in the DOT language, for Graphviz and all that reads it. No program is run, only text written."""

from textwrap import wrap

from graphviz import Digraph, escape

from agdbg.graph.model import STATES, Graph, GraphEdge, GraphNode, NodeState
from agdbg.render.clean import printable, shorten

TEXT_LIMIT = 48
"""Columns that a source line may take in a box."""

NOTE_COLUMNS = 100

_STYLES: dict[NodeState, dict[str, str]] = {
    "pending": {"style": "filled,dashed", "fillcolor": "#ffffff", "color": "#6b7686"},
    "ran": {"style": "filled", "fillcolor": "#e4f0fd", "color": "#2b6cb0"},
    "freed": {"style": "filled,dotted", "fillcolor": "#eceef1", "color": "#6b7686", "fontcolor": "#566070"},
    "failed": {"style": "filled,bold", "fillcolor": "#fde4e4", "color": "#c62828", "peripheries": "2"},
}
_MARKS = {"parameter": "[parameter]", "leaf": "(leaf)", "saved": "<saved>"}


class DotRenderer:
    """Writes a digraph whose arrows go from consumers up to producers, the way gradients flow."""

    def render(self, graph: Graph) -> str:
        """Return the DOT source of `graph`."""
        dot = Digraph("agdbg")
        dot.attr("graph", rankdir="BT", label=_header(graph), labelloc="t", fontname="Helvetica", fontsize="12")
        dot.attr("node", shape="box", fontname="Helvetica", fontsize="11")
        dot.attr("edge", color="#6b7686", fontname="Helvetica", fontsize="9")
        for node in graph.nodes:
            dot.node(f"n{node.id}", _label(node), id=f"n{node.id}", tooltip=_tooltip(node), **_style(node))
        mixed = graph.certainty is None
        for edge in graph.edges:
            dot.edge(f"n{edge.src}", f"n{edge.dst}", **_edge(edge, mixed))
        source: str = dot.source
        return source


def _header(graph: Graph) -> str:
    lines = [graph.title]
    for note in graph.notes:
        lines += wrap(printable(note), NOTE_COLUMNS)
    legend = ", ".join(state for state in STATES if any(node.state == state for node in graph.nodes))
    if graph.certainty not in (None, "observed"):
        lines.append(f"edges: {graph.certainty}, not observed")
    if legend:
        lines.append(f"states: {legend}")
    return _joined([*lines, ""], "\\n")


def _label(node: GraphNode) -> str:
    head = f"{node.op} #{node.id}" if node.state != "failed" else f"FAILED: {node.op} #{node.id}"
    lines = [head, shorten(", ".join(node.shapes), TEXT_LIMIT), node.site, shorten(node.text, TEXT_LIMIT)]
    lines += [f"{_MARKS[badge.kind]} {badge.text}" for badge in node.badges]
    return _joined([line for line in lines if line], "\\l")


def _joined(lines: list[str], end: str) -> str:
    """Lines for a label, each with its own end."""
    return "".join(_literal(line) + end for line in lines)


def _literal(text: str) -> str:
    """Text in which nothing means anything to Graphviz: no escape, no entity, no HTML label."""
    literal: str = escape(printable(text).replace("&", "&amp;"))
    return literal


def _tooltip(node: GraphNode) -> str:
    module = f", in {node.module}" if node.module else ""
    return _literal(f"{node.state}{module}: {node.text.strip() or node.op}")


def _style(node: GraphNode) -> dict[str, str]:
    style = _STYLES[node.state]
    return {**style, "shape": "box3d"} if node.count > 1 else style


def _edge(edge: GraphEdge, mixed: bool) -> dict[str, str]:
    attributes = {}
    if edge.count > 1:
        attributes["label"] = f"\N{MULTIPLICATION SIGN}{edge.count}"
    elif edge.output_nr:
        attributes["label"] = f"output {edge.output_nr}"
    if mixed and edge.certainty != "observed":
        attributes["style"] = "dashed"
    return attributes
