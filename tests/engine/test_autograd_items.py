"""Writes in place through views and items, and what they do to history and hooks; same as PyTorch."""

import pytest
from agdbg_tests_differential import Programs, error_of, graph_of, leaf, same, versions

pytest.importorskip("torch")
programs = Programs()


@programs
def a_plain_base_gets_a_history_through_a_view(t):
    x = leaf(t, 5.0)
    base = t.zeros(3, dtype=t.float64)
    early = base[:2]
    base[1:2].copy_(x)
    seen = [base.requires_grad, early.requires_grad, graph_of(base), graph_of(early)]
    ((base**2).sum() + (early**3).sum()).backward()
    return [seen, base, early, x.grad]


@programs
def a_buffer_is_filled_item_by_item(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    out = t.zeros(3, dtype=t.float64)
    for i in range(3):
        out[i] = x[i] ** (i + 1)
    out.sum().backward()
    return [out, x.grad, out._version]


@programs
def items_are_set(t):
    x, z = t.arange(6, dtype=t.float64).requires_grad_(), leaf(t, 7.0, 8.0, 9.0)
    y = (x * 2).view(2, 3)
    y[0] = z
    y[1, 2] = 5.0
    y[:, 0] = z[:2] * 3
    names = graph_of(y)
    (y * y).sum().backward()
    return [names, y, x.grad, z.grad]


@programs
def an_item_is_set_to_an_item_of_itself(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x * 2
    y[0] = y[2]
    y[1:] = y[:2].clone()
    (y * y).sum().backward()
    return [y, x.grad]


@programs
def items_are_set_by_mask(t):
    x, z = leaf(t, 1.0, 2.0, 3.0), leaf(t, 7.0)
    y = x * 2
    y[x > 1.5] = 0.0
    y[x < 1.5] = z[0]
    names = graph_of(y)
    (y * y).sum().backward()
    return [names, y, x.grad, z.grad, y._version]


@programs
def items_are_set_by_index(t):
    x, z = leaf(t, 1.0, 2.0, 3.0), leaf(t, 7.0, 8.0)
    y = x * 2
    y[t.tensor([2, 0])] = z
    names = graph_of(y)
    (y * y).sum().backward()
    return [names, y, x.grad, z.grad]


@programs
def items_of_a_view_are_set_by_mask(t):
    x = t.arange(6, dtype=t.float64).requires_grad_()
    y = (x * 2).view(2, 3)
    y[1][t.tensor([True, False, True])] = 0.0
    (y * y).sum().backward()
    return [y, x.grad]


@programs
def an_item_of_a_plain_tensor_is_set_to_a_leaf(t):
    x = leaf(t, 2.0)
    y = t.ones(2, 2, dtype=t.float64)
    y[0, 1] = x[0]
    names = graph_of(y)
    (y * y).sum().backward()
    return [names, x.grad]


@programs
def an_item_is_set_to_another_dtype(t):
    x = leaf(t, 2.0, dtype=t.float32)
    y = t.ones(2, dtype=t.float64)
    y[0] = x[0] * 3
    y.sum().backward()
    return [y, x.grad]


@programs
def an_item_is_set_to_a_wrong_shape(t):
    y = t.ones(2, 3)
    return [error_of(y.__setitem__, 0, t.ones(2)).kind, error_of(y.__setitem__, 5, 1.0), y, y._version]


@programs
def a_view_is_written_with_its_own_base(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y[0].add_(y.sum())
    (y * y).sum().backward()
    return [y, x.grad]


@programs
def a_second_derivative_through_a_write(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x * x
    y[1:].mul_(x[:2])
    (g,) = t.autograd.grad((y * y).sum(), x, create_graph=True)
    (h,) = t.autograd.grad((g * g).sum(), x)
    return [g.detach(), h]


@programs
def a_write_through_a_view_under_no_grad(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    v = y[0]
    with t.no_grad():
        v.fill_(100)
    (y * 3).sum().backward()
    return [y, v, x.grad, versions(y, v)]


@programs
def a_detached_view_is_written(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y[0].detach().fill_(100)
    z = y * 3
    z.sum().backward()
    return [y, x.grad, y._version]


@programs
def an_old_view_was_used_before_the_write(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    v = y[0]
    before = v + 1
    y.mul_(5)
    (before + v).backward()
    return [before, v, x.grad]


@programs
def a_hook_on_a_view_stays_with_its_old_node(t):
    x, seen = leaf(t, 1.0, 2.0), []
    y = x * 2
    v = y[0]
    v.register_hook(lambda g: seen.append(("old", g.item())))
    before = v * 3
    y.mul_(5)
    (v * v + y.sum() + before).backward()
    return [seen, x.grad]


@programs
def a_hook_on_a_view_of_a_written_base(t):
    x, seen = leaf(t, 1.0, 2.0), []
    y = x * 2
    v = y[0]
    y.mul_(5)
    named = v.grad_fn  # PyTorch crashes when a hook is registered before anybody asked
    v.register_hook(lambda g: seen.append(("new", g.item())))
    (v * v + y.sum()).backward()
    return [named, seen, x.grad]


@programs
def retain_grad_of_a_view_moves_to_its_new_node(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    v = y[0]
    v.retain_grad()
    y.retain_grad()
    v.mul_(5)
    (v * v + y.sum()).backward()
    return [v.grad, y.grad, x.grad, v.retains_grad, y.retains_grad]


@programs
def names_after_every_kind_of_write(t):
    x, seen = leaf(t, 1.0, 2.0), []
    for write in (
        lambda y: y.add_(1),
        lambda y: y.copy_(x),
        lambda y: y.__setitem__(0, 1.0),
        lambda y: y.__setitem__(0, x[0]),
        lambda y: y.__setitem__(Ellipsis, x),
        lambda y: y.__setitem__(x > 1, 1.0),
        lambda y: y[0].mul_(2),
        lambda y: y.view(2, 1)[0].zero_(),
        lambda y: y.detach()[0].zero_(),
    ):
        y = x * 2
        write(y)
        seen.append([graph_of(y), y._version])
    return seen


@programs
def a_retained_view_is_retained_again_after_a_write(t):
    x = leaf(t, [1.0, 2.0], [3.0, 4.0])
    y = x * 1
    a, b = y.unbind(0)
    a.retain_grad()
    y.add_(1)
    return [error_of(a.retain_grad), error_of(b.retain_grad)]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
