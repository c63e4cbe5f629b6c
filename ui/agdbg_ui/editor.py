"""The person's own editor at a line."""

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Editors that take the line with the file; others take it before.
_WITH_FILE = {
    "code": "--goto {file}:{line}",
    "codium": "--goto {file}:{line}",
    "subl": "{file}:{line}",
    "hx": "{file}:{line}",
}


class NoEditor(Exception):
    """There is none, or its name makes no sense, or no file to edit; the message says what to do."""


def command(file: str, line: int) -> list[str]:
    """How it is started.

    Raises:
        NoEditor: none is named, or what names it is no command line; or the file is gone.
    """
    variable = "VISUAL" if os.environ.get("VISUAL") else "EDITOR"
    named = os.environ.get(variable) or ""
    try:
        words = shlex.split(named)
    except ValueError as error:
        raise NoEditor(f"{variable} is {named!r}: {str(error).lower()}; set it to a command, such as vi") from None
    if not words:
        raise NoEditor("no editor is named: set EDITOR, such as EDITOR=vi")
    form = _WITH_FILE.get(Path(words[0]).name, "+{line} {file}")
    if not os.path.exists(file):
        raise NoEditor(f"{file} is gone: there is nothing to edit")
    return [*words, *(word.format(file=file, line=max(line, 1)) for word in form.split())]


def run(file: str, line: int) -> str:
    """Edit, and wait until that is done: what went wrong, or "".

    Raises:
        NoEditor: as `command`.
    """
    words = command(file, line)
    try:
        with _keys_are_its():
            status = subprocess.run(words, check=False).returncode
    except OSError as error:
        return f"{words[0]}: {error.strerror or error}; EDITOR or VISUAL names the editor"
    if status < 0:
        return f"{words[0]} was ended by signal {-status}"
    return f"{words[0]} ended with status {status}" if status else ""


@contextmanager
def _keys_are_its() -> Iterator[None]:
    """Ctrl-C and Ctrl-\\ at the terminal reach both processes, and are for the editor alone, which inherits no handlers."""
    before = [(number, signal.signal(number, lambda *_: None)) for number in (signal.SIGINT, signal.SIGQUIT)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
