"""What the end of a program's output tells: the error that ended it, and the lines worth showing."""

import re
from collections.abc import Sequence

#: Lines at the end in which a traceback is looked for, and lines that are shown of one at most.
_LOOKED_AT, SHOWN = 200, 20
#: Lines that may stand behind the line of the error: more of its message, or notes.
_BEHIND = 12
_BEGIN = "Traceback (most recent call last):"
_ERROR = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Group)\b(?::|$)")
_FRAME = re.compile(r'  File "(?P<file>[^"]+)", line (?P<line>\d+)')
_LIBRARY = re.compile(r"^<|[\\/](?:agdbg|agdbg_engine|torch|site-packages|dist-packages|python3\.\d+)[\\/]")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


def plain_lines(text: str) -> list[str]:
    """Output of a terminal as lines without escape sequences; of what was written over, only the last remains."""
    lines = _ESCAPE.sub("", text).replace("\r\n", "\n").split("\n")
    return [line.rstrip("\r").rpartition("\r")[2].rstrip() for line in lines]


def error_line(lines: Sequence[str]) -> str:
    """The line that names the error with which Python ended the program, or ""."""
    tail = _without_blanks(lines)[-_LOOKED_AT:]
    begin = _begin(tail)
    if begin is None:  # a syntax error of the script itself has no traceback
        last = tail[-1] if tail else ""
        return last if _ERROR.match(last) else ""
    found = next((at for at in range(begin + 1, len(tail)) if tail[at][:1] not in (" ", "")), None)
    return tail[found] if found is not None and len(tail) - found <= _BEHIND else ""


def is_library(file: str) -> bool:
    """Whether a file is of an installed package, or of Python itself: no code of the program's own."""
    return _LIBRARY.search(file) is not None


def own_line(lines: Sequence[str]) -> str:
    """``train.py:9  y = model(x)``: the innermost line of the traceback that is in no library, or ""."""
    if (found := own_frame(lines)) is None:
        return ""
    file, line, text = found
    return f"{file.replace(chr(92), '/').rpartition('/')[2]}:{line}  {text}".rstrip()


def own_frame(lines: Sequence[str]) -> tuple[str, int, str] | None:
    """File, number and text of the innermost line of the traceback that is in no library; None: there is none."""
    tail = _without_blanks(lines)[-_LOOKED_AT:]
    begin = _begin(tail)
    frames = [] if begin is None else [(at, _FRAME.match(tail[at])) for at in range(begin + 1, len(tail))]
    own = [(at, frame) for at, frame in frames if frame is not None and not is_library(frame["file"])]
    if not own:
        return None
    at, frame = own[-1]
    text = tail[at + 1].strip() if at + 1 < len(tail) and tail[at + 1].startswith("    ") else ""
    return frame["file"], int(frame["line"]), text


def end_of(lines: Sequence[str], limit: int = SHOWN) -> list[str]:
    """The last lines, at most ``limit``: those of the traceback where the output ends with one, and of a long one both ends."""
    tail = _without_blanks(lines)[-_LOOKED_AT:]
    begin = _begin(tail)
    if begin is None or not error_line(tail):
        return list(tail[-limit:])
    shown = list(tail[begin:])
    if len(shown) <= limit:
        return shown
    half = limit // 2  # where the program called what failed, and what failed
    return [*shown[: limit - half - 1], f"  ... {len(shown) - limit + 1} lines", *shown[len(shown) - half :]]


def _begin(tail: Sequence[str]) -> int | None:
    """Where the last traceback begins."""
    return next((at for at in reversed(range(len(tail))) if tail[at] == _BEGIN), None)


def _without_blanks(lines: Sequence[str]) -> Sequence[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]
