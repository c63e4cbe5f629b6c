"""The checks: what of an op is compared with PyTorch, on which samples."""

import itertools
from dataclasses import dataclass

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
from agdbg_tests_op_compare import differences
from agdbg_tests_op_convert import Excluded, tensor
from agdbg_tests_op_db import OPS, bound, method_of_engine
from agdbg_tests_op_grads import by_differences, forward, gradient, leaves_of, node, over_reverse, second

import agdbg_engine as engine


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
        "fft.fft2",
        "fft.fftn",
        "fft.hfft2",
        "fft.hfftn",
        "fft.ifft2",
        "fft.ifftn",
        "fft.ihfft2",
        "fft.ihfftn",
        "fft.irfft2",
        "fft.irfftn",
        "fft.rfft2",
        "fft.rfftn",
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
INTEGERS = tuple((dtype, 6) for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32))


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
    "layout": Check(layout, ((torch.float64, 4),), True),
    "gradient": Check(gradient, ((torch.float64, ALL),), True, derivable),
    "half_gradient": Check(gradient, ((torch.float16, 4),), True, derivable),
    "complex_gradient": Check(gradient, ((torch.complex128, 12),), True, derivable),
    "node": Check(node, ((torch.float64, 24),), True, derivable),
    "second": Check(second, ((torch.float64, 12),), True, lambda op: op.supports_autograd and op.supports_gradgrad),
    "forward": Check(forward, ((torch.float64, 12), (torch.complex128, 4)), True, lambda op: op.supports_forward_ad),
    "forward_over_reverse": Check(over_reverse, ((torch.float64, 6), (torch.complex128, 2)), True, lambda op: op.supports_fwgrad_bwgrad),
    "differences": Check(by_differences, ((torch.float64, 3),), True, derivable),
    "method": Check(method, ((torch.float64, 12), (torch.int64, 4)), False, lambda op: op.method_variant is not None),
    "inplace": Check(inplace, ((torch.float64, 12), (torch.int64, 6)), True, lambda op: op.inplace_variant is not None),
    "out": Check(out, ((torch.float64, 8),), False, lambda op: op.supports_out),
    "errors": Check(errors, (), False, lambda op: op.error_inputs_func is not None),
}  # fmt: skip


WITHOUT = {
    ("equal", "out"): "the result is a bool",
    ("histogramdd", "out"): "the edges are a tuple of tensors",
    ("lu_unpack", "out"): "composed of other ops",
    ("native_batch_norm", "out"): "composed of other ops",
    ("nn.functional.softplus", "out"): "nothing of nn.functional but the convolutions' kind has it",
    ("nonzero", "out"): "refused for some of the samples",
    ("split_with_sizes_copy", "out"): "a list of tensors of other sizes",
}
"""Forms that PyTorch has and the engine has not, by op and check; what else is lacking is a failure."""


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
            if (op.name, check) in WITHOUT:
                found.skipped[str(lacking)] += 1
            else:
                found.ran += 1
                found.failures.append(Failure(case.text, str(lacking)))
        if hasattr(case, "remark"):
            found.remarks.append(case.remark)
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
