"""Labels may hold anything: every format stays well-formed, readable back, and on its lines."""

import json
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agdbg.graph.model import BADGE_KINDS, STATES, Badge, Graph, GraphEdge, GraphNode
from agdbg.render import renderer_for, suffixes
from agdbg.render.clean import columns, cut, printable, shorten, shorten_start
from agdbg.render.text import TextRenderer

SVG = "{http://www.w3.org/2000/svg}"
NASTY = [
    *(
        "",
        "<",
        "</text>",
        "&",
        "&amp;",
        "]]>",
        "<!--",
        '"',
        "'",
        "\\",
        "\\n",
        '\\"',
        "<b>bold</b>",
        "a" * 400,
    ),
    *("\x00", "\x1b[31m", "\r\n", "\t", "\u2028", "\u202e", "\ud800", "\udcff", "\ufffe", "\uffff"),
    *("\U0001f600", "\u6f22", "e\u0301"),
]
labels = st.one_of(
    st.text(st.characters(), max_size=30),
    st.lists(st.sampled_from(NASTY), max_size=4).map("".join),
    st.text(st.characters(categories=["Cc", "Cs", "Cf", "Cn", "Co", "Zl", "Zs", "Mn"]), max_size=12),
)
badges = st.builds(Badge, labels, st.sampled_from(BADGE_KINDS))


@st.composite
def hostile(draw):
    size = draw(st.integers(0, 5))
    nodes = [
        GraphNode(
            id=number,
            op=draw(labels),
            site=draw(labels),
            text=draw(labels),
            state=draw(st.sampled_from(STATES)),
            badges=tuple(draw(st.lists(badges, max_size=4))),
            count=draw(st.sampled_from([1, 1, 7])),
        )
        for number in range(1, size + 1)
    ]
    edges = [
        GraphEdge(low, high, draw(st.integers(0, 3)), 0, draw(st.sampled_from([1, 9])))
        for low in range(2, size + 1)
        for high in draw(st.lists(st.integers(1, low - 1), max_size=2))
    ]
    return Graph(draw(labels), nodes, edges, draw(st.lists(labels, max_size=2)))


@given(hostile())
@settings(deadline=None)
def test_svg_is_well_formed_and_holds_every_node(graph):
    text = renderer_for("x.svg").render(graph)
    root = ElementTree.fromstring(text.encode())
    boxes = {
        group.get("id"): group.get("class")
        for group in root.iter(f"{SVG}g")
        if re.fullmatch(r"n\d+", group.get("id") or "")
    }
    assert boxes == {f"n{node.id}": node.state for node in graph.nodes}
    assert len([path for group in root.iter(f"{SVG}g") if group.get("class") == "edges" for path in group]) >= len(
        graph.edges
    )
    assert not list(root.iter(f"{SVG}script")) and not list(root.iter(f"{SVG}image"))


@given(hostile())
@settings(deadline=None)
def test_svg_text_stays_inside_its_box(graph):
    """By the widths that the drawing reckons with; real fonts are narrower."""
    root = ElementTree.fromstring(renderer_for("x.svg").render(graph).encode())
    for group in root.iter(f"{SVG}g"):
        if re.fullmatch(r"n\d+", group.get("id") or ""):
            frame = [rect for rect in group.iter(f"{SVG}rect") if rect.get("class") == "box"][-1]
            for pill in group.iter(f"{SVG}rect"):
                if "pill" in (pill.get("class") or ""):
                    assert float(pill.get("x")) + float(pill.get("width")) <= float(frame.get("width"))
                    assert float(pill.get("y")) + float(pill.get("height")) < float(frame.get("height"))


@given(hostile())
@settings(deadline=None)
def test_json_gives_back_what_was_put_in(graph):
    text = renderer_for("x.json").render(graph)
    assert text.isascii()
    found = json.loads(text)
    assert (found["format"], found["version"]) == ("agdbg-graph", 1)
    nodes = [
        GraphNode(
            node["id"],
            node["op"],
            node["site"],
            node["text"],
            node["state"],
            tuple(Badge(badge["text"], badge["kind"]) for badge in node["badges"]),
            node["count"],
        )
        for node in found["nodes"]
    ]
    edges = [
        GraphEdge(edge["from"], edge["to"], edge["output_nr"], edge["input_index"], edge["count"], edge["certainty"])
        for edge in found["edges"]
    ]
    again = Graph(found["title"], nodes, edges, found["notes"])
    assert joined(again) == joined(graph)


def joined(graph):
    """The graph as text in which surrogates that stand side by side are one character, as JSON reads them."""
    return "|".join(map(repr_of, walk(graph)))


def walk(graph):
    yield from (graph.title, *graph.notes)
    for node in graph.nodes:
        yield from (node.id, node.op, node.site, node.text, node.state, node.count, len(node.badges))
        yield from (part for badge in node.badges for part in (badge.text, badge.kind))
    yield from graph.edges


def repr_of(value):
    text = value if isinstance(value, str) else repr(value)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


STRING = r'"(?:[^"\\]|\\.)*"'
ATTRIBUTE = rf"[A-Za-z]+=(?:{STRING}|[A-Za-z0-9_.-]+)"
STATEMENT = re.compile(rf"\t(?:graph|node|edge|n\d+|n\d+ -> n\d+)(?: \[{ATTRIBUTE}(?: {ATTRIBUTE})*\])?")


@given(hostile())
@settings(deadline=None)
def test_dot_holds_nothing_but_the_statements_meant(graph):
    first, *statements, last, end = renderer_for("x.dot").render(graph).split("\n")
    assert (first, last, end) == ("digraph agdbg {", "}", "")
    assert all(STATEMENT.fullmatch(statement) for statement in statements)
    assert len(statements) == 3 + len(graph.nodes) + len(graph.edges)


@given(hostile())
@settings(deadline=None, max_examples=30)
@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_dot_is_read_by_graphviz_and_shows_the_very_text(graph):
    source = renderer_for("x.dot").render(graph)
    done = subprocess.run(["dot", "-Tsvg"], input=source.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = "".join(ElementTree.fromstring(done.stdout).itertext())
    for node in graph.nodes:
        assert _bare(printable(node.op)) in _bare(shown)


def _bare(text):
    """Without blanks, which Graphviz changes, and without what its own XML writer drops."""
    return re.sub(r"[\s\xa0\ufffd\ufffe\uffff]", "", text)


@given(hostile(), st.integers(40, 120))
@settings(deadline=None)
def test_text_keeps_to_its_width_and_to_one_row_a_node(graph, width):
    lines = TextRenderer(width).render(graph).split("\n")
    assert lines.pop() == ""
    assert all(columns(line) <= width for line in lines)
    assert all(line.isprintable() for line in lines)
    rows = lines[len(lines) - len(graph.nodes) :]
    assert all(f"#{node.id}" in row for node, row in zip(graph.nodes, rows, strict=True))


def test_text_needs_some_room():
    with pytest.raises(ValueError, match="at least 40 columns, not 20"):
        TextRenderer(20)


@given(hostile())
@settings(deadline=None)
def test_every_format_can_be_written_as_utf8_with_lf_only(graph):
    for suffix in suffixes():
        text = renderer_for(f"x{suffix}").render(graph)
        assert text.encode().endswith(b"\n")
        assert "\r" not in text


@given(st.text(st.characters(), max_size=40), st.integers(1, 30))
def test_shortened_text_fits(text, limit):
    for short in (shorten(text, limit), shorten_start(text, limit)):
        assert short.isprintable()
        assert columns(short) <= limit


@given(st.text(st.characters(), max_size=40), st.integers(0, 30))
def test_cut_text_is_the_longest_beginning_that_fits(text, limit):
    line = printable(text)
    short = cut(line, limit)
    assert line.startswith(short) and columns(short) <= limit
    assert short == line or columns(line[: len(short) + 1]) > limit


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\tb\0", "a\u2409b\u2400"),
        ("\x7f\x9b\ud800\ufffe\u202e", "\ufffd" * 5),
        ("a\xa0b\u3000c", "a b c"),
        ("\N{GREEK SMALL LETTER ALPHA}\U0001f600", "\N{GREEK SMALL LETTER ALPHA}\U0001f600"),
    ],
)
def test_what_cannot_be_shown_is_replaced(text, shown):
    assert printable(text) == shown


def test_long_names_are_cut_where_they_say_least():
    assert shorten("x  =  some_function(argument)", 12) == "x = some_fu\N{HORIZONTAL ELLIPSIS}"
    assert shorten_start("a/very/long/path/model.py:12", 12) == "\N{HORIZONTAL ELLIPSIS}model.py:12"
