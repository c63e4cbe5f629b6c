"""NaN and infinities: the first producer in forward and in backward, the masked branch, what does no harm."""

import pytest

from agdbg.engines import native

WHERE_SQRT = """
x = ag.tensor([-1., -4.], requires_grad=True)
y = ag.where(x > 0, ag.sqrt(x), x)
y.sum().backward()
"""
WHERE_EXP = """
a = ag.tensor([100.], requires_grad=True)
y = ag.where(a <= 0, ag.exp(a), 1 + a)
y.sum().backward()
"""
MASKED_DIVISION = """
x = ag.tensor([1., 1.], requires_grad=True)
n = ag.tensor([0., 2.])
y = x / n
z = y.masked_fill(n == 0, 0)
z.sum().backward()
"""
ASSIGNED = """
x = ag.tensor([0., 1.], requires_grad=True)
n = ag.tensor([0., 2.])
y = x / n
y[n == 0] = 0
y.sum().backward()
"""
CHOSEN = """
x = ag.tensor([0., 1.], requires_grad=True)
n = ag.tensor([0., 2.])
y = (x / n)[n != 0]
y.sum().backward()
"""
ROOT_AT_ZERO = """
x = ag.tensor([0., 4.], requires_grad=True)
m = x > 0
y = x ** 0.5
z = ag.where(m, y, 0.)
z.sum().backward()
"""
ACOS = """
x = ag.tensor([1., .5], requires_grad=True)
y = ag.where(x < 1, ag.acos(x), 0.)
y.sum().backward()
"""
CLAMPED_LOG = """
x = ag.tensor([0., 1.], requires_grad=True)
y = ag.log(x)
z = y.clamp(min=-10)
z.sum().backward()
"""
NORM = """
x = ag.zeros(3, requires_grad=True)
y = x / x.norm()
z = ag.nan_to_num(y)
z.sum().backward()
"""

TRAPS = {  # the script, the line of the producer, the line of the mask, what the fix says
    "21 where sqrt": (WHERE_SQRT, 3, 3, "`safe_x = ag.where(x > 0, x, 1.0)`, and use `ag.sqrt(safe_x)`"),
    "22 where exp": (WHERE_EXP, 3, 3, "`safe_a = ag.where(a <= 0, a, 0.0)`, and use `ag.exp(safe_a)`"),
    "23 division": (MASKED_DIVISION, 4, 5, "`safe_n = where(n == 0, 1.0, n)`, and use `x / safe_n`"),
    "23 assigned": (ASSIGNED, 4, 5, "`safe_n = where(n == 0, 1.0, n)`"),
    "23 chosen": (CHOSEN, 4, 4, "`safe_n = where(n != 0, n, 1.0)`"),
    "a power": (ROOT_AT_ZERO, 4, 5, "`safe_x = ag.where(m, x, 1.0)`, and use `safe_x ** 0.5`"),
    "acos": (ACOS, 3, 3, "`safe_x = ag.where(x < 1, x, 0.0)`"),
    "clamped log": (CLAMPED_LOG, 3, 4, "put 1.0 in the places that are left out"),
    "25 norm": (NORM, 3, 4, "nan_to_num() mends the value and not the gradient"),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_mask_behind_the_op_comes_too_late(linted, lines_of, name):
    source, produced, masked, fix = TRAPS[name]
    found = linted(source).only("nan")
    assert (lines_of(found, "produced"), lines_of(found, "masked")) == ([produced], [masked])
    assert "0 * inf is NaN; the gradient of `" in found.cause and fix in found.fix


MENDED = {
    "21": WHERE_SQRT.replace("ag.sqrt(x)", "ag.sqrt(ag.where(x > 0, x, 1.0))"),
    "22": WHERE_EXP.replace("ag.exp(a)", "ag.exp(ag.where(a <= 0, a, 0.0))"),
    "23": MASKED_DIVISION.replace("x / n", "x / ag.where(n == 0, 1.0, n)"),
    "25": NORM.replace("x.norm()", "(x * x).sum().add(1e-12).sqrt()"),
    "acos": ACOS.replace("ag.acos(x)", "ag.acos(ag.where(x < 1, x, 0.0))"),
    "a softmax with a mask": """
q = ag.randn(4, 4, requires_grad=True)
mask = ag.tensor(np.triu(np.ones((4, 4)), 1)) > 0
s = ag.softmax(q.masked_fill(mask, float('-inf')), -1)
(s * s).sum().backward()
""",
}


@pytest.mark.parametrize("name", MENDED)
def test_what_the_fix_says_is_right(linted, name):
    assert linted(MENDED[name]).lints == []


def test_24_an_infinity_without_a_nan(linted, lines_of):
    found = linted("x = ag.tensor([[0.], [4.]], requires_grad=True)\ny = x.sqrt()\ny.sum().backward()").only("inf")
    assert "became infinite at `x.sqrt()` at line 3" in found.cause and lines_of(found, "produced") == [3]
    assert "1 is infinite, the first at [0, 0]" in found.evidence[0].note and "NaN" not in found.cause


def test_an_infinity_that_becomes_nan_further_down(linted, lines_of):
    found = linted("x = ag.zeros(3, requires_grad=True)\nd = (x * x).sum()\nd.sqrt().backward()").only("nan")
    assert "became infinite at `d.sqrt()` at line 4, which became NaN further down" in found.cause
    assert lines_of(found, "produced") == [4] and "the gradient of `x` has it" in found.cause


def test_26_what_a_later_node_leaves_out_is_absorbed_there(linted, lines_of):
    ran = linted("""
x = ag.tensor([1., 2.], requires_grad=True)
y = x + ag.tensor([float('nan'), 0.])
z = ag.where(ag.isfinite(y), y, 0.)
z.sum().backward()
""")
    (found,) = ran.remarked("absorbed")
    assert (lines_of(found, "produced"), lines_of(found, "absorbed")) == ([3], [4])
    assert "does no harm: it is absorbed at `ag.where(ag.isfinite(y), y, 0.)` at line 4" in found.cause


def test_26_an_infinite_gradient_that_is_left_out_further_down(linted):
    ran = linted("""
x = ag.tensor([0., 4.], requires_grad=True)
u = ag.where(x > 0, x, 0.)
u.sqrt().sum().backward()
""")
    assert ran.lints == []


def test_27_an_overflow_of_a_scaled_loss_is_expected(linted, lines_of):
    scaled = """
w = ag.tensor([3.], dtype=ag.float16, requires_grad=True)
opt = optim.SGD([w], lr=.1)
scale = 65536.
for i in range(4):
    opt.zero_grad()
    loss = (w * 4).float().sum()
    (loss * scale).backward()
    if ag.isfinite(w.grad).all():
        w.grad.div_(scale)
        opt.step()
    else:
        scale /= 2
"""
    (found,) = linted(scaled).remarked("overflow")
    assert "no step was taken: that is expected now and then" in found.cause and lines_of(found, "scaled") == [8]
    assert "by 65,536" in next(each.note for each in found.evidence if each.role == "scaled")


@pytest.mark.parametrize("also", [native.EXTRAS, frozenset({"values"})], ids=["all", "values alone"])
def test_27_the_op_that_overflowed_is_not_blamed(linted, also):
    """Neither the cast, whose dtypes nobody has recorded with values alone, nor the power."""
    scaled = """
w = ag.tensor([30.], dtype=ag.float16, requires_grad=True)
for scale in (65536., 32768.):
    loss = (w * 1).pow(2)
    (loss.float() * scale).sum().backward()
    w.grad = None
"""
    ran = linted(scaled, also=also)
    assert ran.lints == []
    notes = "".join(each.note for each in ran.remarked("overflow")[0].evidence)
    assert "what came in was finite" in notes and "infinite derivative" not in notes


def test_27_a_step_with_an_overflow_is_not(linted):
    found = linted("""
w = ag.tensor([3.], dtype=ag.float16, requires_grad=True)
opt = optim.SGD([w], lr=.1)
for i in range(2):
    opt.zero_grad()
    loss = (w * 4).float().sum()
    (loss * 65536.).backward()
    opt.step()
""").only("inf")
    assert "leave it out when one is not finite" in found.fix


def test_an_overflow_of_activations_is_not_the_work_of_the_scale(linted, lines_of):
    found = linted("""
w = ag.tensor([300.], dtype=ag.float16, requires_grad=True)
h = w * 300
(h.float().sum() * 65536.).backward()
""").lints[0]
    assert lines_of(found, "produced") == [3] and "float16 ends at 65,504" in found.evidence[0].note


TRAINED = """
net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
opt = optim.SGD(net.parameters(), lr=.1)
for i in range(4):
    opt.zero_grad()
    p = net(ag.ones(4, 2))
    loss = ag.log(p - 100).mean()
    loss.backward()
    opt.step()
"""


def test_the_first_iteration_is_told_and_not_its_consequences(linted, lines_of):
    found = linted(TRAINED).only("nan")
    assert (
        lines_of(found, "produced") == [7]
        and "`ag.log(p - 100)` at line 7 made the first NaN in forward".lower() in found.cause.lower()
    )
    assert "log() of a negative number is NaN" in found.evidence[0].note


def test_parameters_are_named(linted):
    found = linted(TRAINED.replace("ag.log(p - 100)", "ag.log(p * 0)")).lints[0]
    assert "`0.weight`" in found.cause and "`0.bias`" in found.cause


def test_data_that_is_nan(linted):
    found = linted("net = nn.Linear(2, 1)\ndata = ag.tensor([[1., float('nan')]])\nnet(data).sum().backward()").only(
        "nan"
    )
    assert "NaN came in with data at `net(data)` at line 4" in found.cause and found.certainty == "likely"


def test_a_weight_that_is_nan(linted):
    found = linted(
        "net = nn.Linear(2, 1)\nwith ag.no_grad(): net.weight.fill_(float('nan'))\nnet(ag.ones(1, 2)).sum().backward()"
    ).only("nan")
    assert "`weight` itself holds NaN" in found.cause


def test_a_gradient_that_is_given(linted):
    found = linted("x = ag.ones(2, requires_grad=True)\ny = ag.exp(x)\ny.backward(ag.tensor([1., float('nan')]))").only(
        "nan"
    )
    assert "starts with is NaN already" in found.cause and "the first at [1]" in found.evidence[0].note


def test_a_hook_that_makes_it(linted, lines_of):
    found = linted(
        "x = ag.ones(2, requires_grad=True)\ny = ag.exp(x)\ny.register_hook(lambda g: g / 0)\nz = y * 2\nz.sum().backward()"
    ).only("inf")
    assert lines_of(found, "hook") == [4] and found.certainty == "likely"


def test_what_grad_is_asked_for(linted):
    found = linted("x = ag.tensor([0., 1.], requires_grad=True)\n(g,) = ag.autograd.grad(x.sqrt().sum(), x)").only(
        "inf"
    )
    assert "the gradient of `x` has it" in found.cause


def test_without_values_nothing_is_said(linted):
    assert linted(WHERE_SQRT, frozenset()).lints == []


def test_the_index_is_flat_where_no_shape_was_recorded(linted):
    found = linted(
        "x = ag.tensor([[4.], [0.]], requires_grad=True)\nx.sqrt().sum().backward()", frozenset(["values"])
    ).only("inf")
    assert "the first at element 1" in found.evidence[0].note


def test_a_mask_of_infinities_is_no_fault_and_a_row_that_is_masked_throughout_is(linted, lines_of):
    found = linted("""
s = ag.ones(2, 3, requires_grad=True)
mask = ag.tensor([[False, True, True], [True, True, True]])
filled = s.masked_fill(mask, float("-inf"))
p = filled.softmax(-1)
p.sum().backward()
""").only("nan")
    assert (lines_of(found, "masked"), lines_of(found, "produced"), lines_of(found, "needed")) == ([4], [5], [6])
    assert "-inf throughout" in found.evidence[1].note
    assert found.fix.startswith("Leave one element of each row unmasked")
    assert found.certainty == "certain"


def test_a_mask_that_is_added_is_meant_as_well(linted, lines_of):
    found = linted("""
s = ag.ones(2, 3, requires_grad=True)
p = (s + ag.full((3,), float("-inf"))).softmax(-1)
p.sum().backward()
""").only("nan")
    assert "SoftmaxBackward0" in found.evidence[1].note and lines_of(found, "produced") == [3]


def test_zero_times_infinity_is_a_nan_of_the_infinity(linted, lines_of):
    found = linted("""
h = ag.tensor([-1., 2.], requires_grad=True)
y = ag.log(h.clamp(min=0))
((h > 0).float() * y).sum().backward()
""").only("nan")
    assert (lines_of(found, "produced"), lines_of(found, "became NaN")) == ([3], [4])
    assert "which became NaN at" in found.cause
    assert "clamp(min=eps)" in found.fix


def test_the_deviation_of_a_single_element(linted):
    found = linted("\nx = ag.ones(1, 1, requires_grad=True)\nx.std().backward()\n").only("nan")
    assert "more than one element, or with unbiased=False" in found.fix and "eps" not in found.fix


def test_an_overflow_that_a_division_hides(linted):
    found = linted("\nx = ag.tensor([800., 1.], requires_grad=True)\n(1 / (1 + x.exp())).sum().backward()\n").only(
        "nan"
    )
    assert "sigmoid()" in found.fix and "where()" not in found.fix


SOFTMAX = "x = ag.tensor([100., 1.], requires_grad=True)\ne = (x * x).exp()\np = e / e.sum()\n(-p[1]).backward()\n"


def test_an_index_behind_an_overflow_is_no_mask_of_the_division_that_has_it(linted, lines_of):
    found = linted(SOFTMAX).only("nan")
    assert found.cause.startswith(
        "`(x * x).exp()` at line 3 made the first infinity in forward, which became NaN at `e / e.sum()` at line 4; `p[1]` at line 5"
    )
    assert (lines_of(found, "produced"), lines_of(found, "became NaN"), lines_of(found, "masked")) == ([3], [4], [5])
    assert "softmax()" in found.fix and "where()" not in found.fix
    assert not any("0 / 0" in each.note or "Mask what" in each.note for each in found.evidence)


CONDITION = """
x, n = ag.tensor([0., 2.], requires_grad=True), ag.tensor([0., 1.], requires_grad=True)
r = 1 / n
y = r * x
ag.where(n != 0, y, 0.0).sum().backward()
"""


def test_of_an_op_with_bad_values_behind_which_a_condition_chooses_the_one_that_made_them_is_told(linted, lines_of):
    found = linted(CONDITION).only("nan")
    assert lines_of(found, "produced") == [lines_of(found, "masked")[0] - 2]
    assert "`1 / n` at line" in found.cause and "made the first infinity" in found.cause
    assert "keep the divisor away from 0" in found.fix and "comes too late" in found.fix, found.fix


@pytest.mark.parametrize(
    "text",
    [
        SOFTMAX.replace("p = e / e.sum()", "p = ag.softmax(x * x, 0)").replace("e = (x * x).exp()", ""),
        CONDITION.replace("1 / n", "1 / ag.where(n != 0, n, 1.0)"),
    ],
    ids=["softmax", "the condition before"],
)
def test_what_the_fix_of_bad_inputs_says_is_right(linted, text):
    assert linted(text).lints == []


# ----- ops that are to be one -----

Z = "z = ag.tensor([[300., 0., -300.]], requires_grad=True)\nt = ag.tensor([[0., 1., 1.]])\n"
F = "nn.functional"
#: The loss as it is, what the fix says, and the loss by it.
JOINED = {
    "cross-entropy": (
        "p = z.sigmoid()\nloss = -(t * p.log() + (1 - t) * ag.log(1 - p)).mean()",
        "Use binary_cross_entropy_with_logits() of z and the target, in place of sigmoid() and both logarithms",
        f"loss = {F}.binary_cross_entropy_with_logits(z, t)",
    ),
    "cross-entropy, log1p": (
        "p = z.sigmoid()\nloss = -(t * p.log() + (1 - t) * ag.log1p(-p)).mean()",
        "Use binary_cross_entropy_with_logits() of z and the target",
        f"loss = {F}.binary_cross_entropy_with_logits(z, t)",
    ),
    "sigmoid": (
        "loss = ag.log(ag.sigmoid(z)).sum()",
        "Use logsigmoid() of z in place",
        f"loss = {F}.logsigmoid(z).sum()",
    ),
    "one minus sigmoid": (
        "p = ag.sigmoid(z)\nloss = ag.log(1 - p).sum()",
        "Use logsigmoid() of -z in place of log() of 1 - sigmoid()",
        f"loss = {F}.logsigmoid(-z).sum()",
    ),
    "softmax": (
        "loss = -(t * ag.softmax(z, 1).log()).sum()",
        "Use log_softmax() of z, or cross_entropy(), in place of log() and softmax()",
        f"loss = -(t * {F}.log_softmax(z, 1)).sum()",
    ),
    "softmax, chosen": (
        "p = nn.Softmax(1)(z)\nloss = -ag.log(p[[0], [2]]).sum()",
        "Use log_softmax() of its input, or cross_entropy(), in",
        f"loss = {F}.cross_entropy(z, ag.tensor([2]))",
    ),
    "one minus a layer": (
        "p = nn.Sigmoid()(z)\nloss = ag.log(1 - p).sum()",
        "Use logsigmoid() of minus its input in place",
        f"loss = {F}.logsigmoid(-z).sum()",
    ),
    "the derivative alone": (
        "e = ag.exp(z - 400)\nloss = ag.log(e.sum(1)).sum()",
        "Use logsumexp() of its input in place",
        "loss = ag.logsumexp(z - 400, 1).sum()",
    ),
    "by hand": (
        "z = z - 300\ne = ag.exp(z - 200)\nloss = ag.log(e.sum(1)).sum()",
        "Use logsumexp() of its input in place of log(), sum() and exp()",
        "loss = ag.logsumexp(z - 500, 1).sum()",
    ),
    "softmax by hand": (
        "e = ag.exp(z - 300)\nloss = -(t * ag.log(e / e.sum(1, keepdim=True))).sum()",
        "Use log_softmax() of its input, or cross_entropy(), in",
        f"loss = -(t * {F}.log_softmax(z - 300, 1)).sum()",
    ),
}


@pytest.mark.parametrize("source, says, _", JOINED.values(), ids=JOINED)
def test_two_ops_that_are_to_be_one(linted, source, says, _):
    found = linted(f"{Z}{source}\nloss.backward()").lints[0]
    assert found.kind in ("nan", "inf") and found.fix.startswith(says), found.fix


@pytest.mark.parametrize("_, says, source", JOINED.values(), ids=JOINED)
def test_what_the_fix_of_two_ops_says_is_right(linted, _, says, source):
    assert linted(f"{Z}{source}\nloss.backward()").lints == []


@pytest.mark.parametrize(
    "source", ["ag.log(0.5 - z.sigmoid())", "ag.log(z * 0)", "ag.log(z.exp() / 2)", "ag.log(ag.tanh(z) + 1)"]
)
def test_what_no_one_op_computes(linted, source):
    found = linted(f"{Z}loss = {source}.sum()\nloss.backward()").lints[0]
    assert "Use " not in found.fix
