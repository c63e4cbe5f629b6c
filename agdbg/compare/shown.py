"""What ``agdbg diff`` says: where two runs part, what differs there, and what stands around it in both."""

from functools import cached_property
from typing import Any

import numpy as np

from agdbg.compare.canonical import Canonical
from agdbg.compare.parting import Parting, has
from agdbg.compare.wording import Event, columns_of, event_at
from agdbg.compare.wording import as_json as event_as_json
from agdbg.counted import counted
from agdbg.events import Kind
from agdbg.record.ending import ending_of
from agdbg.record.layout import LAYOUT, Holds
from agdbg.record.reader import Trace
from agdbg.render.clean import fit, printable

FORMAT = "agdbg-diff"
VERSION = 1
_WIDTH = 110
_LOW, _HIGH = np.uint64((1 << 32) - 1), np.uint64(32)


class Shown:
    """A parting with its surroundings.

    Args:
        one: a trace.
        other: another.
        parting: where they part.
        context: how many events around are shown.
    """

    def __init__(self, one: Trace, other: Trace, parting: Parting, context: int) -> None:
        self.traces = one, other
        self.parting = parting
        self.context = context

    @property
    def sides(self) -> tuple[Canonical, Canonical]:
        """What was compared of both."""
        return self.parting.one, self.parting.other

    @cached_property
    def before(self) -> list[Event]:
        """The last events that both have, as the first trace tells them."""
        place = self.parting.place
        return [] if place is None else self._events(0, max(place - self.context, 0), place)

    def after(self, side: int) -> list[Event]:
        """The event of a side in which the runs part, and those behind it; none where the trace ends there."""
        place = self.parting.place
        return [] if place is None else self._events(side, place, place + 1 + self.context)

    def _events(self, side: int, start: int, end: int) -> list[Event]:
        rows = self.sides[side].rows[start:end].tolist()
        return [event_at(self.traces[side], row) for row in rows]

    @cached_property
    def differs(self) -> dict[str, tuple[str, str]]:
        """The facts of both events that differ, by name; none where one trace has ended."""
        both = [self.after(side)[:1] for side in (0, 1)]
        if not (both[0] and both[1]):
            return {}
        one, other = both[0][0], both[1][0]
        if one.kind != other.kind:
            return {"kind": (one.kind, other.kind)}
        told = {name or "how": (one.facts.get(name, ""), other.facts.get(name, "")) for name in self._names(one.row)}
        # Another part of the same line:
        if all(name in told and told[name][0] == told[name][1] for name in ("line", "source")):
            told = {name: pair for name, pair in told.items() if name not in ("line", "source")}
            told["columns"] = (columns_of(one), columns_of(other))
        return told

    @cached_property
    def other_op(self) -> tuple[int, Event, Event] | None:
        """Where both do the same ops on other columns of a line first: the event, with its place, in which the ops part."""
        place = self.parting.place
        if place is None or "columns" not in self.differs or "op" in self.differs:
            return None
        one, other = (side.words[place:] for side in self.sides)
        count = min(len(one), len(other))
        one, other = one[:count], other[:count]
        differs = one[:, 0] != other[:, 0]
        differs |= ((one[:, 0] & np.uint64(255)) == Kind.BORN) & (one[:, 3] >> _HIGH != other[:, 3] >> _HIGH)
        if not differs.any():
            return None
        at = place + int(np.argmax(differs))
        return at, self._events(0, at, at + 1)[0], self._events(1, at, at + 1)[0]

    def _names(self, row: int) -> list[str]:
        """The names of the facts of the two events that are not the same; ``row`` is where the first one stands."""
        place = self.parting.place
        first, second = self.sides
        words = first.words[place] != second.words[place]
        floats = first.floats[place] != second.floats[place]
        names = [""] * bool(words[0])
        for field in LAYOUT[Kind(int(self.traces[0].records[row, 0]) & 255)]:
            if field.holds is Holds.SITE_OP and words[field.word]:
                halves = first.words[place, field.word] ^ second.words[place, field.word]
                names += ["op"] * bool(halves >> _HIGH) + ["line", "source"] * bool(halves & _LOW)
            elif words[field.word] or (field.holds is Holds.NORM and floats[field.word & 1]):
                names.append(field.name)
        return names

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the comparison."""
        found = []
        if self.parting.left_out:
            kinds = ", ".join(kind.name.lower() for kind in self.parting.left_out)
            found.append(f"not compared, since only one of the traces has them: {kinds}")
        elif self.parting.same and not any(has(trace, Kind.SUMMARY) for trace in self.traces):
            found.append("values were not compared, since they were not recorded: agdbg run --also values records them")
        for trace in self.traces:
            ending = str(ending_of(trace))
            found += [f"{trace.path}: {ending}"] if ending else []
            found += [f"{trace.path}: {problem}" for problem in trace.problems]
        return found


def as_text(shown: Shown) -> str:
    """The comparison for a reader; lines are joined by LF, without one at the end."""
    place, counts = shown.parting.place, [len(side.rows) for side in shown.sides]
    if place is None:
        lines = _same(shown, counts[0])
    else:
        of = f"{counts[0]:,}" if counts[0] == counts[1] else f"{counts[0]:,} and {counts[1]:,}"
        lines = [f"the runs part at event {place + 1:,} of {of}", ""]
        lines += [_line("", event) for event in shown.before]
        for side, letter in enumerate("AB"):
            lines += _side(shown, side, letter)
        lines += [f"  {_difference(name, pair)}" for name, pair in shown.differs.items()]
        lines += _other_op(shown)
        lines += ["", *(f"{letter} is {trace.path}" for letter, trace in zip("AB", shown.traces, strict=True))]
    return "\n".join([*lines, *(printable(note) for note in shown.notes)])


def _same(shown: Shown, count: int) -> list[str]:
    if not count:
        return ["nothing was recorded in either: there is nothing to compare"]
    if not shown.parting.ending:
        return [f"the runs did the same: {counted(count, 'event')} compared"]
    endings = zip(shown.traces, shown.parting.ending, strict=True)
    return [
        f"the runs did the same in {counted(count, 'event')}, and differ at their end:",
        *(printable(f"  {trace.path}: {ending}") for trace, ending in endings),
    ]


def _side(shown: Shown, side: int, letter: str) -> list[str]:
    events = shown.after(side)
    if not events:
        return [f"{letter} ends here"]
    return [_line(letter if at == 0 else letter.lower(), event) for at, event in enumerate(events)]


def _line(mark: str, event: Event) -> str:
    return fit(f"{mark:1} {event.text}", _WIDTH)


def _other_op(shown: Shown) -> list[str]:
    """What differs besides, where at first it is only another part of the same line."""
    if shown.other_op is None:
        return []
    at, one, other = shown.other_op
    return [
        f"  the same ops stand on another part of the line; they differ from event {at + 1:,} on:",
        *(_line(letter, event) for letter, event in (("A", one), ("B", other))),
    ]


def _difference(name: str, pair: tuple[str, str]) -> str:
    return printable(f"{name}: {pair[0] or 'none'} in A; {pair[1] or 'none'} in B")


def as_json(shown: Shown) -> dict[str, Any]:
    """The comparison in values that JSON knows; ``docs/diff.md`` has the schema."""
    parting = shown.parting
    return {
        "format": FORMAT,
        "version": VERSION,
        "traces": [str(trace.path) for trace in shown.traces],
        "same": parting.same,
        "place": parting.place,
        "events": [len(side.rows) for side in shown.sides],
        "differs": {name: list(pair) for name, pair in shown.differs.items()},
        "before": [event_as_json(event) for event in shown.before],
        "after": [[event_as_json(event) for event in shown.after(side)] for side in (0, 1)],
        "endings": list(parting.ending),
        "notes": shown.notes,
    }
