"""Deep graphs of every kind with 100 Python frames to spare: nothing in the engine recurses over a graph."""

import contextlib
import copy
import gc
import pickle
import sys

import pytest

import agdbg_engine as ag
from agdbg_engine.autograd import graph
from agdbg_engine.node import Node
from agdbg_engine.utils import checkpoint

DEEP = 5_000


@contextlib.contextmanager
def hundred_frames():
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 100)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@pytest.fixture(autouse=True)
def _shallow_and_freed():
    """Each test runs with few frames and without the collector, and leaves no node behind."""
    gc.collect()
    gc.disable()
    before = _live_nodes()
    with hundred_frames():
        yield
    left = _live_nodes() - before
    gc.enable()
    assert left == 0


def _live_nodes():
    return sum(issubclass(type(o), Node) for o in gc.get_objects())


def leaf():
    return ag.tensor([0.5], dtype=ag.float64, requires_grad=True)


def chain(x, op, n=DEEP):
    for _ in range(n):
        x = op(x)
    return x


class Same(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g * (ctx.saved_tensors[0] * 0 + 1)

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 1


OPS = {
    "op": lambda x: x * 1,
    "saving": lambda x: x.sin(),
    "diamond": lambda x: (x + x) * 0.5,
    "view": lambda x: x.view(1),
    "slice": lambda x: x[:1],
    "write": lambda x: x.mul_(1.0),
    "function": Same.apply,
    "several": lambda x: ag.cat([x, x]).unbind(0)[0].view(1),
}


@pytest.mark.parametrize("name", OPS)
def test_retained_run_again_and_freed(name):
    x = leaf()
    y = chain(x * 1, OPS[name])
    y.backward(retain_graph=True)
    once = x.grad.item()
    y.backward()
    assert x.grad.item() == pytest.approx(2 * once)


@pytest.mark.parametrize("name", [n for n in OPS if n != "write"])
def test_a_gradient_of_a_gradient(name):
    x = leaf()
    (g,) = ag.autograd.grad(chain(x * x, OPS[name], 1000), x, create_graph=True)
    (h,) = ag.autograd.grad(g, x, retain_graph=True)
    assert h.item() == h.item()
    del g


def test_fifty_thousand_ops_retained_and_recorded():
    x = leaf()
    y = chain(x, OPS["op"], 50_000)
    y.backward(retain_graph=True)
    y.backward(create_graph=True)
    assert x.grad.item() == 2.0
    x.grad = None


def test_hooks_on_every_node():
    x, calls = leaf(), []
    y = x
    for _ in range(DEEP):
        y = y * 1
        y.register_hook(lambda g: calls.append(1))
        y.retain_grad()
    y.backward()
    assert len(calls) == DEEP


def test_packed_by_hooks():
    x = leaf()
    with graph.saved_tensors_hooks(lambda s: (s,), lambda s: s[0]):
        y = chain(x, OPS["saving"], 2000)
    y.backward()
    assert x.grad is not None


def test_a_gradient_of_the_middle():
    x = leaf()
    middle = chain(x, OPS["op"])
    y = chain(middle, OPS["op"])
    assert [g.item() for g in ag.autograd.grad(y, [graph.get_gradient_edge(middle), x])] == [1.0, 1.0]


def test_forward_mode():
    fw = ag.autograd.forward_ad
    with fw.dual_level():
        y = chain(fw.make_dual(leaf(), ag.ones(1, dtype=ag.float64)), OPS["op"], 1000)
        assert fw.unpack_dual(y).tangent.item() == 1.0


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoints_in_a_row(use_reentrant):
    x = leaf()
    y = chain(x, lambda a: checkpoint.checkpoint(lambda b: b * 1, a, use_reentrant=use_reentrant), 200)
    y.backward()
    assert x.grad.item() == 1.0


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_a_checkpoint_around_a_deep_graph(use_reentrant):
    x = leaf()
    checkpoint.checkpoint(lambda a: chain(a, OPS["saving"]), x, use_reentrant=use_reentrant).backward()
    assert x.grad is not None


def test_an_error_at_the_bottom():
    x = leaf()
    y = x.exp()
    z = chain(y, OPS["op"])
    with ag.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_a_pass_that_is_interrupted_at_the_bottom():
    x = leaf()
    y = x * 1
    y.register_hook(lambda g: 1 / 0)
    z = chain(y, OPS["saving"])
    with pytest.raises(ZeroDivisionError):
        z.backward()


def test_copies_are_refused_and_leaves_are_copied():
    x = leaf()
    y = chain(x, OPS["op"])
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(y)
    assert copy.deepcopy(x).is_leaf
    assert pickle.loads(pickle.dumps(x)).tolist() == [0.5]


def test_anomaly_mode():
    x = leaf()
    with ag.autograd.set_detect_anomaly(True):
        y = chain(x, OPS["op"], 1000)
        y.backward()
    assert x.grad.item() == 1.0


def test_strict_mode():
    x = leaf()
    with graph.strict_saved_tensors():
        y = chain(x, OPS["saving"], 1000)
    y.backward()
    assert x.grad is not None


def test_a_graph_that_never_runs_under_every_mode():
    with graph.saved_tensors_hooks(lambda s: s, lambda s: s), ag.autograd.set_detect_anomaly(True):
        chain(Same.apply(leaf()), OPS["saving"], 2000)


def test_wide_and_deep_buffers():
    x, buffer = leaf(), ag.zeros(500, dtype=ag.float64)
    for i in range(500):
        buffer[i] = x[0] * i
    (buffer * buffer).sum().backward()
    assert x.grad.item() == sum(i * i for i in range(500))
