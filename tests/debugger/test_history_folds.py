"""Folded rows as the hub tells them: modules and repeats of a real program, their states, and what they save."""

from types import FunctionType

import pytest

import agdbg
import agdbg_engine as ag
from agdbg.graph.row_folds import Folding
from agdbg.hub import folded_rows
from agdbg.hub.folded_rows import folding_of, told_of
from agdbg.hub.history import History
from agdbg.protocol import vendor
from agdbg.protocol.checkers import checker
from agdbg_engine import nn

STEPS = 5


def train(steps=STEPS, broken=None):
    """Two layers in a module, and a loss outside of it."""
    model = nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.Tanh()), nn.Linear(4, 2))
    for step in range(steps):
        loss = (model(ag.ones(5, 3)) ** 2).sum()
        if step == broken:
            loss.register_hook(lambda grad: 1 / 0)
        loss.backward()


@pytest.fixture
def history(tmp_path):
    with agdbg.record(tmp_path / "trace", also="shapes"):
        train()
    return History(tmp_path / "trace")


def seen(history, folding, start=0, count=100):
    body = history.rows(start, count, folding)
    assert checker(vendor.RowsBody, closed=True).problem(body) is None
    return body["rows"]


def test_a_loop_is_one_row_that_opens_to_modules(history):
    (whole,) = seen(history, Folding(1))
    assert (whole["op"], whole["times"], whole["count"]) == (
        f"{STEPS} \N{MULTIPLICATION SIGN} Sequential, …",
        STEPS,
        history.total,
    )
    steps = history.folded.moved(Folding(1), 0, "unfold")
    model, power, total, *_ = seen(history, steps)
    assert (model["op"], power["op"], total["op"]) == ("Sequential", "PowBackward0", "SumBackward0")
    assert model["count"] == history.total // STEPS - 2
    inside = seen(history, history.folded.moved(steps, 0, "unfold"))
    assert [each["op"] for each in inside[:2]] == ["0 (Sequential)", "1 (Linear)"]
    assert [each["cells"].count("│") for each in inside[:3]] == [2, 2, 1]
    assert sum(each["count"] for each in inside) == history.total
    assert [each["row"] for each in inside][1:] == [each["row"] + each["count"] for each in inside[:-1]]


def test_a_fold_tells_its_last_node_and_adds_up_what_it_saves(history):
    model = seen(history, history.folded.moved(Folding(1), 0, "unfold"))[0]
    plain = history.rows(0, model["count"])["rows"]
    for key in ("node", "shape", "file", "line", "text"):
        assert model[key] == plain[-1][key]
    assert model["saved"] == sum(each["saved"] for each in plain)
    assert model["state"] == "freed"


def test_a_page_of_folded_rows(history):
    steps = history.folded.moved(Folding(1), 0, "unfold")
    assert seen(history, steps, 2, 3) == seen(history, steps)[2:5]
    assert seen(history, steps, 99, 3) == []


def test_the_counter_stands_at_the_fold_of_its_node(history):
    steps = history.folded.moved(Folding(1), 0, "unfold")
    node = history.node_at(history.total // STEPS * 2)
    assert history.place_of(node, steps) == 6
    assert history.place_of(node) == history.total // STEPS * 2
    assert history.place_of(10**6, steps) is None


def test_the_state_is_the_least_advanced(tmp_path):
    with agdbg.record(tmp_path / "trace"):
        x = ag.ones(3, requires_grad=True)
        model = nn.Sequential(nn.Tanh(), nn.Tanh(), nn.Tanh())
        first = model(x)
        model(first)
        first.sum().backward()
    history = History(tmp_path / "trace")
    rows = seen(history, Folding(1))
    assert [(each["op"], each["state"]) for each in rows] == [
        ("Sequential", "freed"), ("Sequential", "pending"), ("SumBackward0", "freed"),
    ]  # fmt: skip


def test_a_failure_in_a_long_fold_is_not_overlooked(tmp_path, monkeypatch):
    monkeypatch.setattr(folded_rows, "LOOKED_AT", 2)
    with agdbg.record(tmp_path / "trace", also="shapes"), pytest.raises(ZeroDivisionError):
        train(broken=STEPS - 1)
    history = History(tmp_path / "trace")
    (whole,) = seen(history, Folding(1))
    assert (whole["state"], whole["saved"]) == ("failed", None)


def test_repeats_of_single_nodes_and_of_several(tmp_path):
    with agdbg.record(tmp_path / "trace"):
        x = ag.ones(3, requires_grad=True)
        y = x
        for _ in range(9):
            y = y * 2.0
        for _ in range(7):
            y = y.exp().sin()
    history = History(tmp_path / "trace")
    assert [each["op"] for each in seen(history, Folding(1))] == [
        "9 \N{MULTIPLICATION SIGN} MulBackward0",
        "7 \N{MULTIPLICATION SIGN} 2 nodes",
    ]


@pytest.mark.parametrize(
    ("calls", "title"),
    [
        ((0, 1, 2, 3), "0 to 3 (Sequential)"),
        ((1, 1, 1, 1), "4 \N{MULTIPLICATION SIGN} 1 (Sequential)"),
        ((0, 1, 2, 0, 1, 2), "6 calls, 0 to 2 (Sequential)"),
    ],
)
def test_repeats_of_several_modules_name_the_first_and_the_last(tmp_path, calls, title):
    class Net(nn.Sequential):
        def forward(self, x):
            for at in calls:
                x = self[at](x)
            return x

    with agdbg.record(tmp_path / "trace"):
        net = Net(*(nn.Sequential(nn.Linear(3, 3), nn.Tanh()) for _ in range(4)))
        net(ag.ones(2, 3))
    history = History(tmp_path / "trace")
    (whole,) = seen(history, history.folded.moved(Folding(1), 0, "unfold"))
    assert (whole["op"], whole["times"]) == (title, len(calls))


def test_a_depth_beyond_the_deepest_is_the_deepest(history):
    assert history.folded.deepest == 3
    assert history.folded.moved(Folding(9), 0, "keep") == Folding(3)
    assert history.folded.moved(Folding(1), 10**6, "show") == Folding(1)


def test_what_is_folded_goes_to_the_client_and_back():
    folding = Folding(2, (3, 3, 9), ((1, 2),))
    assert folding_of(told_of(folding)) == folding
    assert folding_of(None) == Folding()


class Weights:
    """What is called by an instruction that CPython makes another one of when it has run some times."""

    def __init__(self):
        self.all = ag.ones(2, requires_grad=True)

    def __getitem__(self, at):
        return self.all[at]


def iteration(weights, first):
    y = weights[0] * 2.0 + weights[1]
    if first:
        y = y.exp()
    y.backward()


def test_behind_a_first_iteration_that_differs_the_others_are_one_fold(tmp_path):
    with agdbg.record(tmp_path / "trace"):
        weights, once = Weights(), FunctionType(iteration.__code__.replace(), globals())  # code that has not run yet
        for number in range(40):
            once(weights, number == 0)
    history = History(tmp_path / "trace")
    first = [(0, 1)] * 5
    assert [(each["times"], each["count"]) for each in seen(history, Folding(1))] == [*first, (39, 39 * 4)]


def test_a_loop_is_one_fold_however_often_its_code_has_run(tmp_path):
    with agdbg.record(tmp_path / "trace"):
        weights, once = Weights(), FunctionType(iteration.__code__.replace(), globals())  # code that has not run yet
        for _ in range(40):
            once(weights, False)
    history = History(tmp_path / "trace")
    assert [(each["times"], each["count"]) for each in seen(history, Folding(1))] == [(40, 160)]
