"""docs/in-code.md shows what its examples print, and names what there is."""

import os
import re
import runpy
from pathlib import Path

import agdbg

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "docs_output.py"))
PAGE = ROOT / "docs" / "in-code.md"


def test_the_page_shows_what_its_examples_print(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = PAGE.read_text()
    assert len(re.findall("```python", text)) == len(SCRIPT["_EXAMPLE"].findall(text)) == 4
    assert text == SCRIPT["with_fresh_output"](text, os.path.relpath(PAGE, ROOT)), "run scripts/docs_output.py"


def test_every_name_is_on_the_page():
    text = PAGE.read_text()
    names = set(agdbg._LATE) - {"load_ipython_extension"}
    assert {name for name in names if f"agdbg.{name}" not in text} == set()
