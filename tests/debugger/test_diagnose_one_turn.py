"""Two calls in one turn of a loop, and lines that move into a loop: the fix is applied as it is printed, and the program runs."""

import pytest

HEAD = """import agdbg_engine as ag; from agdbg_engine import nn, optim
ag.manual_seed(0)
"""
#: What every program ends with: each optimizer must have trained each of its parameters.
END = """
for each in OPTS:
    for group in each.param_groups:
        for p in group['params']:
            assert p.grad is not None and float(p.grad.abs().sum()) > 0, 'nothing trains this'
print('trained')
"""
MAML = """w = ag.randn(4, 1, requires_grad=True)
opt = optim.SGD([w], lr=.01)
for it in range(3):
    fast = w
    for k in range(2):
        inner = ag.tanh(ag.randn(5, 4) @ fast).pow(2).mean()
        g, = ag.autograd.grad(inner, fast)
        fast = fast - 0.1 * g
    outer = ag.tanh(ag.randn(5, 4) @ fast).pow(2).mean() + 0.1 * inner
    opt.zero_grad(); outer.backward(); opt.step()
"""
ADAPT = """w = ag.randn(4, 1, requires_grad=True)
opt = optim.SGD([w], lr=.01)
def adapt(fast):
    for k in range(2):
        inner = ag.tanh(ag.randn(5, 4) @ fast).pow(2).mean()
        g, = ag.autograd.grad(inner, fast)
        fast = fast - 0.1 * g
    return fast, inner
for it in range(3):
    fast, inner = adapt(w)
    outer = ag.tanh(ag.randn(5, 4) @ fast).pow(2).mean() + 0.1 * inner
    opt.zero_grad(); outer.backward(); opt.step()
"""
EPOCHS = """w = ag.randn(4, requires_grad=True)
opt = optim.SGD([w], lr=.01)
def train():
    for epoch in range(2):
        h = ag.zeros(4)
        for t in range(3):
            h = ag.tanh(h.detach() + w)
            h.sum().backward()
        last = (h ** 2).sum()
        opt.zero_grad(); last.backward(); opt.step()
train()
"""
MC = """enc = nn.Linear(4, 4); dec = nn.Linear(2, 4)
opt = optim.SGD([*enc.parameters(), *dec.parameters()], lr=.1)
for i in range(3):
    x = ag.randn(3, 4)
    p = enc(x); mu, lv = p[:, :2], p[:, 2:]
    std = ag.exp(0.5 * lv)
    opt.zero_grad()
    for s in range(2):
        z = mu + std * ag.randn(3, 2)
        rec = (dec(z) - x).pow(2).mean()
        rec.backward()
    opt.step()
"""
CHUNKS = """net = nn.Sequential(nn.Linear(4, 4), nn.Tanh()); opt = optim.SGD(net.parameters(), lr=.1)
for ep in range(2):
    out = net(ag.randn(8, 4))
    opt.zero_grad()
    for chunk in out.chunk(4):
        loss = chunk.pow(2).mean() / 4
        loss.backward()
    opt.step()
"""
READ = """enc = nn.Linear(4, 4); head = nn.Linear(4, 1)
opt = optim.SGD([*enc.parameters(), *head.parameters()], lr=.1)
for ep in range(2):
    x = ag.randn(3, 4)
    z = ag.tanh(enc(x))
    print(z.shape)
    opt.zero_grad()
    for k in range(2):
        loss = head(z).pow(2).sum()
        loss.backward()
    opt.step()
"""
DRAWN = (
    READ.replace("    x = ag.randn(3, 4)\n", "")
    .replace("enc(x)", "enc(ag.randn(3, 4))")
    .replace("    print(z.shape)\n", "")
)
NORMS = """net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
opt = optim.SGD(net.parameters(), lr=.1)
for i in range(3):
    y = net(ag.randn(3, 4))
    l1 = y.pow(2).mean(); l2 = y.abs().mean()
    norms = []
    for l in (l1, l2):
        g = ag.autograd.grad(l, list(net.parameters()))
        norms.append(sum(float(k.pow(2).sum()) for k in g))
    opt.zero_grad(); (l1 + l2).backward(); opt.step()
"""
PCGRAD = """net = nn.Linear(4, 4); opt = optim.SGD(net.parameters(), lr=.1)
for i in range(2):
    z = ag.tanh(net(ag.randn(3, 4)))
    losses = [z.pow(2).mean(), z.abs().mean(), z.sum()]
    grads = []
    for loss in losses:
        opt.zero_grad()
        loss.backward()
        grads.append([p.grad.clone() for p in net.parameters()])
    for p, *g in zip(net.parameters(), *grads):
        p.grad = sum(g)
    opt.step()
"""
HEADS = """enc = nn.Linear(4, 4); a = nn.Linear(4, 1); b = nn.Linear(4, 1); c = nn.Linear(4, 1)
opt = optim.SGD([*enc.parameters(), *a.parameters(), *b.parameters(), *c.parameters()], lr=.1)
for i in range(2):
    z = ag.tanh(enc(ag.randn(3, 4)))
    la, lb, lc = a(z).pow(2).mean(), b(z).pow(2).mean(), c(z).pow(2).mean()
    opt.zero_grad()
    la.backward()
    lb.backward()
    lc.backward()
    opt.step()
"""
TWO = """enc = nn.Sequential(nn.Linear(4, 4), nn.Tanh()); a = nn.Linear(4, 1); b = nn.Linear(4, 1)
o1 = optim.SGD([*enc.parameters(), *a.parameters()], lr=.1); o2 = optim.SGD([*enc.parameters(), *b.parameters()], lr=.1)
for i in range(3):
    z = enc(ag.randn(3, 4))
    la = a(z).pow(2).mean(); lb = b(z).pow(2).mean()
    o1.zero_grad(); la.backward(); o1.step()
    o2.zero_grad(); lb.backward(); o2.step()
"""
CRITIC = """actor = nn.Linear(4, 2); critic = nn.Linear(4, 1); body = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
oa = optim.Adam(actor.parameters(), lr=.01); oc = optim.Adam([*critic.parameters(), *body.parameters()], lr=.01)
for ep in range(3):
    logps, values, rewards = [], [], []
    for t in range(5):
        f = body(ag.randn(4))
        lp = ag.log_softmax(actor(f.detach()), -1)
        logps.append(lp[0]); values.append(critic(f)); rewards.append(float(t % 2))
    adv = ag.tensor(rewards) - ag.cat(values)
    critic_loss = adv.pow(2).mean()
    oc.zero_grad(); critic_loss.backward(); oc.step()
    actor_loss = -(ag.stack(logps) * adv).mean()
    oa.zero_grad(); actor_loss.backward(); oa.step()
"""
TEACHER = """s = nn.Sequential(nn.Linear(4, 4), nn.Tanh()); t = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
o1 = optim.SGD(s.parameters(), lr=.1); o2 = optim.SGD(t.parameters(), lr=.1)
for i in range(3):
    x = ag.randn(3, 4)
    ts = t(x)
    lt = ts.pow(2).mean()
    o2.zero_grad(); lt.backward(); o2.step()
    ls = (s(x) - ts).pow(2).mean()
    o1.zero_grad(); ls.backward(); o1.step()
"""
FAKE = """G = nn.Sequential(nn.Linear(4, 4), nn.Tanh()); D = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
o1 = optim.SGD(D.parameters(), lr=.1); o2 = optim.SGD(G.parameters(), lr=.1)
for i in range(3):
    fake = G(ag.randn(3, 4))
    d_loss = D(fake).mean() - D(ag.randn(3, 4)).pow(2).mean()
    o1.zero_grad(); d_loss.backward(); o1.step()
    g_loss = -D(fake).mean()
    o2.zero_grad(); g_loss.backward(); o2.step()
"""
LATE = FAKE.replace("    d_loss = D(fake).mean() - D(ag.randn(3, 4)).pow(2).mean()\n    o1.zero_grad(); d_loss.backward(); o1.step()\n", "") + (
    "    d_loss = D(fake).mean() - D(ag.randn(3, 4)).pow(2).mean()\n    o1.zero_grad(); d_loss.backward(); o1.step()\n"
)  # fmt: skip
SHARED = """enc = nn.Sequential(nn.Linear(4, 4), nn.Tanh()); a = nn.Linear(4, 1); b = nn.Linear(4, 1)
o1 = optim.SGD([*enc.parameters(), *a.parameters()], lr=.1); o2 = optim.SGD([*enc.parameters(), *b.parameters()], lr=.1)
for i in range(3):
    x = ag.randn(3, 4)
    z = enc(x)
    la = a(z).pow(2).mean()
    o1.zero_grad(); la.backward(); o1.step()
    lb = b(z).pow(2).mean()
    o2.zero_grad(); lb.backward(); o2.step()
"""
PENALTY = """D = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1)); opt = optim.Adam(D[:2].parameters())
for i in range(2):
    x = ag.randn(3, 4).requires_grad_()
    out = D(x)
    g, = ag.autograd.grad(out.sum(), x)
    gp = (g.norm(2, dim=1) - 1).pow(2).mean()
    loss = out.mean() + 10 * gp
    opt.zero_grad(); loss.backward(); opt.step()
"""
SAMPLES = """net = nn.Linear(4, 1); opt = optim.SGD(net.parameters(), lr=.1)
x = ag.randn(3, 4)
for ep in range(2):
    losses = ag.tanh(net(x)).pow(2).squeeze(1)
    per = []
    for i in range(3):
        net.zero_grad()
        losses[i].backward()
        per.append(net.weight.grad.clone())
    net.weight.grad = ag.stack(per).mean(0)
    opt.step()
"""
CLOSURE = """net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1)); opt = optim.LBFGS(net.parameters(), max_iter=3)
x = ag.randn(3, 4)
for ep in range(2):
    loss = net(x).pow(2).mean()
    def closure():
        opt.zero_grad()
        loss.backward()
        return loss
    opt.step(closure)
"""
LOGGED = """enc = nn.Sequential(nn.Linear(4, 4), nn.Tanh()); q = nn.Linear(4, 2); aux = nn.Linear(4, 1)
opt = optim.Adam([*enc.parameters(), *q.parameters(), *aux.parameters()])
def norm(loss, params):
    return sum(float(g.norm()) for g in ag.autograd.grad(loss, params))
for i in range(2):
    z = enc(ag.randn(3, 4))
    lq = q(z).pow(2).mean(); la = aux(z).pow(2).mean()
    print(norm(lq, list(enc.parameters())), norm(la, list(enc.parameters())))
    loss = lq + la
    opt.zero_grad(); loss.backward(); opt.step()
"""
SEARCH = """w = ag.randn(4, requires_grad=True)
opt = optim.SGD([w], lr=.1)
for i in range(2):
    loss = (w ** 2).sum()
    opt.zero_grad(); loss.backward()
    for lr in (2., 3.):
        g = ag.autograd.grad(loss, w)[0]
        print(float(((w - lr * g) ** 2).sum()))
    opt.step()
"""
ENCODER = """E = nn.Sequential(nn.Linear(4, 2), nn.Tanh()); G = nn.Linear(2, 4); D = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
o1 = optim.Adam(E.parameters()); o2 = optim.Adam(G.parameters())
for i in range(2):
    x = ag.randn(3, 4)
    z = E(x); rec = G(z)
    rl = (rec - x).pow(2).mean()
    o1.zero_grad(); rl.backward(); o1.step()
    gl = (D(rec) - 1).pow(2).mean()
    o2.zero_grad(); gl.backward(); o2.step()
"""
BOTH = """body = nn.Sequential(nn.Linear(4, 4), nn.Tanh()); pi = nn.Linear(4, 2); v = nn.Linear(4, 1)
oa = optim.Adam(list(body.parameters()) + list(pi.parameters())); oc = optim.Adam(v.parameters())
for i in range(2):
    f = body(ag.randn(5, 4)); r = ag.randn(5)
    val = v(f).squeeze(-1); adv = r - val
    al = -(ag.log_softmax(pi(f), -1)[:, 0] * adv).mean(); cl = adv.pow(2).mean()
    oa.zero_grad()
    al.backward()
    oa.step()
    oc.zero_grad()
    cl.backward()
    oc.step()
"""
SKIPPED = """enc = nn.Sequential(nn.Linear(4, 4), nn.Tanh()); head = nn.Linear(4, 1)
opt = optim.SGD([*enc.parameters(), *head.parameters()], lr=.1)
for i in range(4):
    z = enc(ag.randn(3, 4))
    loss = head(z).pow(2).mean()
    opt.zero_grad(); loss.backward()
    if i % 2:
        z.pow(2).mean().backward()
    opt.step()
"""
NOTHING_ELSE = """cell = nn.RNNCell(4, 4); head = nn.Linear(4, 1); opt = optim.SGD([*cell.parameters(), *head.parameters()], lr=.1)
for i in range(2):
    h = cell(ag.randn(2, 4), ag.randn(2, 4))
    loss = head(h).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    act = h.pow(2).mean()
    act.backward()
"""
KEPT = ("grad(inner, fast)", "grad(inner, fast, retain_graph=True)")
#: The program, its optimizers, what the fix says, and what that does to the program.
CASES = {
    "maml": (MAML, "opt", "graph of its own, or retain_graph=True, with which it is a constant.", [KEPT]),
    "maml, second order": (
        MAML, "opt", "Pass create_graph=True to the first call, line 9, so that the gradient has a graph of its own, or",
        [("grad(inner, fast)", "grad(inner, fast, create_graph=True)")],
    ),
    "maml, in a function": (ADAPT, "opt", "Pass create_graph=True to the first call, line 8, so that", [KEPT]),
    "behind an inner loop": (
        EPOCHS, "opt", "fix          Pass retain_graph=True to the first call, line 10.",
        [("h.sum().backward()", "h.sum().backward(retain_graph=True)")],
    ),
    "two lines move": (
        MC, "opt", "Compute it again in every turn: move lines 7 and 8 into the loop, or",
        [("    p = enc(x); mu, lv = p[:, :2], p[:, 2:]\n    std = ag.exp(0.5 * lv)\n", ""),
         ("        z = mu", "        p = enc(x); mu, lv = p[:, :2], p[:, 2:]\n        std = ag.exp(0.5 * lv)\n        z = mu")],
    ),
    "the loop is over it": (
        CHUNKS, "opt", "Add up `loss` of all turns and call backward() once, behind the loop, or",
        [("    for chunk", "    total = 0\n    for chunk"), ("        loss.backward()", "        total = total + loss"),
         ("    opt.step()", "    total.backward(); opt.step()")],
    ),
    "the loop is over it, kept": (
        CHUNKS, "opt", "or pass retain_graph=True to every call but the last, line 9.",
        [("loss.backward()", "loss.backward(retain_graph=chunk is not out)")],
    ),
    "read before the loop": (
        READ, "opt", "Add up `loss` of all turns and call backward() once, behind the loop, or",
        [("    for k", "    total = 0\n    for k"), ("        loss.backward()", "        total = total + loss"),
         ("    opt.step()", "    total.backward(); opt.step()")],
    ),
    "random numbers before the loop": (
        DRAWN, "opt", "Add up `loss` of all turns and call backward() once, behind the loop, or",
        [("loss.backward()", "loss.backward(retain_graph=True)")],
    ),
    "one more call behind the loop": (
        NORMS, "opt", "Pass retain_graph=True to every call, line 10, since `(l1 + l2).backward()` at line 12 needs the graph",
        [("parameters()))\n        norms", "parameters()), retain_graph=True)\n        norms")],
    ),
    "gradients of each": (
        PCGRAD, "opt", "fix          Pass retain_graph=True to every call but the last, line 10.",
        [("loss.backward()", "loss.backward(retain_graph=loss is not losses[-1])")],
    ),
    "three, added up": (
        HEADS, "opt", "on the sum: `(la + lb + lc).backward()`, or",
        [("la.backward()", "(la + lb + lc).backward()"), ("    lb.backward()\n    lc.backward()\n", "")],
    ),
    "three, kept": (
        HEADS, "opt", "or pass retain_graph=True to every call but the last, line 9 and line 10.",
        [("la.backward()", "la.backward(retain_graph=True)"), ("lb.backward()", "lb.backward(retain_graph=True)")],
    ),
    "two optimizers, added up": (
        TWO, "o1, o2",
        "`(la + lb).backward()`, before the optimizer step at line 8, with `o2.zero_grad()` at line 9 moved before it, where",
        [("la.backward()", "o2.zero_grad(); (la + lb).backward()"), ("    o2.zero_grad(); lb.backward(); o2", "    o2")],
    ),
    "two optimizers, computed again": (
        TWO, "o1, o2", "or compute `z` again, and `lb` from it, after the step.",
        [("    o2.zero_grad()", "    z = enc(ag.randn(3, 4)); lb = b(z).pow(2).mean(); o2.zero_grad()")],
    ),
    "actor and critic": (
        CRITIC, "oa, oc",
        "and `oa`, which steps behind `actor_loss.backward()` at line 15, has none of them: use `adv.detach()` for `adv` at line 14.",
        [("* adv)", "* adv.detach())")],
    ),
    "actor and critic, computed again": (
        CRITIC, "oa, oc", "compute `adv`, with all that it is made of since line 8, again after the step instead.",
        [("    actor_loss", "    adv = ag.tensor(rewards) - critic(body(ag.randn(5, 4)))[:, 0]\n    actor_loss")],
    ),
    "a teacher": (TEACHER, "o1, o2", "has none of them: use `ts.detach()` for `ts` at line 10.", [("- ts", "- ts.detach()")]),
    "a generator": (
        FAKE, "o1, o2", "as that step trained none of it, use `fake.detach()` for `fake` at line 7, or compute",
        [("d_loss = D(fake)", "d_loss = D(fake.detach())")],
    ),
    "a generator first": (
        LATE, "o1, o2", "has none of them: use `fake.detach()` for `fake` at line 9.",
        [("d_loss = D(fake)", "d_loss = D(fake.detach())")],
    ),
    "a gradient penalty": (
        PENALTY, "opt", "fix          Pass create_graph=True to the first call, line 7, so that the gradient has a graph of its own, or",
        [("grad(out.sum(), x)", "grad(out.sum(), x, create_graph=True)")],
    ),
    "gradients of each sample": (
        SAMPLES, "opt", "Pass retain_graph=True to every call but the last, line 10, or compute it again in every turn: move line 6",
        [("    losses = ag.tanh(net(x)).pow(2).squeeze(1)\n", ""),
         ("        losses[i]", "        losses = ag.tanh(net(x)).pow(2).squeeze(1)\n        losses[i]")],
    ),
    "a closure": (
        CLOSURE, "opt", "fix          Compute the result again before each call.",
        [("        loss.backward()", "        loss = net(x).pow(2).mean(); loss.backward()")],
    ),
    "a helper that differentiates": (
        LOGGED, "opt", "Pass retain_graph=True to every call, line 6, that another one through the same graph follows.",
        [("grad(loss, params)", "grad(loss, params, retain_graph=True)")],
    ),
    "an inner loop behind the first call": (
        SEARCH, "opt", "Pass retain_graph=True to the first call, line 7, and to every call but the last, line 9.",
        [("loss.backward()", "loss.backward(retain_graph=True)"), ("grad(loss, w)", "grad(loss, w, retain_graph=lr < 3)")],
    ),
    "an encoder and a generator": (
        ENCODER, "o1, o2", "compute `rec`, with all that it is made of since line 7, again after the step.",
        [("    gl =", "    z = E(x); rec = G(z); gl =")],
    ),
    "both before any step": (
        BOTH, "oa, oc",
        "pass retain_graph=True to the first call, line 10, and move the optimizer step at line 11 behind `cl.backward()` at line 13; or",
        [("al.backward()", "al.backward(retain_graph=True)"), ("    oa.step()\n", ""), ("    oc.step()", "    oa.step(); oc.step()")],
    ),
    "a second call of some turns": (
        SKIPPED, "opt", "fix          Pass retain_graph=True to the first call, line 8.",
        [("loss.backward()", "loss.backward(retain_graph=True)")],
    ),
    "nothing else to train": (
        NOTHING_ELSE, "opt", "parameters that `h` was computed with: compute `h` again after the step.\n",
        [("    act = h", "    act = cell(ag.randn(2, 4), ag.randn(2, 4))")],
    ),
    "both train it": (
        SHARED, "o1, o2", "The optimizer step at line 9 changed parameters that `z` was computed with: compute `z` again after the step.",
        [("    lb = b", "    z = enc(x)\n    lb = b")],
    ),
}  # fmt: skip


@pytest.fixture
def programs(carried):
    return carried(HEAD)


@pytest.mark.parametrize("name", CASES)
def test_the_program_trains_all_that_it_should_once_the_fix_is_applied(programs, name):
    text, optimizers, fix, changes = CASES[name]
    text = f"{text}OPTS = [{optimizers}]{END}"
    said = programs.run(text)
    assert said.status != 0 and "backward-twice, certain" in said.stdout and "iteration" not in said.stdout
    assert fix in said.stdout, said.stdout
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    again = programs.run(text)
    assert again.status == 0 and "trained" in again.stdout + again.stderr, again.stdout + again.stderr


def test_what_is_carried_past_the_call_that_freed_it_is_still_told_so(programs):
    """The first call stands behind the second one in the loop: it was the turn before."""
    said = programs.run(
        "w = ag.ones(3, requires_grad=True); h = ag.zeros(3)\nfor t in range(3):\n    h = ag.tanh(h + w)\n"
        "    (h * 2).sum().backward(retain_graph=True)\n    (h * 3).sum().backward()\n"
    ).stdout
    assert "reaches back into the previous iteration through `h`" in said and "`h = h.detach()`" in said


def test_a_call_of_some_turns_alone_may_follow_one_of_the_turn_before(programs):
    said = programs.run(
        "w = ag.ones(3, requires_grad=True); h = ag.zeros(3)\nfor t in range(3):\n    h = ag.tanh(h + w)\n"
        "    if t == 0:\n        h.sum().backward()\n    if t == 1:\n        (h * 3).sum().backward()\n"
    ).stdout
    assert "reaches back into the previous iteration through `h`" in said


BROKEN_OFF = """
enc, heads = nn.Linear(2, 2), nn.ModuleList([nn.Linear(2, 1) for _ in range(3)])
opt = ag.optim.SGD([*enc.parameters(), *heads.parameters()], lr=.1)
z = ag.relu(enc(ag.randn(4, 2)))
for head in heads:
    head(z).pow(2).mean().backward()
opt.step()
"""


def test_of_what_the_program_had_not_come_to_when_an_error_ended_it_nothing_is_said(programs):
    said = programs.run(BROKEN_OFF).stdout
    assert "1. `z`, made once" in said and "2. " not in said and "never run" not in said, said
