"""Write into the pages of docs what their examples print: `python scripts/docs_output.py`.

In docs/concepts and docs/in-code.md a Python block is followed by a text block with its output. The blocks of one page are one
program. An example that shows an error catches it and prints it. docs/tutorial.md is followed in a directory of its own: `console`
blocks have commands and what they print, `diff` blocks edit a file, `screen` blocks are left to the tests of the UI.
Tests compare, so that no page shows what agdbg no longer does.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "concepts"
MORE = [ROOT / "docs" / "in-code.md"]
"""Other pages with examples; they name files from the top of the repository, so that it has to be the current directory."""
TOUR = ROOT / "docs" / "tutorial.md"
SHOWN = "/home/user/agdbg"
"""What the tour says instead of the name of its directory."""
_EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```\n", re.DOTALL)
_STEP = re.compile(r"^```(?P<kind>console|diff|screen)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_ANOTHER_EACH_TIME = [
    (re.compile(r"\S*/agdbg-pytest-\w+"), "/tmp/agdbg-pytest-1a2b3c4d"),
    (re.compile(r"(\.agdbg/\w+)-\d{8}-\d{6}"), r"\1-20260102-030405"),
    (re.compile(r"\b\d+\.\d+s\b"), "0.50s"),
]
"""What a command prints otherwise each time it is run, and what the page shows instead: directories of one run, durations."""


def pages() -> list[Path]:
    """All pages, in the order of their names."""
    return sorted(PAGES.glob("*.md"))


def with_fresh_output(text: str, name: str) -> str:
    """The ``text`` of the page called ``name`` with what its examples print now."""
    parts, end = [], 0
    names: dict[str, Any] = {"__name__": "__main__"}
    for match, code in _examples(text):
        line = text.count("\n", 0, match.start("code"))
        parts += [text[end : match.start("output")], _printed(code, name, line, names)]
        end = match.end("output")
    return "".join([*parts, text[end:]])


def _examples(text: str) -> Iterator[tuple[re.Match[str], str]]:
    for match in _EXAMPLE.finditer(text):
        yield match, match["code"]


def _printed(code: str, page: str, line: int, names: dict[str, Any]) -> str:
    """What ``code``, which begins on ``line`` of ``page``, prints; tracebacks and sites show the page's own lines."""
    with contextlib.redirect_stdout(io.StringIO()) as out, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile("\n" * line + code, page, "exec"), names)
    return out.getvalue()


@dataclass(frozen=True)
class Step:
    """A fenced block of the tour: its kind, what stands in it, and where that lies in the page."""

    kind: str
    body: str
    span: tuple[int, int]
    line: int


def steps(text: str) -> list[Step]:
    """What a reader of the tour does, in order."""
    found = _STEP.finditer(text)
    return [Step(m["kind"], m["body"], m.span("body"), text.count("\n", 0, m.start("body"))) for m in found]


class Tour:
    """The directory in which a reader follows the tour; like a checkout, it has the examples in it.

    Attributes:
        home: the directory, of which the page says `SHOWN`.
        here: the current directory of the commands.
    """

    def __init__(self, directory: str) -> None:
        self.home = self.here = Path(directory).resolve()
        shutil.copytree(ROOT / "examples", self.home / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        programs = self.home / "bin"  # whatever is installed, these are the ones that are tested
        programs.mkdir()
        for name, module in (("python", ""), ("agdbg", "-m agdbg"), ("pytest", "-m pytest")):
            (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n')
            (programs / name).chmod(0o755)
        self._surroundings = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        self._surroundings |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        temporary = self.home / "tmp"  # the traces of tests that fail are kept there
        temporary.mkdir()
        self._surroundings |= {"NO_COLOR": "1", "COLUMNS": "100", "TMPDIR": str(temporary)}

    def take(self, step: Step) -> str:
        """Do what a block of commands or an edit says; return the block as it should be.

        Raises:
            ValueError: an edit does not fit the file.
        """
        if step.kind == "console":
            commands = [line[2:] for line in step.body.splitlines() if line.startswith("$ ")]
            return "".join(f"$ {command}\n{self._printed(command)}" for command in commands)
        if step.kind == "diff":
            self._edit(step.body)
        return step.body

    def _printed(self, command: str) -> str:
        words = command.split()
        if words[0] == "cd":
            self.here = self.here / words[1]
            return ""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.here,
            env=self._surroundings,
            stdin=subprocess.DEVNULL,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=120,
        )
        said = done.stdout.replace(str(self.home), SHOWN)
        for pattern, shown in _ANOTHER_EACH_TIME:
            said = pattern.sub(shown, said)
        return said if said.endswith("\n") or not said else f"{said}\n"

    def _edit(self, body: str) -> None:
        """Do an edit: the lines with ``-`` and those without a sign stand in the file, once, and those with ``+`` will."""
        header, *lines = body.splitlines()
        file = self.here / header.removeprefix("+++ ")
        old, new = ("".join(f"{line[1:]}\n" for line in lines if line[:1] != sign) for sign in "+-")
        text = file.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{file.name} has {text.count(old)} times\n{old}")
        file.write_text(text.replace(old, new), encoding="utf-8")


def with_fresh_tour(text: str) -> str:
    """The ``text`` of the tour with what its commands print now."""
    parts, end = [], 0
    with tempfile.TemporaryDirectory() as directory:
        tour = Tour(directory)
        for step in steps(text):
            parts += [text[end : step.span[0]], tour.take(step)]
            end = step.span[1]
    return "".join([*parts, text[end:]])


def main() -> None:
    """Rewrite the pages that are not up to date."""
    sys.path[:0] = [str(ROOT / "engine"), str(ROOT)]
    for page in [*pages(), *MORE, TOUR]:
        name, text = str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
        fresh = with_fresh_tour(text) if page == TOUR else with_fresh_output(text, name)
        if fresh != text:
            page.write_text(fresh, encoding="utf-8")
            print(f"{name} was rewritten")


if __name__ == "__main__":
    main()
