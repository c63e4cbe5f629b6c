"""Strict mode: what is saved is read-only until it is released, so the write fails and not backward."""

import contextlib
import gc
import threading

import numpy as np
import pytest
from agdbg_tests_differential import leaf, raised

import agdbg_engine as ag
from agdbg_engine import errors, events
from agdbg_engine.node import Node

strict = ag.autograd.graph.strict_saved_tensors


@pytest.fixture(autouse=True)
def nothing_stays_locked():
    """No test leaves the mode or a lock behind (the collector ends what the tracebacks of expected errors hold)."""
    yield
    gc.collect()
    assert not events.special & events.STRICT


def refused(write):
    """The error of ``write``, which the engine refuses."""
    with pytest.raises(RuntimeError, match="saved tensors are strict") as caught:
        write()
    return caught.value


def test_it_is_off_by_default():
    x = leaf(ag, 1.0, 2.0)
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_the_writing_line_raises_and_the_error_names_who_saved():
    x = leaf(ag, 1.0, 2.0)
    with strict():
        y = x.exp()
        z = y * y
        error = refused(lambda: y.mul_(3))
    lines = str(error).splitlines()
    assert (
        lines[0]
        == "mul_ would write to memory that was saved by Exp for gradient computation, and saved tensors are strict."
    )
    assert "saved as 'result' at" in lines[1] and "y = x.exp()" in lines[1]
    assert "z = y * y" in lines[2]
    details = errors.details_of(error)
    assert (details.kind, details.node, details.slot) == ("saved-written", y.grad_fn, 0)
    assert y.tolist() == np.exp([1.0, 2.0]).tolist()
    z.sum().backward()
    assert np.allclose(x.grad._a, 2 * np.exp([2.0, 4.0]))


WRITES = {
    "in place": lambda y: y.add_(1),
    "item": lambda y: y.__setitem__(0, 1.0),
    "mask": lambda y: y.__setitem__(y > 0, 1.0),
    "view": lambda y: y[1:].zero_(),
    "view of a view": lambda y: y.view(2, 1)[0].fill_(1.0),
    "detached": lambda y: y.detach().mul_(3),
    "data": lambda y: y.data.mul_(3),
    "piece": lambda y: y.detach().split(1)[0].zero_(),
    "by itself": lambda y: y.mul_(y),
    "another size": lambda y: y.detach().resize_(1),
    "the size of another": lambda y: y.detach().resize_as_(ag.ones(1)),
    "by another library": ag.autograd.graph.increment_version,
}


@pytest.mark.parametrize("kind", WRITES)
def test_the_engine_refuses_every_write(kind):
    x = leaf(ag, 1.0, 2.0)
    with strict():
        y = x * 1
        z = y * y
        refused(lambda: WRITES[kind](y))
    z.sum().backward()
    assert (y.tolist(), x.grad.tolist()) == ([1.0, 2.0], [2.0, 4.0])
    with ag.no_grad():
        WRITES[kind](y)  # backward has released it


def test_numpy_refuses_too():
    x = leaf(ag, 1.0, 2.0)
    c = ag.ones(2, dtype=ag.float64)
    mine, earlier = c.numpy(), c.numpy()[1:]
    with strict():
        z = x * c
    with pytest.raises(ValueError, match="read-only"):
        mine[0] = 7
    with pytest.raises(ValueError, match="read-only"):
        np.multiply(mine, 2, out=mine)
    earlier[0] = 1.0  # best effort: a view that NumPy made before
    z.sum().backward()
    mine[0] = 7
    assert c.tolist() == [7.0, 1.0]


def test_memory_that_was_read_only_before_stays_so():
    x, c = leaf(ag, 1.0, 2.0), ag.ones(2, dtype=ag.float64)
    c.numpy().flags.writeable = False
    with strict():
        (x * c[:]).sum().backward()
    assert not c._a.flags.writeable


def test_views_made_meanwhile_are_writable_afterwards():
    x = leaf(ag, 1.0, 2.0)
    with strict():
        y = x * 1
        z = y * y
        views = [y.detach()[1:], y.detach().view(2, 1), *y.detach().split(1)]
    assert not any(v._a.flags.writeable for v in views)
    z.sum().backward()
    assert all(v._a.flags.writeable for v in views)


def test_memory_is_locked_as_long_as_anybody_needs_it():
    x = leaf(ag, 1.0, 2.0)
    with strict():
        y = x.clone()
        a, b = (y * y).sum(), y.exp().sum()
        c = y[1:].sin().sum()
    a.backward(retain_graph=True)
    c.backward()
    refused(lambda: y.add_(1))
    a.backward()
    b.backward()  # exp saved its own result
    y.add_(1)
    assert y.tolist() == [2.0, 3.0]


def test_a_graph_that_dies_lets_go_without_the_collector():
    x = leaf(ag, 1.0, 2.0)
    gc.collect()
    before = sum(issubclass(type(o), Node) for o in gc.get_objects())
    gc.disable()
    try:
        with strict():
            y = x.exp()
            z = y * y
            y[0].detach()
        del z
        with contextlib.suppress(RuntimeError):
            y.mul_(2)
        del y
        assert not events.special & events.STRICT
        assert sum(issubclass(type(o), Node) for o in gc.get_objects()) == before
    finally:
        gc.enable()
    with ag.no_grad():
        x.add_(1)


def test_saved_tensors_are_what_they_are_without_it():
    x = leaf(ag, 1.0, 2.0)
    with strict():
        y = x.exp()
        z = y * x
    assert z.grad_fn._saved_other is x and z.grad_fn._saved_self is y
    again = y.grad_fn._saved_result
    assert again is not y and again.grad_fn is y.grad_fn and again._version == y._version
    (g,) = ag.autograd.grad(z.sum(), x, create_graph=True)
    (h,) = ag.autograd.grad(g.sum(), x)
    assert np.allclose(h._a, np.exp([1.0, 2.0]) * np.array([3.0, 4.0]))


def test_in_place_ops_on_what_nobody_saved_work():
    x, w = leaf(ag, 1.0, 2.0), leaf(ag, 3.0, 4.0)
    with strict():
        y = x * 1
        y.mul_(w)  # keeps its own copy of the old y
        y.exp_()  # saves its result
        refused(lambda: y.add_(1))
        y = y.clone()
        y[0].sqrt_()
        refused(y.zero_)
    y.sum().backward()
    values = np.exp(np.array([3.0, 8.0]))
    expected = values * np.array([3.0, 4.0]) * np.array([0.5 / np.sqrt(values[0]), 1.0])
    assert np.allclose(x.grad._a, expected)


def test_an_update_before_backward_is_refused():
    from agdbg_engine import nn, optim

    net = nn.Linear(2, 1)
    step = optim.SGD(net.parameters(), lr=0.1)
    x = ag.ones(3, 2, requires_grad=True)
    with strict():
        loss = net(x).sum()
        loss.backward(retain_graph=True)
        before = net.weight.tolist()
        assert str(refused(step.step)).startswith("SGD.step would write to memory that was saved by")
    assert net.weight.tolist() == before
    loss.backward()
    step.step()
    assert net.weight.tolist() != before


def test_a_saved_gradient_is_not_added_to():
    x, w = leaf(ag, 1.0, 2.0), leaf(ag, 3.0, 4.0)
    x.grad = ag.ones(2, dtype=ag.float64)
    with strict():
        z = (x.grad * w).sum()
    refused((x * 2).sum().backward)
    z.backward()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_with_hooks_only_what_they_keep_is_locked():
    x, hooks = leaf(ag, 1.0, 2.0), ag.autograd.graph.saved_tensors_hooks
    with strict():
        y, z = x * 1, x * 1
        with hooks(lambda v: v.detach(), lambda v: v):
            kept = y * y
        with hooks(lambda v: v.clone(), lambda v: v):
            copied = z * z
        refused(lambda: y.add_(1))
        z.add_(1)
        raw = z.exp()
        raw.grad_fn._raw_saved_result.register_hooks(lambda v: v.detach(), lambda v: v)
        refused(lambda: raw.add_(1))
    (kept + copied).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]
    y.add_(1)


def test_the_mode_belongs_to_its_thread_and_can_be_nested():
    x, seen = leaf(ag, 1.0, 2.0), []

    def other():
        y = x * 1
        z = y * y
        y.add_(1)
        seen.append(z)

    with strict():
        with strict():
            pass
        y = x * 1
        z = y * y
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        refused(lambda: y.add_(1))
    assert len(seen) == 1
    z.sum().backward()


def test_threads_that_save_and_release_the_same_memory():
    c = ag.ones(100, dtype=ag.float64)

    def work():
        x = ag.ones(100, dtype=ag.float64, requires_grad=True)
        with strict():
            for _ in range(200):
                z = x * c
                if c._a.flags.writeable:
                    seen.append("not locked")
                z.sum().backward()

    seen = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == []
    assert c._a.flags.writeable


def test_as_a_decorator_and_after_an_error():
    @strict()
    def program(x):
        y = x * 1
        z = y * y
        y.add_(1)
        return z

    with pytest.raises(RuntimeError) as caught:
        program(leaf(ag, 1.0))
    assert raised(caught.value).first_line.startswith("add_ would write")


def test_windows_lie_in_the_memory_of_their_base():
    y = leaf(ag, 1.0, 2.0, 3.0) * 1
    with strict():
        z = y.unfold(0, 2, 1) ** 2
    refused(lambda: y.add_(1))
    del z
    gc.collect()  # the error knows the node
    y.add_(1)


def test_arrays_of_as_strided_are_no_worse_afterwards():
    """NumPy does not know whose memory they show, so one that was made read-only would stay so."""
    a = np.ones(4, np.float32)
    b = np.lib.stride_tricks.as_strided(a, (2, 2), (4, 4))
    whole, x = ag.from_numpy(a), ag.from_numpy(b).requires_grad_()
    with strict():
        z = x * x
    refused(lambda: whole.add_(1))
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 2
    del z
    gc.collect()
    a[0] = b[1, 0] = 2
    whole.add_(1)
    assert a.tolist() == [3.0, 3.0, 2.0, 2.0] and not events.special & events.STRICT


def test_memory_that_is_mapped(tmp_path):
    a = np.memmap(tmp_path / "values", np.float32, "w+", shape=(2,))
    x = ag.from_numpy(a).requires_grad_()
    with strict():
        z = x * x
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1
    refused(lambda: x.detach().add_(1))
    del z
    gc.collect()
    x.detach().add_(1)
    assert a.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("hooked", [False, True])
def test_running_statistics(hooked):
    """A training mixes its own: it does not read those that it keeps, but an evaluation does."""
    norm, x = ag.nn.BatchNorm1d(2), ag.arange(6.0).reshape(3, 2).requires_grad_()
    hooks = ag.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    with strict(), hooks if hooked else contextlib.nullcontext():
        first, second = norm(x), norm(x)
    norm(x)
    assert norm.num_batches_tracked.item() == 3
    (first + second).sum().backward()
    norm.eval()
    with strict():
        y = norm(x)
    norm.train()
    before = norm.running_mean.tolist()
    refused(lambda: norm(x))
    assert norm.running_mean.tolist() == before
    y.sum().backward()
    norm(x)


def test_gradcheck_changes_its_inputs():
    x = leaf(ag, 1.0, 2.0)
    with strict():
        assert ag.autograd.gradcheck(lambda t: (t * t).exp(), (x,)) and ag.autograd.gradgradcheck(lambda t: t * t, (x,))
        z = x * x
        assert str(refused(lambda: ag.autograd.gradcheck(lambda t: t * t, (x,)))).startswith("gradcheck would write")
        del z
