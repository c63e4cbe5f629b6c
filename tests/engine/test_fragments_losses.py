"""Pieces of training scripts as people write them give in the engine what they give in PyTorch: images, losses and attention."""

import math

import pytest

pytest.importorskip("torch")

from agdbg_tests_fragments import Fragments

fragment = Fragments()


# ----- augmentation -----
@fragment
def crop_flip(t, F, nn, c):
    img = c.r(4, 3, 12, 12)
    i, j = 2, 3
    x = img[:, :, i : i + 8, j : j + 8]
    x = t.where(t.tensor([True, False, True, False])[:, None, None, None], x.flip(-1), x)
    mean = t.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
    return x.sub(mean).div_(t.tensor([0.2, 0.2, 0.2]).view(-1, 1, 1))


@fragment
def mixup(t, F, nn, c):
    x = c.r(6, 5)
    y = F.one_hot(c.i(4, 6), 4).float()
    lam = 0.3
    p = t.tensor([3, 1, 0, 5, 4, 2])
    return lam * x + (1 - lam) * x[p], t.lerp(y[p], y, lam)


@fragment
def cutout(t, F, nn, c):
    x = c.r(2, 3, 8, 8)
    m = t.ones_like(x[:, :1])
    m[..., 2:5, 3:6] = 0
    return x * m, x.masked_fill(m == 0, float("nan")).nanmean((-2, -1))


@fragment
def cutmix_rand_erase(t, F, nn, c):
    x = c.r(4, 3, 8, 8)
    y = x.clone()
    y[:, :, 1:4, 2:6] = x[[1, 0, 3, 2]][:, :, 1:4, 2:6]
    y[0].clamp_(min=-0.5)
    return y, y.std((0, 2, 3), unbiased=False), y.amax(dim=(2, 3))


@fragment
def affine_rot(t, F, nn, c):
    th = t.tensor(0.3)
    m = t.stack([t.stack([th.cos(), -th.sin(), t.zeros(())]), t.stack([th.sin(), th.cos(), t.zeros(())])])[None].expand(
        2, -1, -1
    )
    g = F.affine_grid(m, (2, 3, 6, 6), align_corners=False)
    return F.grid_sample(c.r(2, 3, 6, 6), g, mode="bilinear", padding_mode="reflection", align_corners=False)


@fragment
def resize_jitter(t, F, nn, c):
    x = c.r(2, 3, 9, 7).sigmoid()
    y = F.interpolate(x, size=(5, 11), mode="bilinear", align_corners=True)
    return (
        y,
        F.interpolate(x, scale_factor=(2, 0.5), mode="nearest"),
        F.interpolate(x, size=4, mode="area"),
        F.pad(x, (1, 2, 3, 0), mode="reflect"),
        F.pad(x, (1, 1), value=-1.0),
    )


@fragment
def gray_weights(t, F, nn, c):
    w = t.tensor([0.299, 0.587, 0.114])
    x = c.r(2, 3, 4, 4)
    return (
        t.einsum("bchw,c->bhw", x, w),
        t.tensordot(x, w, dims=([1], [0])),
        (x * w[:, None, None]).sum(1, keepdim=True).repeat(1, 3, 1, 1),
    )


# ----- losses -----
@fragment
def label_smooth(t, F, nn, c):
    x = c.r(5, 7, grad=True)
    y = c.i(7, 5)
    l = F.cross_entropy(x, y, label_smoothing=0.1, weight=t.linspace(0.5, 2, 7))
    l.backward()
    lp = F.log_softmax(x.detach(), -1)
    man = -(1 - 0.1) * lp.gather(1, y[:, None]).squeeze(1) - 0.1 * lp.mean(-1)
    return l, x.grad, man


@fragment
def focal(t, F, nn, c):
    x = c.r(6, 4, grad=True)
    y = F.one_hot(c.i(4, 6), num_classes=4).to(x.dtype)
    p = t.sigmoid(x)
    ce = F.binary_cross_entropy_with_logits(x, y, reduction="none", pos_weight=t.full((4,), 2.0))
    pt = p * y + (1 - p) * (1 - y)
    l = ((1 - pt) ** 2 * ce * (0.25 * y + 0.75 * (1 - y))).mean(1).sum()
    l.backward()
    return l, x.grad


@fragment
def dice(t, F, nn, c):
    x = c.r(2, 3, 5, 5, grad=True)
    y = c.i(3, 2, 5, 5)
    p = x.softmax(1)
    o = F.one_hot(y, 3).permute(0, 3, 1, 2).float()
    n = 2 * (p * o).sum((2, 3)) + 1
    d = (p + o).sum(dim=[2, 3]) + 1
    l = 1 - (n / d).mean()
    l.backward()
    return l, x.grad


@fragment
def ignore_index_seq(t, F, nn, c):
    x = c.r(2, 6, 9, grad=True)
    y = c.i(9, 2, 6)
    y[:, -2:] = -100
    l = F.cross_entropy(x.view(-1, x.size(-1)), y.view(-1))
    l2 = F.cross_entropy(x.transpose(1, 2), y, reduction="none", ignore_index=-100)
    (l + l2.sum()).backward()
    return l, l2, x.grad


@fragment
def kd(t, F, nn, c):
    s, te = c.r(4, 5, grad=True), c.r(4, 5)
    T = 3.0
    l = F.kl_div(F.log_softmax(s / T, 1), F.softmax(te / T, 1), reduction="batchmean") * T * T + 0.5 * F.kl_div(
        s.log_softmax(-1), te.log_softmax(-1), log_target=True, reduction="sum"
    )
    l.backward()
    return l, s.grad


@fragment
def ntxent(t, F, nn, c):
    z = c.r(8, 6, grad=True)
    n = F.normalize(z, dim=-1)
    s = n @ n.t() / 0.5
    s = s.masked_fill(t.eye(8, dtype=t.bool), float("-inf"))
    y = (t.arange(8) + 4) % 8
    l = F.cross_entropy(s, y)
    l.backward()
    return l, z.grad


@fragment
def triplet_hard(t, F, nn, c):
    z = c.r(8, 4, grad=True)
    y = t.tensor([0, 0, 1, 1, 2, 2, 3, 3])
    d = t.cdist(z, z)
    same = y[:, None] == y[None]
    pos = (d * same).max(1).values
    neg = (d + 1e3 * same.float()).min(dim=1)[0]
    l = F.relu(pos - neg + 0.3).mean()
    l.backward()
    return l, z.grad


@fragment
def vae(t, F, nn, c):
    mu, lv = c.r(4, 3, grad=True), c.r(4, 3, grad=True)
    eps = c.r(4, 3)
    z = mu + eps * t.exp(0.5 * lv)
    kl = -0.5 * t.sum(1 + lv - mu.pow(2) - lv.exp())
    rec = F.binary_cross_entropy(t.sigmoid(z), c.r(4, 3).sigmoid(), reduction="sum")
    (kl + rec).backward()
    return kl, rec, mu.grad, lv.grad


@fragment
def gp(t, F, nn, c):
    net = c.fill(nn.Sequential(nn.Linear(5, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1)))
    x = c.r(6, 5, grad=True)
    o = net(x)
    g = t.autograd.grad(o, x, grad_outputs=t.ones_like(o), create_graph=True, retain_graph=True, only_inputs=True)[0]
    l = ((g.view(6, -1).norm(2, dim=1) - 1) ** 2).mean()
    l.backward()
    return l, [p.grad for p in net.parameters()]


@fragment
def hinge_gan(t, F, nn, c):
    a, b = c.r(5, grad=True), c.r(5, grad=True)
    l = (
        F.relu(1.0 - a).mean()
        + F.relu(1.0 + b).mean()
        + F.softplus(-a).mean()
        + F.hinge_embedding_loss(b, t.tensor([1, -1, 1, 1, -1]))
    )
    l.backward()
    return l, a.grad, b.grad


@fragment
def mixed_losses(t, F, nn, c):
    x = c.r(4, 6, grad=True)
    crit = {
        "l1": nn.L1Loss(),
        "sl": nn.SmoothL1Loss(beta=0.5),
        "mse": nn.MSELoss(reduction="sum"),
        "hub": nn.HuberLoss(delta=0.3),
        "pois": nn.PoissonNLLLoss(full=True),
        "cos": lambda a, b: nn.CosineEmbeddingLoss(margin=0.1)(a, b, t.tensor([1, -1, 1, -1])),
        "mr": nn.MarginRankingLoss(margin=0.2),
    }
    y = c.r(4, 6).abs()
    ls = {k: (f(x[:, 0], y[:, 0], t.ones(4)) if k == "mr" else f(x, y)) for k, f in crit.items()}
    sum(ls.values()).backward()
    return ls, x.grad


@fragment
def ctc(t, F, nn, c):
    x = c.r(12, 2, 5, grad=True)
    l = nn.CTCLoss(blank=0, zero_infinity=True)(
        x.log_softmax(2), t.tensor([[1, 2, 3], [2, 2, 4]]), t.tensor([12, 10]), t.tensor([3, 3])
    )
    l.backward()
    return l, x.grad


@fragment
def gnll(t, F, nn, c):
    m, v = c.r(4, 3, grad=True), c.r(4, 3).exp().requires_grad_()
    l = F.gaussian_nll_loss(m, c.r(4, 3), v, full=True)
    l.backward()
    return l, m.grad, v.grad


@fragment
def arcface(t, F, nn, c):
    e, w = c.r(4, 6, grad=True), c.r(5, 6, grad=True)
    y = c.i(5, 4)
    cos = F.linear(F.normalize(e), F.normalize(w)).clamp(-1 + 1e-7, 1 - 1e-7)
    th = t.acos(cos)
    oh = t.zeros_like(cos).scatter_(1, y.view(-1, 1), 1.0)
    l = F.cross_entropy(30 * t.cos(th + 0.5 * oh), y)
    l.backward()
    return l, e.grad, w.grad


@fragment
def center_ema(t, F, nn, c):
    cent = t.zeros(4, 3)
    x = c.r(10, 3)
    y = c.i(4, 10)
    s = t.zeros(4, 3).index_add_(0, y, x)
    n = t.bincount(y, minlength=4).clamp(min=1).unsqueeze(1)
    cent.mul_(0.9).add_(s / n, alpha=0.1)
    return (
        cent,
        t.zeros(4).scatter_add(0, y, t.ones(10)),
        t.zeros(4, 3).scatter_reduce(0, y[:, None].expand(-1, 3), x, reduce="amax", include_self=False),
    )


# ----- attention -----
@fragment
def causal_attn(t, F, nn, c):
    q, k, v = [c.r(2, 4, 5, 8, grad=True) for _ in range(3)]
    T = 5
    m = t.tril(t.ones(T, T)).view(1, 1, T, T)
    a = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
    a = a.masked_fill(m[:, :, :T, :T] == 0, float("-inf")).softmax(-1)
    y = (a @ v).transpose(1, 2).contiguous().view(2, T, -1)
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(2, T, -1)
    (y.sum() + z.pow(2).sum()).backward()
    return y, z, q.grad, k.grad, v.grad


@fragment
def pad_mask(t, F, nn, c):
    m = c.fill(nn.MultiheadAttention(8, 2, batch_first=True))
    x = c.r(2, 5, 8, grad=True)
    pm = t.arange(5)[None] >= t.tensor([3, 5])[:, None]
    am = t.triu(t.full((5, 5), float("-inf")), diagonal=1)
    o, w = m(x, x, x, key_padding_mask=pm, attn_mask=am, average_attn_weights=False)
    o.sum().backward()
    return o, w, x.grad, m.in_proj_weight.grad


@fragment
def alibi(t, F, nn, c):
    s = 2 ** (-8 * t.arange(1, 5) / 4)
    b = -(t.arange(6)[None] - t.arange(6)[:, None]).abs()[None] * s[:, None, None]
    q = c.r(2, 4, 6, 4, grad=True)
    o = F.scaled_dot_product_attention(q, q, q, attn_mask=b, scale=0.3)
    o.sum().backward()
    return b, o, q.grad


@fragment
def rope(t, F, nn, c):
    d = 8
    f = 1.0 / (10000 ** (t.arange(0, d, 2).float() / d))
    fr = t.outer(t.arange(5).float(), f)
    x = c.r(2, 5, 3, d, grad=True)
    xc = t.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    pol = t.polar(t.ones_like(fr), fr)
    o = t.view_as_real(xc * pol[None, :, None]).flatten(3).type_as(x)
    o.pow(2).sum().backward()
    x1, x2 = x.detach().chunk(2, -1)
    return o, x.grad, t.cat((-x2, x1), dim=-1), t.stack((-x.detach()[..., 1::2], x.detach()[..., ::2]), -1).flatten(-2)


@fragment
def sinusoidal_buffer(t, F, nn, c):
    class PE(nn.Module):
        def __init__(s, d, n=20):
            super().__init__()
            p = t.arange(n).unsqueeze(1)
            div = t.exp(t.arange(0, d, 2) * (-math.log(10000.0) / d))
            pe = t.zeros(n, 1, d)
            pe[:, 0, 0::2] = t.sin(p * div)
            pe[:, 0, 1::2] = t.cos(p * div)
            s.register_buffer("pe", pe)
            s.register_buffer("tmp", t.zeros(1), persistent=False)

        def forward(s, x):
            return x + s.pe[: x.size(0)]

    m = PE(6)
    return m(c.r(4, 2, 6)), list(m.state_dict()), [n for n, _ in m.named_buffers()]


@fragment
def window_partition(t, F, nn, c):
    x = c.r(2, 8, 8, 3)
    w = x.view(2, 2, 4, 2, 4, 3).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, 4, 4, 3)
    s = t.roll(x, shifts=(-2, -2), dims=(1, 2))
    return w, s, t.meshgrid(t.arange(3), t.arange(4), indexing="ij")


@fragment
def relpos_bias(t, F, nn, c):
    co = t.stack(t.meshgrid([t.arange(3), t.arange(3)], indexing="ij"))
    cf = t.flatten(co, 1)
    rel = (cf[:, :, None] - cf[:, None, :]).permute(1, 2, 0).contiguous()
    rel[:, :, 0] += 2
    rel[:, :, 1] += 2
    rel[:, :, 0] *= 5
    idx = rel.sum(-1)
    tab = c.r(25, 2, grad=True)
    b = tab[idx.view(-1)].view(9, 9, -1).permute(2, 0, 1)
    b.pow(2).sum().backward()
    return idx, b, tab.grad


@fragment
def kv_cache_topk_sampling(t, F, nn, c):
    l = c.r(3, 20) / 0.8
    v, _ = t.topk(l, 5)
    l[l < v[:, [-1]]] = -float("inf")
    p = F.softmax(l, -1)
    sp, si = p.sort(-1, descending=True)
    cum = sp.cumsum(-1)
    rm = cum > 0.9
    rm[..., 1:] = rm[..., :-1].clone()
    rm[..., 0] = False
    m = rm.scatter(1, si, rm)
    return p, l.masked_fill(m, -1e9).argmax(-1, keepdim=True), t.cat([p, p[:, :1]], 1)


@pytest.mark.parametrize("name", fragment)
def test_same_as_torch(name):
    assert not fragment.differences(name)
