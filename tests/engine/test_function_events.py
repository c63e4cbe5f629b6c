"""Custom Functions: what instruments are told, and the names that users and the engine both have for a node's attributes."""

import numpy as np
import pytest
from agdbg_tests_differential import leaf

import agdbg_engine as ag
from agdbg_engine import events
from agdbg_engine.journal import runs_user_code


class Log(events.Sink):
    def __init__(self):
        self.said = []
        self.versions = []

    def function_began(self, node, what, code, lasti):
        self.said.append((what, node.op_name))

    def function_wrote(self, node, tensor, argument, code, lasti):
        self.said.append(("wrote", node.op_name, argument))

    def function_kept(self, node, tensor, name, role, code, lasti):
        self.said.append(("kept", name, role))

    def node_born(self, node, out):
        self.said.append(("born", node.name(), len(node.slots), [n is not None for n, _ in node.next_functions]))

    def history_rebased(self, tensor, old, new, op, code, lasti):
        self.said.append(("rebased", old and old.name(), new.name(), op))

    def version_bumped(self, tensor, storage, op, node, code, lasti):
        self.said.append(("bumped", op, node and node.name()))

    def graph_cut(self, tensor, how, code, lasti):
        self.said.append(("cut", how))

    def node_ran(self, bp, node, order, start_ns, end_ns, error):
        self.said.append(("ran", node.name()))


@pytest.fixture
def log():
    sink = Log()
    events.install(sink)
    yield sink.said
    events.remove()


def function(forward, backward=lambda ctx, *gs: gs[0]):
    class F(ag.autograd.Function):
        pass

    F.forward, F.backward = staticmethod(forward), staticmethod(backward)
    return F.apply


def test_begin_and_birth(log):
    x = leaf(ag, 1.0)

    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(x, y)
        return y

    function(forward)(x).backward()
    assert log == [
        ("born", "torch::autograd::AccumulateGrad", 0, []), ("forward", "FBackward"), ("born", "FBackward", 2, [True]),
        ("backward", "FBackward"), ("ran", "FBackward"), ("ran", "torch::autograd::AccumulateGrad"),
    ]  # fmt: skip


def test_forward_cuts_nothing_but_no_grad_does(log):
    x = leaf(ag, 1.0)
    with ag.no_grad():
        function(lambda ctx, x: x * 2)(x)
    assert log == [("forward", "FBackward"), ("cut", "no_grad")]


def test_input_written_without_mark_dirty(log):
    def forward(ctx, first, second):
        second.mul_(2)
        return first * second

    function(forward, lambda ctx, g: (g, g))(leaf(ag, 1.0), leaf(ag, 1.0) * 1)
    assert ("wrote", "FBackward", "second") in log


def test_marked_input_is_as_it_should_be(log):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    function(forward)(leaf(ag, 1.0) * 1)
    assert not [e for e in log if e[0] == "wrote"]
    born = log.index(("born", "FBackward", 0, [True]))
    assert log[born + 1 :] == [
        ("bumped", "FBackward", "FBackward"),
        ("rebased", "MulBackward0", "FBackward", "FBackward"),
    ]


def test_marked_view(log):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    function(forward)((leaf(ag, 1.0, 2.0) * 1)[:1])
    assert ("rebased", "MulBackward0", "torch::autograd::CopySlices", "FBackward") in log


def test_tensors_on_the_context(log):
    def forward(ctx, x, y):
        out = x * y
        ctx.x = x
        ctx.between = x * 3
        ctx.several = [x, x * 4, {"deeper": x}]
        ctx.named = {"a": x * 5}
        ctx.array, ctx.one = [np.ones(2)], np.float32(1)
        ctx.out = out
        ctx.number = 3
        ctx.save_for_backward(x, x * 6, out, None)
        return out

    function(forward)(leaf(ag, 1.0), leaf(ag, 2.0))
    assert [e for e in log if e[0] == "kept"] == [
        ("kept", "saved_tensors[1]", "intermediate"), ("kept", "x", "input"), ("kept", "between", "intermediate"),
        ("kept", "several[0]", "input"), ("kept", "several[1]", "intermediate"),
        ("kept", "several[2]['deeper']", "input"), ("kept", "named['a']", "intermediate"),
        ("kept", "array[0]", "array"), ("kept", "out", "output"),
    ]  # fmt: skip


def test_it_is_a_barrier_for_undo():
    middle = leaf(ag, 1.0, 2.0) * 1
    y = function(lambda ctx, x: x * 2)(middle)
    assert runs_user_code(y.grad_fn)
    assert not runs_user_code(middle.grad_fn)

    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    function(forward)(middle[:1])
    assert middle.grad_fn.name() == "torch::autograd::CopySlices"
    assert runs_user_code(middle.grad_fn)


ENGINE_NAMES = [
    "next", "nrs", "seq", "code", "lasti", "n_outputs", "hooks", "tag", "run", "grads", "release", "slots", "outputs_saved", "multi",
    "leaf", "arity", "op_name", "keeps", "user_code", "consts", "next_nodes",
]  # fmt: skip


@pytest.mark.parametrize("when", ["forward", "backward"])
@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_names_belong_to_the_user(name, when):
    """A context takes any attribute, the engine's own names too."""
    seen = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        if when == "forward":
            setattr(ctx, name, ag.ones(2))
        return x * x, x * 3

    def backward(ctx, g, h):
        setattr(ctx, name, ctx.__dict__.get(name, ag.ones(2)) * 5)
        seen.append(getattr(ctx, name).tolist())
        return 2 * ctx.saved_tensors[0] * g + 3 * h

    x = leaf(ag, 2.0)
    y, z = function(forward, backward)(x)
    node = y.grad_fn
    node.register_hook(lambda found, gs: seen.append(found[0].tolist()))
    (y + z).backward(retain_graph=True)
    (y + z).backward()
    assert x.grad.tolist() == [14.0]
    assert seen == [[5.0, 5.0], [7.0], [25.0, 25.0], [7.0]]
    assert getattr(node, name).tolist() == [25.0, 25.0]
    assert node.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    assert node.name() == "FBackward"
    with pytest.raises(RuntimeError, match=r"FBackward was created at .*function"):
        _ = node.saved_tensors
