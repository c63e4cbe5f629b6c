"""One event in words, and what of it differs from another one."""

import re
from typing import Any, NamedTuple

from agdbg.events import (
    CREATE_GRAPH,
    PREDICTED,
    RETAIN_GRAPH,
    FunctionCall,
    HookAction,
    Kind,
    Outcome,
    a_of,
    b_of,
    flags_of,
    kind_of,
    unpack_edge,
    unpack_float,
    unpack_pair,
    unpack_save,
    unpack_site_op,
)
from agdbg.record.layout import ENTITIES, LAYOUT, Field, Holds
from agdbg.record.lookup import Site
from agdbg.record.reader import Trace
from agdbg.render.clean import printable

_ONE_WRITER = 1 << 32
"""Storages with higher numbers are those that only their maker knows: the number says nothing to a reader."""
_ACTIONS: dict[Kind, tuple[str, ...]] = {
    Kind.HOOK: tuple(each.name.lower() for each in HookAction),
    Kind.FUNCTION: tuple(each.name.lower() for each in FunctionCall),
    Kind.MODULE: ("named", "entered", "left"),
    Kind.SUMMARY: ("output", "gradient in", "gradient out"),
    Kind.PROBE: ("saved", "checked"),
    Kind.OPTIMIZER: ("built", "stepped"),
    Kind.TENSOR: ("", "requires grad", "requires no grad"),
    Kind.DUAL_LEVEL: ("left", "entered"),
}
_OUTCOMES = {Outcome.OK: "ok", Outcome.ERROR: "error", Outcome.SKIPPED: "skipped"}


class Event(NamedTuple):
    """An event for a reader: its row in the trace, its kind, its source line, and what else there is to say, by name."""

    row: int
    kind: str
    site: Site
    facts: dict[str, str]

    @property
    def text(self) -> str:
        """The event in one line."""
        head = [self.kind, *(self.facts.get(name, "") for name in ("op", "line", "source"))]
        rest = [f"{name} {value}".strip() for name, value in self.facts.items() if name not in ("op", "line", "source")]
        told = "  ".join(part for part in head if part)
        return printable(told + (f"  ({', '.join(rest)})" if rest else ""))


def event_at(trace: Trace, row: int) -> Event:
    """The event that a record tells."""
    words: list[int] = trace.records[row].tolist()
    kind = Kind(kind_of(words[0]))
    facts = {"": _head(kind, words[0])}
    site = Site("", 0)
    for field in LAYOUT[kind]:
        if field.holds is Holds.SITE_OP:
            number, op = unpack_site_op(words[field.word])
            site = trace.site(number)
            facts = {"op": trace.op(op).name, "line": _place(site), **facts, "source": site.text.strip()}
        else:
            facts[field.name] = _word(trace, kind, field, words[field.word])
    return Event(
        row, kind.name.lower().replace("_", " "), site, {name: value for name, value in facts.items() if value}
    )


def columns_of(event: Event) -> str:
    """The part of its line that an event is about, with its text, from column 1 on."""
    site = event.site
    if not 0 <= site.col < site.end_col:
        return ""
    part = site.text.encode("utf-8", "surrogatepass")[site.col : site.end_col].decode("utf-8", "replace")
    return f"{site.col + 1}-{site.end_col}" + (f" `{part}`" if site.end_line in (0, site.line) else "")


def _head(kind: Kind, word: int) -> str:
    """What stands in the first word: an action, flags, counts."""
    flags, a, b = flags_of(word), a_of(word), b_of(word)
    found = [_ACTIONS[kind][a]] if kind in _ACTIONS and a < len(_ACTIONS[kind]) else []
    if kind is Kind.PASS_STARTED:
        found += ["retain_graph"] * bool(flags & RETAIN_GRAPH) + ["create_graph"] * bool(flags & CREATE_GRAPH)
    elif kind is Kind.ERROR:
        found += ["predicted"] * bool(flags & PREDICTED)
    elif kind is Kind.BORN:
        found.append(f"{a} in, {b} saved")
    return " ".join(each for each in found if each)


def _word(trace: Trace, kind: Kind, field: Field, word: int) -> str:
    if field.holds is Holds.STORAGE:
        return _storage(word)
    if field.holds in ENTITIES:
        return f"#{word}" if word else ""
    if field.holds is Holds.SITE:
        return _place(trace.site(word & 0xFFFFFFFF))
    if field.holds is Holds.EDGE:
        node, output = unpack_edge(word)
        return (f"#{node}" + (f" output {output}" if output else "")) if node else ""
    if field.holds is Holds.SAVE:
        storage, version, _ = unpack_save(word)
        return f"{_storage(storage)} at version {version}" if word else ""
    if field.holds is Holds.TEXT:
        return (trace.text(word).splitlines() or [""])[0]
    if field.holds is Holds.TEXTS:
        return " ".join(trace.text(half) for half in unpack_pair(word) if half)
    if field.holds is Holds.PAIR:
        return " and ".join(map(str, unpack_pair(word))) if word else ""
    if field.holds is Holds.NORM:
        return f"{unpack_float(word):.9g}"
    if field.name == "outcome":
        return _OUTCOMES.get(Outcome(min(word, Outcome.SKIPPED)), str(word))
    return str(word)


def _storage(number: int) -> str:
    if not number:
        return ""
    return f"s{number}" if number <= _ONE_WRITER else f"the result of #{number & _ONE_WRITER - 1}"


def _place(site: Site) -> str:
    name = re.split(r"[\\/]", site.file)[-1]
    return f"{name}:{site.line}" if site.line else name


def as_json(event: Event) -> dict[str, Any]:
    """The event in values that JSON knows."""
    site = event.site
    return {
        "row": event.row,
        "kind": event.kind,
        "file": site.file,
        "line": site.line,
        "text": site.text,
        "facts": {name or "how": value for name, value in event.facts.items()},
    }
