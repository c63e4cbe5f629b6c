"""Where the program is to stop: the breakpoints of this client and of all others."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agdbg.errors import InputError
from agdbg_ui.backend import Backend

Body = dict[str, Any]


class Breakpoints:
    """Breakpoints on lines and on names, as the hub has them.

    The protocol sets all of a file's at once, or all on names; so those of other clients, which the hub tells of by
    ``breakpoint`` events, are sent along with each change. Changes wait for one another, or the later would undo the
    earlier.

    Attributes:
        on_change: called with ``new``, ``changed`` or ``removed`` and the body of each that was changed by a key.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._known: dict[int, Body] = {}
        self._one_by_one = asyncio.Lock()
        self.on_change: Callable[[str, Body], object] = lambda reason, body: None

    # ----- what there is -----

    def lines(self, file: str) -> list[int]:
        """The lines of a file that have one."""
        return sorted(each["line"] for each in self._of(file))

    @property
    def names(self) -> list[str]:
        """The names that have one, in the order in which they were set."""
        return [each["name"] for each in self._on_names()]

    @property
    def bodies(self) -> list[Body]:
        """All, as the protocol has them, in the order of their numbers."""
        return [body for _, body in sorted(self._known.items())]

    @property
    def all(self) -> list[str]:
        """All in words: names, then files and lines."""
        paths = sorted({_path(each) for each in self._known.values()} - {""})
        return [*self.names, *(f"{os.path.basename(path)}:{line}" for path in paths for line in self.lines(path))]

    def called(self, numbers: Iterable[int]) -> str:
        """Those with the numbers, by number and what they are on: ``breakpoint 1, net.py:11``."""
        there = [self._known[number] for number in numbers if number in self._known]
        return "; ".join(
            f"{'watch' if 'dataId' in each else 'breakpoint'} {each['id']}, {what_of(each)}" for each in there
        )

    # ----- changing it -----

    def follow(self, reason: str, breakpoint: Body) -> None:
        """Take in an event: a breakpoint is ``new``, ``changed`` or ``removed``."""
        if (number := breakpoint.get("id")) is None:
            return
        if reason == "removed":
            self._known.pop(number, None)
        else:
            self._known[number] = breakpoint

    def took(self, command: str, arguments: Body, body: Body) -> bool:
        """Take in the answer to what the console has asked for; False when that was about no breakpoints."""
        if (is_replaced := _OF.get(command)) is None:
            return False
        wanted: list[Body] = arguments["kinds"] if "kinds" in arguments else arguments["breakpoints"]
        source = {"source": arguments["source"]} if "source" in arguments else {}
        old = [each for each in self._known.values() if is_replaced(each, arguments)]
        made = zip(wanted, body["breakpoints"], strict=True)
        self._replace(old, [{**source, **asked, **answer} for asked, answer in made if answer.get("id") is not None])
        return True

    async def remove(self, number: int) -> None:
        """Take one away, whatever it is on; one that is not there any more is none."""
        async with self._one_by_one:
            if (gone := self._known.get(number)) is None:
                return
            command, arguments = _without(gone, self.bodies)
            body = await self._backend.request(command, **arguments)
            self.took(command, arguments, body)
            self.on_change("removed", gone)

    async def toggle_line(self, file: str, line: int) -> bool:
        """Set a breakpoint on a line, or remove it where there is one; say whether there is one now.

        Args:
            file: absolute path.
            line: counts from 1.

        Raises:
            InputError: the hub refuses it; it is not kept.
        """
        async with self._one_by_one:
            old = self._of(file)
            kept = [_again(each, "line") for each in old if each["line"] != line]
            added = len(kept) == len(old)
            wanted = sorted([*kept, {"line": line}] if added else kept, key=lambda each: int(each["line"]))
            source = {"path": file}
            body = await self._backend.request("setBreakpoints", source=source, breakpoints=wanted)
            if added and (why := _refused(body, wanted.index({"line": line}))):
                body = await self._backend.request("setBreakpoints", source=source, breakpoints=kept)
            self._changed(old, [{"source": source, **each} for each in body["breakpoints"]])
            if added and why:
                raise InputError(why)
            return added

    async def toggle_name(self, name: str) -> bool:
        """The same for the name of an op, a node or a parameter."""
        async with self._one_by_one:
            old = self._on_names()
            kept = [_again(each, "name") for each in old if each["name"] != name]
            added = len(kept) == len(old)
            wanted = [*kept, {"name": name}] if added else kept
            body = await self._backend.request("setFunctionBreakpoints", breakpoints=wanted)
            if added and (why := _refused(body, -1)):
                body = await self._backend.request("setFunctionBreakpoints", breakpoints=kept)
            self._changed(old, body["breakpoints"])
            if added and why:
                raise InputError(why)
            return added

    def _changed(self, old: list[Body], new: list[Body]) -> None:
        self._replace(old, new)
        before, after = ({each["id"]: each for each in some} for some in (old, new))
        for number in before.keys() - after.keys():
            self.on_change("removed", before[number])
        for number in after.keys() - before.keys():
            self.on_change("new", after[number])

    def _replace(self, old: list[Body], new: list[Body]) -> None:
        for each in old:
            self._known.pop(each["id"], None)
        self._known.update({each["id"]: each for each in new})

    def _of(self, file: str) -> list[Body]:
        return [each for each in self._known.values() if _path(each) == file]

    def _on_names(self) -> list[Body]:
        return [each for each in self._known.values() if "name" in each]


def what_of(body: Mapping[str, Any]) -> str:
    """What a breakpoint is on: a line, a name, a kind of event; or what is watched, as somebody has called it."""
    if path := str((body.get("source") or {}).get("path") or ""):
        return f"{os.path.basename(path)}:{int(body.get('line') or 0)}"
    data = str(body.get("dataId") or "")
    name = data.removeprefix("name:")
    watched = str(body.get("label") or "") or (data if name == data else f"parameters and buffers called {name}")
    return str(body.get("name") or body.get("kind") or watched)


def _refused(body: Body, at: int) -> str:
    """Why one of those that were asked for can never stop the program; "" when it can."""
    answer = body["breakpoints"][at]
    return "" if answer.get("verified") or _waits(answer) else str(answer.get("message") or "")


def _waits(breakpoint: Body) -> bool:
    """Whether it will stop the program once there is something that is called so."""
    return breakpoint.get("reason") == "pending"


def _path(breakpoint: Body) -> str:
    return str((breakpoint.get("source") or {}).get("path") or "")


#: By the request that sets breakpoints: which of those that there are it takes the place of.
_OF: dict[str, Callable[[Body, Body], bool]] = {
    "setBreakpoints": lambda each, arguments: bool(_path(each)) and _path(each) == arguments["source"].get("path"),
    "setFunctionBreakpoints": lambda each, arguments: "name" in each,
    "setDataBreakpoints": lambda each, arguments: "dataId" in each,
    "agdbg/setEventBreakpoints": lambda each, arguments: "kind" in each,
}
_KEYS = {
    "setBreakpoints": "line",
    "setFunctionBreakpoints": "name",
    "setDataBreakpoints": "dataId",
    "agdbg/setEventBreakpoints": "kind",
}
#: Fields that say when it stops, which are told of each breakpoint and sent again with it.
OPTIONS = ("condition", "hitCondition", "ignore", "logMessage", "temporary", "when")


def _without(gone: Body, there: list[Body]) -> tuple[str, Body]:
    """The request that sets all of its sort but one, and its arguments."""
    where: Body = {"source": {"path": _path(gone)}}
    command = next(name for name, is_replaced in _OF.items() if is_replaced(gone, where))
    kept = [_again(each, _KEYS[command]) for each in there if each["id"] != gone["id"] and _OF[command](each, where)]
    field = "kinds" if command == "agdbg/setEventBreakpoints" else "breakpoints"
    return command, {field: kept, **(where if command == "setBreakpoints" else {})}


def _again(breakpoint: Body, key: str) -> Body:
    """A breakpoint as it is asked for once more, with all that says when it stops.

    One that the hub has refused must not become one that stops the program: it gets a condition that is none.
    """
    wanted = {key: breakpoint[key], **{name: breakpoint[name] for name in OPTIONS if name in breakpoint}}
    if breakpoint["verified"] or _waits(breakpoint) or "condition" in wanted:
        return wanted
    return {**wanted, "condition": breakpoint.get("message") or "refused"}
