"""What the rare modes want done after an op: hooks on what it saved, anomaly mode, inference mode, tangents.

The generated ops come here while ``events.special`` is not 0, that is while such a mode is in use anywhere in the process;
most of the modes are per thread, so each part looks whether it is meant.
"""

from __future__ import annotations

from typing import Any

from .. import events
from ..node import Node
from ..saved import saved_slots
from ..tensor import Tensor


def after(op: str, out: Tensor, arguments: tuple[Any, ...]) -> None:
    """The op of the table called ``op`` has made ``out`` of ``arguments``."""
    if out._fn is not None:
        after_birth(out._fn, out)


def after_birth(node: Node, out: Tensor) -> None:
    """``node`` is complete: it made ``out`` and has saved what it needs."""
    if events.special & events.COMPLEX and node.nrs is None and _complex(node, out):
        node.nrs = (0,) * len(node.next_nodes())  # the general way, which conjugates


def _complex(node: Node, out: Tensor) -> bool:
    arrays = [out._a, *(getattr(s.value, "_a", s.value) for s in saved_slots(node) if s.value is not None)]
    return any(a.dtype.kind == "c" for a in arrays)
