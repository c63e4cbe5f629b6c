"""Operands that share memory with what an in-place op writes: refused where PyTorch refuses them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..layout import dense
from ..tensor import Tensor, overlap

_APART = frozenset(
    (
        "index_add_",
        "index_copy_",
        "index_fill_",
        "index_put_",
        "index_reduce_",
        "put_",
        "scatter_",
        "scatter_add_",
        "scatter_reduce_",
    )
)
"""Ops whose operands may not even be all of the memory that is written: what one element is given another may still read."""

_READ_FIRST = frozenset(("fill_", "index_fill_", "masked_fill_"))
"""Ops whose last operand is one element, read before anything is written."""


_WITH_FIRST = frozenset(("addmm", "addmv", "addbmm", "baddbmm"))
"""Ops that add to their first operand, element by element, what they have made of the others as a whole."""

RUNNING = frozenset(("cumprod", "cumsum", "logcumsumexp"))
"""Ops that go along a dimension of their operand."""

_AS_A_WHOLE = frozenset((
    "alias_copy", "all", "amax", "amin", "any", "argmax", "argmin", "bmm", "bucketize", "cholesky_inverse",
    "cholesky_solve", "cummax", "cummin", "diag", "diagonal_copy", "dot", "histc", "inner", "inverse", "log_softmax",
    "logsumexp", "masked_scatter", "matmul", "matrix_norm", "matrix_power", "mean", "median", "mm", "mode", "mv",
    "nanmean", "nanmedian", "nanquantile", "nansum", "norm", "orgqr", "prod", "quantile", "searchsorted",
    "select_copy", "slice_copy", "slice_scatter", "softmax", "squeeze_copy", "std", "sum", "t_copy", "transpose_copy",
    "tril", "triu", "unsqueeze_copy", "var", "vdot", "vector_norm",
))  # fmt: skip
"""Ops that are not computed element by element: PyTorch does not look where their operands lie. Some of them then read there what
they have written already; here everything is read first.
"""


def check_operands(t: Tensor, name: str, args: tuple[Any, ...]) -> None:
    """Refuse ``t.name(*args)`` where an operand shares memory with ``t`` in a way that the op cannot do with.

    It is the memory that counts, however a tensor came to it: PyTorch misses what was shared by way of NumPy.
    """
    if name in _READ_FIRST or (name == "index_put_" and _by_one_mask(args)):
        args = args[:-1] if name in _READ_FIRST else args[:1]
    elif name[:-1] in _AS_A_WHOLE or name[:-1] in _WITH_FIRST:
        return
    apart = name in _APART
    for x in args:
        if isinstance(x, Tensor):
            if _shares(t._a, x._a, wholly=apart) or (apart and x is t):  # itself, however it lies or empty it is
                raise _refused()
        elif apart and isinstance(x, tuple) and any(_index_shares(t._a, k) for k in x):
            raise _refused()


def check_apart(written: Sequence[Tensor], operands: Sequence[Tensor]) -> None:
    """Refuse to write to tensors where an operand shares memory with one at all, or is one, however empty."""
    if any(t is x or _shares(t._a, x._a, wholly=True) for t in written for x in operands):
        raise _refused()


def check_partial(t: Tensor, operands: Sequence[Any], name: str = "") -> None:
    """Refuse to write ``t``, the ``out`` of function ``name``, where an operand shares some of its memory but is not all of it,
    element by element.
    """
    if name in _WITH_FIRST or name in RUNNING or not as_a_whole(name, len(operands)):
        check_operands(t, "", tuple(operands[:1] if name in _WITH_FIRST else operands))


def as_a_whole(name: str, operands: int) -> bool:
    """Whether function ``name`` of so many tensors is not computed element by element, so that PyTorch resizes its ``out`` before
    it looks where that lies.
    """
    if name in ("max", "min"):
        return operands == 1
    return name.removeprefix("linalg_") in _AS_A_WHOLE or name in _WITH_FIRST or name in RUNNING


def _by_one_mask(args: tuple[Any, ...]) -> bool:
    """Whether ``index_put_`` with ``args`` is what ``masked_fill_`` does: one element for all that one mask picks."""
    key, values, accumulate = (*args, False)[:3]
    if accumulate:
        return False
    masks = [k for k in key if not isinstance(k, slice)]
    return len(masks) == 1 and masks[0].dtype.kind == "b" and isinstance(values, Tensor) and values._a.size == 1


def _refused() -> Exception:
    return overlap("some elements of the input tensor and the written-to tensor refer")


def _shares(a: Any, b: Any, wholly: bool) -> bool:
    """Whether dense buffer ``b`` shares memory with dense ``a``; ``wholly``: also where the two are the same elements."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if not np.may_share_memory(a, b):  # many tensors come here, and this is quick
            return False
    elif isinstance(a, np.ndarray) or isinstance(b, np.ndarray) or not _meet(a, b):
        return False
    if not (dense(a) and dense(b)):
        return False
    return wholly or not _same_elements(a, b)


def _meet(a: Any, b: Any) -> bool:
    """Whether the memory of dense ``a`` and that of dense ``b``, on devices, have a byte in common."""
    return bool(a.nbytes and b.nbytes and _start(a) < _start(b) + b.nbytes and _start(b) < _start(a) + a.nbytes)


def _start(a: Any) -> int:
    """The address of the first element."""
    found: int = a.ctypes.data if isinstance(a, np.ndarray) else a.data.ptr
    return found


def _same_elements(a: Any, b: Any) -> bool:
    """Whether both are the same elements in one order, whatever steps NumPy chose along dimensions of size 1."""
    if a.shape != b.shape or _start(a) != _start(b) or a.nbytes != b.nbytes:
        return False
    return a.strides == b.strides or all(s == t for n, s, t in zip(a.shape, a.strides, b.strides, strict=True) if n > 1)


def _index_shares(a: Any, key: Any) -> bool:
    return key is a or (hasattr(key, "strides") and key.dtype.kind != "b" and _shares(a, key, wholly=True))
