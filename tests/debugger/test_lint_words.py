"""What a finding says of the mathematics, of masks, of bare parameters, of guards, and of where gradients were switched off."""

import pytest

# ----- the gradient of what is linear -----

PRODUCT = """
x, A = ag.ones(3, requires_grad=True), ag.ones(3, 3, requires_grad=True)
y = (A @ x).sum()
g, = ag.autograd.grad(y, x, create_graph=True)
h, = ag.autograd.grad(g.sum(), x)
"""
LAYER = """
net = nn.Linear(2, 1)
def hvp(f, x, v):
    g, = ag.autograd.grad(f(x).sum(), x, create_graph=True)
    return ag.autograd.grad((g * v).sum(), x)[0]
hvp(net, ag.ones(3, 2, requires_grad=True), ag.ones(3, 2))
"""
OTHER = """
x, A = ag.ones(3, requires_grad=True), ag.ones(3, 3, requires_grad=True)
g, = ag.autograd.grad((A @ x).pow(2).sum(), x, create_graph=True)
x = x.detach().requires_grad_()
h, = ag.autograd.grad(g.sum(), x)
"""


@pytest.mark.parametrize("source", [PRODUCT, LAYER])
def test_a_function_that_is_linear_in_what_it_is_differentiated_by(linted, lines_of, source):
    (found,) = linted(source).diagnosed
    assert found.kind == "none-grad" and lines_of(found, "first call") == [4]
    assert "is linear in `x`, so its gradient is constant in `x`, and the derivative of that is 0" in found.cause


def test_another_tensor_of_the_same_name_is_told_as_before(linted):
    (found,) = linted(OTHER).diagnosed
    assert "was not computed from `x`" in found.cause and "another one that was called `x`" in found.fix


# ----- NaN of what was finite -----


def test_zero_times_infinity_where_nothing_was_bad_in_forward(linted):
    found = linted("""
x = ag.tensor([0.0, 4.0], requires_grad=True)
m = x > 0
y = ag.zeros(2)
y[m] = x.sqrt()[m]
y.sum().backward()
""").only("nan")
    assert "a gradient of zero, which met an infinite derivative: 0 * inf is NaN" in found.cause
    assert "bad values" not in found.cause and "`safe_x = where(m, x, 1.0)`" in found.fix


def test_an_eps_belongs_under_the_root(linted, lines_of):
    found = linted("""
a = nn.Parameter(ag.zeros(2, 3))
u = a / (a.pow(2).sum(1, keepdim=True).sqrt() + 1e-8)
ag.nan_to_num(u).sum().backward()
""").only("nan")
    assert "a gradient of zero met an infinite derivative, and 0 * inf is NaN" in found.cause
    assert lines_of(found, "masked") == [] and found.fix.startswith("Add a small eps below the root")
    assert "added to its result comes too late" in found.fix


# ----- a mask that does not fit -----

ELSEWHERE = """
w = nn.Parameter(ag.ones(3, 3))
def mean_pool(h, mask):
    total = (h * mask.unsqueeze(1)).sum(0)
    return total / mask.sum()
masks = [ag.tensor([1., 0., 1.]), ag.zeros(3)]
pooled = ag.stack([mean_pool(ag.tanh(w), m) for m in masks])
valid = ag.tensor([True, False])
pooled[valid].pow(2).sum().backward()
"""
ROWS = """
a = nn.Parameter(ag.ones(2, 3))
b = ag.zeros(2, 3)
b[0] = 1.0
rows = ag.tensor([True, False])
y = a * 0 / b
y[rows].sum().backward()
"""
LATER = """
a, b = nn.Parameter(ag.zeros(2)), ag.tensor([1.0, 0.0])
y = a / b
keep = ag.tensor([True, False])
y[keep].sum().backward()
"""


@pytest.mark.parametrize("source", [ELSEWHERE, ROWS, LATER])
def test_a_mask_of_another_shape_or_scope_is_described(linted, source):
    fix = linted(source).only("nan").fix
    assert (
        fix.startswith("Mask what goes into the op and not what comes out of it: put 1.0 in the places")
        and "safe" not in fix
    )


def test_a_mask_that_fits_is_written(linted):
    source = "a, b = nn.Parameter(ag.zeros(2)), ag.tensor([1.0, 0.0])\nkeep = ag.tensor([True, False])\ny = a / b\n"
    assert "`safe_b = where(keep, b, 1.0)`" in linted(source + "y[keep].sum().backward()").only("nan").fix


# ----- bare parameters -----

BARE = """
a, b = nn.Parameter(ag.ones(2)), nn.Parameter(ag.ones(2))
opt = optim.SGD([a, b], lr=.1)
for _ in range(2):
    opt.zero_grad()
    {what}
    opt.step()
"""
USED = ["(a * b).sum().backward()", "b.grad = ag.ones(2); (a * a).sum().backward()"]
USED += ["(a * a).sum().backward()\n    with ag.no_grad(): b.mul_(.9)"]


def test_a_bare_parameter_that_nothing_uses(linted, lines_of):
    found = linted(BARE.format(what="(a * a).sum().backward()")).only("no-gradient")
    assert found.cause.startswith("Parameter `b` gets no gradient: nothing is computed from it")
    assert lines_of(found, "optimizer") == [3] and "take it out of the optimizer" in found.fix


def test_bare_parameters_without_names(linted):
    source = "ps = [nn.Parameter(ag.ones(2)) for _ in range(3)]\nopt = optim.SGD(ps, lr=.1)\n(ps[0] * 2).sum().backward()\nopt.step()"
    assert linted(source).only("no-gradient").cause.startswith("2 parameters that an optimizer has get no gradient")


@pytest.mark.parametrize("what", USED)
def test_a_bare_parameter_that_is_used(linted, what):
    assert linted(BARE.format(what=what)).lints == []


# ----- guards -----

GUARD = """
z = {made}
for _ in range(2):
    (z ** 2).sum().backward(retain_graph=True)
    if z.grad is not None:
        with ag.no_grad():
            {body}
"""


def test_a_guard_hides_that_it_is_no_leaf(linted, lines_of):
    found = linted(GUARD.format(made="ag.ones(3, requires_grad=True) / 10", body="z -= 0.1 * z.grad")).only("non-leaf")
    assert lines_of(found, "copied") == [2] and lines_of(found, "read") == [5] and found.certainty == "likely"
    assert "this test is never true" in found.evidence[-1].note


@pytest.mark.parametrize(
    ("made", "body"),
    [
        ("ag.ones(3, requires_grad=True)", "z -= 0.1 * z.grad"),
        ("(w := ag.ones(3, requires_grad=True)) / 10", "print(z.grad)"),
        ("(w := ag.ones(3, requires_grad=True)) / 10", "pass"),
    ],
)
def test_a_guard_that_hides_nothing(linted, made, body):
    assert linted(GUARD.format(made=made, body=body)).lints == []


# ----- names and lines -----

DECORATED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.feat, self.head = nn.Linear(3, 3), nn.Linear(3, 1)
    @ag.no_grad()
    def encode(self, x):
        return self.helper(x)
    def helper(self, x):
        return ag.tanh(self.feat(x))
    def forward(self, x):
        return self.head(self.encode(x))
net = Net()
opt = optim.SGD(net.parameters(), lr=.1)
net(ag.ones(2, 3)).mean().backward()
opt.step()
"""
WINDOW = """
class Window:
    @ag.no_grad()
    def of(self, h, k):
        return h.narrow(0, 0, k)
h = ag.ones(4, 4) @ nn.Parameter(ag.ones(4, 4))
head = Window().of(h, 2)
head += 1
"""
HOOKED = """
inner, skip, x = nn.Linear(3, 3), nn.Linear(3, 3), ag.ones(2, 3)
inner.register_full_backward_hook(lambda m, gi, go: None)
y = inner(x)
y += skip(x)
"""


def test_the_decorator_that_switched_gradients_off(linted, lines_of):
    found = linted(DECORATED).only("no-gradient")
    assert lines_of(found, "switched off") == [6] and "switched off (line 6)" in found.fix


def test_the_decorator_under_which_a_view_was_made(linted, lines_of):
    (found,) = linted(WINDOW).diagnosed
    assert found.kind == "view-inplace" and lines_of(found, "switched off") == [3] and lines_of(found, "view") == [5]


def test_a_write_to_what_a_hooked_module_returned(linted):
    (found,) = linted(HOOKED).diagnosed
    assert found.kind == "view-inplace" and "`y = y + skip(x)`" in found.fix and "inplace" not in found.fix


@pytest.mark.parametrize("turned", ["w.t()", "w.T", "w.transpose(0, 1)"])
def test_the_parameter_whose_transpose_was_saved(linted, turned):
    source = f"w, v = ag.ones(2, 3, requires_grad=True), ag.ones(1, 3, requires_grad=True)\nopt = optim.SGD([w, v], lr=.1)\ny = (v * 2) @ {turned}\n"
    (found,) = linted(source + "y.sum().backward(retain_graph=True)\nopt.step()\ny.sum().backward()").diagnosed
    assert "updated `w`, saved by MmBackward0 at line 4" in found.cause


def test_one_line_of_cuts_is_shown_once(linted, lines_of):
    source = """
net = nn.Linear(3, 2)
def metric(o):
    return sum(float(v) for v in (o ** 2).flatten())
for _ in range(2):
    loss = ag.tensor(metric(net(ag.ones(4, 3))))
    if _: loss.backward()
"""
    (found,) = linted(source).diagnosed
    assert lines_of(found, "cut") == [4]
