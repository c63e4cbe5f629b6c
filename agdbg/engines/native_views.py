"""Where a view lies in the memory of its base, and where it was made: what the record of a view says besides its line."""

from __future__ import annotations

from typing import Any

from agdbg.events import Creation, pack_pair
from agdbg.record import Recorder
from agdbg_engine.tensor import Tensor
from agdbg_engine.view import CreationMeta

_CREATIONS = {
    CreationMeta.DEFAULT: Creation.DEFAULT,
    CreationMeta.NO_GRAD_MODE: Creation.NO_GRAD,
    CreationMeta.MULTI_OUTPUT_NODE: Creation.ONE_OF_SEVERAL,
    CreationMeta.INFERENCE_MODE: Creation.INFERENCE,
    CreationMeta.IN_CUSTOM_FUNCTION: Creation.IN_CUSTOM_FUNCTION,
}


_AS_USUAL = int(Creation.DEFAULT)
_DEFAULT = CreationMeta.DEFAULT


def creation(view: Tensor) -> int:
    """Where a view was made."""
    meta = None if view._meta is None else view._meta.view
    if meta is None:
        return Creation.UNKNOWN
    return _AS_USUAL if meta.creation is _DEFAULT else _CREATIONS[meta.creation]


class Regions:
    """The places of views as words of a record; shapes and strides are texts, of which there are few."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._pairs: dict[tuple[Any, ...], int] = {}

    def words(self, view: Tensor) -> tuple[int, int]:
        """Offset in elements, and the texts of shape and strides; zeros for a view of all of its base, or where it is not known."""
        meta = None if view._meta is None else view._meta.view
        if meta is None or view._a.size == meta.base._a.size:
            return 0, 0
        here, there = _address(view._a), _address(meta.base._a)
        itemsize = view._a.dtype.itemsize
        if not here or not there or here < there or not itemsize or itemsize != meta.base._a.dtype.itemsize:
            return 0, 0
        key = view._a.shape, view._a.strides, itemsize
        pair = self._pairs.get(key)
        if pair is None:
            text = self._recorder.text
            strides = [step // itemsize for step in view._a.strides]
            pair = self._pairs[key] = pack_pair(text(str(list(view._a.shape))), text(str(strides)))
        return (here - there) // itemsize, pair


def _address(array: Any) -> int:
    """Where an array of NumPy, or of a library like it, begins in memory; 0 when it does not say."""
    interface = getattr(array, "__array_interface__", None) or getattr(array, "__cuda_array_interface__", None)
    return int(interface["data"][0]) if interface else 0
