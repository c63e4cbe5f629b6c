"""All about one node: what the trace tells of it, with the values that the program has of it at a stop."""

from collections.abc import Callable
from typing import Any

from agdbg.hub.agents import AgentRefused
from agdbg.hub.call import LATER, Body, Call, Refused
from agdbg.hub.frames import Place
from agdbg.hub.references import Elements, References
from agdbg.hub.span import span_of
from agdbg.norm import Norm, norm_of_all, told

Entry = dict[str, Any]
#: What the parts of a node are called in which hooks of the program unpack what it saved, before the slot.
UNPACK = "unpack "
_NOT_YET = "not there yet"
_NOT_SAVED = "not saved: no gradient needs it"
#: What a trace says of a value, before what else it knows.
_NOT_CAPTURED = "not captured"
#: Before what it tells of a value that it has not, which says nothing beside the value.
_RECORDED = "; recorded in "


def place_of(history: Any, node: int, phase: str = "") -> Place:
    """Where a node was created; before a part of it that calls hooks, where the first of those is defined."""
    found = history.live.node(node)
    if found is None:
        return Place("")
    if phase and (hooks := history.hooks_in(node, phase)):
        return Place(found.op.name, hooks[0]["file"], hooks[0]["line"], hooks[0]["name"])
    return Place(found.op.name, found.site.file, found.site.line, found.site.func, span_of(found.site))


def look_at(
    call: Call, number: int | None, node: int, finish: Callable[[dict[str, Any]], Body], *, inside: bool = False
) -> Any:
    """Answer with what ``finish`` makes of the body of ``agdbg/node`` for a node.

    Args:
        call: who asks.
        number: the thread that stands at it; None: the one that stopped last.
        node: the node.
        finish: makes the answer.
        inside: nothing but its sections is wanted.
    """
    stops = call.session.stops
    cursor = stops.cursor_of(number)
    before = cursor.position.row if cursor is not None and cursor.position is not None else None
    thread = stops.threads.current() if number is None else stops.threads.of(number)
    following, moment = stops.next_node(number), stops.moment(number)
    link = thread.link if cursor is None and thread is not None and thread.stop is not None else None

    both: dict[
        str, dict[str, Any]
    ] = {}  # what the trace tells and what the program does, which are asked at the same time

    def told(body: dict[str, Any]) -> Any:
        stops.mark_next(body, following)
        body["bad"] |= node in stops.bad
        both["body"] = body
        return merged() if link is None or "values" in both else LATER

    def answered(values: dict[str, Any], error: AgentRefused | None) -> None:
        both["values"] = values if error is None else {}
        if "body" in both:
            call.run(merged)

    def merged() -> Any:
        body, values = both["body"], both.get("values", {})
        if thread is not None and values.get("known"):
            Merged(body, values, thread.number, stops.references).merge()
        return finish(body)

    reading = call.session.recorded()

    def look(history: Any) -> dict[str, Any]:
        # of the node that runs next nothing is still to come, and who sends what takes longer to find than all else
        coming = None if node == following else moment
        body: dict[str, Any] | None = (
            history.inside(node, before, coming) if inside else history.node(node, before, moment)
        )
        if body is None:
            raise Refused(f"there is no node {node}: the rows and edges of the graph name those that there are")
        return body

    if link is not None and thread is not None:
        thread.is_looked_at = True
        link.ask("values", answered, node=node)
    if inside and cursor is None:  # a thread has just stopped here
        return reading.ask_at_once(call, lambda history: look(reading.present(history)), told)
    return reading.ask(call, look, told)


class Merged:
    """Puts the values of a node into what the trace tells of it.

    Args:
        body: the body of ``agdbg/node``, which is changed.
        values: what the agent has answered.
        thread: that of the agent.
        references: gives references to the elements.
    """

    def __init__(self, body: dict[str, Any], values: dict[str, Any], thread: int, references: References) -> None:
        self._body, self._values = body, values
        self._thread, self._references = thread, references

    def merge(self) -> None:
        """Do it."""
        self._body["gradient"] = self._arrived()
        passing = [value for what in ("in", "out") for value in self._values.get(what) or [] if value is not None]
        self._body["bad"] |= not all(value.get("finite", True) for value in passing)
        sections = {section["name"]: section["entries"] for section in self._body["sections"]}
        leads = {entry["name"]: f": goes to {entry['value'].partition(' at ')[0]}" for entry in sections["Next edges"]}
        self._gradients(sections["Gradients in"], "in", {})
        self._gradients(sections["Gradients out"], "out", leads)
        self._saved(sections["Saved tensors"])
        told = self._values.get("hooks") or []
        unpacking = [each for each in told if str(each.get("kind")).startswith(UNPACK)]
        self._body["hooks"] = [*map(_code, unpacking), *self._body.get("hooks", ())]
        sections["Hooks"][:] = [_entry(each.get("kind", "hook"), _place(each)) for each in told]
        if self._values.get("grad") is not None:
            sections["Node"].insert(0, {**_entry("grad", ""), **self._shown(self._values["grad"], "grad", 0)})

    def _arrived(self) -> Norm | None:
        """The norm of all that arrives at the node; what the trace knows where one of them has none."""
        norms = [value.get("norm") for value in self._values.get("in") or [] if value is not None]
        known = [norm for norm in norms if norm is not None]
        if known and len(known) == len(norms):
            return told(norm_of_all([float(norm) for norm in known]))
        recorded: Norm | None = self._body["gradient"]
        return recorded

    def _gradients(self, entries: list[Entry], what: str, leads: dict[str, str]) -> None:
        """The trace knows only whether one was replaced by hand, and who has still to send one; `leads` where each goes."""
        by_name = {entry["name"]: entry for entry in entries}
        for which, value in enumerate(self._values.get(what) or []):
            entry = by_name.get(str(which))
            if entry is None:
                if value is None:
                    continue
                entry = _entry(str(which), _NOT_CAPTURED)
                entries.append(entry)
            remark = entry["value"].removeprefix(_NOT_CAPTURED).partition(_RECORDED)[0]
            entry.update(
                {"value": _NOT_YET + leads.get(entry["name"], "")} if value is None else self._shown(value, what, which)
            )
            entry["value"] += remark

    def _saved(self, entries: list[Entry]) -> None:
        by_name = {entry["name"]: entry for entry in entries}
        for slot, saved in (self._values.get("saved") or {}).items():
            entry = by_name.get(slot)
            if entry is None:
                entry = _entry(slot, "")
                entries.append(entry)
            if saved.get("state") == "empty":
                entry["value"] = _NOT_SAVED
                continue
            remark, value, state = _remark(entry, saved), saved.get("value"), saved.get("state", "ok")
            entry.update({"value": ""} if value is None else self._shown(value, "saved", slot))
            parts = (entry["value"], remark) if state == "ok" else (remark, entry["value"])
            entry.update(value="  ".join(part for part in parts if part), state=state)

    def _shown(self, value: dict[str, Any], what: str, which: int | str) -> dict[str, Any]:
        shape = tuple(value.get("shape") or ())
        elements = Elements(self._thread, self._body["node"], what, which, shape)
        return {
            "value": value.get("summary", ""),
            "type": value.get("dtype", ""),
            "reference": self._references.new(self._thread, elements) if value.get("size", 0) else 0,
        }


def _remark(entry: Entry, saved: dict[str, Any]) -> str:
    """What became of a saved tensor; in the program's words where it knows of more than the trace."""
    state, told = saved.get("state", "ok"), str(entry["value"])
    if told and state == entry["state"]:
        return told
    from agdbg.hub.inspection import versions  # brings in numpy, which the trace needs and the hub does not

    now = versions(saved.get("version", 0), saved.get("now", 0))
    return now if state == "ok" else f"{state}: {now}"


def _entry(name: str, value: str) -> Entry:
    return {"name": name, "value": value, "type": "", "reference": 0, "state": ""}


def _code(hook: dict[str, Any]) -> Entry:
    return {"kind": hook["kind"], "name": hook["name"], "file": hook["file"], "line": hook["line"]}


def _place(hook: dict[str, Any]) -> str:
    place = f"{hook['file']}:{hook['line']}" if hook.get("file") else ""
    return "  ".join(part for part in (str(hook.get("name", "")), place) if part)
