"""A node called like a function, and what a node and a tensor have beside."""

import pytest

import agdbg_engine as ag


def outcome(call):
    try:
        found = call()
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0]
    return [
        None if t is None else ([round(v, 4) for v in t.reshape(-1).tolist()], t.requires_grad)
        for t in (found if isinstance(found, tuple) else (found,))
    ]


def results(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    w = T.tensor([3.0, 4.0], requires_grad=True)
    g, watched = T.ones(2), T.ones(2, requires_grad=True)
    product, doubled, grown, pieces = x * w, x * 2, x.exp(), (x * 1).unbind()
    one, two = T.tensor(1.0), T.tensor(2.0)
    calls = [
        lambda: product.grad_fn(g), lambda: doubled.grad_fn(g), lambda: grown.grad_fn(g), lambda: grown.grad_fn(watched),
        lambda: product.grad_fn(g, g), lambda: product.grad_fn(), lambda: product.grad_fn(3), lambda: product.grad_fn(None),
        lambda: pieces[0].grad_fn(one, two), lambda: pieces[0].grad_fn(one, None), lambda: pieces[1].grad_fn(one),
    ]  # fmt: skip
    found = [outcome(call) for call in calls]
    with T.no_grad():
        found.append(outcome(lambda: product.grad_fn(g)))
    leaf = product.grad_fn.next_functions[0][0]
    found += [leaf(g), leaf(g), x.grad.tolist(), product.grad_fn.requires_grad]
    product.sum().backward()
    return [*found, outcome(lambda: product.grad_fn(g))]


def test_a_node_computes_what_pytorchs_does():
    torch = pytest.importorskip("torch")
    assert results(ag) == results(torch)


def test_nothing_is_freed_and_no_hook_fires():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.grad_fn.register_hook(lambda *args: pytest.fail("fired"))
    first, second = y.grad_fn(ag.ones(2))
    assert first.tolist() == second.tolist() == [1.0, 2.0] == y.grad_fn(ag.ones(2))[0].tolist()


def test_a_tensor_takes_attributes():
    x = ag.tensor([1.0])
    x.note = "mine"
    assert x.note == "mine" and not hasattr(x * 1, "note")
