"""What modules and optimizers tell an instrument: names, calls and parameters, and nothing when nobody listens."""

import threading

import pytest

import agdbg_engine as ag
from agdbg_engine import events, nn, optim
from agdbg_engine.sites import where


class Telling(events.Sink):
    """Notes what it is told as text."""

    def __init__(self):
        self.told, self.names = [], {}

    def module_named(self, module, path, parent):
        self.names[module] = path
        self.told.append(f"named {path or '.'} of {'nothing' if parent is None else self.names[parent] or '.'}")

    def module_entered(self, module):
        self.told.append(f"into {self.names.get(module, '?') or '.'}")

    def module_left(self, module):
        self.told.append(f"out of {self.names.get(module, '?') or '.'}")

    def tensor_named(self, tensor, name, kind):
        self.told.append(f"{kind} {name}{'' if tensor.requires_grad else ', frozen'}")

    def optimizer_built(self, optimizer, parameters, code, lasti):
        self.told.append(f"{type(optimizer).__name__} with {len(parameters)} at {where(code, lasti).text}")

    def optimizer_stepped(self, optimizer, code, lasti):
        self.told.append(f"{type(optimizer).__name__} steps at {where(code, lasti).text}")


@pytest.fixture
def sink():
    """An instrument that listens."""
    made = Telling()
    events.install(made)
    yield made
    events.remove()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU())
        self.head = nn.Linear(2, 1, bias=False)
        self.register_buffer("scale", ag.ones(1))

    def forward(self, x):
        return self.head(self.body(x)) * self.scale


NAMED = [
    "named . of nothing", "named body of .", "named body.0 of body", "named body.1 of body", "named head of .",
    "parameter body.0.weight", "parameter head.weight", "buffer scale, frozen",
]  # fmt: skip
CALL = [
    "into .", "into body", "into body.0", "out of body.0", "into body.1", "out of body.1", "out of body", "into head", "out of head",
    "out of .",
]  # fmt: skip


def test_a_model_is_named_at_its_first_call_and_every_call_is_nested(sink):
    net = Net()
    net(ag.ones(1, 2))
    net(ag.ones(1, 2))
    assert sink.told == [*NAMED, *CALL, *CALL]


def test_a_part_that_is_called_first_names_the_whole_model(sink):
    net = Net()
    net.head(ag.ones(1, 2))
    assert sink.told == [*NAMED, "into head", "out of head"]


def test_what_is_frozen_or_put_in_is_told_at_the_next_call(sink):
    net = Net()
    net(ag.ones(1, 2))
    net.head.requires_grad_(False)
    sink.told.clear()
    net(ag.ones(1, 2))
    assert sink.told[: len(NAMED)] == [*NAMED[:6], "parameter head.weight, frozen", NAMED[7]]
    net.body.append(nn.Tanh())
    sink.told.clear()
    net(ag.ones(1, 2))
    assert "named body.2 of body" in sink.told and "into body.2" in sink.told
    sink.told.clear()
    net(ag.ones(1, 2))
    assert not [line for line in sink.told if line.startswith(("named", "parameter"))]


def test_a_forward_that_raises_is_left_too(sink):
    class Failing(nn.Module):
        def forward(self):
            raise KeyError("mine")

    outer = nn.Sequential(Failing())
    with pytest.raises(KeyError, match="mine"):
        outer[0]()
    assert sink.told[-2:] == ["into 0", "out of 0"]


def test_hooks_are_inside_the_call(sink):
    linear = nn.Linear(2, 2)
    linear.register_forward_pre_hook(lambda m, args: sink.told.append("pre"))
    linear.register_forward_hook(lambda m, args, out: sink.told.append("post"))
    linear(ag.ones(1, 2))
    assert sink.told[-4:] == ["into .", "pre", "post", "out of ."]


def test_a_module_that_cannot_list_what_it_holds_still_runs(sink):
    class Odd(nn.Module):
        def named_modules(self, *args, **kwargs):
            raise ValueError("not now")

        def forward(self, x):
            return x + 1

    assert Odd()(ag.ones(1)).item() == 2
    assert sink.told == ["into ?", "out of ?"]


def test_threads_tell_their_own_calls(sink):
    net = Net()
    net(ag.ones(1, 2))
    sink.told.clear()
    thread = threading.Thread(target=net, args=(ag.ones(1, 2),))
    thread.start()
    thread.join()
    assert sink.told == CALL


def test_an_instrument_that_is_removed_inside_a_call_hears_its_end(sink):
    class Ending(nn.Module):
        def forward(self):
            events.remove()
            return 1

    assert Ending()() == 1
    assert sink.told[-1] == "out of ."


def test_an_optimizer_tells_its_groups_and_its_steps(sink):
    net = Net()
    optimizer = optim.SGD(net.body.parameters(), lr=0.1)
    optimizer.add_param_group({"params": net.head.parameters()})
    optimizer.step()
    assert sink.told == [
        "SGD with 1 at optimizer = optim.SGD(net.body.parameters(), lr=0.1)",
        'SGD with 1 at optimizer.add_param_group({"params": net.head.parameters()})',
        "SGD steps at optimizer.step()",
    ]


def test_optimizers_of_all_kinds_tell_of_their_steps(sink):
    for kind in (optim.Adam, optim.AdamW, optim.RMSprop, optim.LBFGS, optim.Adagrad):
        w = ag.ones(2, requires_grad=True)
        optimizer = kind([w])
        sink.told.clear()

        def closure(w=w, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (w * w).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        assert sink.told[0].startswith(f"{kind.__name__} steps")


def test_an_op_with_several_outputs_tells_them_all():
    told = []

    class Sink(events.Sink):
        def node_born(self, node, out):
            told.append((node.op_name, out._nr))

        def outputs_made(self, node, outs):
            told.append((node.op_name, [out._nr for out in outs]))

    class Two(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, 7, x * 3

        @staticmethod
        def backward(ctx, *gs):
            return gs[0]

    a = ag.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    events.install(Sink())
    try:
        ag.linalg.eigh(a)
        Two.apply(a)
    finally:
        events.remove()
    assert ("LinalgEighBackward0", [0, 1]) in told and ("TwoBackward", [0, 2]) in told


def test_with_nobody_listening_a_call_is_the_forward(monkeypatch):
    def unexpected(*args):
        raise AssertionError("told to nobody")

    monkeypatch.setattr(events.Sink, "module_entered", unexpected)
    monkeypatch.setattr("agdbg_engine.nn.module.announce", unexpected)
    assert nn.Linear(2, 1)(ag.ones(1, 2)).shape == (1, 1)
