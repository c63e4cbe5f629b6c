"""Pieces of matrices that formulas of linear algebra are made of, for buffers and for tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....device import array_module
from ....tensor import Tensor, wrap
from ... import _generated as g
from ... import graph
from ...formulas import real_part
from ...lists import cat
from ..declare import formula, in_both


def _masked(make: Any, x: Tensor, k: int) -> Tensor:
    mask = make(array_module(x._a).ones(x.shape[-2:], dtype=bool), k)
    return graph.keep(x, wrap(mask))


in_both("lower", lambda x, k=0: np.tril(x, k), lambda x, k=0: _masked(np.tril, x, k))
in_both("upper", lambda x, k=0: np.triu(x, k), lambda x, k=0: _masked(np.triu, x, k))


def _diagonal(x: Tensor) -> Tensor:
    places = array_module(x._a).arange(min(x.shape[-2:]))
    return g.index(x, (Ellipsis, places, places))


def _embedded(d: Any) -> Any:
    n = d.shape[-1]
    out = array_module(d).zeros((*d.shape, n), d.dtype)
    places = array_module(d).arange(n)
    out[..., places, places] = d
    return out


def _embedded_tensor(d: Tensor) -> Tensor:
    eye = array_module(d._a).eye(d.shape[-1], dtype=bool)
    return graph.keep(d[..., None], wrap(eye))


in_both("diagonal_of", lambda x: np.diagonal(x, 0, -2, -1), _diagonal)
in_both("on_diagonal", _embedded, _embedded_tensor)


def _eye(x: Any) -> Any:
    return array_module(x).eye(x.shape[-1], dtype=x.dtype)


def _eye_tensor(x: Tensor) -> Tensor:
    return wrap(_eye(x._a))


in_both("eye_as", _eye, _eye_tensor)
in_both("joined", lambda parts, dim: np.concatenate(parts, dim), lambda parts, dim: cat(parts, dim))


@formula
def conj_of(F: Any, x: Any) -> Any:
    """The conjugate; real numbers as they are."""
    return F.conj_raw(x) if x.dtype.kind == "c" else x


@formula
def as_real(F: Any, x: Any, dtype: Any) -> Any:
    """``x``, its real part if ``dtype`` is real: the gradient of a real tensor."""
    return real_part(F, x) if x.dtype.kind == "c" != np.dtype(dtype).kind else x


def halved_diagonal(F: Any, x: Any) -> Any:
    """``x`` with half of its diagonal."""
    return x - 0.5 * F.on_diagonal(F.diagonal_of(x))


def sym(F: Any, x: Any) -> Any:
    """``x + x^H``."""
    return x + F.mH(x)


def skew(F: Any, x: Any) -> Any:
    """``x - x^H``."""
    return x - F.mH(x)


def plus(a: Any, b: Any) -> Any:
    """``a + b`` where either may be ``None``."""
    return b if a is None else a if b is None else a + b


def differences(F: Any, s: Any) -> Any:
    """The matrix of ``s_j - s_i``, 1 on the diagonal."""
    return s[..., None, :] - s[..., :, None] + F.eye_as(s)
