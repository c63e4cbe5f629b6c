"""What nodes save, and the checks when they need it: PyTorch and the engine do the same, the error texts included."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same, versions

pytest.importorskip("torch")
programs = Programs()


def written(t, make, write=lambda y: y.mul_(2)):
    """The error of backward after ``y = make(x)`` was used and then written."""
    x = leaf(t, 1.0, 2.0, 4.0)
    y = make(x)
    used = y * y
    write(y)
    return error_of(used.sum().backward)


@programs
def a_saved_input_is_written(t):
    return [
        written(t, lambda x: x * 2),
        written(t, lambda x: x.exp()),
        written(t, lambda x: x + 1),
        written(t, lambda x: x.sum(0, keepdim=True)),
        written(t, lambda x: x.unsqueeze(0) @ x.unsqueeze(1)),
        written(t, lambda x: t.cat([x, x])),
        written(t, lambda x: x[t.tensor([0, 1])]),
        written(t, lambda x: x.clone().zero_().add_(x)),
    ]


@programs
def the_error_names_dtype_and_shape(t):
    seen = []
    for dtype in (t.float32, t.float64, t.float16):
        for shape in ((), (3,), (2, 3), (0,)):
            x = t.ones(shape, dtype=dtype, requires_grad=True)
            y = x * 2
            z = y * y
            y.add_(1)
            seen.append(error_of(z.sum().backward))
    return seen


@programs
def the_error_names_the_last_node_of_the_written_tensor(t):
    writes = [
        lambda y: y.add_(1),
        lambda y: y.zero_(),
        lambda y: y.copy_(y.detach() * 3),
        lambda y: y[0].mul_(3),
        lambda y: y.view(3, 1)[1:].zero_(),
        lambda y: y.detach().mul_(3),
        lambda y: y.__setitem__(0, 1.0),
        lambda y: y.__setitem__(y > 1, 1.0),
    ]
    return [written(t, lambda x: x.exp(), w) for w in writes]


@programs
def the_error_names_the_op_with_its_variant(t):
    makes = [
        lambda x: x.mean(0, keepdim=True), lambda x: x.sum(0, keepdim=True), lambda x: x**x, lambda x: 2.0**x, lambda x: x**2,
        lambda x: t.zeros(3, dtype=t.float64).copy_(x), lambda x: x.log_softmax(0), lambda x: x.clone().masked_fill_(x > 1, 5.0),
    ]  # fmt: skip
    return [written(t, make, lambda y: quietly(t, y)) for make in makes]


def quietly(t, y):
    """A write that leaves the history alone."""
    with t.no_grad():
        y.mul_(2)


@programs
def a_saved_view_is_written(t):
    writes = [
        lambda v: v.add_(1),
        lambda v: v._base.add_(1),
        lambda v: v._base[0].add_(1),
        lambda v: v._base[-1:].zero_(),
    ]
    return [written(t, lambda x: (x * 2)[1:], w) for w in writes]


@programs
def a_saved_leaf_is_written_under_no_grad(t):
    x = leaf(t, 1.0, 2.0)
    z = x * x
    with t.no_grad():
        x.add_(1)
    return error_of(z.sum().backward)


@programs
def a_saved_leaf_without_requires_grad_is_written(t):
    x, c = leaf(t, 1.0, 2.0), t.ones(2, dtype=t.float64)
    z = x * c
    c.add_(1)
    return error_of(z.sum().backward)


@programs
def a_saved_view_of_a_plain_tensor_is_written(t):
    x, c = leaf(t, 1.0, 2.0), t.ones(3, dtype=t.float64)
    z = x * c[1:]
    c[0] = 7
    return error_of(z.sum().backward)


@programs
def a_saved_result_is_written(t):
    seen = []
    for op in ("exp", "sqrt", "tanh", "sigmoid", "rsqrt", "reciprocal", "relu", "expm1"):
        x = leaf(t, 1.0, 2.0)
        y = getattr(x, op)()
        y.mul_(2)
        seen.append([error_of(y.sum().backward), x.grad])
    return seen


@programs
def a_saved_result_is_written_through_a_view(t):
    x = leaf(t, 1.0, 2.0)
    y = x.exp()
    y[0] = 5
    return error_of(y.sum().backward)


@programs
def a_saved_result_of_a_softmax_is_written(t):
    x = leaf(t, 1.0, 2.0)
    y = x.softmax(0)
    y += 1
    return error_of(y.sum().backward)


@programs
def a_result_that_is_not_needed_may_be_written(t):
    seen = []
    for op in ("log", "sin", "cos", "abs", "neg"):
        x = leaf(t, 1.0, 2.0)
        y = getattr(x, op)()
        y.mul_(2)
        y.sum().backward()
        seen.append(x.grad)
    return seen


@programs
def versions_count_from_the_time_of_saving(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 1
    y.add_(1)
    y.add_(1)
    z = y * y
    ok = z.sum().backward(retain_graph=True)
    y.add_(1)
    y.add_(1)
    return [ok, versions(y), error_of(z.sum().backward), x.grad]


@programs
def saved_by_two_at_different_versions(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 1
    early = y * y
    y.add_(1)
    late = y * y
    return [late.sum().backward(retain_graph=True), x.grad, error_of(early.sum().backward)]


@programs
def in_place_op_on_its_own_saved_result_is_fine(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 1
    y.exp_()
    y.sum().backward(retain_graph=True)
    y.add_(1)
    return [x.grad, error_of(y.sum().backward)]


@programs
def in_place_op_keeps_the_old_input_for_itself(t):
    x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
    y = x * 1
    y.mul_(w)
    y.mul_(w)
    y.sum().backward()
    return [x.grad, w.grad]


@programs
def only_what_is_needed_is_saved(t):
    x, c = leaf(t, 1.0, 2.0), t.ones(2, dtype=t.float64)
    y = x * c  # needs c, not x
    with t.no_grad():
        x.add_(5)
    y.sum().backward()
    return x.grad


@programs
def a_number_operand_saves_nothing(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 1
    z = y * 3 + y / 2 - y
    y.mul_(100)
    z.sum().backward()
    return x.grad


@programs
def the_exponent_is_saved(t):
    x, e = leaf(t, 2.0, 3.0), t.tensor([2.0, 3.0], dtype=t.float64)
    y = x**e
    e += 1
    return error_of(y.sum().backward)


@programs
def matrix_products_save_their_operands(t):
    seen = []
    for who in (0, 1):
        a, b = t.ones(2, 3, requires_grad=True), t.ones(3, 2, requires_grad=True)
        pair = [a * 1, b * 1]
        z = pair[0] @ pair[1]
        pair[who].add_(1)
        seen.append(error_of(z.sum().backward))
    return seen


@programs
def a_mask_is_saved(t):
    x = leaf(t, 1.0, 2.0)
    mask = x > 1.5
    y = t.where(mask, x * 2, x * 3)
    mask.fill_(True)
    return error_of(y.sum().backward)


@programs
def an_index_is_saved(t):
    x, i = leaf(t, 1.0, 2.0), t.tensor([0, 1])
    y = x.gather(0, i)
    i.zero_()
    return error_of(y.sum().backward)


@programs
def saved_tensors_of_a_freed_graph(t):
    x = leaf(t, 1.0, 2.0)
    y = (x.exp() * x).sum()
    y.backward()
    return [error_of(y.backward), error_of(t.autograd.grad, y, x)]


@programs
def reading_a_saved_tensor(t):
    x = leaf(t, 1.0, 2.0)
    y = x * x
    z = y.exp()
    seen = [y.grad_fn._saved_self is x, z.grad_fn._saved_result]
    z.sum().backward()
    return [seen, error_of(lambda: y.grad_fn._saved_self), error_of(lambda: z.grad_fn._saved_result)]


@programs
def reading_a_saved_tensor_that_was_written(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    z = y * y
    y.add_(1)
    return error_of(lambda: z.grad_fn._saved_self)


@programs
def reading_what_is_not_saved(t):
    x, c = leaf(t, 1.0, 2.0), t.ones(2, dtype=t.float64)
    return [error_of(lambda: (x * c).grad_fn._saved_nothing).kind, (x * c).grad_fn._saved_self]


@programs
def the_check_comes_before_the_freed_one(t):
    x = leaf(t, 1.0, 2.0)
    y = x.exp()
    z = y * y
    z.sum().backward()
    y.mul_(2)
    return [error_of(z.sum().backward)]


@programs
def a_graph_is_usable_again_when_a_write_is_undone_by_nobody(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    z = y * y
    y.add_(0)
    return [error_of(z.sum().backward), error_of(z.sum().backward), x.grad]


@programs
def a_failed_node_is_not_freed(t):
    x, w = leaf(t, 1.0), leaf(t, 2.0)
    y, v = x.exp(), w * 1
    loss = (v * v + y).sum()
    v.add_(1)
    first = error_of(loss.backward)
    return [first, error_of(loss.backward), x.grad, w.grad]


@programs
def create_graph_checks_too(t):
    x = leaf(t, 1.0, 2.0)
    y = x.exp()
    (g,) = t.autograd.grad((y * y).sum(), x, create_graph=True)
    y.mul_(2)
    return error_of(t.autograd.grad, g.sum(), x)


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
