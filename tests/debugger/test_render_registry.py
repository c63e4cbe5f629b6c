"""Renderers by file suffix."""

from pathlib import Path

import pytest

import agdbg.render
from agdbg.graph import samples
from agdbg.graph.model import Graph
from agdbg.render import UnknownSuffix, register, renderer_for, suffixes
from agdbg.render.dot import DotRenderer
from agdbg.render.json import JsonRenderer
from agdbg.render.svg import SvgRenderer
from agdbg.render.text import TextRenderer


@pytest.fixture
def own_registry(monkeypatch):
    monkeypatch.setattr(agdbg.render, "_RENDERERS", dict(agdbg.render._RENDERERS))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.svg", SvgRenderer),
        ("A.SVG", SvgRenderer),
        ("b.dot", DotRenderer),
        ("b.gv", DotRenderer),
        ("/tmp/x.y/c.json", JsonRenderer),
        (Path("d.old.txt"), TextRenderer),
    ],
)
def test_the_suffix_chooses(name, kind):
    assert isinstance(renderer_for(name), kind)


@pytest.mark.parametrize("name", ["graph.png", "graph.pgn", "x.svg.gz"])
def test_an_unknown_suffix_is_named_with_the_known_ones(name):
    with pytest.raises(UnknownSuffix) as caught:
        renderer_for(name)
    message = str(caught.value)
    assert repr(name) in message and f"'{Path(name).suffix}'" in message
    assert ".dot, .gv, .json, .svg, .txt" in message


@pytest.mark.parametrize("name", ["graph", ".svg", ""])
def test_a_name_without_a_suffix_says_so(name):
    with pytest.raises(UnknownSuffix, match="without a suffix; known are"):
        renderer_for(name)


def test_another_renderer_can_be_added(own_registry):
    class Count:
        def render(self, graph: Graph) -> str:
            return f"{len(graph.nodes)}\n"

    register(".COUNT", Count())
    assert ".count" in suffixes()
    assert renderer_for("x.count").render(samples.mlp()) == "12\n"


@pytest.mark.parametrize("suffix", ["svg", "", "."])
def test_a_suffix_needs_its_dot(own_registry, suffix):
    with pytest.raises(ValueError, match="starts with a dot"):
        register(suffix, SvgRenderer())
