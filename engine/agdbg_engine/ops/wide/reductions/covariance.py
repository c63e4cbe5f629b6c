"""How variables vary together: rows are variables, columns observations."""

from __future__ import annotations

import warnings
from typing import Any

from ....dtype import scalar_type
from ....several import at_home
from ....sites import user_stacklevel
from ....tensor import Tensor
from ... import complexes
from ...explain import shape_error
from ..declare import public
from ..indexing.reading import number, some


@public("torch Tensor")
def cov(self: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of the rows, divided by ``n - correction``.

    ``fweights`` are how often each observation was made (integers), ``aweights`` how much it counts (floating).
    """
    if self.ndim > 2:
        raise shape_error(
            f"cov(): expected input to have two or fewer dimensions but got an input with {self.ndim} dimensions"
        )
    if self.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = self.reshape(1, -1) if self.ndim < 2 else self
    n = x.shape[1]
    w = _weights("fweights", fweights, n, "iu", "integral")
    a = _weights("aweights", aweights, n, "f", "floating point")
    if a is not None:
        w = a if w is None else w * a
    total: Any = n if w is None else w.sum()
    if w is not None and n and number(total) == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = (x if w is None else x * w).sum(1) / total
    norm = total - (correction if w is None or a is None or correction == 0 else correction * (w * a).sum() / total)
    if (number(norm) if isinstance(norm, Tensor) else norm) <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
        norm = norm.detach() * 0 if isinstance(norm, Tensor) else 0
    x = x - mean.unsqueeze(1)
    return (x.mm(complexes.conj((x if w is None else x * w).t())) / norm).squeeze()


@at_home
def _weights(name: str, w: Any, n: int, kinds: str, words: str) -> Any:
    if w is None:
        return None
    if w.ndim > 1:
        raise shape_error(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {w.ndim} dimensions"
        )
    if w.dtype.kind not in kinds:
        raise RuntimeError(
            f"cov(): expected {name} to have {words} dtype but got {name} with {scalar_type(w.dtype)} dtype"
        )
    if w._a.size != n:
        raise shape_error(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got {w._a.size} != {n}"
        )
    if n and some(w._a < 0):
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return w


@public("torch Tensor")
def corrcoef(self: Tensor) -> Tensor:
    """The correlation coefficients of the rows."""
    if self.ndim > 2:
        raise shape_error(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {self.ndim} dimensions"
        )
    c = cov(self)
    if not c.ndim:
        return c / c
    d = c.diagonal()
    std = (complexes.real(d) if c.dtype.kind == "c" else d).sqrt()
    c = c / std.reshape(-1, 1) / std.reshape(1, -1)
    if c.dtype.kind == "c":
        return complexes.complex(complexes.real(c).clamp(-1, 1), complexes.imag(c).clamp(-1, 1))
    return c.clamp(-1, 1)
