"""A state in a dataclass or a named tuple: the fix names its fields; it is put into the program, which then runs."""

import pytest

HEAD = "import agdbg_engine as ag; from agdbg_engine import nn, optim\nag.manual_seed(0)\n"
PLAIN = """import dataclasses
from dataclasses import dataclass
@dataclass{options}
class State:
    h: ag.Tensor
    c: ag.Tensor
{more}"""
TUPLE = (
    "from typing import NamedTuple\nclass State(NamedTuple):\n    h: ag.Tensor\n    c: ag.Tensor\n    steps: int = 0\n"
)
SHORT = "from collections import namedtuple\nState = namedtuple('State', 'h c')\n"
FUNCTION = """w = ag.randn(3, 3, requires_grad=True); opt = optim.SGD([w], lr=.1)
def cell(x, s):
    c = ag.sigmoid(x @ w) * s.c + ag.tanh(s.h @ w)
    return State(h=ag.tanh(c), c=c)
"""
MODULE = """class Core(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)
    def forward(self, x, s):
        c = ag.sigmoid(self.l(x)) * s.c + ag.tanh(s.h)
        return State(ag.tanh(c), c)
cell = Core(); opt = optim.SGD(cell.parameters(), lr=.1)
"""
LOOP = """s = State(ag.zeros(1, 3), ag.zeros(1, 3))
for t in range(3):
    s = cell(ag.ones(1, 3), s)
    loss = s.h.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
FIELDS = "h=s.h.detach(), c=s.c.detach()"
CASES = {
    "a dataclass": (PLAIN.format(options="", more=""), ["s.h = s.h.detach()", "s.c = s.c.detach()"]),
    "a frozen one": (PLAIN.format(options="(frozen=True)", more=""), [f"s = State({FIELDS})"]),
    "a frozen one that counts": (
        PLAIN.format(options="(frozen=True)", more="    steps: int = 0\n"),
        [f"s = dataclasses.replace(s, {FIELDS})"],
    ),
    "a named tuple": (TUPLE, [f"s = s._replace({FIELDS})"]),
    "a named tuple in short": (SHORT, [f"s = s._replace({FIELDS})"]),
}


@pytest.mark.parametrize("cell", [FUNCTION, MODULE], ids=["a function", "a module"])
@pytest.mark.parametrize("name", CASES)
def test_the_fix_names_the_fields_and_works(carried, name, cell):
    kind, statements = CASES[name]
    programs = carried(HEAD)
    text = kind + cell + LOOP
    fix = programs.fix(text)
    for each in statements:
        assert f"`{each}`" in fix
    assert programs.run(programs.applied(text, fix)).status == 0, fix
