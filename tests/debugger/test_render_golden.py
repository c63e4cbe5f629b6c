"""Every output format, byte by byte, against the files in golden/.

After a wanted change, write them anew and look at the difference (and at the pictures) before committing:

    AGDBG_UPDATE_GOLDEN=1 python -m pytest tests/debugger/test_render_golden.py
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agdbg.graph import samples
from agdbg.graph.collapse import collapse
from agdbg.graph.model import Badge, Graph, GraphEdge, GraphNode
from agdbg.render import renderer_for

GOLDEN = Path(__file__).parent / "golden"
UPDATE = os.environ.get("AGDBG_UPDATE_GOLDEN") == "1"


def ports():
    """Long edges, several outputs, an inferred edge."""
    graph = samples.chain(18)
    graph.edges += [GraphEdge(18, 1), GraphEdge(17, 1), GraphEdge(6, 2, 1, 1, certainty="inferred")]
    return graph


def odd():
    """Names that mean something to XML, Graphviz or a terminal, and two nodes on their own."""
    badges = (Badge('<w> & "b"', "parameter"), Badge("x\\ny", "leaf"), Badge("r\x1b[31m", "saved"))
    nodes = [
        GraphNode(
            1,
            "<Op> & 'more'",
            'a "b".py:1',
            "x = y < z and y > 0  # \N{GREEK SMALL LETTER ALPHA} \x00 \udcff",
            "ran",
            badges,
        ),
        GraphNode(2, "\\N", "\N{CJK UNIFIED IDEOGRAPH-6F22}.py:2", "&amp; \\l </svg> " * 9, "failed"),
    ]
    return Graph("<title> & \\n \x07", nodes, [], ["a <note> & \\l " * 20])


GRAPHS = {
    "mlp": samples.mlp,
    "shared_encoder": samples.shared_encoder,
    "rnn": lambda: samples.rnn(5),
    "failed": samples.failed,
    "folded": lambda: collapse(samples.rnn(200)),
    "ports": ports,
    "odd": odd,
    "empty": lambda: Graph("nothing"),
    "single": lambda: Graph("", [GraphNode(7, "SumBackward0")]),
}


@pytest.mark.parametrize("suffix", ["dot", "json", "svg", "txt"])
@pytest.mark.parametrize("name", GRAPHS)
def test_output_is_as_it_was(name, suffix):
    path = GOLDEN / f"{name}.{suffix}"
    found = renderer_for(path).render(GRAPHS[name]()).encode()
    if UPDATE:
        GOLDEN.mkdir(exist_ok=True)
        path.write_bytes(found)
    assert path.exists(), f"no {path.name}: see the docstring of {Path(__file__).name}"
    assert found.decode().splitlines() == path.read_bytes().decode().splitlines()
    assert found == path.read_bytes()


def test_no_golden_file_is_left_over():
    known = {f"{name}.{suffix}" for name in GRAPHS for suffix in ("dot", "json", "svg", "txt")}
    assert {path.name for path in GOLDEN.iterdir()} == known


@pytest.mark.parametrize("suffix", ["dot", "json", "svg", "txt"])
def test_rendering_twice_gives_the_same(suffix):
    renderer = renderer_for(f"x.{suffix}")
    graph = collapse(samples.resnet(60))
    assert renderer.render(graph) == renderer.render(replace(graph))
