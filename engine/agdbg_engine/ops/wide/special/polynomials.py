"""Special functions without a gradient in PyTorch: orthogonal polynomials, Airy and Bessel functions; SciPy's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....backward import QUIET
from ....dtype import get_default_dtype, result_type, scalar_type
from ....foreign import is_pytorchs
from ....several import at_home
from ....tensor import Tensor, wrap
from ...compare import no_gradient
from ...explain import explain, no_tensor, not_a_tensor
from ...host_only import check_place
from ...prepare import as_array
from ..declare import public
from .scipy_values import functions_of

# ----- of one -----


def _airy_ai(x: Any) -> Any:
    return np.where((x > 104) & (x < np.inf), np.zeros_like(x), functions_of(x).airy(x)[0])  # NaN from 1e9 on in SciPy


def _spherical_bessel_j0(x: Any) -> Any:
    return np.where(np.isinf(x), np.zeros_like(x), np.sinc(x / np.pi))


def _scipy(name: str) -> Callable[[Any], Any]:
    return lambda x: getattr(functions_of(x), name)(x)


_OF_ONE: dict[str, Callable[[Any], Any]] = {
    "airy_ai": _airy_ai, "spherical_bessel_j0": _spherical_bessel_j0,
    "bessel_j0": _scipy("j0"), "bessel_j1": _scipy("j1"), "bessel_y0": _scipy("y0"), "bessel_y1": _scipy("y1"),
    "modified_bessel_i0": _scipy("i0"), "modified_bessel_i1": _scipy("i1"),
    "modified_bessel_k0": _scipy("k0"), "modified_bessel_k1": _scipy("k1"),
    "scaled_modified_bessel_k0": _scipy("k0e"), "scaled_modified_bessel_k1": _scipy("k1e"),
}  # fmt: skip


def _function(name: str, value: Callable[[Any], Any]) -> None:
    @at_home
    def function(self: Tensor) -> Tensor:
        no_gradient((self,))
        check_place(name, self._a)
        x = _floating(name, self._a)
        with np.errstate(**QUIET):
            return wrap(as_array(value(x).astype(x.dtype)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The function {name.replace('_', ' ')} of every element; no gradient."
    public("special", out=True)(function)


def _floating(name: str, x: Any) -> Any:
    if x.dtype.kind == "c" or x.dtype == np.float16:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{scalar_type(x.dtype)}'")
    return x if x.dtype.kind == "f" else x.astype(get_default_dtype())


for _name, _value in _OF_ONE.items():
    _function(_name, _value)

# ----- polynomials of an argument and a degree -----


def _eval(name: str) -> Callable[[Any, Any], Any]:
    return lambda x, n: getattr(functions_of(x), name)(n, x)


def _chebyshev_v(x: Any, n: Any) -> Any:
    """The third kind: a difference of two of the second."""
    u = functions_of(x).eval_chebyu
    return u(n, x) - np.where(n == 0, 0.0, u(np.maximum(n - 1, 0), x))


def _chebyshev_w(x: Any, n: Any) -> Any:
    """The fourth kind: a sum of two of the second."""
    u = functions_of(x).eval_chebyu
    return u(n, x) + np.where(n == 0, 0.0, u(np.maximum(n - 1, 0), x))


def _shifted(value: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, n: value(2 * x - 1, n)


_CHEBYSHEV = {"t": _eval("eval_chebyt"), "u": _eval("eval_chebyu"), "v": _chebyshev_v, "w": _chebyshev_w}
_OF_DEGREE: dict[str, Callable[[Any, Any], Any]] = {
    **{f"chebyshev_polynomial_{kind}": value for kind, value in _CHEBYSHEV.items()},
    **{f"shifted_chebyshev_polynomial_{kind}": _shifted(value) for kind, value in _CHEBYSHEV.items()},
    "hermite_polynomial_h": _eval("eval_hermite"), "hermite_polynomial_he": _eval("eval_hermitenorm"),
    "laguerre_polynomial_l": _eval("eval_laguerre"), "legendre_polynomial_p": _eval("eval_legendre"),
}  # fmt: skip


def _polynomial(name: str, value: Callable[[Any, Any], Any]) -> None:
    @at_home
    def function(self: Any, n: Tensor | Any) -> Tensor:
        no_gradient((self, n))
        if not isinstance(self, Tensor) and not isinstance(n, Tensor):
            raise no_tensor(f"special_{name}", self, n)
        if is_pytorchs(type(self)) or is_pytorchs(type(n)):  # NumPy would take it
            raise not_a_tensor(f"special_{name}", *(("n", n, 2) if isinstance(self, Tensor) else ("self", self, 1)))
        x, degree, dtype = _operands(name, self, n)
        check_place(name, x)
        check_place(name, degree)
        try:
            with np.errstate(**QUIET):
                degree = degree.astype(np.int64)
                found = np.where(degree < 0, 0.0, value(x.astype(np.float64), np.maximum(degree, 0)))
                found = np.where(degree == 0, 1.0, found)  # at infinities and NaN too
                return wrap(as_array(found.astype(dtype)))
        except ValueError as error:
            raise explain(name, error, self=self, n=n) from None

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The {name.replace('_', ' ')} of degree ``n`` at every element; 0 for n < 0; no gradient."
    public("special", out=True)(function)


def _operands(name: str, *operands: Any) -> tuple[Any, Any, Any]:
    """Argument and degree as arrays, and the dtype of the result."""
    ranked = []
    for x in operands:
        array = x._a if isinstance(x, Tensor) else np.asarray(x)
        kind = get_default_dtype() if not isinstance(x, Tensor) and array.dtype.kind == "f" else array.dtype
        ranked.append((kind, (2 if array.ndim else 1) if isinstance(x, Tensor) else 0))
    dtype = result_type(ranked)
    x, n = (x._a if isinstance(x, Tensor) else np.asarray(x)[()] for x in operands)
    return x, n, _floating(name, np.zeros((), dtype)).dtype


for _name, _polynomial_value in _OF_DEGREE.items():
    _polynomial(_name, _polynomial_value)
