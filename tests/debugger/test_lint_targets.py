"""A leaf that is used on purpose where gradients are switched off, a target or an evaluation, and is cut off elsewhere by mistake."""

import ast
import textwrap

import pytest

from agdbg.diagnose.taint import Taint

# Line 1 is the head, and HEAD of the script ends with line 4.
HEAD = """
import agdbg_engine.nn.functional as F
x, y = ag.randn(8, 3), ag.randn(8, 1)
k, w = nn.Parameter(ag.tensor(0.5)), nn.Parameter(ag.randn(3, 1))
"""
CUTS = {
    "k.detach()": "leave out the detach()",
    "k.data": "use the tensor itself and not its .data",
    "k.exp().detach()": "leave out the detach()",
    "k.clone().detach()": "leave out the detach()",
    "k.item()": "compute with the tensor itself",
    "float(k)": "compute with the tensor itself",
    "ag.tensor(k)": "use the tensor itself, with to()",
}
STEPS = """
with ag.no_grad():
    target = k.exp() * x.sum(1)
loss = ((CUT * (x @ w).squeeze() - target) ** 2).mean()
"""
OWN = """
class Descent:
    def __init__(self, params, lr):
        self.params, self.lr = list(params), lr
    def step(self):
        with ag.no_grad():
            for p in self.params:
                if p.grad is not None:
                    p -= self.lr * p.grad
                    p.grad = None
"""
TRAINED = {  # what stands before, the lines of the loop around, what stands behind the loss
    "once": ("", "", "loss.backward(); print(k.grad)"),
    "by SGD": ("opt = optim.SGD([k, w], .01)", "for i in range(3):", "opt.zero_grad(); loss.backward(); opt.step()"),
    "by an optimizer of its own": (
        OWN + "opt = Descent([k, w], .01)",
        "for i in range(3):",
        "loss.backward(); opt.step()",
    ),
    "by a function": (
        "def update(params):\n    for p in params:\n        if p.grad is not None:\n            p.data -= .1 * p.grad",
        "for i in range(3):",
        "loss.backward(); update([k, w])",
    ),
}


def written(before, loop, behind, steps):
    """The script, and the line of the target in it."""
    indent = "    " if loop else ""
    body = textwrap.indent(steps.strip() + "\n" + behind, indent)
    source = "\n".join(filter(None, [HEAD.strip(), before.strip(), loop, body]))
    (at,) = [number for number, line in enumerate(source.splitlines(), 2) if "target = " in line]
    return source, at


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("how", TRAINED)
def test_a_target_is_not_blamed_for_the_cut_in_the_loss(linted, lines_of, how, cut):
    source, at = written(*TRAINED[how], STEPS.replace("CUT", cut))
    found = linted(source).only("no-gradient")
    assert f"`k` gets no gradient: `{cut}`" in found.cause and found.certainty == "likely"
    assert f"as does `k.exp()` (with gradients switched off) at line {at}." in found.cause
    assert lines_of(found, "cut") == [at, at + 1]
    assert found.fix.startswith(f"At line {at + 1}: {CUTS[cut]}")
    assert f"At line {at} gradients are switched off, which may be meant" in found.fix


@pytest.mark.parametrize("how", TRAINED)
def test_a_target_of_what_is_trained_is_right(linted, how):
    source, _ = written(*TRAINED[how], STEPS.replace("CUT", "k"))
    assert [each.cause for each in linted(source).lints] == []


def test_a_name_between_the_cut_and_the_loss(linted, lines_of):
    steps = STEPS.replace("loss = ((CUT", "scale = k.detach()\nscale = scale * 2\nloss = ((scale")
    source, at = written(*TRAINED["by SGD"], steps)
    found = linted(source).only("no-gradient")
    assert "`k.detach()`" in found.cause and lines_of(found, "cut") == [at, at + 1]


def test_what_goes_into_no_loss_is_no_cut_of_it(linted, lines_of):
    steps = STEPS.replace("- target", "- y.squeeze()").replace("CUT", "k.detach()")
    source, at = written(*TRAINED["by SGD"], steps + "print(target.mean())")
    found = linted(source).only("no-gradient")
    assert found.certainty == "certain" and lines_of(found, "cut") == [at + 1]


def test_a_number_that_is_only_kept_is_no_cut_of_the_loss(linted, lines_of):
    steps = STEPS.replace("loss = ((CUT", "history.append(float(k))\nloss = ((1")
    source, at = written(*TRAINED["by SGD"], steps)
    found = linted(source.replace("import", "history = []; import", 1)).only("no-gradient")
    assert found.certainty == "certain" and lines_of(found, "cut") == [at]


# ----- evaluations -----

NETS = """
net, head = nn.Sequential(nn.Linear(3, 2)), nn.Linear(2, 1)
opt = optim.SGD([*net.parameters(), *head.parameters()], .01)
"""  # lines 5 and 6
EVALUATED = {
    "in a function": "def evaluate():\n    with ag.no_grad():\n        return ((head(net(x)) - y) ** 2).mean().item()\nprint(evaluate())",
    "a decorated one": "@ag.no_grad()\ndef evaluate():\n    out = head(net(x))\n    return ((out - y) ** 2).mean().item()\nprint(evaluate())",
    "in a block": "with ag.no_grad():\n    out = head(net(x))\n    loss = ((out - y) ** 2).mean()\nprint(loss.item())",
    "kept": "losses = []\nwith ag.no_grad():\n    losses.append(((head(net(x)) - y) ** 2).mean().item())",
}
WRONG = {
    "detached": ("h = net(x).detach()", "net(x).detach()", "detach()"),
    "without gradients": ("with ag.no_grad():\n        h = net(x)", "net(x)", "move it out"),
    "the weight alone": ("h = F.linear(x, net[0].weight.detach())", "net[0].weight.detach()", "detach()"),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("how", EVALUATED)
def test_an_evaluation_before_the_loop_is_not_blamed(linted, lines_of, how, wrong):
    line, cut, fix = WRONG[wrong]
    source = f"{HEAD}{NETS.strip()}\n{EVALUATED[how]}\nfor i in range(3):\n    {line}\n    out = head(h)\n"
    source += "    loss = ((out - y) ** 2).mean()\n    opt.zero_grad(); loss.backward(); opt.step()"
    first, *others = linted(source).lints
    at = 1 + next(
        number
        for number, text in enumerate(source.strip().splitlines(), 1)
        if f"h = {line.partition('h = ')[2]}" in text
    )
    assert first.kind == "no-gradient" and first.certainty == "certain" and lines_of(first, "cut") == [at]
    assert f"`{cut}`" in first.cause and fix in first.fix
    # The bias that F.linear() was not given is in no loss: nothing of it was computed but the evaluation.
    assert [(each.kind, each.certainty, lines_of(each, "cut")) for each in others] == (
        [("no-gradient", "likely", [])] if wrong == "the weight alone" else []
    )


# ----- several optimizers -----

ACTOR = """
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 1)
    def forward(self, s):
        return self.net(s).tanh()
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 1)
    def forward(self, s, a):
        return self.q(ag.cat([s, a], 1))
actor, critic, target = Actor(), Critic(), Critic()
target.load_state_dict(critic.state_dict())
ao, co = optim.Adam(actor.parameters(), 1e-3), optim.Adam(critic.parameters(), 1e-3)
for i in range(3):
    s, s2, a, r = ag.randn(8, 3), ag.randn(8, 3), ag.randn(8, 1), ag.randn(8, 1)
    with ag.no_grad():
        a2 = actor(s2)
        goal = r + .99 * target(s2, a2)
    closs = ((critic(s, a) - goal) ** 2).mean()
    co.zero_grad(); closs.backward(); co.step()
    act = actor(s)
    aloss = -critic(s, act).mean()
    ao.zero_grad(); aloss.backward(); ao.step()
    with ag.no_grad():
        for p, q in zip(target.parameters(), critic.parameters()):
            p.mul_(.99).add_(q * .01)
"""


def test_an_actor_and_a_critic_are_right(linted):
    assert [each.cause for each in linted(ACTOR).lints] == []


def test_an_actor_that_is_detached_in_its_own_loss(linted, lines_of):
    found = linted(ACTOR.replace("act = actor(s)", "act = actor(s).detach()")).only("no-gradient")
    assert "`actor(s).detach()` at line 24" in found.cause and found.certainty == "certain"
    assert lines_of(found, "cut") == [24]


def test_an_actor_that_runs_without_gradients_for_its_own_loss(linted, lines_of):
    source = ACTOR.replace("    act = actor(s)\n", "    with ag.no_grad():\n        act = actor(s)\n")
    found = linted(source).only("no-gradient")
    assert found.certainty == "certain" and lines_of(found, "cut") == [7] and lines_of(found, "switched off") == [24]
    assert found.fix.startswith("At line 7: move it out") and "(line 24)" in found.fix


def test_what_only_went_into_the_loss_of_another_optimizer(linted, lines_of):
    source = ACTOR.replace("act = actor(s)", "act = (s @ actor.net.weight.data.t()).tanh()")
    cut, rest = linted(source).lints
    assert "`net.weight` gets no gradient: `actor.net.weight.data`" in cut.cause and cut.certainty == "certain"
    assert "`net.bias` gets no gradient: nothing is computed from it" in rest.cause and rest.certainty == "likely"


MULTIPLIER = """
w, lam = nn.Parameter(ag.randn(3)), nn.Parameter(ag.tensor(1.))
ow, ol = optim.SGD([w], .1), optim.SGD([lam], .1)
for i in range(3):
    c = (w ** 2).sum() - 1
    loss = w.sum() + lam.detach() * c
    ow.zero_grad(); loss.backward(); ow.step()
    c = (w ** 2).sum() - 1
    dual = -(USED * c)
    ol.zero_grad(); dual.backward(); ol.step()
"""


def test_a_number_in_the_loss_of_its_optimizer_and_a_detach_in_another(linted, lines_of):
    found = linted(MULTIPLIER.replace("USED", "float(lam)")).only("no-gradient")
    assert "`lam` gets no gradient: `float(lam)` at line 9" in found.cause and found.certainty == "likely"
    assert lines_of(found, "cut") == [6, 9] and "At line 6 it may be meant" in found.fix


def test_a_multiplier_is_right(linted):
    assert [each.cause for each in linted(MULTIPLIER.replace("USED", "lam")).lints] == []


ONE_NET = """
net = nn.Linear(3, 2)
scale = nn.Parameter(ag.ones(2))
opt = optim.SGD([*net.parameters(), scale], .01)
for i in range(3):
    s, s2, r = ag.randn(8, 3), ag.randn(8, 3), ag.randn(8, 1)
    with ag.no_grad():
        goal = r + .9 * net(s2).max(1, keepdim=True).values
    loss = ((net(s).detach() * scale - goal) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""


def test_one_net_that_gives_the_target_and_is_detached(linted, lines_of):
    found = linted(ONE_NET).only("no-gradient")
    assert found.certainty == "likely" and lines_of(found, "cut") == [8, 9]
    assert found.fix.startswith("At line 9: leave out the detach()")


def test_one_net_that_gives_the_target_is_right(linted):
    assert [each.cause for each in linted(ONE_NET.replace(".detach()", "")).lints] == []


def test_two_blocks_before_one_loss(linted, lines_of):
    found = linted(
        ACTOR.split("for i")[0]
        + """
opt = optim.SGD([*actor.parameters(), *critic.parameters()], .01)
for i in range(3):
    s = ag.randn(8, 3)
    with ag.no_grad():
        one = actor(s)
    with ag.no_grad():
        other = actor(s + 1)
    loss = (critic(s, one) - other).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
    ).only("no-gradient")
    assert found.certainty == "likely" and lines_of(found, "switched off") == [21, 23]
    assert "At line 23 gradients are switched off, which may be meant" in found.fix


# ----- without an optimizer of the library -----

ELSEWHERE = """
k, w = nn.Parameter(ag.tensor(0.5)), nn.Parameter(ag.randn(3))
x = ag.randn(8, 3)
def model(scale, weight):
    return USED * (x @ weight)
def train(a, b):
    for i in range(3):
        model(weight=b, scale=a).pow(2).mean().backward()
        for n, p in enumerate([a, b]):
            if p.grad is not None:
                p.data -= .1 * p.grad
                p.grad = None
train(k, w)
"""


@pytest.mark.parametrize("used", ["float(scale)", "scale.detach()", "scale.data"])
def test_a_leaf_that_a_function_calls_otherwise(linted, lines_of, used):
    found = linted(ELSEWHERE.replace("USED", used)).only("no-gradient")
    assert f"gets no gradient: `{used}` at line 5" in found.cause and lines_of(found, "cut") == [5]


@pytest.mark.parametrize("used", ["scale", "(scale + scale.detach())"])
def test_a_leaf_that_a_function_calls_otherwise_and_uses_is_right(linted, used):
    assert [each.cause for each in linted(ELSEWHERE.replace("USED", used)).lints] == []


@pytest.mark.parametrize("taken", ["data", "detach()"])
@pytest.mark.parametrize("made", ["w.requires_grad_()", "w.requires_grad = True", "w = nn.Parameter(w)"])
def test_a_leaf_that_is_made_on_two_lines_of_one_without_a_name_is_right(linted, taken, made):
    source = f"w = (nn.Parameter(ag.randn(3)) * .1).{taken}\n{made}\nx = ag.randn(8, 3)\nfor i in range(3):\n"
    source += "    (x @ w - 1).pow(2).mean().backward()\n    w.data -= .1 * w.grad\n    w.grad = None"
    assert [each.cause for each in linted(source).lints] == []


# ----- the walk over the source -----

WALKS = {  # statements, the first of which computes the value; the lines that have it; what has it at the end
    "given on": ("a = f()\nb = a + 1\nc = 2", [1, 2], {"a", "b"}),
    "given away": ("a = f()\na = 1\nb = a", [1], set()),
    "pairs": ("a = f()\nb, c = a, 1", [1, 2], {"a", "b"}),
    "unpacked": ("a, *b = f()\nc = b", [1, 2], {"a", "b", "c"}),
    "put into a list": ("a = f()\nb.append(a)\nfor c in b: d = c", [1, 2, 3], {"a", "b", "c", "d"}),
    "a key": ("a = f()\nb['x'] = a\nb['y'] = 1", [1, 2], {"a", "b"}),
    "written in place": ("a = f()\nb.copy_(a)\nb += 1", [1, 2, 3], {"a", "b"}),
    "one of two branches": ("a = f()\nif x: a = 1\nelse: b = a", [1, 3], {"a", "b"}),
    "the next turn": ("for i in x:\n    b = a\n    a = f()", [2, 3], {"a", "b"}),
    "an attribute": ("self.a = f()\nb = self.a.sum()\nc = self.d", [1, 2], {"self.a", "b"}),
    "a condition": ("a = f()\nif a > 1: b = 2\nwhile a: c = 1", [1], {"a"}),
    "handled": ("a = f()\ntry: b = a\nexcept E: c = 1\nfinally: d = b", [1, 2, 4], {"a", "b", "d"}),
    "in a block": ("a = f()\nwith x: (b := a)", [1, 2], {"a", "b"}),
    "matched": ("a = f()\nmatch x:\n    case 1: b = a\n    case _: a = 1", [1, 3], {"a", "b"}),
    "declared": ("a: T = f()\nb: T = a\nc: T", [1, 2], {"a", "b"}),
}


@pytest.mark.parametrize("name", WALKS)
def test_where_a_value_goes(name):
    source, lines, names = WALKS[name]
    body = ast.parse(source).body
    seeds = {
        id(each) for top in body for each in ast.walk(top) if isinstance(each, ast.stmt) and "f()" in ast.unparse(each)
    }
    taint = Taint(frozenset(seeds))
    taint.run(body)
    assert sorted({each.lineno for each in taint.touched}) == lines and taint.names == names


def test_a_value_that_is_returned():
    taint = Taint(frozenset())
    taint.names.add("a")
    taint.run(ast.parse("def f():\n    return a").body[0].body)
    assert taint.returned


CODEBOOK = """
book = nn.Parameter(ag.ones(4, 2))
enc = nn.Linear(3, 2)
opt = optim.SGD([*enc.parameters(), book], lr=0.1)
for i in range(3):
    z = enc(ag.ones(2, 3))
    q = book[ag.tensor([0, 1])]
    st = STRAIGHT
    codebook = ((q.detach() - z.detach()) ** 2).mean()
    commit = ((z - q.detach()) ** 2).mean()
    opt.zero_grad()
    ((st ** 2).mean() + codebook + commit).backward()
    opt.step()
"""


@pytest.mark.parametrize(
    "straight", ["z + (q - z).detach()", "(q - z).detach() + z", "z + (q - z).data", "ag.add(z, (q - z).detach())"]
)
def test_a_straight_through_estimator_is_not_blamed_before_the_loss_of_the_codebook(linted, lines_of, straight):
    found = linted(CODEBOOK.replace("STRAIGHT", straight)).only("no-gradient")
    assert "`book` gets no gradient: `q.detach()`" in found.cause
    assert sorted(lines_of(found, "cut")) == [8, 9, 10]


def test_a_straight_through_estimator_alone_is_the_cut(linted):
    source = CODEBOOK.replace("STRAIGHT", "z + (q - z).detach()").replace(" + codebook + commit", "")
    source = source.replace(
        "    codebook = ((q.detach() - z.detach()) ** 2).mean()\n    commit = ((z - q.detach()) ** 2).mean()\n", ""
    )
    assert "`book` gets no gradient: `(q - z).detach()`" in linted(source).only("no-gradient").cause
