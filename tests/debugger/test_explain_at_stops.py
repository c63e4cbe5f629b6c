"""What `explain` says at a stop: an error of an op that built no node is named, and of a masked trap the way out."""

import pytest

DTYPE = "import agdbg_engine as torch\nx, b = torch.ones(2, 3), torch.zeros(3, 3, dtype=torch.float64)\ny = torch.matmul(x, b)\n"
INTEGER = "import agdbg_engine as torch\nx = torch.ones(3, dtype=torch.int64)\nx.requires_grad_()\n"
BEHIND = (
    "import agdbg_engine as torch\nw = torch.ones(2, requires_grad=True)\n(w * w).sum().backward()\n"
    + "x = torch.ones(2)\n"
    + "def f(t):\n    return torch.matmul(t, t.double())\nf(x)\n"
)
DEVICE = "import agdbg_engine as torch\nx = torch.ones(2, device='nowhere')\n"


@pytest.mark.parametrize(
    ("program", "caught", "line", "says"),
    [
        (DTYPE, "dtype", 3, "same dtype"),
        (INTEGER, "dtype", 3, "floating point dtype can require gradients"),
        (BEHIND, "dtype", 6, "same dtype"),
        (DEVICE, "device", 2, "nowhere"),
        (DEVICE, "any", 2, "nowhere"),
    ],
)
def test_an_error_that_no_record_tells_of_is_named_with_its_line(console_stage, program, caught, line, says):
    console = console_stage.console(program)
    console.do(f"catch {caught}")
    console.do("run")
    found = console.value("explain")
    assert "no autograd mistake" not in found["rendered"] and "nothing to explain" not in found["rendered"]
    assert found["rendered"].count(says) == 1, found["rendered"]
    (told,) = found["undiagnosed"]
    assert told["line"] == line and says in told["text"]


def masked(begin, line):
    return f"import agdbg_engine as torch\nx = torch.tensor([-1., 4.], requires_grad=True)\n{begin}{line}\ny.sum().backward()\n"


TRAPS = {
    "in place": (
        masked("", "y = torch.where(x > 0, x.sqrt(), x)"),
        [("y = torch.where(x > 0, x.sqrt(), x)", "safe_x = torch.where(x > 0, x, 1.0)\ny = torch.where(x > 0, safe_x.sqrt(), x)")],
        "`safe_x = torch.where(x > 0, x, 1.0)`, and use `safe_x.sqrt()` in place of `x.sqrt()`",
    ),
    "left branch": (
        masked("", "y = torch.where(x <= 0, x, torch.log(x))"),
        [("y = torch.where(x <= 0, x, torch.log(x))", "safe_x = torch.where(x <= 0, 1.0, x)\ny = torch.where(x <= 0, x, torch.log(safe_x))")],
        "`safe_x = torch.where(x <= 0, 1.0, x)`, and use `torch.log(safe_x)` in place of `torch.log(x)`",
    ),
    "by name": (
        masked("r = x.sqrt()\nz = x * 2\n", "y = torch.where(x > 0, r, z)"),
        [("r = x.sqrt()", "safe_x = torch.where(x > 0, x, 1.0)\nr = safe_x.sqrt()")],
        "`torch.where(x > 0, r, z)` at line 5 leaves it out in forward",
    ),
    "masked_fill": (
        masked("r = x.log()\n", "y = r.masked_fill(x <= 0, 0.0)"),
        [("r = x.log()", "safe_x = torch.where(x <= 0, 1.0, x)\nr = safe_x.log()")],
        "`safe_x = where(x <= 0, 1.0, x)`",
    ),
    "in a function": (
        masked("def f(v):\n    root = v.sqrt()\n    return torch.where(v > 0, root, v)\n", "y = f(x)"),
        [("root = v.sqrt()", "safe_v = torch.where(v > 0, v, 1.0); root = safe_v.sqrt()")],
        "`safe_v = torch.where(v > 0, v, 1.0)`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAPS)
def test_a_masked_trap_is_told_at_the_line_that_makes_the_nan(console_stage, linted, name):
    program, changes, says = TRAPS[name]
    console = console_stage.console(program)
    console.do("catch nan")
    console.do("run")
    fix = console.value("explain")["findings"][0]["fix"]
    assert says in fix and "eps" not in fix and "of a negative number is NaN" in fix
    for old, new in changes:
        assert old in program
        program = program.replace(old, new)
    assert linted(program).lints == []


@pytest.mark.parametrize("line", ["y = x.sqrt()", "y = torch.where(x.sqrt() > 1, x, 0.)", "r = x.sqrt(); y = r * 2"])
def test_no_mask_and_no_eps_below_a_negative_number(console_stage, line):
    console = console_stage.console(masked("", line))
    console.do("catch nan")
    console.do("run")
    fix = console.value("explain")["findings"][0]["fix"]
    assert "leaves it out" not in fix and "clamp(min=eps) its input" in fix and "add a small eps" not in fix


CAUGHT = """\
import agdbg_engine as torch
w = torch.ones(2, requires_grad=True)
def caught(f):
    try:
        f()
    except RuntimeError:
        pass
y = (w * w).sum()
y.backward()
caught(y.backward)
caught(lambda: torch.matmul(w, w.double()))
"""


@pytest.mark.parametrize(
    ("last", "kinds", "first"),
    [
        ("z = w.exp()\nz.add_(1)\nz.sum().backward()\n", ["inplace-modified", "backward-twice"], "1. `z`, saved by"),
        ("w.add_(1)\n", ["leaf-inplace", "backward-twice"], "1. `w.add_(1)` at line 12 writes into"),
        ("torch.zeros(2, 3) + torch.zeros(4)\n", ["backward-twice"], "the program stands at an error that agdbg has no"),
        ("torch.matmul(w, w.double())\n", ["backward-twice"], "the program stands at an error that agdbg has no"),
    ],
    ids=["predicted", "recorded", "shape", "dtype"],
)  # fmt: skip
def test_the_error_of_the_stop_is_told_before_those_that_the_program_caught(console_stage, last, kinds, first):
    console = console_stage.console(CAUGHT + last)
    console.do("catch any")
    console.do("run")
    console.do("continue")
    found = console.value("explain")
    assert found["rendered"].startswith(first), found["rendered"]
    blocks = found["rendered"].split("\n\n")
    assert found["standing"] == (blocks[0] if found["stands_at"] else "")
    assert [each["kind"] for each in found["findings"]] == kinds


@pytest.mark.parametrize(
    ("last", "line"),
    [
        ("torch.matmul(w, w.double())\n", 12),
        ("def hook(g):\n    raise ValueError('wrong')\nz = w * 3\nz.register_hook(hook)\nz.sum().backward()\n", 13),
    ],
    ids=["dtype", "hook"],
)
def test_an_error_without_a_diagnosis_is_told_by_its_line_and_those_before_it_as_caught(console_stage, last, line):
    console = console_stage.console(CAUGHT + last)
    console.do("catch any")
    console.do("run")
    for _ in range(3):
        console.do("continue")
        found = console.value("explain")
        if (found["stands_at"] or {}).get("line") == line:
            break
    assert found["stands_at"]["line"] == line
    assert [(each["kind"], each["caught"]) for each in found["findings"]] == [("backward-twice", True)]
    info = console.ask("exceptionInfo", threadId=1)
    assert f":{line} in" in info["details"]["message"]
