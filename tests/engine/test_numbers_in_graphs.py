"""A Python number beside a tensor: PyTorch makes a tensor of it for most ops, so the node has an edge to nothing and frees it."""

import pytest

import agdbg_engine as ag

OPS = {
    "x * 2": lambda T, x: x * 2,
    "2 * x": lambda T, x: 2 * x,
    "x / 2": lambda T, x: x / 2,
    "2 / x": lambda T, x: 2 / x,
    "x + 2": lambda T, x: x + 2,
    "x - 2": lambda T, x: x - 2,
    "2 - x": lambda T, x: 2 - x,
    "x ** 2": lambda T, x: x**2,
    "2 ** x": lambda T, x: 2**x,
    "where": lambda T, x: T.where(x > 0, x, 0.0),
    "masked_fill": lambda T, x: x.masked_fill(x > 0, 1.0),
    "mul_": lambda T, x: (x * x).mul_(2),
}


def what_happens(T, op):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = op(T, x)
    node, log = y.grad_fn, [type(y.grad_fn).__name__]
    log.append([n and n.name() for n, _ in node.next_functions])
    node.register_hook(lambda inputs, outputs: log.append([g is None for g in inputs]))
    loss = y.sum()
    for keep in (True, False, False):
        try:
            loss.backward(retain_graph=keep)
        except RuntimeError as error:
            log.append(str(error).splitlines()[0])
        log.append(x.grad.tolist())
    return log


@pytest.mark.parametrize("name", OPS)
def test_a_number_is_an_edge_to_nothing_and_is_freed(name):
    torch = pytest.importorskip("torch")
    assert what_happens(ag, OPS[name]) == what_happens(torch, OPS[name])


def replaced(T, answer):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda inputs, outputs: answer(inputs))
    try:
        y.sum().backward()
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return x.grad.tolist()


@pytest.mark.parametrize("answer", [lambda g: (g[0] * 10, None), lambda g: (g[0],), lambda g: (g[0], g[0])])
def test_a_hook_answers_for_the_number_too(answer):
    torch = pytest.importorskip("torch")
    assert replaced(ag, answer) == replaced(torch, answer)


def test_the_number_of_a_freed_node_is_not_to_be_had():
    x = ag.tensor([1.0], requires_grad=True)
    y = x * 3.0
    assert y.grad_fn._saved_other.item() == 3.0
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        _ = y.grad_fn._saved_other
    assert "_saved_other" in dir(y.grad_fn)


def test_it_is_foreseen():
    from agdbg_engine.saved import first_refusal

    y = ag.tensor([1.0], requires_grad=True) * 3.0
    assert first_refusal([y.grad_fn]) is None
    y.backward()
    found = first_refusal([y.grad_fn])
    assert found is not None and found.freed is not None and found.freed.call == "backward"


def test_going_back_gives_the_number_back():
    from agdbg_engine.backward import BackwardPass
    from agdbg_engine.journal import Journal
    from agdbg_engine.sites import caller

    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3.0
    p = BackwardPass("backward", False, False, *caller())
    p.start([(y.grad_fn, 0, ag.ones(2)._a)])
    journal = Journal(p)
    journal.step()
    journal.undo()
    assert y.grad_fn._saved_other.item() == 3.0
    p.run()
    assert x.grad.tolist() == [3.0, 3.0]
