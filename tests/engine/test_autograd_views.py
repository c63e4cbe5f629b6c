"""Versions, views, detach and data: PyTorch and the engine do the same."""

import pytest
from agdbg_tests_differential import Programs, error_of, graph_of, leaf, same, versions

pytest.importorskip("torch")
programs = Programs()

# ----- versions -----


@programs
def every_write_counts_once(t):
    x = t.zeros(3)
    seen = [x._version]
    for write in (
        lambda: x.add_(1),
        lambda: x.mul_(2),
        lambda: x.copy_(t.ones(3)),
        lambda: x.fill_(4),
        lambda: x.zero_(),
        lambda: x.masked_fill_(x == 0, 5.0),
        lambda: x.clamp_(0, 1),
        lambda: x.exp_(),
        lambda: x.relu_(),
    ):
        write()
        seen.append(x._version)
    return seen


@programs
def item_assignment_counts_once(t):
    x = t.zeros(3)
    seen = []
    for key, value in ((0, 1.0), (slice(0, 2), 2.0), (1, t.tensor(3.0)), (x == 2, 9.0), (t.tensor([0, 2]), 7.0)):
        x[key] = value
        seen.append(x._version)
    return [seen, x]


@programs
def augmented_assignment_counts_and_keeps_the_object(t):
    x = t.ones(2)
    before = x
    x += 1
    x -= 3
    x *= 2
    x /= 4
    x **= 2
    return [x, x is before, x._version]


@programs
def augmented_assignment_of_an_item(t):
    x = t.ones(3)
    x[0] += 1
    x[1:] *= 5
    return [x, x._version]


@programs
def reading_does_not_count(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    (y + y.exp()).sum().backward()
    return versions(x, y)


@programs
def views_share_the_counter(t):
    x = t.zeros(2, 3)
    row, flat, turned = x[0], x.view(6), x.t()
    row.add_(1)
    flat.mul_(2)
    return versions(x, row, flat, turned)


@programs
def detach_shares_the_counter_and_data_does_not(t):
    x = t.zeros(3)
    twin, data = x.detach(), x.data
    x.add_(1)
    seen = versions(x, twin, data)
    data.add_(1)
    seen += versions(x, twin, data)
    twin.add_(1)
    return [seen, versions(x, twin, data), x, twin, data]


@programs
def the_counter_of_data_starts_anew(t):
    x = t.zeros(3)
    x.add_(1)
    return versions(x, x.data, x.detach(), x.clone())


@programs
def numpy_memory_does_not_count(t):
    x = t.zeros(3)
    x.numpy()[0] = 5
    return [x, x._version]


@programs
def a_write_under_no_grad_counts(t):
    x = leaf(t, 1.0, 2.0)
    with t.no_grad():
        x.add_(1)
        x *= 2
    return [x, x._version, x.grad_fn]


# ----- views -----


@programs
def what_is_a_view(t):
    x = t.arange(6, dtype=t.float64).requires_grad_() * 1
    m = x.view(2, 3)
    views = [
        m, x[0], x[1:3], x[:], x[None], m.t(), m.transpose(0, 1), m.permute(1, 0), m.unsqueeze(0), m[:, 1],
        m.unsqueeze(0).squeeze(0), x.expand(2, 6), m.reshape(6), m.flatten(), x.narrow(0, 1, 2),
        m.select(0, 1), m.contiguous(), m.t().contiguous(), x.clone(), x[x > 0], x[t.tensor([0])], x.detach(), x * 1,
    ]  # fmt: skip
    return [[v, v._base is x, v._base is m] for v in views]


@programs
def the_base_of_a_chain_of_views_is_the_first(t):
    x = leaf(t, 1.0, 2.0, 3.0, 4.0)
    y = x * 1
    v = y.view(2, 2)[0][1:]
    return [v, v._base is y, x[1:]._base is x, graph_of(v)]


@programs
def a_view_of_what_needs_no_grad(t):
    x = t.zeros(4)
    v = x[1:]
    return [v, v._base is x, v._is_view(), v.requires_grad]


@programs
def views_made_under_no_grad(t):
    x = leaf(t, 1.0, 2.0)
    with t.no_grad():
        v = x[0]
    return [v, v._base is x, v.requires_grad]


@programs
def a_view_of_a_detached_twin(t):
    x = leaf(t, 1.0, 2.0)
    twin = x.detach()
    return [twin, twin._is_view(), twin[0]._base is twin, x.data._is_view()]


@programs
def gradients_through_views(t):
    x = t.arange(6, dtype=t.float64).requires_grad_()
    m = x.view(2, 3)
    loss = (m[0] * 2).sum() + (m.t()[1] ** 2).sum() + m[:, 1:].sum() + (m.unsqueeze(1).expand(2, 4, 3) ** 2).sum()
    loss.backward()
    return x.grad


@programs
def gradient_of_a_view_that_is_a_leaf(t):
    base = t.zeros(4, dtype=t.float64)
    v = base[1:3].requires_grad_()
    (v * 3).sum().backward()
    return [v, v.grad, base, base.requires_grad]


@programs
def gradient_of_overlapping_slices(t):
    x = leaf(t, 1.0, 2.0, 3.0, 4.0)
    (x[:3] * x[1:] + x[::2].sum() * x[-1]).sum().backward()
    return x.grad


@programs
def second_derivative_through_views(t):
    x = t.arange(4, dtype=t.float64).requires_grad_()
    y = (x.view(2, 2).t()[0] ** 3).sum() + x[1] * x[2]
    (g,) = t.autograd.grad(y, x, create_graph=True)
    (h,) = t.autograd.grad((g * g).sum(), x)
    return h


@programs
def names_of_view_nodes(t):
    x = t.ones(2, 3, requires_grad=True)
    ops = [
        x.view(6), x.t(), x.transpose(0, 1), x.permute(1, 0), x.unsqueeze(0), x.unsqueeze(0).squeeze(0),
        x.unsqueeze(0).squeeze(), x[0], x[:, 1:], x[None], x.expand(4, 2, 3), x.reshape(6), x.flatten(),
        x.narrow(0, 0, 1), x[0, 1], x[..., 0], x[0:2:2, ::2], x.mT,
    ]  # fmt: skip
    return [graph_of(v) for v in ops]


@programs
def impossible_views(t):
    x = t.ones(2, 3)
    return [
        error_of(x.view, 4),
        error_of(x.t().view, 6),
        error_of(x.view, -1, -1),
        error_of(x.view, -1, 4),
        error_of(x.expand, 4, 3),
        error_of(x.expand, 3),
        error_of(x.select, 2, 0),
        error_of(x.select, 0, 5),
        error_of(x.transpose, 0, 2),
        error_of(lambda: x[0, 0, 0]),
        error_of(lambda: x[5]),
    ]


# ----- detach -----


@programs
def detach_cuts(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 3
    loss = (y.detach() * y).sum()
    loss.backward()
    return [x.grad, y.detach()]


@programs
def detach_shares_memory(t):
    x = t.zeros(2)
    twin = x.detach()
    twin[0] = 5
    return [x, twin]


@programs
def detach_in_place(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 3
    z = y * 5
    y.detach_()
    z.sum().backward()
    return [y, x.grad, y * 2]


@programs
def detach_in_place_of_a_leaf(t):
    x = leaf(t, 1.0)
    x.detach_()
    return [x, x * 2]


@programs
def detach_in_place_of_a_view(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 3
    return [error_of(y[0].detach_), error_of(y.view(2, 1).detach_)]


@programs
def detach_in_place_keeps_the_version(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 3
    y.add_(1)
    y.detach_()
    seen = y._version
    y.add_(1)
    return [seen, y._version]


@programs
def a_detached_twin_may_require_grad(t):
    x = leaf(t, 1.0, 2.0)
    y = (x * 3).detach().requires_grad_()
    (y * y).sum().backward()
    return [x.grad, y.grad, y]


# ----- data -----


@programs
def a_write_through_data_is_not_noticed(t):
    x = leaf(t, 1.0, 2.0)
    y = x.exp()
    y.data.mul_(3)
    y.sum().backward()
    return [x.grad, y._version]


@programs
def data_is_assigned(t):
    x = leaf(t, 1.0, 2.0)
    y = x * x
    x.data = t.tensor([10.0, 20.0], dtype=t.float64)
    y.sum().backward()
    return [x, x.grad, x._version]


@programs
def data_is_assigned_in_another_shape(t):
    x = leaf(t, 1.0, 2.0)
    x.data = t.ones(3, dtype=t.float64)
    (x * x).sum().backward()
    return [x, x.grad]


@programs
def data_of_a_leaf_is_updated(t):
    w = leaf(t, 1.0, 2.0)
    for _ in range(3):
        (w * w).sum().backward()
        w.data -= 0.1 * w.grad
        w.grad = None
    return [w, w._version]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
