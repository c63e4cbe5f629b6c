"""A bad gradient that the program discards before any step is no fault; one that a step takes is."""

import pytest

HEAD = """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=.1)
bad = ag.full((2, 3), float('nan'))
"""
CLIPPED = (
    HEAD
    + """
for x in (ag.ones(2, 3), bad, ag.ones(2, 3)):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    n = nn.utils.clip_grad_norm_(net.parameters(), 1.)
    if ag.isfinite(n):
        opt.step()
"""
)
#: The loss is scaled by hand in single precision, and the last passes overflow as the first do.
SCALED = """
w = ag.zeros(3, requires_grad=True)
opt = optim.SGD([w], lr=1e-9)
scale = 2.**120
for i in range(10):
    opt.zero_grad()
    loss = ((w * 1000).sum() - 1).pow(2)
    (loss * scale).backward()
    if not ag.isfinite(w.grad).all():
        scale /= 2
        continue
    w.grad /= scale
    opt.step()
    if i == 7:
        scale = 2.**120
"""
#: Gradients are summed by hand, and put back before the step.
SUMMED = """
w = ag.ones(2, requires_grad=True)
opt = optim.SGD([w], lr=.1)
for x in (ag.full((2,), float('nan')), ag.ones(2)):
    total = ag.zeros(2)
    for part in (x, ag.ones(2)):
        (w * part).sum().backward()
        total += w.grad
        w.grad = None
    w.grad = total
    opt.step()
"""
#: By hand, without an optimizer.
BY_HAND = """
w = ag.ones(2, requires_grad=True)
for x in (ag.ones(2), ag.full((2,), float('nan')), ag.ones(2)):
    (w * x).sum().backward()
    with ag.no_grad():
        if ag.isfinite(w.grad).all():
            w -= .1 * w.grad
    w.grad = None
"""
ZEROED = CLIPPED.replace("zero_grad()", "zero_grad(set_to_none=False)")
SPARED = HEAD + (
    "for x in (bad, ag.ones(2, 3)):\n    opt.zero_grad()\n    net(x).mean().backward()\n    if x is not bad: opt.step()\n"
)
MENDED = HEAD + (
    "for x in (bad, ag.ones(2, 3)):\n    net(x).mean().backward()\n"
    "    for p in net.parameters(): p.grad.nan_to_num_(0.)\n    if x is not bad: opt.step()\n"
)


@pytest.mark.parametrize("source", [CLIPPED, ZEROED, SCALED, BY_HAND, SPARED, MENDED])
def test_what_the_program_discards_is_no_finding(linted, source):
    assert linted(source).lints == []


def test_it_is_told_on_request(linted, lines_of):
    (found,) = [each for each in linted(CLIPPED).remarked("absorbed") if "before a step" in each.cause]
    assert "and does no harm: other gradients took their place before a step" in found.cause
    assert lines_of(found, "produced") == lines_of(found, "needed") == [8]


@pytest.mark.parametrize(
    "source",
    [
        CLIPPED.replace("if ag.isfinite(n):", "if True:"),
        ZEROED.replace("if ag.isfinite(n):", "if True:"),
        BY_HAND.replace("if ag.isfinite(w.grad).all():", "if True:"),
        # what is added to a gradient that is bad is bad
        SPARED.replace("    opt.zero_grad()\n", ""),
        # a good one is discarded, the bad one is not
        CLIPPED.replace("if ag.isfinite(n):", "if not ag.isfinite(n):"),
        # a step in a hook of the pass itself
        HEAD
        + "for p in net.parameters(): p.register_post_accumulate_grad_hook(lambda p: (opt.step(), opt.zero_grad()))\n"
        + "net(bad).mean().backward()\nnet(ag.ones(2, 3)).mean().backward()\n",
    ],
)
def test_what_a_step_takes_is_one(linted, source):
    linted(source).only("nan")


@pytest.mark.parametrize(
    "source",
    [
        # the last pass of a program, with and without an optimizer that has stepped before
        CLIPPED.replace("bad, ag.ones(2, 3))", "bad)"),
        "x = ag.tensor([-1.], requires_grad=True)\nx.sqrt().sum().backward()\n",
        # nothing is trained: who reads the gradient is not known
        "x = ag.tensor([-1.], requires_grad=True)\nfor i in range(3):\n    x.sqrt().sum().backward()\n    x.grad = None\n",
    ],
)
def test_where_nobody_knows_it_is_one(linted, source):
    linted(source).only("nan")


def test_what_comes_into_a_parameter_after_all_is_one(linted, lines_of):
    assert lines_of(linted(SUMMED).only("nan"), "needed") == [7]
