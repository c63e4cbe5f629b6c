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
OWN = "class State:\n    def __init__(self, h, c):\n        self.h, self.c = h, c\n"
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
    "a class of one's own": (OWN, ["s.h = s.h.detach()", "s.c = s.c.detach()"]),
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


BEGIN = "w = ag.randn(3, 3, requires_grad=True); opt = optim.SGD([w], lr=.1)\n"
STEP = """    s = s or {empty}
    c = ag.sigmoid(x @ w) * s[{c}] + ag.tanh(s[{h}] @ w)
    new = ag.tanh(c)
    return {back}
"""
AS_DICT = "s = {key: each.detach() for key, each in s.items()}"
EMPTY = "{'h': ag.zeros(1, 3), 'c': ag.zeros(1, 3)}"
RETURNED = {
    "a dict": (STEP.format(empty=EMPTY, h="'h'", c="'c'", back="{'h': new, 'c': c}"), "s", "s['h']", AS_DICT),
    "a dict beside a result": (
        STEP.format(empty=EMPTY, h="'h'", c="'c'", back="new, {'h': new, 'c': c}"), "out, s", "out", AS_DICT,
    ),
    "a list": (
        STEP.format(empty="[ag.zeros(1, 3)] * 2", h=0, c=1, back="[new, c]"), "s", "s[0]", "s = [each.detach() for each in s]",
    ),
    "a tuple": (
        STEP.format(empty="(ag.zeros(1, 3),) * 2", h=0, c=1, back="(new, c)"), "s", "s[0]", "s = tuple(each.detach() for each in s)",
    ),
}  # fmt: skip
IN_MODULE = "class Net(nn.Module):\n    def forward(self, x, s=None):\n{body}net = Net()\n"


@pytest.mark.parametrize("is_module", [False, True], ids=["a function", "a module"])
@pytest.mark.parametrize("name", RETURNED)
def test_what_begins_as_none_has_the_form_of_what_is_returned(carried, name, is_module):
    body, stored, result, statement = RETURNED[name]
    programs = carried(HEAD)
    if is_module:
        made = IN_MODULE.format(body="".join(f"    {line}\n" for line in body.splitlines()))
    else:
        made = f"def net(x, s=None):\n{body}"
    lines = [
        f"{stored} = net(ag.ones(1, 3), s)",
        f"loss = {result}.sum()",
        "opt.zero_grad()",
        "loss.backward()",
        "opt.step()",
    ]
    text = f"{BEGIN}{made}s = None\nfor t in range(3):\n" + "".join(f"    {line}\n" for line in lines)
    fix = programs.fix(text)
    assert f"`{statement}`" in fix
    assert programs.run(programs.applied(text, fix)).status == 0, fix
