"""What is said of a program once the terminal is the shell's again: how it ended, and what it printed last."""

import os
from pathlib import Path
from typing import Any

from agdbg.last_output import end_of, plain_lines
from agdbg.launch import place
from agdbg.render.clean import printable

#: Bytes at the end of the output that are looked at, and lines that are told of one that goes with its trace.
_LOOKED_AT, _MANY = 1 << 16, 200


def ending(result: Any, *, keep: bool = True) -> str:
    """How the program ended, for one that did so badly, was ended by the person or was left; else "".

    Args:
        result: an ``agdbg_ui.result.TuiResult``.
        keep: all that it printed stays in a file.
    """
    name = result.program or "the program"
    if result.left_running:
        pid = "" if result.pid is None else f" {result.pid}"
        return f"{name} goes on{f' (pid{pid})' if pid else ''}; agdbg attach{pid} joins it"
    if result.killed and result.status is None:
        return f"{name} was asked to end and has not yet; it is killed if it does not"
    if result.early and result.status is None and not result.error:
        return f"{name} was left before it began: nothing of it goes on"
    if not result.status or not result.ending:
        return ""
    if result.killed:
        return f"{name} {result.ending}: it was killed, as you chose"
    lines = _last_lines(Path(result.trace) / place.OUTPUT_FILE, keep=keep) if result.trace else []
    return "\n".join([f"{name} {result.ending}{'; the end of its output:' if lines else ''}", *lines])


def _last_lines(output: Path, *, keep: bool) -> list[str]:
    try:
        with open(output, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOOKED_AT))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    lines = plain_lines(text.rstrip()) if text.strip() else []
    return [f"  {printable(line.expandtabs())}" for line in (end_of(lines) if keep else lines[-_MANY:])]
