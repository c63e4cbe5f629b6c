"""Pieces of training scripts as people write them give in the engine what they give in PyTorch: modules, states, optimizers, schedulers and hooks."""

import collections
import copy
import math

import pytest

pytest.importorskip("torch")

from agdbg_tests_fragments import Fragments

fragment = Fragments()


# ----- init / modules -----
@fragment
def init_apply(t, F, nn, c):
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(16, 3))

    def f(m):
        if isinstance(m, (nn.Conv2d, nn.Linear)):
            nn.init.constant_(m.weight, 0.01)
        if getattr(m, "bias", None) is not None:
            nn.init.zeros_(m.bias)
        if isinstance(m, nn.BatchNorm2d):
            nn.init.ones_(m.weight)

    net.apply(f)
    o = net(c.r(2, 3, 4, 4))
    return (
        o,
        [(n, tuple(p.shape)) for n, p in net.named_parameters()],
        nn.init.calculate_gain("leaky_relu", 0.2),
        nn.init._calculate_fan_in_and_fan_out(net[0].weight),
        nn.init.dirac_(t.empty(4, 3, 3)),
        nn.init.eye_(t.empty(3, 4)),
    )


@fragment
def init_stats(t, F, nn, c):
    t.manual_seed(0)
    w = t.empty(200, 300)
    out = []
    for f in (
        lambda x: nn.init.kaiming_normal_(x, mode="fan_out", nonlinearity="relu"),
        lambda x: nn.init.xavier_uniform_(x, gain=2.0),
        lambda x: nn.init.trunc_normal_(x, std=0.02, a=-0.04, b=0.04),
        lambda x: nn.init.kaiming_uniform_(x, a=math.sqrt(5)),
        nn.init.orthogonal_,
    ):
        out.append(round(f(w).std().item() * 20) / 20)
    return out


@fragment
def ema(t, F, nn, c):
    net = c.fill(nn.Linear(3, 2))
    e = copy.deepcopy(net).eval().requires_grad_(False)
    opt = t.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        opt.zero_grad(set_to_none=True)
        net(c.r(4, 3)).pow(2).mean().backward()
        opt.step()
        with t.no_grad():
            for a, b in zip(e.parameters(), net.parameters(), strict=False):
                a.mul_(0.9).add_(b.data, alpha=1 - 0.9)
            for a, b in zip(e.state_dict().values(), net.state_dict().values(), strict=False):
                a.lerp_(b, 0.1)
    sw = t.optim.swa_utils.AveragedModel(net)
    sw.update_parameters(net)
    return e.state_dict(), list(sw.state_dict())


@fragment
def accumulate(t, F, nn, c):
    net = c.fill(nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)))
    opt = t.optim.AdamW(net.parameters(), lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1)
    sch = t.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=6, pct_start=0.3)
    out = []
    for i in range(12):
        l = F.mse_loss(net(c.r(3, 4)), c.r(3, 2)) / 2
        l.backward()
        if (i + 1) % 2 == 0:
            n = nn.utils.clip_grad_norm_(net.parameters(), 0.5, error_if_nonfinite=True)
            opt.step()
            sch.step()
            opt.zero_grad()
            out += [n, sch.get_last_lr()[0]]
    return out, net.state_dict()


@fragment
def param_groups(t, F, nn, c):
    net = c.fill(nn.Sequential(nn.Linear(4, 5), nn.LayerNorm(5), nn.Linear(5, 2)))
    dec = [p for p in net.parameters() if p.dim() >= 2]
    nod = [p for p in net.parameters() if p.dim() < 2]
    opt = t.optim.SGD(
        [{"params": dec, "weight_decay": 0.1}, {"params": nod, "weight_decay": 0.0, "lr": 0.01}],
        lr=0.1,
        momentum=0.9,
        nesterov=True,
    )
    w = t.optim.lr_scheduler.LambdaLR(opt, [lambda s: min(1, (s + 1) / 3), lambda s: 0.9**s])
    for _ in range(5):
        opt.zero_grad()
        net(c.r(3, 4)).square().sum().backward()
        opt.step()
        w.step()
    opt.add_param_group({"params": [t.zeros(2).requires_grad_()]})
    return net.state_dict(), [g["lr"] for g in opt.param_groups], len(opt.state_dict()["param_groups"])


@fragment
def scheds(t, F, nn, c):
    L = t.optim.lr_scheduler
    out = {}
    for n, f in {
        "cos": lambda o: L.CosineAnnealingLR(o, 5, eta_min=0.01),
        "wr": lambda o: L.CosineAnnealingWarmRestarts(o, 3, T_mult=2),
        "ms": lambda o: L.MultiStepLR(o, [2, 4], gamma=0.3),
        "seq": lambda o: L.SequentialLR(
            o, [L.LinearLR(o, 0.1, total_iters=2), L.ExponentialLR(o, 0.9)], milestones=[2]
        ),
        "cyc": lambda o: L.CyclicLR(o, 0.01, 0.1, step_size_up=2, cycle_momentum=False),
        "poly": lambda o: L.PolynomialLR(o, 4, 2.0),
        "ch": lambda o: L.ChainedScheduler([L.ConstantLR(o, 0.5, 2), L.StepLR(o, 2)]),
    }.items():
        o = t.optim.SGD([t.zeros(1).requires_grad_()], lr=0.1)
        s = f(o)
        r = []
        for _ in range(9):
            o.step()
            s.step()
            r.append(o.param_groups[0]["lr"])
        out[n] = r
        out[n + "k"] = sorted(s.state_dict())
    return out


@fragment
def plateau_resume(t, F, nn, c):
    p = t.zeros(3).requires_grad_()
    o = t.optim.Adam([p], lr=0.1, amsgrad=True)
    s = t.optim.lr_scheduler.ReduceLROnPlateau(
        o, "min", factor=0.5, patience=1, threshold=1e-3, cooldown=1, min_lr=1e-3
    )
    r = []
    for m in (1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.8, 0.8):
        o.zero_grad()
        (p - 1).pow(2).sum().backward()
        o.step()
        s.step(m)
        r.append(o.param_groups[0]["lr"])
    sd = copy.deepcopy(o.state_dict())
    o2 = t.optim.Adam([p], lr=1.0)
    o2.load_state_dict(sd)
    o2.zero_grad()
    (p - 1).pow(2).sum().backward()
    o2.step()
    return r, p, sorted(sd["state"][0]), s.num_bad_epochs


@fragment
def hooks(t, F, nn, c):
    net = c.fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    acts = {}
    hs = [
        m.register_forward_hook(lambda m, i, o, n=n: acts.__setitem__(n, o.detach()))
        for n, m in net.named_modules()
        if n
    ]
    g = []
    net[2].register_full_backward_hook(lambda m, gi, go: g.append((gi[0], go[0])))
    net[0].register_forward_pre_hook(lambda m, a: (a[0] * 2,))
    x = c.r(2, 3, grad=True)
    x.register_hook(lambda v: v.clamp(-0.1, 0.1))
    net(x).sum().backward()
    [h.remove() for h in hs]
    return acts, g, x.grad


@fragment
def containers(t, F, nn, c):
    class N(nn.Module):
        def __init__(s):
            super().__init__()
            s.blocks = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
            s.heads = nn.ModuleDict({"a": nn.Linear(3, 1), "b": nn.Linear(3, 2)})
            s.scale = nn.ParameterList([nn.Parameter(t.ones(1)) for _ in range(2)])
            s.pd = nn.ParameterDict({"k": nn.Parameter(t.zeros(2))})
            s.register_parameter("none", None)

        def forward(s, x):
            for b, k in zip(s.blocks, s.scale, strict=False):
                x = x + k * F.gelu(b(x), approximate="tanh")
            return {k: h(x) for k, h in s.heads.items()}

    m = c.fill(N())
    o = m(c.r(2, 3))
    m.blocks.append(nn.Identity())
    m.blocks.insert(0, nn.Dropout(0.5))
    return (
        o,
        list(m.state_dict()),
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_children()],
        sum(p.numel() for p in m.parameters() if p.requires_grad),
        str(m),
    )


@fragment
def state_dict_partial(t, F, nn, c):
    m = nn.Sequential(collections.OrderedDict(fc1=nn.Linear(2, 3), bn=nn.BatchNorm1d(3)))
    sd = m.state_dict()
    sd = {("module." + k).replace("module.", ""): v for k, v in sd.items() if "fc1.bias" not in k}
    sd["extra"] = t.zeros(1)
    r = m.load_state_dict(sd, strict=False)
    try:
        m.load_state_dict(sd)
        e = ""
    except RuntimeError as x:
        e = str(x)
    try:
        m.load_state_dict({"fc1.weight": t.zeros(5, 5)}, strict=False)
        e2 = ""
    except RuntimeError as x:
        e2 = str(x)
    return list(r.missing_keys), list(r.unexpected_keys), e, e2


@fragment
def freeze(t, F, nn, c):
    m = c.fill(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)))
    [p.requires_grad_(False) for p in m[0].parameters()]
    m[1].eval()
    m[1].weight.requires_grad = False
    o = t.optim.RMSprop(
        filter(lambda p: p.requires_grad, m.parameters()), lr=0.01, alpha=0.9, centered=True, momentum=0.5
    )
    for _ in range(3):
        o.zero_grad()
        F.smooth_l1_loss(m(c.r(4, 3)), t.zeros(4, 1)).backward()
        o.step()
    return m.state_dict(), [p.grad is None for p in m.parameters()]


@fragment
def tied(t, F, nn, c):
    class L(nn.Module):
        def __init__(s):
            super().__init__()
            s.e = nn.Embedding(7, 4, padding_idx=0, max_norm=1.0)
            s.h = nn.Linear(4, 7, bias=False)
            s.h.weight = s.e.weight

        def forward(s, x):
            return s.h(s.e(x).mean(1))

    m = c.fill(L())
    F.cross_entropy(m(c.i(7, 3, 4)), c.i(7, 3)).backward()
    return m.e.weight, m.h.weight.grad, len(list(m.parameters())), list(m.state_dict())


@fragment
def spectral_weightnorm(t, F, nn, c):
    m = nn.utils.parametrizations.weight_norm(c.fill(nn.Linear(3, 4)))
    m(c.r(2, 3)).sum().backward()
    return m.parametrizations.weight.original0.grad, sorted(m.state_dict())


@fragment
def bn_stats(t, F, nn, c):
    m = c.fill(nn.BatchNorm2d(3, momentum=None))
    m.running_var.fill_(1.0)
    [m(c.r(4, 3, 2, 2)) for _ in range(3)]
    i = nn.InstanceNorm2d(3, affine=True, track_running_stats=True)
    i(c.r(2, 3, 4, 4))
    g = nn.GroupNorm(3, 6)(c.r(2, 6, 4))
    return m.state_dict(), i.state_dict(), g, nn.RMSNorm(4)(c.r(2, 4)), F.local_response_norm(c.r(1, 5, 3), 2)


@fragment
def rnn(t, F, nn, c):
    m = c.fill(nn.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True))
    x = c.r(3, 5, 3, grad=True)
    p = nn.utils.rnn.pack_padded_sequence(x, t.tensor([5, 2, 4]), batch_first=True, enforce_sorted=False)
    o, (h, cc) = m(p)
    y, l = nn.utils.rnn.pad_packed_sequence(o, batch_first=True, padding_value=-1.0)
    (y.sum() + h.pow(2).sum()).backward()
    return (
        y,
        l,
        h,
        cc,
        x.grad,
        m.weight_hh_l1_reverse.grad,
        nn.utils.rnn.pad_sequence([t.ones(2), t.ones(3)], batch_first=True, padding_value=9),
    )


@fragment
def grucell_tbptt(t, F, nn, c):
    m = c.fill(nn.GRUCell(3, 4))
    h = t.zeros(2, 4)
    ls = []
    for i in range(6):
        h = m(c.r(2, 3), h)
        if i % 3 == 2:
            l = h.pow(2).mean()
            l.backward()
            h = h.detach()
            ls.append(l)
    return ls, m.weight_ih.grad


@fragment
def convs(t, F, nn, c):
    x = c.r(2, 4, 9, 9, grad=True)
    ms = [
        nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2, dilation=2, padding_mode="circular"),
        nn.ConvTranspose2d(4, 2, 3, 2, 1, output_padding=1),
        nn.Conv2d(4, 4, 3, padding="same", groups=4, bias=False),
    ]
    o = [c.fill(m)(x) for m in ms]
    sum(y.pow(2).mean() for y in o).backward()
    return (
        o,
        x.grad,
        F.unfold(x, 3, stride=2),
        F.max_pool2d(x, 3, 2, ceil_mode=True, return_indices=True),
        F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        F.adaptive_avg_pool2d(x, (None, 3)),
        F.pixel_shuffle(x, 2),
        F.lp_pool2d(x.abs(), 2.0, 3),
    )


@pytest.mark.parametrize("name", fragment)
def test_same_as_torch(name):
    assert not fragment.differences(name)
