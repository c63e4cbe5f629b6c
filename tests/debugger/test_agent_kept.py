"""Values that are held against those of an earlier pass: what is kept, of what at most, and what is told of it."""

import numpy as np
import pytest

from agdbg.agent.kept import KeptValues, Moment, difference
from agdbg.protocol import looks
from agdbg.protocol.checkers import checker

TRAINING = """\
import agdbg_engine as ag
from agdbg_engine import optim

w = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
x = ag.tensor([[1.0, 0.0]])
step = optim.SGD([w], lr=0.5)
for i in range(3):
    for _ in range(2):
        x = x * 1.0
    loss = (x @ w * w).sum()
    step.zero_grad()
    loss.backward()
    step.step()
"""
TWICE = """\
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
for i in range(3):
    y = x
    for _ in range(2):
        y = y * 2.0
    y.sum().backward()
"""
MANY = """\
import agdbg_engine as ag

class Weights:
    def __init__(self):
        self.all = ag.ones(2, requires_grad=True)

    def __getitem__(self, at):
        return self.all[at]

def forward(weights):
    return weights[0] * 2.0

weights = Weights()
for _ in range(12):
    forward(weights).backward()
"""
WHOLE = {"index": [], "row": 0, "column": 0, "rows": 9, "columns": 9, "step": 0}


def compare(kept, place, pass_id, array):
    delta, told = kept.compare(Moment(place, pass_id), array)
    assert checker(looks.Compared, closed=True).problem(told) is None
    return delta, told


def test_a_value_is_held_against_that_of_the_last_pass_in_which_it_was_kept():
    kept = KeptValues()
    now = np.array([1.0, 2.0, 3.0])
    delta, told = compare(kept, "w", 1, now)
    assert delta is now or np.array_equal(delta, now)
    assert told["before"] is None and told["why"] == (
        "nothing kept of an earlier pass: this is kept now, look again in a later one"
    )
    now[1] = 2.5
    assert compare(kept, "w", 1, now)[1]["before"] is None
    delta, told = compare(kept, "w", 4, now + [0, 1, 0])
    assert (told["now"], told["before"], told["changed"], told["largest"]) == (4, 1, 1, "1")
    assert delta.tolist() == [0.0, 1.0, 0.0]
    delta, told = compare(kept, "w", 5, now)
    assert (told["before"], delta.tolist()) == (4, [0.0, -1.0, 0.0])
    assert compare(kept, "w", 5, now)[1]["before"] == 4
    assert compare(kept, "v", 5, now)[1]["before"] is None


def test_no_more_is_kept_than_may_be_and_that_is_told():
    kept = KeptValues(limit=250)
    ten = np.zeros(10)
    for at, place in enumerate("abc"):
        told = compare(kept, place, 1, ten)[1]
        assert (told["keptBytes"], told["dropped"]) == (80 * (at + 1), 0)
    told = compare(kept, "d", 1, ten)[1]
    assert (told["keptBytes"], told["limitBytes"], told["dropped"]) == (240, 250, 1)
    assert compare(kept, "a", 2, ten)[1]["before"] is None
    told = compare(kept, "c", 2, ten + 1)[1]
    assert (told["before"], told["changed"], told["keptBytes"]) == (1, 10, 240)
    told = compare(kept, "e", 1, np.zeros(40))[1]
    assert told["why"] == "nothing kept of an earlier pass; not kept: it has 320 bytes, of at most 250"
    assert told["keptBytes"] == 240


def test_one_too_big_to_be_kept_twice_is_still_compared_with_the_first():
    kept = KeptValues(limit=100)
    compare(kept, "w", 1, np.zeros(10))
    told = compare(kept, "w", 2, np.ones(10))[1]
    assert (told["before"], told["changed"], told["keptBytes"]) == (1, 10, 80)
    assert told["why"] == "not kept: it has 80 bytes, of at most 100"
    assert compare(kept, "w", 3, np.zeros(10))[1]["changed"] == 0


def test_another_shape_is_not_compared():
    kept = KeptValues()
    compare(kept, "w", 1, np.zeros((2, 3)))
    delta, told = compare(kept, "w", 2, np.ones(4))
    assert (told["before"], told["why"], delta.shape) == (
        None,
        "in pass 1 it had the shape [2, 3]: nothing to compare",
        (4,),
    )
    assert compare(kept, "w", 3, np.ones(4))[1]["before"] == 2


def test_without_a_pass_there_is_nothing_to_compare_with():
    told = KeptValues().compare(None, np.zeros(3))[1]
    assert told["keptBytes"] == 0 and "no pass stands here" in told["why"]


@pytest.mark.parametrize(
    ("now", "before", "changed", "largest", "mean"),
    [
        ([1, 2, 3], [1, 2, 5], 1, "2", "0.6667"),
        ([True, False], [False, False], 1, "1", "0.5"),
        ([np.nan, np.nan, 1.0], [np.nan, 0.0, 1.0], 1, "0", "0"),
        ([np.inf, 2.0], [np.inf, 1.0], 1, "1", "1"),
        ([1 + 1j], [1 - 1j], 1, "2", "2"),
        (np.array([0, 255], np.uint8), np.array([255, 0], np.uint8), 2, "255", "255"),
        ([], [], 0, "", ""),
    ],
)
def test_what_differs(now, before, changed, largest, mean):
    delta, facts = difference(np.array(now), np.array(before))
    assert facts == {"changed": changed, "largest": largest, "mean": mean}
    assert delta.dtype.kind in "fc"


def test_a_weight_is_the_same_one_in_every_pass(run_agent):
    hub = run_agent(TRAINING)
    stop, seen = hub.stopped(), []
    while len(seen) < 2:
        if stop["description"].startswith("before MulBackward0"):
            ask = {"node": stop["node"], "what": "saved", "which": "other", **WHOLE}
            plain = hub.ask("tensor", **ask)
            assert plain["compared"] is None
            seen.append((plain, hub.ask("tensor", **ask, compare=True)))
        stop = hub.go("next")
    first, second = (compared for _, compared in seen)
    assert first["compared"]["before"] is None and first["values"] == seen[0][0]["values"]
    assert (second["compared"]["now"], second["compared"]["before"]) == (2, 1)
    then, now = (np.array(plain["values"], float) for plain, _ in seen)
    assert np.allclose(np.array(second["values"], float), now - then)
    assert second["compared"]["changed"] == np.count_nonzero(now != then) > 0


def test_of_two_nodes_of_one_line_each_is_held_against_its_own(run_agent):
    hub = run_agent(TWICE)
    stop, told = hub.stopped(), []
    while len(told) < 4:
        if stop["description"].startswith("before MulBackward0"):
            ask = {"node": stop["node"], "what": "in", "which": 0, **WHOLE}
            told.append(hub.ask("tensor", **ask, compare=True)["compared"])
        stop = hub.go("next")
    assert [each["before"] for each in told] == [None, None, 1, 1]
    assert [each["changed"] for each in told[2:]] == [0, 0]


def test_the_gradient_of_a_leaf_that_nobody_named_is_found_again(run_agent):
    hub = run_agent(TWICE)
    stop, told = hub.stopped(), []
    while len(told) < 2:
        if stop["description"].startswith("before AccumulateGrad"):
            ask = {"node": stop["node"], "what": "in", "which": 0, **WHOLE}
            told.append(hub.ask("tensor", **ask, compare=True)["compared"])
        stop = hub.go("next")
    assert [each["before"] for each in told] == [None, 1]


def test_a_place_is_the_same_however_often_its_code_has_run(run_agent):
    hub = run_agent(MANY)
    stop, told = hub.stopped(), []
    while len(told) < 12:
        if stop["description"].startswith("before SelectBackward0"):
            ask = {"node": stop["node"], "what": "in", "which": 0, **WHOLE}
            told.append(hub.ask("tensor", **ask, compare=True)["compared"])
        stop = hub.go("next")
    assert [each["before"] for each in told] == [None, *range(1, 12)]
