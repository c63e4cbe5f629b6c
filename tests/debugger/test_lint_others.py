"""Two models whose parameters have the same names: a name in common does not make one the other's replacement."""

import pytest

TEACHER = """
s = nn.Linear(3, 2)
t = {teacher}
opt = optim.SGD(s.parameters(), lr=.1)
for _ in range({turns}):
    x = ag.randn(4, 3)
    loss = (s(x) - t(x)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
TARGET = """
class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.f, self.o = nn.Linear(3, 4), nn.Linear(4, 2)
    def forward(self, x):
        return self.o(ag.relu(self.f(x)))
q, target = Q(), Q()
target.load_state_dict(q.state_dict())
opt = optim.Adam(q.parameters())
for i in range(3):
    loss = (q(ag.randn(4, 3)).max(1)[0] - .9 * target(ag.randn(4, 3)).max(1)[0]).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if i == 1: target.load_state_dict(q.state_dict())
"""
PERCEPTUAL = """
gen, vgg = nn.Linear(3, 3), nn.Linear(3, 3)
opt = optim.Adam(gen.parameters())
for _ in range(2):
    loss = vgg(gen(ag.randn(2, 3))).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    with ag.no_grad(): gen(ag.randn(2, 3))
"""
MASTERS = """
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).half()
master = [p.detach().clone().float().requires_grad_() for p in model.parameters()]
opt = optim.SGD(master, lr=.01)
for _ in range(3):
    loss = model(ag.randn(4, 3).half()).float().pow(2).mean()
    model.zero_grad(); (loss * 128).backward()
    for to, of in zip(master, model.parameters()): to.grad = of.grad.float() / 128
    opt.step()
    for to, of in zip(master, model.parameters()): of.data.copy_(to.data)
"""
COPIED_TO = """
m, h = nn.Linear(3, 2), nn.Linear(3, 2).half()
opt = optim.SGD(m.parameters(), lr=.01)
for i in range(3):
    with ag.no_grad():
        for to, of in zip(h.parameters(), m.parameters()): to.copy_(of)
    loss = h(ag.randn(4, 3).half()).float().pow(2).mean()
    for p in h.parameters(): p.grad = None
    (loss * 1024).backward()
    for of, to in zip(h.parameters(), m.parameters()): to.grad = of.grad.float() / 1024
    opt.step()
"""
AFTERWARDS = """
one, other = nn.Linear(3, 1), nn.Linear(3, 1)
opt = optim.SGD(one.parameters(), lr=.1)
for _ in range(2):
    opt.zero_grad(); one(ag.ones(1, 3)).sum().backward(); opt.step()
x = ag.ones(1, 3, requires_grad=True)
other(x).sum().backward()
"""
CORRECT = {
    "a teacher of the same class": TEACHER.format(teacher="nn.Linear(3, 2)", turns=2),
    "a teacher that is a copy": "import copy" + TEACHER.format(teacher="copy.deepcopy(s)", turns=3),
    "a teacher, one turn": TEACHER.format(teacher="nn.Linear(3, 2)", turns=1),
    "a target network": TARGET,
    "a network that judges another": PERCEPTUAL,
    "float16 with masters": MASTERS,
    "float16 copied from masters": COPIED_TO,
    "another model is looked at afterwards": AFTERWARDS,
}


@pytest.mark.parametrize("name", CORRECT)
def test_another_model_is_no_replacement(linted, name):
    assert linted(CORRECT[name]).lints == []
