"""Ops of what PyTorch has them not for: bools, what is no tensor or dtype, complex results that it does not record."""

import pytest
from agdbg_tests_differential import error_of, same

pytest.importorskip("torch")  # the oracle of these programs


@pytest.mark.parametrize(
    "op",
    [
        "abs",
        "absolute",
        "trunc",
        "fix",
        "floor",
        "ceil",
        "round",
        "relu",
        "neg",
        "sign",
        "square",
        "sqrt",
        "nan_to_num",
    ],
)
def test_bools(op):
    def program(t):
        bools, out = t.tensor([True, False]), t.tensor([True, True])
        calls = [lambda: getattr(t, op)(bools), lambda: getattr(out, op + "_")(), lambda: getattr(bools, op)()]
        return [*map(error_of, calls), out]

    same(program)


@pytest.mark.parametrize("value", [(2,), 2, None, "x"])
@pytest.mark.parametrize(
    "function", ["is_neg", "is_conj", "is_nonzero", "is_complex", "is_floating_point", "is_signed", "is_inference"]
)
def test_questions_about_what_is_no_tensor(function, value):
    same(lambda t: error_of(getattr(t, function), value))


KINDS = {
    "dtype": lambda t: t.float32,
    "tensor": lambda t: t.ones(2),
    "name": lambda t: "float32",
    "None": lambda t: None,
    "number": lambda t: 2,
}


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_questions_about_what_is_no_dtype(first, second):
    same(lambda t: [error_of(f, KINDS[first](t), KINDS[second](t)) for f in (t.can_cast, t.promote_types)])


COMPLEX = {
    "geqrf": lambda t, c, r: t.geqrf(c),
    "geqrf of real numbers": lambda t, c, r: t.geqrf(r)[0].sum().backward(),
    "nan_to_num": lambda t, c, r: t.nan_to_num(c),
    "slice_copy": lambda t, c, r: t.slice_copy(c),
    "slice_scatter": lambda t, c, r: t.slice_scatter(c, c),
    "scattered into": lambda t, c, r: t.slice_scatter(c.detach(), c),
    "view_as_complex_copy": lambda t, c, r: t.view_as_complex_copy(r),
    "silu": lambda t, c, r: t.nn.functional.silu(c),
}


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("recording", [False, True])
@pytest.mark.parametrize("op", COMPLEX)
def test_complex_results_that_are_not_recorded(op, recording, requires_grad):
    def program(t):
        c = t.ones(3, 2, dtype=t.complex64, requires_grad=requires_grad)
        r = t.ones(3, 2, requires_grad=requires_grad)
        with t.set_grad_enabled(recording):
            return error_of(COMPLEX[op], t, c, r)

    same(program)


@pytest.mark.parametrize("loss", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss"])
@pytest.mark.parametrize("written", ["input", "target"])
def test_an_operand_that_has_the_shape_of_the_loss_is_no_view(loss, written):
    def program(t):
        x, y = t.ones(2, 3, requires_grad=True) * 0.5, t.ones(2, 3 if loss == "soft_margin_loss" else 1)
        value = getattr(t.nn.functional, loss)(x, y if written == "input" else t.ones(2, 3))
        with t.no_grad():
            (x if written == "input" else y).mul_(2)
        return error_of(value.backward)

    same(program)


def test_a_target_that_is_broadcast():
    def program(t):
        x = t.ones(2, 3, requires_grad=True) * 0.5
        value = t.nn.functional.mse_loss(x, t.ones(3))
        x.mul_(2)
        return error_of(value.backward)

    same(program)
