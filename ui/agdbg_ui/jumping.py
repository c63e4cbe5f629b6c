"""Jumps in the graph, and the ways between two nodes that are marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agdbg.counted import counted

if TYPE_CHECKING:
    from agdbg_ui.pane_app import PaneApp
    from agdbg_ui.session import Session

#: Neighbours that are asked for.
_NEAR = 200


class Jumps:
    """From the selected node to others."""

    def __init__(self, app: PaneApp, session: Session) -> None:
        self._app, self._session = app, session

    async def to(self, where: str) -> None:
        """To the ``producer``, the ``consumer``, the ``root`` of the pass or the first ``bad`` node."""
        jump = {"producer": self._beside, "consumer": self._beside, "root": self._root, "bad": self._bad}[where]
        async with self._app.jumping:
            self._app.panes.show_nodes()
            await jump(where)

    async def _beside(self, where: str) -> None:
        if (node := self._app.lanes.selected_node) is None:
            self._app.say("no node is selected")
            return
        other = "consumer" if where == "producer" else "producer"
        edges = (await self._session.ask.beside(node, _NEAR))["edges"]
        found = list(dict.fromkeys(edge[where] for edge in edges if edge[other] == node))
        if not found:
            self._app.say(f"node {node} has no {where}" + (" but leaves" if where == "producer" else ""))
            return
        await self._app.go_to_node(found[0])
        if len(found) > 1:
            others = ", ".join(f"#{each}" for each in found[1:6]) + (" ..." if len(found) > 6 else "")
            self._app.say(f"the first {where} of {len(found)}; others: {others}")

    async def _root(self, where: str) -> None:
        runs = (await self._session.ask.timeline(0, 1, None, self._session.stopped_thread))["runs"]
        if runs:
            await self._app.go_to_node(runs[0]["node"])
        elif not self._app.lanes.to_counter():  # where none has run the first one is where it stands
            self._app.say("no node has run in this pass yet")

    async def _bad(self, where: str) -> None:
        body = await self._session.ask.first_bad()
        node, why = body["node"], body["why"]
        if not node and (node := self._app.lanes.bad_node):  # nothing of it was recorded
            why = "a NaN or an Inf was seen there at a stop"
        if node:
            await self._app.go_to_node(node)
        self._app.say(f"#{node}: {why}" if node else why)

    async def mark(self) -> None:
        """Mark the selected node; when one is marked, show the ways to it; when two are, none any more."""
        async with self._app.jumping:  # a jump that was asked for before has led to the node by then
            await self._mark()

    async def _mark(self) -> None:
        lanes = self._app.lanes
        node = lanes.selected_node
        if node is None:
            self._app.say("no node is selected")
        elif len(lanes.marked) != 1 or node in lanes.marked:
            is_new = not lanes.marked
            lanes.mark(frozenset({node}) if is_new else frozenset())
            self._app.say(f"#{node} is marked; m at another node shows the ways between them" if is_new else "no mark")
        else:
            (first,) = lanes.marked
            body = await self._session.ask.paths(first, node)
            if not body["total"]:
                self._app.say(f"no gradient goes between #{first} and #{node}")
                return
            lanes.mark(frozenset(body["nodes"]))
            edges = len(body["shortest"]) - 1
            more = "; not all of the graph was looked at" if body["cut"] else ""
            self._app.say(
                f"from #{body['first']} to #{body['last']}: {counted(body['total'], 'node')} on all ways, "
                f"{edges} {'edge' if edges == 1 else 'edges'} on the shortest{more}"
            )
