"""What two results have in common, one from PyTorch and one from the engine: each difference is a line."""

import numpy as np
import torch

import agdbg_engine as engine

CLOSE = {"float64": (1e-7, 1e-9), "complex128": (1e-7, 1e-9), "float32": (1e-4, 1e-5), "complex64": (1e-4, 1e-5),
         "float16": (4e-3, 1e-3), "bfloat16": (2e-2, 1e-2)}  # fmt: skip
"""Relative and absolute tolerance; the absolute one counts for numbers of size 1 and grows with the largest of a tensor."""


def differences(theirs, ours, values=True, path="result"):
    """The lines in which two results differ; without ``values`` only their form is compared."""
    if isinstance(theirs, torch.Tensor):
        if not isinstance(ours, engine.Tensor):
            yield f"{path}: torch gives a tensor, the engine {type(ours).__name__} {ours!r}"
        else:
            yield from _tensors(theirs, ours, values, path)
    elif isinstance(theirs, tuple | list) and not isinstance(theirs, torch.Size):
        yield from _sequences(theirs, ours, values, path)
    elif isinstance(theirs, dict):
        for key in theirs:
            yield from differences(theirs[key], ours[key], values, f"{path}[{key!r}]")
    elif isinstance(theirs, torch.dtype | torch.device):
        if str(theirs).removeprefix("torch.") != str(ours):
            yield f"{path}: torch {theirs}, engine {ours}"
    elif isinstance(theirs, int | float | complex | str | torch.Size | None):
        yield from _plain(theirs, ours, values, path)
    else:
        yield f"{path}: no comparison for {type(theirs).__name__}"


def _plain(theirs, ours, values, path):
    theirs = tuple(theirs) if isinstance(theirs, torch.Size) else theirs
    if type(theirs) is not type(ours) and not (isinstance(theirs, tuple) and isinstance(ours, tuple)):
        yield f"{path}: torch gives {theirs!r}, the engine {type(ours).__name__} {ours!r}"
    elif isinstance(theirs, float | complex):
        if values and not np.isclose(theirs, ours, rtol=1e-7, atol=1e-9, equal_nan=True):
            yield f"{path}: torch {theirs!r}, engine {ours!r}"
    elif values and theirs != ours:
        yield f"{path}: torch {theirs!r}, engine {ours!r}"


def _sequences(theirs, ours, values, path):
    if not isinstance(ours, tuple | list) or len(ours) != len(theirs):
        yield f"{path}: torch gives {len(theirs)} results, the engine {len(ours) if isinstance(ours, tuple | list) else repr(ours)}"
        return
    names = fields(theirs)
    if isinstance(theirs, tuple) is not isinstance(ours, tuple) or (names and names != fields(ours)):
        yield f"{path}: torch gives a {type(theirs).__name__}{list(names or ())}, the engine a {type(ours).__name__}{list(fields(ours) or ())}"
    for i, (a, b) in enumerate(zip(theirs, ours, strict=True)):
        yield from differences(a, b, values, f"{path}.{names[i]}" if names else f"{path}[{i}]")


def fields(value):
    """Names of the fields of a named tuple of either library, or None."""
    return getattr(type(value), "_fields", None) or getattr(type(value), "__match_args__", None) or None


def array_of(x):
    """The values of a tensor of either library as an array of NumPy."""
    x = x.detach()
    if isinstance(x, torch.Tensor):
        if x.layout is not torch.strided:
            return array_of(x.to_dense())
        x = (
            torch.zeros_like(x, memory_format=torch.contiguous_format)
            if x._is_zerotensor()
            else x.resolve_conj().resolve_neg()
        )
        x = x.float() if x.dtype is torch.bfloat16 else x
        return x.numpy()
    found = x.numpy()
    return found.astype(np.float32) if str(found.dtype) == "bfloat16" else found


def _tensors(theirs, ours, values, path):
    dtype = str(theirs.dtype).removeprefix("torch.")
    if str(ours.dtype) != dtype:
        yield f"{path}: dtype torch {dtype}, engine {ours.dtype}"
    if tuple(theirs.shape) != tuple(ours.shape):
        yield f"{path}: shape torch {list(theirs.shape)}, engine {list(ours.shape)}"
    elif values:
        told = different_numbers(array_of(theirs), array_of(ours), *CLOSE.get(dtype, (0, 0)))
        if told:
            yield f"{path}: {told}"


def different_numbers(theirs, ours, rtol, atol):
    """What differs between two arrays of one shape, or an empty string; NaN equals NaN."""
    with np.errstate(all="ignore"):
        if theirs.dtype.kind in "biu":
            same = theirs == ours
        else:
            wide = np.complex128 if theirs.dtype.kind == "c" or ours.dtype.kind == "c" else np.float64
            theirs, ours = theirs.astype(wide), ours.astype(wide)
            finite = np.abs(theirs[np.isfinite(theirs)])
            same = np.isclose(ours, theirs, rtol, atol * max(1.0, finite.max(initial=0.0)), equal_nan=True)
        if same.all():
            return ""
        wrong = np.argwhere(~same)
        at = tuple(map(int, wrong[0]))
        line = f"{len(wrong)} of {same.size} numbers differ, first at {list(at)}: torch {theirs[at]}, engine {ours[at]}"
        if same.size <= 12:
            line += f"\n      torch  {theirs.tolist()}\n      engine {ours.tolist()}"
        return line
