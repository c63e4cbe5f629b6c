"""The pages of docs/concepts: each has an example, and shows what it prints."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "docs_output.py"))
PAGES = SCRIPT["pages"]()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_a_page_shows_what_its_examples_print(page):
    text = page.read_text()
    assert "```python" in text
    assert len(re.findall("```python", text)) == len(SCRIPT["_EXAMPLE"].findall(text)), "an example without its output"
    assert text == SCRIPT["with_fresh_output"](text, str(page.relative_to(ROOT))), "run scripts/docs_output.py"


def test_the_index_names_every_page():
    index = (ROOT / "docs" / "concepts.md").read_text()
    assert {f"concepts/{page.name}" for page in PAGES} == set(re.findall(r"\((concepts/[\w-]+\.md)\)", index))


def test_an_output_that_is_not_true_is_replaced():
    wrong = "```python\nprint(1)\n```\n\n```text\n2\n```\n"
    assert SCRIPT["with_fresh_output"](wrong, "page.md") == wrong.replace("2", "1")
