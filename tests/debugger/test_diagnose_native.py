"""Small scripts on agdbg's own engine, recorded and diagnosed: lines, names and fix of each."""

import pytest

import agdbg_engine
from agdbg.diagnose import diagnose
from agdbg.engines import native
from agdbg.record import Facts, Recorder, Trace
from agdbg_engine import nn, sites

HEAD = "import agdbg_engine as ag; from agdbg_engine import nn, optim\n"  # line 1

SAME_LOSS = """
x = ag.tensor([1., 2.], requires_grad=True)
loss = (x * x).sum()
loss.backward()
loss.backward()
"""

CARRIED = """
w = ag.tensor([.5, .5], requires_grad=True)
h = ag.zeros(2)
for step in range(3):
    h = ag.tanh(h * w + 1)
    loss = h.sum()
    loss.backward()
"""

CARRIED_AND_KEPT = """
w = ag.tensor([.5, .5], requires_grad=True)
opt = optim.SGD([w], lr=.1)
h = ag.zeros(2)
for step in range(4):
    h = ag.tanh(h * w + 1)
    loss = h.sum()
    loss.backward(retain_graph=True)
    opt.step()
"""

LOADED = """model = nn.Linear(2, 2)
state = {k: v.clone() for k, v in model.state_dict().items()}
x = ag.ones(1, 2, requires_grad=True)
loss = model(x).sum()
LINE
loss.backward()
"""

LSTM = """
w = ag.tensor([.5, .5], requires_grad=True)
def cell(x, h, c):
    i = ag.sigmoid(x * w + h)
    c = c * i + ag.tanh(x + h * w)
    h = ag.tanh(c) * i
    return h, c
h, c = ag.zeros(2), ag.zeros(2)
for step in range(3):
    h, c = cell(ag.ones(2), h, c)
    (h * h).sum().backward()
"""

RUNNING_TOTAL = """
w = ag.tensor([.5, .5], requires_grad=True)
total = 0
for step in range(3):
    loss = (w * w * step).sum()
    total += loss
    total.backward()
"""

TWO_LOSSES = """
encoder, head_a, head_b = nn.Linear(3, 3), nn.Linear(3, 1), nn.Linear(3, 1)
z = ag.relu(encoder(ag.ones(2, 3)))
loss_a = head_a(z).sum()
loss_b = head_b(z).sum()
loss_a.backward()
loss_b.backward(RETAIN)
"""

ONCE = """
encoder, head = nn.Linear(3, 3), nn.Linear(3, 1)
opt = optim.SGD(TRAINED, lr=.1)
features = ag.tanh(encoder(ag.ones(2, 3)))
for step in range(3):
    loss = head(features).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

OLD_POLICY = """
policy = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2))
opt = optim.SGD(policy.parameters(), lr=.1)
old = ag.log_softmax(policy(ag.ones(2, 3)), 1)
for epoch in range(3):
    new = ag.log_softmax(policy(ag.ones(2, 3)), 1)
    loss = (new - old).exp().sum()
    opt.zero_grad()
    loss.backward(RETAIN)
    opt.step()
"""

ONE_CLASS = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
    def forward(self, x):
        return ag.tanh(self.lin(x))
encoder, head = Block(), Block()
features = encoder(ag.ones(2, 3))
for step in range(3):
    head(features).sum().backward()
"""

CRITIC = """
G, D = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
opt_d = optim.Adam(D.parameters())
for step in range(3):
    fake = ag.tanh(G(ag.randn(4, 2)))
    loss_d = D(fake).mean()
    loss_d.backward()
    opt_d.step()
    loss_g = -D(fake).mean()
    loss_g.backward()
"""

GRAD_FIRST = """
w = ag.tensor([1., 2.], requires_grad=True)
loss = (w * w).sum()
(g,) = ag.autograd.grad(loss, w)
loss.backward()
"""

NESTED = """
x = ag.tensor([1., 2.], requires_grad=True)
h = ag.exp(x)
penalty = (h * h).sum()
def hook(g):
    penalty.backward()
out = h * 3
out.register_hook(hook)
loss = out.sum()
loss.backward()
"""

AUGMENTED = """
x = ag.ones(3, requires_grad=True)
a = 2 * x
y = ag.exp(a)
y *= 3
y.sum().backward()
"""

STEP = """
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
optimizer = optim.SGD(net.parameters(), lr=.1)
loss = net(ag.ones(2, 3)).sum()
loss.backward(retain_graph=True)
optimizer.step()
loss.backward()
"""

SHARED_COUNTER = """
x = ag.ones(2, requires_grad=True)
buf = ag.zeros(4)
a = buf[:2]
b = buf[2:]
y = a * x
b += 1
y.sum().backward()
"""

FILLED = """
w = ag.ones(2, requires_grad=True)
out = ag.zeros(3, 2)
h = w
for t in range(3):
    out[t] = h
    h = ag.tanh(out[t] * w)
h.sum().backward()
"""

EXPONENT = """
x = ag.tensor([2., 3.], requires_grad=True)
k = ag.tensor([1., 1.])
total = x.sum()
for i in range(3):
    total = total + (x ** k).sum()
    k += 1
total.backward()
"""

OLD_LOSS = """
net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
opt = optim.Adam(net.parameters())
l1 = net(ag.ones(2, 3)).mean()
l2 = l1 * 2 + net(ag.ones(2, 3)).mean()
l1.backward(retain_graph=True)
opt.step()
l2.backward()
"""

UPDATE = """
w = ag.ones(3, requires_grad=True)
h = w * w
loss = (h * w).sum()
loss.backward(retain_graph=True)
with ag.no_grad(): w -= 0.1 * w.grad
loss.backward()
"""

ONE_OF_SEVERAL = """
x = ag.tensor([[2., 1.], [0., 3.]], requires_grad=True)
u, s, vh = ag.linalg.svd(x)
u.mul_(2)
s.sum().backward()
"""

CASES = {
    "1 of several": (
        ONE_OF_SEVERAL,
        ["`u`, saved by LinalgSvdBackward0 at line 4, was changed by `u.mul_(2)` at line 5 before"],
        "`u = u.mul(2)`",
    ),
    "13": (SAME_LOSS, ["line 6 goes", "`loss.backward()` at line 5 freed", "made at line 4"], "first call, line 5"),
    "14": (CARRIED, ["previous iteration through `h`, made at line 6", "at line 8"], "`h = h.detach()`"),
    "14 kept": (
        CARRIED_AND_KEPT,
        ["(SGD.step) at line 10 updated `w`, saved by MulBackward0 at line 7"],
        "`h = h.detach()`",
    ),
    "14 lstm": (
        LSTM,
        ["through `h`, made at line 7"],
        "Detach `h` and `c`, which hand on the state (`h` and `c` in `cell`), in the loop after `(h * h).sum().backward()` at",
    ),
    "14 total": (RUNNING_TOTAL, ["through `total`, made at line 7"], "`total = total + loss.detach()`"),
    "15": (
        TWO_LOSSES.replace("RETAIN", ""),
        ["`loss_a.backward()` at line 7 freed the graph of `z`, made at line 4", "`loss_b.backward()` at line 8"],
        "`(loss_a + loss_b).backward()`, or pass retain_graph=True to the first call, line 7",
    ),
    "16 trained": (
        ONCE.replace("TRAINED", "[*encoder.parameters(), *head.parameters()]"),
        ["`features`, made once at line 5", "`loss.backward()` at line 9"],
        "Compute it again in every turn: move line 5 into the loop.",
    ),
    "16 cached": (
        ONCE.replace("TRAINED", "[*encoder.parameters(), *head.parameters()]")
        .replace("features = ", "import functools\n@functools.lru_cache(maxsize=None)\ndef made(): return ")
        .replace("head(features)", "head(made())"),
        ["What `made` returned, made once at line 7"],
        "Compute it again in every turn: without `@functools.lru_cache`, which keeps what `made` returned",
    ),
    "16 not trained": (
        ONCE.replace("TRAINED", "head.parameters()"),
        ["`features`, made once at line 5"],
        "No optimizer step so far updated anything below `features`",
    ),
    "16 old policy": (
        OLD_POLICY.replace("RETAIN", ""),
        ["`old`, made once at line 5", "`loss.backward()` at line 10"],
        "store it without its graph: `old = old.detach()`, behind what made it at line 5",
    ),
    "16 old policy retained": (
        OLD_POLICY.replace("RETAIN", "retain_graph=True"),
        ["(SGD.step) at line 11 updated", "saved by AddmmBackward0 at line 5"],
        "`old = old.detach()`, behind what made it at line 5; retain_graph=True is not needed then.",
    ),
    "16 one class": (ONE_CLASS, ["What `Block.forward` returned, made once at line 8"], "again in every turn"),
    "15 critic": (
        CRITIC,
        ["graph of `fake`, made at line 6", "`loss_g.backward()` at line 11"],
        "detach `fake` in the loss",
    ),
    "18": (
        GRAD_FIRST,
        ["`ag.autograd.grad(loss, w)` at line 5 freed"],
        "Pass retain_graph=True to the first call, line 5.",
    ),
    "19": (
        NESTED,
        ["`penalty.backward()` at line 7 ran inside of `loss.backward()` at line 11, in the backward of MulBackward0,"],
        "retain_graph=True to the inner call at line 7",
    ),
    "20": (
        TWO_LOSSES.replace("RETAIN", "retain_graph=True"),
        ["`loss_a.backward()` at line 7 freed"],
        "Move retain_graph=True from the second call to the first, line 7",
    ),
    "1": (
        AUGMENTED,
        ["`y`, saved by ExpBackward0 at line 5, was changed by `y *= 3` at line 6 before `y.sum()"],
        "`y = y * 3`",
    ),
    "2": (
        STEP,
        ["The optimizer step (SGD.step) at line 7 updated parameter `1.weight`, saved by AddmmBackward0 at line 5"],
        "move `optimizer.step()` at line 7 behind the last backward()",
    ),
    "5": (
        SHARED_COUNTER,
        [
            "`a`, saved by MulBackward0 at line 7, is as it was: `b += 1` at line 8 wrote another part",
            "a false alarm by design",
        ],
        "used at line 7",
    ),
    "5 filled": (
        FILLED,
        ["`out[t]`, saved by MulBackward0 at line 8, is as it was: `out[t] = h` at line 7 wrote another part"],
        "clone() each part of it that is used at line 8, or keep the parts in a list",
    ),
    "7": (EXPONENT, ["`k`, saved by PowBackward1 at line 7, was changed by `k += 1` at line 8"], "`k = k + 1`"),
    "8": (
        OLD_LOSS,
        ["(Adam.step) at line 8 updated parameter `2.weight`"],
        "Run the forward again after `opt.step()` at line 8, and compute `l2` from it.",
    ),
    "under no_grad": (
        UPDATE,
        ["`w`, saved by MulBackward0 at line 5", "`w -= 0.1 * w.grad` at line 7"],
        "Do the update at line 7",
    ),
}

LEGAL = {
    "17": "x = ag.ones(3, requires_grad=True)\ny = (x + 1).sum()\ny.backward()\ny.backward()",
    "6": "x = ag.ones(2, requires_grad=True)\na = x + 0\ny = a * 2\na *= 5\ny.sum().backward()",
    "13 kept": SAME_LOSS.replace("loss.backward()\nloss", "loss.backward(retain_graph=True)\nloss"),
    "14 detached": CARRIED.replace("ag.tanh(h * w", "ag.tanh(h.detach() * w"),
    "15 added up": TWO_LOSSES.replace("loss_a.backward()\nloss_b.backward(RETAIN)", "(loss_a + loss_b).backward()"),
    "16 again": ONCE.replace("TRAINED", "head.parameters()").replace("head(features)", "head(features.detach())"),
    "1 out of place": AUGMENTED.replace("y *= 3", "y = y * 3"),
    "2 in order": STEP.replace("optimizer.step()\nloss.backward()", "loss.backward()\noptimizer.step()"),
    "5 cloned": SHARED_COUNTER.replace("a * x", "a.clone() * x"),
    "5 in a list": FILLED.replace("ag.zeros(3, 2)", "[0, 0, 0]"),
    "14 kept, detached": CARRIED_AND_KEPT.replace("retain_graph=True", "").replace(
        "ag.tanh(h *", "ag.tanh(h.detach() *"
    ),
    "14 total, detached": RUNNING_TOTAL.replace(
        "    total.backward()", "    total.backward()\n    total = total.detach()"
    ),
    "18 kept": GRAD_FIRST.replace("grad(loss, w)", "grad(loss, w, retain_graph=True)"),
    "19 kept": NESTED.replace("penalty.backward()", "penalty.backward(retain_graph=True)"),
    "20 moved": TWO_LOSSES.replace("RETAIN", "").replace("loss_a.backward()", "loss_a.backward(retain_graph=True)"),
}


def recorded(directory, source):
    """Run a script on the engine, in this process, and return the findings and whether it raised."""
    script = directory / "script.py"
    script.write_text(HEAD + source)
    recorder = Recorder(directory / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    native.attach(recorder)
    error = None
    try:
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    except RuntimeError as raised:
        error = raised
    finally:
        native.detach()
        recorder.close()
    return diagnose(Facts(Trace.open(recorder.path))), error


@pytest.mark.parametrize("name", CASES)
def test_what_goes_wrong(tmp_path, name):
    source, causes, fix = CASES[name]
    (found,), error = recorded(tmp_path, source)
    assert error is not None and found.certainty == "certain"
    assert [part for part in causes if part not in found.cause] == [], found.cause
    assert fix in found.fix
    for evidence in found.evidence:
        assert evidence.site.file.endswith("script.py") and evidence.site.text in HEAD + source


def test_a_result_is_not_called_an_argument(tmp_path):
    (found,), _ = recorded(tmp_path, ONE_OF_SEVERAL)
    assert "saved its result `U`" in next(e.note for e in found.evidence if e.role == "saved")


@pytest.mark.parametrize("name", LEGAL)
def test_what_is_legal(tmp_path, name):
    assert recorded(tmp_path, LEGAL[name]) == ([], None)


REFUSED = {
    "leaf": (
        "w = ag.ones(3, requires_grad=True)\nw.add_(1)",
        "leaf-inplace",
        "`w.add_(1)` at line 3 writes into `w`, a leaf",
    ),
    "parameter": (
        "net = nn.Linear(2, 2)\nnet(ag.ones(1, 2))\nnet.weight += 1",
        "leaf-inplace",
        "`net.weight += 1` at line 4 writes into `weight`, a leaf",
    ),
    "12": (
        "x = ag.ones(3, requires_grad=True) * 2\nwith ag.no_grad():\n    v = x[1:]\nv.mul_(2)",
        "view-inplace",
        "`v.mul_(2)` at line 5 writes into a view, made at line 4, that was made under no_grad()",
    ),
    "11": (
        "x = ag.ones(3, 2, requires_grad=True) * 2\nfor row in x:\n    row.clamp_(0, 1)",
        "view-inplace",
        "`row.clamp_(0, 1)` at line 4 writes into one of several views, made at line 3, that one op returned together",
    ),
    "30": (
        "x = ag.ones(3, requires_grad=True)\ny = ag.exp(x).detach()\nloss = y.sum()\nloss.backward()",
        "no-grad-fn",
        "`loss.backward()` at line 5 starts from a tensor without a graph; the last cut before that is at line 3",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(tmp_path, name):
    source, kind, cause = REFUSED[name]
    (found,), error = recorded(tmp_path, source)
    assert error is not None and found.kind == kind and cause in found.cause


@pytest.mark.parametrize(
    ("line", "words", "fix"),
    [
        (
            "model.load_state_dict(state)",
            "`model.load_state_dict(state)`",
            "Load the state at line 6 after the last backward()",
        ),
        ("ag.nn.utils.spectral(model)", "`ag.nn.utils.spectral(model)`", "Do the update at line 6"),
    ],
)
def test_a_function_that_writes_inside_is_named_as_its_line_calls_it(tmp_path, monkeypatch, line, words, fix):
    def spectral(model):
        with agdbg_engine.no_grad():
            model.weight.mul_(2.0)

    monkeypatch.setattr(nn.utils, "spectral", spectral, raising=False)
    monkeypatch.setattr(sites, "INTERNAL", {*sites.INTERNAL, __file__})  # as a function of the engine
    source = LOADED.replace("LINE", line)
    (found,), _ = recorded(tmp_path, source)
    assert (
        f"parameter `weight`, saved by AddmmBackward0 at line 5, was changed by {words} at line 6".lower()
        in found.cause.lower()
    )
    assert fix in found.fix


@pytest.mark.parametrize("name", ["14", "2"])
def test_the_command_line_says_it(programs, name):
    source, causes, fix = CASES[name]
    programs.write({"script.py": HEAD + source})
    ended = programs.run(programs.command("run", "--headless", "--trace", "trace", "script.py"))
    assert ended.status == 1
    explained = programs.run(programs.command("explain", "trace"))
    said = " ".join(explained.stdout.split())
    assert fix in said and [part for part in causes if part not in said] == []
