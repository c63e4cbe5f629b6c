"""For which errors a debugger stopped the program that no record tells of: a NaN, where values are not recorded. Each leaves a line
beside the trace, so that whoever opens it later can be told as well.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from agdbg.filters import VALUES
from agdbg.record.format import RECORDS_FILE

STOPS_FILE = "stops.jsonl"
#: The kinds of errors that are kept: of all others there is a record.
KINDS = VALUES | {"none-grad"}
#: Lines that are written at most: the first matter.
MOST = 100
#: Characters of a text, and bytes of a line that no reader looks behind.
_LONGEST, _LONGEST_LINE = 2_000, 16_000
_LOW = 1 << 48

Stop = dict[str, Any]


class Stopped(NamedTuple):
    """What was kept.

    Attributes:
        stops: as an agent tells of them, as far as it matters later: ``pass`` and ``error``.
        problems: what of it is damaged.
    """

    stops: tuple[Stop, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def bad(self) -> dict[int, str]:
        """The nodes that made, or passed on, a NaN or an infinity, and what was said of it; the first is the first."""
        found: dict[int, str] = {}
        for error in (stop["error"] for stop in self.stops):
            if error["kind"] in VALUES and error["node"]:
                found.setdefault(error["node"], error["text"])
        return found


def note(directory: Path, stop: Stop) -> None:
    """Leave a line for a stop, unless it is known or there are many. Never raises: the directory may be gone, or the disk full."""
    if (kept := _kept(stop)) is None:
        return
    known = stopped_in(directory).stops
    if len(known) >= MOST or any(each["error"] == kept["error"] for each in known):
        return
    with suppress(OSError):
        mode = (directory / RECORDS_FILE).stat().st_mode & 0o666
        file = directory / STOPS_FILE
        is_new = not file.exists()
        fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode)
        try:
            if is_new:
                os.fchmod(fd, mode)  # who may read the trace may read this
            os.write(
                fd, (json.dumps(kept, ensure_ascii=False) + "\n").encode()
            )  # at once: it is there as a whole, or not
        finally:
            os.close(fd)


def stopped_in(directory: Path) -> Stopped:
    """What was kept beside a trace."""
    file = directory / STOPS_FILE
    try:
        if not file.is_file():
            return Stopped()
        with file.open("rb") as stream:
            content = stream.read(MOST * _LONGEST_LINE + 1)
    except OSError as error:
        return Stopped(
            (), (f"{STOPS_FILE} is unreadable ({error.strerror or error}): for what the program stopped is unknown",)
        )
    lines = content.split(b"\n")
    found = [_read(line) for line in lines[:MOST] if line]
    stops = tuple(each for each in found if each is not None)
    problems = []
    if len(stops) < len(found):
        problems.append(
            f"{STOPS_FILE}: of {len(found)} lines {len(found) - len(stops)} tell of no stop and are left out"
        )
    if any(lines[MOST:]):
        problems.append(f"{STOPS_FILE} has more lines than agdbg writes: those behind the first {MOST} are left out")
    return Stopped(stops, tuple(problems))


def _read(line: bytes) -> Stop | None:
    """A line from wherever the trace is from: only what this version would write is taken."""
    try:
        told = json.loads(line) if len(line) <= _LONGEST_LINE else None
    except (ValueError, RecursionError):
        return None
    return _kept(told)


def _kept(stop: Any) -> Stop | None:
    """What is kept of a stop; None for one that is of no kind that is, or that cannot be."""
    error = stop.get("error") if isinstance(stop, dict) else None
    if not isinstance(error, dict) or not all(isinstance(error.get(key), str) for key in ("kind", "text")):
        return None
    if error["kind"] not in KINDS:
        return None
    kept = {"kind": error["kind"], "node": error.get("node") or 0, "text": _clean(error["text"])}
    if error.get("late") is True:
        kept["late"] = True
    numbers = [stop.get("pass") or 0, kept["node"]]
    if (infinite := error.get("infinite") or None) is not None:
        if not isinstance(infinite, dict):
            return None
        kept["infinite"] = {"node": infinite.get("node"), "gradient": infinite.get("gradient") is True}
        numbers.append(infinite.get("node"))
    if not all(type(number) is int and 0 <= number < _LOW for number in numbers):
        return None
    return {"pass": numbers[0], "error": kept}


def _clean(text: str) -> str:
    return text[:_LONGEST].encode("utf-8", "replace").decode()
