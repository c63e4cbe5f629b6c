"""Saved tensors that may be read once, names and modes of autograd, texts that name classes: as in PyTorch."""

import threading

import numpy as np
import pytest
from agdbg_tests_differential import Programs, error_of, same

pytest.importorskip("torch")
program = Programs()
W = [[1.0, 2.0], [3.0, 4.0]]


# ----- saved tensors that may be read once -----


def once(t, value=True):
    class F(t.autograd.Function):
        clear_saved_tensors_on_access = value

        @staticmethod
        def forward(ctx, a, b):
            r = a * b
            ctx.save_for_backward(a, b, r, None)
            return r

        @staticmethod
        def backward(ctx, g):
            a, b, _, _ = ctx.saved_tensors
            return g * b, g * a

    return F


def pair(t):
    return t.tensor([2.0, 3.0], requires_grad=True), t.tensor([4.0, 5.0], requires_grad=True)


@program
def saved_tensors_read_once(t):
    a, b = pair(t)
    y = once(t).apply(a, b)
    fn, out = y.grad_fn, []
    out += [fn.maybe_clear_saved_tensors(), [x is None for x in fn.saved_tensors], error_of(lambda: fn.saved_tensors)]
    out += [fn.maybe_clear_saved_tensors(), len(fn._raw_saved_tensors), error_of(lambda: y.sum().backward())]
    y = once(t).apply(a, b)
    y.sum().backward(retain_graph=True)
    out += [a.grad, b.grad, error_of(lambda: y.sum().backward()), error_of(lambda: y.grad_fn.saved_tensors)]
    y = once(t).apply(a, b)
    g = t.autograd.grad(y.sum(), (a, b), create_graph=True)
    return [*out, [x.detach() for x in g], error_of(lambda: t.autograd.grad(g[0].sum() + g[1].sum(), (a, b)))]


@program
def how_often_they_may_be_read_is_settled_when_the_function_is_applied(t):
    a, b = pair(t)
    out, f = [], once(t)
    y = f.apply(a, b)
    f.clear_saved_tensors_on_access = False
    z = f.apply(a, b)
    f.clear_saved_tensors_on_access = True
    for fn in (y.grad_fn, z.grad_fn):
        out += [error_of(lambda fn=fn: len(fn.saved_tensors)) for _ in range(2)]
    return [
        *out,
        *(error_of(once(t, v).apply, a, b) for v in (1, "yes", None, [])),
        z.grad_fn.maybe_clear_saved_tensors(),
    ]


@program
def a_saved_tensor_that_was_written_to_is_not_read(t):
    a, b = (x * 1 for x in pair(t))
    y = once(t).apply(a, b)
    a.mul_(2)
    return [error_of(lambda: y.grad_fn.saved_tensors), error_of(lambda: y.grad_fn.saved_tensors)]


@program
def what_was_read_once_is_let_go(t):
    import weakref

    refs, gone = [], []

    class F(t.autograd.Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, a):
            kept = a * 3
            refs.append(weakref.ref(kept))
            ctx.save_for_backward(kept)
            return a * 2

        @staticmethod
        def backward(ctx, g):
            (kept,) = ctx.saved_tensors
            del kept
            gone.append(refs[0]() is None)
            return g

    F.apply(t.ones(2, requires_grad=True)).sum().backward(retain_graph=True)
    return gone


def test_going_back_over_a_node_that_read_once():
    import agdbg_engine as ag
    from agdbg_engine.backward import BackwardPass
    from agdbg_engine.journal import Journal
    from agdbg_engine.node import edge
    from agdbg_engine.sites import caller

    a, b = pair(ag)
    loss = (once(ag).apply(a, b) * 3).sum()
    bp = BackwardPass("backward", False, False, *caller())
    bp.start([(edge(loss), 0, ag.ones(())._a)])
    journal = Journal(bp)
    while bp.position < len(bp.order):
        journal.step()
    while len(journal):
        journal.undo(force=True)
    assert a.grad is None
    while bp.position < len(bp.order):
        journal.step()
    bp.finish(None)
    assert (a.grad.tolist(), b.grad.tolist()) == ([12, 15], [6, 9])


def test_the_old_name_of_saved_tensors():
    def both(t):
        fn = once(t, False).apply(*pair(t)).grad_fn
        with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated; use 'saved_tensors'"):
            return [len(fn.saved_variables)]

    same(both)


# ----- names and modes -----


@program
def names_of_autograd(t):
    a = t.autograd
    raw = t.ones(2, requires_grad=True).exp().grad_fn._raw_saved_result
    out = [a.SavedTensor.__name__, type(raw) is a.SavedTensor, error_of(a.SavedTensor), a.is_multithreading_enabled()]
    with a.set_multithreading_enabled(False):
        out.append(a.is_multithreading_enabled())
    x = t.ones(2)
    names = ("requires_grad", "is_leaf", "data", "_backward_hooks", "grad_fn")
    return [*out, *(error_of(delattr, x, n) for n in names), error_of(a.graph.Node)]


@program
def a_context_entered_while_it_is_open(t):
    out = []

    def look():
        for context in (t.no_grad(), t.enable_grad(), t.set_grad_enabled(False)):
            with context:
                with context:
                    out.append(t.is_grad_enabled())
                out.append(t.is_grad_enabled())
            out.append(t.is_grad_enabled())

    thread = threading.Thread(target=look)  # which has modes of its own
    thread.start()
    thread.join()
    return out


@program
def layouts_of_first_gradients(t):
    a, out = t.autograd, []

    def stride(p, create_graph=False):
        (p * t.ones(4, 3)).sum().backward(create_graph=create_graph)
        return p.grad.stride()

    def leaf():
        return t.ones(3, 4).t().requires_grad_()

    for enabled in (True, False):
        with a.enforce_grad_layout_policy(enabled):
            p = leaf()
            out += [stride(p), stride(p)]
        out += [a.enforce_grad_layout_policy(enabled)(stride)(leaf()), stride(leaf())]
        a.enforce_grad_layout_policy(enabled)
        out.append(stride(leaf()))
        a.enforce_grad_layout_policy(True)
    refused = error_of(a.enforce_grad_layout_policy, "no"), error_of(a.enforce_grad_layout_policy, 1)
    return [*out, *refused, a.enforce_grad_layout_policy is a.grad_mode.enforce_grad_layout_policy]


@program
def transforms_of_a_view_made_under_no_grad(t):
    f, out = t.func, []
    for make in (lambda: t.ones(4, requires_grad=True), lambda: t.ones(4, requires_grad=True) * 1):
        x = make()
        with t.no_grad():
            v = x.view(4)
        g, value = f.grad_and_value(lambda u: (u * u).sum())(v)
        out += [g.requires_grad, value.requires_grad, f.vjp(lambda u: u * u, v)[1](t.ones(4))[0].requires_grad]
        out += [error_of(lambda g=g: g.sum().backward())]
    return out


# ----- texts -----


class Plain:
    pass


@pytest.mark.parametrize("value", [Plain(), 3, [1], np.ones(2, np.float32)], ids=lambda v: type(v).__name__)
def test_names_of_classes_that_are_no_tensors(value):
    def both(t):
        class F(t.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                return a * 2

            @staticmethod
            def backward(ctx, g):
                return value

        x, out = t.ones(2, requires_grad=True), []
        out.append(error_of(lambda: (x * 2).backward(value)))
        y = x * 2
        y.register_hook(lambda g: value)
        out.append(error_of(lambda: y.sum().backward()))
        y = x * 2
        y.grad_fn.register_hook(lambda a, b: value)
        out.append(error_of(lambda: y.sum().backward()))
        y = x * 2
        y.grad_fn.register_prehook(lambda a: (value,))
        out.append(error_of(lambda: y.sum().backward()))
        out.append(error_of(lambda: F.apply(x).sum().backward()))
        with t.autograd.graph.saved_tensors_hooks(lambda z: z, lambda z: value):
            y = x.exp()
        out.append(error_of(lambda: y.sum().backward()))
        out += [error_of(setattr, x, "data", value), error_of(setattr, x, "grad_dtype", value)]
        return [*out, error_of(t.stack, [x, value])]

    same(both)


@program
def complex_tensors_in_texts(t):
    out = []
    for dtype in (t.complex128, t.float64):
        x = t.ones(2, dtype=dtype, requires_grad=True)
        y = x * 1
        z = y * y
        y.mul_(2)
        out.append(error_of(lambda z=z: z.abs().sum().backward()))
        x.register_hook(lambda g: g.real.float())
        out.append(error_of(lambda x=x: (x * 2).abs().sum().backward()))
    return out


@pytest.mark.parametrize("made_program", program)
def test_program(made_program):
    same(made_program)
