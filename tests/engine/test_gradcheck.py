"""`gradcheck` and `gradgradcheck`: PyTorch and the engine find the same functions right and wrong, in the same words."""

import re
import warnings

import numpy as np
import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

import agdbg_engine as ag
from agdbg_engine.autograd import GradcheckError, gradcheck, gradgradcheck

programs = Programs()


def verdict(function, *args, **kwargs):
    """What a check says: true, false or its error."""
    error = error_of(function, *args, **kwargs)
    return function(*args, **kwargs) if error == "nothing" else error


def both(t, function, *args, **kwargs):
    """The verdicts of the slow and of the fast mode."""
    return [verdict(t.autograd.gradcheck, function, *args, fast_mode=fast, **kwargs) for fast in (False, True)]


def wrong(t, forward, backward):
    """A custom Function with the given backward, as a function of one tensor or several."""

    class Wrong(t.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            return forward(*inputs)

        @staticmethod
        def backward(ctx, *gs):
            return backward(*gs, *ctx.saved_tensors)

    return Wrong.apply


# ----- verdicts -----


@programs
def right_functions(t):
    x, y = leaf(t, 0.5, -0.2, 1.7), leaf(t, 1.0, 2.0, 3.0)
    m = t.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]], dtype=t.float64, requires_grad=True)
    return [
        both(t, lambda a: a.sin(), x),
        both(t, lambda a, b: (a * b, a.exp()), (x, y)),
        both(t, lambda a, b: a * b, [x, y]),
        both(t, lambda a, b: a * b, (x, 3)),
        both(t, lambda w, b: (w * b).sum(0), (m, y)),
        both(t, lambda a: (a * 2, a.detach().clone()), x),
        both(t, lambda a: (a * 2, a.long()), x),
        both(t, lambda a: t.ones(3, dtype=t.float64), x),
        both(t, lambda a: a.exp(), leaf(t)),
        both(t, lambda a: a.mm(m.detach()), m.detach()[:, :2].clone().requires_grad_()),
        both(t, lambda a: a * 2, t.tensor(0.5, dtype=t.float64, requires_grad=True)),
    ]


@programs
def wrong_functions(t):
    x = leaf(t, 0.5, -0.2, 1.7)
    return [
        both(t, wrong(t, lambda a: a * a, lambda g, a: g * a * 3), x),
        both(t, wrong(t, lambda a: a.sum(), lambda g, a: t.ones(3, dtype=t.float64)), x),
        both(t, lambda a: a.detach(), x),
        both(t, lambda a, b: wrong(t, lambda u, v: u * v, lambda g, u, v: (g * v, g * v))(a, b), (x, x)),
        both(t, lambda a: (a * 1, wrong(t, lambda u: u * 1, lambda g, u: g * 2)(a)), x),
        verdict(t.autograd.gradcheck, wrong(t, lambda a: a * a, lambda g, a: g), x, raise_exception=False),
    ]


@programs
def not_deterministic(t):
    x = leaf(t, 0.5, -0.2, 1.7)
    noise = [0.0]

    def backward(g, a):
        noise[0] += 1e-7
        return g * (1 + noise[0] % 3e-7)

    f = wrong(t, lambda a: a * 1, backward)
    return [
        verdict(t.autograd.gradcheck, f, x),
        verdict(t.autograd.gradcheck, f, x, nondet_tol=1e-5),
        verdict(t.autograd.gradcheck, f, x, fast_mode=True),
    ]


@programs
def undefined_gradients(t):
    x = leaf(t, 0.5, -0.2, 1.7)

    class NeedsBoth(t.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.set_materialize_grads(False)
            return a * 1, a * 2

        @staticmethod
        def backward(ctx, g, h):
            if g is None:
                raise RuntimeError("no gradient")
            return g if h is None else g + h * 2

    class Stubborn(t.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return g if (g != 0).any() else g + 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            verdict(t.autograd.gradcheck, lambda a: NeedsBoth.apply(a), x),
            verdict(t.autograd.gradcheck, lambda a: sum(NeedsBoth.apply(a)), x, check_undefined_grad=False),
            verdict(t.autograd.gradcheck, lambda a: Stubborn.apply(a), x),
        ]


@programs
def not_multiplied(t):
    x = leaf(t, 0.5, -0.2, 1.7)
    tiny = wrong(t, lambda a: a * 1, lambda g, a: g + 1e-9)
    return [verdict(t.autograd.gradcheck, tiny, x), verdict(t.autograd.gradcheck, tiny, x, masked=True)]


@programs
def refused_arguments(t):
    x = leaf(t, 0.5, -0.2, 1.7)
    f = t.autograd.gradcheck
    return [
        error_of(f, lambda a: a * 2, x.detach()),
        error_of(f, lambda a: a * 2, x.detach(), raise_exception=False),
        error_of(f, lambda a: a * 2, leaf(t, 1.0).expand(3)),
        error_of(f, lambda a: a * 2, x, check_backward_ad=False),
        error_of(f, lambda a: a * 2, x, check_backward_ad=False, check_forward_ad=True, check_batched_grad=True),
        error_of(f, lambda a: a * 2, x, check_batched_forward_grad=True),
        error_of(t.autograd.gradgradcheck, lambda a: a * 2, x, check_rev_over_rev=False),
        error_of(t.autograd.gradgradcheck, lambda a: a * 2, x, check_rev_over_rev=False, check_fwd_over_rev=True),
    ]


@programs
def outputs_that_change_their_shape(t):
    x = leaf(t, 0.5, -0.2, 1.7)
    return error_of(t.autograd.gradcheck, lambda a: a[:2] if a[0].item() != 0.5 else a * 1, x)


@programs
def outputs_that_change_their_shape_from_side_to_side(t):
    x = leaf(t, 0.5, -0.2, 1.7)
    return error_of(t.autograd.gradcheck, lambda a: a[:2] if a[0].item() > 0.5 else a * 1, x)


@programs
def single_precision(t):
    x = leaf(t, 0.5, 3.0, dtype=t.float32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        error = error_of(t.autograd.gradcheck, lambda a: a**3, x)
    return [error, [str(w.message) for w in caught]]


@programs
def complex_numbers(t):
    z = t.tensor([0.5 + 1j, -0.2 - 0.3j], dtype=t.complex128, requires_grad=True)
    x = leaf(t, 0.5, -0.2)
    return [
        both(t, lambda a: a * a, z),
        both(t, lambda a: (a * a.conj()).real, z),
        both(t, lambda a, b: a * b, (z, x)),
        both(t, wrong(t, lambda a: a * a, lambda g, a: g * 2 * a), z),
        both(t, lambda a: a * a, z, check_forward_ad=True),
        both(t, lambda a, b: a * b.exp(), (z, x), check_forward_ad=True),
    ]


@programs
def forward_mode(t):
    x = leaf(t, 0.5, -0.2, 1.7)

    class Wrong(t.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, a):
            return a * 3

    return [
        both(t, lambda a: (a.sin() * a, a.sum()), x, check_forward_ad=True),
        both(t, lambda a: (a.sin() * a, a.sum()), x, check_forward_ad=True, check_backward_ad=False),
        both(t, lambda a, b: a * b, (x, x.detach().clone().requires_grad_()), check_forward_ad=True),
        both(t, lambda a: Wrong.apply(a), x, check_forward_ad=True),
        both(t, lambda a: Wrong.apply(a), x, check_forward_ad=True, check_backward_ad=False),
        verdict(t.autograd.gradcheck, lambda a: a.exp(), x, check_forward_ad=True, check_batched_forward_grad=True),
        verdict(t.autograd.gradcheck, lambda a: (a.exp(), a * 2), x, check_batched_grad=True),
    ]


@programs
def second_derivatives(t):
    x, y = leaf(t, 0.5, -0.2, 1.7), leaf(t, 1.0, 2.0, 3.0)
    ones = t.ones(3, dtype=t.float64)
    f = t.autograd.gradgradcheck

    class Once(t.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a**3

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            return g * 3 * (a * a.detach())

    return [
        verdict(f, lambda a: a**3, x),
        verdict(f, lambda a: a**3, x, fast_mode=True),
        verdict(f, lambda a: a * 3, x),
        verdict(f, lambda a, b: (a * b).exp(), (x, y)),
        verdict(f, lambda a: a**3, x, ones),
        verdict(f, lambda a: a**3, x, ones.clone().requires_grad_()),
        verdict(f, lambda a: a**3, x, gen_non_contig_grad_outputs=True),
        verdict(f, lambda a: a**3, x, check_fwd_over_rev=True),
        verdict(f, lambda a: a**3, x, check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False),
        verdict(t.autograd.gradcheck, lambda a: Once.apply(a), x),
        verdict(f, lambda a: Once.apply(a), x),
        verdict(f, lambda a: Once.apply(a), x, raise_exception=False),
    ]


@pytest.mark.parametrize("program", programs)
def test_programs(program):
    pytest.importorskip("torch")
    same(program)


# ----- the report -----


def report(forward, backward, *inputs, **options):
    """The lines after PyTorch's text about a custom Function with a wrong backward."""
    with pytest.raises(GradcheckError) as caught:
        gradcheck(wrong(ag, forward, backward), inputs, **options)
    text = str(caught.value)
    assert text.startswith(("Jacobian mismatch for output ", "While considering the "))
    return text


X = (0.5, -0.2, 1.7)
WEIGHT = [[1.0, 2.0], [-3.0, 0.5]]


def matrix(values, **options):
    return ag.tensor(values, dtype=ag.float64, **options)


def test_the_worst_element_is_named():
    text = report(lambda a: a * a, lambda g, a: g * a * ag.tensor([2.0, 2.0, 5.0], dtype=ag.float64), leaf(ag, *X))
    assert "worst element: output 0[2], input 0[2]: numerical 3.4, analytical 8.5" in text
    assert "1 of 9 elements differ by more than atol=1e-05 + rtol=0.001 * abs(numerical)" in text


def test_the_worst_element_of_a_later_input_and_output():
    def function(a, b):
        good = a * b
        bad = wrong(ag, lambda u: u * 1, lambda g, u: g * -1)(b)
        return good, bad.reshape((1, 3))

    with pytest.raises(GradcheckError, match=r"mismatch for output 1 with respect to input 1") as caught:
        gradcheck(function, (leaf(ag, *X), leaf(ag, *X)))
    assert "output 1[0, 0], input 1[0]: numerical 1, analytical -1" in str(caught.value)


@pytest.mark.parametrize(
    "forward, backward, guess",
    [
        (lambda a: a * a, lambda g, a: g * a * -2, "sign"),
        (lambda a: a * a, lambda g, a: g * a * 4, "factor: the analytical gradient is 2 times"),
        (lambda a: a * a, lambda g, a: g * a, "factor: the analytical gradient is 1/2 times"),
        (
            lambda a: a.sum() * 1,
            lambda g, a: (g / 3).expand((3,)),
            r"1/3 times the numerical one \(1 / 3, the size of a",
        ),
        (
            lambda a: (a * a).sum() / 3,
            lambda g, a: g * a * 2,
            r"3 times the numerical one \(3, the size of a dimension",
        ),
        (lambda a: a * a, lambda g, a: None, "missing dependency: no gradient arrives"),
        (lambda a: a * a, lambda g, a: g * 0, "missing dependency: no gradient arrives"),
        (lambda a: a * a, lambda g, a: a * 2, "does not depend on the incoming gradient"),
        (lambda a: a * a.sum(), lambda g, a: g * a.sum() + (g * a), "missing dependency: 6 elements are zero"),
        (
            lambda a: a.exp() / a.exp().sum(),
            lambda g, a: g * (p := a.exp() / a.exp().sum()) * (1 - p),
            "only the diagonal",
        ),
        (lambda a: a.expand((2, 3)) * 2, lambda g, a: g[0] * 2, "missing sum: .* at index 0 of dimension 0"),
        (lambda a: a.sum() * 2, lambda g, a: ag.stack([g * 2, g * 0, g * 0]), "missing broadcast: only index 0 of dim"),
        (lambda a: a * 1, lambda g, a: g + ag.stack([g[1], g[1] * 0, g[1] * 0]), "dependency too many: 1 elements"),
        (lambda a: a.sin(), lambda g, a: g / (a - a), "nan or inf"),
        (lambda a: a.sin(), lambda g, a: g * a.exp(), "no simple one"),
    ],
)
def test_the_guess(forward, backward, guess):
    with np.errstate(all="ignore"):
        text = report(forward, backward, leaf(ag, *X))
    assert re.search(f"guess: .*{guess}", text), text


def test_the_guess_of_a_transposed_weight():
    w = matrix(WEIGHT)
    text = report(lambda x: x.mm(w), lambda g, x: g.mm(w), matrix([[1.0, 2.0], [0.5, 0.3]], requires_grad=True))
    assert "guess: transpose: the analytical Jacobian is the transposed numerical one" in text


def test_the_guess_of_a_transposed_gradient():
    w = matrix(WEIGHT)
    text = report(lambda x: x * w, lambda g, x: (g * w).t(), matrix([[1.0, 2.0], [0.5, 0.3]], requires_grad=True))
    assert "guess: transpose: the gradient of this input is transposed" in text


def test_the_guess_of_a_missing_conjugation():
    z = ag.tensor([0.5 + 1j, -0.2 - 0.3j], dtype=ag.complex128, requires_grad=True)
    text = report(lambda a: (a * a).real, lambda g, a: (2 * a) * g, z)
    assert "guess: conj: the analytical gradient is the complex conjugate" in text


def test_a_kink_is_no_mistake():
    with pytest.raises(GradcheckError, match="not differentiable here") as caught:
        gradcheck(lambda a: a.relu(), leaf(ag, 0.0, 1.0))
    assert "output 0[0], input 0[0]: numerical 0.5, analytical 0" in str(caught.value)


def test_a_kink_does_not_excuse_a_wrong_slope():
    text = report(lambda a: a.relu(), lambda g, a: g * -2, leaf(ag, 0.0, 1.0))
    assert "not differentiable here" not in text


def test_single_precision_is_told():
    with pytest.warns(UserWarning, match="double precision"), pytest.raises(GradcheckError) as caught:
        gradcheck(lambda a: a**3, ag.tensor([3.0], requires_grad=True))
    assert "need double precision" in str(caught.value)


def test_fast_mode_reports_the_whole_jacobians():
    text = report(lambda a: a * a, lambda g, a: g * a * -2, leaf(ag, *X), fast_mode=True)
    assert "These numbers are of fast mode" in text
    assert "guess: sign" in text


def test_inputs_are_restored_and_random_numbers_left_alone():
    x = leaf(ag, *X)
    ag.manual_seed(3)
    expected = ag.rand(2).tolist()
    ag.manual_seed(3)
    with pytest.raises(GradcheckError):
        gradcheck(wrong(ag, lambda a: a * a, lambda g, a: g), x, fast_mode=True)
    gradcheck(lambda a: a.sin(), x)
    assert ag.rand(2).tolist() == expected
    assert x.tolist() == list(X)
    assert x.grad is None


def test_inputs_are_restored_after_an_error():
    x = leaf(ag, *X)

    def fails(a):
        if a.tolist() != list(X):
            raise ZeroDivisionError
        return a * 1

    with pytest.raises(ZeroDivisionError):
        gradcheck(fails, x)
    assert x.tolist() == list(X)


def test_case_39_is_found_by_gradgradcheck_only():
    class Kept(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.t = x * 2
            ctx.save_for_backward(x)
            return x * ctx.t

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.t + g * 2 * x

    x = leaf(ag, 3.0)
    assert gradcheck(Kept.apply, x)
    with pytest.raises(GradcheckError, match="guess: factor: the analytical gradient is 1/2 times the numerical one"):
        gradgradcheck(Kept.apply, x)


def test_tensors_without_elements_are_no_overlapping_ones():
    x = ag.zeros(5, 0, 3, dtype=ag.float64, requires_grad=True)
    assert ag.autograd.gradcheck(ag.sin, x) and ag.autograd.gradgradcheck(ag.sin, x)
