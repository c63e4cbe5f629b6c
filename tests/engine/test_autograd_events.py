"""What the engine tells an instrument: exactly the expected facts, in order; and an instrument cannot break it."""

import contextlib

import pytest

import agdbg_engine as ag
from agdbg_engine import events
from agdbg_engine.errors import details_of
from agdbg_engine.saved import saved_slots
from agdbg_engine.sites import where


class Recording(events.Sink):
    """Notes every fact as a tuple of names and numbers."""

    def __init__(self):
        self.facts = []

    def node_born(self, node, out):
        assert isinstance(out, ag.Tensor)
        saved = [(s.slot, s.version) for s in saved_slots(node) if s.value is not None]
        producers = [n.op_name if n is not None else None for n in node.next_nodes()]
        self.facts.append(("born", node.op_name, producers, saved))

    def storage_made(self, storage, node):
        self.facts.append(("storage", node.op_name, storage.version))

    def slot_saved(self, node, slot, storage, version):
        self.facts.append(("slot", node.op_name, node.slots[slot], version))

    def node_ran(self, bp, node, order, start_ns, end_ns, error):
        assert start_ns <= end_ns
        assert bp.order[order] is node
        self.facts.append(("ran", node.op_name, order, error and type(error).__name__))

    def pass_started(self, bp):
        self.facts.append(("started", bp.call, [(n.op_name, nr) for n, nr in bp.roots], len(bp.order), bp.retain_graph))

    def pass_finished(self, bp, error):
        self.facts.append(("finished", bp.call, error and type(error).__name__))

    def version_bumped(self, tensor, storage, op, node, code, lasti):
        self.facts.append(("bumped", op, storage.version, node and node.op_name, where(code, lasti).text))

    def view_created(self, view, base, op, code, lasti):
        assert view._storage is base._storage
        self.facts.append(("view", op, where(code, lasti).text))

    def history_rebased(self, tensor, old, new, op, code, lasti):
        self.facts.append(("rebased", op, old and old.op_name, new.op_name))

    def graph_cut(self, tensor, how, code, lasti):
        self.facts.append(("cut", how, where(code, lasti).text))

    def tensor_named(self, tensor, name, kind):
        self.facts.append(("named", name, kind))

    def grad_mode(self, enabled, code, lasti):
        self.facts.append(("mode", enabled))

    def hook(self, what, kind, node, code, lasti, facts):
        self.facts.append(("hook", what, kind, node and node.op_name))

    def error(self, error, code, lasti):
        self.facts.append(("error", type(error).__name__, details_of(error).kind))


@pytest.fixture
def facts():
    """The facts of what the test does from here on."""
    sink = Recording()
    events.install(sink)
    yield sink.facts
    events.remove()


def leaf(*values):
    return ag.tensor(list(values), requires_grad=True)


def test_forward_and_backward(facts):
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    assert facts == [
        ("born", "AccumulateGrad", [], []),
        ("born", "MulBackward0", ["AccumulateGrad"] * 2, [("self", 0), ("other", 0)]),
        ("born", "SumBackward0", ["MulBackward0"], []),
        ("started", "backward", [("SumBackward0", 0)], 3, False),
        ("ran", "SumBackward0", 0, None),
        ("ran", "MulBackward0", 1, None),
        ("ran", "AccumulateGrad", 2, None),
        ("finished", "backward", None),
    ]


def test_accumulating_a_second_time_is_a_write(facts):
    x = leaf(1.0)
    x.backward()
    del facts[:]
    x.backward(retain_graph=True)
    assert facts == [
        ("born", "AccumulateGrad", [], []),
        ("started", "backward", [("AccumulateGrad", 0)], 1, True),
        ("bumped", "AccumulateGrad", 1, None, "x.backward(retain_graph=True)"),
        ("ran", "AccumulateGrad", 0, None),
        ("finished", "backward", None),
    ]


def test_grad_runs_less(facts):
    x, w = leaf(1.0), leaf(2.0)
    y = x * 2
    z = y * w
    del facts[:]
    ag.autograd.grad(z, y, retain_graph=True)
    assert facts == [
        ("started", "grad", [("MulBackward0", 0)], 2, True),
        ("ran", "MulBackward0", 0, None),
        ("ran", "MulBackward0", 1, None),
        ("finished", "grad", None),
    ]


def test_create_graph_is_born_while_running(facts):
    x = leaf(3.0)
    y = x * x
    del facts[:]
    ag.autograd.grad(y, x, create_graph=True)
    assert [f[:2] for f in facts] == [
        ("started", "grad"),
        ("born", "MulBackward0"),
        ("born", "MulBackward0"),
        ("ran", "MulBackward0"),
        ("born", "AddBackward0"),
        ("ran", "AccumulateGrad"),
        ("finished", "grad"),
    ] or [f[:2] for f in facts] == [
        ("started", "grad"),
        ("born", "MulBackward0"),
        ("born", "MulBackward0"),
        ("born", "AddBackward0"),
        ("ran", "MulBackward0"),
        ("ran", "AccumulateGrad"),
        ("finished", "grad"),
    ]


def test_writes(facts):
    x = leaf(1.0, 2.0)
    y = x * 2
    del facts[:]
    y.exp_()
    assert facts == [
        ("born", "ExpBackward0", ["MulBackward0"], [("result", 0)]),
        ("storage", "MulBackward0", 0),
        ("bumped", "exp_", 1, "ExpBackward0", "y.exp_()"),
        ("slot", "ExpBackward0", "result", 1),
        ("rebased", "exp_", "MulBackward0", "ExpBackward0"),
    ]


def test_a_write_through_a_view(facts):
    x = leaf(1.0, 2.0)
    y = x * 2
    del facts[:]
    y[0] = 5.0
    assert facts == [
        ("born", "SelectBackward0", ["MulBackward0"], []),
        ("storage", "MulBackward0", 0),
        ("view", "select", "y[0] = 5.0"),
        ("born", "FillBackward3", ["SelectBackward0", None], []),
        ("bumped", "fill_", 1, "FillBackward3", "y[0] = 5.0"),
        ("born", "CopySlices", ["MulBackward0", None], []),
        ("born", "AsStridedBackward0", ["CopySlices"], []),
        ("rebased", "fill_", "MulBackward0", "CopySlices"),
    ]


def test_cuts(facts):
    x = leaf(1.0, 2.0)
    y = x * 2
    del facts[:]
    y.detach()
    y.data
    y.long()
    y[0].item()
    y.gt(1)
    with ag.no_grad():
        y * 3
    y.detach_()
    assert [f for f in facts if f[0] in ("cut", "mode")] == [
        ("cut", "detach", "y.detach()"),
        ("cut", "data", "y.data"),
        ("cut", "integer", "y.long()"),
        ("cut", "item", "y[0].item()"),
        ("cut", "integer", "y.gt(1)"),
        ("mode", False),
        ("cut", "no_grad", "y * 3"),
        ("mode", True),
        ("cut", "detach", "y.detach_()"),
    ]


def test_hooks(facts):
    x = leaf(1.0)
    y = x * 2
    del facts[:]
    handle = y.register_hook(lambda g: None)
    y.grad_fn.register_prehook(lambda go: None)
    y.grad_fn.register_hook(lambda gi, go: None)
    y.backward(retain_graph=True)
    handle.remove()
    handle.remove()
    assert [f for f in facts if f[0] == "hook"] == [
        ("hook", "registered", "tensor", "MulBackward0"),
        ("hook", "registered", "pre", "MulBackward0"),
        ("hook", "registered", "post", "MulBackward0"),
        ("hook", "fired", "tensor", "MulBackward0"),
        ("hook", "fired", "pre", "MulBackward0"),
        ("hook", "fired", "post", "MulBackward0"),
        ("hook", "removed", "tensor", "MulBackward0"),
    ]


def errors_told(facts):
    return [f for f in facts if f[0] in ("error", "ran", "finished") and (f[0] == "error" or f[-1])]


def test_an_error_is_told_with_the_node_and_the_pass(facts):
    x = leaf(1.0)
    y = (x * x).exp()
    y.backward()
    del facts[:]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    assert errors_told(facts) == [
        ("error", "RuntimeError", "backward-twice"),
        ("ran", "ExpBackward0", 0, "RuntimeError"),
        ("finished", "backward", "RuntimeError"),
    ]


def test_an_error_of_a_hook_is_told_once(facts):
    x = leaf(1.0)
    y = x * 2

    def fail(g):
        raise KeyError("mine")

    y.register_hook(fail)
    with pytest.raises(KeyError):
        y.backward()
    assert errors_told(facts) == [
        ("error", "KeyError", "other"),
        ("ran", "MulBackward0", 0, "KeyError"),
        ("finished", "backward", "KeyError"),
    ]


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (lambda x, y: x.add_(1), "leaf-inplace"),
        (lambda x, y: x[0].add_(1), "view-inplace"),
        (lambda x, y: y.unbind(0)[0].add_(1), "view-inplace"),
        (lambda x, y: ag.ones(2, 2).expand(3, 2, 2).add_(1), "view-inplace"),
        (lambda x, y: ag.ones(1).backward(), "no-grad-fn"),
        (lambda x, y: ag.autograd.grad(y.sum(), leaf(1.0)), "none-grad"),
        (lambda x, y: y + ag.ones(3), "shape"),
        (lambda x, y: (y.exp(), y.mul_(2))[0].sum().backward(), None),
        (lambda x, y: ((z := y * y), y.mul_(2), z.sum().backward()), "inplace-modified"),
    ],
)
def test_kinds_of_errors(facts, bad, kind):
    x = leaf(1.0, 2.0)
    y = x * 2
    if kind is None:
        bad(x, y)
    else:
        with pytest.raises(RuntimeError):
            bad(x, y)
    assert [f[2] for f in facts if f[0] == "error"] == ([] if kind is None else [kind])


def test_names(facts):
    from agdbg_engine import nn

    nn.Linear(1, 1)(ag.ones(1, 1))
    assert [f for f in facts if f[0] == "named"] == [("named", "weight", "parameter"), ("named", "bias", "parameter")]


def test_nothing_is_told_when_nobody_listens(facts):
    events.remove()
    x = leaf(1.0)
    (x * x).backward()
    assert facts == []


def test_only_one_sink_at_a_time(facts):
    with pytest.raises(RuntimeError, match="already installed"):
        events.install(Recording())


# ----- instruments that fail -----


class Failing(Recording):
    """Raises at the first fact of one kind."""

    def __init__(self, method, error):
        super().__init__()
        self.calls = 0
        self.told = []

        def fail(*args):
            self.calls += 1
            raise error

        setattr(self, method, fail)

    def dropped(self, error):
        self.told.append(error)


class Careless(ag.autograd.Function):
    """Does what a linter would find."""

    @staticmethod
    def forward(ctx, x):
        """Write without telling, and keep an intermediate."""
        x.mul_(2)
        ctx.between = x * 3
        return x * ctx.between

    @staticmethod
    def backward(ctx, g):
        """Of another dtype than the argument."""
        return g.double() if g.dtype == ag.float32 else g.float()


def everything():
    """A program in which every kind of fact occurs; its result."""
    x = leaf(1.0, 2.0)
    with ag.no_grad():
        x * 2
    y = x * 2
    y.register_hook(lambda g: None)
    y[0].sin_()
    y.exp_()
    y.detach()
    with ag.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y.exp().sum().backward(retain_graph=True)
    with ag.autograd.graph.allow_mutation_on_saved_tensors():
        y.exp().mul_(2)
    try:
        x.add_(1)
    except RuntimeError:
        y.sum().backward()
    with ag.autograd.forward_ad.dual_level():
        pass
    from agdbg_engine import nn, optim

    linear = nn.Linear(1, 1)
    optim.SGD(linear.parameters(), lr=0.0).step()
    linear(ag.ones(1, 1))
    ag.linalg.eigh(ag.ones(1, 1, requires_grad=True))
    Careless.apply(leaf(1.0) * 1).backward()
    events.use(events.WRITES, 1)
    y.zero_()
    events.use(events.WRITES, -1)
    ag.utils.checkpoint.checkpoint(lambda a: a.sin(), x, use_reentrant=False).sum().backward()
    early = leaf(1.0)
    z = early * 2
    z.register_hook(lambda g: (early.grad, None)[1])
    z.backward()
    again = ag.utils.checkpoint.checkpoint
    again(lambda a: a * ag.rand(1), early, use_reentrant=False, preserve_rng_state=False).backward()
    with contextlib.suppress(TypeError):
        ag.cat([ag.ones(2, 2)], "rows")
    return x.grad.tolist()


BY_A_DEBUGGER = {"node_undone", "gradient_replaced", "node_skipped", "saved_replaced", "graph_retained"}
KINDS = [n for n in events.METHODS if n not in BY_A_DEBUGGER]


@pytest.mark.parametrize("method", KINDS)
def test_a_failing_instrument_is_dropped_and_the_program_goes_on(method, capsys):
    expected = everything()
    sink = Failing(method, ValueError("broken"))
    events.install(events.guarded(sink))
    try:
        assert everything() == expected
        assert events.sink is None
        assert everything() == expected
    finally:
        events.remove()
    assert sink.calls == 1
    assert [str(error) for error in sink.told] == ["broken"]
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("an instrument failed and was removed") == 1
    assert "ValueError: broken" in err


def test_an_instrument_may_be_interrupted():
    events.install(events.guarded(Failing("node_ran", KeyboardInterrupt())))
    try:
        with pytest.raises(KeyboardInterrupt):
            everything()
    finally:
        events.remove()
    assert ag.is_grad_enabled()


def test_a_guarded_sink_hears_everything(facts):
    everything()
    direct = list(facts)
    events.remove()
    sink = Recording()
    events.install(events.guarded(sink))
    everything()
    events.remove()
    assert sink.facts == direct
    assert {f[0] for f in direct} == {
        "born", "storage", "slot", "ran", "started", "finished", "bumped", "view", "rebased", "cut", "named", "mode", "hook",
        "error",
    }  # fmt: skip


def test_a_sink_may_be_removed_while_a_pass_runs(facts):
    x = leaf(1.0)
    y = x * x
    y.register_hook(lambda g: events.remove())
    y.backward()
    assert x.grad.item() == 2.0
    assert facts[-1][0] == "hook" or facts[-1][0] == "started"


def test_a_sink_may_be_installed_while_a_pass_runs():
    x, sink = leaf(1.0), Recording()
    y = x * x
    y.register_hook(lambda g: events.install(sink))
    try:
        y.backward()
    finally:
        events.remove()
    assert x.grad.item() == 2.0
    assert sink.facts[-1] == ("finished", "backward", None)
