"""Numbers of things: one is no plural, wherever a sentence has a number that may be one."""

import re
from pathlib import Path

import agdbg
from agdbg.counted import counted
from agdbg.hub.breakpoint_problems import line_problem

#: A number of these in an f-string may be 1.
_LONELY = re.compile(
    r'f".*\{[^{}]*\b(?:count|total|size|length|nodes|len\([^{}]*\))[^{}]*:,\} (?:nodes|events|lines|runs)\b'
)
#: Sentences that are told of many.
_OF_MANY = ("graph/collapse.py", "render/text.py")


def test_one_is_no_plural():
    told = [counted(1, "node"), counted(0, "node"), counted(1000, "pass", "es"), counted(1, "pass", "es")]
    assert told == ["1 node", "0 nodes", "1,000 passes", "1 pass"]
    assert line_problem("a.py", 3, 1) == "line 3 is not in a.py, which has 1 line"


def test_numbers_in_sentences_are_counted():
    root = Path(agdbg.__file__).parent
    files = [*root.rglob("*.py"), *(root.parent / "ui").rglob("*.py")]
    found = [
        f"{file}: {line.strip()}"
        for file in files
        if not str(file).endswith(_OF_MANY)
        for line in file.read_text(encoding="utf-8").splitlines()
        if _LONELY.search(line)
    ]
    assert not found
