"""Leaves in no module whose path ends at once: what trains them never gets a gradient; what is meant to be so stays silent."""

import pytest

LEAVES = """
w, b, k = nn.Parameter(ag.randn(3)), nn.Parameter(ag.zeros(3)), nn.Parameter(ag.tensor(2.0))
"""  # the script goes on in line 3
STEP = "; opt.zero_grad(); loss.backward(); opt.step()\n"

CUT = {  # the script, the name, what ends the path, the line of it, the line of the optimizer
    "detach": (
        "opt = optim.SGD([w, b], .1)\nfor i in range(3):\n    loss = (ag.randn(3) * w.detach() + b).pow(2).mean()"
        + STEP,
        "w",
        "w.detach()",
        5,
        3,
    ),
    "data": (
        "opt = optim.SGD([w, b], .1)\nfor i in range(3):\n    loss = (ag.randn(3) * w.data + b).pow(2).mean()" + STEP,
        "w",
        "w.data",
        5,
        3,
    ),
    "float": (
        "opt = optim.SGD([k, b], .1)\nfor i in range(3):\n    loss = (ag.randn(3) * float(k) + b).pow(2).mean()" + STEP,
        "k",
        "float(k)",
        5,
        3,
    ),
    "a second group": (
        "opt = optim.SGD([{'params': [b]}, {'params': [w], 'lr': 1.0}], .1)\nfor i in range(3):\n"
        "    loss = (w.detach() + b).pow(2).mean()" + STEP,
        "w",
        "w.detach()",
        5,
        3,
    ),
    "a group that is added": (
        "opt = optim.SGD([b], .1)\nopt.add_param_group({'params': [w]})\nfor i in range(3):\n"
        "    loss = (w.detach() + b).pow(2).mean()" + STEP,
        "w",
        "w.detach()",
        6,
        4,
    ),
    "an optimizer that writes all it has": (
        "opt = optim.LBFGS([w, b])\ndef closure():\n    opt.zero_grad(); loss = (w.detach() + b).pow(2).mean()\n"
        "    loss.backward(); return loss\nopt.step(closure)",
        "w",
        "w.detach()",
        5,
        3,
    ),
    "what is printed is not it": (
        "opt = optim.SGD([w, b], .1)\nfor i in range(3):\n    print(w.detach())\n"
        "    loss = (ag.randn(3) * w.data + b).pow(2).mean()" + STEP,
        "w",
        "w.data",
        6,
        3,
    ),
    "by hand": (
        "for i in range(3):\n    loss = (w.detach() + b).pow(2).mean()\n    loss.backward()\n    with ag.no_grad():\n"
        "        for p in [w, b]:\n            if p.grad is not None:\n                p -= .1 * p.grad",
        "w",
        "w.detach()",
        4,
        None,
    ),
    "a number, by hand": (
        "params = (k, b)\nfor i in range(3):\n    loss = (float(k) + b).pow(2).mean()\n    loss.backward()\n"
        "    for p in params:\n        if p.grad is not None:\n            p.data -= .1 * p.grad\n            p.grad = None",
        "k",
        "float(k)",
        5,
        None,
    ),
}


@pytest.mark.parametrize("name", CUT)
def test_a_leaf_whose_path_ends_at_once(linted, lines_of, name):
    source, leaf, how, line, optimizer = CUT[name]
    found = linted(LEAVES + source).only("no-gradient")
    assert f"`{leaf}` gets no gradient: `{how}` at line {line} ends the path" in found.cause
    assert lines_of(found, "cut") == [line]
    assert lines_of(found, "optimizer") == ([optimizer] if optimizer else [])


def test_a_leaf_that_is_only_printed(linted, lines_of):
    found = linted(
        LEAVES + "opt = optim.SGD([w, b], .1)\nfor i in range(3):\n    print(f'{w.detach()}', float(w[0]))\n"
        "    loss = b.pow(2).mean()" + STEP
    ).only("no-gradient")
    assert found.certainty == "likely" and lines_of(found, "cut") == [] and lines_of(found, "optimizer") == [3]


def test_a_free_leaf_below_an_op_whose_derivative_is_zero_everywhere(linted, lines_of):
    found = linted(
        LEAVES
        + "opt = optim.SGD([w, b], .1)\nfor i in range(3):\n    loss = (w.sign() * w.detach() + b).pow(2).mean()"
        + STEP
    ).only("zero-gradient")
    assert "`w`" in found.cause and lines_of(found, "zeros") == [5]


RIGHT = {
    "printed": "    loss = (w + b).pow(2).mean()" + STEP + "    print(w.detach(), f'{float(k)} {w.sum().item()}')",
    "kept": "    loss = (w + b).pow(2).mean()"
    + STEP
    + "    kept = [w.detach().clone(), float(b[0]), w.data.numpy().copy()]",
    "a moving average": "    loss = (w + b).pow(2).mean()"
    + STEP
    + "    with ag.no_grad():\n        slow.mul_(.9).add_(w * .1)\n        slow.data.lerp_(w.data, .1)",
    "a target": "    with ag.no_grad():\n        goal = slow * 2\n    loss = (w + b - goal).pow(2).mean()"
    + STEP
    + "    slow.data.copy_(w.data)",
    "a target that is detached": "    loss = (w + b - slow.detach()).pow(2).mean()"
    + STEP
    + "    slow.data.copy_(w.detach())",
    "frozen in the optimizer": "    loss = (w + b * frozen.detach()).pow(2).mean()" + STEP,
    "two optimizers": "    loss = (w.detach() * k + b.detach()).pow(2).mean(); other.zero_grad(); loss.backward(); other.step()\n"
    "    loss = (w + b * k.detach()).pow(2).mean()" + STEP,
    "shared": "    loss = (shared * w.detach() + w.data * b).pow(2).mean()" + STEP,
    "straight through": "    loss = (w + (w.sign() - w).detach() + b).pow(2).mean()" + STEP,
    "a sign that only scales": "    loss = (w * w.detach().sign() + b).pow(2).mean()" + STEP,
    "alternating": "    loss = ((w.detach() if i % 2 else w) + b).pow(2).mean()" + STEP,
    "a gradient by hand": "    loss = b.pow(2).mean(); opt.zero_grad(); loss.backward(); w.grad = w.detach() * .1; opt.step()",
    "copies that are differentiated": "    copy = w.detach().requires_grad_(); loss = (copy + b).pow(2).mean()\n"
    "    opt.zero_grad(); loss.backward(); w.grad = copy.grad; opt.step()",
    "its value as a condition": "    loss = (w + b).pow(2).mean()"
    + STEP
    + "    if float(k) > 100 or bool((w.detach() > 9).any()): break",
    "a norm that is clipped": "    loss = (w + b).pow(2).mean(); opt.zero_grad(); loss.backward()\n"
    "    nn.utils.clip_grad_norm_([w, b], float(k)); opt.step()",
    "by hand": "    loss = (w * w.detach() + b).pow(2).mean(); loss.backward()\n    for p in (w, b):\n        p.data -= .1 * p.grad\n"
    "        p.grad = None",
    "saved": "    loss = (w + b).pow(2).mean()" + STEP + "    state = {'w': w.detach(), 'k': k.item()}",
    "one that nobody trains": "    loss = (w + b * k.detach() + slow.data).pow(2).mean(); loss.backward()",
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_leaf_that_is_cut_on_purpose(linted, name):
    source = RIGHT[name]
    opt = "opt = optim.SGD([w, b, frozen], .1)\nother = optim.SGD([k], .1)\n" if "opt." in source else ""
    ran = linted(
        LEAVES
        + "slow = nn.Parameter(w.detach().clone())\nfrozen = nn.Parameter(ag.ones(3), requires_grad=False)\nshared = w\n"
        + opt
        + "for i in range(3):\n"
        + source
    )
    assert ran.error is None and [each.cause for each in ran.lints] == []


TEMPERATURE = """
pi, log_alpha = nn.Linear(3, 1), nn.Parameter(ag.zeros(1))
op, oa = optim.Adam(pi.parameters(), 1e-3), optim.Adam([log_alpha], 1e-3)
for i in range(3):
    ent = pi(ag.randn(4, 3)).tanh()
    la = (log_alpha.exp().detach() * (ent.detach() - 0.5)).mean() + pi.weight.sum() * 0
    lpi = (-log_alpha.exp().detach() * ent).mean()
    op.zero_grad(); lpi.backward(); op.step()
    oa.zero_grad(); la.backward(); oa.step()
"""


def test_of_two_cuts_the_one_before_the_loss_of_its_optimizer(linted, lines_of):
    found = linted(TEMPERATURE).only("no-gradient")
    assert lines_of(found, "cut") == [6, 7] and found.certainty == "likely"
    assert found.fix.startswith("At line 6: leave out the detach()") and "At line 7 it may be meant" in found.fix


def test_of_two_cuts_with_the_losses_the_other_way_round(linted, lines_of):
    found = linted(TEMPERATURE.replace("lpi.", "x.").replace("la.", "lpi.").replace("x.", "la.")).only("no-gradient")
    assert lines_of(found, "cut") == [6, 7]
    assert found.fix.startswith("At line 7: leave out the detach()") and "At line 6 it may be meant" in found.fix


def test_of_two_cuts_before_one_loss_neither_is_blamed_alone(linted, lines_of):
    found = linted(
        LEAVES + "opt = optim.SGD([w, b], .1)\nfor i in range(3):\n    c = b * w.detach()\n    d = b + w.data\n"
        "    loss = (c + d).pow(2).mean()" + STEP
    ).only("no-gradient")
    assert lines_of(found, "cut") == [5, 6] and found.certainty == "likely"
    assert (
        "`w.detach()` at line 5" in found.cause and "`w.data` at line 6" in found.cause and ", or at line" in found.fix
    )
