"""What a node may return: the checks on gradients of users, the layout of `.grad`, gradients that share nothing."""

import numpy as np
import pytest
from agdbg_tests_differential import Programs, leaf, raised, same

import agdbg_engine as ag
from agdbg_engine.errors import details_of
from agdbg_engine.layout import copied, dense, follows
from agdbg_engine.validate import InputMetadata, metadata_of, validate_outputs

torch = pytest.importorskip("torch", reason="the tests compare with it")
programs = Programs()


# ----- gradients that users return -----


def torch_outcome(grads, x, w):
    """What PyTorch makes of the gradients that a custom Function returns for ``x`` and ``w``."""

    class Mul(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            return x * w

        @staticmethod
        def backward(ctx, g):
            return grads

    try:
        Mul.apply(x, w).abs().sum().backward()
    except Exception as error:
        return raised(error)
    return [None if v.grad is None else (v.grad.numpy().tolist(), str(v.grad.dtype)) for v in (x, w)]


def our_outcome(grads, x, w):
    node = (x * w).grad_fn
    try:
        fitted = validate_outputs(node, grads, [metadata_of(x), metadata_of(w)], ["x", "w"])
    except Exception as error:
        return raised(error)
    return [None if g is None else (g._a.tolist(), f"torch.{g.dtype}") for g in fitted]


RETURNED = {
    "as they should be": lambda t: (t.ones(2), t.ones(2)),
    "none": lambda t: (None, t.ones(2)),
    "wrong shape": lambda t: (t.ones(2), t.ones(3)),
    "broadcasting forgotten": lambda t: (t.ones(3, 2), t.ones(4, 1, 2)),
    "too few elements": lambda t: (t.ones(1), t.ones(2)),
    "no dimension": lambda t: (t.ones(()), t.ones(2)),
    "another dtype": lambda t: (t.ones(2, dtype=t.float64), t.ones(2)),
    "integers": lambda t: (t.ones(2, dtype=t.int64), t.ones(2)),
    "bools": lambda t: (t.ones(2, dtype=t.bool), None),
    "complex": lambda t: (t.ones(2, dtype=t.complex64), t.ones(2)),
}


@pytest.mark.parametrize("name", RETURNED)
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_returned_gradients_are_made_to_fit_as_in_torch(name, dtype):
    def found(t, outcome):
        x, w = (t.ones(2, dtype=getattr(t, dtype), requires_grad=True) for _ in range(2))
        return outcome(RETURNED[name](t), x, w)

    theirs, ours = found(torch, torch_outcome), found(ag, our_outcome)
    if isinstance(ours, list):
        assert theirs == ours
    else:
        assert theirs.kind == ours.kind
        assert theirs.first_line.replace("MulBackward", "MulBackward0") == ours.first_line


def test_a_wrong_gradient_names_the_argument():
    x = ag.ones(2, requires_grad=True)
    node = (x * x).grad_fn
    with pytest.raises(RuntimeError, match=r"index 1 - got \[3\].*\n.*argument 'weight' of shape \[2\]") as caught:
        validate_outputs(node, [None, ag.ones(3)], [metadata_of(x), metadata_of(x)], ["input", "weight"])
    assert details_of(caught.value).node is node


def test_a_wrong_number_of_gradients():
    x = ag.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="returned an invalid number of gradients - expected 2, but got 1"):
        validate_outputs((x * x).grad_fn, [x], [metadata_of(x)] * 2)


def test_a_gradient_on_another_device():
    x = ag.ones(2, requires_grad=True)
    elsewhere = InputMetadata((2,), x.dtype, ag.device("cuda:0"))
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cuda:0 but got cpu"):
        validate_outputs((x * x).grad_fn, [ag.ones(2)], [elsewhere])


def test_edges_to_nowhere_take_anything():
    x = ag.ones(2, requires_grad=True)
    wrong = ag.ones(7)
    assert validate_outputs((x * x).grad_fn, [wrong, None], [None, metadata_of(x)]) == (wrong, None)


def test_fitting_is_recorded():
    x = ag.ones(2, requires_grad=True)
    g = ag.ones(3, 2, dtype=ag.float64, requires_grad=True)
    (fitted,) = validate_outputs((x * x).grad_fn, [g * 2], [metadata_of(x)])
    fitted.sum().backward()
    assert g.grad.tolist() == [[2, 2]] * 3


# ----- hooks -----


@programs
def a_hook_returns_another_shape(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: g.sum())
    y.sum().backward()
    return x.grad


@programs
def a_hook_returns_another_dtype(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: g.to(t.float32))
    y.sum().backward()
    return x.grad


# ----- what an unpack hook returned of another kind: a gradient for it goes to what was saved -----


def unpacked(t, unpack, op=lambda x: x * x, dtype="float32"):
    """A leaf, and what ``op`` makes of it with what it saved given back as ``unpack`` says."""
    x = t.tensor([1.0, 2.0], dtype=getattr(t, dtype), requires_grad=True)
    with t.autograd.graph.saved_tensors_hooks(lambda v: v, unpack):
        return x, op(x)


def every_order(t, unpack, op=lambda x: x * x, dtype="float32"):
    """Gradients of the first, second and third order, by ``grad`` and in ``.grad``; summed with others on their way."""
    x, y = unpacked(t, unpack, op, dtype)
    first = t.autograd.grad(y.sum(), x, create_graph=True)[0]
    second = t.autograd.grad((first * x + x * x).sum(), x, create_graph=True)[0]
    third = t.autograd.grad(second.sum(), x, retain_graph=True)[0]
    first.sum().backward()
    return [first.detach(), second.detach(), third, x.grad]


@programs
def gradients_of_what_was_unpacked_in_another_dtype(t):
    middle = {"leaf": lambda x: x * x, "node": lambda x: (x * 1).square(), "both": lambda x: x * (x * 2) * x}
    return [
        every_order(t, lambda v, to=to: v.to(getattr(t, to)), op, dtype)
        for op in middle.values()
        for dtype, to in (("float32", "float64"), ("float32", "float16"), ("float64", "float32"))
    ]


@programs
def gradients_of_what_was_packed_in_another_dtype(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with t.autograd.graph.saved_tensors_hooks(lambda v: v.half(), lambda v: v):
        y = x * x
    (first,) = t.autograd.grad(y.sum(), x, create_graph=True)
    first.sum().backward()
    return [first.detach(), x.grad]


@programs
def gradients_of_a_result_that_was_unpacked_in_another_dtype(t):
    return every_order(t, lambda v: v.double(), lambda x: (x * x).sqrt())


@programs
def gradients_of_what_was_unpacked_in_another_shape(t):
    return [
        every_order(t, lambda v: v.reshape(1, 2)),
        every_order(t, lambda v: v.expand(3, 2)),
    ]


@programs
def gradients_of_what_was_unpacked_as_complex(t):
    return every_order(t, lambda v: v.to(t.complex64), lambda x: x.square())


@programs
def gradients_of_what_was_unpacked_as_real(t):
    return every_order(t, lambda v: v.real, dtype="complex64")


@programs
def a_custom_function_is_given_another_dtype(t):
    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * 2

    return every_order(t, lambda v: v.double(), Square.apply)


@programs
def gradients_of_a_saved_tensor_that_was_read(t):
    x, y = unpacked(t, lambda v: v.double())
    saved = y.grad_fn._saved_self
    (saved * saved).sum().backward()
    return [saved.detach(), x.grad]


@programs
def a_leaf_that_asks_for_a_dtype_gets_that(t):
    found = []
    for wanted in (t.float64, t.float16, None):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        x.grad_dtype = wanted
        with t.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: v.double()):
            y = x * x
        (first,) = t.autograd.grad(y.sum(), x, create_graph=True)
        first.sum().backward()
        found.append([first.detach(), x.grad])
    return found


# ----- layout and sharing of .grad -----


def first_gradient(t, x, g):
    x.requires_grad_()
    x.backward(g)
    first = x.grad.stride()
    x.backward(g)
    return [first, x.grad.stride(), x.grad]


@programs
def a_gradient_is_laid_out_like_its_leaf(t):
    def grid(*shape):
        return t.arange(6, dtype=t.float64).reshape(*shape)

    return [
        first_gradient(t, grid(2, 3), grid(3, 2).t()),
        first_gradient(t, grid(3, 2).t(), grid(2, 3)),
        first_gradient(t, grid(3, 2).t(), grid(3, 1)[:1].expand(2, 3)),
        first_gradient(t, t.ones(2, 6, dtype=t.float64)[:, ::2], grid(3, 2).t()),
        first_gradient(t, grid(1, 2, 3).transpose(0, 2), grid(3, 2, 1)),
        first_gradient(t, grid(2, 1, 3).transpose(0, 1), grid(1, 2, 3)),
    ]


@programs
def a_recorded_gradient_is_laid_out_like_its_leaf(t):
    x = t.ones(2, 3, dtype=t.float64, requires_grad=True)
    g = t.ones(3, 2, dtype=t.float64).t()
    (x * 1).backward(g, create_graph=True)
    return [x.grad.stride(), x.grad.detach()]


@programs
def a_stolen_gradient_is_shared_with_nobody(t):
    x, y = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
    seed = t.ones(2, dtype=t.float64)
    (x + y).backward(seed)
    x.grad.mul_(10)
    return [x.grad, y.grad, seed]


@programs
def retained_gradients_are_shared_with_nobody(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 1
    z = y.view(2)
    y.retain_grad()
    z.retain_grad()
    z.backward(t.ones(2, dtype=t.float64))
    z.grad.mul_(10)
    y.grad.mul_(100)
    return [x.grad, y.grad, z.grad]


# ----- undefined gradients -----


@programs
def undefined_gradients_go_through_nodes_without_a_trace(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    a, b, _ = (x * x).unbind(0)
    c = b.exp().sin()
    log = []
    c.grad_fn.register_hook(lambda gi, go: log.append([gi, go]))
    (a * 2).backward(retain_graph=True)
    return [x.grad, log]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


@pytest.mark.parametrize(
    ("array", "is_dense"),
    [
        (np.zeros((2, 3)), True),
        (np.zeros((2, 3)).T, True),
        (np.zeros((2, 3, 4)).transpose(1, 2, 0), True),
        (np.zeros((2, 3, 4)).transpose(0, 2, 1)[:1], True),
        (np.zeros((2, 6))[:, ::2], False),
        (np.broadcast_to(np.zeros(3), (2, 3)), False),
        (np.zeros(3)[::-1], False),
        (np.zeros(()), True),
    ],
)
def test_what_is_dense(array, is_dense):
    assert dense(array) == is_dense
    g = np.arange(array.size, dtype=np.float32).reshape(array.shape)
    laid = copied(g, array)
    assert follows(laid, array)
    assert laid.tolist() == g.tolist()
    assert not np.shares_memory(laid, g)
