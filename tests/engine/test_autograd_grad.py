"""`autograd.grad` and `backward(inputs=)`: PyTorch and the engine do the same."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, running_order, same, unnamed

pytest.importorskip("torch")
programs = Programs()

# ----- grad -----


@programs
def grad_returns_and_accumulates_nothing(t):
    x, y = leaf(t, 2.0), leaf(t, 3.0)
    return [t.autograd.grad(x * y * y, [x, y]), x.grad, y.grad]


@programs
def grad_of_one_tensor_is_a_tuple(t):
    x = leaf(t, 2.0)
    gs = t.autograd.grad(x * x, x)
    return [type(gs).__name__, gs]


@programs
def grad_of_an_intermediate(t):
    x = leaf(t, 2.0)
    y = x * 3
    return t.autograd.grad(y * y, y)


@programs
def grad_of_intermediate_and_leaf_together(t):
    x = leaf(t, 2.0)
    y = x * 3
    return t.autograd.grad(y * y, [x, y, x])


@programs
def grad_of_the_output_itself(t):
    x = leaf(t, 2.0)
    y = x * 3
    return t.autograd.grad(y, y)


@programs
def grad_of_the_output_itself_and_what_is_below(t):
    x = leaf(t, 2.0)
    y = x * 3
    return t.autograd.grad(y, [y, x])


@programs
def grad_of_a_leaf_with_itself(t):
    x = leaf(t, 2.0)
    return t.autograd.grad(x, x)


@programs
def grad_of_unused_inputs(t):
    x, z = leaf(t, 2.0), leaf(t, 3.0)
    return [
        error_of(t.autograd.grad, x * x, [x, z]),
        error_of(t.autograd.grad, x * x, [z]),
        t.autograd.grad(x * x, [x, z], allow_unused=True),
        t.autograd.grad(x * x, [z, x], materialize_grads=True),
        error_of(t.autograd.grad, x * x, [x, z], allow_unused=False, materialize_grads=True),
    ]


@programs
def grad_of_an_input_made_after_the_output(t):
    x = leaf(t, 2.0)
    y = x * x
    z = x * 5
    return [error_of(t.autograd.grad, y, z), t.autograd.grad(y, [x, z], allow_unused=True)]


@programs
def grad_of_an_input_that_needs_none(t):
    x, c = leaf(t, 2.0), t.tensor([3.0], dtype=t.float64)
    return [error_of(t.autograd.grad, x * c, c), error_of(t.autograd.grad, x * c, [x, c], allow_unused=True)]


@programs
def grad_of_an_output_that_needs_none(t):
    x, c = leaf(t, 2.0), t.tensor([3.0], dtype=t.float64)
    return error_of(t.autograd.grad, c * c, x)


@programs
def grad_outputs(t):
    x = leaf(t, 2.0, 3.0)
    v = t.tensor([1.0, 10.0], dtype=t.float64)
    return [t.autograd.grad(x * x, x, v), t.autograd.grad([x * x, (x * 2).sum()], x, [v, None])]


@programs
def grad_outputs_missing_or_of_a_wrong_shape(t):
    x = leaf(t, 2.0, 3.0)
    return [
        error_of(t.autograd.grad, x * x, x),
        error_of(t.autograd.grad, x * x, x, t.ones(3, dtype=t.float64)),
        error_of(t.autograd.grad, [x * x, x * 2], x, [t.ones(2, dtype=t.float64)]),
    ]


@programs
def several_outputs_are_summed(t):
    x = leaf(t, 2.0)
    return t.autograd.grad([x * x, x * 3, x.exp()], x)


@programs
def the_same_input_twice(t):
    x = leaf(t, 2.0)
    return t.autograd.grad(x * x, [x, x])


@programs
def grad_runs_only_what_is_needed(t):
    x, z = leaf(t, 2.0), leaf(t, 3.0)
    y = x * 3
    loss = y * y + z.exp()
    log = running_order(loss)
    t.autograd.grad(loss, y)
    return log


@programs
def grad_frees_what_it_ran(t):
    x, z = leaf(t, 2.0), leaf(t, 3.0)
    loss = (x * x).sum() + (z * z).sum()
    t.autograd.grad(loss, x)
    return [error_of(t.autograd.grad, loss, x), t.autograd.grad(loss, z), z.grad]


@programs
def grad_then_backward(t):
    x = leaf(t, 2.0)
    y = (x * x).exp()
    g = t.autograd.grad(y, x)
    return [g, error_of(y.backward), x.grad]


@programs
def grad_with_retain_graph_then_backward(t):
    x = leaf(t, 2.0)
    y = (x * x).exp()
    g = t.autograd.grad(y, x, retain_graph=True)
    y.backward()
    return [g, x.grad]


@programs
def grad_through_a_diamond(t):
    x = leaf(t, 2.0)
    a = x.exp()
    b, c = a * 2, a.sin()
    return t.autograd.grad(b * c, [a, b, c, x])


@programs
def grad_with_respect_to_one_output_of_many(t):
    x = leaf(t, 2.0, 3.0, 4.0)
    rows = (x * x).unbind(0)
    loss = rows[0] * rows[2]
    return t.autograd.grad(loss, [rows[2], rows[1], x], allow_unused=True)


@programs
def grad_under_no_grad(t):
    x = leaf(t, 2.0)
    y = x * x
    with t.no_grad():
        g = t.autograd.grad(y, x, create_graph=True)
    return [unnamed(g[0])]


@programs
def grad_outputs_of_another_dtype(t):
    x = leaf(t, 2.0, 3.0)
    return t.autograd.grad(x * x, x, t.ones(2, dtype=t.float32))


@programs
def grad_of_a_leaf_fires_its_hooks_but_accumulates_nothing(t):
    x, seen = leaf(t, 2.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    g = t.autograd.grad(x * x, x)
    return [g, seen, x.grad]


@programs
def grad_sees_the_gradient_that_a_hook_put_in_place(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    return t.autograd.grad(y * y, [y, x])


@programs
def create_graph_results(t):
    x, y = leaf(t, 2.0), leaf(t, 3.0)
    gs = t.autograd.grad(x * x * y, [x, y], create_graph=True)
    return [[unnamed(g) for g in gs], t.autograd.grad(gs[0], [x, y])]


@programs
def create_graph_of_what_is_linear(t):
    x = leaf(t, 2.0)
    (g,) = t.autograd.grad(x * 3, x, create_graph=True)
    return [g]


@programs
def materialized_gradients_are_zeros_of_the_input(t):
    x, z = leaf(t, 2.0), t.zeros(2, 3, dtype=t.float32, requires_grad=True)
    return t.autograd.grad(x * x, [z], materialize_grads=True)


@programs
def materialized_gradients_with_create_graph(t):
    x, z = leaf(t, 2.0), leaf(t, 3.0, 4.0)
    return t.autograd.grad(x * x, [z], materialize_grads=True, create_graph=True)


@programs
def allow_unused_on_a_disconnected_graph_runs_nothing(t):
    x, z = leaf(t, 2.0), leaf(t, 3.0)
    y = x * x
    log = running_order(y)
    return [t.autograd.grad(y, z, allow_unused=True), log, t.autograd.grad(y, x)]


@programs
def grad_of_nothing(t):
    x = leaf(t, 2.0)
    return [error_of(t.autograd.grad, x * x, [])]


# ----- backward(inputs=) -----


@programs
def backward_into_some_leaves_only(t):
    x, y = leaf(t, 2.0), leaf(t, 3.0)
    (x * y).backward(inputs=[x])
    return [x.grad, y.grad]


@programs
def backward_into_one_leaf_given_bare(t):
    x, y = leaf(t, 2.0), leaf(t, 3.0)
    (x * y).backward(inputs=x)
    return [x.grad, y.grad]


@programs
def backward_into_inputs_accumulates(t):
    x = leaf(t, 2.0)
    (x * x).backward(inputs=[x])
    first = x.grad
    (x * 3).backward(inputs=[x])
    return [x.grad, first is x.grad]


@programs
def backward_into_an_intermediate(t):
    x = leaf(t, 2.0)
    y = x * 3
    (y * y).backward(inputs=[y])
    return [y.grad, x.grad, y.retains_grad]


@programs
def backward_into_intermediate_and_leaf(t):
    x = leaf(t, 2.0)
    y = x * 3
    (y * y).backward(inputs=[y, x])
    return [y.grad, x.grad]


@programs
def backward_into_an_intermediate_twice(t):
    x = leaf(t, 2.0)
    y = x * 3
    z = y * y
    z.backward(inputs=[y], retain_graph=True)
    z.backward(inputs=[y])
    return [y.grad]


@programs
def backward_into_unused_inputs(t):
    x, z = leaf(t, 2.0), leaf(t, 3.0)
    (x * x).backward(inputs=[z])
    return [x.grad, z.grad]


@programs
def backward_into_no_inputs(t):
    x = leaf(t, 2.0)
    return [error_of((x * x).backward, inputs=[]), error_of(t.autograd.backward, [x * x], inputs=[])]


@programs
def backward_into_an_input_that_needs_none(t):
    x, c = leaf(t, 2.0), t.tensor([3.0], dtype=t.float64)
    return error_of((x * c).backward, inputs=[c])


@programs
def backward_into_inputs_with_create_graph(t):
    x, y = leaf(t, 2.0), leaf(t, 3.0)
    (x * x * y).backward(inputs=[x], create_graph=True)
    return [unnamed(x.grad), t.autograd.grad(x.grad, [x, y])]


@programs
def backward_into_inputs_fires_leaf_hooks(t):
    x, y, seen = leaf(t, 2.0), leaf(t, 3.0), []
    x.register_hook(lambda g: seen.append(("x", g.item())))
    y.register_hook(lambda g: seen.append(("y", g.item())))
    (x * y).backward(inputs=[x])
    return [seen, x.grad, y.grad]


@programs
def backward_into_inputs_runs_only_what_is_needed(t):
    x, z = leaf(t, 2.0), leaf(t, 3.0)
    loss = (x * 3).exp() + z.exp()
    log = running_order(loss)
    loss.backward(inputs=[x])
    return log


@programs
def backward_into_the_root(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.backward(inputs=[y])
    return [y.grad, x.grad]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
