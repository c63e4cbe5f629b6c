"""Leaves, accumulation into `.grad`, retain_graph, create_graph, several roots: PyTorch and the engine do the same."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, logged_warnings, same, unnamed

import agdbg_engine as ag

pytest.importorskip("torch")
programs = Programs()

# ----- leaves -----


@programs
def what_a_leaf_is(t):
    x = leaf(t, 1.0, 2.0)
    plain = t.tensor([1.0, 2.0])
    return [x, plain, x * 2, plain * 2, x.detach(), x.data, (x * 2).detach(), x.grad]


@programs
def requires_grad_is_for_floats_only(t):
    return [
        error_of(t.tensor, [1, 2], requires_grad=True),
        error_of(t.tensor([1, 2]).requires_grad_),
        error_of(t.tensor([True]).requires_grad_),
        t.tensor([1, 2]).requires_grad_(False),
    ]


@programs
def requires_grad_of_a_non_leaf(t):
    y = leaf(t, 1.0) * 2
    return [y.requires_grad_(), error_of(y.requires_grad_, False)]


@programs
def requires_grad_by_assignment(t):
    x = t.tensor([1.0])
    x.requires_grad = True
    y = x * 2
    y.sum().backward()
    before = [x, x.grad]
    x.requires_grad = False
    return [*before, x, x * 2]


@programs
def requires_grad_assigned_to_a_non_leaf(t):
    y = leaf(t, 1.0) * 2

    def switch_off():
        y.requires_grad = False

    return error_of(switch_off)


@programs
def a_leaf_switched_off_after_use_still_gets_its_gradient(t):
    x = leaf(t, 1.0)
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    return [x, x.grad]


@programs
def is_leaf_of_results_under_no_grad(t):
    x = leaf(t, 1.0)
    with t.no_grad():
        y = x * 2
    y.requires_grad_()
    (y * 3).sum().backward()
    return [x.grad, y, y.grad]


@programs
def backward_from_a_leaf(t):
    x = leaf(t, 3.0)
    x.backward()
    x.backward()
    return [x.grad]


@programs
def backward_from_a_leaf_with_a_gradient(t):
    x = leaf(t, 3.0, 4.0)
    seed = t.tensor([1.0, 2.0], dtype=t.float64)
    x.backward(seed)
    seed.mul_(10)
    return [x.grad, seed]


# ----- .grad -----


@programs
def gradients_accumulate(t):
    x = leaf(t, 1.0, 2.0)
    (x * x).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    return [x.grad, first, first is x.grad]


@programs
def grad_is_set_to_none_between(t):
    x = leaf(t, 1.0, 2.0)
    (x * x).sum().backward()
    x.grad = None
    (x * 3).sum().backward()
    return x.grad


@programs
def grad_is_deleted(t):
    x = leaf(t, 1.0)
    x.sum().backward()
    del x.grad
    return x.grad


@programs
def grad_is_zeroed_between(t):
    x = leaf(t, 1.0, 2.0)
    (x * x).sum().backward()
    x.grad.zero_()
    (x * 3).sum().backward()
    return x.grad


@programs
def grad_is_assigned(t):
    x = leaf(t, 1.0, 2.0)
    mine = t.tensor([10.0, 20.0], dtype=t.float64)
    x.grad = mine
    (x * 3).sum().backward()
    return [x.grad, mine, x.grad is mine]


@programs
def grad_assignment_checks(t):
    x = leaf(t, 1.0, 2.0)

    def assign(value):
        def do():
            x.grad = value

        return do

    values = [t.ones(3, dtype=t.float64), t.ones(2, dtype=t.float32), x, 3, "x"]
    return [error_of(assign(v)) for v in values] + [x.grad]


@programs
def grad_of_a_non_leaf_warns(t):
    x = leaf(t, 1.0)
    y = x * 2
    y.sum().backward()
    with logged_warnings() as said:
        seen = y.grad
    return [seen, [s[:60] for s in said]]


@programs
def grad_of_a_leaf_without_requires_grad(t):
    with logged_warnings() as said:
        seen = t.tensor([1.0]).grad
    return [seen, said]


@programs
def grad_keeps_dtype_float32(t):
    x = leaf(t, 1.0, 2.0, dtype=t.float32)
    (x * x).sum().backward()
    return x.grad


@programs
def grad_of_mixed_dtypes(t):
    x = leaf(t, 1.0, 2.0, dtype=t.float32)
    y = leaf(t, 3.0, 4.0)
    (x * y).sum().backward()
    return [x.grad, y.grad]


@programs
def grad_of_a_broadcast_operand(t):
    x, y = leaf(t, 1.0, 2.0, 3.0), leaf(t, 5.0)
    (x * y + y).sum().backward()
    return [x.grad, y.grad]


@programs
def same_tensor_as_both_operands(t):
    x = leaf(t, 3.0)
    (x * x + x / x - x).backward()
    return x.grad


@programs
def a_plain_backward_after_create_graph_adds_in_place(t):
    x = leaf(t, 2.0)
    (x * x * x).backward(create_graph=True)
    first = x.grad
    (x * 5).backward()
    return [unnamed(x.grad), x.grad is first]


@programs
def create_graph_after_a_plain_backward_makes_a_new_grad(t):
    x = leaf(t, 2.0)
    (x * 5).backward()
    first = x.grad
    (x * x * x).backward(create_graph=True)
    return [x.grad, x.grad is first, first]


@programs
def accumulation_is_a_write_that_counts(t):
    x = leaf(t, 2.0)
    (x * 5).backward()
    g = x.grad
    y = leaf(t, 3.0)
    product = y * g
    (x * 7).backward()
    return [g, error_of(product.backward), y.grad]


@programs
def an_expanded_grad_is_not_added_to(t):
    x = leaf(t, 2.0, 3.0)
    x.grad = t.ones(1, dtype=t.float64).expand(2)
    return [error_of((x * x).sum().backward), x.grad]


@programs
def a_complex_root(t):
    x = t.tensor([1 + 2j], requires_grad=True)
    return [error_of((x * 2).backward), error_of((x * 2).sum().backward)]


@programs
def a_detached_twin_of_grad_sees_the_accumulation(t):
    x = leaf(t, 2.0)
    (x * 5).backward()
    twin = x.grad.detach()
    (x * 7).backward()
    return [twin, x.grad]


# ----- retain_graph -----


@programs
def retained_twice(t):
    x = leaf(t, 2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    return [x.grad, error_of(y.backward)]


@programs
def freed_by_the_first_call(t):
    x = leaf(t, 2.0)
    y = (x * x).exp()
    y.backward()
    return [error_of(y.backward), error_of(y.backward, retain_graph=True), x.grad]


@programs
def nothing_saved_may_go_twice(t):
    x = leaf(t, 2.0, 3.0)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    return x.grad


@programs
def retain_graph_false_with_create_graph(t):
    x = leaf(t, 2.0)
    y = x * x * x
    y.backward(retain_graph=False, create_graph=True)
    return [unnamed(x.grad), error_of(y.backward)]


@programs
def a_gradient_made_with_create_graph_outlives_the_freed_graph(t):
    x = leaf(t, 2.0)
    (g,) = t.autograd.grad(x * x * x, x, create_graph=True)
    (h,) = t.autograd.grad(g, x)
    return [g, h, error_of(t.autograd.grad, g, x)]


@programs
def half_of_a_shared_graph_is_freed(t):
    x = leaf(t, 2.0)
    shared = x.exp()
    a, b = shared * 2, shared * shared
    a.backward()
    return [error_of(b.backward), x.grad]


@programs
def a_failed_pass_leaves_what_was_accumulated(t):
    x, z = leaf(t, 2.0), leaf(t, 5.0)
    shared = x.exp()
    shared.sum().backward()
    loss = (z * 3).sum() + shared.sum()
    return [error_of(loss.backward), z.grad, x.grad]


# ----- create_graph -----


@programs
def second_and_third_derivative(t):
    x = leaf(t, 2.0)
    y = x**4
    (g,) = t.autograd.grad(y, x, create_graph=True)
    (h,) = t.autograd.grad(g, x, create_graph=True)
    (k,) = t.autograd.grad(h, x)
    return [g, h, k]


@programs
def gradient_penalty(t):
    x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
    (g,) = t.autograd.grad((x * x * w).sum(), x, create_graph=True)
    (g * g).sum().backward()
    return [x.grad, w.grad]


@programs
def create_graph_through_every_kind_of_save(t):
    x = leaf(t, 0.5, 0.7)
    y = (x.exp() * x.sin() / x.sqrt() + x.tanh().log()).sum()
    (g,) = t.autograd.grad(y, x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x, create_graph=True)
    (k,) = t.autograd.grad(h.sum(), x)
    return [h, k]


@programs
def the_derivative_of_a_constant_gradient(t):
    x = leaf(t, 2.0)
    (g,) = t.autograd.grad(x * 2, x, create_graph=True)
    return [g, error_of(t.autograd.grad, g, x)]


@programs
def create_graph_gradients_share_no_history_with_plain_ones(t):
    x = leaf(t, 2.0)
    y = x * x
    (plain,) = t.autograd.grad(y, x, retain_graph=True)
    (recorded,) = t.autograd.grad(y, x, create_graph=True)
    return [plain, recorded]


@programs
def create_graph_with_a_seed_that_requires_grad(t):
    x, v = leaf(t, 2.0, 3.0), leaf(t, 1.0, 1.0)
    (g,) = t.autograd.grad(x * x, x, v, create_graph=True)
    (r,) = t.autograd.grad(g, v, t.tensor([1.0, 10.0], dtype=t.float64))
    return [g, r]


@programs
def create_graph_of_a_backward_that_sums_branches(t):
    x = leaf(t, 2.0)
    (x * x + x.exp() + x * 3).backward(create_graph=True)
    g = x.grad
    x.grad = None
    g.backward()
    return [unnamed(g), x.grad]


@programs
def create_graph_with_a_broadcast(t):
    x, y = leaf(t, 1.0, 2.0), leaf(t, 3.0)
    gs = t.autograd.grad((x * y * y).sum(), [x, y], create_graph=True)
    hs = t.autograd.grad(gs[1], [x, y])
    return [[unnamed(g) for g in gs], hs]


@programs
def grad_mode_inside_create_graph_hooks(t):
    x, seen = leaf(t, 2.0), []
    y = x * x
    y.register_hook(lambda g: seen.append(t.is_grad_enabled()))
    y.backward(retain_graph=True)
    y.backward(create_graph=True)
    return [seen, t.is_grad_enabled()]


# ----- roots -----


@programs
def no_gradient_to_give(t):
    x = t.tensor([1.0])
    y = x * 2
    return [error_of(y.backward), error_of(t.tensor([1.0, 2.0]).backward), error_of(y.detach().sum().backward)]


@programs
def a_vector_root_needs_a_gradient(t):
    x = leaf(t, 1.0, 2.0)
    return [error_of((x * 2).backward), x.grad]


@programs
def a_one_element_root_of_any_shape(t):
    x = t.ones(1, 1, dtype=t.float64, requires_grad=True)
    (x * 3).backward()
    return x.grad


@programs
def root_gradient_of_a_wrong_shape(t):
    x = leaf(t, 1.0, 2.0)
    return [
        error_of((x * 2).backward, t.ones(3, dtype=t.float64)),
        error_of((x * 2).backward, t.ones(1, 2, dtype=t.float64)),
        error_of((x * 2).sum().backward, t.ones(1, dtype=t.float64)),
    ]


@programs
def root_gradient_that_is_no_tensor(t):
    x = leaf(t, 1.0, 2.0)
    return [error_of((x * 2).backward, 3.0), error_of(t.autograd.backward, [x * 2], [3.0])]


@programs
def root_gradient_of_another_dtype(t):
    x = leaf(t, 1.0, 2.0)
    (x * 2).backward(t.ones(2, dtype=t.float32))
    return x.grad


@programs
def several_roots(t):
    x = leaf(t, 2.0)
    y, z = x * x, x * 3
    t.autograd.backward([y, z])
    return x.grad


@programs
def several_roots_with_gradients(t):
    x = leaf(t, 2.0, 3.0)
    seeds = [t.tensor([1.0, 2.0], dtype=t.float64), None]
    t.autograd.backward([x * x, (x * 3).sum()], seeds)
    return x.grad


@programs
def the_same_root_twice(t):
    x = leaf(t, 2.0)
    y = x * x
    t.autograd.backward([y, y])
    return x.grad


@programs
def a_root_below_another_root(t):
    x = leaf(t, 2.0)
    y = x * x
    z = y.exp()
    t.autograd.backward([y, z])
    return x.grad


@programs
def a_leaf_among_the_roots(t):
    x = leaf(t, 2.0)
    t.autograd.backward([x, x * x])
    return x.grad


@programs
def one_of_the_roots_has_no_history(t):
    x = leaf(t, 2.0)
    return [error_of(t.autograd.backward, [x * x, t.tensor(1.0)]), x.grad]


@programs
def counts_of_roots_and_gradients_differ(t):
    x = leaf(t, 2.0)
    return error_of(t.autograd.backward, [x * x, x * 3], [t.ones(1, dtype=t.float64)])


@programs
def no_roots_at_all(t):
    return error_of(t.autograd.backward, [])


@programs
def an_integer_root(t):
    return error_of(t.tensor(3).backward)


@programs
def a_root_that_is_one_output_of_many(t):
    x = leaf(t, 2.0, 3.0, 4.0)
    rows = (x * x).unbind(0)
    rows[1].backward(retain_graph=True)
    rows[2].backward()
    return [x.grad, rows[1].output_nr, rows[2].output_nr]


@programs
def two_outputs_of_one_node_as_roots(t):
    x = leaf(t, 2.0, 3.0, 4.0)
    rows = (x * x).unbind(0)
    t.autograd.backward([rows[0], rows[2]])
    return x.grad


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


@pytest.mark.parametrize("shape", [(2, 2), (2,), (1, 2)])
def test_a_bias_has_a_gradient_of_its_own(shape):
    bias, other = (ag.ones(*s, requires_grad=True) for s in (shape, (2, 2)))
    for y in (ag.addmm(bias, ag.ones(2, 2), ag.ones(2, 2)) + other, bias + other):
        bias.grad = other.grad = None
        given = ag.ones(2, 2)
        y.backward(given)
        bias.grad += 1
        assert other.grad.tolist() == given.tolist() == [[1.0, 1.0]] * 2
