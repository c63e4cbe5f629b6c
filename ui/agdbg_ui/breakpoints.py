"""Where the program is to stop: the breakpoints of this client and of all others."""

import asyncio
import os
from typing import Any

from agdbg_ui.backend import Backend

Body = dict[str, Any]


class Breakpoints:
    """Breakpoints on lines and on names, as the hub has them.

    The protocol sets all of a file's at once, or all on names; so those of other clients, which the hub tells of by
    ``breakpoint`` events, are sent along with each change. Changes wait for one another, or the later would undo the
    earlier.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._known: dict[int, Body] = {}
        self._one_by_one = asyncio.Lock()

    # ----- what there is -----

    def lines(self, file: str) -> list[int]:
        """The lines of a file that have one."""
        return sorted(each["line"] for each in self._of(file))

    @property
    def names(self) -> list[str]:
        """The names that have one, in the order in which they were set."""
        return [each["name"] for each in self._on_names()]

    @property
    def all(self) -> list[str]:
        """All in words: names, then files and lines."""
        paths = sorted({_path(each) for each in self._known.values()} - {""})
        return [*self.names, *(f"{os.path.basename(path)}:{line}" for path in paths for line in self.lines(path))]

    # ----- changing it -----

    def follow(self, reason: str, breakpoint: Body) -> None:
        """Take in an event: a breakpoint is ``new``, ``changed`` or ``removed``."""
        if (number := breakpoint.get("id")) is None:
            return
        if reason == "removed":
            self._known.pop(number, None)
        else:
            self._known[number] = breakpoint

    async def toggle_line(self, file: str, line: int) -> bool:
        """Set a breakpoint on a line, or remove it where there is one; say whether there is one now.

        Args:
            file: absolute path.
            line: counts from 1.
        """
        async with self._one_by_one:
            old = self._of(file)
            kept = [_again(each, "line") for each in old if each["line"] != line]
            added = len(kept) == len(old)
            wanted = sorted([*kept, {"line": line}] if added else kept, key=lambda each: int(each["line"]))
            body = await self._backend.request("setBreakpoints", source={"path": file}, breakpoints=wanted)
            source = {"path": file}
            self._replace(old, [{"source": source, **each} for each in body["breakpoints"]])
            return added

    async def toggle_name(self, name: str) -> bool:
        """The same for the name of an op, a node or a parameter."""
        async with self._one_by_one:
            old = self._on_names()
            kept = [_again(each, "name") for each in old if each["name"] != name]
            added = len(kept) == len(old)
            wanted = [*kept, {"name": name}] if added else kept
            body = await self._backend.request("setFunctionBreakpoints", breakpoints=wanted)
            self._replace(old, body["breakpoints"])
            return added

    def _replace(self, old: list[Body], new: list[Body]) -> None:
        for each in old:
            self._known.pop(each["id"], None)
        self._known.update({each["id"]: each for each in new})

    def _of(self, file: str) -> list[Body]:
        return [each for each in self._known.values() if _path(each) == file]

    def _on_names(self) -> list[Body]:
        return [each for each in self._known.values() if "name" in each]


def _path(breakpoint: Body) -> str:
    return str((breakpoint.get("source") or {}).get("path") or "")


def _again(breakpoint: Body, key: str) -> Body:
    """A breakpoint as it is asked for once more.

    One that the hub has refused, as it does with those that have a condition, must not become one that stops the
    program: it gets a condition again, since the one that it had is not told.
    """
    wanted = {key: breakpoint[key]}
    return wanted if breakpoint["verified"] else {**wanted, "condition": breakpoint.get("message") or "refused"}
