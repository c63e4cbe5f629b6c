"""A place in the source: a line, the part of it that is meant, and what it is to the node that is selected."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from agdbg.protocol.phases import HOOKS
from agdbg_ui.view import Stop


class Spot(NamedTuple):
    """A line of a file.

    Attributes:
        file: "" when it is not known.
        line: from 1; 0: none.
        known: the text of the line as the recording has it, for a file that cannot be read.
        column, end_line, end_column: the part that is meant, as the protocol counts: in code units of UTF-16, from 1; 0: not known.
        role: what it is to the node, in words.
        note: what more is to be said of it.
    """

    file: str
    line: int
    known: str = ""
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    role: str = ""
    note: str = ""

    def part_of(self, number: int, text: str) -> tuple[int, int]:
        """Of the line with a number the characters that are meant: from the first one, to behind the last."""
        last = self.end_line or self.line
        if not self.column or not self.line <= number <= last:
            return 0, 0
        end = len(text.rstrip())
        if number == last and self.end_column:
            end = min(end, _characters(text, self.end_column))
        start = _characters(text, self.column) if number == self.line else len(text) - len(text.lstrip())
        return (start, end) if start < end else (0, 0)


NOWHERE = Spot("", 0)


def forward_line(body: Mapping[str, Any], role: str = "") -> Spot:
    """Where a node was built, out of the body of ``agdbg/node``."""
    columns = body["column"], body["endLine"], body["endColumn"]
    return Spot(body["file"], body["line"], body["text"], *columns, role=role)


def _characters(text: str, column: int) -> int:
    """How many characters stand before a column."""
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * (column - 1)]
    return len(units.decode("utf-16-le", "replace"))


def _called(phase: str) -> str:
    """The kind of the hooks that a part of a node calls; those that unpack are called as their part is."""
    return phase if phase.startswith("unpack ") else HOOKS.get(phase, "")


def places_of(body: Mapping[str, Any], phase: str = "", runs: bool = False) -> list[Spot]:
    """Where a node was built, and the functions that it calls.

    Args:
        body: of ``agdbg/node``.
        phase: the part of the node that runs next, or "".
        runs: whether that part runs just now.
    """
    hooks, found = body["hooks"], []
    first = next((hook for hook in hooks if hook["kind"] == _called(phase)), None)
    for hook in hooks:
        when = ", runs" * runs or ", runs next" if hook is first else ""
        what = "backward" if hook["kind"] == "backward" else f"{hook['kind']} hook"
        found.append(Spot(hook["file"], hook["line"], role=f"{what} {hook['name'].rpartition('.')[2]}{when}"))
    return [forward_line(body, "forward line (space: its hooks)" if hooks else ""), *found]


def place_that_runs(body: Mapping[str, Any], phase: str, runs: bool) -> Spot:
    """The first hook of the part of a node that runs next, or its forward line."""
    places = places_of(body, phase, runs)
    kinds = [hook["kind"] for hook in body["hooks"]]
    called = _called(phase)
    return places[1 + kinds.index(called)] if called in kinds else places[0]


def call_of_pass(body: Mapping[str, Any]) -> list[Spot]:
    """The line that has started a pass, out of the body of ``agdbg/timeline``; nothing when it is not known."""
    role = f"call of pass {body['pass']}"
    return [Spot(body["file"], body["line"], role=role)] if body["pass"] and body["file"] else []


def line_of_stop(stop: Stop | None) -> Spot | None:
    """The line of the program at which it stands, if that is at no node."""
    if stop is None or stop.line is None:
        return None
    role = "the write that is watched" if stop.reason == "data breakpoint" else "the program stands here"
    return Spot(stop.line.file, stop.line.line, role=role)


def own_line(stop: Stop | None) -> Spot | None:
    """At an error the line of the program's own code that led to it; the error may be another's, or at a node."""
    frame = stop.own_line if stop is not None else None
    return Spot(frame.file, frame.line, role=f"the line of {frame.name} that led to the error") if frame else None


def evidence_line(evidence: Mapping[str, Any], position: str = "") -> Spot:
    """The place of a piece of evidence, whose columns count bytes of UTF-8 from 0; -1: not known."""
    text, line = str(evidence["text"]), int(evidence["line"])
    start, end, end_line = evidence.get("col", -1), evidence.get("end_col", -1), evidence.get("end_line", 0)
    is_one = end_line in (0, line)
    column = _column(text, start) if start >= 0 and (not is_one or start < end) else 0
    last = _column(text, end) if is_one and end >= 0 else 0
    role = ", ".join(part for part in (str(evidence.get("role") or ""), position) if part)
    note = str(evidence.get("note") or "").replace("\n", "; ")
    return Spot(evidence["file"], line, text, column, end_line, last, role, note)


def _column(text: str, offset: int) -> int:
    before = text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace")
    return len(before.encode("utf-16-le")) // 2 + 1
