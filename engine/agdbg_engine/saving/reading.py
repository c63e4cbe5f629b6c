"""Reading: every number in a file is checked before memory is touched, since a file may be damaged or made by an enemy."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
import zlib
from typing import Any

import numpy as np

from ..tensor import Parameter
from .locations import LocationError, placed
from .tree import DTYPES, Decoder

_PICKLES = b"\x80"
_TORCH = (
    "this file was written by PyTorch's torch.save: it is a pickle, which can run code, and is not read here. Convert it once "
    "where PyTorch is installed, tensor by tensor through NumPy, and save that"
)


def load(f: Any, map_location: Any = None, *, weights_only: bool | None = None) -> Any:
    """What :func:`save` wrote to ``f``, a path or a file open for reading bytes.

    Tensors come back on the device that they were on, or on ``map_location``: a device or its name, a dict from names to
    names, or a function of the tensor on the CPU and that name which gives it back from where it is to be, or ``None``.
    ``weights_only`` changes nothing, since no file can make anything else than plain values. :class:`RuntimeError` for a file that
    is damaged or none of these.
    """
    if isinstance(f, str | os.PathLike):
        with open(os.fspath(f), "rb") as file:
            return _read(file, map_location)
    return _read(f if f.seekable() else io.BytesIO(f.read()), map_location)


def _read(file: Any, map_location: Any) -> Any:
    start = file.tell()
    first = file.read(4)
    file.seek(start)
    if first[:1] == _PICKLES:
        raise RuntimeError(_TORCH)
    if first[:2] != b"PK":
        raise RuntimeError("this is no file that save() wrote" + ("" if first else ": it is empty"))
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            if "tree.json" not in names and any(name.endswith("/data.pkl") for name in names):
                raise _ForeignError(_TORCH)
            return _of_archive(archive, map_location)
    except _ForeignError as error:
        raise RuntimeError(str(error)) from None
    except LocationError as error:
        raise error.told from error.__cause__
    except _FAULTS as error:
        raise RuntimeError(
            f"the file is damaged, cut off, or none that save() wrote: {type(error).__name__}: {error}"
        ) from error


class _ForeignError(Exception):
    """A file of somebody else."""


_FAULTS = (
    zipfile.BadZipFile, zlib.error, ValueError, TypeError, KeyError, IndexError, EOFError, OverflowError, AttributeError,
    NotImplementedError, RecursionError, MemoryError, RuntimeError,
)  # fmt: skip


def _of_archive(archive: zipfile.ZipFile, map_location: Any) -> Any:
    described = json.loads(archive.read("tree.json"))
    if described["format"] != "agdbg":
        raise ValueError(f"format {described['format']!r}")
    if described["version"] != 1:
        raise _ForeignError(f"the file has version {described['version']!r} of the format, and only 1 is known")
    pieces: dict[int, Any] = {}
    made = []
    for entry in described["tensors"]:
        number = entry["data"]
        if number not in pieces:
            pieces[number] = _piece(archive, number)
        made.append(_made(entry, _part(entry, pieces[number]), map_location))
    return Decoder(made).decode(described["tree"])


def _piece(archive: zipfile.ZipFile, number: Any) -> Any:
    """A piece of memory: an array of one dimension."""
    if type(number) is not int:
        raise ValueError(f"data {number!r}")
    info = archive.getinfo(f"data/{number}.npy")
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError("compressed data")
    text = archive.read(info)
    file = io.BytesIO(text)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("unknown version of the .npy format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.name not in DTYPES or not dtype.isnative or len(shape) != 1:
        raise ValueError(f"an array of {dtype} with sizes {shape}")
    if shape[0] * dtype.itemsize != len(text) - file.tell():
        raise ValueError("an array of another size than its header says")
    return np.frombuffer(text, dtype, offset=file.tell()).copy()


def _part(entry: Any, piece: Any) -> Any:
    """The part of ``piece`` that a tensor shows."""
    shape, strides, offset = entry["shape"], entry["strides"], entry["offset"]
    if entry["dtype"] not in DTYPES:
        raise ValueError(f"unknown dtype {entry['dtype']!r}")
    dtype = np.dtype(entry["dtype"])
    if len(shape) != len(strides) or any(type(n) is not int or n < 0 for n in (*shape, *strides, offset)):
        raise ValueError("sizes, strides or offset of a tensor are none")
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + dtype.itemsize
    if math.prod(shape) and last > piece.nbytes:
        raise ValueError("a tensor outside of its memory")
    if not math.prod(shape):
        return np.empty(shape, dtype)
    return np.ndarray(tuple(shape), dtype, piece, offset, tuple(strides))


def _made(entry: Any, a: Any, map_location: Any) -> Any:
    if entry["class"] == "array":
        return a
    if entry["class"] not in ("Tensor", "Parameter"):
        raise ValueError(f"unknown class {entry['class']!r}")
    if type(entry["device"]) is not str:
        raise ValueError(f"device {entry['device']!r}")
    t = placed(a, entry["device"], map_location)
    t._shared_storage().version = 1  # as after pickle: the memory was put in
    needs = entry["requires_grad"] is True
    return Parameter(t, requires_grad=needs) if entry["class"] == "Parameter" else t.requires_grad_(needs)
