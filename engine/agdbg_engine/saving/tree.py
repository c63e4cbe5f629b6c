"""Nested containers of plain values as JSON, and back.

A list in the JSON is ``[kind, ...]``: ``list``, ``tuple``, ``set``, ``frozenset``, ``size`` with items; ``dict`` and ``odict``
with pairs; ``state`` with pairs and the pairs of its metadata; ``float`` with text, for what JSON has no number; ``complex`` with
two of these; ``bytes`` in hexadecimal; ``dtype`` and ``device`` with a name; ``number`` of NumPy with dtype and value; ``tensor``
and ``array`` with a number of an entry of ``tensors``.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..device import device
from ..foreign import hint
from ..strided import strided
from ..tensor import Tensor

DTYPES = frozenset((
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
    "complex64", "complex128",
))  # fmt: skip
_MAPPINGS: dict[str, Any] = {"dict": dict, "odict": OrderedDict, "counter": Counter}
_ITEMS: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


class Encoder:
    """Turns values into JSON; tensors and arrays go to ``keep(value)``, which gives their number."""

    def __init__(self, keep: Callable[[Any], int]) -> None:
        self.keep = keep
        self.open: set[int] = set()

    def encode(self, x: Any) -> Any:
        """``x`` as JSON; :class:`TypeError` for what is not plain, :class:`ValueError` for a container in itself."""
        kind = type(x)
        if x is None or kind in (bool, int, str) or (kind is float and math.isfinite(x)):
            return x
        if isinstance(x, Tensor):
            return ["tensor", self.keep(x)]
        if kind in (list, tuple, set, frozenset, *_MAPPINGS.values()) or _is_state(x) or _is_size(x):
            if id(x) in self.open:
                raise ValueError("cannot save a container that contains itself")
            self.open.add(id(x))
            made = self._container(x, kind)
            self.open.remove(id(x))
            return made
        return self._leaf(x, kind)

    def _container(self, x: Any, kind: type[Any]) -> Any:
        if _is_state(x):
            return ["state", self._pairs(x), self._pairs(getattr(x, "_metadata", {}))]
        name = next((n for n, k in _MAPPINGS.items() if k is kind), None)
        if name is not None:
            return [name, self._pairs(x)]
        return ["size" if _is_size(x) else kind.__name__, [self.encode(v) for v in x]]

    def _pairs(self, x: Any) -> list[Any]:
        return [[self.encode(k), self.encode(v)] for k, v in x.items()]

    def _leaf(self, x: Any, kind: type[Any]) -> Any:
        if kind is float:
            return ["float", repr(x)]
        if kind is complex:
            return ["complex", repr(x.real), repr(x.imag)]
        if kind in (bytes, bytearray):
            return [kind.__name__, x.hex()]
        if x is strided:
            return ["layout", "strided"]
        if kind is device:
            return ["device", str(x)]
        if isinstance(x, np.dtype) and x.name in DTYPES:
            return ["dtype", x.name]
        if isinstance(x, type) and issubclass(x, np.generic) and np.dtype(x).name in DTYPES:
            return ["dtype", np.dtype(x).name]
        if isinstance(x, np.generic) and x.dtype.name in DTYPES:
            return ["number", x.dtype.name, self.encode(x.item())]
        if kind is np.ndarray and x.dtype.name in DTYPES:
            return ["array", self.keep(x)]
        raise TypeError(_refusal(x))


def _is_state(x: Any) -> bool:
    from ..nn.state import StateDict

    return type(x) is StateDict


def _is_size(x: Any) -> bool:
    from ..size import Size

    return type(x) is Size


def _refusal(x: Any) -> str:
    name = type(x).__name__
    if hasattr(x, "state_dict"):
        return (
            f"cannot save an object of class {name} as a whole, since loading it would run code: save its state_dict() and give "
            f"that to load_state_dict() of a new {name}"
        )
    return (
        f"cannot save an object of class {name}: files hold tensors, arrays, numbers, text, bytes, dtypes, devices, and lists, "
        f"tuples, sets, dicts and counters of these{hint(x)}"
    )


class Decoder:
    """Turns JSON back into values; ``made`` are the tensors and arrays by number."""

    def __init__(self, made: list[Any]) -> None:
        self.made = made

    def decode(self, x: Any) -> Any:
        """The value that ``x`` stands for; :class:`ValueError`, :class:`TypeError` or another for what stands for none."""
        if not isinstance(x, list):
            if isinstance(x, dict):
                raise ValueError("an object where a value should be")
            return x
        kind, *rest = x
        if kind in _ITEMS:
            (items,) = rest
            return _ITEMS[kind](self.decode(v) for v in items)
        if kind in _MAPPINGS or kind == "state":
            return self._mapping(kind, *rest)
        return self._leaf(kind, rest)

    def _mapping(self, kind: str, pairs: Any, metadata: Any = ()) -> Any:
        found = [(self.decode(k), self.decode(v)) for k, v in pairs]
        if kind != "state":
            return _MAPPINGS[kind](dict(found))  # of pairs a counter would count each
        from ..nn.state import StateDict

        state = StateDict(found)
        state._metadata = OrderedDict((self.decode(k), self.decode(v)) for k, v in metadata)
        return state

    def _leaf(self, kind: Any, rest: list[Any]) -> Any:
        if kind == "complex":
            return complex(float(rest[0]), float(rest[1]))
        if kind == "number":
            return _dtype(rest[0]).type(self.decode(rest[1]))
        if kind == "size":
            from ..size import Size

            return Size(rest[0])
        (value,) = rest
        if kind == "float":
            return float(value)
        if kind == "bytes":
            return bytes.fromhex(value)
        if kind == "bytearray":
            return bytearray.fromhex(value)
        if kind == "layout" and value == "strided":
            return strided
        if kind == "device":
            return device(value)
        if kind == "dtype":
            return _dtype(value)
        if kind in ("tensor", "array") and type(value) is int and 0 <= value < len(self.made):
            return self.made[value]
        raise ValueError(f"unknown kind {kind!r} of value")


def _dtype(name: Any) -> np.dtype[Any]:
    if name not in DTYPES:
        raise ValueError(f"unknown dtype {name!r}")
    return np.dtype(name)
