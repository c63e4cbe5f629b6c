"""What the rare modes want done after an op: hooks on what it saved, anomaly mode, inference mode, tangents.

The generated ops come here while ``events.special`` is not 0, that is while such a mode is in use anywhere in the process;
most of the modes are per thread, so each part looks whether it is meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import events, streams
from ..anomaly import remember
from ..grad_mode import mode
from ..inside import check_inference, shares
from ..node import Node
from ..saved import Packed, saved_slots
from ..saved.hooks import keep
from ..saved.strict import follow
from ..storage import InferenceStorage
from ..tensor import Tensor
from .forward import propagate, propagate_several
from .refuse import refuse_complex


def after(op: str, out: Tensor, arguments: tuple[Any, ...]) -> None:
    """The op of the table called ``op`` has made ``out`` of ``arguments``."""
    if events.special & events.OP_LOG and mode.op_log is not None:
        mode.op_log.op(op, out, arguments)
    if events.special & events.STRICT and out._meta is not None:
        follow(out)
    if events.special & events.INFERENCE and mode.inference and out._storage is None:
        out._storage = InferenceStorage()
    if events.special & events.TRANSFORM and mode.transform is not None:
        mode.transform.add(out)
        if out._meta is not None and out._meta.view is not None:
            shares(out, arguments[0])
    if events.special & events.COMPLEX:
        _check_complex(op, arguments, out._fn is not None)
    if events.special & events.INFERENCE and out._fn is not None and unrecorded(op, arguments):
        out._fn, out._nr, out._rg = None, 0, False
    if out._fn is not None:
        after_birth(out._fn, out)
    if events.special & events.FORWARD:
        propagate(op, out, arguments)


def after_outputs(op: str, outs: tuple[Tensor, ...], arguments: tuple[Any, ...]) -> None:
    """As :func:`after` for an op with several results."""
    node = next((o._fn for o in outs if o._fn is not None), None)
    if node is not None and events.special & events.INFERENCE and unrecorded(op, arguments):
        node = None
    for out in outs:
        if events.special & events.OP_LOG and mode.op_log is not None:
            mode.op_log.op(op, out, arguments)
        if events.special & events.INFERENCE and mode.inference and out._storage is None:
            out._storage = InferenceStorage()
        if events.special & events.TRANSFORM and mode.transform is not None:
            mode.transform.add(out)
        if node is None:
            out._fn, out._nr, out._rg = None, 0, False
    if node is not None:
        after_birth(node, next(o for o in outs if o._fn is node))
    if events.special & events.FORWARD:
        propagate_several(op, outs, arguments)


def unrecorded(op: str, arguments: tuple[Any, ...]) -> bool:
    """Whether all operands are inference tensors, of which nothing is recorded anywhere; numbers count as others."""
    from ._generated import JVPS

    operands = [arguments[i] for i in JVPS[op][1]] if op in JVPS else arguments
    others = [x for x in arguments if isinstance(x, Tensor)]
    return only_inference(op, (*operands, *others))


def only_inference(op: str, operands: Iterable[Any]) -> bool:
    """Whether ``op`` is not recorded on inference tensors and all ``operands`` are such."""
    return op not in _RECORDED and all(isinstance(x, Tensor) and x.is_inference() for x in operands)


_RECORDED = frozenset(("clone", "to_copy", "index"))
"""Copied into a new tensor, or with an index, which are ordinary tensors."""


def _check_complex(op: str, arguments: tuple[Any, ...], recorded: bool) -> None:
    for x in arguments:
        if isinstance(x, Tensor) and x._a.dtype.kind == "c":
            return refuse_complex(op, x._a.dtype, recorded)


def after_birth(node: Node, out: Tensor) -> None:
    """``node`` is complete: it made ``out`` and has saved what it needs."""
    if events.special & events.TRANSFORM:
        check_inference(node)
    if events.special & events.OP_LOG and mode.op_log is not None:
        mode.op_log.born(node, out)
    if events.special & events.COMPLEX and node.nrs is None and _complex(node, out):
        node.nrs = (0,) * len(node.next_nodes())  # the general way, which conjugates
    if events.special & events.ANOMALY:
        remember(node)
    if events.special & events.STREAMS:
        streams.remember(node, out)
    if mode.saved_hooks or mode.strict:
        keep(node, out)


def _complex(node: Node, out: Tensor) -> bool:
    kept = [s.value for s in saved_slots(node) if s.value is not None]
    arrays = [out._a, *(v.array if isinstance(v, Packed) else getattr(v, "_a", v) for v in kept)]
    return any(a.dtype.kind == "c" for a in arrays)
