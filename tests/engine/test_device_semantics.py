"""The engine itself on another device: views, in-place writes, hooks, saved tensors, forward mode give what they give on the CPU.

Nothing is read from the device meanwhile: the strict one refuses it.
"""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.autograd import forward_ad
from agdbg_engine.tensor import wrap
from agdbg_engine.utils.checkpoint import checkpoint


def views_and_writes(x, y):
    z = x * 1
    first, half = z[0], z.view(-1)[3:]
    first.mul_(y[0])
    half.add_(1)
    z[:, 1] = y[:, 0]
    z.t()[0].zero_()
    return (z * z).sum()


def write_through_a_chain(x, y):
    z = x.clone()
    z.transpose(0, 1)[1:].unsqueeze(0).mul_(y.t()[1:])
    return z.sum()


def a_view_of_a_leaf_follows(x, y):
    base = ag.zeros_like(x)
    part = base[0]
    base.copy_(x)
    _ = part.grad_fn  # which takes its place in the new history of the base: before, a write is refused
    part.mul_(y[0])
    return (base * y).sum()


def as_strided(x, y):
    return (x.as_strided((2, 2), (3, 1)) * y.as_strided((2, 2), (1, 2), 1)).sum()


def tensor_hooks(x, y):
    z = x * y
    z.register_hook(lambda g: g * 2)
    z.retain_grad()
    out = (z + z * z).sum()
    out.register_hook(lambda g: g + 1)
    return out


def node_hooks(x, y):
    z = x.exp()
    z.grad_fn.register_prehook(lambda grads: (grads[0] * 3,))
    z.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + outputs[0],))
    return (z * y).sum()


def saved_hooks(x, y):
    with ag.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
        return (x * y).sigmoid().sum()


def checkpointed(x, y):
    return checkpoint(lambda a, b: (a * b).tanh().sum(), x, y, use_reentrant=False)


class Scaled(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.mark_non_differentiable(x > 0)
        return x * y

    @staticmethod
    def backward(ctx, g):
        _, y = ctx.saved_tensors
        return g * y * 2, None


def custom_function(x, y):
    return Scaled.apply(x, y).sum() + y.sum()


def double_backward(x, y):
    (g,) = ag.autograd.grad((x**3 * y).sum(), x, create_graph=True)
    return (g * g).sum()


def joined_and_split(x, y):
    a, b = ag.cat([x, y]).chunk(2)
    c, d = ag.stack([a, b]).unbind()
    return (c * d).sum() + x.detach().sum()


def broadcast_and_reduced(x, y):
    return (x[:, None] * y[None]).softmax(-1).max(1).values.logsumexp(0).mean() + x.var() + y.norm()


def network(x, y):
    net = ag.nn.Sequential(
        ag.nn.Linear(3, 4, device=x.device, dtype=x.dtype),
        ag.nn.GELU(),
        ag.nn.LayerNorm(4, device=x.device, dtype=x.dtype),
    )
    with ag.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_(ag.arange(p.numel(), dtype=x.dtype, device=x.device).reshape(p.shape).sin() + i)
    return ag.nn.functional.cross_entropy(net(x), (y.sum(1) > 0).long())


PROGRAMS = [
    views_and_writes, write_through_a_chain, a_view_of_a_leaf_follows, as_strided, tensor_hooks, node_hooks, saved_hooks, checkpointed,
    custom_function, double_backward, joined_and_split, broadcast_and_reduced, network,
]  # fmt: skip


def leaves(put):
    numbers = np.linspace(-1.3, 1.7, 12)
    return [wrap(put(a.reshape(2, 3).copy())).requires_grad_() for a in (numbers[:6], numbers[6:])]


def both(run):
    """What ``run(put)`` gives on both devices, as NumPy's arrays; nothing may have been refused."""
    strict.refusals.clear()
    there = [strict.host(t._a) for t in run(strict.put)]
    assert not strict.refusals
    here = [t._a for t in run(np.copy)]
    for a, b in zip(there, here, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def gradients(out, x, y):
    out.backward()
    return [out, *(t.grad for t in (x, y) if t.grad is not None)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(program):
    def run(put):
        x, y = leaves(put)
        return gradients(program(x, y), x, y)

    both(run)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p not in (node_hooks, tensor_hooks, custom_function, saved_hooks, double_backward, checkpointed, network)], ids=lambda f: f.__name__)  # fmt: skip
def test_forward_mode(program):
    def run(put):
        x, y = leaves(put)
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(t.detach(), t.detach().cos()) for t in (x, y)]
            return list(forward_ad.unpack_dual(program(*duals)))

    both(run)


def test_accumulation_and_grad_hooks():
    def halve(t):
        t.grad.mul_(0.5)

    def run(put):
        x, y = leaves(put)
        x.register_post_accumulate_grad_hook(halve)
        for _ in range(3):
            (x * y + x).sum().backward()
        return [x.grad, y.grad]

    both(run)


def test_training():
    def run(put):
        x, y = leaves(put)
        weight = wrap(put(np.ones((3, 1)))).requires_grad_()
        optimizer = ag.optim.Adam([weight], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            ag.nn.functional.mse_loss(x.detach() @ weight, y.detach()[:, :1]).backward()
            optimizer.step()
        return [weight, weight.grad]

    both(run)


def test_a_changed_saved_tensor_is_noticed():
    x = leaves(strict.put)[0]
    y = x * 1
    z = (y * y).sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_a_leaf_is_not_written():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaves(strict.put)[0].mul_(2)


def test_deep_copies_stay_on_the_device():
    import copy

    x = leaves(strict.put)[0].detach()
    twin = copy.deepcopy(x)
    assert twin.device == ag.device("strict:0")
    twin.zero_()
    assert strict.host(x._a).any()
