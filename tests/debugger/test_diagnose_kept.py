"""What is kept under another name for the next iteration, by a line before the pass: it is detached where it is kept."""

import pytest

HEAD = """import agdbg_engine as ag
from collections import deque
ag.manual_seed(0)
w = ag.randn(4, requires_grad=True)
opt = ag.optim.SGD([w], lr=.1)
"""
END = """    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def turn(begin, *lines):
    """A loop that makes `z` in each turn, and then what the lines say."""
    return "\n".join([begin, "for t in range(4):", "    z = ag.randn(4) * w", *(f"    {each}" for each in lines), END])


LOSS = "loss = (z ** 2).sum()"
PREV = ("prev = z", "prev = z.detach()")
HIST = ("hist.append(z)", "hist.append(z.detach())")
LISTED = "hist = [each.detach() for each in hist]"
MODULE = """class Net(ag.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = ag.nn.Linear(4, 4)
        self.hist = []
    def forward(self, x):
        h = ag.tanh(self.lin(x))
        if self.hist:
            h = h + self.hist[-1]
        self.hist.append(h)
        return h
net = Net()
opt = ag.optim.SGD(net.parameters(), lr=.1)
for t in range(4):
    loss = net(ag.randn(2, 4)).pow(2).mean()
"""
#: The program, and the statement that the fix has with the one that it replaces, or the statement behind the call.
KEPT = {
    "a name": (turn("prev = ag.zeros(4)", "loss = (z ** 2).sum() + ((z - prev) ** 2).sum()", "prev = z"), PREV),
    "a name, none at first": (
        turn("prev = None", LOSS, "if prev is not None:", "    loss = loss + ((z - prev) ** 2).sum()", "prev = z"), PREV,
    ),
    "a name, in an exchanged sum": (turn("prev = ag.zeros(4)", "loss = (2 + (z + prev)).pow(2).sum()", "prev = z"), PREV),
    "two names": (
        turn("prev = before = ag.zeros(4)", "loss = (z - 2 * prev + before).pow(2).sum()", "before = prev", "prev = z"), PREV,
    ),
    "two names at once": (
        turn("prev = before = ag.zeros(4)", "loss = (z - 2 * prev + before).pow(2).sum()", "prev, before = z, prev"),
        ("prev, before = z, prev", "prev, before = z.detach(), prev"),
    ),
    "a name that a function is given": (
        "def compare(a, b):\n    return ((a - b) ** 2).sum()\n"
        + turn("prev = ag.zeros(4)", "loss = compare(z, prev)", "seen = [z]", "prev = z"), PREV,
    ),
    "the last of a list": (turn("hist = []", "if hist:", "    z = z + hist[-1]", "hist.append(z)", LOSS), HIST),
    "all of a list": (turn("hist = []", "loss = (z + sum(hist)).pow(2).sum()", "hist.append(z)"), HIST),
    "a list, in a comprehension": (
        turn("hist = []", "more = sum(ag.tanh(m) for m in hist) if hist else 0", "hist.append(z)", "loss = ((z + more) ** 2).sum()"),
        HIST,
    ),
    "a list, in a loop": (
        turn("hist = []", "for past in hist:", "    z = z + 0.5 * ag.tanh(past)", "hist.append(z)", LOSS), HIST,
    ),
    "a deque, in a loop": (
        turn("hist = deque(maxlen=2)", "for past in hist:", "    z = z + ag.tanh(past)", "hist.append(z)", LOSS), HIST,
    ),
    "a list that is built anew": (
        turn("hist = []", "if hist:", "    z = z + hist[-1]", "hist = hist + [z]", LOSS),
        ("hist = hist + [z]", "hist = hist + [z.detach()]"),
    ),
    "a list with what is in it now": (turn("hist = []", "hist.append(z)", "loss = ag.stack(hist).pow(2).sum()"), LISTED),
    "a deque with what is in it now": (
        turn("hist = deque(maxlen=2)", "hist.append(z)", "loss = sum(ag.tanh(m) for m in hist).pow(2).sum()"),
        "for i, each in enumerate(hist): hist[i] = each.detach()",
    ),
    "a list of an inner loop": (
        turn("hist = []", "for k in range(2):", "    z = ag.randn(4) * w", "    if hist:", "        z = z + hist[-1]",
             "    hist.append(z)", LOSS),
        LISTED,
    ),
    "a list of an object": (MODULE + END, ("self.hist.append(h)", "self.hist.append(h.detach())")),
}  # fmt: skip


@pytest.fixture
def programs(carried):
    return carried(HEAD)


def applied(text, fix, kept):
    """The program with what the fix says, where it says it."""
    if isinstance(kept, tuple):
        old, new = kept
        lines = (HEAD + text).splitlines()
        (at,) = [number for number, each in enumerate(lines, 1) if each.strip() == old]
        assert f"`{new}` in place of `{old}` at line {at}" in fix
        lines[at - 1] = lines[at - 1].replace(old, new)
        return "\n".join(lines).removeprefix(HEAD) + "\n"
    at = (HEAD + text).splitlines().index("    loss.backward()") + 1
    assert f"`{kept}`, after `loss.backward()` at line {at}" in fix
    return text.replace("    loss.backward()\n", f"    loss.backward()\n    {kept}\n")


@pytest.mark.parametrize("name", KEPT)
def test_it_is_detached_where_it_is_kept_and_the_program_runs(programs, name):
    text, kept = KEPT[name]
    said = programs.run(text)
    assert said.status == 3 and "into the previous iteration through `" in said.stdout
    again = programs.run(applied(text, programs.fix_in(said.stdout), kept))
    assert again.status == 0, again.stdout


def test_a_name_that_goes_on_itself_is_detached_itself_whatever_else_keeps_it(programs):
    """A list that is read too is no reason: what the turn reads before it makes it anew is that of the turn before."""
    text = turn("h = ag.zeros(4); hist = []", "h = ag.tanh(h + z)", "hist.append(h)", "loss = h.sum() + len(hist)")
    fix = programs.fix(text)
    assert "`h = h.detach()`" in fix and "hist" not in fix
