"""A state that a layer returned, or that mixes depths: the printed edit fits what the layer returns, or there is none but words."""

import pytest

KEPT = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head, self.state = nn.{kind}(2, 2), nn.Linear(2, 2), None
    def forward(self, x):
        h = {read} if self.state is not None else ag.zeros(1, 2)
        y = self.head(h)
        {made}
        return y
net = Net(); opt = optim.SGD(net.parameters(), lr=.1)
for x in ag.randn(4, 1, 2):
    loss = (net(x) - x).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
LAYERS = {
    "LSTMCell": ("self.state[0]", "self.state = self.cell(x, self.state)"),
    "GRUCell": ("self.state[0:1]", "self.state = self.cell(x, self.state)"),
    "GRU": ("self.state[-1].view(1, 2)", "_, self.state = self.cell(x, self.state)"),
}
TUPLE, TENSOR = "`net.state = tuple(each.detach() for each in net.state)`", "`net.state = net.state.detach()`"


@pytest.mark.parametrize("kind", LAYERS)
def test_what_a_layer_returned_decides_whatever_crosses(linted, carried_class, kind):
    read, made = LAYERS[kind]
    source = KEPT.format(kind=kind, read=read, made=made)
    (found,) = linted(source).diagnosed
    assert found.kind == "inplace-modified" and (TUPLE if "LSTM" in kind else TENSOR) in found.fix, found.fix
    head = "import agdbg_engine as ag; from agdbg_engine import nn, optim\n"
    exec(head + carried_class(None, head).applied(source, found.fix), {"__name__": "mended"})


@pytest.mark.parametrize("read", ["self.state[0]", "(lambda state: state[0])(self.state)"], ids=["apart", "nowhere"])
def test_what_a_layer_of_another_file_returned_gets_no_edit_where_it_is_taken_apart(
    linted, tmp_path, monkeypatch, read
):
    (tmp_path / "helper_of_the_test.py").write_text(
        "from agdbg_engine import nn\ndef made(): return nn.LSTMCell(2, 2)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    source = KEPT.format(kind="Linear", read=read, made="self.state = self.cell(x, self.state)")
    source = source.replace("nn.Linear(2, 2), nn", "made(), nn")
    (found,) = linted(f"from helper_of_the_test import made\n{source}").diagnosed
    assert ("each tensor in `net.state`" in found.fix) == (read == "self.state[0]"), found.fix


MIXED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.lstm = nn.GRUCell(2, 2), nn.LSTMCell(2, 2)
        self.state = None
    def forward(self, x):
        old = self.state or {start}
        h, both = {old}
        h, (g, c) = self.gru(x, h), self.lstm(x, both)
        self.state = {new}
        return (h + g).pow(2).sum()
net = Net(); opt = optim.SGD(net.parameters(), lr=.1)
for x in ag.randn(3, 1, 2):
    loss = net(x)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
BOTHS = "(ag.zeros(1, 2), ag.zeros(1, 2))"


@pytest.mark.parametrize(
    ("start", "old", "new"),
    [
        (f"{{'h': ag.zeros(1, 2), 'lstm': {BOTHS}}}", "old['h'], old['lstm']", "{'h': h, 'lstm': (g, c)}"),
        (f"[ag.zeros(1, 2), {BOTHS}]", "old", "[h, (g, c)]"),
    ],
    ids=["dict", "list"],
)
def test_what_mixes_depths_is_told_in_words(linted, start, old, new):
    (found,) = linted(MIXED.format(start=start, old=old, new=new)).diagnosed
    assert found.kind == "backward-twice" and "Detach the state" in found.fix, found.fix
    assert ".detach()" not in found.fix
