"""Backward from several threads, and after an interruption."""

import sys
from typing import ClassVar

import numpy as np
import pytest
from agdbg_tests_together import together

import agdbg_engine as ag
from agdbg_engine import backward as engine
from agdbg_engine import events, node
from agdbg_engine.storage import Storage, counting
from agdbg_engine.tensor import _accumulating


@pytest.fixture
def switching():
    """Threads are switched as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def network(x):
    y = x
    for _ in range(20):
        y = (y * x).tanh() + y.sin()
    return y.sum()


def test_disjoint_graphs(switching):
    alone = ag.tensor([0.1, 0.2, 0.3], dtype=ag.float64, requires_grad=True)
    network(alone).backward()
    leaves = [ag.tensor([0.1, 0.2, 0.3], dtype=ag.float64, requires_grad=True) for _ in range(4)]

    def work(x):
        for _ in range(30):
            x.grad = None
            network(x).backward()

    together(*(lambda x=x: work(x) for x in leaves))
    assert all(np.array_equal(x.grad._a, alone.grad._a) for x in leaves)


@pytest.mark.parametrize(("size", "rounds"), [(3, 150), (200_000, 4)])
@pytest.mark.parametrize("create_graph", [False, True])
def test_disjoint_graphs_over_one_leaf_lose_no_gradient(switching, size, rounds, create_graph):
    one = ag.ones(size, dtype=ag.float64)
    for _ in range(rounds):
        x = ag.zeros(size, dtype=ag.float64, requires_grad=True)

        def work(x=x):
            for _ in range(10):
                (x * 1).backward(one, create_graph=create_graph)

        together(work, work)
        assert (x.grad._a == 20).all()


@pytest.mark.parametrize("recording", [{0, 2}, {0, 1, 2}])
def test_passes_that_record_and_others_over_one_leaf_lose_no_gradient(switching, recording):
    one = ag.ones(50, dtype=ag.float64)
    for _ in range(40):
        x = ag.zeros(50, dtype=ag.float64, requires_grad=True)

        def work(records, x=x):
            for _ in range(5):
                (x * 2).backward(one, create_graph=records)

        together(*(lambda i=i: work(i in recording) for i in range(4)))
        assert (x.grad._a == 40).all()


def test_a_gradient_that_another_thread_writes_to_while_a_pass_records_is_not_lost():
    x = ag.zeros(2, requires_grad=True)
    x.grad = ag.ones(2)

    class Slow(ag.Tensor):
        """A gradient during whose addition another thread adds to what is there."""

        added = False

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            result = super().__torch_function__(func, types, args, kwargs or {})
            if func is ag.Tensor.add and not cls.added:
                cls.added = True
                x._accumulate(ag.full((2,), 10.0)._a, False)
            return result

    x._accumulate_recorded(ag.ones(2).as_subclass(Slow))
    assert Slow.added
    assert x.grad._a.tolist() == [12.0, 12.0]


def test_no_version_of_a_gradient_is_lost(switching):
    one = ag.ones(3)
    for _ in range(40):
        x = ag.zeros(3, requires_grad=True)
        x.grad = ag.zeros(3)

        def work(x=x):
            for _ in range(10):
                (x * 2).backward(one)

        together(work, work, work, work)
        assert x.grad._version == 40


ADDING = {
    "in place": lambda x: (x * 10).sum().backward(),
    "recorded": lambda x: (x * 10).sum().backward(create_graph=True),
    "with tangents": lambda x: x._accumulate_dual(ag.full((2,), 10.0)),
    "in place twice": lambda x: [(x * 5).sum().backward() for _ in range(2)],
}


@pytest.mark.parametrize("other", ADDING.values(), ids=ADDING)
@pytest.mark.parametrize("before", [None, 100.0], ids=["first", "later"])
def test_a_recorded_sum_is_made_again_when_another_thread_was_faster(monkeypatch, other, before):
    x = ag.ones(2, requires_grad=True)
    x.grad = None if before is None else ag.full((2,), before)
    name = "_as_grad" if before is None else "__add__"
    op, interrupted = getattr(ag.Tensor, name), []

    def interleaved(*args):
        out = op(*args)
        if not interrupted:
            interrupted.append(True)
            together(lambda: other(x))  # it would never end if the lock was held here
        return out

    loss = (x**2).sum()
    monkeypatch.setattr(ag.Tensor, name, interleaved)
    loss.backward(create_graph=True)
    assert interrupted
    assert x.grad.tolist() == [12.0 + (before or 0)] * 2
    assert x.grad.grad_fn is not None


class WatchedStorage(Storage):
    """A storage that notes for every use of its version whether other threads are kept out."""

    __slots__ = ("held", "seen")

    def __init__(self, held):
        self.held, self.seen = held, []
        super().__init__()

    @property
    def version(self):
        self.seen.append(self.held())
        return 0

    @version.setter
    def version(self, value):
        self.seen.append(self.held())


def watched(t, held):
    """Let ``t`` have a storage that watches; its list."""
    t._storage = WatchedStorage(held)
    t._storage.seen.clear()
    return t._storage.seen


def test_other_threads_are_kept_out_while_a_write_is_counted():
    x = ag.zeros(2)
    seen = watched(x, lambda: counting()._is_owned())
    x.add_(1)
    assert seen and all(seen)
    assert not counting()._is_owned()


def test_an_addition_to_a_gradient_is_counted_before_the_next():
    x, told = ag.zeros(2, requires_grad=True), []
    x.grad = ag.zeros(2)
    seen = watched(x.grad, lambda: _accumulating._is_owned())

    class Sink(events.Sink):
        def version_bumped(self, *args):
            told.append(_accumulating._is_owned())

    events.install(Sink())
    try:
        x._accumulate(ag.ones(2)._a, False)
    finally:
        events.remove()
    assert seen and all(seen)
    assert told == [False]  # who is told may wait for other threads


def test_no_version_of_what_ops_write_to_is_lost(switching):
    for _ in range(20):
        x = ag.ones(4)

        def work(x=x):
            for _ in range(20):
                x.add_(1)

        together(work, work, work)
        assert x._version == 60


def test_threads_that_want_the_storage_of_one_tensor_get_the_same(monkeypatch):
    x, others = ag.ones(2), []

    def interleaved():
        monkeypatch.undo()
        together(lambda: others.append(x._shared_storage()))
        return counting()

    monkeypatch.setattr(sys.modules[ag.Tensor.__module__], "counting", interleaved)
    assert [x._shared_storage()] == others


def test_threads_that_use_one_leaf_get_the_same_end_of_the_graph(monkeypatch):
    x, others = ag.ones(2, requires_grad=True), []

    def interleaved():
        monkeypatch.undo()
        together(lambda: others.append(x * 2))
        return counting()

    monkeypatch.setattr(node, "counting", interleaved)
    y = x * 2
    assert y.grad_fn.next_functions[0][0] is others[0].grad_fn.next_functions[0][0]


class Watching(np.ndarray):
    """A gradient that notes whether other threads are kept out while it is used."""

    seen: ClassVar[list[bool]] = []

    def copy(self, *args):
        self.seen.append(_accumulating._is_owned())
        return np.array(self)

    def __array_ufunc__(self, ufunc, method, *inputs, out=()):
        self.seen.append(_accumulating._is_owned())
        inputs = [np.asarray(i) for i in inputs]
        return getattr(ufunc, method)(*inputs, out=out)


def test_other_threads_are_kept_out_while_a_gradient_is_added():
    x, g = ag.zeros(2, requires_grad=True), ag.ones(2)._a.view(Watching)
    Watching.seen.clear()
    x._accumulate(g, False)
    x._accumulate(g, False)
    assert x.grad.tolist() == [2.0, 2.0]
    assert Watching.seen == [True, True]
    assert not _accumulating._is_owned()


def test_one_graph_shared(switching):
    x = ag.tensor([0.1, 0.2, 0.3], dtype=ag.float64, requires_grad=True)
    loss = network(x)
    (once,) = ag.autograd.grad(loss, x, retain_graph=True)

    def work():
        for _ in range(50):
            loss.backward(retain_graph=True)

    together(work, work)
    assert np.allclose(x.grad._a, 100 * once._a, rtol=1e-12)


def test_one_graph_shared_and_freed(switching):
    outcomes = []
    for _ in range(30):
        x = ag.tensor([0.5], dtype=ag.float64, requires_grad=True)
        loss = network(x)

        def work(loss=loss):
            try:
                loss.backward()
            except RuntimeError as error:
                outcomes.append(str(error).partition(" the graph")[0])

        together(work, work)
    assert set(outcomes) == {"Trying to backward through"}


def test_writes_in_other_threads_are_noticed():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    together(lambda: y.mul_(2))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_the_running_pass_is_known_per_thread():
    seen = []
    x = ag.tensor([1.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: together(lambda: seen.append(engine.current.bp)))
    y.backward()
    assert seen == [None]


# ----- interruptions -----


class Interrupted:
    """A graph whose middle is interrupted by ``error`` until :meth:`mend`."""

    def __init__(self, error):
        self.x, self.w = (ag.tensor([v], dtype=ag.float64, requires_grad=True) for v in (2.0, 3.0))
        early = self.x.sin()  # waits while the middle runs
        self.y = self.x.exp()
        self.loss = (self.y * self.w + early).sum()

        def interrupt(g):
            raise error

        self.mend = self.y.register_hook(interrupt).remove


ERRORS = [KeyboardInterrupt(), SystemExit(3), KeyError("mine"), StopIteration(), GeneratorExit(), MemoryError()]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_an_interruption_leaves_the_engine_usable(error):
    work = Interrupted(error)
    with pytest.raises(type(error)) as caught:
        work.loss.backward()
    assert caught.value is error
    assert (engine.current.bp, engine.current.node, ag.is_grad_enabled()) == (None, None, True)
    z = ag.tensor([2.0], requires_grad=True)
    (z * z).backward()
    assert z.grad.item() == 4.0


def test_an_interrupted_graph_is_in_a_defined_state():
    work = Interrupted(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        work.loss.backward()
    assert work.w.grad.item() == pytest.approx(np.exp(2.0))  # it had run
    assert work.x.grad is None
    work.mend()
    with pytest.raises(RuntimeError, match="second time"):
        work.loss.backward()  # what had run is freed
    work.y.backward()  # what had not is not
    assert work.x.grad.item() == pytest.approx(np.exp(2.0))


def test_an_interrupted_graph_runs_again_when_it_was_retained():
    work = Interrupted(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        work.loss.backward(retain_graph=True)
    work.mend()
    work.w.grad = None
    work.loss.backward()
    assert work.w.grad.item() == pytest.approx(np.exp(2.0))
    assert work.x.grad.item() == pytest.approx(3 * np.exp(2.0) + np.cos(2.0))


def test_an_error_keeps_its_cause():
    x = ag.tensor([2.0], requires_grad=True)
    y = x * 2

    def fail(g):
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise ValueError("outer") from inner

    y.register_hook(fail)
    with pytest.raises(ValueError, match="outer") as caught:
        y.backward()
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_interrupted_step_ends_the_pass():
    from agdbg_engine.sites import caller

    work = Interrupted(KeyboardInterrupt())
    bp = engine.BackwardPass("backward", False, False, *caller())
    bp.start([(work.loss.grad_fn, 0, ag.ones(())._a)])
    with pytest.raises(KeyboardInterrupt):
        while bp.step():
            pass
    assert bp.position < len(bp.order) - 2
    assert not bp.buffers
    assert engine.current.bp is None
