"""Frames of a stop: the node, where it was created, the nodes around it, and the user's functions."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from agdbg.hub.call import Refused
from agdbg.hub.span import NOWHERE, Span

#: The id of a frame is so many times its thread, and its place.
PER_THREAD = 10_000


class Place(NamedTuple):
    """Where a node was created, and what it is called."""

    op: str
    file: str = ""
    line: int = 0
    func: str = ""
    span: Span = NOWHERE


@dataclass(frozen=True)
class Frame:
    """A frame.

    Attributes:
        kind: what it is: the node that runs next, its origin, a node around it, a function.
        node: of the first three.
        title: what is said of a node besides its op.
        user: the number of a function among the user's, from the innermost; -1: of none.
        file, line, name: of a function.
        phase: the part of the node that runs next, when a thread stands in the middle of it.
        hook: the function that this part calls, where the program tells and the trace does not.
    """

    kind: Literal["node", "origin", "outer", "pass", "user"]
    node: int = 0
    title: str = ""
    user: int = -1
    file: str = ""
    line: int = 0
    name: str = ""
    phase: str = ""
    hook: dict[str, Any] | None = None


def thread_and_place(frame_id: int) -> tuple[int, int]:
    """The thread of a frame, and its place among the frames."""
    return divmod(frame_id, PER_THREAD)


def frames_of(stop: dict[str, Any]) -> list[Frame]:
    """The frames of a stop, innermost first: the node of a pass is followed by the functions that have started the pass, and they
    by the node of the pass around it that has called them. Of one stop they are asked for several times, and made once.
    """
    known = _known[0]  # one look: another thread may ask for another stop
    if known is None or known[0] is not stop:
        known = _known[0] = stop, _frames_of(stop)
    return known[1]


_known: list[tuple[dict[str, Any], list[Frame]] | None] = [None]


def _frames_of(stop: dict[str, Any]) -> list[Frame]:
    of_node, functions = _of_node(stop), _functions(stop)
    # What has happened on another line than that of the node it is about is looked for where it has happened.
    return functions + of_node if stop.get("elsewhere") else of_node + functions


def _of_node(stop: dict[str, Any]) -> list[Frame]:
    """The node at which a thread stands, and where it was created; or the end of a pass."""
    found: list[Frame] = []
    node = stop.get("node") or 0
    if node:
        phase, hook, running = stop.get("phase") or "", stop.get("hook"), stop.get("running")
        title = _title(stop)
        found += [Frame("node", node, "" if running else title, phase=phase, hook=hook), Frame("origin", node)]
        found += [Frame("outer", running, title)] if running else []
    elif stop.get("pass"):
        found.append(Frame("pass", title=f"end of pass {stop['pass']}"))
    return found


def _functions(stop: dict[str, Any]) -> list[Frame]:
    """The functions that are called, and among them the nodes that have called them."""
    found: list[Frame] = []
    outer = list(stop.get("outer") or [])
    passes = 1
    for number, each in enumerate(stop.get("frames") or []):
        while outer and passes < each.get("passes", 0):  # what started the passes inside was called by these
            found += _outer(outer.pop(0))
            passes += 1
        found.append(
            Frame("user", user=number, file=each.get("file", ""), line=each.get("line", 0), name=each.get("name", ""))
        )
    return found + [frame for each in outer for frame in _outer(each)]


def _outer(outer: dict[str, Any]) -> list[Frame]:
    """The node at which a pass stands while another one runs inside of it; none when the pass is over."""
    return [Frame("outer", outer["node"], f"pass {outer.get('pass', 0)}")] if outer.get("node") else []


def _title(stop: dict[str, Any]) -> str:
    if stop.get("where") == "born":
        return "just built"
    if not stop.get("planned"):
        return ""  # in no pass: something has happened in forward code
    counted = f"{stop.get('position', 0) + 1:,} of {stop.get('planned', 0):,}"
    phase = stop.get("phase")
    return f"{counted}, {phase}" if phase else counted


def pick(frames: list[Frame], frame_id: int) -> Frame:
    """The frame with an id.

    Raises:
        Refused: there is none.
    """
    place = frame_id % PER_THREAD
    if place >= len(frames):
        raise Refused(f"frameId {frame_id}: there is no such frame, only {len(frames)}; ask for the stack trace again")
    return frames[place]


def as_body(thread: int, place: int, frame: Frame, place_of: Callable[[int, str], Place]) -> dict[str, Any]:
    """A frame as the protocol has it; ``place_of`` knows the nodes."""
    where = Place("", frame.file, frame.line) if frame.kind == "user" else _where(frame, place_of)
    body: dict[str, Any] = {
        "id": thread * PER_THREAD + place,
        "name": _name(frame, where),
        "line": where.line,
        "column": where.span.column or (1 if where.line else 0),
    }
    if where.span.column:
        body["endLine"] = where.span.end_line
        body |= {"endColumn": where.span.end_column} if where.span.end_column else {}
    if where.file:
        body["source"] = {"name": os.path.basename(where.file), "path": where.file}
    if frame.kind in ("origin", "pass"):
        body["presentationHint"] = "label"
    elif frame.kind == "user":
        body["presentationHint"] = "normal"
    return body


def _where(frame: Frame, place_of: Callable[[int, str], Place]) -> Place:
    if not frame.node:
        return Place("")
    place, hook = place_of(frame.node, frame.phase), frame.hook or {}
    return Place(place.op, hook["file"], hook["line"], hook["name"]) if hook.get("file") else place


def _name(frame: Frame, where: Place) -> str:
    if frame.kind == "user":
        return frame.name or "?"
    if frame.kind == "pass":
        return frame.title
    if frame.kind == "origin":
        return f"created in {where.func}" if where.func else "created here" if where.file else "created somewhere"
    name = where.op or f"node {frame.node}"
    return f"{name}, {frame.title}" if frame.title else name
