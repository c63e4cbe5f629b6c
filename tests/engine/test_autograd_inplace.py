"""In-place ops, and writes through views: PyTorch and the engine do the same."""

import pytest
from agdbg_tests_differential import Programs, error_of, graph_of, leaf, logged_warnings, same, versions

pytest.importorskip("torch")
programs = Programs()

# ----- what is refused, and that nothing has changed then -----


@programs
def on_a_leaf(t):
    x = leaf(t, 1.0, 2.0)
    writes = [
        lambda: x.add_(1), lambda: x.mul_(x), lambda: x.copy_(x * 2), lambda: x.fill_(1), lambda: x.zero_(), lambda: x.exp_(),
        lambda: x.masked_fill_(x > 1, 0.0), lambda: x.__setitem__(0, 5.0), lambda: x.__setitem__(x > 1, 5.0),
        lambda: x.__setitem__(t.tensor([0]), 5.0), lambda: x.__iadd__(1), lambda: x.__setitem__(slice(None), x * 2),
    ]  # fmt: skip
    return [[error_of(w) for w in writes], x, x._version, x.grad_fn]


@programs
def on_a_view_of_a_leaf(t):
    x = leaf(t, 1.0, 2.0)
    v, w = x[0], x.view(2, 1)[1]
    return [error_of(v.add_, 1), error_of(w.zero_), error_of(x[:1].mul_, x[1:]), x, x._version]


@programs
def on_one_output_of_many(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    rows = y.unbind(0)
    return [error_of(rows[1].add_, 1), error_of(rows[0].zero_), y, y._version]


@programs
def on_a_row_while_iterating(t):
    y = t.ones(2, 2, dtype=t.float64, requires_grad=True) * 2

    def clamp():
        for row in y:
            row.clamp_(0, 1)

    return [error_of(clamp), y]


@programs
def on_a_view_of_one_output_of_many(t):
    y = t.ones(2, 2, dtype=t.float64, requires_grad=True) * 2
    return [error_of(y.unbind(0)[1][0].add_, 1), y]


@programs
def outputs_of_many_that_need_no_grad_are_writable(t):
    y = t.ones(2, 2)
    for row in y:
        row.add_(1)
    return [y, y._version]


@programs
def outputs_of_many_are_writable_under_no_grad(t):
    y = t.ones(2, 2, requires_grad=True) * 2
    with t.no_grad():
        for row in y:
            row.add_(1)
    return [y, y._version]


@programs
def the_base_of_outputs_of_many_is_written(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    a, _ = y.unbind(0)
    y.mul_(3)
    return [error_of(lambda: a * 2), error_of(lambda: a.grad_fn), y.sum().backward(), x.grad]


@programs
def on_a_view_made_under_no_grad(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    with t.no_grad():
        v = y[0]
    refused = error_of(v.mul_, 3)
    with t.no_grad():
        v.mul_(3)
    return [refused, y, y._version]


@programs
def on_a_view_of_a_leaf_made_under_no_grad(t):
    x = leaf(t, 1.0, 2.0)
    with t.no_grad():
        v = x[0]
    return [error_of(v.mul_, 3), error_of(v.mul_, x[1]), x]


@programs
def on_a_view_of_a_view_made_under_no_grad(t):
    y = leaf(t, 1.0, 2.0) * 2
    with t.no_grad():
        v = y.view(2, 1)[0]
    return [error_of(v.mul_, 3), y]


@programs
def on_a_view_of_what_needs_no_grad_together_with_what_does(t):
    x, base = leaf(t, 1.0, 2.0), t.ones(2, 2, dtype=t.float64)
    rows = base.unbind(0)
    with t.no_grad():
        v = base[0]
    return [error_of(rows[0].mul_, x), error_of(v.mul_, x), base]


@programs
def on_what_overlaps_the_operand(t):
    y = leaf(t, 1.0, 2.0, 3.0) * 2
    return [error_of(y[1:].add_, y[:2]), error_of(y[:2].mul_, y[1:]), y[1:].add_(y[1:]), y[:2].copy_(y[1:].clone()), y]


@programs
def rows_of_no_grad(t):
    y = leaf(t, 1.0, 2.0) * 2
    with t.no_grad():
        a, _ = y.unbind(0)
    return [error_of(a.mul_, 3), y]


@programs
def on_expanded_memory(t):
    x = leaf(t, 1.0)
    y = (x * 2).expand(3)
    z = t.ones(1).expand(2, 2)
    return [error_of(y.add_, 1), error_of(z.add_, 1), error_of(z.mul_, y[:2]), error_of(z.__setitem__, 0, 5.0), z]


@programs
def on_a_part_of_expanded_memory_that_repeats_nothing(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x * 2
    wide, same_size, deeper = y.expand(2, 3), y.expand(3), y.expand(1, 3)
    wide[0].mul_(2)
    same_size.add_(1)
    deeper[0, 0] = 9.0
    (y + wide.sum(0) + deeper[0]).sum().backward()
    return [y, wide, same_size, deeper, x.grad]


@programs
def that_would_change_shape_or_dtype(t):
    x, i = t.ones(2), t.tensor([1, 2])
    return [
        error_of(x.add_, t.ones(3, 2)),
        error_of(x.add_, t.ones(3)),
        error_of(i.add_, 1.5),
        error_of(i.mul_, t.tensor([1.5, 2.5])),
        error_of(i.div_, 2),
        error_of(t.ones(1).add_, t.ones(2)),
        [x, i, versions(x, i)],
    ]


# ----- on a non-leaf -----


@programs
def chain_of_in_place_ops(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 1
    y.mul_(3).add_(x).exp_()
    y.sum().backward()
    return [y, graph_of(y), x.grad, y._version]


@programs
def augmented_assignment(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 1
    y += x
    y *= x
    y -= 1
    y /= x
    y **= 2
    names = graph_of(y)
    y.sum().backward()
    return [names, x.grad]


@programs
def every_in_place_op_has_the_gradient_of_its_plain_form(t):
    seen = []
    for name, args in (
        ("add_", (2,)), ("sub_", (2,)), ("mul_", (3,)), ("div_", (4,)), ("pow_", (3,)), ("neg_", ()), ("exp_", ()), ("log_", ()),
        ("sqrt_", ()), ("sin_", ()), ("cos_", ()), ("tanh_", ()), ("sigmoid_", ()), ("relu_", ()), ("abs_", ()), ("clamp_", (0, 1.5)),
        ("zero_", ()), ("reciprocal_", ()), ("rsqrt_", ()), ("expm1_", ()), ("log1p_", ()),
    ):  # fmt: skip
        x = leaf(t, 1.0, 2.0)
        y = x * 1
        getattr(y, name)(*args)
        y.sum().backward()
        seen.append([name, y, x.grad])
    return seen


@programs
def in_place_op_with_itself(t):
    x = leaf(t, 2.0, 3.0)
    y = x * 1
    return [error_of(lambda: y.mul_(y).sum().backward()), x.grad, y]


@programs
def in_place_with_a_saved_other(t):
    x, w = leaf(t, 2.0, 3.0), leaf(t, 4.0, 5.0)
    y = x * 1
    y.mul_(w)
    y.sum().backward()
    return [x.grad, w.grad]


@programs
def in_place_makes_a_plain_tensor_require_grad(t):
    x = leaf(t, 2.0, 3.0)
    y = t.ones(2, dtype=t.float64)
    y.mul_(x)
    y.add_(1)
    y.sum().backward()
    return [y, x.grad, graph_of(y)]


@programs
def copy_into_a_plain_tensor(t):
    x = leaf(t, 2.0, 3.0)
    y = t.zeros(2, dtype=t.float64)
    y.copy_(x)
    names = graph_of(y)
    (y * y).sum().backward()
    return [names, y, x.grad]


@programs
def copy_from_another_dtype_and_shape(t):
    x = leaf(t, 2.0, dtype=t.float32)
    y = t.zeros(2, 3, dtype=t.float64)
    y.copy_(x)
    (y * 2).sum().backward()
    return [y, x.grad]


@programs
def copy_over_a_history(t):
    x, z = leaf(t, 2.0, 3.0), leaf(t, 4.0, 5.0)
    y = x * 3
    y.copy_(z)
    y.sum().backward()
    return [y, x.grad, z.grad]


@programs
def fill_and_zero_cut_the_gradient(t):
    x = leaf(t, 2.0, 3.0)
    y, z = x * 3, x * 5
    y.fill_(7)
    z.zero_()
    (y + z).sum().backward()
    return [y.detach(), z, x.grad]


@programs
def masked_fill(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x * 2
    y.masked_fill_(x > 1.5, 0.0)
    names = graph_of(y)
    (y * y).sum().backward()
    return [names, y, x.grad]


@programs
def an_in_place_op_under_no_grad_keeps_the_history(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    with t.no_grad():
        y.add_(10)
    y.sum().backward()
    return [y, x.grad, y._version]


@programs
def the_old_value_was_needed_by_nobody(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    z = y + 1
    y.mul_(5)
    (y + z).sum().backward()
    return x.grad


@programs
def an_integer_tensor_in_place(t):
    x = t.tensor([1, 2])
    x += 1
    x *= 3
    return [x, x._version]


@programs
def a_plain_tensor_is_written_with_one_that_needs_grad_under_no_grad(t):
    x, y = leaf(t, 2.0), t.ones(1, dtype=t.float64)
    with t.no_grad():
        y.mul_(x)
    return [y]


# ----- through views -----


@programs
def write_through_a_view(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x * 2
    v = y[1:]
    v.mul_(10)
    names = [graph_of(y), graph_of(v)]
    (y * y).sum().backward()
    return [names, y, v, x.grad, versions(y, v)]


@programs
def the_view_is_used_after_its_write(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x * 2
    v = y[1:]
    v.mul_(10)
    (v * v).sum().backward()
    return x.grad


@programs
def write_into_the_base_and_use_the_view(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x * 2
    v = y[1:]
    y.mul_(10)
    names = graph_of(v)
    (v * v).sum().backward()
    return [names, v, x.grad]


@programs
def an_earlier_view_sees_a_write_through_another(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x * 2
    a, b = y[:2], y[1:]
    a.mul_(10)
    names = graph_of(b)
    (b * b).sum().backward()
    return [names, b, x.grad]


@programs
def view_of_a_view_is_written(t):
    x = t.arange(6, dtype=t.float64).requires_grad_()
    y = x * 2
    m = y.view(2, 3)
    m[1][1:].mul_(10)
    names = [graph_of(y), graph_of(m)]
    ((y**2).sum() + (m**3).sum()).backward()
    return [names, y, m, x.grad]


@programs
def transposed_view_is_written(t):
    x = t.arange(6, dtype=t.float64).requires_grad_()
    y = (x * 2).view(2, 3)
    y.t()[1].mul_(x[:2])
    (y**2).sum().backward()
    return [y, x.grad]


@programs
def two_views_are_written_in_turn(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x * 2
    a, b = y[:2], y[1:]
    a.mul_(10)
    b.add_(a.clone())
    a.mul_(b.clone())
    a.mul_(y[2])
    return [error_of(lambda: (y * y).sum().backward()), y, x.grad]


@programs
def two_views_are_added_to_in_turn(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x * 2
    a, b = y[:2], y[1:]
    a.add_(10)
    b.add_(a.clone())
    a.add_(b.clone())
    names = graph_of(y)
    (y * y).sum().backward()
    return [names, y, x.grad]


@programs
def the_gradient_of_what_was_written_is_no_part_of_that_of_the_base(t):
    """It may be written to, by a hook or by whoever asked for it, and the other one does not change."""
    x, u = leaf(t, 1.0, 2.0, 3.0), leaf(t, 5.0, 6.0)
    y = x.clone()
    y[1:].add_(u)
    gx, gu = t.autograd.grad((y * 3).sum(), [x, u], retain_graph=True)
    gu.mul_(10)
    u.register_hook(lambda g: g.mul_(100))
    (y * 3).sum().backward()
    return [gx, gu, x.grad, u.grad]


@programs
def where_an_index_picks_nothing_or_all(t):
    """``False`` alone is no write at all, whatever is assigned; every other index is one, also where it picks nothing."""
    keys = [
        False,
        slice(5, 2),
        (slice(5, 2), 0),
        [],
        [False, False, False],
        t.zeros(3, dtype=t.bool),
        t.zeros(0, dtype=t.int64),
    ]
    results = []
    for key in [*keys, True, t.tensor(False), (False,), (0, False), (None, slice(0, 0)), (..., slice(4, 4))]:
        x, v = t.ones(3, 4, requires_grad=True), leaf(t, 2.0)
        for y in (x * 1, t.zeros(3, 4)):
            y[key] = v
            if y.requires_grad:
                y.sum().backward()
            results.append([y, y._version, graph_of(y), x.grad, v.grad])
        results.append(error_of(x.__setitem__, key, v))
        results.append(error_of(t.zeros(3, 4).__setitem__, key, 1j))
        results.append(error_of(t.zeros(3, 4).__setitem__, key, t.ones(7, 9, dtype=t.float64)))
        results.append(error_of(t.zeros(3, 4).__setitem__, key, t.tensor(2)))
        results.append(error_of(t.zeros(3, 4).__setitem__, key, "a"))
    apart = (t.tensor([0, 1]), t.tensor([0, 1, 2]))
    return [*results, *(error_of(t.zeros(3, 4).__setitem__, k, leaf(t, 2.0)) for k in (apart, (False, apart[0])))]


@programs
def a_complex_number_of_which_the_real_part_is_written(t):
    x, v = leaf(t, 1.0, 2.0), t.tensor(3 + 2j, requires_grad=True)
    y = x * 1
    with logged_warnings():  # each says that the imaginary part is lost, not at the same place
        y[:] = v
        (y * y).sum().backward()
        z, nothing = t.zeros(3, dtype=t.int64).fill_(v.detach()), t.zeros(3)
        nothing[slice(5, 2)] = v.detach()
    return [y, x.grad, v.grad, z, nothing, error_of(nothing.fill_, 3 + 2j)]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
