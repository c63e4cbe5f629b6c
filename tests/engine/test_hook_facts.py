"""What instruments are told of hooks: which one, on what, whether it wrote to a gradient that others share; and early reads."""

import pytest
from agdbg_tests_differential import leaf

import agdbg_engine as ag
from agdbg_engine import events


class Log(events.Sink):
    """Notes what is told of hooks and of gradients that are read too early."""

    def __init__(self):
        self.hooks, self.missed, self.redrawings = [], [], 0

    def hook(self, what, kind, node, code, lasti, facts):
        self.hooks.append((what, kind, node, facts))

    def grad_missed(self, leaf, code, lasti):
        self.missed.append((leaf, code.co_name))

    def redrawn(self, code, lasti):
        self.redrawings += 1


@pytest.fixture
def log():
    sink = Log()
    events.install(sink)
    yield sink
    events.remove()


def test_one_number_for_all_that_is_told(log):
    x = leaf(ag, 1.0)

    def seen(g):
        pass

    handle = x.register_hook(seen)
    (x * 2).backward()
    handle.remove()
    assert [(what, facts.number) for what, _, _, facts in log.hooks] == [
        ("registered", handle.id), ("fired", handle.id), ("removed", handle.id),
    ]  # fmt: skip
    registered, fired, removed = (facts for *_, facts in log.hooks)
    assert (
        registered.function is seen and registered.tensor is x and fired.function is seen and removed.function is None
    )
    assert not fired.edited and fired.shared_with is None


def edits(log):
    return [(facts.edited, facts.shared_with) for what, *_, facts in log.hooks if what == "fired"]


def test_a_write_to_what_others_share(log):
    x = leaf(ag, 1.0)
    b, c = x * 2, x * 3
    c.register_hook(lambda g: (g.mul_(10), None)[1])
    (b + c).backward()
    assert x.grad.item() == 50.0
    assert edits(log) == [(True, (b.grad_fn, 0))]


def test_a_write_to_what_nobody_shares(log):
    x = leaf(ag, 1.0)
    y = x * 2
    y.register_hook(lambda g: (g.mul_(10), None)[1])
    (y * y).backward()
    assert edits(log) == [(True, None)]


def test_a_new_gradient_is_no_write(log):
    x = leaf(ag, 1.0)
    (y := x * 2).register_hook(lambda g: g * 10)
    y.backward()
    assert edits(log) == [(False, None)]


@pytest.mark.parametrize("summed", [False, True])
def test_a_write_without_a_version_takes_sums(log, summed):
    log.sums_gradients = summed
    x = leaf(ag, 1.0)
    (y := x * 2).register_hook(lambda g: (g.data.mul_(10), None)[1])
    (y * y).backward()
    assert edits(log) == [(summed, None)]


def test_retaining_is_told_with_its_node(log):
    y = leaf(ag, 1.0) * 2
    y.retain_grad()
    y.retain_grad()
    assert [(what, kind, node) for what, kind, node, _ in log.hooks] == [("registered", "retain-grad", y.grad_fn)]


def test_hooks_of_modules_have_numbers(log):
    m = ag.nn.Linear(1, 1)
    handles = [m.register_full_backward_hook(lambda *a: None), m.register_forward_hook(lambda *a: None)]
    m(ag.ones(1, requires_grad=True)).sum().backward()
    fired = {kind: facts.number for what, kind, _, facts in log.hooks if what == "fired"}
    assert fired == {"module-backward": handles[0].id, "module-forward": handles[1].id}


def test_a_gradient_that_is_read_too_early(log):
    x = leaf(ag, 1.0)

    def look(g):
        assert x.grad is None

    assert x.grad is None, "outside of a pass nobody is told"
    (x * 2).register_hook(look)
    y = x * 2
    y.register_hook(look)
    y.backward()
    assert log.missed == [(x, "look")] and x.grad.item() == 2.0


def test_random_numbers_that_are_drawn_again(log):
    x = leaf(ag, 1.0)
    for keep in (True, False):
        ag.utils.checkpoint.checkpoint(
            lambda a: a * ag.rand(1), x, use_reentrant=False, preserve_rng_state=keep
        ).backward()
    assert log.redrawings == 1


def test_a_backward_that_writes_is_told_like_a_hook(log):
    class Careless(ag.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            return t * 3

        @staticmethod
        def backward(ctx, g):
            g *= 3
            return g

    x = leaf(ag, 1.0)
    b, c = x * 2, Careless.apply(x)
    (b + c).backward()
    assert [(kind, facts.edited, facts.shared_with) for _, kind, _, facts in log.hooks] == [
        ("backward", True, (b.grad_fn, 0))
    ]
