"""``gradcheck``: are the gradients of a function what differences of its values say? ``gradgradcheck``: and theirs?

A failure names the worst element of the Jacobian and guesses at the mistake; see :mod:`.gradcheck_report`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import events
from ..autograd import grad
from ..foreign import refuse as refuse_foreign
from ..grad_mode import within
from ..random import generator
from ..saved.strict import refuse, suspended
from ..tensor import Tensor
from .case import Case, Function, GradcheckError, as_tuple, differentiable_outputs
from .compare import fast, slow
from .more import (
    check_batched,
    check_batched_forward,
    check_multiplied,
    check_undefined,
    check_undefined_tangents,
)
from .places import put

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


@within(suspended)
def gradcheck(
    func: Function,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the derivatives of ``func(*inputs)`` for the inputs that require grad are those of central differences.

    ``func`` returns a tensor or a tuple of them; the inputs should be of double precision. A complex output is checked by its
    real and its imaginary part. ``fast_mode`` compares one random combination of the elements of each Jacobian.

    Raises :class:`GradcheckError` with PyTorch's text and a report, or returns ``False`` without ``raise_exception``. An input
    that no gradient can be checked for is a :class:`ValueError` or :class:`RuntimeError`, in either case.
    """
    _demand(
        check_forward_ad or check_backward_ad,
        "Expected at least one of check_forward_ad or check_backward_ad to be True",
    )
    _demand(
        check_backward_ad or not check_batched_grad,
        "Setting check_batched_grad=True requires check_backward_ad to be True",
    )
    _demand(
        check_forward_ad or not check_batched_forward_grad,
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True",
    )
    arguments = as_tuple(inputs)
    _check_inputs(arguments)
    for x in arguments if events.special & events.STRICT else ():
        if isinstance(x, Tensor):
            refuse(x, "gradcheck")  # which tries other values in there
    try:
        func_out = func(*arguments)
        case = Case(func, arguments, as_tuple(func_out), eps, rtol, atol, nondet_tol, check_grad_dtypes)
        compare = fast if fast_mode else slow
        if check_backward_ad:
            _by_parts_of_outputs(compare, case)
        if check_forward_ad:
            _by_parts_of_inputs(compare, case, check_undefined_grad)
        if check_batched_forward_grad:
            check_batched_forward(func, arguments)
        if check_backward_ad:
            outputs = differentiable_outputs(func_out)
            for i, o in enumerate(outputs if check_batched_grad else ()):
                check_batched(o, i, case.wanted_inputs)
            check_multiplied(outputs, case.wanted_inputs, masked)
            if check_undefined_grad:
                check_undefined(func, arguments, case.wanted_inputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Function,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """:func:`gradcheck` of the gradient of ``func``: as a function of ``inputs`` and of the incoming gradients.

    The latter are ``grad_outputs``, random ones (not contiguous if wanted) when they are not given.
    """
    _demand(
        check_fwd_over_rev or check_rev_over_rev,
        "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True",
    )
    for name, asked in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        _demand(check_rev_over_rev or not asked, f"Setting {name}=True requires check_rev_over_rev to be True")
    arguments = as_tuple(inputs)
    weights = (
        tuple(_weight(o, gen_non_contig_grad_outputs) for o in differentiable_outputs(func(*arguments)))
        if grad_outputs is None
        else as_tuple(grad_outputs)
    )
    return gradcheck(
        _gradient(func, arguments, weights),
        arguments + weights,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _gradient(func: Function, arguments: tuple[Any, ...], weights: tuple[Tensor, ...]) -> Function:
    """The gradients of ``func`` as a function of its arguments followed by the incoming gradients."""
    wanted = [isinstance(x, Tensor) and x.requires_grad for x in arguments + weights]
    count = len(arguments)

    def gradient(*given: Any) -> tuple[Tensor, ...]:
        # in forward mode they come without requires_grad
        ready = [x.requires_grad_() if asked else x for x, asked in zip(given, wanted, strict=True)]
        outputs = differentiable_outputs(func(*(ready[:count] if weights else ())))  # PyTorch too has no word for that
        inputs = [x for x, asked in zip(ready[:count], wanted, strict=False) if asked]
        found = grad(outputs, inputs, ready[count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradient


def _weight(output: Tensor, spread: bool) -> Tensor:
    """Random numbers in [-1, 1) in the shape of ``output``; ``spread`` in memory if wanted."""
    dtype = output.dtype if output.dtype.kind in "fc" else np.dtype(np.float64)
    shape = (*output.shape[:-1], 2 * output.shape[-1]) if spread and output.ndim else output.shape
    numbers = generator().uniform(-1, 1, shape)
    if dtype.kind == "c":
        numbers = numbers + 1j * generator().uniform(-1, 1, shape)
    buffer = np.asarray(numbers, dtype)
    there = put(buffer, output)
    return (there[..., ::2].detach() if shape != output.shape else there).requires_grad_()


def _demand(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    wanted = [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    for i, x in wanted:
        if x.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will likely "
                "fail if all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=3,
            )
        if x._a.size and any(stride <= 0 and size > 1 for stride, size in zip(x._a.strides, x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be "
                "able to compute the numerical gradients correctly. You should call .contiguous on the input before passing it "
                "to gradcheck."
            )
    if not wanted:
        for i, x in enumerate(inputs):
            refuse_foreign(x, "gradcheck", "inputs" if len(inputs) == 1 else f"inputs[{i}]", 2)
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


# ----- complex numbers -----


def _by_parts_of_outputs(compare: Callable[[Case], None], case: Case) -> None:
    """Compare; the imaginary and the real parts apart when an output is complex."""
    outputs = differentiable_outputs(case.outputs)
    complex_ones = tuple(i for i, o in enumerate(outputs) if o.dtype.kind == "c")
    if not any(o.dtype.kind == "c" for o in case.outputs):
        return compare(case)
    for part in ("imaginary", "real"):

        def func(*args: Any, part: str = part) -> tuple[Any, ...]:
            outs = as_tuple(case.func(*args))
            return tuple((o.imag if part == "imaginary" else o.real) if o.dtype.kind == "c" else o for o in outs)

        outs = func(*case.inputs)
        compare(replace(case, func=func, outputs=outs, complex_indices=complex_ones, part=part))


def _by_parts_of_inputs(compare: Callable[[Case], None], case: Case, check_undefined_grad: bool) -> None:
    """Compare by forward mode; for complex inputs the function of the imaginary and that of the real parts."""
    complex_ones = tuple(i for i, x in enumerate(case.inputs) if isinstance(x, Tensor) and x.dtype.kind == "c")
    cases = [_part(case, complex_ones, part) for part in ("imaginary", "real")] if complex_ones else [case]
    for c in cases:
        compare(replace(c, forward=True))
    for c in cases if check_undefined_grad else ():
        check_undefined_tangents(c)


def _part(case: Case, complex_ones: tuple[int, ...], part: str) -> Case:
    """``case`` as a function of one part of its complex inputs, the other part being constant."""

    def func(*args: Any) -> tuple[Any, ...]:
        whole = list(args)
        for i in complex_ones:
            x = case.inputs[i]
            whole[i] = x.real + args[i] * 1j if part == "imaginary" else args[i] + x.imag * 1j
        return as_tuple(case.func(*whole))

    parts = [(x.imag if part == "imaginary" else x.real) if i in complex_ones else x for i, x in enumerate(case.inputs)]
    return replace(case, func=func, inputs=tuple(parts), outputs=func(*parts), complex_indices=complex_ones, part=part)
