"""Datasets, samplers and loaders give what PyTorch's give; what is random is a permutation that a seed repeats."""

import collections
import warnings

import numpy as np
import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for this")


def plain(value):
    if hasattr(value, "tolist"):
        dtype = str(value.dtype).removeprefix("torch.")
        return ("tensor" if not isinstance(value, np.ndarray) else "array", value.tolist(), dtype)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return (type(value).__name__, [plain(v) for v in value])
    return value


def same(torch, program):
    answers = []
    for t in (ag, torch):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                answer = plain(program(t, t.utils.data))
            except Exception as error:
                answer = (type(error).__name__, str(error).strip().split("\n")[0][:160])
        answers.append((answer, [str(w.message).split("\n")[0] for w in said]))
    assert answers[0] == answers[1]
    return answers[0][0]


Pair = collections.namedtuple("Pair", ["x", "y"])


def rows(t, d, n=7):
    return d.TensorDataset(t.arange(n * 2).reshape(n, 2), t.arange(n).double() / 2)


def stream(d, n=5, sized=False):
    class Stream(d.IterableDataset):
        def __iter__(self):
            return iter(range(n))

    if sized:
        Stream.__len__ = lambda self: n
    return Stream()


PROGRAMS = {
    "batches": lambda t, d: list(d.DataLoader(rows(t, d), 3)),
    "dropped": lambda t, d: list(d.DataLoader(rows(t, d), batch_size=3, drop_last=True)),
    "lengths": lambda t, d: [len(d.DataLoader(rows(t, d), 3, drop_last=drop)) for drop in (True, False)],
    "one": lambda t, d: list(d.DataLoader(rows(t, d, 2))),
    "no batches": lambda t, d: list(d.DataLoader([1, np.float32(2), "a", (1, 2)], batch_size=None)),
    "no batches dropped": lambda t, d: d.DataLoader([1], batch_size=None, drop_last=True),
    "list": lambda t, d: list(d.DataLoader([0.5, 1.5, 2.5], 2)),
    "strings": lambda t, d: list(d.DataLoader(["a", "b", "c"], 2)),
    "dicts": lambda t, d: list(d.DataLoader([{"a": 1, "b": [t.ones(2), "x"]}] * 3, 2)),
    "named": lambda t, d: list(d.DataLoader([Pair(1, np.ones(2))] * 3, 2)),
    "booleans": lambda t, d: list(d.DataLoader([True, False], 2)),
    "complex": lambda t, d: d.default_collate([1j, 2j]),
    "own collate": lambda t, d: list(d.DataLoader(range(5), 2, collate_fn=sum)),
    "sampler": lambda t, d: list(d.DataLoader(range(9), 2, sampler=[4, 2, 8])),
    "batch sampler": lambda t, d: list(d.DataLoader(range(9), batch_sampler=[[4, 2], [8]])),
    "subset": lambda t, d: list(d.DataLoader(d.Subset(rows(t, d), [5, 1, 3]), 2)),
    "subset items": lambda t, d: [d.Subset(range(10, 20), [5, 1, 3])[2], d.Subset(rows(t, d), [5, 1])[[0, 1]]],
    "concatenated": lambda t, d: [(rows(t, d, 2) + rows(t, d, 3))[i] for i in (0, 1, 2, 4, -1, -5)],
    "concatenated too far": lambda t, d: (rows(t, d, 2) + rows(t, d, 3))[-6],
    "concatenated nothing": lambda t, d: d.ConcatDataset([]),
    "concatenated stream": lambda t, d: d.ConcatDataset([stream(d)]),
    "stacked": lambda t, d: [d.StackDataset([1, 2], [3, 4])[1], d.StackDataset(a=[1, 2], b=[3, 4])[0]],
    "stacked loaded": lambda t, d: list(d.DataLoader(d.StackDataset(a=[1, 2, 3], b=rows(t, d, 3)), 2)),
    "stacked nothing": lambda t, d: d.StackDataset(),
    "stacked both": lambda t, d: d.StackDataset([1], a=[1]),
    "stacked sizes": lambda t, d: d.StackDataset([1], [1, 2]),
    "stream": lambda t, d: list(d.DataLoader(stream(d), 2)),
    "stream dropped": lambda t, d: list(d.DataLoader(stream(d), 2, drop_last=True)),
    "stream single": lambda t, d: list(d.DataLoader(stream(d), None)),
    "stream lengths": lambda t, d: [len(d.DataLoader(stream(d, sized=True), b)) for b in (1, 2, None)],
    "stream unsized": lambda t, d: len(d.DataLoader(stream(d), 2)),
    "stream shuffled": lambda t, d: d.DataLoader(stream(d), shuffle=True),
    "stream sampler": lambda t, d: d.DataLoader(stream(d), sampler=[1]),
    "chain": lambda t, d: [list(stream(d) + stream(d, 2)), len(stream(d, 3, True) + stream(d, 2, True))],
    "chain of lists": lambda t, d: list(d.ChainDataset([[1]])),
    "sizes": lambda t, d: d.TensorDataset(t.ones(2), t.ones(3)),
    "base": lambda t, d: d.Dataset()[0],
    "sampler and shuffle": lambda t, d: d.DataLoader([1], sampler=[0], shuffle=True),
    "two samplers": lambda t, d: d.DataLoader([1], sampler=[0], batch_sampler=[[0]]),
    "batch sampler and size": lambda t, d: d.DataLoader([1], batch_size=2, batch_sampler=[[0]]),
    "no size": lambda t, d: d.DataLoader([1], batch_size=0),
    "workers": lambda t, d: d.DataLoader([1], num_workers=-1),
    "timeout": lambda t, d: d.DataLoader([1], timeout=-1),
    "prefetch": lambda t, d: d.DataLoader([1], prefetch_factor=2),
    "persistent": lambda t, d: d.DataLoader([1], persistent_workers=True),
    "context": lambda t, d: d.DataLoader([1], multiprocessing_context="fork"),
    "set": lambda t, d: setattr(d.DataLoader([1]), "batch_size", 3),
    "empty shuffled": lambda t, d: d.DataLoader([], shuffle=True),
    "unequal": lambda t, d: d.default_collate([[1], [1, 2]]),
    "objects": lambda t, d: d.default_collate([object]),
    "text arrays": lambda t, d: d.default_collate([np.array(["a"])]),
    "unequal tensors": lambda t, d: list(d.DataLoader([t.ones(1), t.ones(2)], 2)),
    "converted": lambda t, d: d.default_convert({"a": np.ones(2), "b": [np.int32(3), "x", (1, np.array("y"))]}),
    "in order": lambda t, d: [list(d.SequentialSampler("abc")), len(d.SequentialSampler("abc"))],
    "batch sampler alone": lambda t, d: [list(d.BatchSampler(range(5), 2, drop)) for drop in (True, False)],
    "batch sampler bad": lambda t, d: d.BatchSampler(range(5), 0, False),
    "batch sampler bad drop": lambda t, d: d.BatchSampler(range(5), 2, 1),
    "random bad": lambda t, d: d.RandomSampler([1], replacement=1),
    "random bad number": lambda t, d: d.RandomSampler([1], num_samples=0),
    "weights bad": lambda t, d: d.WeightedRandomSampler([[1.0]], 2),
    "weights bad number": lambda t, d: d.WeightedRandomSampler([1.0], True),
    "weights bad replacement": lambda t, d: d.WeightedRandomSampler([1.0], 1, replacement=2),
    "split": lambda t, d: [len(part) for part in d.random_split(range(10), [3, 7])],
    "split fractions": lambda t, d: [len(part) for part in d.random_split(range(11), [0.3, 0.3, 0.4])],
    "split empty": lambda t, d: [len(part) for part in d.random_split(range(2), [0.9, 0.05, 0.05])],
    "split bad": lambda t, d: d.random_split(range(10), [3, 8]),
    "split bad fraction": lambda t, d: d.random_split(range(10), [1.5, -0.5]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_given_and_what_is_refused(torch, name):
    same(torch, PROGRAMS[name])


def test_a_seed_repeats_an_order_and_every_epoch_has_another():
    d = ag.utils.data

    def epochs(seed):
        loader = d.DataLoader(range(50), 10, shuffle=True, generator=ag.Generator().manual_seed(seed))
        return [[i for batch in loader for i in batch.tolist()] for _ in range(2)]

    first, second = epochs(3)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert epochs(3) == [first, second] != epochs(4)
    ag.manual_seed(5)
    one = [batch.tolist() for batch in d.DataLoader(range(20), 4, shuffle=True)]
    ag.manual_seed(5)
    assert one == [batch.tolist() for batch in d.DataLoader(range(20), 4, shuffle=True)]


def test_samplers_draw_from_what_they_are_given():
    d = ag.utils.data
    drawn = list(d.RandomSampler(range(5), replacement=True, num_samples=70))
    assert len(drawn) == 70
    assert set(drawn) == set(range(5))
    twice = list(d.RandomSampler(range(5), num_samples=12))
    assert sorted(twice[:5]) == sorted(twice[5:10]) == list(range(5))
    assert sorted(d.SubsetRandomSampler([7, 3, 9])) == [3, 7, 9]
    assert set(d.WeightedRandomSampler([0.0, 1.0, 3.0], 60)) == {1, 2}
    assert sorted(d.WeightedRandomSampler([0.5, 1.0, 3.0], 3, replacement=False)) == [0, 1, 2]
    parts = d.random_split(range(10), [0.5, 0.5], generator=ag.Generator().manual_seed(1))
    assert sorted(x for part in parts for x in part) == list(range(10))


def test_more_processes_are_refused():
    with pytest.raises(NotImplementedError, match="num_workers=2 is not supported"):
        ag.utils.data.DataLoader([1], num_workers=2)
