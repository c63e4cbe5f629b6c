"""What the UI asks the hub: the graph, one node, events, source, output; each answer is the body of a response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agdbg_ui.backend import Backend

if TYPE_CHECKING:
    from agdbg.protocol.vendor import Folds

Body = dict[str, Any]


class Queries:
    """The custom requests, and the few standard ones that only ask or type."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def status(self) -> Body:
        """How the program is."""
        return await self._backend.request("agdbg/status")

    async def processes(self) -> list[Body]:
        """This process, and the others where it is one of a parallel program."""
        found: list[Body] = (await self._backend.request("agdbg/processes"))["processes"]
        return found

    async def rows(self, start: int, count: int, thread: int | None = None, folds: Folds | None = None) -> Body:
        """A page of the lane view, the number of rows and the program counter."""
        folded = {} if folds is None else {"folds": folds}
        return await self._backend.request("agdbg/rows", start=start, count=count, **_of(thread), **folded)

    async def fold(self, row: int, how: str, folds: Folds) -> Body:
        """What is folded after a move at a row, and where the row stands then."""
        return await self._backend.request("agdbg/fold", row=row, how=how, folds=folds)

    async def find(self, text: str, start: int, backwards: bool) -> int | None:
        """The row of the next match from `start` on, or None."""
        body = await self._backend.request("agdbg/find", text=text, start=start, backwards=backwards)
        row: int | None = body["row"]
        return row

    async def locate(self, node: int) -> int | None:
        """The row of a node, or None."""
        row: int | None = (await self._backend.request("agdbg/locate", node=node))["row"]
        return row

    async def node(self, node: int, thread: int | None = None) -> Body:
        """All about a node."""
        return await self._backend.request("agdbg/node", node=node, **_of(thread))

    async def events(self, start: int, count: int) -> Body:
        """A page of rare events; a negative start counts from the end."""
        return await self._backend.request("agdbg/events", start=start, count=count)

    async def findings(self, lints: bool = False) -> Body:
        """What ``agdbg explain`` says, and when asked what ``agdbg lint`` does."""
        return await self._backend.request("agdbg/findings", **({"lints": True} if lints else {}))

    async def pass_of(self, node: int, thread: int | None) -> Body:
        """The timeline of the pass that ran a node, without runs: that in which the thread stands if it did, or else the last."""
        return await self._backend.request("agdbg/timeline", start=0, count=0, node=node, **_of(thread))

    async def timeline(self, start: int, count: int, pass_id: int | None, thread: int | None) -> Body:
        """A page of the runs of a pass; None: that in which the thread stands, or the last."""
        chosen = {} if pass_id is None else {"pass": pass_id}
        return await self._backend.request("agdbg/timeline", start=start, count=count, **chosen, **_of(thread))

    async def profile(self, pass_id: int, start: int, count: int, points: int) -> Body:
        """A pass as a whole, and what is held in a page of its runs."""
        wanted = {"pass": pass_id, "start": start, "count": count, "points": points}
        return await self._backend.request("agdbg/profile", **wanted)

    async def neighbourhood(self, node: int, hops: int, depth: int = 0) -> Body:
        """The boxes around a node, or by modules at a depth all that hangs together with it."""
        level = {"depth": depth} if depth else {}
        return await self._backend.request("agdbg/neighbourhood", node=node, hops=hops, **level)

    async def tensor(self, reference: int, wanted: Body) -> Body:
        """A page of a tensor."""
        return await self._backend.request("agdbg/tensor", variablesReference=reference, **wanted)

    async def tree(self, start: int, count: int) -> Body:
        """A page of modules and parameters."""
        return await self._backend.request("agdbg/tree", start=start, count=count)

    async def paths(self, one: int, other: int) -> Body:
        """The nodes between two nodes."""
        return await self._backend.request("agdbg/paths", **{"from": one, "to": other})

    async def first_bad(self) -> Body:
        """The first node with a NaN or an Inf, or the first that failed."""
        return await self._backend.request("agdbg/firstBad")

    async def beside(self, node: int, count: int) -> Body:
        """The nodes one edge away from a node, and the edges between them."""
        return await self._backend.request("agdbg/graph", node=node, hops=1, start=0, count=count)

    async def leave_recording(self) -> None:
        """Look at where the program stands again."""
        await self._backend.request("agdbg/goto")

    async def goto(self, record: int) -> None:
        """Look at the recording as it was at a record."""
        await self._backend.request("agdbg/goto", row=record)

    async def exception(self, thread: int) -> Body:
        """The diagnosis of what a thread stopped for."""
        return await self._backend.request("exceptionInfo", threadId=thread)

    async def source(self, path: str) -> tuple[str, bool]:
        """The text of a source file as it is now, and whether it was written to after the program began."""
        body = await self._backend.request("source", source={"path": path}, sourceReference=0)
        return body["content"], bool(body.get("changed"))

    async def output(self, start: int, length: int) -> Body:
        """A piece of the program's output, in bytes."""
        return await self._backend.request("agdbg/output", start=start, length=length)

    async def export(self, path: str, overwrite: bool) -> Body:
        """Write the graph as SVG."""
        return await self._backend.request("agdbg/export", path=path, overwrite=overwrite)

    async def evaluate(self, expression: str, frame: int | None) -> Body:
        """Python on the stopped thread."""
        arguments = {} if frame is None else {"frameId": frame}
        return await self._backend.request("evaluate", expression=expression, context="repl", **arguments)

    async def children(self, reference: int, start: int, count: int) -> Body:
        """What is inside a value."""
        return await self._backend.request("variables", variablesReference=reference, start=start, count=count)

    async def type_in(self, text: str) -> None:
        """Type into the program's terminal."""
        await self._backend.request("agdbg/input", text=text)

    async def resize(self, columns: int, rows: int) -> None:
        """Tell the size of the program's terminal."""
        await self._backend.request("agdbg/resize", columns=columns, rows=rows)


def _of(thread: int | None) -> Body:
    return {} if thread is None else {"threadId": thread}
