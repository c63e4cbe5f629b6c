"""Hooks for the gradients of several tensors: counted by pass, as in PyTorch."""

import gc
import threading
import weakref

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

import agdbg_engine as ag
from agdbg_engine import events

torch = pytest.importorskip("torch")
programs = Programs()


def register(t, tensors, log, name="multi", **kwargs):
    def fn(gs):
        values = [None if g is None else g.tolist() for g in gs] if isinstance(gs, list) else gs.tolist()
        log.append([name, values])

    return t.autograd.graph.register_multi_grad_hook(tensors, fn, **kwargs)


def four(t):
    a, b = leaf(t, 2.0), leaf(t, 3.0)
    return a, b, a * b, a.exp() * b


@programs
def all_waits_for_what_the_pass_computes(t):
    (a, b, c, d), log = four(t), []
    register(t, (a, b, c, d), log)
    for roots, inputs in ((c, None), (c, [a]), (d, [b]), (c + d, None), (c + d, [c])):
        t.autograd.backward(roots, inputs=inputs, retain_graph=True)
        log.append("--")
    return log


@programs
def any_takes_the_first(t):
    (a, b, c, d), log = four(t), []
    register(t, (a, b, c, d, t.ones(1)), log, mode="any")
    for root in (c, d, c + d):
        root.backward(retain_graph=True)
        log.append("--")
    return log


@programs
def the_place_among_other_hooks(t):
    (a, b, c, d), log = four(t), []
    for name, v in (("a", a), ("b", b), ("c", c), ("d", d)):
        v.register_hook(lambda g, name=name: log.append(name))
    register(t, (a, d), log, "all")
    register(t, (b, c), log, "any", mode="any")
    for name, v in (("a", a), ("b", b), ("c", c), ("d", d)):
        v.register_hook(lambda g, name=name: log.append(name + " late"))
        v.register_post_accumulate_grad_hook(lambda p, name=name: log.append(name + " post")) if v.is_leaf else None
    (c + d).backward()
    return log


@programs
def under_grad(t):
    (a, _b, c, d), log = four(t), []
    register(t, (c, d), log)
    return [t.autograd.grad(c + d, [a], retain_graph=True), t.autograd.grad(c + d, [c], retain_graph=True), log]


@programs
def under_grad_for_a_leaf(t):
    (a, b, c, d), log = four(t), []
    register(t, (a, c), log)
    seen = [error_of(t.autograd.grad, c + d, [a], retain_graph=True)]
    seen.append(error_of(t.autograd.grad, c + d, [b], retain_graph=True))
    return [seen, log]


@programs
def one_tensor_twice_and_two_outputs_of_one_node(t):
    x, log = leaf(t, 2.0, 3.0, 4.0), []
    p, q, r = (x * 1).unbind(0)
    register(t, (p, p, x), log, "twice")
    register(t, (p, q, r), log, "rows")
    (p * r).backward()
    return log


@programs
def removal(t):
    (a, b, c, _d), log = four(t), []
    handle = register(t, (a, b, c), log)
    with register(t, (c,), log, "inside"):
        c.backward(retain_graph=True)
    handle.remove()
    handle.remove()
    c.backward(retain_graph=True)
    return [log, len(a._backward_hooks)]


@programs
def removal_by_an_earlier_hook(t):
    (a, _b, c, d), log, handles = four(t), [], []
    d.register_hook(lambda g: handles[0].remove())
    handles.append(register(t, (a, c, d), log))
    (c + d).backward()
    return log


@programs
def a_pass_inside_of_a_pass_counts_for_itself(t):
    (a, _b, c, _d), log = four(t), []
    register(t, (a, c), log)
    inner = a * 5 + c.exp()
    c.register_hook(lambda g: log.append("outer") or inner.backward(retain_graph=True) if len(log) < 2 else None)
    (c * 2).backward()
    return log


@programs
def an_error_in_one_pass_leaves_no_count(t):
    (a, b, c, _d), log = four(t), []
    register(t, (a, c), log)
    handle = b.register_hook(lambda g: 3)
    first = error_of(c.backward, retain_graph=True)
    handle.remove()
    c.backward(retain_graph=True)
    return [first, log]


@programs
def an_error_in_the_hook_itself(t):
    (a, _b, c, _d) = four(t)

    def fail(gs):
        raise KeyError("mine")

    handle = t.autograd.graph.register_multi_grad_hook((a, c), fail)
    first = error_of(c.backward, retain_graph=True)
    handle.remove()
    c.backward()
    return [first, a.grad]


@programs
def after_an_in_place_op(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    register(t, (y, x), log, "before")
    y.mul_(5)
    register(t, (y, x), log, "after")
    y.backward()
    return log


@programs
def arguments(t):
    x = leaf(t, 2.0)
    register_multi_grad_hook = t.autograd.graph.register_multi_grad_hook
    return [
        error_of(register_multi_grad_hook, (x, t.ones(1)), print),
        error_of(register_multi_grad_hook, (x, t.ones(1)), print, mode="any"),
        error_of(register_multi_grad_hook, (x,), print, mode="some"),
        error_of(register_multi_grad_hook, (), print),
    ]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def test_passes_of_several_threads_are_counted_apart():
    leaves = [leaf(ag, float(i)) for i in range(3)]
    log, together = [], threading.Barrier(4)
    ag.autograd.graph.register_multi_grad_hook(leaves, lambda gs: log.append([g.item() for g in gs]))

    def all_are_running(g):
        together.wait(60)

    def work(factor):
        loss = sum((x * factor for x in leaves), leaf(ag, 0.0))
        loss.register_hook(all_are_running)
        loss.backward()

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(log) == [[float(n)] * 3 for n in range(4)]


def test_nothing_waits_for_the_garbage_collector():
    gc.disable()
    try:
        x = leaf(ag, 2.0)
        y = x * 3
        handle = ag.autograd.graph.register_multi_grad_hook((x, y), lambda gs: None)
        x.register_post_accumulate_grad_hook(lambda p: None)
        y.retain_grad()
        y.backward()
        gone = [weakref.ref(x), weakref.ref(y), weakref.ref(y.grad_fn)]
        del x, y
        assert [ref() for ref in gone] == [None] * 3
        handle.remove()
    finally:
        gc.enable()


class Hooked(events.Sink):
    """Notes what is told of hooks."""

    def __init__(self):
        self.facts = []

    def hook(self, what, kind, node, code, lasti, facts):
        self.facts.append((what, kind, node and node.op_name))


def test_every_kind_is_told():
    x = leaf(ag, 2.0)
    y = x * 3
    loss = y.exp()
    sink = Hooked()
    events.install(sink)
    try:
        y.register_hook(lambda g: None)
        y.grad_fn.register_prehook(lambda go: None)
        y.grad_fn.register_hook(lambda gi, go: None)
        handle = x.register_post_accumulate_grad_hook(lambda p: None)
        many = ag.autograd.graph.register_multi_grad_hook((x, y), lambda gs: None)
        kinds = ["tensor", "pre", "post", "post-accumulate", "multi", "multi"]
        nodes = ["MulBackward0"] * 3 + ["AccumulateGrad"] * 2 + ["MulBackward0"]
        assert sink.facts == [("registered", k, n) for k, n in zip(kinds, nodes, strict=True)]
        del sink.facts[:]
        loss.backward(retain_graph=True)
        assert sink.facts == [
            ("fired", "tensor", "MulBackward0"),
            ("fired", "pre", "MulBackward0"),
            ("fired", "post", "MulBackward0"),
            ("fired", "multi", "AccumulateGrad"),
            ("fired", "post-accumulate", "AccumulateGrad"),
        ]
        del sink.facts[:]
        handle.remove()
        handle.remove()
        many.remove()
        assert sink.facts == [
            ("removed", "post-accumulate", "AccumulateGrad"),
            ("removed", "multi", "AccumulateGrad"),
            ("removed", "multi", "MulBackward0"),
        ]
    finally:
        events.remove()
