"""Write into the pages of docs/concepts, and docs/in-code.md, what their examples print: `python scripts/docs_output.py`.

A Python block of a page is followed by a text block with its output. The blocks of one page are one program. An example that shows
an error catches it and prints it. A test compares, so that no page shows what the engine no longer does.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "concepts"
MORE = [ROOT / "docs" / "in-code.md"]
"""Other pages with examples; they name files from the top of the repository, so that it has to be the current directory."""
_EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```\n", re.DOTALL)


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


def main() -> None:
    """Rewrite the pages that are not up to date."""
    sys.path[:0] = [str(ROOT / "engine"), str(ROOT)]
    for page in [*pages(), *MORE]:
        name, text = str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
        fresh = with_fresh_output(text, name)
        if fresh != text:
            page.write_text(fresh, encoding="utf-8")
            print(f"{name} was rewritten")


if __name__ == "__main__":
    main()
