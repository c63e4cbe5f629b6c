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
    """There is none, or it could not be started; the message says what to do."""


def command(file: str, line: int) -> list[str]:
    """How it is started.

    Raises:
        NoEditor: none is named.
    """
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    words = shlex.split(named)
    if not words:
        raise NoEditor("no editor is named: set EDITOR, such as EDITOR=vi")
    form = _WITH_FILE.get(Path(words[0]).name, "+{line} {file}")
    return [*words, *(word.format(file=file, line=max(line, 1)) for word in form.split())]


def run(file: str, line: int) -> None:
    """Edit, and wait until that is done.

    Raises:
        NoEditor: it could not be started, or went wrong.
    """
    words = command(file, line)
    try:
        with _keys_are_its():
            status = subprocess.run(words, check=False).returncode
    except OSError as error:
        raise NoEditor(f"{words[0]}: {error.strerror or error}") from error
    if status:
        raise NoEditor(f"{words[0]} ended with status {status}")


@contextmanager
def _keys_are_its() -> Iterator[None]:
    """Ctrl-C and Ctrl-\\ at the terminal reach both processes, and are for the editor alone, which inherits no handlers."""
    before = [(number, signal.signal(number, lambda *_: None)) for number in (signal.SIGINT, signal.SIGQUIT)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
