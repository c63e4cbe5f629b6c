"""Gradients that fade or grow from layer to layer, and gradients of gradients."""

import pytest

STACK = """
ag.manual_seed(0)
layers = []
for i in range(DEPTH):
    layers += [nn.Linear(16, 16), ACT]
net = nn.Sequential(*layers, nn.Linear(16, 1))
with ag.no_grad():
    for p in net.parameters():
        p.mul_(SCALE)
opt = optim.SGD(net.parameters(), lr=1e-30)
for i in range(2):
    opt.zero_grad()
    (net(ag.randn(8, 16)) ** 2).mean().backward()
    opt.step()
"""


def stack(depth, act, scale=1):
    return STACK.replace("DEPTH", str(depth)).replace("ACT", act).replace("SCALE", str(scale))


def test_vanishing(linted, lines_of):
    found = linted(stack(10, "nn.Sigmoid()")).only("vanishing-gradient")
    assert "through 11 layers: at `0.weight` it is 1e8 times smaller than at `20.weight`" in found.cause
    assert "in place of sigmoid()" in found.fix and lines_of(found, "layer") == [13] * 5 and found.certainty == "likely"


def test_vanishing_until_nothing_is_left(linted):
    found = linted(stack(60, "nn.Sigmoid()")).only("vanishing-gradient")
    assert "at `0.weight` it is zero, below what its dtype can hold" in found.cause


def test_exploding(linted):
    found = linted(stack(8, "nn.Identity()", 12)).only("exploding-gradient")
    assert "grows on its way back through 8 layers" in found.cause and "clip_grad_norm_()" in found.fix


ORDINARY = {
    "few sigmoids": stack(3, "nn.Sigmoid()"),
    "relu": stack(6, "nn.ReLU()"),
    "tanh": stack(8, "nn.Tanh()"),
    "one layer that is different": """
ag.manual_seed(0)
net = nn.Sequential(*[nn.Linear(8, 8) for i in range(6)])
with ag.no_grad(): net[3].weight.mul_(1e-6)
net(ag.randn(4, 8)).sum().backward()
""",
    "a head that starts at zero": """
ag.manual_seed(0)
net = nn.Sequential(*[nn.Linear(8, 8) for i in range(6)])
with ag.no_grad(): net[5].weight.zero_()
net(ag.randn(4, 8)).sum().backward()
""",
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_models(linted, name):
    assert [each.kind for each in linted(ORDINARY[name]).lints] == []


# ----- gradients of gradients -----

PENALTY = """
D = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
opt = optim.SGD(D.parameters(), lr=.1)
for i in range(2):
    x = ag.randn(4, 2).requires_grad_(True)
    out = D(x)
    g = ag.autograd.grad(out.sum(), x, HOW)[0]
    penalty = ((g.norm(2, 1) - 1) ** 2).mean()
    loss = out.mean() + 10 * penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
IN_A_FUNCTION = """
D = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
opt = optim.SGD(D.parameters(), lr=.1)
def gradient_penalty(D, x):
    x = x.clone().requires_grad_(True)
    out = D(x)
    grads = ag.autograd.grad(out, x, grad_outputs=ag.ones_like(out), HOW)[0]
    n = grads.norm(2, dim=1)
    return ((n - 1) ** 2).mean()
for i in range(2):
    x = ag.randn(4, 2)
    loss = D(x).mean()
    loss += 10 * gradient_penalty(D, x)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("source", "lines"), [(PENALTY, (7, 9)), (IN_A_FUNCTION, (7, 13))], ids=["in line", "in a function"]
)
def test_a_penalty_without_create_graph(linted, lines_of, source, lines):
    found = linted(source.replace("HOW", "retain_graph=True")).only("no-create-graph")
    assert (*lines_of(found, "first call"), *lines_of(found, "added")) == lines
    assert "in the loss it is a constant, and trains nothing" in found.cause and "Pass create_graph=True" in found.fix


FIRST_ORDER = {
    "with create_graph": PENALTY.replace("HOW", "create_graph=True"),
    "in a function, with create_graph": IN_A_FUNCTION.replace("HOW", "create_graph=True"),
    "an adversarial example": """
D = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
for i in range(2):
    x = ag.randn(4, 2).requires_grad_(True)
    g = ag.autograd.grad(D(x).sum(), x)[0]
    adv = x + .1 * g / g.norm()
    (D(x).mean() + D(adv).mean()).backward()
""",
    "a step of an inner loop": """
w = ag.randn(3, requires_grad=True)
for i in range(3):
    (g,) = ag.autograd.grad((w * w).sum(), w)
    fast = w - .1 * g
    ((fast - 1) ** 2).sum().backward()
    with ag.no_grad(): w -= .01 * w.grad
    w.grad = None
""",
    "a norm that is printed": """
w = ag.randn(3, requires_grad=True)
loss = (w * w).sum()
loss.backward()
print((loss + w.grad.norm()).item())
""",
}


@pytest.mark.parametrize("name", FIRST_ORDER)
def test_gradients_that_are_meant_to_be_constants(linted, name):
    assert linted(FIRST_ORDER[name]).lints == []


CONSTANT = "x = ag.ones(3, requires_grad=True)\ny = (2 * x).sum()\n(g,) = ag.autograd.grad(y, x, create_graph=True)\n"


def test_45_a_constant_gradient_is_told_before_it_is_differentiated(linted, lines_of):
    (found,) = linted(CONSTANT).remarked("constant-gradient")
    assert "the second derivative is zero" in found.cause and lines_of(found, "first call") == [4]


def test_45_and_when_it_is(linted):
    ran = linted(CONSTANT + "ag.autograd.grad(g.sum(), x)")
    (found,) = ran.diagnosed
    assert found.kind == "no-grad-fn" and "is constant" in found.cause and ran.error is not None


@pytest.mark.parametrize("y", ["(x * x).sum()", "(x * w).sum()", "ag.exp(x).sum()"])
def test_gradients_that_are_not_constant(linted, y):
    ran = linted(
        f"x, w = ag.ones(3, requires_grad=True), ag.ones(3, requires_grad=True)\n(g,) = ag.autograd.grad({y}, x, create_graph=True)"
    )
    assert ran.remarked("constant-gradient") == []


def test_an_op_that_cannot_be_differentiated_twice(made_up, lines_of):
    from agdbg.diagnose import lint

    told = made_up("y = grid_sample(x, g)\ny.backward(create_graph=True)")
    told.leaf("x")
    told.node("y", "GridSampler2DBackward0", 1, "grid_sample(x, g)", ["x", ""])
    told.start(2, "y", create=True)
    (found,) = lint(told.facts())
    assert found.kind == "not-twice" and "`grid_sample(x, g)` at line 1 cannot be differentiated twice" in found.cause
    assert lines_of(found, "created") == [1]


MADE_OF_IT = {
    "a sum": "penalty = g.sum()",
    "through two names": "far = (g.norm(2) - 1) ** 2\npenalty = far.mean()",
    "with other constants": "scale = 10.0\npenalty = ag.zeros(())\npenalty += scale * (g * g).sum()",
}


@pytest.mark.parametrize("name", MADE_OF_IT)
def test_45_and_when_what_is_made_of_it_is(linted, name):
    ran = linted(f"{CONSTANT}{MADE_OF_IT[name]}\npenalty.backward()")
    (found,) = ran.diagnosed
    assert found.certainty == "possible" and "the gradient that" in found.cause and "is constant" in found.cause
    assert "take its derivative as zero" in found.fix and "if this is computed from it; otherwise" in found.fix


def test_45_and_when_a_function_made_it(linted):
    ran = linted(
        "def penalty(x):\n    y = (2 * x).sum()\n    return (ag.autograd.grad(y, x, create_graph=True)[0].norm() - 1) ** 2\n"
        "loss = penalty(ag.ones(3, requires_grad=True))\nloss.backward()"
    )
    (found,) = ran.diagnosed
    assert found.certainty == "possible" and "at line 4 computed is constant" in found.cause
    assert "if this is computed from it" in found.fix


def test_45_and_when_it_is_that_of_a_leaf(linted):
    ran = linted(
        "x = ag.ones(3, requires_grad=True)\nag.autograd.backward((2 * x).sum(), create_graph=True)\n"
        "norm = x.grad.norm()\npenalty = norm**2\npenalty.backward()"
    )
    (found,) = ran.diagnosed
    assert "is constant" in found.cause and "if this is computed from it" in found.fix


OF_OTHERS = ["g = ag.randn(3)\nloss = (g * 2).sum()", "rate = float(g.norm())\nloss = (ag.ones(3) * rate).sum()"]


@pytest.mark.parametrize("loss", OF_OTHERS)
def test_46_a_name_that_may_be_of_something_else_is_no_certain_reason(linted, loss):
    ran = linted(
        f"x = ag.ones(3, requires_grad=True)\n(g,) = ag.autograd.grad((x**3).sum(), x)\n{loss}\nloss.backward()"
    )
    (found,) = ran.diagnosed
    assert found.certainty == "possible" and "otherwise set requires_grad" in found.fix
