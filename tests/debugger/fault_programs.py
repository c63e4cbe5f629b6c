"""Programs that come to what the programs of rare_programs.py do not: modules, optimizers, and a person who steps."""

import numpy as np

import agdbg_engine as ag
from agdbg_engine import events, nn, optim
from agdbg_engine.interventions import retain
from agdbg_engine.journal import Journal
from agdbg_engine.utils.checkpoint import checkpoint


def training():
    ag.manual_seed(3)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    steps = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(3):
        steps.zero_grad()
        loss = model(ag.ones(2, 3)).square().mean()
        losses.append(loss.detach())
        loss.backward()
        steps.step()
    return [*losses, *[p.detach() for p in model.parameters()]]


def early_reader():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    y = x * x
    y.register_hook(lambda g: seen.append(x.grad))
    y.sum().backward()
    return [*seen, x.grad]


def redrawing():
    ag.manual_seed(5)
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    checkpoint(lambda t: (t * ag.rand(2)).exp(), x, use_reentrant=False, preserve_rng_state=False).sum().backward()
    return [x.grad]


def hoarding():
    """A gradient that keeps its graph, and a loss that is kept."""
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    kept = []
    for _ in range(3):
        loss = (x * x).sum()
        loss.backward(create_graph=True)
        kept.append(loss)
    return [x.grad.detach()]


def roots():
    """One pass from several roots."""
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    ag.autograd.backward([(x * x).sum(), x.exp().sum(), x[0]])
    return [x.grad]


class Whole(ag.autograd.Function):
    """Returns a gradient of integers for an argument of floats."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return (g * 2).to(ag.int64)


def casting():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    Whole.apply(x).sum().backward()
    return [x.grad]


def announced_writes():
    """Writes while somebody wants to know of them before."""
    events.use(events.WRITES)
    try:
        x = ag.tensor([1.0, 2.0])
        x.mul_(2)
        ag.add(x, 1, out=x)
        x.unsqueeze_(0)
    finally:
        events.use(events.WRITES, -1)
    return [x]


PROGRAMS = {
    "announced_writes": announced_writes,
    "casting": casting,
    "roots": roots,
    "training": training,
    "early_reader": early_reader,
    "redrawing": redrawing,
    "hoarding": hoarding,
}


def stepped():
    """A pass that the driver of a sink steps through, with all that a person can do to it."""
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    ((x * x).exp() * 3).sum().backward()
    return [x.grad]


def drive(bp):
    """Undo, replace a gradient and a saved tensor, skip, retain. A sink that is dropped meanwhile is no reason to stop."""
    journal = Journal(bp)
    journal.step()
    journal.undo()
    journal.step()
    if events.sink is not None:  # the engine leaves it to the driver to tell of these two
        events.sink.gradient_replaced(bp, bp.order[bp.position], 0)
    if events.sink is not None:
        events.sink.saved_replaced(bp, bp.order[bp.position], 0)
    while bp.order[bp.position].op_name != "ExpBackward0":
        journal.step()
    journal.replace_saved("result", np.array([2.0, 3.0], np.float32))
    journal.step()
    retain(bp)
    journal.skip()
    bp.advance(len(bp.order) - bp.position)
