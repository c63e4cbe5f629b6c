"""``grad`` and ``grad_dtype``: what may be assigned, and in which dtype gradients arrive."""

import copy

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

torch = pytest.importorskip("torch")
programs = Programs()


def assign(x, value):
    return error_of(setattr, x, "grad", value)


def wanting(t, dtype):
    x = leaf(t, 1.0, 2.0, dtype=t.float32)
    x.grad_dtype = dtype
    return x


def kind(t, dtype):
    return None if dtype is None else str(dtype).removeprefix("torch.")


@programs
def what_is_no_gradient(t):
    x = leaf(t, 1.0, 2.0)
    wrong = [3, "a", [1.0], t.ones(3, dtype=t.float64), t.ones(2), t.ones(2, dtype=t.complex64), x]
    return [assign(x, v) for v in wrong]


@programs
def names_of_dtypes(t):
    x = wanting(t, t.float16)
    names = ["bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128"]
    return [assign(x, t.ones(2, dtype=getattr(t, n))) for n in names]


@programs
def a_gradient_is_kept_as_it_is(t):
    x, g = leaf(t, 1.0), t.ones(1, dtype=t.float64)
    x.grad = g
    same_object = x.grad is g
    (x * 2).sum().backward()
    x_grad = x.grad.clone()
    del x.grad
    return [same_object, x_grad, x.grad]


@programs
def a_non_leaf_takes_its_own_dtype_only(t):
    y = leaf(t, 1.0) * 2
    return [assign(y, t.ones(1)), assign(y, t.ones(1, dtype=t.float64))]


@programs
def grad_dtype_by_default(t):
    x, n = leaf(t, 1.0), t.ones(2, dtype=t.int64)
    y = x * 2
    return [
        kind(t, x.grad_dtype), kind(t, n.grad_dtype), error_of(lambda: y.grad_dtype), error_of(setattr, y, "grad_dtype", t.float32),
    ]  # fmt: skip


@programs
def gradients_arrive_in_it(t):
    seen = []
    for dtype in (t.float64, t.float16, None):
        x = wanting(t, dtype)
        for _ in range(2):
            (x * 3).sum().backward()
            seen.append(x.grad.clone())
        seen.append(kind(t, x.grad_dtype))
    return seen


@programs
def it_may_be_set_after_the_graph_was_built(t):
    x = leaf(t, 1.0, dtype=t.float32)
    y = x * 2
    x.grad_dtype = t.float64
    y.sum().backward()
    return x.grad


@programs
def hooks_and_captures_see_it(t):
    x, seen = wanting(t, t.float64), []
    x.register_hook(lambda g: seen.append(kind(t, g.dtype)))
    (x * 2).sum().backward()
    (g,) = t.autograd.grad((x * 2).sum(), x)
    (h,) = t.autograd.grad((x * x).sum(), x, create_graph=True)
    return [seen, g, kind(t, h.dtype), x.grad]


@programs
def it_does_not_contradict_the_gradient_that_is_there(t):
    x = leaf(t, 1.0, dtype=t.float32)
    x.grad = t.ones(1)
    return [
        error_of(setattr, x, "grad_dtype", t.float64),
        error_of(setattr, x, "grad_dtype", t.float32),
        error_of(setattr, x, "grad_dtype", None),
    ]


@programs
def it_is_checked(t):
    x = leaf(t, 1.0)
    return [error_of(setattr, x, "grad_dtype", "float32"), error_of(setattr, x, "grad_dtype", 3)]


@programs
def assigning_follows_it(t):
    any_dtype, double = wanting(t, None), wanting(t, t.float64)
    return [
        assign(any_dtype, t.ones(2, dtype=t.float16)),
        assign(double, t.ones(2)),
        assign(double, t.ones(2, dtype=t.float64)),
    ]


@programs
def copies_do_not_have_it(t):
    x = wanting(t, t.float64)
    return [kind(t, c.grad_dtype) for c in (copy.copy(x), copy.deepcopy(x), x.detach(), x.requires_grad_(False))]


@programs
def by_its_inner_name(t):
    x, y = leaf(t, 1.0, 2.0), leaf(t, 1.0, 2.0) * 1
    wrong = [3, "a", [1.0], t.ones(3, dtype=t.float64), t.ones(2), t.ones(2, dtype=t.complex64), (x,)]
    seen = [error_of(setattr, to, "_grad", v) for to in (x, y) for v in wrong] + [error_of(setattr, x, "_grad", x)]
    x._grad = t.ones(2, dtype=t.float64)
    seen += [x.grad.tolist(), x._grad is x.grad]
    del x._grad
    return [seen, x.grad, x._grad, y._grad]


@programs
def several_leaves_in_one_pass(t):
    x, y = wanting(t, t.float64), leaf(t, 1.0, 2.0, dtype=t.float32)
    (x * y).sum().backward()
    return [x.grad, y.grad]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
