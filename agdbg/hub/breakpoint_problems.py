"""Why a breakpoint cannot be hit where a client wants it; empty where it can."""

import re
from collections.abc import Iterable

from agdbg.breakpoints import EVENTS, storage_number
from agdbg.counted import counted
from agdbg.filters import KNOWN


def length_of(file: str) -> int | str:
    """How many lines a file has, or why it cannot be read."""
    if not file.startswith("/"):
        return f"{file} is no absolute path; name the file from the root"
    try:
        with open(file, "rb") as stream:
            return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 16), b"")) + 1
    except FileNotFoundError:
        return f"{file} does not exist"
    except (OSError, ValueError) as error:
        return f"{file} cannot be read: {getattr(error, 'strerror', None) or error}"


def line_problem(file: str, line: int, length: int | str) -> str:
    """A line that is not in the file, which has ``length`` lines or cannot be read."""
    if isinstance(length, str):
        return length
    return "" if 1 <= line <= length else f"line {line} is not in {file}, which has {counted(length, 'line')}"


def name_problem(name: str) -> str:
    """A name that is none."""
    text = name.strip()
    if not text:
        return f"the name is empty; {_NAMES}"
    number = _NODE.fullmatch(text)
    if number is not None:
        return "" if int(number[1]) > 0 else f"there is no node {number[1]}: nodes are counted from 1"
    if _LINE.fullmatch(text):
        return f"{name!r} names no line: write FILE:LINE, with a line from 1"
    return "" if is_name(text) else f"{name!r} is no name; {_NAMES}"


_NAMES = "name an op, a node, a parameter or a module, as MulBackward0, #12, *.weight or encoder.*"
_NODE = re.compile(r"(?:#|node\s+)?(-?\d+)", re.IGNORECASE)
_LINE = re.compile(r".*\.py:.*|.+(?<!:):-?\d*")
_SET = re.compile(r"\[!?[^\]]+\]")
_NAME = re.compile(r"[\w.*?](?:[\w.*?<> /-]|::)*")


def is_name(text: str) -> bool:
    """Whether a text may be the name of something of a program, or a pattern for it."""
    return _NAME.fullmatch(_SET.sub("?", text)) is not None


def event_problem(kind: str) -> str:
    """A kind of event that there is not."""
    return _unknown("kind of event", kind, EVENTS)


def filter_problem(name: str) -> str:
    """A filter that there is not."""
    return _unknown("filter", name, KNOWN)


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    known = list(known)
    if name in known:
        return ""
    from difflib import get_close_matches  # only when somebody has mistyped

    near = get_close_matches(name, known, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return f"there is no {what} {name!r}{meant}; there are {', '.join(known)}"


def data_problem(data: str, access: str | None) -> str:
    """Memory that cannot be watched, or not in this way."""
    if access not in (None, "write"):
        return f"accessType is {access!r}; a tensor is watched for what is written to it: write"
    if storage_number(data) or (data.startswith("name:") and is_name(data.removeprefix("name:").strip())):
        return ""
    return f"dataId {data!r} is none that dataBreakpointInfo gives: those are storage:NUMBER and name:NAME"
