"""A write through a view, or through another name: the fix keeps what was written, and the mended script has the value of the broken."""

import pytest

from agdbg.diagnose import diagnose
from agdbg.engines import native
from agdbg.record import Facts, Recorder, Trace

HEAD = "import agdbg_engine as ag; from agdbg_engine import nn; ag.manual_seed(0)\nw = ag.rand(3, 3, requires_grad=True)\n"  # lines 1, 2


def ran(directory, source):
    """What is found about a script, and its variables, if need be as they were when it failed."""
    directory.mkdir()
    script = directory / "script.py"
    script.write_text(HEAD + source)
    recorder = Recorder(directory / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    native.attach(recorder)
    left = {"__name__": "__main__"}
    try:
        exec(compile(script.read_text(), str(script), "exec"), left)
    except RuntimeError:
        left["failed"] = True
    finally:
        native.detach()
        recorder.close()
    return diagnose(Facts(Trace.open(recorder.path))), left


ROWS = """def scale(t):
    for i in range(3):
        row = t[i]
        row *= 0.5
a = ag.sigmoid(w)
scale(a)
loss = a.sum()
loss.backward()
"""
INSIDE = """def scale(t):
    for i in range(3):
        row = t[i].view(-1)[:2]
        row.mul_(0.5)
    return t.sum()
a = ag.sigmoid(w)
loss = scale(a)
loss.backward()
"""
NORM = "def norm_(t):\n    r = t[0]\n    r /= r.sum()\na = ag.tanh(w)\nnorm_(a)\nloss = a.sum()\nloss.backward()\n"
PLAIN = "a = ag.tanh(w)\nrow = a[0]\nROW\nloss = a.sum()\nloss.backward()\n"
TAKEN_IN_A_CALL = "a = ag.tanh(w)\nrow = ag.select(a, 0, 1)\nrow += 1\nloss = a.sum()\nloss.backward()\n"
ALIAS = "a = ag.tanh(w)\nb = a\nb *= 2\nloss = a.sum()\nloss.backward()\n"
STATE = """class Cell:
    def decay(self):
        h = self.h.t()
        h *= 0.5
cell = Cell()
cell.h = ag.tanh(w)
cell.decay()
loss = cell.h.sum()
loss.backward()
"""
OUTER = "a = ag.tanh(w)\ndef f():\n    row = a[0]\n    row += 1\nf()\nloss = a.sum()\nloss.backward()\n"
ONE_LINE = (
    "def part_(m):\n    d = m[0]; d.mul_(2); return m\na = ag.tanh(w)\nb = part_(a)\nloss = b.sum()\nloss.backward()\n"
)
CHAINED = "def flat_(m):\n    m.view(-1).clamp_(0.1)\n    return m\na = ag.tanh(w)\nb = flat_(a)\nloss = b.sum()\nloss.backward()\n"
CLONED = ("a = ag.tanh(w)", "a = ag.tanh(w)\na = a.clone()")
#: The fix says, and the script by it.
THROUGH = {
    "rows, cloned before the call": (
        ROWS,
        "`scale` changes its caller's tensor at line 6 through `row`, a part of it: clone it before the call: `a = a.clone()`",
        [("scale(a)", "a = a.clone()\nscale(a)")],
    ),
    "rows, returned": (
        ROWS,
        "or put `t = t.clone()` before line 4, let it return `t`, and use that at the call.",
        [
            ("    for", "    t = t.clone()\n    for"),
            ("row *= 0.5", "row *= 0.5\n    return t"),
            ("\nscale(", "\na = scale("),
        ],
    ),
    "used inside": (INSIDE, "put `t = t.clone()` before line 4", [("    for", "    t = t.clone()\n    for")]),
    "an op of itself": (NORM, "`norm_` changes its caller's tensor", [("norm_(a)", "a = a.clone()\nnorm_(a)")]),
    "augmented": (
        PLAIN.replace("ROW", "row *= 2"),
        "Clone before you write: `a = a.clone()` before line 4, since `row` is a part of `a`, which is used later.",
        [CLONED],
    ),
    "by a method": (PLAIN.replace("ROW", "row.mul_(2)"), "`a = a.clone()` before line 4", [CLONED]),
    "by an index": (PLAIN.replace("ROW", "row[0] = 2."), "`a = a.clone()` before line 4", [CLONED]),
    "in place by an argument": (
        PLAIN.replace("ROW", "nn.functional.relu(row, inplace=True)"),
        "`a = a.clone()` before line 4",
        [CLONED],
    ),
    "a function that gives a view": (TAKEN_IN_A_CALL, "`a = a.clone()` before line 4", [CLONED]),
    "another name": (ALIAS, "since `b` is another name for `a`, which is used later", [CLONED]),
    "state": (
        STATE,
        "`self.h = self.h.clone()` before line 5",
        [("        h =", "        self.h = self.h.clone()\n        h =")],
    ),
    "on one line": (
        ONE_LINE,
        "through `d`, a part of it: clone it before the call: `a = a.clone()`",
        [("\nb =", "\na = a.clone()\nb =")],
    ),
    "without a name": (
        CHAINED,
        "Clone it before `flat_` is called, which writes to it at line 4: `a = a.clone()`",
        [("\nb =", "\na = a.clone()\nb =")],
    ),
    "outer": (OUTER, "clone that before the call, `a = a.clone()`.", [("\nf()", "\na = a.clone()\nf()")]),
}


@pytest.mark.parametrize("source, says, changes", THROUGH.values(), ids=THROUGH)
def test_the_fix_keeps_what_was_written(tmp_path, source, says, changes):
    (found,), broken = ran(tmp_path / "broken", source)
    assert broken.get("failed") and says in found.fix, found.fix
    for old, new in changes:
        assert old in source
        source = source.replace(old, new, 1)
    findings, mended = ran(tmp_path / "mended", source)
    assert not findings and not mended.get("failed")
    assert mended["loss"].item() == broken["loss"].item()


#: The name that is written is all that is used later: a new tensor under it does the same.
ALONE = {
    "the part alone": "a = ag.tanh(w)\nrow = a[0]\ny = row.exp()\nrow *= 2\nloss = (y * row).sum()\nloss.backward()\n",
    "a copy": "a = ag.tanh(w)\nrow = a[[0, 1]].exp()\nrow *= 2\nloss = row.sum() + a.sum()\nloss.backward()\n",
    "another name alone": "a = ag.tanh(w)\nrow = a\nrow *= 2\nloss = row.sum()\nloss.backward()\n",
    "the base is new": "a = ag.tanh(w)\nrow = a[0]\nrow *= 2\na = row.sum()\nloss = a * 1\nloss.backward()\n",
    "returned": "def f(t):\n    row = t[0]\n    row *= 2\n    return row\nloss = f(ag.tanh(w)).sum()\nloss.backward()\n",
}


@pytest.mark.parametrize("source", ALONE.values(), ids=ALONE)
def test_what_is_used_under_one_name_is_bound_anew(tmp_path, source):
    (found,), broken = ran(tmp_path / "broken", source)
    assert "Write it out of place, `row = row * 2`" in found.fix
    findings, mended = ran(tmp_path / "mended", source.replace("row *= 2", "row = row * 2"))
    assert not findings and mended["loss"].item() == broken["loss"].item()


@pytest.mark.parametrize("taken", ["", "y = "])
def test_what_an_op_with_inplace_gives_is_to_be_used(tmp_path, taken):
    source = f"y = ag.tanh(w - 1)\n{taken}nn.functional.relu(y, inplace=True)\nloss = (y + 1).sum()\nloss.backward()\n"
    (found,), broken = ran(tmp_path / "broken", source)
    says = "Drop inplace=True at line 4" + ("." if taken else " and assign what it gives, `y = ...`.")
    assert found.fix == says
    source = source.replace(f"{taken}nn", "y = nn").replace(", inplace=True", "")
    findings, mended = ran(tmp_path / "mended", source)
    assert not findings and mended["loss"].item() == broken["loss"].item()
