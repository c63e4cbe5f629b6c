"""What the UI asks the hub: the graph, one node, events, source, output; each answer is the body of a response."""

from typing import Any

from agdbg_ui.backend import Backend

Body = dict[str, Any]


class Queries:
    """The custom requests, and the few standard ones that only ask or type."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def status(self) -> Body:
        """How the program is."""
        return await self._backend.request("agdbg/status")

    async def rows(self, start: int, count: int, thread: int | None = None) -> Body:
        """A page of the lane view, the number of rows and the program counter."""
        return await self._backend.request("agdbg/rows", start=start, count=count, **_of(thread))

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

    async def findings(self) -> Body:
        """What ``agdbg explain`` says."""
        return await self._backend.request("agdbg/findings")

    async def exception(self, thread: int) -> Body:
        """The diagnosis of what a thread stopped for."""
        return await self._backend.request("exceptionInfo", threadId=thread)

    async def source(self, path: str) -> str:
        """The text of a source file."""
        body = await self._backend.request("source", source={"path": path}, sourceReference=0)
        text: str = body["content"]
        return text

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
