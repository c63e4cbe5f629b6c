"""Corners that a single condition of the engine decides. As in PyTorch, but for what only the engine has."""

import importlib

import numpy as np
import pytest
from agdbg_tests_differential import Programs, error_of, leaf, logged_warnings, name_of, same

import agdbg_engine as ag
from agdbg_engine.gradcheck.guess import guess

pytest.importorskip("torch")
programs = Programs()


def function(t, forward, backward):
    """``apply`` of a custom Function."""
    return type(
        "F", (t.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    ).apply


# ----- numbers of outputs -----


@programs
def a_view_of_the_second_of_several_outputs_is_written(t):
    x = leaf(t, 1.0, 2.0, 3.0, 4.0)
    a, b = t.unsafe_split(x * 1, 2)
    b[0:1].mul_(5)
    return [t.autograd.grad((a + 10 * b).sum(), x), [nr for _, nr in b.grad_fn.next_functions]]


@programs
def a_stale_view_of_what_became_the_second_output(t):
    def forward(ctx, other, base):
        ctx.mark_dirty(base)
        return other * 1, base.mul_(2)

    x = leaf(t, 1.0, 2.0)
    base = x * 1
    view = base[0:1]
    first, second = function(t, forward, lambda ctx, g, h: (g * 100, h * 7))(leaf(t, 3.0), base)
    found = [name_of(view.grad_fn), [nr for _, nr in view.grad_fn.next_functions], second is base]
    return [*found, t.autograd.grad(view.sum(), x), first]


# ----- modes while nodes run -----


@programs
def a_graph_of_the_gradient_is_wanted_in_inference_mode(t):
    x, seen = leaf(t, 1.0, 2.0), []
    y = x * x
    total = y.sum()
    y.register_hook(lambda g: seen.append((x * g).requires_grad))
    with t.inference_mode():
        (g,) = t.autograd.grad(total, x, create_graph=True)
    return [seen, g.requires_grad, g.is_inference(), g.tolist()]


@programs
def the_calculations_that_led_to_an_error_are_told_up_to_the_first(t):
    x = leaf(t, 0.0)
    with logged_warnings() as said, t.autograd.detect_anomaly():
        g = x**2.5
        for _ in range(3):
            (g,) = t.autograd.grad(g, x, create_graph=True)
        found = error_of(t.autograd.grad, g, x, t.zeros(1, dtype=t.float64))
    return [found, len(said)]


@programs
def anomaly_mode_finds_complex_nan(t):
    x = t.tensor([1 + 1j], requires_grad=True)
    with t.autograd.detect_anomaly():
        return error_of((x * 2).backward, t.tensor([complex(float("nan"), 0)]))


# ----- hooks -----


@programs
def the_number_is_the_first_operand(t):
    seen, x = [], leaf(t, 1.0, 2.0)
    y = t.where(t.tensor([True, False]), 0.0, x)
    y.grad_fn.register_hook(lambda gi, go: seen.append([None if g is None else g.tolist() for g in gi]))
    y.sum().backward()
    return [seen, [name_of(n) for n, _ in y.grad_fn.next_functions]]


@programs
def a_hook_for_the_first_of_two_roots_and_another_tensor(t):
    seen, x = [], leaf(t, 1.0, 2.0)
    y, z = (x * 2).sum(), (x * 3).sum()
    w = z * 1
    t.autograd.graph.register_multi_grad_hook(
        (y, z), lambda gs: seen.append([None if g is None else g.tolist() for g in gs])
    )
    t.autograd.backward([y, w])
    return seen


@programs
def a_stale_piece_retains_its_gradient_again(t):
    x = leaf(t, 1.0, 2.0) * 1
    a, _ = x.unbind()
    a.retain_grad()
    x.mul_(2)
    return [error_of(a.retain_grad), a.retains_grad, error_of(lambda: a.grad_fn)]


# ----- seeds and what Functions return -----


@programs
def a_given_gradient_of_another_dtype(t):
    seen, x = [], t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: seen.append(str(g.dtype).removeprefix("torch.")))
    (g,) = t.autograd.grad(y, x, t.tensor([0.1, 0.2], dtype=t.float64))
    return [seen, g]


@programs
def a_gradient_of_any_shape_for_what_needs_none(t):
    x = leaf(t, 1.0, 2.0)
    apply = function(t, lambda ctx, a, b: a * 1, lambda ctx, g: (g.float(), t.ones(7)))
    apply(x, t.ones(2)).sum().backward()
    return x.grad


# ----- tangents -----


@programs
def the_primal_of_a_dual_gets_a_tangent_of_its_own(t):
    fw = t.autograd.forward_ad
    x = t.tensor([1.0, 2.0, 3.0])
    with fw.dual_level():
        dual = fw.make_dual(x, t.tensor([10.0, 20.0, 30.0]))
        primal = fw.unpack_dual(dual).primal
        primal.mul_(fw.make_dual(t.ones(3), t.ones(3)))
        return [fw.unpack_dual(v).tangent for v in (primal, dual, x)]


@programs
def a_tangent_depends_on_what_a_missing_one_is_multiplied_by(t):
    fw = t.autograd.forward_ad
    x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
    with fw.dual_level():
        tangent = fw.unpack_dual(fw.make_dual(x, t.ones(2, dtype=t.float64)) * w).tangent
        found = t.autograd.grad(tangent.sum(), (x, w), allow_unused=True)
        values = [None if g is None else g + t.zeros(2) for g in found]  # PyTorch's zeros may have none
        return [g if g is None else g.tolist() for g in values]


# ----- transforms -----


@programs
def an_argument_without_recording_outside_is_a_leaf_inside(t):
    seen, x = [], leaf(t, 1.0, 2.0)

    def f(y):
        seen.append([y.is_leaf, y.grad_fn is None, y.requires_grad])
        return (y * y).sum()

    with t.no_grad():
        gradient = t.func.grad(f)(x * 1)
        more = t.func.grad(f)(x)
    return [seen, gradient, more]


@programs
def a_tangent_of_a_product_with_the_jacobian_that_is_not_recorded(t):
    def pulled(x):
        with t.no_grad():
            return t.func.vjp(lambda y: y.sin() * y, x)[1](t.ones(2, dtype=t.float64))[0]

    x = t.tensor([0.5, 2.0], dtype=t.float64)
    return t.func.jvp(pulled, (x,), (t.ones(2, dtype=t.float64),))


@programs
def a_product_with_the_jacobian_depends_on_a_vector_of_another_dtype(t):
    x, v = t.tensor([1.0, 2.0], requires_grad=True), leaf(t, 0.5, 0.25)
    with t.no_grad():
        _, found = t.autograd.functional.vjp(lambda y: y * y, x, v, create_graph=True)
    return [found.requires_grad, [g.tolist() for g in t.autograd.grad(found.sum(), (x, v))]]


# ----- checkpoints -----


@programs
def a_checkpoint_below_a_backward_call_inside_of_grad(t):
    checkpoint = importlib.import_module(f"{t.__name__}.utils.checkpoint").checkpoint

    def backward(ctx, g):
        with t.enable_grad():
            x = t.ones(2, requires_grad=True)
            checkpoint(t.sin, x, use_reentrant=True).sum().backward()
        return g

    x = leaf(t, 1.0, 2.0)
    y = function(t, lambda ctx, a: a * 1, backward)(x)
    return [error_of(t.autograd.grad, y.sum(), x, retain_graph=True), error_of(y.sum().backward)]


# ----- writes -----


@programs
def out_is_the_memory_of_a_saved_tensor_that_may_be_written(t):
    with t.autograd.graph.allow_mutation_on_saved_tensors():
        x = leaf(t, 3.0)
        y = x * 1
        z = y * y * 3
        t.mul(t.tensor([10.0], dtype=t.float64), 10.0, out=y.detach())
        z.sum().backward()
        return x.grad


@programs
def nan_that_is_repeated_is_filled_in_one_place(t):
    x = t.tensor([float("nan")]).expand(3)
    x.masked_fill_(t.tensor([True, False, False]), 5.0)
    return x


@pytest.mark.parametrize("program", programs)
def test_program(program):
    same(program)


# ----- what only the engine has -----


def test_numpy_maximum_of_integers_and_a_fraction():
    assert np.maximum(ag.tensor([1, 2]), 1.5).tolist() == [1.5, 2.0]
    assert np.maximum(1.5, ag.tensor([1, 2])).tolist() == [1.5, 2.0]


def test_an_earlier_view_that_is_saved_is_read_only_for_numpy():
    x = ag.ones(4)
    view = x[0:2]
    w = ag.ones(2, requires_grad=True)
    with ag.autograd.graph.strict_saved_tensors():
        y = (view * w).sum()
        with pytest.raises(ValueError, match="read-only"):
            view.numpy()[0] = 5.0
        y.backward()
    view.numpy()[0] = 5.0
    assert x.tolist() == [5.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "factor, said", [(1j, "1j"), (0.5 + 0.5j, "1j"), (-1, "sign"), (2, "factor: the analytical gradient is 2 ")]
)
def test_a_factor_of_any_phase_is_guessed(factor, said):
    true = np.array([[1 + 2j, 0], [0, 3 - 1j]])
    assert said in guess(factor * true, true, (2,), (2,), 1e-3, 1e-5)
