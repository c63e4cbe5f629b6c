"""Values joined at places that an index may name several times: the methods ``at`` of NumPy's ufuncs, on any storage.

CuPy's are made of the GPU's atomic operations, of which there are few: sums of int32, uint32, uint64 and of floats, extremes of the
same integers. (Its extremes of floats skip NaN, and round doubles to single precision.) Other dtypes are brought to one of
those, without loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import array_module


def add_at(out: Any, index: Any, values: Any) -> None:
    """Add ``values`` to ``out`` at ``index``, once for every time a place is named; bools are joined by "or"."""
    join_at("add", out, index, values)


def add_in_turn(out: Any, index: Any, values: Any) -> None:
    """:func:`add_at` of ``values`` that may lie in the memory of ``out``: on the host each is read when its turn comes."""
    if not isinstance(out, np.ndarray) or not np.may_share_memory(out, values):
        add_at(out, index, values)
        return
    places = np.arange(out.size).reshape(out.shape)[index]
    values = np.broadcast_to(values, places.shape)
    for at in np.ndindex(places.shape):
        out[np.unravel_index(places[at], out.shape)] += values[at]


def times_named(places: Any, n: int) -> Any:
    """How often each of ``n`` places is named, as int64; unlike CuPy's ``bincount`` it reads nothing on the host."""
    if isinstance(places, np.ndarray):
        return np.bincount(places.reshape(-1), minlength=n)
    out = array_module(places).zeros(n, np.int64)
    add_at(out, places.reshape(-1), 1)
    return out


def join_at(how: str, out: Any, index: Any, values: Any) -> None:
    """Join ``values`` to what ``out`` has at ``index`` by NumPy's ufunc ``how``, once for every time a place is named.

    On a device ``how`` is ``"add"``, ``"maximum"`` or ``"minimum"``. NaN is an extreme, as in NumPy.
    """
    if isinstance(out, np.ndarray):
        if how == "add" and out.dtype.char == "e" and not _may_overlap(out):  # else sums stop growing: 2048 + 1 is 2048
            wide = out.astype(np.float32)
            join_at(how, wide, index, values)
            out[...] = wide
            return
        getattr(np, how).at(out, index, values)
        return
    values = array_module(out).asarray(values, out.dtype)
    if _may_overlap(out):  # what several elements are one place of is joined there
        out, index = _in_memory(out, index)
    (_add if how == "add" else _extreme)(how, out, index, values)


def _add(how: str, out: Any, index: Any, values: Any) -> None:
    code = out.dtype.char
    if out.dtype.kind == "c":
        _add(how, out.real, index, values.real)
        _add(how, out.imag, index, values.imag)
    elif code == "?":
        _narrow("maximum", out, index, values)
    elif code == "e":  # as on the CPU, else sums stop growing
        wide = out.astype(np.float32)
        _atomic(how, wide, index, values.astype(np.float32))
        out[...] = wide
    elif out.dtype == np.int64:  # sums wrap around to the same bits
        _atomic(how, out.view(np.uint64), index, values.view(np.uint64))
    elif out.dtype.kind in "iu" and out.itemsize < 4:
        _narrow(how, out, index, values)
    else:
        _atomic(how, out, index, values)


def _extreme(how: str, out: Any, index: Any, values: Any) -> None:
    code = out.dtype.char
    if code == "e":
        wide = out.astype(np.float32)
        _extreme(how, wide, index, values.astype(np.float32))
        out[...] = wide
    elif code == "?" or (out.dtype.kind in "iu" and out.itemsize < 4):
        _narrow(how, out, index, values)
    elif out.dtype.kind == "f" or out.dtype == np.int64:
        ranks = _ranks(how, out)
        _atomic(how, ranks, index, _ranks(how, values))
        out[...] = _unranked(ranks, out.dtype)
    else:
        _atomic(how, out, index, values)


def _atomic(how: str, out: Any, index: Any, values: Any) -> None:
    getattr(array_module(out), how).at(out, index, values)


def _narrow(how: str, out: Any, index: Any, values: Any) -> None:
    """As int32."""
    wide = array_module(out).zeros(out.shape, np.int32)
    if how != "add":
        wide[...] = out
    _atomic(how, wide, index, values.astype(np.int32))
    out[...] = (out + wide if how == "add" else wide).astype(out.dtype)


# ----- elements that share memory -----


def _may_overlap(out: Any) -> bool:
    """Whether some place of memory may be several elements of ``out``; never false where one is."""
    reach = 0
    for step, n in sorted((abs(step), n) for n, step in zip(out.shape, out.strides, strict=True) if n > 1):
        if step <= reach:
            return True
        reach += (n - 1) * step
    return False


def _in_memory(out: Any, index: Any) -> tuple[Any, Any]:
    """The memory that ``out`` shows, from its first place to its last in a row, and the positions of ``index`` there."""
    xp = array_module(out)
    turned = out[tuple(slice(None, None, -1 if step < 0 else 1) for step in out.strides)]  # begins at the lowest place
    steps = [step // out.itemsize for step in turned.strides]
    span = 1 + sum((n - 1) * step for n, step in zip(out.shape, steps, strict=True))
    places = xp.zeros((), np.int64)
    for d, (n, step) in enumerate(zip(out.shape, out.strides, strict=True)):
        along = xp.arange(n, dtype=np.int64) * (abs(step) // out.itemsize)
        places = places + (along if step >= 0 else along[::-1]).reshape(-1, *[1] * (out.ndim - d - 1))
    return xp.lib.stride_tricks.as_strided(turned, (span,), (out.itemsize,)), (places[index],)


# ----- an order of integers for other numbers -----


def _ranks(how: str, values: Any) -> Any:
    """``values`` as integers without sign in the same order, NaN beyond all others on the side that ``how`` looks for."""
    bits = values.view(f"u{values.itemsize}")
    sign = _sign(bits)
    if values.dtype.kind == "i":
        return bits ^ sign
    ranks = np.where(bits & sign, ~bits, bits | sign)
    return np.where(np.isnan(values), bits.dtype.type(0 if how == "minimum" else np.iinfo(bits.dtype).max), ranks)


def _unranked(ranks: Any, dtype: Any) -> Any:
    """The numbers of :func:`_ranks`."""
    sign = _sign(ranks)
    bits = ranks ^ sign if dtype.kind == "i" else np.where(ranks & sign, ranks ^ sign, ~ranks)
    return bits.view(dtype)


def _sign(bits: Any) -> Any:
    return bits.dtype.type(1 << (8 * bits.itemsize - 1))
