"""Whoever looks at the gradients of a pass sees each of them once, and changes not a bit of the results."""

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine import events, nn
from agdbg_engine.node import AccumulateGrad
from agdbg_engine.watching import Watch


class Seen(Watch):
    """Copies what it is shown."""

    def __init__(self):
        self.arrivals, self.sendings = [], []

    def arrived(self, node, nr, g):
        self.arrivals.append((node.op_name, nr, copied(g)))

    def sent(self, node, index, g):
        self.sendings.append((node.op_name, index, copied(g)))


class Looking(events.Sink):
    """Watches every pass."""

    def __init__(self):
        self.passes = []

    def watch_of(self, bp):
        self.passes.append(Seen())
        return self.passes[-1]


def copied(g):
    return np.array(g._a if isinstance(g, ag.Tensor) else g)


@pytest.fixture
def watched():
    """A function that runs a program with somebody looking, and gives its result and what was seen in each pass."""

    def run(program):
        sink = Looking()
        events.install(sink)
        try:
            return program(), sink.passes
        finally:
            events.remove()

    return run


def leaves(*shapes, dtype=ag.float64):
    chance = np.random.default_rng(7)
    return [ag.tensor(chance.standard_normal(s), dtype=dtype).requires_grad_() for s in shapes]


def fan_out():
    a, b = leaves((3, 4), (4,))
    c = a * b
    (c * c + c.exp() + a + a + c.view(2, 6).t().sum() + ag.cat([c, c], 1).sum() + (a + b)).sum().backward()
    return a, b


def views_and_writes():
    a, b = leaves((4, 3), (3,))
    y = a * 2
    y[1:3].mul_(b)
    y.add_(a.t().contiguous().t())
    y.expand(2, 4, 3).sum().backward()
    return a, b


def kept_and_shared():
    (a,) = leaves((5,))
    b = ag.ones(5, dtype=ag.float64, requires_grad=True)
    (a + b).backward(ag.ones(5, dtype=ag.float64))
    (a.view(5) + b).backward(ag.ones(5, dtype=ag.float64))
    (a.view(1, 5) + b.view(1, 5)).sum().backward()
    return a, b


def with_hooks():
    a, b = leaves((3,), (3,))
    y = a * b
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda ins, outs: tuple(g + 1 for g in ins))
    y.retain_grad()
    z = y.exp()
    z.sum().backward()
    return a, b, y


def several_outputs():
    (a,) = leaves((4, 4))
    w, v = ag.linalg.eigh(a @ a.t())
    first, second = w.split(2)
    (first.sum() * 3 + second.prod() + (v * v).sum() + a.max(0)[0].sum()).backward()
    return (a,)


def second_order():
    a, b = leaves((3,), (3,))
    (g,) = ag.autograd.grad((a.sin() * b).sum(), a, create_graph=True)
    (g * g).sum().backward()
    return a, b


def captured():
    a, b = leaves((3,), (3,))
    y = a * b
    found = ag.autograd.grad((y.exp() + y).sum(), [a, y])
    return tuple(found)


def nested():
    (a,) = leaves((3,))

    class Inner(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            with ag.enable_grad():
                x = ctx.saved_tensors[0].detach().requires_grad_()
                (x * x).sum().backward()
            return g * x.grad

    Inner.apply(a).sum().backward()
    return (a,)


def a_model():
    ag.manual_seed(3)
    model = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.GRU(5, 4))
    out, _ = model(ag.randn(3, 6))
    (out * out).sum().backward()
    return tuple(model.parameters())


def small_types():
    a, b = leaves((3,), (), dtype=ag.float16)
    (a * b + a * a).float().sum().backward()
    return a, b


PROGRAMS = [
    fan_out, views_and_writes, kept_and_shared, with_hooks, several_outputs, second_order, captured, nested, a_model, small_types,
]  # fmt: skip


def plain(t):
    grad = t.grad if t.grad is not None else t
    a = grad._a
    return a.dtype, a.shape, a.strides, a.tobytes(), a.flags.owndata


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_results_layouts_and_owners_are_those_of_a_plain_run(watched, program):
    expected = [plain(t) for t in program()]
    found, passes = watched(program)
    assert [plain(t) for t in found] == expected
    assert passes and all(p.arrivals for p in passes)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_what_arrives_at_a_node_is_the_sum_of_what_was_sent(watched, program):
    """By totals: each element that is sent to a producer in the pass arrives at one, added to others."""
    _, passes = watched(program)
    for seen in passes:
        if any(op == "MulBackward0" and program is with_hooks for op, _, _ in seen.arrivals):
            continue  # its hooks come in between
        roots = seen.arrivals[0][2].astype(np.float64).sum()
        arrived = sum(g.astype(np.float64).sum() for _, _, g in seen.arrivals) - roots
        sent = sum(g.astype(np.float64).sum() for _, _, g in seen.sendings)
        if program not in (captured, nested, several_outputs, second_order):
            assert arrived == pytest.approx(sent, rel=1e-3)


def test_one_use_of_a_leaf_that_is_used_twice_is_seen_by_itself(watched):
    def program():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        (x * x * 3).sum().backward()
        return x

    x, [seen] = watched(program)
    sent = [(op, index, g.tolist()) for op, index, g in seen.sendings if op == "MulBackward0"]
    assert sent == [
        ("MulBackward0", 0, [3.0, 3.0]), ("MulBackward0", 0, [3.0, 6.0]), ("MulBackward0", 1, [3.0, 6.0])
    ]  # fmt: skip
    assert seen.arrivals[-1][0] == "AccumulateGrad" and seen.arrivals[-1][2].tolist() == x.grad.tolist() == [6.0, 12.0]


def test_hooks_are_between_what_arrives_and_what_is_sent(watched):
    (a, b, y), [seen] = watched(with_hooks)
    [arrived] = [g for op, _, g in seen.arrivals if op == "MulBackward0"]
    sent = {index: g for op, index, g in seen.sendings if op == "MulBackward0"}
    assert np.array_equal(arrived, np.exp(y.detach()._a))
    assert np.array_equal(sent[0], a.grad._a) and np.array_equal(sent[1], b.grad._a)
    assert np.array_equal(y.grad._a, 2 * arrived)


def test_an_output_is_told_by_its_number(watched):
    _, [seen] = watched(several_outputs)
    numbers = {nr for op, nr, _ in seen.arrivals if op in ("LinalgEighBackward0", "SplitBackward0")}
    assert numbers == {0, 1}


def test_a_leaf_has_nothing_to_send(watched):
    _, [seen] = watched(fan_out)
    assert "AccumulateGrad" not in {op for op, _, _ in seen.sendings}
    assert {op for op, _, _ in seen.arrivals} >= {"AccumulateGrad", "CatBackward0", "ViewBackward0", "TBackward0"}


def test_the_pass_lets_go_of_its_watch(watched):
    held = []

    class Sink(Looking):
        def pass_started(self, bp):
            held.append(bp)

    events.install(Sink())
    try:
        fan_out()
    finally:
        events.remove()
    assert [bp.watch for bp in held] == [None]


def test_an_error_is_the_same(watched):
    def program():
        x = ag.ones(3, requires_grad=True)
        y = x.exp()
        y.sum().backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.sum().backward()
        z = x.exp()
        w = z.sum() + (z * z).sum()
        z.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace"):
            w.backward()
        return x

    x, passes = watched(program)
    assert x.grad.tolist() == pytest.approx([np.e] * 3)
    assert len(passes) == 3


def test_going_back_shows_the_node_again(watched):
    from agdbg_engine.journal import Journal

    x = ag.tensor([1.0, 2.0], requires_grad=True)
    shown, grads = [], []

    class Sink(Looking):
        @staticmethod
        def driver(bp):
            journal = Journal(bp)
            while bp.position < len(bp.order):
                journal.step()
                if bp.position == 2 and not shown:
                    shown.append(True)
                    journal.undo()
            grads.append(bp)

    sink = Sink()
    events.install(sink)
    try:
        (x * 3).sum().backward()
    finally:
        events.remove()
    assert [op for op, _, _ in sink.passes[0].arrivals] == [
        "SumBackward0", "MulBackward0", "MulBackward0", "AccumulateGrad"
    ]  # fmt: skip
    assert x.grad.tolist() == [3.0, 3.0] and isinstance(grads[0].order[-1], AccumulateGrad)


OPS = (
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y * 0.5, lambda x, y: x.reshape(6).view(2, 3),
    lambda x, y: x.t().contiguous().t(), lambda x, y: x.sum(0, keepdim=True).expand(2, 3), lambda x, y: (x * 1).add_(y),
)  # fmt: skip


def random_graph(seed):
    """Sums, products, views and writes, in which what one node gets is what another one keeps, in every way."""
    chance = np.random.default_rng(seed)
    (a,) = leaves((2, 3))
    made = [a, ag.tensor(chance.standard_normal((2, 3)), requires_grad=True)]
    for _ in range(12):
        x, y = (made[i] for i in chance.integers(0, len(made), 2))
        made.append(OPS[int(chance.integers(0, len(OPS)))](x, y))
    keep = [t.retain_grad() or t for t in made[2:] if chance.random() < 0.2]
    sum(made[-3:], made[0] * 0).sum().backward()
    return tuple(t for t in (*made[:2], *keep) if t.grad is not None)


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_give_the_same_to_the_bit(watched, seed):
    expected = [plain(t) for t in random_graph(seed)]
    found, _ = watched(lambda: random_graph(seed))
    assert [plain(t) for t in found] == expected
