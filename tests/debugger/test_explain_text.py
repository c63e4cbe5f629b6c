"""How an explanation is rendered: as text, and as JSON."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from agdbg.diagnose import Evidence, Finding
from agdbg.explain.excerpt import WIDTH, excerpt
from agdbg.explain.explanation import Explained, Explanation, as_json
from agdbg.explain.palette import Palette
from agdbg.explain.text import as_text
from agdbg.record.lookup import Site

SAVED = Site("/home/me/project/train.py", 12, "Net.forward", 8, 15, "    y = x.exp()\n", 12)
WROTE = Site("/elsewhere/optim.py", 3, "step", -1, -1, "        p.sub_(g)")
FINDING = Finding(
    "inplace-modified",
    "y was changed after exp() had saved it for backward",
    (
        Evidence("saved", SAVED, "exp saved its result at version 0", 7),
        Evidence("wrote", WROTE, "two lines\nof note"),
        Evidence("called", Site("", 0), "from C"),
    ),
    (7,),
    "certain",
    "write y = y * 3,\nor change it later",
)
BASE = Path("/home/me/project")

GOLDEN = """\
1. y was changed after exp() had saved it for backward
   inplace-modified, certain, caught: the program went on after this error
   saved   train.py:12 in Net.forward
               y = x.exp()
                   ^^^^^^^
           exp saved its result at version 0
   wrote   /elsewhere/optim.py:3 in step
               p.sub_(g)
           two lines
           of note
   called  from C
   fix     write y = y * 3,
           or change it later"""


def explanation(*explained, problems=(), nodes=3, passes=1):
    return Explanation(Path("t"), list(explained), nodes, passes, list(problems))


def test_a_finding_as_text():
    assert as_text(explanation(Explained(FINDING, "caught")), base=BASE) == GOLDEN


def test_fates():
    standing = {
        fate: as_text(explanation(Explained(FINDING, fate)), base=BASE).splitlines()[1]
        for fate in ("program", "thread", None)
    }
    assert standing["thread"] == "   inplace-modified, certain, uncaught: this error ended a thread"
    assert standing["program"] == "   inplace-modified, certain, uncaught: this error ended the program"
    assert standing[None] == "   inplace-modified, certain"


def test_without_a_base_all_paths_are_absolute():
    text = as_text(explanation(Explained(FINDING, None)), base=None)
    assert "saved   /home/me/project/train.py:12 in Net.forward" in text


def test_a_folder_that_only_begins_alike_is_not_the_base():
    text = as_text(explanation(Explained(FINDING, None)), base=Path("/home/me/proj"))
    assert "saved   /home/me/project/train.py:12" in text


def test_a_limit_says_what_it_leaves_out():
    text = as_text(explanation(*[Explained(FINDING, "caught")] * 4), base=BASE, limit=3)
    assert [line for line in text.splitlines() if line[:1].isdigit() or line.startswith("...")] == [
        "1. y was changed after exp() had saved it for backward",
        "2. y was changed after exp() had saved it for backward",
        "3. y was changed after exp() had saved it for backward",
        "... and 1 more finding: agdbg explain t",
    ]
    assert "4. " in as_text(explanation(*[Explained(FINDING, "caught")] * 4), base=BASE)


def test_nothing_found():
    assert as_text(explanation(nodes=1234), base=BASE) == (
        "nothing to explain: 1,234 nodes, 1 backward pass recorded, no error"
    )
    unseen = as_text(replace(explanation(nodes=2), unseen="values were not recorded"), base=BASE)
    assert unseen.splitlines()[1:] == ["values were not recorded"]
    assert "1 node, 2 backward passes" in as_text(explanation(nodes=1, passes=2), base=BASE)


def test_damage_is_told_first():
    text = as_text(
        explanation(Explained(FINDING, None), problems=["the last record is cut", "meta.json is missing"]), base=BASE
    )
    assert text.startswith(
        "the trace is damaged: the last record is cut\nthe trace is damaged: meta.json is missing\n\n1. "
    )


def test_of_the_error_that_ended_a_damaged_recording_nothing_more_is_said_than_is_known():
    damaged = replace(explanation(problems=["records.bin is cut"]), uncaught="RuntimeError: it went backward.")
    assert as_text(damaged, base=BASE).split("\n\n") == [
        "the trace is damaged: records.bin is cut",
        "the program ended with RuntimeError: it went backward; no autograd mistake was found in what is left of the trace",
    ]


def test_colours_change_nothing_but_colour():
    plain = as_text(explanation(Explained(FINDING, "caught")), base=BASE)
    coloured = as_text(explanation(Explained(FINDING, "caught")), base=BASE, palette=Palette(True))
    assert "\x1b[1m" in coloured
    for code in ("1", "36", "1;31", "2", "0"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == plain


class Terminal(StringIO):
    def isatty(self):
        return super().isatty() or True


@pytest.mark.parametrize(
    ("stream", "environment", "coloured"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (StringIO(), {}, False),
        (None, {}, False),
    ],
)
def test_colours_are_for_terminals(stream, environment, coloured, monkeypatch):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Palette.of(stream).coloured is coloured


def test_a_closed_stream_has_no_colours():
    stream = Terminal()
    stream.close()
    assert not Palette.of(stream).coloured


def site(text, col, end_col, end_line=1):
    return Site("f.py", 1, "f", col, end_col, text, end_line)


# what: (site, line, carets)
EXCERPTS = {
    "part": (site("x = a + b", 4, 9), "x = a + b", "    ^^^^^"),
    "whole": (site("  loss.backward()", 2, 17), "loss.backward()", "^^^^^^^^^^^^^^^"),
    "tabs": (site("\t\ty = f(\tx)", 6, 11), "y = f(  x)", "    ^^^^^^"),
    "umlauts": (site("ä = 'ö' + y", 5, 14), "ä = 'ö' + y", "    ^^^^^^^"),
    "wide": (site("字 = 字 + y", 6, 13), "字 = 字 + y", "     ^^^^^^"),
    "combining": (site("e\u0301 = f(x)", 6, 10), "e\u0301 = f(x)", "    ^^^^"),
    "several-lines": (site("  y = f(\n", 6, 3, 3), "y = f(", "    ^^"),
    "no-columns": (site("  y = f(x)", -1, -1), "y = f(x)", ""),
    "no-text": (site("", 4, 9), "", ""),
    "text-was-cut": (site("abc", 100, 110), "abc", ""),
    "no-end-line": (site("y = f(x)", 4, 8, 0), "y = f(x)", "    ^^^^"),
    "escape": (site("x = '\x1b[31m'", 4, 11), "x = '␛[31m'", "    ^^^^^^^"),
    "columns-in-a-character": (site("ä", 1, 2), "��", " ^"),
}


@pytest.mark.parametrize("name", EXCERPTS)
def test_excerpts(name):
    where, line, carets = EXCERPTS[name]
    assert excerpt(where) == (line, carets)


def test_carets_stand_below_a_character_that_is_written_as_its_number():
    where = site("\xe9 = \xfc * y", 5, 11)
    assert excerpt(where, Palette(encoding="ascii")) == (r"\xe9 = \xfc * y", "       ^^^^^^^^")
    assert excerpt(where, Palette(encoding="latin-1")) == ("\xe9 = \xfc * y", "    ^^^^^")


@pytest.mark.parametrize("col", [0, 10, 400, 900])
def test_long_lines_show_the_expression(col):
    text = "x" * col + "EXPR" + "y" * (1000 - col)
    line, carets = excerpt(site(text, col, col + 4))
    assert len(line) <= WIDTH
    at = carets.index("^")
    assert line[at : at + carets.count("^")] == "EXPR"


def test_a_long_expression_is_cut():
    line, carets = excerpt(site("x = " + "a" * 500, 4, 504))
    assert len(line) == len(carets) == WIDTH
    assert line.endswith("...")


def test_as_json():
    found = as_json(explanation(Explained(FINDING, "caught"), problems=["p"]))
    assert json.loads(json.dumps(found)) == found
    assert (found["format"], found["version"], found["trace"]) == ("agdbg-findings", 1, "t")
    assert (found["nodes"], found["passes"], found["problems"]) == (3, 1, ["p"])
    [finding] = found["findings"]
    assert finding["evidence"][0] == {
        "role": "saved",
        "note": "exp saved its result at version 0",
        "file": "/home/me/project/train.py",
        "line": 12,
        "end_line": 12,
        "col": 8,
        "end_col": 15,
        "func": "Net.forward",
        "text": "    y = x.exp()\n",
        "node": 7,
    }
    assert {key: finding[key] for key in ("kind", "certainty", "caught", "nodes")} == {
        "kind": "inplace-modified",
        "certainty": "certain",
        "caught": True,
        "nodes": [7],
    }
