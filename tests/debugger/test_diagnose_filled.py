"""A state of several layers, which an inner loop or a comprehension goes through: the whole list or dict is detached, as it is built."""

import pytest

HEAD = "import agdbg_engine as ag; from agdbg_engine import nn, optim\nag.manual_seed(0)\n"
END = """    loss = x.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
MODEL = "layers = nn.ModuleList([nn.{kind}(3, 3), nn.{kind}(3, 3)]); opt = optim.SGD(layers.parameters(), lr=.1)\n"
CELLS = """cells = nn.ModuleDict({{'a': nn.{kind}(3, 3), 'b': nn.{kind}(3, 3)}})
opt = optim.SGD(cells.parameters(), lr=.1)
"""
TURN = """{begin}
for step in range(3):
    x = ag.ones(1, 3)
    {body}
"""
LISTED = """for i, layer in enumerate(layers):
        {body}"""
KEYED = """for k, cell in cells.items():
        {body}"""
NET = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.{kind}(3, 3), nn.{kind}(3, 3)])
        self.state = {begin}
    def forward(self, x):
        for i, layer in enumerate(self.layers):
            {body}
        return x
net = Net()
opt = optim.SGD(net.parameters(), lr=.1)
"""
CALL = """for step in range(3):
    x = net(ag.ones(1, 3))
"""
RUN = """def run(x, hs):
    for i, layer in enumerate(layers):
        hs[i] = layer(x, hs[i])
        x = hs[i]
    return {given}
hs = [ag.zeros(1, 3) for _ in layers]
for step in range(3):
    {call}
"""
ZEROS, PAIRS = "[ag.zeros(1, 3) for _ in layers]", "[(ag.zeros(1, 3), ag.zeros(1, 3)) for _ in layers]"


def turn(body, begin=f"hs = {ZEROS}", kind="RNNCell", model=MODEL):
    return model.format(kind=kind) + TURN.format(begin=begin, body=body) + END


def listed(body, begin=f"hs = {ZEROS}", kind="RNNCell"):
    """The loop over a list of layers in a turn."""
    return turn(LISTED.format(body=body.replace("\n", "\n        ")), begin, kind)


def keyed(body, begin="states = {k: ag.zeros(1, 3) for k in cells}", kind="RNNCell"):
    """The loop over a dict of cells in a turn."""
    return turn(KEYED.format(body=body), begin, kind, CELLS)


def net(body, begin, kind="RNNCell", call=CALL):
    """A module that keeps a list of states itself."""
    return NET.format(kind=kind, begin=begin, body=body) + call + END


def in_function(text, name, parameter, argument):
    """The program with its loop in a function."""
    begin, loop = text.split("for step in", 1)
    head, _, given = begin.rpartition(f"{parameter} = ")
    inside = f"    for step in{loop}".replace("\n", "\n    ").rstrip()
    return f"{head}def {name}({parameter if argument else ''}):\n{inside}\n" + (
        f"{name}({given.strip()})\n" if argument else f"{parameter} = {given.strip()}\n{name}()\n"
    )


LAST = "hs[i] = layer(x, hs[i]); x = hs[i]"
LSTM = "hc[i] = layer(x, hc[i]); x = hc[i][0]"
EACH = "hs = [each.detach() for each in hs]"
HC = "hc = [(h.detach(), c.detach()) for h, c in hc]"
KEPT = "net.state = [each.detach() for each in net.state]"

#: The program, and the statement that the fix has.
FILLED = {
    "a list": (listed(LAST), EACH),
    "of no states at first": (listed(LAST, "hs = [None] * len(layers)"), EACH),
    "by range": (turn("for i in range(len(layers)):\n        hs[i] = layers[i](x, hs[i]); x = hs[i]"), EACH),
    "by a loop that counts": (
        turn("i = 0\n    while i < 2:\n        hs[i] = layers[i](x, hs[i]); x = hs[i]; i += 1"), EACH,
    ),
    "two targets": (listed("x = hs[i] = layer(x, hs[i])"), EACH),
    "by another name": (listed("h = layer(x, hs[i])\nhs[i] = h\nx = h", "hs = [None, None]"), EACH),
    "by the name of the output": (listed("x = layer(x, hs[i])\nhs[i] = x", "hs = [ag.zeros(1, 3)] * 2"), EACH),
    "and shown by a comprehension": (
        listed("h = layer(x, hs[i])\nhs[i] = h\nx = h").replace("    loss =", "    n = [h.shape for h in hs]\n    loss ="), EACH,
    ),
    "of times and layers": (
        turn("for t in range(4):\n        x = ag.ones(1, 3)\n        for i, layer in enumerate(layers):\n"
             "            hs[i] = layer(x, hs[i]); x = hs[i]"), EACH,
    ),
    "lists in a list": (
        turn("for d in range(2):\n        for i, layer in enumerate(layers):\n"
             "            hs[d][i] = layer(x, hs[d][i]); x = hs[d][i]", f"hs = [{ZEROS} for d in range(2)]"),
        "hs = [[each.detach() for each in one] for one in hs]",
    ),
    "a dict": (keyed("states[k] = cell(x, states[k]); x = states[k]"),
               "states = {key: each.detach() for key, each in states.items()}"),
    "an empty dict": (keyed("states[k] = cell(x, states.get(k)); x = states[k]", "states = {}"),
                      "states = {key: each.detach() for key, each in states.items()}"),
    "a dict with a default": (
        keyed("states[k] = cell(x, states[k]); x = states[k]",
              "from collections import defaultdict\nstates = defaultdict(lambda: None)"),
        "states.update({key: each.detach() for key, each in states.items()})",
    ),
    "a dict of pairs": (keyed("states[k] = cell(x, states[k]); x = states[k][0]", "states = dict.fromkeys(cells)", "LSTMCell"),
                        "states = {key: (h.detach(), c.detach()) for key, (h, c) in states.items()}"),
    "pairs": (listed(LSTM, f"hc = {PAIRS}", "LSTMCell"), HC),
    "pairs, none at first": (listed(LSTM, "hc = [None for _ in layers]", "LSTMCell"), HC),
    "pairs, taken apart": (listed("h, c = layer(x, hc[i])\nhc[i] = (h, c)\nx = h", f"hc = {PAIRS}", "LSTMCell"), HC),
    "two lists": (
        listed("hs[i], cs[i] = layer(x, (hs[i], cs[i])); x = hs[i]", f"hs, cs = {ZEROS}, {ZEROS}", "LSTMCell"),
        f"{EACH}` and `cs = [each.detach() for each in cs]",
    ),
    "a comprehension": (turn("hs = [layer(x, h) for layer, h in zip(layers, hs)]; x = sum(hs)"), EACH),
    "a comprehension of pairs": (
        turn("hs = [layer(x, h) for layer, h in zip(layers, hs)]; x = sum(h for h, c in hs)", "hs = [None, None]", "LSTMCell"),
        "hs = [(h.detach(), c.detach()) for h, c in hs]",
    ),
    "a comprehension of a dict": (
        turn("states = {k: cells[k](x, h) for k, h in states.items()}; x = sum(states.values())",
             "states = {k: ag.zeros(1, 3) for k in cells}", model=CELLS),
        "states = {key: each.detach() for key, each in states.items()}",
    ),
    "a tuple": (turn("hs = tuple(layer(x, h) for layer, h in zip(layers, hs)); x = sum(hs)", f"hs = tuple({ZEROS})"),
                "hs = tuple(each.detach() for each in hs)"),
    "a new list": (
        turn("new = []\n    for layer, h in zip(layers, hs):\n        x = layer(x, h)\n        new.append(x)\n    hs = new"), EACH,
    ),
    "a new list of what calls return": (
        turn("new = []\n    for layer, h in zip(layers, hs):\n        new.append(layer(x, h))\n    hs = new; x = sum(hs)"), EACH,
    ),
    "a module": (net("self.state[i] = layer(x, self.state[i]); x = self.state[i]", "[None, None]"), KEPT),
    "a module, zeros": (net("self.state[i] = layer(x, self.state[i]); x = self.state[i]", "[ag.zeros(1, 3)] * 2"), KEPT),
    "a module, a dict": (net("self.state[i] = layer(x, self.state.get(i)); x = self.state[i]", "{}"),
                         "net.state = {key: each.detach() for key, each in net.state.items()}"),
    "a module, pairs": (
        net("h, c = layer(x, self.state[i]); self.state[i] = (h, c); x = h", "[None, None]", "LSTMCell"),
        "net.state = [(h.detach(), c.detach()) for h, c in net.state]",
    ),
    "a module that runs twice": (
        net("self.state[i] = layer(x, self.state[i]); x = self.state[i]", "[ag.zeros(1, 3)] * 2",
            call=CALL.replace("net(ag", "net(net(ag").replace("3))", "3)))")), KEPT,
    ),
    "a parameter": (in_function(listed(LAST), "train", "hs", True), EACH),
    "a variable of the module": (in_function(listed(LAST), "train", "hs", False), "hs[:] = [each.detach() for each in hs]"),
    "a dict of the module": (
        in_function(keyed("states[k] = cell(x, states[k]); x = states[k]"), "train", "states", False),
        "states.update({key: each.detach() for key, each in states.items()})",
    ),
    "a function that changes it": (MODEL.format(kind="RNNCell") + RUN.format(given="x", call="x = run(ag.ones(1, 3), hs)") + END, EACH),
    "a function that returns it": (
        MODEL.format(kind="RNNCell") + RUN.format(given="x, hs", call="x, hs = run(ag.ones(1, 3), hs)") + END, EACH,
    ),
    "a function of a comprehension": (
        turn("hs = run(x, hs); x = sum(hs)", f"def run(x, hs):\n    return [layer(x, h) for layer, h in zip(layers, hs)]\nhs = {ZEROS}"),
        EACH,
    ),
    "a step that changes it": (
        MODEL.format(kind="RNNCell") + f"hs = {ZEROS}\ndef step(x, hs):\n    for i, layer in enumerate(layers):\n"
        f"        {LAST}\n{END}for _ in range(3):\n    step(ag.ones(1, 3), hs)\n", "hs[:] = [each.detach() for each in hs]",
    ),
    "an update elsewhere": (
        MODEL.format(kind="RNNCell") + "def update(x):\n" + END
        + TURN.format(begin=f"hs = {ZEROS}", body=f"{LISTED.format(body=LAST)}\n    update(x)"), EACH,
    ),
}  # fmt: skip


@pytest.fixture
def programs(carried):
    return carried(HEAD)


@pytest.mark.parametrize("name", FILLED)
def test_the_whole_is_detached_and_the_fix_runs_as_it_stands(programs, at_beginning, name):
    text, statement = FILLED[name]
    said = programs.run(text).stdout
    fix = programs.fix_in(said)
    assert "into the previous iteration through" in said and f"`{statement}`" in fix, said
    mended = programs.run(programs.applied(text, fix))
    assert mended.status == 0, (fix, mended.stdout)
    inside = at_beginning(text, fix, "forward")
    assert inside is None or programs.run(inside).status == 0, fix


def test_a_module_that_runs_once_may_detach_it_itself(programs):
    for name in ("a module, zeros", "a module, a dict"):
        assert "runs once in an iteration, at its beginning: `self.state = " in programs.fix(FILLED[name][0])
    for name in ("a module", "a module, pairs"):  # there is None in it at first
        assert "Net.forward`)" in (fix := programs.fix(FILLED[name][0])) and "at its beginning" not in fix
    assert "Not inside `Net.forward`: it runs several times" in programs.fix(FILLED["a module that runs twice"][0])


#: Programs that carry no graph, or part of one that no call needs again.
CORRECT = {
    "detached at first": listed(LAST).replace("    x = ag", f"    {EACH}\n    x = ag"),
    "detached where it is read": listed(LAST.replace("hs[i])", "hs[i].detach())")),
    "begun anew": listed(LAST).replace("    x = ag", f"    hs = {ZEROS}\n    x = ag"),
    "detached after the step": listed(LSTM, f"hc = {PAIRS}", "LSTMCell") + f"    {HC}\n",
    "a module that is detached": FILLED["a module"][0] + f"    {KEPT}\n",
    "a dict that is detached": FILLED["a dict"][0] + f"    {FILLED['a dict'][1]}\n",
    "of one call behind": listed(LAST)
    .replace(END, "    total = total + x.sum()\n")
    .replace("for step", "total = 0\nfor step")
    + "total.backward()\n",
}


@pytest.mark.parametrize("name", CORRECT)
def test_a_state_that_is_detached_is_no_finding(programs, name):
    said = programs.run(CORRECT[name])
    assert said.status == 0, said.stdout
