"""Levels of forward mode: entering and leaving, duals, what keeps a tangent and what loses it, errors, threads, leaks."""

import copy
import gc
import pickle
import threading
import weakref

import pytest
from agdbg_tests_differential import Programs, error_of, same
from agdbg_tests_forward_tools import dual_facts, pytorch, tangent

import agdbg_engine as ag
from agdbg_engine import events

fw = ag.autograd.forward_ad
program = Programs()


def vector(t, *values):
    return t.tensor(list(values), dtype=t.float64)


def made(t, values=(1, 2), tangents=(3, 4)):
    return t.autograd.forward_ad.make_dual(vector(t, *values), vector(t, *tangents))


# ----- programs that manage levels themselves -----


@program
def numbers_of_levels(t):
    fw, x = t.autograd.forward_ad, vector(t, 1, 2)

    def asked():
        given = []
        for level in (None, -1, 0, 1, 3, True, 1.5, "a"):
            given += [error_of(fw.unpack_dual, x, level=level), error_of(fw.make_dual, x, x, level=level)]
        return [*given, fw.unpack_dual(x, level=3).tangent]

    outside = asked()
    with fw.dual_level():
        return [outside, asked()]


@program
def transforms_inside_of_a_level(t):
    def square(x):
        return (x * x).sum()

    fw, x = t.autograd.forward_ad, vector(t, 1, 2)
    with fw.dual_level():
        d = fw.make_dual(x, x)
        return [
            error_of(t.func.jvp, square, (x,), (x,)), error_of(t.func.jvp, square, (d,), (x,)), error_of(t.func.jvp, square, x, x),
            error_of(t.func.jacfwd(square), x), error_of(t.func.hessian(square), x), error_of(t.func.linearize, square, x),
            fw.unpack_dual(t.func.grad(square)(d)).tangent, t.func.jacrev(square)(x),
        ]  # fmt: skip


@program
def outside_of_a_level(t):
    fw, x = t.autograd.forward_ad, vector(t, 1, 2)
    return [
        error_of(fw.make_dual, x, x),
        fw.unpack_dual(x).primal is x,
        fw.unpack_dual(x).tangent,
        error_of(fw.exit_dual_level),
        error_of(fw.exit_dual_level, level=3),
    ]


@program
def entering_and_leaving(t):
    fw = t.autograd.forward_ad
    first = fw.enter_dual_level()
    nested = error_of(fw.enter_dual_level)
    wrong = error_of(fw.exit_dual_level, level=1)
    left = fw.exit_dual_level()
    second = fw.enter_dual_level()
    fw.exit_dual_level(level=0)
    return [first, nested, wrong, left, second]


@program
def nested_contexts(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        with_error = error_of(lambda: fw.dual_level().__enter__())
        return [with_error, dual_facts(t, made(t))]


@program
def as_decorator(t):
    fw = t.autograd.forward_ad

    @fw.dual_level()
    def derivative(x, v):
        return fw.unpack_dual(fw.make_dual(x, v).sin()).tangent

    return [derivative(vector(t, 1, 2), vector(t, 1, 1)) for _ in range(2)]


@program
def tangents_end_with_the_level(t):
    fw = t.autograd.forward_ad
    given = vector(t, 3, 4)
    with fw.dual_level():
        x = fw.make_dual(vector(t, 1, 2), given)
        y = x * 2
        v = y[:1]
        kept = fw.unpack_dual(y).tangent
    seen = [fw.unpack_dual(z).tangent for z in (x, y, v)]
    with fw.dual_level():
        seen += [fw.unpack_dual(z).tangent for z in (x, y, v, y + 1)]
        again = fw.make_dual(x, vector(t, 5, 6))
        seen.append(dual_facts(t, again * 2))
    return [seen, given, kept]


@program
def an_error_ends_the_level(t):
    fw = t.autograd.forward_ad

    def failing():
        with fw.dual_level():
            raise KeyError("mine")

    return [error_of(failing), error_of(made, t)]


@pytest.mark.parametrize("levels", program)
def test_levels(levels):
    pytorch()
    same(levels)


# ----- programs inside of a level -----

inside = Programs()


@inside
def a_dual(t):
    fw, x, v = t.autograd.forward_ad, vector(t, 1, 2), vector(t, 3, 4)
    d = fw.make_dual(x, v)
    primal, tangent = fw.unpack_dual(d)
    return [
        dual_facts(t, d), d._base is x, tangent is v, primal is d, primal._base is x, dual_facts(t, primal), dual_facts(t, x),
        type(fw.unpack_dual(d)).__name__, fw.unpack_dual(d)._fields,
    ]  # fmt: skip


@inside
def a_dual_that_requires_grad(t):
    fw = t.autograd.forward_ad
    x, v = vector(t, 1, 2).requires_grad_(), vector(t, 3, 4).requires_grad_()
    d = fw.make_dual(x, v)
    primal, tangent = fw.unpack_dual(d)
    (primal.sum() + (tangent * d).sum()).backward()
    return [dual_facts(t, d), primal, tangent is v, x.grad, v.grad]


@inside
def refused_duals(t):
    fw = t.autograd.forward_ad
    x, d, whole = vector(t, 1, 2), made(t), t.tensor([1, 2])
    return [
        error_of(fw.make_dual, whole, x),
        error_of(fw.make_dual, x, whole),
        error_of(fw.make_dual, x, t.zeros(3)),
        error_of(fw.make_dual, t.zeros(2, 2), t.zeros(4)),
        error_of(fw.make_dual, x, d),
        error_of(fw.make_dual, d, x),
        error_of(fw.make_dual, x, x, level=1),
        error_of(fw.make_dual, x, x, level=-1),
        error_of(fw.unpack_dual, d, level=1),
        error_of(fw.make_dual, 1.0, x),
        error_of(fw.make_dual, x, 1.0),
        error_of(fw.unpack_dual, 1.0),
    ]


@inside
def a_tangent_that_is_the_primal(t):
    x = vector(t, 1, 2)
    return dual_facts(t, t.autograd.forward_ad.make_dual(x, x) * 2)


@inside
def what_keeps_a_tangent(t):
    d = made(t)
    return [
        dual_facts(t, f(d))
        for f in (
            lambda d: d.clone(), lambda d: d.to(t.float32), lambda d: d.to(t.float64), lambda d: d.double(), lambda d: d[...],
            lambda d: d.view(2), lambda d: d.contiguous(), lambda d: d.max(0)[0], lambda d: t.as_tensor(d), lambda d: d * 0,
            lambda d: d.round(), lambda d: d.sign(), lambda d: t.where(d > 1, d, 0.0), lambda d: d.type_as(d),
            lambda d: (d * 1).requires_grad_(),
        )
    ]  # fmt: skip


@inside
def what_loses_it(t):
    d = made(t)
    lost = [
        d.detach(), d.data, t.zeros_like(d), t.nn.Parameter(d), t.tensor([d[0].item()]), copy.deepcopy(d),
        pickle.loads(pickle.dumps(d)), (d * 1).detach_(),
    ]  # fmt: skip
    other = d * 1
    other.data = vector(t, 5, 6)
    return [[tangent(t, x) for x in lost], dual_facts(t, other), d.numpy().tolist(), d.tolist(), d.sum().item()]


@inside
def what_has_no_tangent(t):
    d = made(t)
    results = [d > 1, d.long(), d.argmax(), d.max(0)[1], d.isnan(), t.zeros_like(d), d == d]
    return [tangent(t, x) for x in results]


@inside
def without_grad(t):
    d = made(t)
    with t.no_grad():
        y = d * d
    return dual_facts(t, y)


@inside
def made_in_inference_mode(t):
    fw, x = t.autograd.forward_ad, t.ones(2)
    with t.inference_mode():
        duals = [fw.make_dual(x, t.ones(2)), fw.make_dual(t.ones(2), t.ones(2))]
        inside = [tangent(t, d) for d in duals]
    return [inside, [tangent(t, d) for d in duals], tangent(t, duals[0] * 2)]


@inside
def in_inference_mode(t):
    fw, d = t.autograd.forward_ad, made(t)
    with t.inference_mode():
        y = d * 2
        seen = [fw._is_fwd_grad_enabled(), tangent(t, y), tangent(t, d), tangent(t, made(t))]
    return [seen, tangent(t, y), tangent(t, d)]


@inside
def switched_off(t):
    fw, d = t.autograd.forward_ad, made(t)
    with fw._set_fwd_grad_enabled(False):
        y = d * 2
        seen = [fw._is_fwd_grad_enabled(), tangent(t, y), tangent(t, d)]
    again = [fw._is_fwd_grad_enabled(), tangent(t, y), tangent(t, d)]
    fw._set_fwd_grad_enabled(False)
    off = fw._is_fwd_grad_enabled()
    fw._set_fwd_grad_enabled(True)
    return [seen, again, off, fw._is_fwd_grad_enabled()]


@inside
def backward_on_duals(t):
    """Gradients have tangents; the first one that a leaf keeps has lost it."""
    fw = t.autograd.forward_ad
    x = fw.make_dual(vector(t, 1, 2), vector(t, 1, 0)).requires_grad_()
    g = t.autograd.grad((x**3).sum(), x)[0]
    seen = [dual_facts(t, g)]
    for _ in range(2):
        x.exp().sum().backward()
        seen.append(dual_facts(t, x.grad))
    leaf = vector(t, 1, 2).requires_grad_()
    for _ in range(2):
        (leaf.exp() * made(t)).sum().backward()
    return [seen, dual_facts(t, leaf.grad)]


@inside
def backward_of_saved_results(t):
    """What an op saved of its own result has the tangent of the result."""
    found = []
    for f in (lambda x: x.exp(), lambda x: x.tanh(), lambda x: x.sigmoid().sqrt(), lambda x: (x * 1).exp_()):
        x = made(t, (1, 2), (1, 3)).requires_grad_()
        found += [dual_facts(t, g) for g in t.autograd.grad(f(x).sum(), x)]
        y = f(x)
        found.append(tangent(t, y.grad_fn._saved_result).detach())
    return found


@inside
def hooks_see_tangents(t):
    x, log = made(t).requires_grad_(), []
    y = x * x
    y.register_hook(lambda g: log.append(dual_facts(t, g * x)[1]))
    (y * y).sum().backward()
    return log


@inside
def printed(t):
    return [str(made(t, (1, 2), (3, 4)).float()), str(made(t)[0].float()), repr(made(t).float().requires_grad_())]


@pytest.mark.parametrize("body", inside)
def test_inside_of_a_level(body):
    pytorch()

    def levelled(t):
        with t.autograd.forward_ad.dual_level():
            return body(t)

    same(levelled)


def test_a_decorated_function_runs_without_tangents():
    """PyTorch's decorator leaves them switched off for good, from the moment it decorates."""

    @fw._set_fwd_grad_enabled(False)
    def enabled():
        return fw._is_fwd_grad_enabled()

    assert [fw._is_fwd_grad_enabled(), enabled(), fw._is_fwd_grad_enabled()] == [True, False, True]


# ----- ops that cannot -----


def test_an_op_without_a_tangent_formula_is_refused(monkeypatch):
    from agdbg_engine.ops import _generated

    monkeypatch.delitem(_generated.JVPS, "sin")
    with fw.dual_level():
        d = made(ag)
        with pytest.raises(NotImplementedError) as refused:
            d.sin()
        vector(ag, 1, 2).sin()
    assert str(refused.value) == (
        "Trying to use forward AD with sin that does not support it because it has not been implemented yet."
    )


# ----- threads -----


def in_a_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_another_thread_computes_tangents_at_the_same_level():
    with fw.dual_level():
        d = made(ag)
        assert tangent(ag, in_a_thread(lambda: d * 2)).tolist() == [6, 8]
        with fw._set_fwd_grad_enabled(False):
            assert tangent(ag, d) is None
            assert in_a_thread(lambda: tangent(ag, d)).tolist() == [3, 4]


# ----- events -----


class Recording(events.Sink):
    def __init__(self):
        self.facts = []

    def dual_level(self, level, entered, code, lasti):
        self.facts.append((level, entered, code.co_name))


def test_levels_are_told():
    sink = Recording()
    events.install(sink)
    try:
        with fw.dual_level(), fw.nested_level() as inner:
            pass
    finally:
        events.remove()
    name = "test_levels_are_told"
    assert sink.facts == [(0, True, name), (inner, True, name), (inner, False, name), (0, False, name)]


def test_the_hot_path_is_left_alone_outside_of_levels():
    assert not events.special & events.FORWARD
    with fw.dual_level():
        assert events.special & events.FORWARD
    assert not events.special & events.FORWARD


# ----- memory -----


def test_tangents_die_with_their_tensor_and_at_the_end_of_the_level():
    gc.disable()
    try:
        with fw.dual_level():
            x = made(ag)
            y = x.exp() * x
            first, second = (weakref.ref(tangent(ag, z)) for z in (y, y[:1]))
            assert second() is None
            del y
            assert first() is None
            y = x * 2
            third = weakref.ref(tangent(ag, y))
            assert third() is not None
        assert third() is None
    finally:
        gc.enable()


def test_recorded_tangents_leave_nothing_behind():
    """A saved result has tangents whose history leads to the node that saved it: the end of the level breaks the cycle."""
    gc.collect()
    gc.disable()
    try:
        with fw.dual_level():
            x = fw.make_dual(vector(ag, 1, 2).requires_grad_(), vector(ag, 1, 1).requires_grad_())
            y = x.exp()
            y.tanh_()
            node = weakref.ref(y.grad_fn)
            loss = tangent(ag, y * y).sum()
            del x, y, loss
        assert node() is None
    finally:
        gc.enable()
