"""``out=``: a function that writes its result into tensors which are there already, and records nothing."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import errors, events
from ..device import array_module
from ..grad_mode import mode, quiet_no_grad
from ..inside import is_recorded
from ..resizing import follow
from ..saved.mutation import before_write
from ..saved.strict import refuse
from ..several import at_home
from ..sites import caller, user_stacklevel
from ..tangents import tangents_of
from ..tensor import Tensor, check_inplace, repeats, wrap
from .mixed_devices import same_device
from .out_args import PIECES, check_pieces, outs_of, words
from .out_dtypes import AS_OUT, Call, refused_dtype
from .overlapping import as_a_whole, check_apart, check_partial
from .self_overlap import overlaps_itself, refusal, write_last

NAMES = frozenset(
    [
        "abs",
        "add",
        "addmm",
        "all",
        "amax",
        "amin",
        "angle",
        "any",
        "argmax",
        "argmin",
        "bitwise_and",
        "bitwise_not",
        "bitwise_or",
        "bitwise_xor",
        "bmm",
        "cat",
        "ceil",
        "clamp",
        "clamp_max",
        "clamp_min",
        "complex",
        "conj_physical",
        "cos",
        "div",
        "dot",
        "eq",
        "exp",
        "expm1",
        "floor",
        "gather",
        "ge",
        "gt",
        "le",
        "log",
        "log1p",
        "log_softmax",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "logsumexp",
        "lt",
        "matmul",
        "max",
        "maximum",
        "mean",
        "min",
        "minimum",
        "mm",
        "mul",
        "mv",
        "ne",
        "neg",
        "outer",
        "polar",
        "pow",
        "reciprocal",
        "round",
        "rsqrt",
        "sgn",
        "sigmoid",
        "sign",
        "sin",
        "softmax",
        "sqrt",
        "square",
        "stack",
        "std",
        "sub",
        "sum",
        "tanh",
        "trunc",
        "var",
        "where",
    ]
)
"""The functions that PyTorch has in this form too."""

_JOINED = frozenset((
    "cat", "column_stack", "concat", "concatenate", "cross", "dstack", "hstack", "kron", "row_stack", "stack", "vstack",
))  # fmt: skip
_APART = _JOINED | {"addr", "gather", "ger", "index_select", "kthvalue", "masked_select", "outer", "take"}
"""Those that may not write to an operand at all."""


_FACTORIES = frozenset(("eye", "full", "ones", "zeros"))
"""Those that may write memory which shows several times: they fill it, :func:`eye` with zeros before it writes its ones."""

_INNER = {"matmul": "mm", "norm": "linalg_vector_norm", "outer": "mul"}
"""Which function does the work of another in PyTorch, and so is named by its error of forward mode."""

_RECORDS: dict[str, str] = {
    **dict.fromkeys(("fft", "rfft", "rfftn"), "_fft_r2c"), **dict.fromkeys(("fft2", "fftn", "ifft2", "ifftn"), "_fft_c2c"),
    **dict.fromkeys(("hfft", "hfft2", "hfftn", "irfft", "irfft2", "irfftn"), "_fft_c2r"),
    **dict.fromkeys(("ifft", "ihfft", "ihfft2"), "aten::conj_physical"),
    **dict.fromkeys(("column_stack", "concat", "concatenate", "dstack", "hstack", "row_stack", "vstack"), "cat"),
    "fftfreq": "aten::fft_fftfreq", "rfftfreq": "aten::fft_rfftfreq",
    **dict.fromkeys(("ger", "inner", "kron", "outer"), "mul"), **dict.fromkeys(("float_power", "square"), "pow"),
    **dict.fromkeys(("inv", "inverse"), "linalg_inv_ex"), **dict.fromkeys(("chain_matmul", "multi_dot"), "mm"),
    **dict.fromkeys(("cross", "linalg_cross"), "linalg_cross"),
    **dict.fromkeys(("householder_product", "orgqr"), "linalg_householder_product"),
    **dict.fromkeys(("linalg_matmul", "linalg_matrix_power", "matmul", "matrix_power"), "matmul"),
    **dict.fromkeys(("norm", "vector_norm"), "linalg_vector_norm"),
    **{n: f"aten::{n}" for n in (
        "alias_copy", "arange", "conj_physical", "detach_copy", "diagonal_copy", "eye", "floor_divide", "full", "heaviside",
        "histogram",
        "linspace", "log_softmax", "logspace", "ones", "permute_copy", "rand", "slice_copy", "slice_scatter", "softmax",
        "squeeze_copy", "t_copy", "transpose_copy", "unsqueeze_copy", "view_as_complex_copy", "view_as_real_copy", "zeros",
    )},
    **{n: f"special_{n}" for n in ("entr", "erfcx", "i0e", "i1", "i1e", "log_ndtr", "ndtri", "xlog1py", "zeta")},
    "diag": "aten::diagonal_copy", "diff": "sub", "eigvals": "aten::linalg_eigvals", "eigvalsh": "_linalg_eigh",
    "ldl_solve": "aten::linalg_ldl_solve",
    "logsigmoid": "log_sigmoid_forward", "linalg_cholesky": "linalg_cholesky_ex", "linalg_det": "_linalg_det", "msort": "sort",
    "nanmean": "nansum", "solve": "_linalg_solve_ex", "svdvals": "_linalg_svd", "take_along_dim": "gather",
    "vecdot": "vdot", "true_divide": "div",
    "lstsq": "linalg_lstsq", "_polygamma_of": "polygamma", "cholesky_ex": "linalg_cholesky_ex", "inv_ex": "linalg_inv_ex",
    "lu_factor_ex": "linalg_lu_factor_ex",
}  # fmt: skip
"""Which function is named by the error for a gradient that is wanted, where that is another."""

_WITHOUT_GRADIENT = words(
    "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v "
    "chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he histc laguerre_polynomial_l legendre_polynomial_p "
    "modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 "
    "scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
    "shifted_chebyshev_polynomial_w spherical_bessel_j0 "
    "all any argmax argmin bucketize eq ge greater greater_equal gt isin isneginf isposinf le less less_equal "
    "logical_and logical_not logical_or logical_xor lt ne nonzero not_equal searchsorted signbit"
)
"""Functions that nothing is differentiable in: they take tensors that require grad as well."""

_COPIED = words("cond diff linalg_norm matrix_norm nanquantile ndtr pinv quantile tensordot tensorinv tensorsolve")
"""Functions whose result PyTorch copies into the ``out``: a leaf is refused as by :func:`copy_`."""

_MADE_OF_OTHERS = words("complex float_power isin ldexp matrix_rank normal pinv polar take_along_dim tensordot vecdot")
"""Functions that PyTorch makes of others, or that look at dtypes first: their ``out`` may be an operand of another size."""

_RESIZED = words("bernoulli eye full linspace logspace logsigmoid multinomial ones rand randint randn randperm zeros")
"""Functions that give their ``out`` the right size without a warning."""

_COUNTED = frozenset(("arange", "linspace", "logspace"))
"""Functions whose ``out`` may have any shape of as many elements as they make."""


def into(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], public: str = "") -> Any:
    """``function(*args, **kwargs)`` with its ``out``: the tensors given there hold the result and are returned.

    ``public`` is what errors about the arguments call it.

    Refused before a byte changes where PyTorch refuses it: when a gradient is wanted, for memory that is shared element by
    element or partly with an operand, for a dtype that cannot hold the result. An ``out`` of another size is resized like
    :func:`resize_` does it, with a warning; an empty one gets new memory: NumPy does not say where an empty view lies.
    """
    kwargs = dict(kwargs)
    out, name = kwargs.pop("out"), function.__name__
    if out is None:
        return function(*args, **kwargs)
    outs = outs_of(function, public or name, out, args, kwargs)
    operands = list(_tensors((*args, *kwargs.values())))
    _check(f"{name}imum" if name in ("max", "min") and len(operands) > 1 else name, outs, operands)
    if name in AS_OUT and kwargs.get("dtype") is None:
        kwargs["dtype"] = outs[0].dtype
    with quiet_no_grad():
        result = function(*args, **kwargs)
        results = result if isinstance(result, tuple) else (result,)
        check_pieces(name, len(results), len(outs))
        call = Call(operands, len(results), len(args) + len(kwargs))
        for at, (target, value) in enumerate(zip(outs, results, strict=True)):
            wrong = refused_dtype(name, at, value.dtype, target.dtype, call)
            _check_fits(name, target, value, operands, wrong)
        for target, value in zip(outs, results, strict=True):
            _write(name, target, value, operands)
    if name in PIECES:
        return None
    return out if isinstance(out, Tensor) else type(result)(*outs) if hasattr(result, "_fields") else tuple(outs)


def into_as(public: str) -> Callable[..., Any]:
    """:func:`into` for what is called ``public`` in errors about its arguments."""
    return functools.partial(into, public=public)


def _tensors(values: Iterable[Any]) -> Iterable[Tensor]:
    for v in values:
        if isinstance(v, Tensor):
            yield v
        elif isinstance(v, tuple | list):
            yield from _tensors(v)


def _check(name: str, outs: Sequence[Tensor], operands: list[Tensor]) -> None:
    if mode.grad and name in _COPIED:
        for out in outs:
            check_inplace(out, ())
    wanted = mode.grad and name not in _WITHOUT_GRADIENT
    if wanted and any(t.requires_grad and is_recorded(t) for t in (*outs, *operands)):
        raise errors.make(
            RuntimeError,
            errors.Details("other"),
            f"{_RECORDS.get(name, name)}(): functions with out=... arguments don't support automatic differentiation, but one of "
            "the arguments requires grad.",
            "fix: assign the result to a name instead, or wrap the call in torch.no_grad()",
        )
    if events.special & events.FORWARD and any(tangents_of(t) for t in (*outs, *operands)):
        raise NotImplementedError(
            f"Trying to use forward AD with {_INNER.get(name, name)}_out that does not support it because it is an out= function"
        )


def _check_fits(name: str, out: Tensor, result: Tensor, operands: list[Tensor], wrong: Exception | None) -> None:
    same_device(out, result)
    other_size = out._a.shape != result._a.shape and name != "index_select"
    made_first = other_size and (name in _JOINED or as_a_whole(name, len(operands)))
    target = wrap(_of_size(out, result)) if made_first else out
    if name in _APART:
        check_apart((out, target), operands)
    by_element = name not in _MADE_OF_OTHERS and not as_a_whole(name, len(operands))
    if other_size and by_element and any(t is out for t in operands):
        raise RuntimeError(
            f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(result.shape)}"
        )  # an operand is not resized
    if wrong is not None:
        raise wrong
    check_inplace(out, tuple(operands), repeating=made_first or name in _FACTORIES)
    check_partial(target, operands, name)
    if overlaps_itself(target._a) and as_a_whole(name, len(operands)):
        raise refusal()  # PyTorch adds up in there, and so reads what other elements have left
    if events.special & events.STRICT:
        refuse(out, f"{name}.out")


@at_home
def _write(name: str, out: Tensor, result: Tensor, operands: list[Tensor]) -> None:
    if events.special:
        before_write(out, name)
    if name in _COUNTED and out._a.size == result._a.size:
        result = result.reshape(out._a.shape)
    if out._a.shape != result._a.shape:
        if name not in _RESIZED and (operands or name != "normal"):
            _warn_of_size(name, out, result)
        old, out._a = out._a, _of_size(out, result)
        follow(out, old)
    if name in _FACTORIES and (repeats(out._a) or overlaps_itself(out._a)):
        zero = result._a == 0
        out._a[zero] = 0
        out._a[~zero] = result._a[~zero]
    elif overlaps_itself(out._a):
        write_last(out._a, result._a, [x._a for x in operands])
    else:
        out._a[...] = result._a
    out._bump(f"{name}.out", None, *caller())


@at_home
def _of_size(out: Tensor, result: Tensor) -> Any:
    """The buffer of ``out`` in the size and order of ``result``; a new one for an empty ``out``."""
    from .wide.shapes.factories import resized  # made of these ops

    if out._a.size:
        return resized(out, result._a.shape, result._a.strides)
    return array_module(result._a).empty_like(result._a, out._a.dtype)


def _warn_of_size(name: str, out: Tensor, result: Tensor) -> None:
    if out._a.size:
        text = _OTHER_SIZE.get(name, _OTHER_SHAPE)
        facts = {"shape": list(out.shape), "size": out._a.size, "wanted": list(result.shape), "count": result._a.size}
        warnings.warn(text.format(**facts), UserWarning, stacklevel=user_stacklevel())


_OTHER_SHAPE = (
    "An output with one or more elements was resized since it had shape {shape}, which does not match the required output shape "
    "{wanted}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero "
    "elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
)
_OTHER_SIZE = {
    "arange": "The number of elements in the out tensor of shape {shape} is {size} which does not match the computed number of "
    "elements {count}. Note that this may occur as a result of rounding error. The out tensor will be resized to a tensor of shape "
    "({count},).",
}
"""What PyTorch says of an ``out`` of another size, by function, where it has words of its own for it."""
