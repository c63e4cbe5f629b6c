"""One box for all that one call of a module has built.

As with every fold, a box is a stretch of one order in which producers come first, so that no cycle is made. The nodes of a
module that calls others, and what came in between, is several stretches.
"""

from collections.abc import Hashable
from dataclasses import replace
from itertools import groupby

from agdbg.graph.fold import folded_edges, folded_node
from agdbg.graph.model import Graph, GraphNode, ModuleCall
from agdbg.graph.topology import topology_of


def fold_modules(graph: Graph, depth: int | None = None) -> Graph:
    """A graph in which the nodes of a module are one box; nodes that failed stay, and those of the root of a model.

    Args:
        graph: with modules.
        depth: fold what a module of so many parts in its path has called, too; None: every module by itself.

    Raises:
        ValueError: the graph's edges and nodes do not fit together.
    """
    topology = topology_of(graph)
    result = Graph(graph.title, [], [], list(graph.notes))
    owner = [0] * topology.size
    folds = 0
    for (module, _), places in groupby(topology.order, lambda at: _key(graph.nodes[at], at, depth)):
        members = sorted(places)
        for position in members:
            owner[position] = len(result.nodes)
        if module is None or len(members) == 1:
            result.nodes += [graph.nodes[position] for position in members]
            continue
        result.nodes.append(_box(module, [graph.nodes[position] for position in members]))
        folds += 1
    result.edges = folded_edges(graph.edges, topology, owner, result.nodes)
    boxes = "1 box is a module" if folds == 1 else f"{folds:,} boxes are modules"
    result.notes.append(f"{boxes}." if folds else "No node was built in a module that is a part of another.")
    return result


def _box(module: ModuleCall, members: list[GraphNode]) -> GraphNode:
    """One box, that has the shapes of its last node: as a rule that is what the module gives."""
    box = folded_node(members, 0, 0, f"{module.path} ({module.class_name})")
    calls = members[0].modules
    return replace(box, shapes=members[-1].shapes, modules=calls[: calls.index(module) + 1])


def _key(node: GraphNode, position: int, depth: int | None) -> tuple[ModuleCall | None, Hashable]:
    """The call that a node belongs to; a node that is to stay belongs to none, and is like no other."""
    calls = [call for call in node.modules if call.path and (depth is None or call.path.count(".") < depth)]
    if node.state == "failed" or not calls:
        return None, position
    return calls[-1], calls[-1].call
