"""Programs that use what few programs use; each returns its results, to be the same whoever watches."""

import warnings

import agdbg_engine as ag
from agdbg_engine import nn
from agdbg_engine.autograd import Function, forward_ad, functional, graph
from agdbg_engine.function import once_differentiable
from agdbg_engine.utils.checkpoint import checkpoint


class Pair(Function):
    """Two outputs with memory of their own, one of them saved; attributes whose names are the engine's, too."""

    @staticmethod
    def forward(ctx, x, y):
        product, total = x * y, x + y
        ctx.save_for_backward(x, y, product)
        ctx.tag = "mine"
        ctx.twice = x * 2
        return product, total

    @staticmethod
    def backward(ctx, of_product, of_total):
        x, y, product = ctx.saved_tensors
        assert ctx.tag == "mine" and product.shape == x.shape
        return of_product * y + of_total, of_product * x + of_total


class Many(Function):
    """Any number of arguments, all saved."""

    @staticmethod
    def forward(ctx, *xs):
        ctx.save_for_backward(*xs)
        return sum(x * x for x in xs)

    @staticmethod
    def backward(ctx, g):
        return tuple(2 * g * x for x in ctx.saved_tensors)


class Sneaky(Function):
    """Writes to its argument without mark_dirty."""

    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Dirty(Function):
    """Writes to its argument and says so."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, g):
        return g * 3


class Dual(Function):
    """With a forward-mode derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, tangent):
        return 2 * tangent * ctx.saved_tensors[0]


def leaves():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = ag.tensor([3.0, 0.5], requires_grad=True)
    return x, y


def function():
    x, y = leaves()
    a, b = Pair.apply(x * 1, y)
    (a * b).exp().sum().backward()
    return x.grad, y.grad


def function_of_many():
    x, y = leaves()
    z = ag.tensor([0.25, 4.0], requires_grad=True)
    Many.apply(x, y, z, x * 2).sum().backward()
    Many.apply(x).sum().backward()
    return x.grad, y.grad, z.grad


def function_without_graph():
    x, y = leaves()
    with ag.no_grad():
        return Pair.apply(x, y)


def function_that_writes():
    x, y = leaves()
    h, k = x * 1, y * 1
    (Sneaky.apply(h) + Dirty.apply(k)).sum().backward()
    return x.grad, y.grad


def function_twice_differentiated():
    x, y = leaves()
    a, _ = Pair.apply(x, y)
    (g,) = ag.autograd.grad(a.sum(), x, create_graph=True)
    (g * g).sum().backward()
    return x.grad, y.grad


def function_modified():
    x, y = leaves()
    h = x * 1
    a, _ = Pair.apply(h, y)
    h.add_(1)
    return refused(a.sum().backward)


def function_backward_twice():
    x, y = leaves()
    a, _ = Pair.apply(x, y)
    a.sum().backward()
    return x.grad, refused(a.sum().backward)


def function_on_a_view():
    x, _ = leaves()
    h = x * 1
    Dirty.apply(h[:1])
    (h * h).sum().backward()
    return x.grad


class Once(Function):
    """Cannot be differentiated twice."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]


def function_once_differentiable():
    x, y = leaves()
    (g,) = ag.autograd.grad((Once.apply(x * 1) * y).sum(), x, create_graph=True)
    return g, refused(g.sum().backward)


def strict():
    x, y = leaves()
    with graph.strict_saved_tensors():
        h = x * 1
        z = (h * y).sum()
        text = refused(lambda: h.add_(1))
    z.backward()
    return x.grad, y.grad, text


def hooks_in_a_checkpoint():
    x, y = leaves()
    with graph.save_on_cpu():
        z = checkpoint(block, x, y, use_reentrant=False) * y
    z.sum().backward()
    return x.grad, y.grad


def refused(call):
    try:
        call()
    except RuntimeError as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("no error")


def saved_hooks():
    x, y = leaves()
    with graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), ag.from_numpy):
        z = (x * y).exp()
        a, b = Pair.apply(z, y)
        z = ag.cat([a, b, x]).tanh() * ag.stack([x, y]).reshape(4)[:2].sum()
    z.sum().backward()
    return x.grad, y.grad


def saved_hooks_in_place():
    x, y = leaves()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        h = x * y
        h.mul_(y)
        h[0] = 2.0
        h.exp_()
    h.sum().backward()
    return x.grad, y.grad


def saved_hooks_modified():
    x, y = leaves()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        h = x * y
        z = h.exp()
    z.add_(1)
    return refused(z.sum().backward)


def save_on_cpu():
    x, y = leaves()
    with graph.save_on_cpu():
        z = (x * y).exp().sum()
    z.backward()
    return x.grad, y.grad


def mutation_allowed():
    x, y = leaves()
    with graph.allow_mutation_on_saved_tensors():
        h = x * 1
        z = h * y
        h.fill_(7.0)
        z.sum().backward()
    return x.grad, y.grad


def raw_hooks():
    x, y = leaves()
    z = x * y
    z.grad_fn._raw_saved_self.register_hooks(lambda t: t * 1, lambda t: t)
    z.sum().backward()
    return x.grad, y.grad


def block(x, y):
    return (x * y).exp().tanh()


def checkpointed():
    x, y = leaves()
    checkpoint(block, x, y, use_reentrant=False).sum().backward()
    return x.grad, y.grad


def checkpointed_reentrant():
    x, y = leaves()
    h = checkpoint(block, x * 1, y, use_reentrant=True)
    (h * h).sum().backward()
    return x.grad, y.grad


def checkpointed_differently():
    x, y = leaves()
    runs = []

    def moody(x, y):
        runs.append(1)
        return (x * y).exp() if len(runs) == 1 else (x + y).exp()

    z = checkpoint(moody, x, y, use_reentrant=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        z.sum().backward()
    return x.grad, y.grad


def forward_mode():
    x, y = leaves()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, ag.tensor([1.0, 0.0]))
        out = forward_ad.unpack_dual((Dual.apply(dual) * y).exp())
        out.tangent.sum().backward()
        return out.primal, out.tangent, x.grad, y.grad


def inference():
    x, y = leaves()
    with ag.inference_mode():
        a = x * y
        a.add_(1)
        b = a[0]
        a.mul_(b.clone())
        c = a.data
        a, b = Pair.apply(a, a * 1)
    return a, b, c, refused(lambda: y * c), y + c.clone()


def anomaly():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with ag.autograd.detect_anomaly():
            x = ag.tensor([-1.0, 0.0], requires_grad=True)
            z = (x.sqrt() * 0.0).sum()
            return refused(z.backward)


class Marked(ag.Tensor):
    """A subclass, which ops keep."""


def subclass():
    x = ag.tensor([1.0, 2.0]).as_subclass(Marked).requires_grad_()
    y = x * 2
    y.add_(1)
    z = y.tanh().sum()
    z.backward()
    assert isinstance(z, Marked)
    return y, x.grad


def hooks():
    x, y = leaves()
    seen = []
    h, k = x * y, y * 2
    graph.register_multi_grad_hook([h, k], lambda gs: seen.extend(g.clone() for g in gs))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad * 1))
    y.register_hook(lambda g: g * 2)
    h.grad_fn.register_prehook(lambda gs: (gs[0] * 3,))
    h.retain_grad()
    (h * k).sum().backward()
    return x.grad, y.grad, h.grad, *seen


def module_hooks():
    ag.manual_seed(1)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    seen = []
    model[0].register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    model[1].register_forward_hook(lambda module, args, out: out + 1)
    model[2].register_full_backward_hook(lambda module, ins, outs: seen.extend([*ins, *outs]))
    model[2].register_full_backward_pre_hook(lambda module, outs: (outs[0] * 2,))
    model(ag.ones(4, 2)).sum().backward()
    return *(p.grad for p in model.parameters()), *(s.clone() for s in seen)


def second_order():
    x, y = leaves()
    hessian = functional.hessian(lambda a: (a * a * y).exp().sum(), x)
    (g,) = ag.autograd.grad(((x * y) ** 3).sum(), x, create_graph=True)
    (g * g).sum().backward()
    return hessian, x.grad, y.grad


def complex_numbers():
    z = ag.tensor([1.0 + 2.0j, 0.5 - 1.0j], requires_grad=True)
    w = (z * z).exp()
    (w * w.conj()).real.sum().backward()
    return w, z.grad


def callback():
    x, y = leaves()
    seen = []
    h = x * y
    h.register_hook(
        lambda g: ag.autograd.Variable._execution_engine.queue_callback(lambda: seen.append(x.grad.clone()))
    )
    h.sum().backward()
    return x.grad, y.grad, *seen


def op_refuses_numbers():
    x, y = leaves()
    try:
        ag.nn.functional.gelu(ag.tensor([1, 2]))
    except NotImplementedError as error:
        refused_with = str(error)
    (x * y).sum().backward()
    return refused_with, x.grad, y.grad


PROGRAMS = {
    name: made
    for name, made in list(globals().items())
    if callable(made) and getattr(made, "__module__", "") == __name__ and not isinstance(made, type)
    if name not in ("leaves", "refused", "block")
}
