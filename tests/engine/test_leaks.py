"""Nothing outlives its program, for every concept and without the garbage collector; and memory does not creep."""

import contextlib
import gc
import sys
import tracemalloc
import warnings
from itertools import pairwise

import pytest

import agdbg_engine as ag
from agdbg_engine import nn
from agdbg_engine.autograd import graph
from agdbg_engine.node import Node
from agdbg_engine.utils import checkpoint

fw = ag.autograd.forward_ad
CONCEPTS = []


def concept(program):
    CONCEPTS.append(pytest.param(program, id=program.__name__))
    return program


def leaf():
    return ag.tensor([0.5, 0.25], requires_grad=True)


class Cube(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x**3
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x)
        return y

    @staticmethod
    def backward(ctx, g):
        return 3 * ctx.saved_tensors[0] ** 2 * g

    @staticmethod
    def jvp(ctx, tangent):
        return 3 * ctx.saved_tensors[0] ** 2 * tangent


class Dirty(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


@concept
def custom_function():
    Cube.apply(leaf()).sum().backward()


@concept
def custom_function_that_never_runs():
    Cube.apply(Cube.apply(leaf()))


@concept
def custom_function_that_writes():
    Dirty.apply(leaf() * 1).sum().backward()


@concept
def custom_function_twice():
    x = leaf()
    (g,) = ag.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    ag.autograd.grad(g.sum(), x)


@concept
def saved_hooks():
    x = leaf()
    with graph.saved_tensors_hooks(lambda s: (s,), lambda s: s[0]):
        y = x.exp().tanh() * x
    y.sum().backward()


@concept
def saved_hooks_that_never_run():
    with graph.saved_tensors_hooks(lambda s: (s,), lambda s: s[0]):
        leaf().exp().tanh()


@concept
def saved_on_the_cpu():
    with graph.save_on_cpu():
        leaf().exp().sum().backward()


@concept
def raw_saved_hooks():
    y = leaf().exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda s: s.clone(), lambda s: s)
    y.sum().backward()


@concept
def mutation():
    with graph.allow_mutation_on_saved_tensors():
        y = leaf().exp()
        z = y.sin()
        y.mul_(2)
        (y * z).sum().backward()


@concept
def strict_mode():
    with graph.strict_saved_tensors():
        y = leaf().exp()
        with contextlib.suppress(RuntimeError):
            y.mul_(2)
    y.sum().backward()


@concept
def hooks_of_every_kind():
    x = leaf()
    y = x * 2
    x.register_hook(lambda g: g * 2)
    x.register_post_accumulate_grad_hook(lambda p: None)
    y.register_hook(lambda g: g)
    y.retain_grad()
    y.grad_fn.register_prehook(lambda gs: gs)
    y.grad_fn.register_hook(lambda gi, go: gi)
    y.sum().backward()


@concept
def hooks_of_groups():
    x, w = leaf(), leaf()
    graph.register_multi_grad_hook((x, w), lambda gs: None)
    graph.register_multi_grad_hook((x, w), lambda g: None, mode="any")
    (x * w).sum().backward()


@concept
def a_hook_that_raises():
    y = leaf().exp()
    y.register_hook(lambda g: 1 / 0)
    with contextlib.suppress(ZeroDivisionError):
        y.sum().backward()


@concept
def module_hooks():
    m = nn.Linear(2, 1)
    m.register_full_backward_hook(lambda mod, gi, go: None)
    m.register_full_backward_pre_hook(lambda mod, go: None)
    m.register_forward_hook(lambda mod, args, out: out * 1)
    m(leaf() * 1).sum().backward()


@concept
def nested_pass():
    x, w = leaf(), leaf()
    y = x * 2
    y.register_hook(ag.enable_grad()(lambda g: (w * w).sum().backward()))
    y.sum().backward()


@concept
def inputs_and_edges():
    x = leaf()
    y = x.exp()
    z = (y * y).sum()
    ag.autograd.grad(z, [graph.get_gradient_edge(y), x, y], retain_graph=True)
    z.backward(inputs=[x, y])


@concept
def create_graph_by_grad():
    x = leaf()
    y = x
    for _ in range(3):
        (y,) = ag.autograd.grad((y * x.exp()).sum(), x, create_graph=True)


@concept
def create_graph_by_backward():
    """The one cycle that users make by this call, ``x.grad`` to its graph to ``x``, is broken by them."""
    x = leaf()
    ag.autograd.backward((x**3).sum(), create_graph=True)
    x.grad = None


@concept
def forward_mode():
    with fw.dual_level():
        d = fw.make_dual(leaf(), ag.ones(2))
        fw.unpack_dual(Cube.apply(d).sin())


@concept
def forward_over_reverse():
    with fw.dual_level():
        d = fw.make_dual(leaf(), ag.ones(2))
        (g,) = ag.autograd.grad((d**3).sum(), d, create_graph=True)
        fw.unpack_dual(g).tangent.sum().backward()


@concept
def dual_tensors_that_outlive_their_level():
    with fw.dual_level():
        kept = fw.make_dual(leaf(), ag.ones(2)) * 2
    kept * 2


@concept
def transforms():
    x = ag.tensor([0.5, 0.25])
    f = lambda a: (a**3).sum()
    ag.func.grad(lambda a: ag.func.grad(f)(a).sum())(x)
    ag.func.hessian(f)(x), ag.func.jacfwd(f)(x), ag.func.jacrev(f)(x)
    ag.func.vjp(f, x)[1](ag.tensor(1.0))
    ag.func.jvp(f, (x,), (x,))


@concept
def functional():
    for name in ("vjp", "jacobian", "hessian"):
        getattr(ag.autograd.functional, name)(lambda a: (a**3).sum(), leaf(), create_graph=True)
    for name in ("jvp", "hvp", "vhp"):
        getattr(ag.autograd.functional, name)(lambda a: (a**3).sum(), leaf(), ag.ones(2))


@concept
def gradcheck():
    x = ag.tensor([0.5, 0.25], dtype=ag.float64, requires_grad=True)
    ag.autograd.gradcheck(lambda a: a.sin(), (x,), check_forward_ad=True)
    ag.autograd.gradgradcheck(lambda a: a.sin(), (x,))
    ag.autograd.gradcheck(lambda a: a.detach() * a, (x,), raise_exception=False)


@concept
def checkpoints():
    for use_reentrant in (False, True):
        x = leaf()
        y = checkpoint.checkpoint(lambda a: a.sin().exp(), x, use_reentrant=use_reentrant)
        checkpoint.checkpoint(lambda a: a.cos(), y, use_reentrant=use_reentrant).sum().backward()


@concept
def checkpoints_that_never_run():
    for use_reentrant in (False, True):
        checkpoint.checkpoint(lambda a: a.sin().exp(), leaf(), use_reentrant=use_reentrant)


@concept
def anomaly_mode():
    with ag.autograd.set_detect_anomaly(True):
        x = leaf()
        (g,) = ag.autograd.grad((x**3).sum(), x, create_graph=True)
        g.sum().backward()


@concept
def inference_mode():
    with ag.inference_mode():
        y = ag.ones(2) * 2
    with contextlib.suppress(RuntimeError):
        leaf() * y
    with contextlib.suppress(RuntimeError):
        y.add_(1)


@concept
def views_of_every_kind():
    y = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) * 1
    for v in (y[0], y.t(), y.view(-1), y[:, :1].expand(2, 2), *y.unbind(0), y.detach(), y.data):
        with contextlib.suppress(RuntimeError):
            v.mul_(2)
    y.sum().backward()


@concept
def complex_numbers():
    z = ag.tensor([1 + 2j], requires_grad=True) * 1j
    z.real.mul_(2)
    z.abs().sum().backward()


@concept
def parameters_and_modules():
    m = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    m(leaf()).sum().backward()


def alive():
    """How many nodes and tensors there are."""
    objects = [type(o) for o in gc.get_objects()]
    return sum(issubclass(t, Node) for t in objects), sum(issubclass(t, ag.Tensor) for t in objects)


@contextlib.contextmanager
def no_collector():
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("program", CONCEPTS)
def test_nodes_and_tensors_go_with_their_program(program):
    program()  # what is built once in a process
    with no_collector():
        before = alive()
        program()
        assert alive() == before


@pytest.mark.parametrize("program", CONCEPTS)
def test_memory_does_not_creep(program):
    """What is left is counted after a collection, without what Python itself keeps: free tuples, names of attributes.

    Three times, since what xdist tells this process meanwhile, in a thread of its own, counts as well: what creeps does it each time.
    """
    for _ in range(3):
        program()
    tracemalloc.start()
    try:
        left = [_after(program, 10), *(_after(program, 20) for _ in range(3))]
    finally:
        tracemalloc.stop()
    grown = min(after - before for before, after in pairwise(left))
    assert grown < 1500, f"{grown} bytes in 20 runs"


def _after(program, runs):
    for _ in range(runs):
        program()
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        sys._clear_type_cache()
    return tracemalloc.get_traced_memory()[0]
