"""``node._saved_<name>`` under PyTorch's names: saved tensors, and the numbers, sizes and dtypes that a node kept.

Nodes keep only what their formulas read, some of it under another name (``self_shape`` is PyTorch's ``self_sym_sizes``) or in
another form; here they are put into PyTorch's, and :mod:`.fields` works out some that PyTorch keeps besides. What the engine
has no use for and cannot tell has no attribute.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import errors
from ..arguments import NotGiven
from ..node import Node
from ..node_attributes import FACTORS, NUMBERS_AS_TENSORS, RENAMED
from ..saved import Freed, saved_tensor
from ..several import copied
from ..tensor import wrap
from . import fields

_SEVERAL_DIMS = frozenset(
    ("SumBackward1", "MeanBackward1", "AmaxBackward0", "AminBackward0", "LogsumexpBackward0", "LinalgVectorNormBackward0",
     "VarBackward0", "StdBackward0", "VarMeanBackward0", "StdMeanBackward0", "NansumBackward0", "NormBackward1")
)  # fmt: skip
"""Nodes whose ``dim`` is a tuple in PyTorch, also for one dimension."""

_NO_DIMS = frozenset(("AmaxBackward0", "AminBackward0"))
"""Those of them for which all dimensions are an empty tuple."""

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def saved_attribute(node: Node, name: str) -> Any:
    """``node._saved_<name>``; raises the errors of unpacking, :class:`AttributeError` where nothing has that name."""
    if name in node.slots:
        return None if getattr(node, "s_" + name) is None else saved_tensor(node, name).unpack()
    values = dict(_constants(node))
    if isinstance(values.get(name), Freed):
        raise errors.backward_twice(node, values[name])
    if name in values:
        return values[name]
    if name in fields.more(node):
        with contextlib.suppress(fields.Unknown):
            return fields.more(node)[name](node)
    raise AttributeError(f"'{node.op_name}' object has no attribute '_saved_{name}'")


def attribute_names(node: Node) -> list[str]:
    """The names of all ``_saved_*`` and ``_raw_saved_*`` of ``node``."""
    shown = dict.fromkeys((*node.slots, *(name for name, _ in _constants(node)), *fields.known(node)))
    raw = [name for name in shown if name in node.slots or _is_tensor(node, name)]
    return [*(f"_raw_saved_{name}" for name in raw), *(f"_saved_{name}" for name in shown)]


def slotless(node: Node, name: str) -> bool:
    """Whether ``node`` has a ``_raw_saved_<name>`` in PyTorch of what it keeps in no slot: a number, indices, or nothing."""
    return f"_raw_saved_{name}" in attribute_names(node)


def _is_tensor(node: Node, name: str) -> bool:
    if node.op_name in NUMBERS_AS_TENSORS or name == "indices":
        return True
    return name in fields.TENSORS and name in fields.more(node)


def _constants(node: Node) -> Iterator[tuple[str, Any]]:
    for name in node.consts:
        if fields.own(node, name):
            continue
        value = getattr(node, "c_" + name)
        if name.endswith("_shape"):
            yield name.removesuffix("_shape") + "_sym_sizes", tuple(value)
            if node.op_name.startswith("Mean"):
                yield name.removesuffix("_shape") + "_sym_numel", math.prod(value)
            continue
        shown = RENAMED.get((node.op_name, name), name)
        yield shown, value if isinstance(value, Freed) else _in_form(node, name, value)
    if node.op_name in NUMBERS_AS_TENSORS and not node.slots:
        yield "self", None  # the gradient of the number, which would need it, is not wanted
    for name in FACTORS.get(node.op_name, ()):
        if name not in node.consts:
            yield name, 1


def _in_form(node: Node, name: str, value: Any) -> Any:
    """A kept value as PyTorch shows it."""
    if name == "dim" and node.op_name in _SEVERAL_DIMS:
        return _dims(node, value)
    if isinstance(value, NotGiven) or (node.op_name == "AminmaxBackward0" and value == ()):
        return None
    if name == "reduction":
        return _REDUCTIONS.get(value, value)
    if name == "indices":
        return tuple(wrap(copied(i)) if hasattr(i, "dtype") else None for i in value)
    if name in ("self", "other") and node.op_name in NUMBERS_AS_TENSORS:
        return wrap(np.asarray(value))
    return fields.unsigned(name, value)


def _dims(node: Node, value: Any) -> Any:
    if not isinstance(value, tuple):
        return value if value is None else (value,)
    return value if value or node.op_name in _NO_DIMS else None
