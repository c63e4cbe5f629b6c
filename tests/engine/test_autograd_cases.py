"""Programs that go wrong in practice: PyTorch and the engine go wrong in the same way, with the same first line.

The names tell the situation; what a debugger says about it is tested elsewhere.
"""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

torch = pytest.importorskip("torch")
programs = Programs()

# ----- written in place -----


@programs
def an_exponential_is_tripled(t):
    x = leaf(t, 1.0, 1.0, 1.0)
    a = 2 * x
    y = a.exp()
    y.mul_(3)
    return [error_of(y.sum().backward), x.grad]


@programs
def an_optimizer_steps_between_two_passes(t):
    x = t.ones(1, 2)
    w1, w2 = t.ones(2, 3, requires_grad=True), t.ones(3, 1, requires_grad=True)
    loss = ((x @ w1) @ w2).sum()
    loss.backward(retain_graph=True)
    with t.no_grad():
        for w in (w1, w2):
            w -= 0.1 * w.grad
    return error_of(loss.backward)


@programs
def a_result_is_scaled_through_data(t):
    x = leaf(t, 1.0)
    y = (2 * x).exp()
    y.data.mul_(3)
    y.backward()
    return x.grad


@programs
def a_result_is_zeroed_through_numpy(t):
    x = leaf(t, 1.0)
    y = (2 * x).exp()
    y.detach().numpy()[...] = 0
    y.backward()
    return x.grad


@programs
def two_slices_of_one_buffer_are_added_to(t):
    x = leaf(t, 1.0, 2.0)
    buffer = t.zeros(4, dtype=t.float64)
    buffer[:2] += x
    saved = buffer[:2] ** 2
    buffer[2:] += x
    return error_of(saved.sum().backward)


@programs
def two_slices_of_one_buffer_that_nobody_saved(t):
    x = leaf(t, 1.0, 2.0)
    buffer = t.zeros(4, dtype=t.float64)
    buffer[:2] += x
    used = buffer[:2] * 2
    buffer[2:] += x
    (used.sum() + buffer.sum()).backward()
    return x.grad


@programs
def nothing_saved_needs_it(t):
    x = leaf(t, 1.0)
    y = x * 2
    with t.no_grad():
        x.mul_(5)
    y.backward()
    return x.grad


@programs
def an_exponent_is_incremented(t):
    x, i = leaf(t, 2.0), t.ones(1, dtype=t.float64)
    total = 0
    for _ in range(3):
        total = total + x**i
        i += 1
    return error_of(total.backward)


@programs
def a_transposed_weight_is_updated(t):
    x, w = t.ones(1, 3, requires_grad=True), t.ones(2, 3, requires_grad=True)
    out = x @ w.t()
    with t.no_grad():
        w.sub_(0.1)
    return error_of(out.sum().backward)


@programs
def a_leaf_is_refused_and_unchanged(t):
    x = leaf(t, 1.0, 2.0)
    return [error_of(x.mul_, 5), error_of(x.__setitem__, 0, 9.0), error_of(x[0].zero_), x, x._version]


@programs
def an_identity_view_and_an_in_place_relu(t):
    x = leaf(t, -1.0, 2.0)
    y = (x * 2).view(2)
    y.relu_()
    y.sum().backward()
    return [y, x.grad]


@programs
def rows_are_clamped_in_a_loop(t):
    y = t.ones(2, 2, requires_grad=True) * 1

    def clamp():
        for row in y:
            row.clamp_(0, 0.5)

    return [error_of(clamp), y]


@programs
def a_view_made_under_no_grad_is_changed_outside(t):
    y = leaf(t, 1.0, 2.0) * 1
    with t.no_grad():
        v = y.view(2, 1)
    return [error_of(v.add_, 1), y]


# ----- backward twice -----


@programs
def loss_backward_twice(t):
    x = leaf(t, 2.0)
    loss = (x * x).sum()
    loss.backward()
    return [error_of(loss.backward), x.grad]


@programs
def a_state_is_carried_over_iterations(t):
    w, h = leaf(t, 0.5), t.zeros(1, dtype=t.float64)
    seen = []
    for _ in range(3):
        h = (h * w + 1).tanh()
        seen.append(error_of(h.sum().backward))
    return [seen, w.grad]


@programs
def a_state_is_carried_over_with_retain_graph_and_steps(t):
    w, h = leaf(t, 0.5), t.zeros(1, dtype=t.float64)
    seen = []
    for _ in range(3):
        h = (h * w + 1).tanh()
        seen.append(error_of(h.sum().backward, retain_graph=True))
        with t.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
    return seen


@programs
def a_state_is_detached_at_every_iteration(t):
    w, h = leaf(t, 0.5), t.zeros(1, dtype=t.float64)
    for _ in range(3):
        h = (h.detach() * w + 1).tanh()
        h.sum().backward()
    return w.grad


@programs
def two_losses_share_an_encoder(t):
    x, w = t.ones(2, dtype=t.float64), leaf(t, 0.5, 0.25)
    code = (x * w).tanh()
    a, b = (code**2).sum(), code.exp().sum()
    a.backward()
    return [error_of(b.backward), w.grad]


@programs
def two_losses_are_summed(t):
    x, w = t.ones(2, dtype=t.float64), leaf(t, 0.5, 0.25)
    code = (x * w).tanh()
    ((code**2).sum() + code.exp().sum()).backward()
    return w.grad


@programs
def features_are_computed_once_before_the_loop(t):
    w, v = leaf(t, 0.5, 0.25), leaf(t, 1.0, 2.0)
    features = w.exp()
    seen = []
    for _ in range(2):
        seen.append(error_of((features * v).sum().backward))
    return [seen, v.grad, w.grad]


@programs
def nothing_was_saved_so_twice_is_legal(t):
    x = leaf(t, 1.0, 2.0)
    loss = (x + 1).sum()
    loss.backward()
    loss.backward()
    return x.grad


@programs
def grad_first_then_backward(t):
    x = leaf(t, 2.0)
    loss = (x * x).sum()
    return [t.autograd.grad(loss, x), error_of(loss.backward)]


@programs
def retain_graph_on_the_second_call(t):
    x = leaf(t, 2.0)
    loss = (x * x).sum()
    loss.backward()
    return error_of(loss.backward, retain_graph=True)


@programs
def the_middle_of_a_freed_graph(t):
    x = leaf(t, 2.0)
    y = x.exp()
    z = y.sin()
    z.backward()
    return [error_of(y.backward), error_of((y * 2).backward), x.grad]


# ----- NaN and infinity -----


@programs
def where_over_a_square_root(t):
    x = leaf(t, -1.0, -4.0)
    t.where(x > 0, x.sqrt(), x).sum().backward()
    return x.grad


@programs
def where_with_its_input_replaced_first(t):
    x = leaf(t, -1.0, 4.0)
    safe = t.where(x > 0, x, t.ones(2, dtype=t.float64))
    t.where(x > 0, safe.sqrt(), x).sum().backward()
    return x.grad


@programs
def where_over_an_exponential(t):
    a = leaf(t, 100.0, 1000.0, -1.0)
    t.where(a <= 0, a.exp(), 1 + a).sum().backward()
    return a.grad


@programs
def a_division_by_zero_masked_afterwards(t):
    x, n = leaf(t, 0.0, 1.0), t.tensor([0.0, 2.0], dtype=t.float64)
    y = x / n
    t.where(n > 0, y, t.zeros(2, dtype=t.float64)).sum().backward()
    return x.grad


@programs
def a_division_by_zero_filled_afterwards(t):
    x, n = leaf(t, 0.0, 1.0), t.tensor([0.0, 2.0], dtype=t.float64)
    y = x / n
    y.masked_fill_(n == 0, 0.0)
    y.sum().backward()
    return [y, x.grad]


@programs
def square_root_at_zero(t):
    x = leaf(t, 0.0, 4.0)
    x.sqrt().sum().backward()
    return x.grad


@programs
def logarithm_at_zero(t):
    x = leaf(t, 0.0, -1.0)
    y = x.log()
    y.sum().backward()
    return [y, x.grad]


@programs
def a_nan_that_the_next_node_keeps(t):
    x = leaf(t, 0.0)
    (x.sqrt() * 0).backward()
    return x.grad


@programs
def a_nan_that_a_later_node_discards(t):
    x = leaf(t, 0.0, 1.0)
    (x / x)[1].backward()
    return x.grad


@programs
def overflow_in_half_precision(t):
    x = leaf(t, 200.0, 2.0, dtype=t.float16)
    y = x * x * x
    y.sum().backward()
    return [y.detach(), x.grad]


@programs
def powers_at_zero(t):
    seen = []
    for exponent in (0, 1, 2, 0.5, -1):
        x = leaf(t, 0.0, 2.0)
        (x**exponent).sum().backward()
        seen.append(x.grad)
    return seen


# ----- no gradient -----


@programs
def another_dtype_rebound_to_the_same_name(t):
    x = leaf(t, 1.0)
    original = x
    x = x.to(t.float32)
    (x * 2).backward()
    return [original.grad, x.is_leaf]


@programs
def a_detached_copy_made_to_require_grad(t):
    w = leaf(t, 2.0)
    y = (w * 3).detach()
    y.requires_grad = True
    (y * y).backward()
    return [w.grad, y.grad]


@programs
def a_detached_loss(t):
    w = leaf(t, 2.0)
    return [error_of((w * 3).detach().backward), error_of(t.tensor((w * 3).item()).backward)]


@programs
def integers_in_the_chain(t):
    w = leaf(t, 2.5, 1.5)
    return [
        error_of(w.long().sum().backward),
        error_of((w > 2).sum().backward),
        w.argmax(),
        error_of(w.argmax().backward),
    ]


@programs
def a_loss_computed_under_no_grad(t):
    w = leaf(t, 2.0)
    with t.no_grad():
        loss = w * 3
    return error_of(loss.backward)


@programs
def an_unused_and_a_frozen_parameter(t):
    used, unused, frozen = leaf(t, 1.0), leaf(t, 2.0), leaf(t, 3.0).requires_grad_(False)
    (used * frozen).backward()
    return [used.grad, unused.grad, frozen.grad]


# ----- higher order, memory -----


@programs
def the_gradient_of_a_constant_gradient(t):
    x = leaf(t, 3.0)
    (g,) = t.autograd.grad(2 * x, x, create_graph=True)
    return [g, error_of(t.autograd.grad, g, x)]


@programs
def losses_added_up_over_steps(t):
    w, total = leaf(t, 0.5), 0
    for i in range(50):
        total = total + (w * i) ** 2
    total.backward()
    return w.grad


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
