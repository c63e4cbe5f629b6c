"""Parameters without a gradient: why, and on which line; what is left without one on purpose is no fault."""

import pytest

from agdbg.diagnose import lint

NET = """
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
opt = optim.SGD(net.parameters(), lr=.1)
x = ag.ones(4, 2)
"""  # the script goes on in line 5
LIBRARY = """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
    @ag.no_grad()
    def forward(self, x):
        return self.a(x)
net = nn.Sequential(Encoder(), nn.Linear(3, 1))
opt = optim.SGD(net.parameters(), lr=.1)
for i in range(2):
    opt.zero_grad()
    net(ag.ones(4, 2)).sum().backward()
    opt.step()
"""
UNUSED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.extra = nn.Linear(2, 3)
        self.scale = nn.Parameter(ag.ones(3))
    def forward(self, x):
        return self.a(x)
net = Net()
opt = optim.Adam(net.parameters())
for i in range(2):
    opt.zero_grad()
    net(ag.ones(4, 2)).sum().backward()
    opt.step()
"""
COPIED = """
def helper(h):
    h = h.detach()
    h.requires_grad = True
    return h
x = ag.ones(3, requires_grad=True)
y = helper(x * 2)
(y * y).sum().backward()
"""
NONE_RETURNED = """
class Scale(ag.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b
    @staticmethod
    def backward(ctx, g):
        return g, None
net, w = nn.Linear(2, 2), nn.Parameter(ag.ones(2))
opt = optim.SGD([w, *net.parameters()], lr=.1)
Scale.apply(net(ag.ones(1, 2)), w * 2).sum().backward()
opt.step()
"""

CUTS = {  # the script, what the cause says, the lines of the cut, what the fix says
    "29 helper": (COPIED, "Leaf `x` gets no gradient: `h.detach()` at line 3", [3], "leave out the detach()"),
    "29 rewrapped": (
        NET + "h = net[0](x)\nnet[2](ag.tensor(h, requires_grad=True)).sum().backward()\nopt.step()",
        "Parameters `0.weight` and `0.bias` get no gradient: `ag.tensor(h, requires_grad=True)`",
        [6],
        "use the tensor itself",
    ),
    "29 as a parameter": (
        NET + "h = nn.Parameter(net[0](x))\nnet[2](h).sum().backward()\nopt.step()",
        "`0.weight` and `0.bias` get no gradient: `nn.Parameter(net[0](x))`",
        [5],
        "use the tensor itself",
    ),
    "a list of numbers": (
        NET + "h = net[0](x)\nz = ag.tensor([h[0, 0], h[0, 1], h[0, 2]])\nnet[2](z).sum().backward()\nopt.step()",
        "`0.weight` and `0.bias`",
        [6],
        "stack() for a list of tensors",
    ),
    "data": (
        NET + "h = net[0](x)\nnet[2](h.data).sum().backward()\nopt.step()",
        "`h.data` at line 6",
        [6],
        "not its .data",
    ),
    "numpy": (
        NET + "h = net[0](x)\nh = ag.from_numpy(np.tanh(h.detach().numpy()))\nnet[2](h).sum().backward()\nopt.step()",
        "`h.detach()` at line 6",
        [6],
        "instead of NumPy",
    ),
    "tolist": (
        NET + "h = net[0](x).tolist()\nnet[2](ag.tensor(h)).sum().backward()\nopt.step()",
        "`net[0](x).tolist()` at line 5",
        [5],
        "only for what is printed",
    ),
    "item": (
        NET + "s = net[0](x).sum().item()\n(net[2](ag.ones(1, 3)) * s).sum().backward()\nopt.step()",
        "`net[0](x).sum().item()` at line 5",
        [5],
        "only for what is printed",
    ),
    "31 comparison": (
        NET + "h = net[0](x)\npick = (h > 0).float()\nnet[2](pick).sum().backward()\nopt.step()",
        "`h > 0` (an integer or bool result) at line 6",
        [6],
        "floating-point values before it",
    ),
    "31 argmax": (
        NET + "h = net[0](x)\nk = h.argmax(1)\nnet[2](ag.eye(3)[k]).sum().backward()\nopt.step()",
        "`h.argmax(1)`",
        [6],
        "floating-point values before it",
    ),
    "31 conversion": (
        NET + "h = net[0](x)\nk = h.long()\nnet[2](k.float()).sum().backward()\nopt.step()",
        "`h.long()`",
        [6],
        "floating-point",
    ),
    "32 a library's no_grad": (
        LIBRARY,
        "Parameters `0.a.weight` and `0.a.bias` get no gradient: `self.a(x)` (with gradients switched off) at line 8",
        [8],
        "move it out of the part where gradients are switched off",
    ),
    "the weight's data": (
        NET + "h = x @ net[0].weight.data.t() + net[0].bias\nnet[2](ag.relu(h)).sum().backward()\nopt.step()",
        "Parameter `0.weight` gets no gradient: `net[0].weight.data` at line 5",
        [5],
        "not its .data",
    ),
    "in a loop": (
        NET + "for i in range(3):\n    h = net[0](x).detach()\n    net[2](h).sum().backward()\n    opt.step()",
        "`net[0](x).detach()` at line 6",
        [6],
        "leave out the detach()",
    ),
}


@pytest.mark.parametrize("name", CUTS)
def test_the_line_of_the_cut(linted, lines_of, name):
    source, cause, cut, fix = CUTS[name]
    found = linted(source).only("no-gradient")
    assert cause in found.cause and lines_of(found, "cut") == cut and fix in found.fix and found.certainty == "certain"
    if source.startswith(NET):
        assert lines_of(found, "optimizer") == [3]


def test_a_helper_that_cuts_for_two_callers(linted):
    found = linted(
        NET + "stop = lambda t: t.detach()\nh = stop(net[0](x))\ng = stop(ag.relu(net[2](h)))\n"
        "w = ag.ones(1, requires_grad=True)\n(g * w).sum().backward()\nopt.step()"
    ).only("no-gradient")
    assert "`0.weight`" in found.cause and "`2.weight`" in found.cause


def test_33_an_unused_layer_and_an_unused_parameter(linted, lines_of):
    idle, unused = linted(UNUSED).lints
    assert idle.cause == "Parameters `extra.weight` and `extra.bias` get no gradient: their layers never run." or (
        unused.cause == "Parameters `extra.weight` and `extra.bias` get no gradient: their layers never run."
    )
    assert {each.kind for each in (idle, unused)} == {"no-gradient"} and lines_of(idle, "optimizer") == [11]
    assert any("`scale` gets no gradient: nothing is computed from it" in each.cause for each in (idle, unused))


def test_a_second_head_that_no_loss_uses(linted, lines_of):
    found = linted(
        NET + "other = nn.Linear(2, 1)\nopt2 = optim.SGD(other.parameters(), lr=.1)\naux = other(x).sum()\n"
        "net(x).sum().backward()\nopt.step()\nopt2.step()"
    ).only("no-gradient")
    assert "no call of backward() comes from there" in found.cause and lines_of(found, "made") == [7]


def test_33_a_frozen_one_is_told_on_request(linted):
    (found,) = linted(NET + "net[0].requires_grad_(False)\nnet(x).sum().backward()\nopt.step()").remarked("no-gradient")
    assert "are frozen (requires_grad=False)" in found.cause and found.fix.startswith("Nothing, if that is meant")


def test_a_backward_that_returns_none(linted, lines_of):
    found = linted(NONE_RETURNED).only("no-gradient")
    assert "`w` gets no gradient: the backward of ScaleBackward at line 11 returns None" in found.cause
    assert lines_of(found, "refused") == [11]


def test_34_none_is_not_zero(linted):
    ran = linted("w = ag.ones(3, requires_grad=True)\n(w * 0 + 1).sum().backward()")
    (found,) = ran.remarked("zero-gradient")
    assert "Leaf `w` gets a gradient that is zero throughout: it is there, and not None" in found.cause


def test_34_rounding_has_a_gradient_of_zeros(linted):
    ran = linted(
        "ag.manual_seed(0)" + NET + "net[2](net[0](x).round()).sum().backward()\nopt.step()"
    )  # not 0 everywhere
    assert "`0.weight` and `0.bias` get gradients of zeros alone" in ran.only("zero-gradient").cause
    assert not [each for each in ran.remarks if each.kind == "zero-gradient"]


# ----- copies that are no leaves -----

COPIES = {
    "28 dtype": "x = ag.ones(3, requires_grad=True)\nx = x.to(ag.float64)\n(x * x).sum().backward()\nprint(x.grad)",
    "28 in a loop": "w = ag.ones(3, requires_grad=True)\nw = w.double()\nfor i in range(2):\n    (w + 1).sum().backward()\n    print(w.grad)",
    "28 scaled": "w = ag.randn(3, requires_grad=True) * 0.1\n(w * w).sum().backward()\nprint(w.grad)",
    "28 in a function": (
        "def main():\n    w = ag.ones(3, requires_grad=True).double()\n    (w * w).sum().backward()\n    return w.grad\nmain()"
    ),
    "updated": (
        "w = ag.ones(3, requires_grad=True)\nfor i in range(2):\n    (w * w).sum().backward(); w = w - .1 * w.grad\n"
    ),
    "a parameter": (
        "class M(nn.Module):\n    def __init__(self): super().__init__(); "
        "self.w = nn.Parameter(ag.ones(3)).double()\n"
        "m = M()\n(m.w * m.w).sum().backward()"
    ),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_name_for_a_copy_of_a_leaf(linted, lines_of, name):
    found = linted(COPIES[name]).only("non-leaf")
    line = {"updated": 4, "28 scaled": 2}.get(name, 3)
    assert lines_of(found, "copied") == [line] and "is a non-leaf copy of a leaf" in found.cause


READ = {  # what no source tells: the line that made it, the cause
    "in a list": (
        "xs = [ag.ones(2, requires_grad=True) for i in range(2)]\nxs = [x.double() for x in xs]\n"
        "sum((x * x).sum() for x in xs).backward()\nprint(xs[1].grad)",
        3,
        "`xs[1]` is a non-leaf copy of a leaf since `x.double()` at line 3",
    ),
    "an intermediate result": (
        "x = ag.ones(2, requires_grad=True)\nh = ag.exp(x * 2)\n(h * h).sum().backward()\nprint(h.grad)",
        3,
        "`h`, made by `ag.exp(x * 2)` at line 3, is no leaf: the gradient goes through it and on to the leaves, and `h.grad`",
    ),
}


@pytest.mark.parametrize("name", READ)
def test_the_engine_tells_what_was_read(linted, lines_of, name):
    source, copied, cause = READ[name]
    found = linted(source).only("non-leaf")
    assert cause in found.cause and lines_of(found, "copied") == [copied] and lines_of(found, "read") == [5]
    assert found.certainty == "certain"


TESTED = {  # a test of the gradient of what a leaf has lost its name to; what the test always is
    "a parameter": ("w = nn.Parameter(ag.ones(3)) * 0.1", "w.grad is None", "always"),
    "converted": ("w = ag.ones(3, requires_grad=True)\nw = w.double()", "w.grad is not None", "never"),
    "in two steps": ("w = (ag.ones(3, requires_grad=True) * 0.1).double()", "w.grad is None", "always"),
}


@pytest.mark.parametrize("made, test, truth", TESTED.values(), ids=TESTED)
def test_a_test_of_a_gradient_that_went_to_a_leaf_without_a_name(linted, lines_of, made, test, truth):
    found = linted(f"{made}\n(w * w).sum().backward()\nif {test}:\n    print('so')").only("non-leaf")
    assert found.certainty == "likely" and f"this test is {truth} true" in found.evidence[-1].note
    assert lines_of(found, "read") == [4 + made.count("\n")]


BY_SOURCE = "x = ones(3)\nx = x.to(device)\nloss = x.sum()\nloss.backward()\nprint(x.grad)"


@pytest.mark.parametrize(
    ("source", "speaks"), [(BY_SOURCE, True), (BY_SOURCE.replace("print(x.grad)", "print(x)"), False)]
)
def test_of_another_engine_the_source_tells(made_up, lines_of, source, speaks):
    told = made_up(source)
    told.leaf("x")
    told.node("c", "ToCopyBackward0", 2, "x.to(device)", ["x"])
    told.node("s", "SumBackward0", 3, "x.sum()", ["c"])
    told.backward(4, "s", "c", "x")
    found = [each for each in lint(told.facts()) if each.kind == "non-leaf"]
    assert [each.certainty for each in found] == ["likely"] * speaks
    assert [lines_of(each, "read") for each in found] == [[5]] * speaks


NO_COPIES = {
    "tested": "x = ag.ones(3, requires_grad=True)\ny = x * 2\ny.sum().backward()\nprint(y.grad is not None)",
    "tested by if": "x = ag.ones(3, requires_grad=True)\ny = x * 2\ny.sum().backward()\nif y.grad is None:\n    print(x.grad)",
    "tested, the leaf has a name": "y = (x := ag.ones(3, requires_grad=True)) * 2\ny.sum().backward()\nif y.grad is None:\n    print(x.grad)",
    "tested, with retain_grad": "w = nn.Parameter(ag.ones(3)) * 2\nw.retain_grad()\nw.sum().backward()\nif w.grad is None:\n    print(1)",
    "an argument": "def f(x):\n    x = x.double()\n    return (x * x).sum()\nx = ag.ones(3, requires_grad=True)\nf(x).backward()\nx.grad",
    "kept": "x = ag.ones(3, requires_grad=True)\nx = x * 2\nx.retain_grad()\n(x * x).sum().backward()\nx.grad",
    "a leaf again": (
        "x = ag.ones(3, requires_grad=True)\nfor i in range(3):\n    (x * x).sum().backward()\n"
        "    x = (x + .1 * x.grad.sign()).detach().requires_grad_(True)"
    ),
    "nothing is read": "x = ag.ones(3, requires_grad=True)\nx = x * 2\n(x * x).sum().backward()",
    "the same dtype": "x = ag.ones(3, requires_grad=True)\nx = x.to(ag.float32)\n(x * x).sum().backward()\nx.grad",
}


@pytest.mark.parametrize("name", NO_COPIES)
def test_what_is_a_leaf_or_need_be_none(linted, name):
    assert linted(NO_COPIES[name]).lints == []


# ----- optimizers -----


def test_33_replaced_after_the_optimizer_was_built(linted, lines_of):
    found = linted(
        NET
        + "net[2] = nn.Linear(3, 2)\nfor i in range(2):\n    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()"
    ).only("not-optimized")
    assert "Parameters `2.weight` and `2.bias` get gradients and no optimizer has them: SGD at line 3" in found.cause
    assert lines_of(found, "optimizer") == [3] and found.certainty == "likely"


def test_33_replaced_after_a_first_pass(linted):
    found = linted(
        NET + "net(x).sum().backward()\nnet[2].weight = nn.Parameter(ag.zeros(1, 3))\nfor i in range(2):\n"
        "    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()"
    ).only("not-optimized")
    assert "Parameter `2.weight` gets gradients and no optimizer has it" in found.cause and found.certainty == "certain"


def test_a_layer_in_a_plain_list(linted):
    found = linted("""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.more = [nn.Linear(3, 3), nn.Linear(3, 3)]
    def forward(self, x):
        for layer in self.more:
            x = layer(self.a(x) if layer is self.more[0] else x)
        return x
net = Net()
opt = optim.Adam(net.parameters())
for i in range(2):
    opt.zero_grad()
    net(ag.ones(4, 2)).sum().backward()
    opt.step()
""").only("not-optimized")
    assert "`Net.forward` calls 2 modules that are no part of it" in found.cause and "nn.ModuleList" in found.fix


MADE_IN_FORWARD = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
    def forward(self, x):
        h = self.a(x)
        if not hasattr(self, "proj"): self.proj = nn.Linear(3, 1)
        return self.proj(h)
net = Net()
opt = optim.SGD(net.parameters(), lr=.1)
for i in range(3):
    opt.zero_grad()
    net(ag.ones(4, 2)).sum().backward()
    opt.step()
"""


def test_a_layer_that_is_made_in_forward(linted, lines_of):
    found = linted(MADE_IN_FORWARD).only("not-optimized")
    assert "`proj.weight` and `proj.bias` are made in forward(), after SGD at line 11 was built" in found.cause
    assert lines_of(found, "optimizer") == [11]


@pytest.mark.parametrize(
    "how", ["other = copy.deepcopy(net)", "other = nn.Sequential(*[nn.Linear(2, 3), nn.Linear(3, 1)])"]
)
def test_another_model_is_trained_than_the_optimizer_has(linted, how):
    found = linted(
        NET
        + f"import copy\n{how}\nfor i in range(2):\n    opt.zero_grad()\n    other(x).sum().backward()\n    opt.step()"
    ).only("not-optimized")
    assert "get gradients and no optimizer has them: SGD at line 3" in found.cause and found.certainty == "likely"


def test_what_may_be_left_out_on_purpose_is_a_remark(linted):
    ran = linted(NET + "net.append(nn.Linear(1, 1))\nfor i in range(2):\n    net(x).sum().backward()\n    opt.step()")
    (found,) = ran.remarked("not-optimized")
    assert "Parameters `3.weight` and `3.bias` get gradients and no optimizer has them." == found.cause


COPIED = """
net = nn.Linear(3, 1)
opt = optim.SGD([COPIES for p in net.parameters()], 0.1)
for i in range(3):
    opt.zero_grad(); net(ag.randn(4, 3)).pow(2).mean().backward(); opt.step()
"""


@pytest.mark.parametrize("copies", ["p.clone().detach().requires_grad_()", "p.detach().clone().requires_grad_()"])
def test_an_optimizer_that_was_built_with_copies(linted, lines_of, copies):
    found = linted(COPIED.replace("COPIES", copies)).only("not-optimized")
    assert lines_of(found, "optimizer") == [3] and "was built with copies" in found.cause
    assert "`model.parameters()`" in found.fix


def test_an_optimizer_with_the_parameters_themselves_is_right(linted):
    assert linted(COPIED.replace("COPIES", "p")).lints == []


@pytest.mark.parametrize(
    "made",
    [
        "w = (nn.Parameter(ag.randn(3)) * 0.1).detach().requires_grad_()",
        "w = (nn.Parameter(ag.randn(3)) * 0.1).detach()\nw.requires_grad_()",
        "w = nn.Parameter((nn.Parameter(ag.randn(3)) * 0.1).detach())",
        "w = (nn.Parameter(ag.randn(3)) * 0.1).detach().clone().requires_grad_()",
        "w = nn.Parameter((ag.randn(3, requires_grad=True) * 0.1).data)",
    ],
)
def test_a_leaf_without_a_name_that_gave_its_values_to_another_is_no_fault(linted, made):
    assert linted(f"{made}\n(w * w).sum().backward()\nassert w.grad is not None").lints == []


def test_a_leaf_without_a_name_that_is_cut_off_is_one(linted, lines_of):
    found = linted(
        "w = (nn.Parameter(ag.randn(3)) * 0.1).detach()\nb = ag.zeros(3, requires_grad=True)\n(w + b).sum().backward()"
    )
    assert lines_of(found.only("no-gradient"), "cut") == [2]


PLAIN = """
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = ag.ones(4, requires_grad=True)
    def forward(self, x):
        return x * self.gamma
net = nn.Sequential(nn.Linear(3, 4), Scale(), nn.Linear(4, 1))
opt = optim.SGD(net.parameters(), 0.1)
for i in range(3):
    opt.zero_grad(); net(ag.ones(5, 3)).pow(2).mean().backward(); opt.step()
"""


def test_a_plain_tensor_of_a_module_that_nothing_trains(linted, lines_of):
    found = linted(PLAIN).only("not-optimized")
    assert "`self.gamma` at line 7 gets gradients and no optimizer has it" in found.cause
    assert (lines_of(found, "used"), lines_of(found, "optimizer")) == ([7], [9])
    assert "nn.Parameter(...)" in found.fix and found.certainty == "likely"


@pytest.mark.parametrize(
    "old, new",
    [
        ("ag.ones(4, requires_grad=True)", "nn.Parameter(ag.ones(4))"),
        ("net.parameters()", "[*net.parameters(), net[1].gamma]"),
        ("opt.step()", "opt.step(); net[1].gamma.data.sub_(0.1 * net[1].gamma.grad)"),
        ("range(3)", "range(1)"),
    ],
)
def test_a_plain_tensor_that_is_trained_is_right(linted, old, new):
    assert linted(PLAIN.replace(old, new)).lints == []


FLAT = "net = nn.Linear(3, 3)\nout = nn.Linear(3, 1)\nh = net(ag.ones(4, 3))\nHOW\nout(y).mean().backward()\n"


@pytest.mark.parametrize("how", ["y = ag.round(h)", "y = ag.sign(h)", "y = h.floor()"])
def test_an_op_whose_derivative_is_zero_everywhere(linted, lines_of, how):
    found = linted(FLAT.replace("HOW", how)).only("zero-gradient")
    assert "`weight` and `bias` get gradients of zeros alone" in found.cause and found.certainty == "likely"
    assert lines_of(found, "zeros") == [5]


def test_a_gradient_that_passes_straight_through_is_right(linted):
    assert linted(FLAT.replace("HOW", "y = h + (ag.round(h) - h).detach()")).lints == []


DEAD = """
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
with ag.no_grad():
    net[0].bias.fill_(BIAS)
opt = optim.SGD(net.parameters(), 0.01)
for i in range(3):
    opt.zero_grad(); net(ag.ones(4, 3)).pow(2).mean().backward(); opt.step()
"""


def test_a_relu_that_is_never_active(linted):
    found = linted(DEAD.replace("BIAS", "-100.")).only("zero-gradient")
    assert "in layer `1` (ReLU)" in found.cause and found.certainty == "possible"
    assert "inactive everywhere in 3 passes" in found.cause


def test_a_relu_that_is_active_is_right(linted):
    assert linted(DEAD.replace("BIAS", "1.")).lints == []


HOOKED = """
from agdbg_engine import nn
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
def hook(module, *gradients):
    return ANSWER
model[2].REGISTER(hook)
model(ag.ones(4, 2)).sum().backward()
"""


@pytest.mark.parametrize(
    ("register", "answer", "names"),
    [
        (
            "register_full_backward_hook",
            "tuple(None if g is None else g * 0 for g in gradients[0])",
            "`0.weight` and `0.bias` get",
        ),
        (
            "register_full_backward_pre_hook",
            "(gradients[0][0] * 0,)",
            "`0.weight`, `0.bias`, `2.weight` and `2.bias` get",
        ),
    ],
)
def test_a_backward_hook_of_a_module_that_sends_zeros_on(lint_script, register, answer, names):
    run = lint_script(HOOKED.replace("REGISTER", register).replace("ANSWER", answer))
    found = run.only("zero-gradient")
    assert names in found.cause and "hook `hook` on `model[2]` at line 7 turns every gradient into zeros" in found.cause
    assert [(each.role, each.site.line) for each in found.evidence][:2] == [("registered", 9), ("hook", 7)]


@pytest.mark.parametrize("answer", ["None", "tuple(None if g is None else g * 0.5 for g in gradients[0])"])
def test_a_backward_hook_that_leaves_something_is_no_finding(lint_script, answer):
    run = lint_script(HOOKED.replace("REGISTER", "register_full_backward_hook").replace("ANSWER", answer))
    assert "zero-gradient" not in run.kinds()


REWRAPPED = {
    "item": ("v = ag.tensor([a.item(), 2.], requires_grad=True)", 3),
    "float": ("v = nn.Parameter(ag.tensor([float(a)]))", 3),
    "numpy": ("import numpy as np; v = ag.tensor(np.exp(a.detach().numpy()), requires_grad=True)", 3),
    "in a function": ("def f(p):\n    return ag.tensor(p.item(), requires_grad=True)\nv = f(a)", 4),
}


@pytest.mark.parametrize("name", REWRAPPED)
def test_a_leaf_whose_value_goes_into_a_new_leaf(linted, lines_of, name):
    source, line = REWRAPPED[name]
    found = linted(f"\na = ag.tensor(2., requires_grad=True)\n{source}\n(v * v).sum().backward()\n").only("no-gradient")
    assert found.cause.startswith(f"Parameter `{'p' if 'def' in source else 'a'}` gets no gradient: ")
    assert lines_of(found, "cut") == [line]


@pytest.mark.parametrize("also", [{"shapes"}, set()])
def test_a_leaf_that_is_made_anew_after_each_step_is_right(linted, also):
    source = """
w = ag.tensor([3.], requires_grad=True)
for i in range(3):
    (w * w).sum().backward()
    w = ag.tensor(w.detach().numpy() - 0.1 * w.grad.numpy(), requires_grad=True)
"""
    assert linted(source, also).lints == []


@pytest.mark.parametrize(
    ("apply", "named"),
    [
        ("Scale.apply(theta, 2.0)", "Leaf `theta` gets"),
        ("Scale.apply(2.0, theta)", "Leaf `theta` gets"),
        ("Scale.apply(other, theta)", "Leaf `theta` gets"),
        ("Scale.apply(theta, two)", "A leaf that requires grad gets"),  # two is no tensor, which the line does not tell
    ],
)
def test_a_leaf_that_a_custom_function_was_given(linted, apply, named):
    found = linted(
        "class Scale(ag.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, a, b):\n"
        "        return a * b\n"
        "    @staticmethod\n"
        "    def backward(ctx, grad):\n"
        "        return None, None\n"
        "other, theta, two = ag.ones(3), ag.ones(3, requires_grad=True), 2.0\n"
        f"{apply}.sum().backward()\n"
    ).only("no-gradient")
    assert found.cause.startswith(named)
