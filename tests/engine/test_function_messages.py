"""Custom Functions: what the errors say below PyTorch's first line."""

import agdbg_tests_function_programs as function_programs
import agdbg_tests_strict_device as strict
import pytest
from agdbg_tests_differential import leaf

import agdbg_engine as ag
from agdbg_engine.tensor import wrap


def returning(answer):
    return function_programs.returning(ag, answer, last=(5.0, 6.0))


ANSWERS = {
    "for a number": lambda g: (g, g, g, None),
    "no tensor": lambda g: (g, None, 3, None),
    "shape": lambda g: (g, None, ag.ones(5, dtype=g.dtype), None),
    "last": lambda g: (g, None, g, ag.ones(3)),
}


def message(function):
    with pytest.raises(RuntimeError) as caught:
        function()
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("shape", "'weight' of shape [2]"),
        ("for a number", "'number'"),
        ("no tensor", "'weight'"),
        ("last", "'more[0]' of shape [2]"),
    ],
)
def test_the_argument_is_named(name, argument):
    """Case 41: the index counts tensors only, which helps nobody."""
    assert argument in message(returning(lambda g: ANSWERS[name](g)).sum().backward)


def test_all_arguments_are_named():
    assert "x, number, weight, more[0]" in message(returning(lambda g: g).sum().backward)


def test_argument_names_of_a_forward_without_context():
    class F(ag.autograd.Function):
        @staticmethod
        def forward(first, second):
            return first * second

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g, ag.ones(3)

    assert "'second'" in message(F.apply(leaf(ag, 1.0, 2.0), leaf(ag, 1.0, 2.0)).sum().backward)


def test_modified_saved_tensor_names_line_and_writer():
    class F(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors[0]

    x = leaf(ag, 1.0) * 1
    y = F.apply(x)
    x.mul_(5)
    text = message(y.backward)
    assert "FBackward saved it as 'saved_tensors[0]'" in text
    assert "x.mul_(5)" in text
    assert "y = F.apply(x)" in text


def test_freed_twice_names_both_lines():
    class F(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors[0]

    y = F.apply(leaf(ag, 1.0))
    y.backward()
    text = message(y.backward)
    assert "FBackward was created at" in text
    assert "freed by backward()" in text


def test_gradient_on_another_device():
    x = leaf(ag, 1.0, 2.0)

    class F(ag.autograd.Function):
        @staticmethod
        def forward(ctx, first, second):
            return first * second

        @staticmethod
        def backward(ctx, g):
            return g, wrap(strict.asarray([1.0, 2.0]))

    text = message(F.apply(x, leaf(ag, 1.0, 2.0)).sum().backward)
    assert text.startswith(
        "Function FBackward returned an invalid gradient at index 1 - expected device cpu but got strict:0\n"
    )
    assert "'second'" in text


def test_everything_stays_on_its_device():
    """The zeros for a missing gradient are made there too, and nothing is copied to the host."""
    seen = []

    class F(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            seen.append(type(h._a))
            return g + h

    x = wrap(strict.asarray([1.0, 2.0])).requires_grad_()
    y, _ = F.apply(x)
    y.sum().backward()
    assert seen == [strict.ndarray]
    assert strict.host(x.grad._a).tolist() == [1.0, 1.0]
