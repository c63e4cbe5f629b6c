"""Which adapter reads a tensor: that of the engine which made it. No engine is imported for it."""

import sys
from importlib import import_module
from typing import Any, cast

from agdbg.incode.live import Reader

#: For an engine the module that reads its live graphs.
READERS = {"agdbg_engine": "agdbg.engines.native_live"}


def loaded() -> list[Reader]:
    """The readers of the engines that the program has imported."""
    return [cast(Reader, import_module(name)) for engine, name in READERS.items() if engine in sys.modules]


def reader_of(value: Any) -> Reader:
    """The reader of a tensor.

    Raises:
        TypeError: it is no tensor of an engine that agdbg can read.
    """
    for reader in loaded():
        if reader.owns(value):
            return reader
    kind = type(value)
    hint = "; PyTorch's graphs are not read yet" if kind.__module__.partition(".")[0] == "torch" else ""
    raise TypeError(f"expected a tensor of {' or '.join(READERS)}, not {kind.__module__}.{kind.__qualname__}{hint}")
