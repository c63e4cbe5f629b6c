"""An index that grows finds what was added, however it came and however many runs it keeps."""

import numpy as np
import pytest

from agdbg.record import growing
from agdbg.record.growing import GrowingIndex, distinct

ORDERS = {
    "ascending": lambda chance, n: np.arange(n),
    "descending": lambda chance, n: np.arange(n)[::-1],
    "mixed": lambda chance, n: chance.permutation(n),
    "again and again": lambda chance, n: chance.integers(0, 9, n),
    "in blocks": lambda chance, n: np.concatenate([np.arange(at, at + 50) for at in range(n - 50, -1, -50)]),
}


@pytest.mark.parametrize("long", [1, 40, 1 << 19])
@pytest.mark.parametrize("order", ORDERS)
def test_what_was_added_is_found_in_the_order_in_which_it_came(monkeypatch, order, long):
    monkeypatch.setattr(growing, "LONG", long)
    chance = np.random.default_rng(3)
    ids = ORDERS[order](chance, 1000).astype(np.uint64)
    index, expected = GrowingIndex(), {}
    at = 0
    while at < len(ids):
        piece = ids[at : at + int(chance.integers(1, 40))]
        index.add(piece, np.arange(at, at + len(piece)))
        for value, number in enumerate(piece.tolist(), at):
            expected.setdefault(number, []).append(value)
        at += len(piece)
    wanted = np.unique(ids)
    assert index.ids.tolist() == sorted(expected)
    assert {number: index.rows(number) for number in expected} == expected
    assert index.find(wanted).tolist() == [expected[number][-1] for number in wanted.tolist()]
    owner, values = index.all(wanted)
    assert values.tolist() == [value for number in wanted.tolist() for value in expected[number]]
    assert owner.tolist() == [place for place, number in enumerate(wanted.tolist()) for _ in expected[number]]
    assert (index.last(5000), index.rows(5000), index.last(-1)) == (-1, [], -1)


@pytest.mark.parametrize("ids", [[4, 5, 6, 7], [4, 5, 7, 8], [4, 4, 5, 7], [7, 6, 5, 4], [0, 1, 2], [2**64 - 1]])
def test_ids_that_were_not_added_are_not_found(ids):
    index = GrowingIndex()
    index.add(np.array(ids, np.uint64), np.arange(len(ids)))
    asked = [0, 3, 4, 5, 6, 7, 8, 9, 2**63, 2**64 - 1]
    last = {number: at for at, number in enumerate(ids)}
    assert index.find(np.array(asked, np.uint64)).tolist() == [last.get(number, -1) for number in asked]


@pytest.mark.parametrize("words", [[], [3], [5, 5, 5], [7, 1, 7, 2**64 - 1, 1]])
def test_each_number_once(words):
    assert distinct(np.array(words, np.uint64)).tolist() == sorted(set(words))
