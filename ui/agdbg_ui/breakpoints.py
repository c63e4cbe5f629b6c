"""Where the program is to stop: the breakpoints of this client and of all others."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agdbg.breakpoints import matches, names_of_op, node_number
from agdbg.errors import InputError
from agdbg_ui.backend import Backend

Body = dict[str, Any]


class Breakpoints:
    """Breakpoints on lines and on names, as the hub has them.

    The protocol sets all of a file's at once, or all on names; so those of other clients, which the hub tells of by
    ``breakpoint`` events, are sent along with each change. Changes wait for one another, or the later would undo the
    earlier. The hub knows nothing of one that is switched off: it is kept here, with its number, which it has again
    when it is switched on.

    Attributes:
        on_change: called with ``new``, ``changed`` or ``removed`` and the body of each that was changed by a key.
        on_switched: called when the console has switched some off or on.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._known: dict[int, Body] = {}
        self._off: dict[int, Body] = {}
        self._one_by_one = asyncio.Lock()
        self.on_switched: Callable[[], object] = lambda: None
        self.on_change: Callable[[str, Body], object] = lambda reason, body: None

    # ----- what there is -----

    def lines(self, file: str) -> list[int]:
        """The lines of a file that have one."""
        return sorted(each["line"] for each in self._of(file))

    @property
    def names(self) -> list[str]:
        """The names that have one, in the order in which they were set."""
        return [each["name"] for each in self._on_names()]

    def lines_off(self, file: str) -> list[int]:
        """The lines of a file that have one which is switched off."""
        return sorted(each["line"] for each in self._off.values() if _path(each) == file)

    def is_off_at(self, file: str, line: int, names: Iterable[str], node: int) -> bool:
        """Whether one that is switched off would stop at a node with these names, which was built there."""
        if not self._off:
            return False
        known = [each for name in names for each in names_of_op(name)]
        named = [str(each["name"]) for each in self._off.values() if "name" in each]
        return line in self.lines_off(file) or any(node_number(each) == node or matches(each, known) for each in named)

    @property
    def bodies(self) -> list[Body]:
        """All that are on, as the protocol has them, in the order of their numbers."""
        return [body for _, body in sorted(self._known.items())]

    @property
    def off(self) -> dict[int, Body]:
        """Those that are switched off, by their numbers."""
        return dict(self._off)

    @property
    def all(self) -> list[str]:
        """All in words: names, then files and lines, then those that are off."""
        paths = sorted({_path(each) for each in self._known.values()} - {""})
        lines = [f"{os.path.basename(path)}:{line}" for path in paths for line in self.lines(path)]
        return [*self.names, *lines, *(f"{what_of(each)} (off)" for _, each in sorted(self._off.items()))]

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
            self._off.pop(number, None)

    def put_off(self, off: Mapping[int, Body], on: Iterable[int] = ()) -> None:
        """The console has switched some off, and others are gone or on."""
        for number in on:
            self._off.pop(number, None)
        self._off.update(off)
        self.on_switched()

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
            self._off.pop(number, None)
            if (gone := self._known.get(number)) is None:
                return
            command, arguments = _without(gone, self.bodies)
            body = await self._backend.request(command, **arguments)
            self.took(command, arguments, body)
            self.on_change("removed", gone)

    async def switch(self, number: int) -> bool:
        """Switch one off, or on again with the number that it had; say whether it is on now.

        Raises:
            InputError: there is none, or the hub refuses it now.
        """
        async with self._one_by_one:
            if (body := self._off.get(number)) is not None:
                await self._switch_on([body])
                return True
            if (body := self._known.get(number)) is None:
                raise InputError(f"there is no breakpoint {number} any more")
            command, arguments = _without(body, self.bodies)
            self.took(command, arguments, await self._backend.request(command, **arguments))
            self._off[number] = body
            return False

    async def _switch_on(self, again: list[Body]) -> None:
        """Ask for those at one place once more."""
        command, arguments = _with(again, self.bodies)
        answer = await self._backend.request(command, **arguments)
        count = len(again)
        refused = [why for at in range(-count, 0) if (why := _refused(answer, at))]
        if refused:
            command, arguments = _with([], self.bodies, like=again[0])
            answer = await self._backend.request(command, **arguments)
        self.took(command, arguments, answer)
        if refused:
            raise InputError(refused[0])
        for each in again:
            self._off.pop(each["id"])

    async def switch_on_line(self, file: str, line: int) -> bool:
        """Switch those on again that are off at a line; False where there is none."""
        return await self._switch_on_where(lambda each: _path(each) == file and each["line"] == line)

    async def switch_on_name(self, name: str) -> bool:
        """The same for a name."""
        return await self._switch_on_where(lambda each: each.get("name") == name)

    async def _switch_on_where(self, is_meant: Callable[[Body], bool]) -> bool:
        async with self._one_by_one:
            again = [each for _, each in sorted(self._off.items()) if is_meant(each)]
            if again:
                await self._switch_on(again)
            return bool(again)

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


def _with(more: list[Body], there: list[Body], like: Body | None = None) -> tuple[str, Body]:
    """The request that sets all of a sort and some more, which come last and keep their numbers; and its arguments."""
    one = like or more[0]
    where: Body = {"source": {"path": _path(one)}}
    command = next(name for name, is_replaced in _OF.items() if is_replaced(one, where))
    key = _KEYS[command]
    wanted = [_again(each, key) for each in there if _OF[command](each, where)]
    wanted += [{**_again(each, key), "id": each["id"]} for each in more]
    field = "kinds" if command == "agdbg/setEventBreakpoints" else "breakpoints"
    return command, {field: wanted, **(where if command == "setBreakpoints" else {})}


def _again(breakpoint: Body, key: str) -> Body:
    """A breakpoint as it is asked for once more, with all that says when it stops.

    One that the hub has refused must not become one that stops the program: it gets a condition that is none.
    """
    wanted = {key: breakpoint[key], **{name: breakpoint[name] for name in OPTIONS if name in breakpoint}}
    if breakpoint["verified"] or _waits(breakpoint) or "condition" in wanted:
        return wanted
    return {**wanted, "condition": breakpoint.get("message") or "refused"}
