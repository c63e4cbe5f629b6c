"""Which errors the program stops at: the filters that the hub has, and those that this client has switched on."""

import asyncio
from typing import Any, NamedTuple

from agdbg_ui.backend import Backend


class Filter(NamedTuple):
    """A kind of error to stop at."""

    id: str
    label: str
    description: str
    is_default: bool


class Filters:
    """The filters, in the order of the hub. The protocol sets all at once, and tells nobody of them.

    Attributes:
        known: all that the hub has.
        on: the ids of those that are on.
        options: by id what the console has said of when one stops; it holds when it is switched on again, too.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._one_by_one = asyncio.Lock()
        self.known: tuple[Filter, ...] = ()
        self.on: frozenset[str] = frozenset()
        self.options: dict[str, dict[str, Any]] = {}

    async def begin(self, abilities: dict[str, Any]) -> None:
        """Take the filters out of the answer to ``initialize``, and switch on those that are the default."""
        self.known = tuple(map(_filter, abilities.get("exceptionBreakpointFilters", ())))
        await self._set(frozenset(each.id for each in self.known if each.is_default))

    async def toggle(self, filter_id: str) -> str:
        """Switch one on or off, and return what the hub has to say about that, if anything; raises what it says against it."""
        async with self._one_by_one:
            return (await self._set(self.on ^ {filter_id})).get(filter_id, "")

    def took(self, command: str, arguments: dict[str, Any]) -> bool:
        """Whether others were switched on by the console, with a request and its arguments."""
        if command != "setExceptionBreakpoints":
            return False
        more = {str(option["filterId"]): dict(option) for option in arguments.get("filterOptions", ())}
        self.on = frozenset([*arguments["filters"], *more])
        self.options = {name: option for name, option in self.options.items() if name not in self.on} | more
        return True

    async def _set(self, on: frozenset[str]) -> dict[str, str]:
        there = [each.id for each in self.known if each.id in on]
        plain, more = ([name for name in there if (name in self.options) == has] for has in (False, True))
        options = {"filterOptions": [self.options[name] for name in more]} if more else {}
        wanted = [*plain, *more]
        answer = await self._backend.request("setExceptionBreakpoints", filters=plain, **options)
        self.on = on
        made: list[dict[str, Any]] = answer.get("breakpoints") or []
        return {name: str(body.get("message") or "") for name, body in zip(wanted, made, strict=False)}


def _filter(body: dict[str, Any]) -> Filter:
    return Filter(body["filter"], body["label"], body.get("description") or "", bool(body.get("default")))
