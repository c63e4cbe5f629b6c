"""Forward over reverse through what was saved in another way: the gradient has the tangent that it has without that."""

import contextlib

import pytest
from agdbg_tests_differential import Numbers, nodes_below, same
from agdbg_tests_forward_tools import pytorch

import agdbg_engine as ag

pytorch()


def plain_dual(t):
    values = (t.tensor(v, dtype=t.float64) for v in ([3.0, 4.0], [0.5, 0.25]))
    return t.autograd.forward_ad.make_dual(*values)


def own_exp(t, x):
    """A custom Function that saves its result."""

    class Exp(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x.exp()
            ctx.save_for_backward(out)
            ctx.save_for_forward(out)
            return out

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx, x_t):
            return x_t * ctx.saved_tensors[0]

    return Exp.apply(x)


PROGRAMS = {
    "inputs": lambda t, d: d * d,
    "results of ops": lambda t, d: (d * 1) * (d * 2),
    "an output": lambda t, d: d.exp(),
    "an output written in place": lambda t, d: (d * 1).exp_(),
    "an output written through a view": lambda t, d: (d * 1).view(2).exp_(),
    "a view": lambda t, d: (d * 3)[0] * d,
    "what needs no gradient": lambda t, d: d * plain_dual(t),
    "several outputs": lambda t, d: t.linalg.qr(d.outer(d) + t.eye(2, dtype=t.float64))[1],
    "an output of a custom Function": own_exp,
}
HOOKS = {
    "NumPy's": lambda t: t.autograd.graph.saved_tensors_hooks(lambda x: x.detach().numpy().copy(), t.from_numpy),
    "identity": lambda t: t.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x),
    "copies": lambda t: t.autograd.graph.saved_tensors_hooks(lambda x: x.clone(), lambda x: x),
    "on the CPU": lambda t: t.autograd.graph.save_on_cpu(),
    "mutation": lambda t: t.autograd.graph.allow_mutation_on_saved_tensors(),
}


def slope(t, context, f):
    """The tangent of the gradient of the sum of ``f``, whose graph is made in the context."""
    fw = t.autograd.forward_ad
    with fw.dual_level():
        x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
        d = fw.make_dual(x, t.tensor([1.0, 0.5], dtype=t.float64))
        with context:
            loss = f(t, d).sum()
        (g,) = t.autograd.grad(loss, x, create_graph=True)
        tangent = fw.unpack_dual(g).tangent
        return None if tangent is None else Numbers(tangent.detach().numpy() + 0)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("hooks", HOOKS)
def test_with_hooks_on_saved_tensors(hooks, f):
    same(lambda t: slope(t, HOOKS[hooks](t), PROGRAMS[f]))


@pytest.mark.parametrize("f", PROGRAMS)
def test_in_strict_mode(f):
    strict = ag.autograd.graph.strict_saved_tensors()
    assert slope(ag, strict, PROGRAMS[f]) == slope(ag, contextlib.nullcontext(), PROGRAMS[f])


@pytest.mark.parametrize("f", PROGRAMS)
def test_with_hooks_on_every_saved_tensor(f):
    def hooked(t, d):
        y = PROGRAMS[f](t, d)
        for node in nodes_below(y):
            for name in sorted(n for n in dir(node) if n.startswith("_raw_saved_") and n != "_raw_saved_tensors"):
                with contextlib.suppress(RuntimeError):  # there is none, or it is a number
                    getattr(node, name).register_hooks(lambda x: x.detach().numpy().copy(), t.from_numpy)
        return y

    same(lambda t: slope(t, contextlib.nullcontext(), hooked))


@pytest.mark.parametrize("f", PROGRAMS)
def test_in_a_checkpoint(f):
    def checkpointed(t, d):
        return t.utils.checkpoint.checkpoint(PROGRAMS[f], t, d, use_reentrant=False)

    same(lambda t: slope(t, contextlib.nullcontext(), checkpointed))


OF_TANGENTS = {
    "sin": lambda t, d: d.sin(),
    "product": lambda t, d: d * d,
    "in place": lambda t, d: (d * 1).sin_(),
    "written through a view": lambda t, d: (d * 1).view(2).mul_(d),
    "several outputs": lambda t, d: t.stack([d, d * d]).max(0)[0] * d,
}


@pytest.mark.parametrize("then", ["nothing", "detach_", "other data"])
@pytest.mark.parametrize("f", OF_TANGENTS)
def test_a_formula_of_a_tangent_saves_operands_without_theirs(f, then):
    def both(t):
        fw = t.autograd.forward_ad
        with fw.dual_level():
            x, v = (t.tensor(a, dtype=t.float64, requires_grad=True) for a in ([1.0, 2.0], [1.0, 0.5]))
            d = fw.make_dual(x * 1, v * 1)
            tangent = fw.unpack_dual(OF_TANGENTS[f](t, d)).tangent
            if then == "detach_":
                d.detach_()
            elif then == "other data":
                d.data = d.data * 2
            found = t.autograd.grad(tangent.sum(), (x, v))
            return [[g + 0, fw.unpack_dual(g).tangent] for g in found]

    same(both)


@pytest.mark.parametrize("made_in", ["inference_mode", "no_grad"])
def test_a_view_without_history_can_be_written_where_nothing_is_recorded(made_in):
    def both(t):
        fw = t.autograd.forward_ad
        with fw.dual_level():
            x = t.ones(4, requires_grad=True)
            y = fw.make_dual(x, t.ones(4)) * 1
            with getattr(t, made_in)():
                v = y.view(2, 2)
            y.mul_(2)
            with t.no_grad():
                v[0] = 1.0
            return [y.detach(), fw.unpack_dual(y).tangent.detach()]

    same(both)
