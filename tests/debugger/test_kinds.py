"""The table of kinds: what a finding can be called, in the code and in the page about it."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import agdbg.diagnose
from agdbg.diagnose.kinds import KINDS, PLAIN, RAISED, REMARKED, SILENT, unknown

PAGE = Path(__file__).parents[2] / "docs" / "diagnoses.md"
FILES = sorted(Path(agdbg.diagnose.__file__).parent.glob("*.py"))


def given(tree, names):
    """The strings that an expression for a kind may be: of a name what the module says, of a choice both."""
    if isinstance(tree, ast.IfExp):
        return given(tree.body, names) | given(tree.orelse, names)
    if isinstance(tree, ast.Constant):
        return {tree.value}
    found = names.get(tree.id) if isinstance(tree, ast.Name) else None
    return {found} if isinstance(found, str) else set()


def kinds_in(file):
    names = vars(import_module(f"agdbg.diagnose.{file.stem}")) if file.stem != "__init__" else {}
    calls = [each for each in ast.walk(ast.parse(file.read_text())) if isinstance(each, ast.Call)]
    made = [each for each in calls if isinstance(each.func, ast.Name) and each.func.id == "Finding"]
    return {kind for call in made for word in call.keywords if word.arg == "kind" for kind in given(word.value, names)}


def test_every_kind_that_a_diagnosis_gives_is_in_the_table():
    given_by_code = set().union(*map(kinds_in, FILES))
    assert len(given_by_code) > 25 and given_by_code <= set(KINDS)


@pytest.mark.parametrize("kind", sorted({*RAISED, *SILENT, *REMARKED}))
def test_every_kind_is_on_the_page(kind):
    assert re.search(rf"(?<![\w-]){kind}(?![\w-])", PAGE.read_text())


def test_the_page_has_no_other_kinds():
    heads = re.findall(r"^##+ ([a-z-]+(?:, [a-z-]+)*)$", PAGE.read_text(), re.MULTILINE)
    rows = re.findall(r"^\| ([a-z]+-[a-z-]+) \|", PAGE.read_text(), re.MULTILINE)
    told = {kind for head in heads for kind in head.split(", ")} | set(rows)
    assert len(told) > 15 and told <= set(KINDS)


def test_an_unknown_kind_is_told_with_the_nearest_and_all_others():
    assert unknown("inplace-*") == unknown("nan") == unknown(PLAIN[0]) == ""
    said = unknown("graph-grwth")
    assert "did you mean graph-growth?" in said and all(kind in said for kind in KINDS)
