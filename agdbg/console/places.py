"""Places in words: where a thread stands, a frame, a line with what stands there."""

import os
from typing import TYPE_CHECKING, Any

from agdbg.console.table import CommandError

if TYPE_CHECKING:
    from agdbg.console.console import Console

Body = dict[str, Any]


def words_of_stop(body: Body) -> list[str]:
    """Why a thread has stopped, and where."""
    ids = ", ".join(map(str, body.get("hitBreakpointIds") or []))
    reason = {
        "breakpoint": f"breakpoint {ids}: ",
        "function breakpoint": f"breakpoint {ids}: ",
        "data breakpoint": f"watch {ids}: ",
        "exception": "error: ",
        "pause": "paused: ",
    }.get(body["reason"], "")
    text = str(body.get("text") or "").strip()
    if text and str(body.get("description", "")).endswith(f"; {text}"):
        reason = "found: "  # nothing is raised
    elif body["reason"] == "exception" and str(body.get("description", "")).startswith("before "):
        reason = "error ahead: "  # it has not been raised: the thread stands before it
    reason = reason if ids or body["reason"] in ("exception", "pause") else ""  # agdbg.breakpoint() has no number
    lines = [f"{reason}{body.get('description', '')}"]
    if text in lines[0]:  # the description of some errors is all that there is to say
        return lines
    return lines + [f"  {line}" for line in text.splitlines()]


def origin_of(console: "Console", body: Body, frames: list[Body]) -> list[str]:
    """The line of the program that one looks at first: where the node was built, or else that of the innermost function.

    It is the latter too where the program itself has asked for the stop, and at the end of a pass.
    """
    known = [frame for frame in frames if frame.get("source")]
    own = [frame for frame in known if frame.get("presentationHint") == "normal"]
    labels = [frame for frame in frames[:2] if frame.get("presentationHint") == "label"]
    is_asked_for = body["reason"] == "breakpoint" and not body.get("hitBreakpointIds")
    is_at_end = bool(frames) and frames[0] in labels
    nodes = [] if is_asked_for or is_at_end else [frame for frame in labels if frame in known]
    return [line_of(console, frame) for frame in (nodes or own or known)[:1]]


def thread_of(console: "Console", body: Body) -> str:
    """``thread 2 (loader): ``, when the program has more than one thread that matters here; else nothing."""
    threads = console.ask("threads")["threads"]
    named = [each["name"] for each in threads if each["id"] == body["threadId"] and each["name"] != "the recording"]
    if not named or (len(threads) == 1 and body["threadId"] == 1):
        return ""
    number = f"thread {body['threadId']}"
    return f"{number}: " if named[0] == number else f"{number} ({named[0]}): "


def line_of(console: "Console", frame: Body) -> str:
    """``train.py:12  h = x * w``."""
    source = frame.get("source")
    if not source or not frame["line"]:
        return "  (place not known)"
    lines = console.lines_of(source["path"])
    text = lines[frame["line"] - 1].strip() if 0 < frame["line"] <= len(lines) else ""
    return f"  {short(source['path'])}:{frame['line']}  {text}".rstrip()


def short(file: str) -> str:
    """A path from here, when it is below."""
    try:
        found = os.path.relpath(file)
    except (OSError, ValueError):
        return file
    return file if found.startswith(os.pardir) else found


def frames_in_words(console: "Console", frames: list[Body]) -> str:
    """A stack: the frame that is looked at has an arrow."""
    shown = []
    for number, frame in enumerate(frames):
        arrow = "->" if number == console.frame else "  "
        shown.append(f"{arrow} #{number}  {frame['name']}{_place(console, frame)}")
    return "\n".join(shown)


def _place(console: "Console", frame: Body) -> str:
    return f"{line_of(console, frame)}" if frame.get("source") else ""


def file_and_line(console: "Console", text: str) -> tuple[str, int] | None:
    """``FILE:LINE`` as an absolute path and a line; None when it is something else.

    Raises:
        CommandError: there is no such file.
    """
    name, colon, line = text.rpartition(":")
    if not colon or not line.isascii() or not line.isdecimal():
        return None
    return path_of(console, name), int(line)


def path_of(console: "Console", name: str) -> str:
    """The absolute path of a file: below the program's directory or this one, or the script, or one of the stack by its name.

    Raises:
        CommandError: there is no such file.
    """
    script = console.script
    if not name and script:
        return script
    candidates = [str(console.cwd / name), os.path.abspath(name)]
    found = next((path for path in candidates if name and os.path.isfile(path)), None)
    if found is not None:
        return os.path.abspath(found)
    known = [script] if script else []
    if console.state.stops:
        known += [frame["source"]["path"] for frame in console.frames() if frame.get("source")]
    named = [path for path in dict.fromkeys(known) if path.endswith(os.sep + name)]
    if len(named) == 1:
        return named[0]
    raise CommandError(f"there is no file {name!r}; name one from {console.cwd}, or from the root")
