"""Writes: those that no version tells, those that nothing minds, and those to another part of one memory."""

import pytest

SILENT = {  # the script, what the cause says, the line that wrote, how sure that is
    "4 data": (
        "x = ag.ones(3, requires_grad=True)\ny = ag.exp(2 * x)\ny.data.mul_(3)\ny.sum().backward()",
        "`y`, saved by ExpBackward0 at line 3, was changed by `y.data.mul_(3)` at line 4 before `y.sum().backward()` at line 5",
        4,
        "certain",
    ),
    "4 data, by index": (
        "x = ag.ones(3, requires_grad=True)\ny = ag.exp(2 * x)\ny.data[1] = 0\ny.sum().backward()",
        "was changed by `y.data[1] = 0` at line 4",
        4,
        "certain",
    ),
    "4 numpy": (
        "x = ag.ones(3, requires_grad=True)\ny = ag.exp(2 * x)\nv = y.detach().numpy()\nv[:] = 0\ny.sum().backward()",
        "was changed by `v[:] = 0` at line 5",
        5,
        "likely",
    ),
    "in a function": (
        "x = ag.ones(3, requires_grad=True)\ny = ag.tanh(x)\ndef clear(t):\n    a = t.data.numpy()\n    a.fill(0)\n"
        "clear(y)\ny.sum().backward()",
        "was changed by `a.fill(0)` at line 6",
        6,
        "likely",
    ),
    "out=": (
        "x = ag.ones(3, requires_grad=True)\ny = ag.exp(x)\nnp.multiply(1, 2, out=y.data.numpy())\ny.sum().backward()",
        "was changed by `np.multiply(1, 2, out=y.data.numpy())` at line 4",
        4,
        "certain",
    ),
    "an alias of data": (
        "x = ag.ones(3)\nv = x.numpy()\nw = ag.ones(3, requires_grad=True)\ny = x * w\nv += 1\ny.sum().backward()",
        "`x`, saved by MulBackward0 at line 5, was changed by `v += 1` at line 6",
        6,
        "likely",
    ),
    "an array behind a tensor": (
        "x = ag.ones(3, requires_grad=True)\nbase = np.ones(3, np.float32)\nc = ag.from_numpy(base)\ny = x * c\n"
        "base[0] = 5\ny.sum().backward()",
        "`c`, saved by MulBackward0 at line 5, was changed by `base[0] = 5` at line 6",
        6,
        "likely",
    ),
    "an update": (
        "net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))\nloss = net(ag.ones(1, 2)).sum()\n"
        "loss.backward(retain_graph=True)\nfor p in net.parameters():\n    p.data -= .1 * p.grad\nloss.backward()",
        "Parameter `1.weight`, saved by AddmmBackward0 at line 3, was changed by `p.data -= 0.1 * p.grad` at line 6",
        6,
        "certain",
    ),
}


@pytest.mark.parametrize("name", SILENT)
def test_4_a_write_that_no_version_tells(linted, lines_of, name):
    source, cause, line, certainty = SILENT[name]
    ran = linted(source)
    found = ran.only("silent-write")
    assert ran.error is None and cause in found.cause and "its version does not tell" in found.cause
    assert lines_of(found, "wrote") == [line] and found.certainty == certainty
    assert lines_of(found, "saved") and lines_of(found, "needed")


def test_a_writer_that_is_not_known(linted, lines_of):
    found = linted("""
class Store:
    def __init__(self): self.kept = ag.ones(3)
    def change(self): self.kept.numpy()[0] = 7
s = Store()
w = ag.ones(3, requires_grad=True)
y = s.kept * w
s.change()
y.sum().backward()
""").only("silent-write")
    assert "was changed before `y.sum().backward()` at line 9 used it" in found.cause and lines_of(found, "wrote") == []
    assert found.certainty == "certain" and "Look for a write that is not counted" in found.fix


NOT_SILENT = {
    "batch norm": """
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(.5), nn.Linear(3, 1))
opt = optim.SGD(net.parameters(), lr=.1)
for i in range(3):
    opt.zero_grad()
    net(ag.randn(4, 2)).sum().backward()
    opt.step()
    for p in net.parameters(): p.data.clamp_(-1, 1)
""",
    "a copy": "x = ag.ones(3, requires_grad=True)\ny = ag.exp(2 * x)\nv = y.detach().numpy().copy()\nv[:] = 0\ny.sum().backward()",
    "after backward": "x = ag.ones(3, requires_grad=True)\ny = ag.exp(2 * x)\ny.sum().backward()\ny.data.mul_(3)",
    "nothing saved it": "x = ag.ones(3, requires_grad=True)\ny = x * 2\ny.data.mul_(3)\ny.sum().backward()",
}


@pytest.mark.parametrize("name", NOT_SILENT)
def test_writes_that_spoil_nothing(linted, name):
    ran = linted(NOT_SILENT[name])
    assert (ran.lints, ran.error) == ([], None)


def test_6_a_write_that_nothing_needs_is_told_on_request(linted, lines_of):
    ran = linted("x = ag.ones(3, requires_grad=True)\na = x * 1\nb = a * 2\na.add_(1)\nb.sum().backward()")
    (found,) = ran.remarked("harmless-write")
    assert "`a.add_(1)` at line 5 writes to `a` in place, and nothing that was saved needs it" in found.cause
    assert ran.diagnosed == [] and lines_of(found, "wrote") == [5]


def test_a_write_that_something_needs_is_not_called_harmless(linted):
    ran = linted("x = ag.ones(3, requires_grad=True)\na = x * 1\nb = a * a\na.add_(1)\nb.sum().backward()")
    assert [each.kind for each in ran.remarks] == [] and [each.kind for each in ran.diagnosed] == ["inplace-modified"]


# ----- parts of one memory -----

PARTS = """
x = ag.ones(2, requires_grad=True)
buf = ag.zeros(4)
buf[:2] += x
z = ag.exp(x) * buf[:2]
WRITE
z.sum().backward()
"""


@pytest.mark.parametrize("also", [frozenset(), frozenset(("checksums",))])
def test_5_disjoint_slices_are_a_false_alarm(linted, lines_of, also):
    (found,) = linted(PARTS.replace("WRITE", "buf[2:] += 1"), also).diagnosed
    assert (
        "`buf[:2]`, saved by MulBackward0 at line 5, is as it was: `buf[2:] += 1` at line 6 wrote another part"
        in found.cause
    )
    assert "a false alarm by design" in found.cause and found.certainty == "certain"
    assert lines_of(found, "wrote earlier") == [4, 4] and lines_of(found, "view") == [5, 6]
    notes = [each.note for each in found.evidence if each.role == "view"]
    assert notes == [
        "the part that was saved: elements 0 to 1 of the memory",
        "the part that was written: elements 2 to 3 of the memory",
    ]


@pytest.mark.parametrize("also", [frozenset(), frozenset(("checksums",))])
@pytest.mark.parametrize("write", ["buf[1:] += 1", "buf += 1", "buf[0] = 5", "buf[::2] = 3"])
def test_5_slices_that_overlap_are_not(linted, write, also):
    (found,) = linted(PARTS.replace("WRITE", write), also).diagnosed
    assert "was changed by" in found.cause and "false alarm" not in found.cause


STRIDES = (
    "x = ag.ones(2, requires_grad=True)\nbuf = ag.zeros(4)\na = buf[::2]\ny = a * x\nbuf[1::2] = 1\ny.sum().backward()"
)
ROWS = (
    "w = ag.ones(2, requires_grad=True)\nout = ag.zeros(2, 3)\ncol = out[:, 0]\ny = col * w\n"
    "out[:, 1:].fill_(2)\ny.sum().backward()"
)


@pytest.mark.parametrize("source", [STRIDES, ROWS])
def test_parts_that_lie_between_each_other(linted, source):
    (found,) = linted(source, frozenset()).diagnosed
    assert "a false alarm by design" in found.cause


# ----- views that are refused -----


def test_10_a_backward_hook_and_an_in_place_layer(linted, lines_of):
    ran = linted("""
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
net[0].register_full_backward_hook(lambda m, gi, go: None)
net(ag.ones(1, 2)).sum().backward()
""")
    (found,) = ran.diagnosed
    assert (
        "in layer `1` (ReLU), writes into a view" in found.cause and "a backward hook of a module put in" in found.cause
    )
    assert lines_of(found, "hook") == [3] and "Drop inplace=True" in found.fix


def test_10_a_hook_that_makes_a_view_under_no_grad(linted, lines_of):
    (found,) = linted("""
def hook(m, i, o):
    with ag.no_grad():
        return o.view_as(o)
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
net[0].register_forward_hook(hook)
net(ag.ones(1, 2)).sum().backward()
""").diagnosed
    assert lines_of(found, "view") == [4] and "made at line 4, that was made under no_grad()" in found.cause


def test_11_a_loop_over_a_tensor(linted, lines_of):
    (found,) = linted("x = ag.ones(3, 2, requires_grad=True) * 2\nfor row in x:\n    row.clamp_(0, 1)").diagnosed
    assert lines_of(found, "view") == [3] and found.fix.startswith(
        "`for row in x` gives views that must not be written to"
    )


def test_8_a_transposed_weight_is_called_by_its_name(linted):
    (found,) = linted("""
net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
opt = optim.SGD(net.parameters(), lr=.1)
x = ag.ones(4, 3, requires_grad=True)
out = (x * 2) @ net[1].weight.t()
loss = (net(ag.ones(1, 2)) ** 2).sum()
loss.backward()
opt.step()
out.sum().backward()
""").diagnosed
    assert (
        "The optimizer step (SGD.step) at line 8 updated parameter `1.weight`, saved by MmBackward0 at line 5"
        in found.cause
    )


@pytest.mark.parametrize(
    "source",
    [
        "x = b[0].detach()\ny = w * x\nb[1] = 5.0\n",
        "lin = nn.Linear(3, 3)\ny = lin(b[0:1].detach())\nb[1] = 5.0\n",
        "lin = nn.Linear(3, 3)\nx = b[0:1].detach()\ny = lin(x)\nb[1] = 5.0\n",
    ],
)
def test_a_detached_part_is_a_part_as_well(linted, source):
    (found,) = linted(f"w = ag.ones(3, requires_grad=True)\nb = ag.zeros(4, 3)\n{source}y.sum().backward()\n").diagnosed
    assert "is as it was" in found.cause and "a false alarm by design" in found.cause


@pytest.mark.parametrize("write", ["b[0] = 5.0", "x.mul_(2)", "b[0, 1] = 5.0"])
def test_a_detached_part_that_was_written_is_no_false_alarm(linted, write):
    source = f"w = ag.ones(3, requires_grad=True)\nb = ag.ones(4, 3)\nx = b[0].detach()\ny = w * x\n{write}\n"
    (found,) = linted(f"{source}y.sum().backward()\n").diagnosed
    assert "was changed by" in found.cause


@pytest.mark.parametrize("second", ["c[0]", "c[0].clone()"])
def test_another_save_that_was_written_is_what_is_told(linted, second):
    source = f"p = ag.tensor([2., 3., 4.], requires_grad=True)\nc = p * 1.0\nc[1] = c[1] * {second}\n"
    (found,) = linted(f"{source}c.sum().backward()\n").diagnosed
    assert found.cause.startswith("`c[1]`, saved by MulBackward0") and "was changed by" in found.cause
    assert found.fix.startswith("clone() each part of it that is used at line 4")


def test_all_lines_of_a_block_that_write_are_told(linted, lines_of):
    found = linted("""
w = ag.ones(3, requires_grad=True)
kept = {"w": w.data}
y = w * w
for name in ["w"]:
    kept[name].mul_(0.9).add_(1.0)
    kept[name].mul_(0.5)
y.sum().backward()
""").only("silent-write")
    assert lines_of(found, "wrote") == [6, 7]
    assert "`kept[name].mul_(0.9).add_(1.0)` at line 6 and `kept[name].mul_(0.5)` at line 7" in found.cause


def test_a_parameter_whose_name_is_not_its_alone_is_updated_under_no_grad(linted):
    found = linted("""
D = nn.Linear(2, 1); G = nn.Linear(2, 2)
s = D(G(ag.ones(3, 2)))
for p in D.parameters(): p.data.clamp_(-0.01, 0.01)
s.mean().backward()
""").only("silent-write")
    assert found.fix.startswith("Do the update at line 4 after the last backward()")
