"""Shapes and sizes as records: of every output at its birth, and of memory that is saved and that no node made.

A function for each class of nodes, as in :mod:`agdbg.engines.native_birth`: it is called for every node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from agdbg.engines.native_birth import MADE_BY_NODE
from agdbg.events import Kind, head, pack_pair
from agdbg_engine.device import device_of, owner
from agdbg_engine.node import Node
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native_deep import DeepSink

_IN_FULL = 255
"""Numbers of outputs from here on do not fit into the byte for them."""
_SHAPE = head(Kind.SHAPE)
_THREAD = 32


class Shapes:
    """Tells the shapes and sizes of tensors.

    Args:
        sink: what records.
    """

    def __init__(self, sink: DeepSink) -> None:
        self._sink = sink
        self._words: dict[Any, int] = {}
        self._told: set[int] = set()
        """Memory that no node made, of which the size was told."""

    def writer(self, cls: type[Node]) -> Callable[[Node, Tensor], None]:
        """A function that tells of a node of ``cls`` and of what it was born with. It may raise."""
        if cls.user_code:
            return self.born
        words, told, ordinal, emit = self._words, self._told, self._sink.ordinal, self._sink.emit
        names = [f"s_{slot}" for slot, is_output in zip(cls.slots, cls.outputs_saved, strict=True) if not is_output]
        plain = not cls.keeps and not cls.multi

        def born(node: Node, out: Tensor) -> None:
            array = out._a
            if not plain or out._storage is not None or type(array) is not np.ndarray:
                self.born(node, out)
                return
            tag = node.tag
            word = words.get((array.dtype.char, array.shape)) or self._word(array)
            nbytes = array.nbytes
            whole = nbytes if array.base is None else owner(array).nbytes
            emit(_SHAPE | ordinal.number << _THREAD, tag, word, nbytes, MADE_BY_NODE | tag, whole, 0, 0)
            for name in names:
                t = getattr(node, name)
                if isinstance(t, Tensor) and t._fn is None and (t._storage is None or t._storage.tag not in told):
                    self._saved(t)

        return born

    def born(self, node: Node, out: Tensor) -> None:
        """As :meth:`writer` does, for any node."""
        number = out._nr if out._fn is node else 0
        self.output(node, number, out)
        for name in node.slots:
            t = getattr(node, "s_" + name)
            if isinstance(t, Tensor) and t._fn is None:
                self._saved(t)

    def output(self, node: Node, number: int, out: Tensor) -> None:
        """Tell of one output of a node that is being born: where its memory is known only later, without that."""
        tag, made = self._sink.number(node), out._storage is None and out._fn is not None
        known = not (made and type(node).keeps)  # a view, which will share the memory of its base
        self._tell(tag, number, out, self._sink.storage_of(out) if known else 0)

    def again(self, t: Tensor, node: Node) -> None:
        """Tell of a tensor whose memory was not known at the birth of ``node``: of a view, or the result of an in-place op."""
        self._tell(self._sink.number(node), t._nr if t._fn is node else 0, t, self._sink.storage_of(t))

    def _saved(self, t: Tensor) -> None:
        storage = self._sink.storage_of(t)
        if storage not in self._told:
            self._tell(0, 0, t, storage)

    def _tell(self, tag: int, number: int, t: Tensor, storage: int) -> None:
        array = t._a
        word = self._words.get((array.dtype.char, array.shape)) if type(array) is np.ndarray else 0
        if storage and not storage & MADE_BY_NODE:
            self._told.add(storage)
        whole = owner(array).nbytes if hasattr(array, "base") else array.nbytes
        first = head(Kind.SHAPE, self._sink.ordinal.number, a=number)
        full = number if number >= _IN_FULL else 0
        self._sink.emit(first, tag, word or self._word(array), array.nbytes, storage, whole, full, 0)

    def _word(self, array: Any) -> int:
        """The strings that say what an array is, as a word."""
        device = str(device_of(array))
        key: Any = (array.dtype.char, array.shape) if device == "cpu" else (array.dtype.char, array.shape, device)
        word = self._words.get(key)
        if word is None:
            text = f"{array.dtype.name}{list(array.shape)}"
            word = self._words[key] = pack_pair(self._sink.recorder.text(text), self._sink.recorder.text(device))
        return word
