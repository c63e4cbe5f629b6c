"""What may be given as ``out``: a tensor, or a sequence of as many as there are results; PyTorch's words for the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..tensor import Tensor


def words(names: str) -> frozenset[str]:
    """A set of names that are written one after the other."""
    return frozenset(names.split())


_SEVERAL: dict[str, tuple[int, int]] = {
    "aminmax": (2, 3), "cholesky_ex": (2, 3), "cummax": (2, 2), "cummin": (2, 2), "eig": (2, 1), "eigh": (2, 2), "frexp": (2, 1),
    "geqrf": (2, 1), "histogram": (2, 5), "inv_ex": (2, 2), "kthvalue": (2, 4), "ldl_factor": (2, 2), "ldl_factor_ex": (3, 3),
    "linalg_lu": (3, 2), "linalg_qr": (2, 2), "linalg_slogdet": (2, 1), "linalg_svd": (3, 3), "lstsq": (4, 4),
    "lu_factor": (2, 2), "lu_factor_ex": (3, 3), "median": (2, 3), "mode": (2, 3), "nanmedian": (2, 3), "qr": (2, 2),
    "slogdet": (2, 1), "solve_ex": (2, 4), "sort": (2, 3), "svd": (3, 3), "topk": (2, 5), "triangular_solve": (2, 5),
}  # fmt: skip
"""Functions with several results: how many, and which argument their ``out`` is."""

PIECES = {
    "split_copy": "split_copy_Tensor_out()", "split_with_sizes_copy": "split_with_sizes_copy_out",
    "unbind_copy": "unbind_copy_int_out",
}  # fmt: skip
"""Functions whose results are pieces of what they are given, and who speaks of a wrong number. With ``out`` they return nothing."""

_BY_SAMPLE = frozenset(("lu", *PIECES))
"""Functions whose number of results depends on what they are given."""

_NEEDS_DIM = frozenset(("median", "nanmedian"))
_NOT_OF_ONE = frozenset(("prod", "sum", "where"))
"""Functions that have no ``out`` when they are given one tensor only, though they have it otherwise."""

_OVERLOADED = words(
    "addmm all any arange baddbmm bernoulli bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor "
    "bmm bucketize clamp clamp_max clamp_min clip copysign div divide eq eye float_power fmod ge greater greater_equal "
    "gt histogram isin le lerp less less_equal linalg_cond linalg_matrix_norm linalg_matrix_rank linalg_norm linalg_pinv "
    "linspace logspace lt max mean min mm nanquantile ne normal not_equal pow quantile rand randn randperm "
    "remainder round scatter searchsorted sort special_chebyshev_polynomial_t special_chebyshev_polynomial_u "
    "special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_hermite_polynomial_h "
    "special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p "
    "special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u "
    "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w special_xlog1py special_xlogy "
    "special_zeta squeeze_copy std subtract var xlogy"
)
"""Functions of several signatures: PyTorch says of a wrong ``out`` that none of them fits."""

_SPOKEN = {"logsigmoid": "log_sigmoid", "norm": "linalg_vector_norm"}
"""Which function speaks for another."""


def outs_of(
    function: Callable[..., Any], public: str, out: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> Sequence[Tensor]:
    """The tensors that ``function(*args, out=out, **kwargs)`` writes to; it is called ``public`` in errors.

    Raises:
        TypeError: no tensor where one is written, no sequence where several are, or another number of them than there are results.
    """
    name = function.__name__
    if name in _BY_SAMPLE:
        return _each(public, out)
    whole = len(args) + len(kwargs) == 1
    several = _SEVERAL.get(name)
    if name in ("max", "min") and not whole and not _elementwise(args, kwargs):
        several = (2, 3)
    if name in _NEEDS_DIM and whole:
        raise TypeError(f'{public}() missing 1 required positional arguments: "dim"')
    fits = isinstance(out, Tensor) if several is None else isinstance(out, tuple | list)
    one = len(args) < 2 and not {"dim", "axis", "other"} & {*kwargs}
    without = name in _NOT_OF_ONE if one else name == "bernoulli"
    if without or not fits:
        if without or public in _OVERLOADED:
            raise _none_fits(public, out, args, kwargs)
        raise _refused(public, out, several is not None)
    if several is None:
        return (out,)
    for at, one in enumerate(out):
        if not isinstance(one, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument {several[1]}, but got {type(one).__name__}")
    if len(out) != several[0]:
        raise TypeError(f"expected tuple of {several[0]} elements but got {len(out)}")
    return tuple(out)


def _each(name: str, out: Any) -> Sequence[Tensor]:
    outs = tuple(out) if isinstance(out, tuple | list) else (out,)
    if name in PIECES and not isinstance(out, tuple | list):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    for one in outs:
        if not isinstance(one, Tensor):
            raise _refused(name, one, several=True)
    return outs


def check_pieces(name: str, wanted: int, given: int) -> None:
    """Raise PyTorch's :class:`RuntimeError` unless ``given`` tensors serve as ``out`` of ``wanted`` pieces."""
    if name in PIECES and wanted != given:
        raise RuntimeError(f"{PIECES[name]} expected an out= argument of size {wanted}, got size {given}")


def _elementwise(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether ``max`` and ``min`` are asked for the larger or smaller of two tensors."""
    return "other" in kwargs or (len(args) > 1 and isinstance(args[1], Tensor))


def _none_fits(public: str, out: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> TypeError:
    by_name = [f"{n}={_kind(v)}" for n, v in (("out", out), *kwargs.items())]
    given = ", ".join([*map(_kind, args), *by_name])
    return TypeError(f"{public}() received an invalid combination of arguments - got ({given}), but expected one of:")


def _refused(public: str, out: Any, several: bool) -> TypeError:
    kind = "tuple of Tensors" if several else "Tensor"
    return TypeError(f"{_SPOKEN.get(public, public)}(): argument 'out' must be {kind}, not {_kind(out)}")


def _kind(value: Any) -> str:
    return "Tensor" if isinstance(value, Tensor) else type(value).__name__
