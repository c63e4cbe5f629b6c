"""The checks: what of an op is compared with PyTorch, on which samples."""

import itertools
from dataclasses import dataclass

import numpy as np
import torch
from agdbg_tests_op_cases import (  # fmt: skip
    ALL,
    TURNED,
    UNWRITTEN,
    Case,
    Failure,
    Lacking,
    Raised,
    Report,
    Skip,
    attempt,
    drawn,
    quiet,
    run,
    samples,
    seeded,
    settled,
    spread,
)
from agdbg_tests_op_compare import CLOSE, array_of, differences, different_numbers
from agdbg_tests_op_convert import Excluded, tensor
from agdbg_tests_op_db import OPS, bound, method_of_engine
from agdbg_tests_op_device import on_device
from agdbg_tests_op_grads import by_differences, forward, gradient, leaves_of, node, over_reverse, second
from agdbg_tests_op_saved import saved

import agdbg_engine as engine
from agdbg_engine.ops.host_only import HOST_ONLY


def value(case, twisted=False):
    """Results of the op: form, dtype, shape and numbers."""
    theirs, random = drawn(lambda: attempt(_called, case, torch, twisted))
    ours = attempt(_called, case, engine, twisted)
    settled(theirs, ours)
    values = not random and case.op.name not in UNWRITTEN
    found = list(differences(theirs, ours, values))
    if found and case.op.name in TURNED and not list(differences(theirs, ours, values=False)):
        process = case.sample.output_process_fn_grad
        found = list(differences(bound(process, torch)(theirs), bound(process, engine)(ours), values))
    yield from found


def _called(case, library, twisted=False):
    args, kwargs, _ = case.arguments(library, twisted=twisted)
    with library.no_grad():
        return case.functions[library](*args, **kwargs)


def reference(case):
    """The value is that of the entry's function of NumPy or SciPy."""
    ours = attempt(_called, case, engine)
    sample = case.sample.numpy()
    with np.errstate(all="ignore"):
        theirs = attempt(case.op.ref, sample.input, *sample.args, **sample.kwargs)
    settled(theirs, ours)
    results = (ours,) if isinstance(ours, engine.Tensor) else tuple(ours) if isinstance(ours, tuple | list) else ()
    if not results:
        raise Skip("no tensor")
    expected = (theirs,) if len(results) == 1 and not isinstance(theirs, tuple | list) else theirs
    for i, (a, b) in enumerate(zip(expected, results, strict=True)):
        told = different_numbers(np.asarray(a), array_of(b), *CLOSE["float64"])
        if np.shape(a) != tuple(b.shape) or told:
            yield f"result {i}: {told or f'shape {np.shape(a)}, engine {tuple(b.shape)}'}"


def promotion(case):
    """Every other tensor has another dtype than the first: value and dtype of the result, or an error of the same type."""
    sample = case.sample
    first = sample.input if isinstance(sample.input, torch.Tensor) else next(iter(leaves_of(sample.input)), None)
    rest = leaves_of([*sample.args, sample.kwargs])
    others = [x for x in rest if first is not None and x is not first and x.dtype is first.dtype]
    if not others:
        raise Skip("one tensor")
    for dtype in PROMOTED:
        cast = {id(x): x.to(dtype) for x in others}
        other = Case(case.name, case.op, sample.transform(lambda x, cast=cast: cast.get(id(x), x)))
        theirs, random = drawn(lambda other=other: attempt(_called, other, torch))
        ours = attempt(_called, other, engine)
        where = f"others of {str(dtype)[6:]}"
        if isinstance(theirs, Raised) and isinstance(ours, Raised):
            if theirs.kind != ours.kind:
                yield f"{where}: torch raises {theirs!r}\n   engine raises {ours!r}"
        elif isinstance(theirs, Raised):
            yield f"{where}: torch raises {theirs!r}, the engine nothing"
        elif isinstance(ours, Raised):
            yield f"{where}: the engine raises {ours!r}, torch nothing"
        else:
            yield from differences(theirs, ours, False, where)
            if not random and case.op.name not in UNWRITTEN:
                yield from _but_for_roundings(theirs, ours, "float16" if dtype is torch.float16 else "float32", where)


def _but_for_roundings(theirs, ours, dtype, where):
    """The numbers that differ by more than roundings in a dtype: in which of them an operand was cast is left open."""
    for a, b in zip(leaves_of(theirs), leaves_of(ours), strict=False):
        told = different_numbers(array_of(a), array_of(b), *CLOSE[dtype]) if tuple(a.shape) == tuple(b.shape) else ""
        if told:
            yield f"{where}: {told}"


def layout(case):
    """Value and gradient with every tensor laid out in another order of memory."""
    yield from value(case, twisted=True)
    if case.op.supports_autograd:
        try:
            yield from gradient(case, twisted=True)
        except Skip:
            return


def _variant(case, theirs):
    """The functions of both libraries for a method of PyTorch's tensors; a skip where one of them has none."""
    if theirs is None or not isinstance(case.sample.input, torch.Tensor):
        raise Skip("torch has no such method")
    ours = method_of_engine(case.op, theirs)
    if ours is None:
        raise Lacking("the engine has no such method")
    return {torch: bound(theirs, torch), engine: ours}


def method(case):
    """The method gives what PyTorch's gives: numbers and gradient."""
    functions = _variant(case, case.op.method_variant)
    theirs, random = drawn(lambda: attempt(_apply, case, torch, functions[torch]))
    ours = attempt(_apply, case, engine, functions[engine])
    settled(theirs, ours)
    yield from differences(theirs[0], ours[0], not random and case.op.name not in UNWRITTEN | TURNED)


def _apply(case, library, function):
    args, kwargs, leaves = case.arguments(library)
    return function(*args, **kwargs), leaves


def inplace(case):
    """The in-place form: the same tensor back, its numbers, dtype and gradients; refused where PyTorch refuses."""
    functions = _variant(case, case.op.inplace_variant)
    theirs, random = drawn(lambda: attempt(_written, case, torch, functions[torch]))
    ours = attempt(_written, case, engine, functions[engine])
    if isinstance(theirs, Raised):
        if not isinstance(ours, Raised):
            yield f"torch raises {theirs!r}, the engine does not"
        elif ours.kind != theirs.kind:
            yield f"torch raises {theirs!r}, the engine {ours!r}"
        return
    settled(theirs, ours)
    found, expected = ours[0] is ours[1], theirs[0] is theirs[1]
    if found != expected:
        yield f"the result is the tensor itself: torch {expected}, engine {found}"
    yield from differences(theirs[0], ours[0], not random)
    if theirs[0].requires_grad:
        yield from gradient(case, function=lambda library: lambda *args, **kwargs: _of_clone(functions[library], *args, **kwargs))  # fmt: skip


def _of_clone(function, x, *args, **kwargs):
    return function(x.clone(), *args, **kwargs)


def _written(case, library, function):
    args, kwargs, _ = case.arguments(library)
    x = args[0].clone()
    return function(x, *args[1:], **kwargs), x


def out(case):
    """``out=``: written to, and given back."""
    if not case.op.supports_out:
        raise Skip("torch has no out=")
    theirs, random = drawn(lambda: attempt(_into, case, torch))
    ours = attempt(_into, case, engine)
    if isinstance(ours, Raised) and ours.kind == "TypeError" and "out" in ours.first_line:
        raise Lacking("the engine has no out=")
    settled(theirs, ours)
    if theirs[1] != ours[1]:
        yield f"gives out back: torch {theirs[1]}, engine {ours[1]}"
    yield from differences(theirs[0], ours[0], not random and case.op.name not in UNWRITTEN | TURNED)


def _into(case, library):
    result = _called(case, torch)  # says which tensors to give
    places = [tensor(x, library) for x in leaves_of(result)]
    for place in places:
        place.zero_()
    given = places[0] if isinstance(result, torch.Tensor) else tuple(places)
    args, kwargs, _ = case.arguments(library)
    with library.no_grad():
        found = case.functions[library](*args, **kwargs, out=given)
    return places, [a is b for a, b in zip(leaves_of(found), places, strict=True)]


OTHER_WORDS = frozenset(
    [
        "__radd__",
        "__rand__",
        "__rmul__",
        "__ror__",
        "__rxor__",
        "bitwise_left_shift",
        "bitwise_right_shift",
        "clamp_max",
        "clamp_min",
        "copysign",
        "fmod",
        "linspace",
        "linspace:tensor_overload",
        "logspace",
        "logspace:tensor_overload",
        "max:binary",
        "min:binary",
        "multinomial",
        "narrow_copy",
        "nn.functional.adaptive_avg_pool3d",
        "nn.functional.conv2d",
        "nn.functional.conv3d",
        "nn.functional.max_pool1d",
        "nn.functional.max_pool3d",
        "pow",
        "remainder",
        "rsub",
        "signal.windows.blackman",
        "special.xlog1py",
        "special.zeta",
        "xlogy",
    ]
)
"""Entries for which the error is of the same type but in other words: they name other arguments, shapes or limits first."""


def errors(case):
    """Arguments that are wrong: the exception is of PyTorch's type and in its words."""
    theirs = attempt(_called, case, torch)
    if not isinstance(theirs, Raised):
        raise Skip("torch does not refuse it here")
    ours = attempt(_called, case, engine)
    if not isinstance(ours, Raised):
        yield f"torch raises {theirs!r}, the engine nothing"
    elif ours.kind != theirs.kind:
        yield f"torch raises {theirs!r}\n   engine raises {ours!r}"
    elif ours.first_line != theirs.first_line:
        if case.name not in OTHER_WORDS:
            yield f"torch says {theirs.first_line!r}, the engine {ours.first_line!r}"
        case.remark = f"{case.text}\n   torch  {theirs.first_line}\n   engine {ours.first_line}"


REALS, HALF, COMPLEX = ((torch.float64, ALL), (torch.float32, 16), (torch.int64, 16), (torch.bool, 10)), (torch.float16, 12), (torch.complex128, 16)  # fmt: skip
FEWER = torch.complex64, torch.float16, torch.int64, torch.bool
"""CuPy's functions take fewer dtypes than NumPy's: a sample of each."""
PROMOTED = torch.float16, torch.float64, torch.int64, torch.bool
INTEGERS = tuple((dtype, 6) for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32))


OTHER_NUMPY = {
    "std": "NumPy divides by the number of elements, PyTorch by one less",
    "var": "NumPy divides by the number of elements, PyTorch by one less",
    "fft.ihfft2": "the list's function has no norm",
}
"""Entries whose function of NumPy is another one."""


@dataclass(frozen=True)
class Check:
    """A check, the dtypes with the most samples of each, and whether samples are to require grad.

    Values and gradients in float64 are compared on every sample, the rest on some, evenly over all of them.
    """

    run: object
    dtypes: tuple
    grad: bool = False
    wanted: object = lambda op: True


def derivable(op):
    """Whether PyTorch has a gradient of the op."""
    return op.supports_autograd


CHECKS = {
    "value": Check(value, REALS),
    "half": Check(value, (HALF,)),
    "integers": Check(value, INTEGERS, False, lambda op: any(op.supports_dtype(dtype, "cpu") for dtype, _ in INTEGERS)),
    "complex": Check(value, (COMPLEX, (torch.complex64, 8))),
    "reference": Check(reference, ((torch.float64, 6),), False, lambda op: getattr(op, "ref", None) and op.name not in OTHER_NUMPY),
    "promotion": Check(promotion, ((torch.float32, 3), (torch.int64, 2))),
    "layout": Check(layout, ((torch.float64, 4),), True),
    "gradient": Check(gradient, ((torch.float64, ALL),), True, derivable),
    "half_gradient": Check(gradient, ((torch.float16, 4),), True, derivable),
    "complex_gradient": Check(gradient, ((torch.complex128, 12),), True, derivable),
    "node": Check(node, ((torch.float64, 24),), True, derivable),
    "saved": Check(saved, ((torch.float64, 4),), True, derivable),
    "second": Check(second, ((torch.float64, 12),), True, lambda op: op.supports_autograd and op.supports_gradgrad),
    "forward": Check(forward, ((torch.float64, 12), (torch.complex128, 4)), True, lambda op: op.supports_forward_ad),
    "forward_over_reverse": Check(over_reverse, ((torch.float64, 6), (torch.complex128, 2)), True, lambda op: op.supports_fwgrad_bwgrad),
    "differences": Check(by_differences, ((torch.float64, 3),), True, derivable),
    "method": Check(method, ((torch.float64, 12), (torch.int64, 4)), False, lambda op: op.method_variant is not None),
    "inplace": Check(inplace, ((torch.float64, 12), (torch.int64, 6)), True, lambda op: op.inplace_variant is not None),
    "out": Check(out, ((torch.float64, 8),), False, lambda op: op.supports_out),
    "device": Check(on_device, ((torch.float64, 3), (torch.float32, 2), *((dtype, 1) for dtype in FEWER)), True),
    "errors": Check(errors, (), False, lambda op: op.error_inputs_func is not None),
}  # fmt: skip


POLYNOMIALS = (
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
    *(f"{s}chebyshev_polynomial_{kind}" for s in ("", "shifted_") for kind in "tuvw"),
)  # fmt: skip
WITHOUT = {
    ("equal", "out"): "the result is a bool",
    ("histogramdd", "out"): "the edges are a tuple of tensors",
    ("lu_unpack", "out"): "composed of other ops",
    ("native_batch_norm", "out"): "composed of other ops",
    ("nonzero", "out"): "refused for some of the samples",
    ("linalg.ldl_factor", "device"): HOST_ONLY["ldl_factor_ex_raw"],
    ("linalg.ldl_factor_ex", "device"): HOST_ONLY["ldl_factor_ex_raw"],
    ("linalg.ldl_solve", "device"): HOST_ONLY["ldl_solve_raw"],
    ("linalg.lstsq", "device"): HOST_ONLY["lstsq_raw"],
    ("linalg.lstsq:grad_oriented", "device"): HOST_ONLY["lstsq_raw"],
    ("index_reduce:prod", "device"): HOST_ONLY["scatter_reduce_prod"],
    ("scatter_reduce:prod", "device"): HOST_ONLY["scatter_reduce_prod"],
    ("special.airy_ai", "device"): HOST_ONLY["airy_ai"],
    **{(f"special.{name}", "device"): HOST_ONLY[name] for name in POLYNOMIALS},
}
"""Forms that PyTorch has and the engine has not, by entry and check, with the reason; what else is lacking is a failure."""


def report(name, check):
    """Run one check of one op; a form that the engine lacks is a failure unless ``WITHOUT`` has it."""
    op, wanted, found = OPS[name], CHECKS[check], Report(name, check)
    if not wanted.wanted(op):
        found.skipped["torch has no such form"] += 1
        return found
    for case in itertools.chain.from_iterable(_cases(name, op, wanted, found)):
        try:
            run(found, [case], wanted.run)
        except Lacking as lacking:
            found.lacking.append(Failure(case.text, str(lacking)))
        if hasattr(case, "remark"):
            found.remarks.append(case.remark)
    if (name, check) not in WITHOUT:
        found.ran += len(found.lacking)
        found.failures += found.lacking
    elif not found.lacking:
        found.failures.append(Failure("", "the engine has this form now"))
    return found


def _cases(name, op, wanted, found):
    """The cases by dtype."""
    if wanted.run is errors:
        with seeded(name), quiet():
            yield [Case(name, op, e.sample_input) for e in _error_inputs(op)]
    for dtype, most in wanted.dtypes:
        grad = wanted.grad and (dtype.is_floating_point or dtype.is_complex) and op.supports_autograd
        if not op.supports_dtype(dtype, "cpu") or (grad and dtype not in op.supported_backward_dtypes("cpu")):
            found.skipped[f"torch does not take {str(dtype)[6:]}"] += 1
        elif not hasattr(engine, str(dtype)[6:]):
            found.skipped[f"the engine has no {str(dtype)[6:]}"] += 1
        else:
            yield [Case(name, op, s) for s in spread(samples(name, dtype, grad), most)]


def _error_inputs(op):
    try:
        return list(op.error_inputs_func(op, "cpu"))
    except Exception as error:  # some entries make samples that need other libraries
        raise Excluded(f"error inputs: {error}") from None
