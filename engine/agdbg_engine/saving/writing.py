"""Writing: which pieces of memory the tensors of a tree need, and the archive."""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import Any

import numpy as np

from ..nn.parameter import Buffer
from ..tensor import Parameter, Tensor
from .tree import DTYPES, Encoder


def save(obj: Any, f: Any) -> None:
    """Write ``obj`` to ``f``, a path or a file open for writing bytes: tensors, state dicts, containers of plain values.

    Views and tensors that share memory keep doing so (all of a piece of memory is written, as in PyTorch); parameters stay
    parameters; what requires a gradient does so again, as a leaf. :class:`TypeError` for anything else, such as a whole module:
    nothing is written then.
    """
    memory = Memory()
    tree = Encoder(memory.keep).encode(obj)
    described = {"format": "agdbg", "version": 1, "tree": tree, "tensors": memory.tensors}
    text = json.dumps(described, allow_nan=False)
    with zipfile.ZipFile(os.fspath(f) if isinstance(f, str | os.PathLike) else f, "w") as archive:
        archive.writestr("tree.json", text)
        for i, piece in enumerate(memory.pieces):
            with archive.open(f"data/{i}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, piece, allow_pickle=False)


class Memory:
    """Tensors and arrays by number, and the pieces of memory that they are parts of."""

    def __init__(self) -> None:
        self.tensors: list[dict[str, Any]] = []
        self.pieces: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._pieces: dict[int, int] = {}
        self._alive: list[Any] = []  # ids are only good as long as what has them lives

    def keep(self, x: Any) -> int:
        """The number of ``x``, a tensor or an array; the same one for the same object."""
        number = self._numbers.get(id(x))
        if number is None:
            entry = self._tensor(x) if isinstance(x, Tensor) else {"class": "array", **self._place(x)}
            number = self._numbers[id(x)] = len(self.tensors)
            self.tensors.append(entry)
            self._alive.append(x)
        return number

    def _tensor(self, t: Tensor) -> dict[str, Any]:
        if type(t) not in (Tensor, Parameter, Buffer):
            raise TypeError(f"cannot save a tensor of class {type(t).__name__}: only Tensor and Parameter")
        a = t._a if isinstance(t._a, np.ndarray) else t.detach().cpu()._a
        kind = "Parameter" if type(t) is Parameter else "Tensor"
        return {"class": kind, "requires_grad": t.requires_grad, "device": str(t.device), **self._place(a)}

    def _place(self, a: Any) -> dict[str, Any]:
        owner = a
        while type(owner.base) is np.ndarray:
            owner = owner.base
        if (
            owner.dtype.name not in DTYPES
            or not owner.dtype.isnative
            or not _dense(owner)
            or min(a.strides, default=0) < 0
        ):
            owner = a = np.array(a, a.dtype.newbyteorder("="), order="C")  # a memory of its own that is simple
        offset = a.ctypes.data - owner.ctypes.data if a.size else 0
        piece = self._pieces.get(id(owner))
        if piece is None:
            piece = self._pieces[id(owner)] = len(self.pieces)
            self.pieces.append(owner.reshape(-1, order="A") if owner.flags.c_contiguous else owner.T.reshape(-1))
            self._alive.append(owner)
        return {
            "data": piece, "dtype": a.dtype.name, "offset": offset, "shape": list(a.shape), "strides": list(a.strides),
        }  # fmt: skip


def _dense(a: Any) -> bool:
    return bool(a.flags.c_contiguous or a.flags.f_contiguous)


def as_bytes(obj: Any) -> bytes:
    """What :func:`save` writes."""
    file = io.BytesIO()
    save(obj, file)
    return file.getvalue()
