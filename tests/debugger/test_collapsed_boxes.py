"""The graph around a node by modules, as boxes: which there are, what they say, and what uses what."""

import pytest

import agdbg
import agdbg_engine as ag
from agdbg.hub import collapsed as module
from agdbg.hub.collapsed import collapsed
from agdbg.hub.history import History
from agdbg.hub.moment import Moment
from agdbg.hub.neighbourhood import _width as width_of_box
from agdbg.protocol import looks
from agdbg.protocol.checkers import checker
from agdbg_engine import nn

STEPS = 3


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """Steps of a model in a model."""
    path = tmp_path_factory.mktemp("collapsed") / "trace"
    with agdbg.record(path):
        model = nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.Tanh()), nn.Linear(4, 2))
        for _ in range(STEPS):
            (model(ag.ones(5, 3)).exp().mean() * 2.0).backward()
    return History(path)


def told(history, depth, node=None, **more):
    node = history.node_at(history.total // 2) if node is None else node
    body = collapsed(history, node, depth, more.get("at"), more.get("following", 0))
    assert checker(looks.NeighbourhoodBody, closed=True).problem(body) is None
    return body


def names(body):
    return [box["words"][0].partition(" #")[0] for box in body["boxes"]]


def edges(body):
    """Which boxes use which, by their places in the drawing."""
    at = {box["node"]: place for place, box in enumerate(body["boxes"])}
    every = [*body["lines"], *body["ports"]]
    return sorted((at[line["consumer"]], at[line["producer"]]) for line in every)


def test_a_module_is_a_box_and_so_is_a_node_outside_of_all(history):
    body = told(history, 1)
    assert names(body) == ["Sequential", "ExpBackward0", "MeanBackward0", "MulBackward0"]
    assert edges(body) == [(1, 0), (2, 1), (3, 2)]
    assert (body["depth"], body["total"], body["layers"]) == (1, 4, 4)
    size = history.total // STEPS - 3
    assert body["boxes"][0]["words"][1].startswith(f"{size} nodes")


def test_deeper_it_is_the_modules_in_it(history):
    assert names(told(history, 2))[:2] == ["0 (Sequential)", "1 (Linear)"]
    assert names(told(history, 3))[0] == "0.0 (Linear)"
    assert told(history, 99)["depth"] == history.folded.deepest
    assert names(told(history, 99)) == names(told(history, history.folded.deepest))


def test_only_what_hangs_together_with_the_node_is_there(history):
    first, last = told(history, 1, history.node_at(0)), told(history, 1, history.node_at(history.total - 1))
    assert names(first) == names(last)
    assert not {box["node"] for box in first["boxes"]} & {box["node"] for box in last["boxes"]}
    assert first["node"] == first["boxes"][0]["node"] and last["node"] == last["boxes"][-1]["node"]


def test_the_box_says_how_its_nodes_are_and_which_runs_next(history):
    assert {box["state"] for box in told(history, 1)["boxes"]} == {"freed"}
    start = min(each.row for each in history.live.passes)
    node = history.node_at(history.total // STEPS - 1)
    at = Moment((1,), start, frozenset())
    body = told(history, 1, node, at=at, following=node)
    assert [box["state"] for box in body["boxes"]] == ["waiting", "waiting", "waiting", "next"]


def test_more_than_fits_is_cut_around_the_node(history, monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    body = told(history, 1)
    assert (len(body["boxes"]), body["cut"]) == (2, True)
    assert body["node"] in {box["node"] for box in body["boxes"]}


def test_what_is_all_there_is_not_called_cut_although_more_of_the_graph_was_not_looked_at(history, monkeypatch):
    monkeypatch.setattr(module, "MOST", 5)
    body = told(history, 1)
    assert (len(body["boxes"]), body["total"], body["cut"]) == (4, 4, False)


@pytest.mark.parametrize("place", [0, 150, 299])
def test_of_a_chain_that_goes_on_behind_what_was_looked_at_it_is_said(tmp_path, monkeypatch, place):
    with agdbg.record(tmp_path / "trace"):
        x = ag.ones(2, requires_grad=True)
        for _ in range(300):
            x = x.sin()
    history = History(tmp_path / "trace")
    assert told(history, 1, history.node_at(place))["cut"] is (place != 150)  # 240 on each side
    monkeypatch.setattr(module, "ROWS", 20)
    body = told(history, 1, history.node_at(place))
    assert body["cut"] and body["total"] < 300


def test_a_leaf_that_nobody_uses_has_no_box(history):
    with pytest.raises(ValueError, match="node 999999 has no row"):
        collapsed(history, 999_999, 1, None)


@pytest.mark.parametrize("shape", ["float32[64, 4]", "float32[1024, 512, 14, 14]", "bfloat16[1024, 512, 14]"])
def test_a_box_has_room_for_the_type_behind_the_shape(shape):
    words = ["encoder.layers.0.self_attention (MultiheadAttention)", f"1,234 nodes  {shape}"]
    assert width_of_box(words) >= len(words[1]) + 2
    assert width_of_box([words[0], "[encoder.layers.0.self_attention.in_proj_weight]"]) < 40


def test_a_drawn_box_has_room_for_all_words_about_its_shape(history):
    for depth in (1, 2, 3):
        for box in told(history, depth)["boxes"]:
            assert box["words"][1].startswith("[") or box["width"] >= len(box["words"][1]) + 2, box
