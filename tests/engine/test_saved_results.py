"""A write through what is read of a saved result is one to the result itself, and the other way round."""

import gc
import weakref

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

import agdbg_engine as ag

programs = Programs()


def _results(t):
    """Ops that save their result, and where."""
    square = [[2.0, 1.0], [1.0, 3.0]]
    return {
        "exp": (lambda x: x.exp(), "result"), "tanh": (t.tanh, "result"), "sqrt": (lambda x: x.abs().sqrt(), "result"),
        "softmax": (lambda x: t.softmax(x, 0), "result"), "relu": (t.relu, "result"), "norm": (lambda x: x.norm(), "result"),
        "logsumexp": (lambda x: x.logsumexp(0), "result"), "cumprod": (lambda x: x.cumprod(0), "result"),
        "inv": (lambda x: t.linalg.inv(x[0] * t.tensor(square, dtype=x.dtype)), "inverse"),
    }  # fmt: skip


def _written(t, write, alive=True):
    """What a write through what is read of a saved result does: to the versions of both, and to a product of the result."""
    found = {}
    for name, (op, attribute) in _results(t).items():
        x = leaf(t, 1.0, 2.0)
        y = op(x)
        node, product = y.grad_fn, (y * y).sum()
        if not alive:
            y = getattr(node, f"_saved_{attribute}")
        with t.no_grad():
            write(getattr(node, f"_saved_{attribute}"), getattr(node, f"_raw_saved_{attribute}"))
        found[name] = [y._version, error_of(t.autograd.grad, product, y)]
    return found


@programs
def a_write_to_a_saved_result(t):
    return _written(t, lambda saved, _: saved.zero_())


@programs
def a_write_to_a_saved_result_whose_tensor_is_gone(t):
    return _written(t, lambda saved, _: saved.zero_(), alive=False)


@programs
def a_write_to_a_detached_saved_result(t):
    return _written(t, lambda saved, _: saved.detach().mul_(2))


@programs
def a_write_to_the_data_of_a_raw_result(t):
    return _written(t, lambda _, raw: raw.data.zero_())


@programs
def a_write_to_the_result_is_counted_where_it_was_read(t):
    y = leaf(t, 1.0, 2.0).exp()
    before, twice = y.grad_fn._saved_result, y.grad_fn._saved_result
    with t.no_grad():
        y.mul_(2)
    return [before._version, twice._version, y._version, before]


@programs
def a_write_to_a_result_that_a_second_derivative_read(t):
    x, weight = leaf(t, 1.0, 2.0), leaf(t, 1.0, 1.0)
    y = x.exp()
    (g,) = t.autograd.grad(y, x, weight, create_graph=True)
    with t.no_grad():
        y.mul_(2)
    return error_of(t.autograd.grad, g.sum(), weight)


def _of_second_order(t, write):
    x, weight = leaf(t, 1.0, 2.0), leaf(t, 1.0, 1.0)
    y = x.exp()
    product = (y * y).sum()
    (g,) = t.autograd.grad(y, x, weight, create_graph=True)
    with t.no_grad():
        write(y.grad_fn, g.grad_fn, weight)
    return [error_of(t.autograd.grad, product, y), y._version]


@programs
def a_write_to_a_saved_result_after_a_second_derivative(t):
    return [
        _of_second_order(t, lambda node, *_: node._saved_result.zero_()),
        _of_second_order(t, lambda node, *_: node._raw_saved_result.data.zero_()),
    ]


@programs
def a_write_to_what_a_second_derivative_saved(t):
    def write(_, node, weight):
        next(s for s in (node._saved_self, node._saved_other) if s is not weight).zero_()

    return _of_second_order(t, write)


@programs
def a_second_write_to_a_saved_result(t):
    x = leaf(t, 1.0, 2.0)
    y = x.exp()
    t.autograd.grad(y.sum(), x, create_graph=True)
    with t.no_grad():
        y.grad_fn._saved_result.mul_(2)
    product = (y * y).sum()
    with t.no_grad():
        y.grad_fn._saved_result.mul_(2)
    return [error_of(t.autograd.grad, product, y), y]


@programs
def a_write_to_a_saved_result_that_is_frozen(t):
    y = leaf(t, 1.0, 2.0).exp()
    product = (y * y).sum()
    gc.freeze()
    with t.no_grad():
        y.grad_fn._saved_result.zero_()
    return error_of(t.autograd.grad, product, y)


@programs
def a_write_to_a_result_whose_node_was_freed(t):
    """What a node of second order saved is the result, and what was read of it is too."""
    found = []
    for op in (lambda x: x.exp(), t.sigmoid, lambda x: t.softmax(x, 0), lambda x: x.norm()):
        for write in (lambda y: y.mul_(2), lambda y: y.detach().mul_(2), lambda y: y.view(-1)[:1].mul_(2)):
            x = leaf(t, 1.0, 2.0)
            y = op(x)
            weight = t.ones_like(y).requires_grad_()
            (g,) = t.autograd.grad(y, x, weight, create_graph=True)
            y.sum().backward()
            with t.no_grad():
                write(y)
            found += [y._version, error_of(t.autograd.grad, g.sum(), weight)]
    return found


@programs
def a_write_to_what_was_read_before_the_node_was_freed(t):
    found = []
    for share in (lambda y: y.detach(), lambda y: y.view(2), lambda y: y._version, lambda y: None):
        for kept in (lambda node: node._saved_result, lambda node: node._raw_saved_result.data):
            y = leaf(t, 1.0, 2.0).exp()
            result = kept(y.grad_fn)
            y.sum().backward()
            product = (y * y).sum()
            share(y)
            with t.no_grad():
                result.mul_(2)
            found += [y._version, result._version, error_of(t.autograd.grad, product, y)]
    return found


@programs
def a_result_without_history_counts_by_itself(t):
    y = leaf(t, 1.0, 2.0).exp()
    alone, result = y.data, y.grad_fn._saved_result
    with t.no_grad():
        result.mul_(1)
    product = (y * y).sum()
    alone.mul_(1)
    return [y._version, alone._version, t.autograd.grad(product, y)]


def test_garbage_is_collected_where_what_was_there_is_frozen():
    x, garbage = leaf(ag, 1.0, 2.0), []
    gc.collect()
    gc.freeze()
    try:
        for _ in range(20):
            loop = type("Loop", (), {})()
            loop.itself = loop
            garbage.append(weakref.ref(loop))
            del loop
            y = x.exp()
            with ag.no_grad():
                y.grad_fn._saved_result.zero_()
        gc.collect()
        assert not any(each() for each in garbage)
    finally:
        gc.unfreeze()


def test_nobody_looks_for_a_result_that_is_written_itself(monkeypatch):
    x = leaf(ag, 1.0, 2.0)
    y = x.exp()
    ag.autograd.grad(y.sum(), x, create_graph=True)
    monkeypatch.setattr(gc, "get_referrers", lambda *_: pytest.fail("the heap was searched"))
    with ag.no_grad():
        y.mul_(2)
    assert y._version == 1


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    pytest.importorskip("torch", reason="it runs the same programs")
    same(program)
