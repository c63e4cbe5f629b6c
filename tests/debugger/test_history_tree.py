"""The tree of modules and parameters with its totals, and the paths between two nodes."""

import numpy as np
import pytest

import agdbg
import agdbg_engine as ag
from agdbg.hub.history import History
from agdbg.hub.paths import paths_between
from agdbg.protocol import looks
from agdbg.protocol.checkers import checker
from agdbg.record.module_stacks import ModuleStacks
from agdbg_engine import nn


def recorded(tmp_path, program, **also):
    with agdbg.record(tmp_path / "trace", **also):
        program()
    return History(tmp_path / "trace")


def test_totals_of_modules_and_their_parameters(tmp_path):
    def program():
        inner = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
        model = nn.Sequential(inner, nn.Linear(4, 2))
        model(ag.randn(5, 3)).sum().backward()

    history = recorded(tmp_path, program, also="shapes")
    branches = history.branches()
    assert [checker(looks.Branch, closed=True).problem(each) for each in branches] == [None] * len(branches)
    modules = {each["path"]: each for each in branches if each["kind"] == "module"}
    assert list(modules) == ["", "0", "0.0", "0.1", "1"]
    assert modules["0"]["nodes"] == modules["0.0"]["nodes"] + modules["0.1"]["nodes"]
    assert modules[""]["nodes"] == modules["0"]["nodes"] + modules["1"]["nodes"]
    assert modules[""]["nodes"] == history.total - 1  # all but the sum
    assert modules["0.1"]["className"] == "ReLU" and modules["0.1"]["nodes"] == 1
    assert 0 < modules["0"]["ns"] < modules[""]["ns"]
    named = {each["path"]: each for each in branches if each["kind"] == "parameter"}
    assert {"0.0.weight", "0.0.bias", "1.weight", "1.bias"} == set(named)
    assert named["1.weight"]["className"].endswith("[2, 4]") and named["1.weight"]["nbytes"] > 0
    assert history.branches() is branches


def test_without_modules_there_is_nothing_to_tell(tmp_path):
    history = recorded(tmp_path, lambda: ag.tensor([1.0], requires_grad=True).exp().backward())
    assert [each["nodes"] for each in history.branches() if each["kind"] == "module"] in ([], [0])


def test_modules_at_many_rows_are_those_at_each():
    stacks = ModuleStacks()
    entered, left = 1 << 16, 2 << 16
    stacks.add([(2, entered, 7), (4, entered, 8), (6, left, 8), (9, left, 7)])
    rows = np.arange(12)
    assert stacks.modules_at(0, rows).tolist() == [stacks.at(0, row) for row in range(12)]
    assert stacks.modules_at(5, rows).tolist() == [0] * 12


def test_the_paths_between_two_nodes(tmp_path):
    def program():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        (y.sin() * y.cos().sqrt()).sum().backward()
        (x * 2).sum().backward()

    history = recorded(tmp_path, program)
    nodes = [row["node"] for row in history.rows(0, 20)["rows"]]
    exp, sin, cos, root, product = nodes[0], nodes[1], nodes[2], nodes[3], nodes[4]
    body = paths_between(history.live, exp, product)
    assert checker(looks.PathsBody, closed=True).problem(body) is None
    assert body == paths_between(history.live, product, exp)
    assert (body["first"], body["last"]) == (product, exp)
    assert body["nodes"] == sorted([exp, sin, cos, root, product])
    assert body["shortest"] == [product, sin, exp]
    assert paths_between(history.live, sin, cos)["total"] == 0
    with pytest.raises(ValueError, match="no node 999"):
        paths_between(history.live, sin, 999)
