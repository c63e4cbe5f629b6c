"""``data``: reading it cuts the graph and the version counter, assigning it exchanges the memory. And ``Parameter``."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

import agdbg_engine as ag

torch = pytest.importorskip("torch")
programs = Programs()


def assign(x, value):
    return error_of(setattr, x, "data", value)


@programs
def reading(t):
    x = leaf(t, 1.0, 2.0)
    d = x.data
    d.add_(1)
    return [x, x._version, d, d._version, d.data_ptr() == x.data_ptr()]


@programs
def writing_through_it_goes_unnoticed(t):
    x = leaf(t, 1.0, 2.0)
    y = x * x
    x.data.mul_(10)
    y.sum().backward()
    return x.grad


@programs
def what_is_no_data(t):
    x, n = leaf(t, 1.0), t.ones(1)
    refused = [assign(x, None), assign(x, [1]), assign(x, t.zeros(3, dtype=t.int64)), error_of(delattr, x, "data")]
    return [refused, assign(n, t.zeros(3, dtype=t.int64)), n]


def of_another_shape(t, reshape, build, sizes=(2, 2)):
    x = leaf(t, 1.0, 2.0)
    y = reshape(t, x)
    before = y.relu()
    y.data = t.ones(*sizes)
    build(t, y, before)
    return x.grad


@programs
def gradients_of_another_shape_are_summed_to_the_old_one(t):
    both = lambda t, y, before: (before.sum() + y.sum() * 3).backward()
    alone = lambda t, y, before: (y.sum() * 3).backward()
    squared = lambda t, y, before: (y * y).sum().backward(create_graph=True)
    ways = [lambda t, x: x * 1, lambda t, x: x.exp(), lambda t, x: (x * 1).unbind(0)[0], lambda t, x: (x * 1)[:1]]
    return [of_another_shape(t, way, build) for way in ways for build in (both, alone, squared)]


@programs
def another_shape_that_the_old_one_does_not_expand_to(t):
    x = t.ones(2, 2, requires_grad=True)
    y = x * 1
    y.data = t.ones(2)
    return error_of(y.sum().backward).kind


@programs
def another_shape_and_dtype(t):
    x = leaf(t, 1.0, 2.0)
    x.data = t.zeros(3)
    (x * 2).sum().backward()
    return [x, x.grad, x._version]


@programs
def a_gradient_stays(t):
    x = leaf(t, 1.0, 2.0)
    x.sum().backward()
    x.data = t.zeros(3)
    return [x, x.grad]


@programs
def history_stays(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y.data = t.zeros(2, dtype=t.float64)
    (y * 3).sum().backward()
    return [y, x.grad]


@programs
def the_memory_of_an_inference_tensor(t):
    x, y = leaf(t, 1.0, 2.0), t.ones(2)
    product, view = (x * x).sum(), y[:]
    y.mul_(2)
    with t.inference_mode():
        made = t.tensor([5.0, 6.0])
    x.data = y.data = made
    seen = [y._version, y.is_inference(), y.mul_(2), y._version, view.mul_(2), y._version, made, y.detach()._version]
    product.backward()  # of what was saved before
    return [seen, x._version, x.grad, (x * x).requires_grad, error_of(lambda: x * t.ones(2, requires_grad=True))]


@programs
def saved_tensors(t):
    x = leaf(t, 1.0, 2.0)
    y, z = x * x, x.exp()
    x.data = t.full((2,), 5.0, dtype=t.float64)
    z.data = t.zeros(2, dtype=t.float64)
    (y + z).sum().backward()
    return x.grad


@programs
def views_keep_the_old_memory(t):
    x = t.ones(3)
    v = x[:2]
    x.data = t.zeros(3)
    x[0] = 7.0
    v.data = t.full((2,), 4.0)
    return [x, v, v._base is x, v._version, x._version]


@programs
def counters_are_not_shared(t):
    x, y = t.ones(2), t.zeros(2)
    x.add_(1)
    x.data = y
    y.add_(1)
    x.add_(1)
    return [x._version, y._version, x, y]


@programs
def requires_grad_stays(t):
    x, c = leaf(t, 1.0), t.ones(1)
    x.data = t.zeros(1)
    c.data = leaf(t, 2.0)
    return [x, c]


@programs
def parameters(t):
    p = t.nn.Parameter(t.ones(2))
    results = [p * 2, p.detach(), p.data]
    return [p, repr(p), [type(r) is t.Tensor for r in results], type(p.requires_grad_()) is t.nn.Parameter, results]


@programs
def parameters_share_memory_and_version(t):
    w = t.ones(2)
    p = t.nn.Parameter(w)
    w.add_(1)
    return [p, p._version, w._version, p._is_view(), t.nn.Parameter(leaf(t, 1.0) * 2), t.nn.Parameter(p) is p]


@programs
def parameters_of_what_has_no_gradient(t):
    n = t.ones(2, dtype=t.int64)
    return [
        error_of(t.nn.Parameter, n), t.nn.Parameter(n, requires_grad=False), error_of(t.nn.Parameter, [1.0]),
        t.nn.Parameter(), t.nn.Parameter(data=t.ones(1), requires_grad=False), isinstance(n, t.nn.Parameter),
    ]  # fmt: skip


def written_before(t, by):
    x = t.tensor([1.0, 2.0, 3.0, 4.0], dtype=t.float64, requires_grad=True)
    y = x * 1
    v, other = y[:2], y[:3]
    (other if by == "another view" else y).mul_(2)
    return x, y, v


@programs
def what_was_written_before_a_view_is_given_other_memory(t):
    found = []
    for by in ("the base", "another view"):
        x, _, v = written_before(t, by)
        v.data = v.data.clone()
        found += t.autograd.grad((v * 3).sum(), x, retain_graph=True)
        v.mul_(5)
        found += t.autograd.grad((v * 3).sum(), x)
    return found


@programs
def the_same_memory_again(t):
    x, y, v = written_before(t, "the base")
    v.data = v.data
    v.mul_(5)
    return [*t.autograd.grad((y * y).sum(), x), v.grad_fn.name()]


@programs
def the_old_memory_given_back(t):
    x, y, v = written_before(t, "the base")
    old = v.data
    v.data = old.clone()
    y.mul_(5)
    v.data = old
    found = [*t.autograd.grad(v.sum(), x, retain_graph=True)]
    v.mul_(3)
    return [*found, *t.autograd.grad((y * y).sum(), x), v.grad_fn.name()]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


# ----- views that are given other memory: PyTorch gives wrong gradients there, in silence -----


def parted(memory):
    x = ag.tensor([0.5, 0.7, 0.9], dtype=ag.float64, requires_grad=True)
    y = x * 1
    v = y[1:]
    v.data = memory(y, v)
    return x, y, v


def test_a_write_through_a_view_that_has_left_its_base_is_its_own():
    x, y, v = parted(lambda y, v: v.detach().clone())
    v.mul_(10)
    assert y.tolist() == [0.5, 0.7, 0.9]
    assert ag.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist() == [1, 1, 1]
    assert ag.autograd.grad(v.sum(), x)[0].tolist() == [0, 10, 10]


def test_a_write_to_a_base_does_not_reach_a_view_that_has_left_it():
    x, y, v = parted(lambda y, v: v.detach().clone())
    y.mul_(10)
    assert v.tolist() == [0.7, 0.9]
    assert ag.autograd.grad(v.sum(), x, retain_graph=True)[0].tolist() == [0, 1, 1]
    v.mul_(3)
    y.mul_(2)
    assert ag.autograd.grad(v.sum(), x, retain_graph=True)[0].tolist() == [0, 3, 3]
    assert ag.autograd.grad(y.sum(), x)[0].tolist() == [20, 20, 20]


def test_a_view_of_another_part_of_its_base_is_not_written():
    x, y, v = parted(lambda y, v: y.data[:2])
    with pytest.raises(RuntimeError, match="another part of the memory of its base"):
        v.mul_(3)
    assert v.tolist() == [0.5, 0.7]
    assert ag.autograd.grad(y.sum(), x)[0].tolist() == [1, 1, 1]


@pytest.mark.parametrize("written", ["view", "view of it", "base"])
def test_views_of_a_view_that_has_left_its_base_are_views_of_it(written):
    x, y, v = parted(lambda y, v: v.detach().clone())
    w = v[:1]
    {"view": v, "view of it": w, "base": y}[written].mul_(10)
    assert w._base is v
    of_y, of_v, of_w = (ag.autograd.grad(t.sum(), x, retain_graph=True)[0].tolist() for t in (y, v, w))
    assert of_y == ([10, 10, 10] if written == "base" else [1, 1, 1])
    assert of_v == {"view": [0, 10, 10], "view of it": [0, 10, 1], "base": [0, 1, 1]}[written]
    assert of_w == [0, 1 if written == "base" else 10, 0]


def test_a_view_of_a_view_of_another_part_is_not_written_either():
    _x, y, v = parted(lambda y, v: y.data[:2])
    with pytest.raises(RuntimeError, match="another part of the memory of its base"):
        v[:1].mul_(3)
    assert y.tolist() == [0.5, 0.7, 0.9]


def test_a_view_made_before_its_parent_left_is_one_of_the_base_still():
    x = ag.tensor([0.5, 0.7, 0.9], dtype=ag.float64, requires_grad=True)
    y = x * 1
    v = y[1:]
    w = v[:1]
    v.data = v.detach().clone()
    w.mul_(3)
    assert w._base is y
    of = (ag.autograd.grad(t.sum(), x, retain_graph=True)[0].tolist() for t in (y, v, w))
    assert list(of) == [[1, 3, 1], [0, 1, 1], [0, 3, 0]]


def test_views_of_a_view_with_other_memory_need_no_gradient_that_nobody_wants():
    v = ag.zeros(3).view(3)
    v.data = ag.ones(3)
    w = v.view(1, 3)
    assert w._base is v and not w.requires_grad and w.is_leaf and not w.expand(2, 3).clone().requires_grad
    v.mul_(2)
    assert w.grad_fn is None and w.tolist() == [[2, 2, 2]]
    w.mul_(ag.ones(3, requires_grad=True))
    assert v.requires_grad and v.view(3).requires_grad
