"""Correct programs, on which every lint is silent: the examples, and what is done on purpose."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agdbg.diagnose import lint
from agdbg.record import Facts, Trace

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
STEPS = {
    "train_gpt.py": "2",
    "train_gru.py": "3",
    "train_lbfgs.py": "2",
    "train_maml.py": "3",
    "train_pinn.py": "5",
    "train_resnet.py": "2",
    "train_vae.py": "3",
}


def test_every_training_example_is_here():
    assert set(STEPS) == {path.name for path in EXAMPLES.glob("train_*.py")}


@pytest.mark.parametrize("name", STEPS)
def test_the_examples(name, tmp_path):
    command = [
        sys.executable,
        "-m",
        "agdbg",
        "run",
        "--headless",
        "--also",
        "all",
        "--trace",
        "trace",
        str(EXAMPLES / name),
    ]
    ran = subprocess.run(
        [*command, STEPS[name]],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert ran.returncode == 0, ran.stderr
    facts = Facts(Trace.open(tmp_path / "trace"))
    assert len(facts.passes) > 1 and lint(facts) == []


CORRECT = {
    "an optimizer": """
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.Adam(net.parameters(), lr=.01)
for step in range(5):
    x = ag.randn(16, 2)
    loss = ((net(x) - x.sum(1, keepdim=True)) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item(), (net(x) > 0).float().mean().item())
""",
    "by hand": """
w = ag.randn(3, requires_grad=True)
for i in range(3):
    (w * w).sum().backward()
    with ag.no_grad():
        w -= .1 * w.grad
    w.grad = None
    print((w * w).sum().item())
""",
    "a detached fake": """
G, D = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
og, od = optim.Adam(G.parameters()), optim.Adam(D.parameters())
for step in range(3):
    fake = ag.tanh(G(ag.randn(4, 2)))
    od.zero_grad()
    (D(fake.detach()).mean() - D(ag.randn(4, 3)).mean()).backward()
    od.step()
    og.zero_grad()
    (-D(fake).mean()).backward()
    og.step()
""",
    "a frozen backbone": """
backbone, head = nn.Linear(2, 3), nn.Linear(3, 1)
backbone.requires_grad_(False)
opt = optim.SGD([*backbone.parameters(), *head.parameters()], lr=.1)
for i in range(3):
    opt.zero_grad()
    head(backbone(ag.ones(4, 2))).sum().backward()
    opt.step()
""",
    "a backbone under no_grad": """
backbone, head = nn.Linear(2, 3), nn.Linear(3, 1)
opt = optim.SGD(head.parameters(), lr=.1)
for i in range(3):
    with ag.no_grad():
        f = backbone(ag.ones(4, 2))
    opt.zero_grad()
    head(f).sum().backward()
    opt.step()
""",
    "a backbone that the optimizer has not": """
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
opt = optim.SGD(net[2].parameters(), lr=.1)
for i in range(3):
    opt.zero_grad()
    net(ag.ones(4, 2)).sum().backward()
    opt.step()
""",
    "a target network": """
q, target = nn.Linear(2, 3), nn.Linear(2, 3)
target.load_state_dict(q.state_dict())
opt = optim.SGD(q.parameters(), lr=.1)
for i in range(3):
    opt.zero_grad()
    best = target(ag.ones(4, 2)).max(1)[0].detach()
    ((q(ag.ones(4, 2)).sum(1) - best) ** 2).mean().backward()
    opt.step()
    with ag.no_grad():
        for p, r in zip(target.parameters(), q.parameters()): p.mul_(.9).add_(.1 * r)
""",
    "truncated through time": """
cell, head = nn.RNNCell(2, 4), nn.Linear(4, 1)
opt = optim.SGD([*cell.parameters(), *head.parameters()], lr=.01)
h = ag.zeros(3, 4)
for i in range(4):
    h = cell(ag.randn(3, 2), h.detach())
    opt.zero_grad()
    head(h).sum().backward()
    opt.step()
""",
    "two heads in turn": """
body, one, other = nn.Linear(2, 3), nn.Linear(3, 1), nn.Linear(3, 1)
opt = optim.SGD([p for m in (body, one, other) for p in m.parameters()], lr=.01)
for i in range(4):
    opt.zero_grad()
    (one if i % 2 else other)(body(ag.ones(4, 2))).sum().backward()
    opt.step()
""",
    "tied weights": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
        self.b.weight = self.a.weight
    def forward(self, x): return self.b(ag.relu(self.a(x)))
net = Net()
opt = optim.SGD(net.parameters(), lr=.01)
for i in range(3):
    opt.zero_grad()
    net(ag.randn(4, 3)).sum().backward()
    opt.step()
""",
    "gradients with respect to inputs": """
net = nn.Linear(3, 1)
x = ag.randn(4, 3, requires_grad=True)
(g,) = ag.autograd.grad(net(x).sum(), x)
x.requires_grad_()
net(x).sum().backward(inputs=[x])
print(g.norm().item(), x.grad.numpy().sum())
""",
    "a gradient penalty": """
G, D = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
og, od = optim.Adam(G.parameters()), optim.Adam(D.parameters())
for i in range(3):
    real, fake = ag.randn(4, 3), G(ag.randn(4, 2)).detach()
    a = ag.rand(4, 1)
    x = (a * real + (1 - a) * fake).requires_grad_(True)
    (g,) = ag.autograd.grad(D(x).sum(), x, create_graph=True)
    loss = D(fake).mean() - D(real).mean() + 10 * ((g.norm(2, 1) - 1) ** 2).mean()
    od.zero_grad()
    loss.backward()
    od.step()
    og.zero_grad()
    (-D(G(ag.randn(4, 2))).mean()).backward()
    og.step()
""",
    "straight through a code book": """
class Quantize(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.book = nn.Linear(3, 2), nn.Embedding(5, 2)
    def forward(self, x):
        z = self.into(x)
        q = self.book(((z.unsqueeze(1) - self.book.weight) ** 2).sum(-1).argmin(1))
        self.loss = ((q - z.detach()) ** 2).mean() + .25 * ((q.detach() - z) ** 2).mean()
        return z + (q - z).detach()
net = Quantize()
opt = optim.Adam(net.parameters())
for i in range(3):
    opt.zero_grad()
    ((net(ag.randn(4, 3)) ** 2).mean() + net.loss).backward()
    opt.step()
""",
    "recurrent layers, convolutions and attention": """
layers = [
    (nn.LSTM(3, 4, 2), (5, 2, 3)),
    (nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2)), (2, 1, 8, 8)),
    (nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2), (2, 5, 8)),
]
for net, size in layers:
    opt = optim.Adam(net.parameters())
    for i in range(2):
        opt.zero_grad()
        out = net(ag.randn(*size))
        ((out[0] if isinstance(out, tuple) else out) ** 2).mean().backward()
        opt.step()
""",
    "a diagonal that is masked": """
net = nn.Linear(3, 4)
opt = optim.SGD(net.parameters(), lr=.1)
for i in range(2):
    z = nn.functional.normalize(net(ag.randn(6, 3)))
    alike = (z @ z.t()).masked_fill(ag.eye(6) > 0, float('-inf'))
    opt.zero_grad()
    nn.functional.cross_entropy(alike, ag.tensor([1, 0, 3, 2, 5, 4])).backward()
    opt.step()
""",
    "evaluation": """
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(.5), nn.Linear(3, 1))
opt = optim.AdamW(net.parameters())
for i in range(3):
    opt.zero_grad()
    net(ag.randn(8, 2)).pow(2).mean().backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
net.eval()
with ag.no_grad():
    print(net(ag.randn(8, 2)).numpy().mean())
""",
}


@pytest.mark.parametrize("name", CORRECT)
def test_what_is_done_on_purpose(linted, name):
    ran = linted(CORRECT[name])
    assert ran.error is None and [each.cause for each in ran.lints] == [] and ran.diagnosed == []
