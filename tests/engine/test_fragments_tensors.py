"""Pieces of training scripts as people write them give in the engine what they give in PyTorch: indices, gradients of gradients, loops and everything else."""

import importlib
import math

import numpy as np
import pytest

pytest.importorskip("torch")

from agdbg_tests_fragments import Fragments

fragment = Fragments()


# ----- indexing -----
@fragment
def index_tricks(t, F, nn, c):
    x = c.r(4, 5, 6, grad=True)
    a = x[:, None, [0, 2]]
    b = x[..., t.tensor([1, 1, 3])]
    d = x[t.arange(4), t.tensor([0, 1, 2, 3])]
    e = x[x > 0]
    f = x[::2, -1:, 1:-1]
    g = x[t.tensor([True, False, True, False])]
    h = x[0, :, [1, 2]]
    k = x[[0, 1], :, [2, 3]]
    q = x.take_along_dim(x.argsort(-1), -1)
    (a.sum() + b.pow(2).sum() + d.sum() + e.sum() + f.sum() + g.sum() + h.prod() + k.sum() + q[..., 0].sum()).backward()
    return a, b, d, e, f, g, h, k, x.grad


@fragment
def inplace_index(t, F, nn, c):
    x = t.zeros(4, 4)
    x[t.tensor([0, 0, 1]), t.tensor([1, 1, 2])] += 1
    x.index_put_((t.tensor([3, 3]), t.tensor([3, 3])), t.tensor([1.0, 2.0]), accumulate=True)
    x[2, :2] = t.tensor([7, 8])
    x.fill_diagonal_(5)
    x.masked_scatter_(x == 0, t.arange(16.0))
    x.narrow(0, 0, 1).neg_()
    x[x > 6] = 0
    x.index_fill_(1, t.tensor([0]), -1)
    return x, x.tolist(), x.nonzero(as_tuple=True), t.argwhere(x > 3), x.unique(return_counts=True), t.where(x > 3)


@fragment
def ragged(t, F, nn, c):
    ls = t.tensor([2, 3, 1])
    x = c.r(6, 2)
    parts = x.split(ls.tolist())
    p = t.nn.utils.rnn.pad_sequence(parts)
    m = t.arange(3)[None] < ls[:, None]
    idx = t.repeat_interleave(t.arange(3), ls)
    return (
        p,
        m,
        idx,
        t.zeros(3, 2).index_add(0, idx, x) / ls[:, None],
        t.cumsum(ls, 0),
        t.nn.functional.pad(ls.cumsum(0), (1, 0))[:-1],
        p.swapaxes(0, 1)[m],
        t.tensor_split(x, [1, 4]),
        x.unfold(0, 3, 2),
    )


@fragment
def einsums(t, F, nn, c):
    a, b = c.r(2, 3, 4, grad=True), c.r(2, 4, 5, grad=True)
    o = [
        t.einsum("bij,bjk->bik", a, b),
        t.einsum("...ij,...jk->...k", a, b),
        t.einsum("bii->b", c.r(2, 3, 3)),
        t.einsum("i,j->ij", c.r(3), c.r(2)),
        t.einsum("bij->jb", a),
        t.einsum(a, [0, 1, 2], b, [0, 2, 3], [1, 3]),
    ]
    sum(x.pow(2).sum() for x in o).backward()
    return o, a.grad, b.grad


@fragment
def metrics(t, F, nn, c):
    l = c.r(8, 5)
    y = c.i(5, 8)
    _, p = l.topk(3, 1, True, True)
    p = p.t()
    ok = p.eq(y.view(1, -1).expand_as(p))
    acc = [ok[:k].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / 8) for k in (1, 3)]
    cm = t.zeros(5, 5, dtype=t.long)
    for a, b in zip(y, l.argmax(1), strict=False):
        cm[a.long(), b.long()] += 1
    return (
        acc,
        cm,
        (l.argmax(1) == y).float().mean().item(),
        cm.diag().float() / cm.sum(1).clamp_min(1),
        t.corrcoef(l[:2]),
        l.quantile(0.9, dim=0),
        l.median(),
        l.mode().values.shape,
    )


@fragment
def grad_tools(t, F, nn, c):
    x = c.r(3, grad=True)
    f = lambda v: (v**3).sum() + v.prod()
    A = t.autograd.functional
    return (
        A.jacobian(lambda v: v.exp() * v[0], x.detach()),
        A.hessian(f, x.detach()),
        A.vjp(f, x.detach()),
        t.autograd.grad(f(x), x, create_graph=True)[0].requires_grad,
        A.hvp(f, x.detach(), t.ones(3)),
    )


@fragment
def custom_fn(t, F, nn, c):
    class STE(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            ctx.k = k
            return (x * k).round() / k

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * (x.abs() <= 1).to(g.dtype), None

    x = c.r(5, grad=True)
    (STE.apply(x, 4) * t.arange(5)).sum().backward()
    y = x + (x.round() - x).detach()
    t.zeros_like(x)
    return x.grad, y


@fragment
def checkpointing(t, F, nn, c):
    ck = importlib.import_module(t.__name__ + ".utils.checkpoint").checkpoint
    m = c.fill(nn.Sequential(nn.Linear(3, 3), nn.Tanh()))
    x = c.r(2, 3, grad=True)
    ck(m, x, use_reentrant=False).sum().backward()
    return x.grad, m[0].weight.grad


@fragment
def loader(t, F, nn, c):
    D = importlib.import_module(t.__name__ + ".utils.data")

    class S(D.Dataset):
        def __len__(s):
            return 7

        def __getitem__(s, i):
            return {"x": t.full((2,), float(i)), "y": i, "n": str(i), "z": np.float32(i)}

    dl = D.DataLoader(S(), batch_size=3, drop_last=False)
    b = list(dl)
    td = D.TensorDataset(t.arange(10.0).view(5, 2), t.arange(5))
    sub = D.Subset(td, [0, 3])
    w = D.DataLoader(td, batch_size=2, sampler=D.SequentialSampler(td), collate_fn=lambda z: t.stack([q[0] for q in z]))
    return (
        [(q["x"], q["y"], q["n"], q["z"]) for q in b],
        len(dl),
        list(sub),
        list(w),
        len(D.ConcatDataset([td, sub])),
        [len(q) for q in D.random_split(td, [3, 2], generator=t.Generator().manual_seed(0))],
    )


@fragment
def amp_scaler(t, F, nn, c):
    m = c.fill(nn.Linear(3, 2))
    o = t.optim.SGD(m.parameters(), lr=0.1)
    with t.autocast("cpu", enabled=False):
        l = m(c.r(4, 3)).float().pow(2).mean()
    s = t.amp.GradScaler("cpu", enabled=False)
    s.scale(l).backward()
    s.unscale_(o)
    n = nn.utils.clip_grad_norm_(m.parameters(), 1.0, norm_type=float("inf"))
    s.step(o)
    s.update()
    nn.utils.clip_grad_value_(m.parameters(), 0.05)
    return l, n, m.state_dict(), m.weight.grad, s.get_scale()


@fragment
def maml_fc(t, F, nn, c):
    m = c.fill(nn.Linear(3, 1))
    fc = importlib.import_module(t.__name__ + ".func").functional_call
    ps = dict(m.named_parameters())
    l = fc(m, ps, (c.r(4, 3),)).pow(2).mean()
    gs = t.autograd.grad(l, list(ps.values()), create_graph=True)
    f = {k: p - 0.1 * g for (k, p), g in zip(ps.items(), gs, strict=False)}
    fc(m, f, (c.r(4, 3),)).pow(2).mean().backward()
    return m.weight.grad, m.bias.grad


@fragment
def pinn(t, F, nn, c):
    m = c.fill(nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)))
    xt = c.r(6, 2, grad=True)
    u = m(xt)
    g = t.autograd.grad(u.sum(), xt, create_graph=True)[0]
    ut, ux = g[:, 1:], g[:, :1]
    uxx = t.autograd.grad(ux, xt, t.ones_like(ux), create_graph=True)[0][:, :1]
    l = (ut + u * ux - 0.01 / math.pi * uxx).pow(2).mean()
    l.backward()
    return l, [p.grad for p in m.parameters()]


@fragment
def adversarial(t, F, nn, c):
    m = c.fill(nn.Linear(4, 3))
    x = c.r(5, 4)
    y = c.i(3, 5)
    d = t.zeros_like(x, requires_grad=True)
    for _ in range(3):
        F.cross_entropy(m(x + d), y).backward()
        d.data = (d + 0.1 * d.grad.detach().sign()).clamp(-0.25, 0.25)
        d.data = t.max(t.min(1 - x, d.data), 0 - x)
        d.grad.zero_()
    return d


@fragment
def dtype_device_misc(t, F, nn, c):
    x = c.r(3, 4)
    return (
        x.to("cpu", t.float64, non_blocking=True).dtype == t.float64,
        x.type(t.float16).float(),
        x.new_tensor([1, 2]).dtype == t.float32,
        x.new_full((2,), 3),
        t.as_tensor(np.arange(3)),
        t.empty_like(x).shape == x.shape,
        x.cpu().numpy(),
        x.half().sum(dtype=t.float32),
        (t.tensor([1, 2]) / 2),
        t.tensor([5]) // 2,
        t.tensor([-5.0]) % 3,
        t.tensor(3).item(),
        x.is_contiguous(),
        x.T.is_contiguous(),
        x.stride(),
        x.t().reshape(-1),
        t.finfo(t.float32).eps,
        t.iinfo(t.int64).max,
        x.element_size(),
        x.nelement(),
        x.mT.shape[0],
        x.int().bool().any().item(),
        t.isclose(x, x).all(),
        t.result_type(t.tensor([1]), 1.5) == t.float32,
        t.is_tensor(x),
        t.numel(x),
        x.device.type,
    )


@fragment
def misc_f(t, F, nn, c):
    x = c.r(3, 6, grad=True)
    o = [
        F.glu(x, -1),
        F.softmin(x, 1),
        F.softmax(x, dim=1, dtype=t.float64),
        F.prelu(x, t.tensor([0.1])),
        F.hardtanh(x, -0.2, 0.3),
        F.threshold(x, 0.1, 20),
        F.normalize(x, p=1, dim=0, eps=1e-3),
        F.cosine_similarity(x[0], x[1], dim=0),
        F.pairwise_distance(x[:1], x[1:], p=1.0, keepdim=True),
        F.layer_norm(x, x.shape[1:], eps=1e-3),
        F.bilinear(x, x, t.ones(2, 6, 6)),
        F.logsigmoid(x),
        F.rrelu(x, training=False),
        F.celu(x, 0.5),
        F.tanhshrink(x),
        F.softsign(x),
        F.mish(x),
        F.gumbel_softmax(x, hard=True).sum(),
        t.logsumexp(x, (0, 1)),
        t.var_mean(x, 0, correction=0)[0],
        t.clamp(x, t.zeros(6), t.ones(3, 1)),
        t.addcmul(x, x, x, value=0.5),
        t.baddbmm(t.zeros(1, 3, 3), x[None], x.t()[None], beta=0.5, alpha=2),
        x.logit(eps=0.1),
        t.nan_to_num(x / 0 * 0, nan=1.0),
        t.block_diag(x, x[:1]).sum(),
        x.renorm(2, 0, 1.0),
        t.linalg.vector_norm(x, ord=3, dim=1),
        x.aminmax(dim=1)[1],
        x.cummax(1)[0],
        x.diff(dim=1),
        t.kron(x[:1, :2], x),
        t.trapezoid(x, dx=0.5),
        x.abs().xlogy(x.abs()),
        F.embedding_bag(t.tensor([[0, 1], [2, 2]]), x, mode="mean"),
        F.multi_margin_loss(x, t.tensor([1, 2, 3]), reduction="none"),
        F.dropout(x, 0.5, training=False),
        F.alpha_dropout(x, 0.2, training=False),
    ]
    sum(v.double().sum() for v in o).backward()
    return o, x.grad


@fragment
def linalg_bits(t, F, nn, c):
    a = c.r(3, 3)
    s = (a @ a.T + 3 * t.eye(3)).requires_grad_()
    o = [
        t.linalg.cholesky(s),
        t.linalg.solve(s, c.r(3, 2)),
        t.logdet(s),
        t.linalg.slogdet(s)[1],
        t.linalg.inv(s),
        t.linalg.eigvalsh(s),
        t.linalg.svdvals(s),
        t.linalg.norm(s, "nuc"),
        t.linalg.matrix_norm(s, 2),
        t.linalg.lstsq(s, c.r(3, 1)).solution,
        t.linalg.matrix_power(s, 3),
        t.cholesky_solve(c.r(3, 1), t.linalg.cholesky(s)),
        t.linalg.pinv(s),
        t.trace(s),
        t.linalg.multi_dot([s, s, a]),
        t.matrix_exp(s / 10),
    ]
    sum(v.sum() for v in o).backward()
    return o, s.grad


@fragment
def fft_bits(t, F, nn, c):
    x = c.r(4, 8, grad=True)
    f = t.fft.rfft(x, dim=-1, norm="ortho")
    y = t.fft.irfft(f * t.arange(5), n=8)
    (y.pow(2).sum() + f.abs().sum()).backward()
    return (
        f,
        y,
        x.grad,
        t.fft.fftshift(x, dim=-1),
        t.fft.rfftfreq(8),
        t.stft(x.detach(), 4, hop_length=2, window=t.hann_window(4), return_complex=True),
        f.angle(),
        t.fft.fft2(x.detach()).real,
    )


@fragment
def optim_zoo(t, F, nn, c):
    out = {}
    for n, kw in {
        "Adagrad": {"lr": 0.1},
        "Adadelta": {},
        "Adamax": {},
        "NAdam": {"decoupled_weight_decay": True, "weight_decay": 0.1},
        "RAdam": {},
        "ASGD": {},
        "Rprop": {},
        "Adam": {"maximize": True},
        "AdamW": {"amsgrad": True},
        "SGD": {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1},
    }.items():
        p = t.tensor([1.0, -2.0, 3.0]).requires_grad_()
        o = getattr(t.optim, n)([p], **kw)
        for i in range(8):
            o.zero_grad()
            ((p - i * 0.1) ** 2 * t.tensor([1.0, 0.1, 3.0])).sum().backward()
            o.step()
        out[n] = p
        out[n + "_s"] = dict(o.state_dict()["state"][0].items())
    return out


@pytest.mark.parametrize("name", fragment)
def test_same_as_torch(name):
    assert not fragment.differences(name)
