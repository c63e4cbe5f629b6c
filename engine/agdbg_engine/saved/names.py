"""``node._saved_<name>`` under PyTorch's names: saved tensors, and the numbers, sizes and dtypes that a node kept.

Nodes keep only what their formulas read, some of it under another name (``self_shape`` is PyTorch's ``self_sym_sizes``) or in
another form; here they are put into PyTorch's. What the engine has no use for and cannot tell has no attribute.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import errors
from ..node import Node
from ..saved import Freed, saved_tensor
from ..several import copied
from ..tensor import wrap

_SEVERAL_DIMS = frozenset(
    ("SumBackward1", "MeanBackward1", "AmaxBackward0", "AminBackward0", "LogsumexpBackward0", "LinalgVectorNormBackward0",
     "VarBackward0", "StdBackward0")
)  # fmt: skip
"""Nodes whose ``dim`` is a tuple in PyTorch, also for one dimension."""

_NUMBERS_AS_TENSORS = frozenset(("MulBackward0", "DivBackward0"))
"""Nodes whose op makes tensors of numbers in PyTorch."""

_NAMES = {("MulBackward1", "number"): "other"}
"""Numbers that a node keeps under a name of its own, with PyTorch's."""

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}

_FACTORS = {
    "AddBackward0": ("alpha",),
    "SubBackward0": ("alpha",),
    "RsubBackward0": ("alpha",),
    "RsubBackward1": ("alpha",),
    "AddmmBackward0": ("alpha", "beta"),
}
"""Factors of an op that are 1 in the node here, unless it keeps another one."""


def saved_attribute(node: Node, name: str) -> Any:
    """``node._saved_<name>``; raises the errors of unpacking, :class:`AttributeError` where nothing has that name."""
    if name in node.slots:
        return None if getattr(node, "s_" + name) is None else saved_tensor(node, name).unpack()
    values = dict(_constants(node))
    if isinstance(values.get(name), Freed):
        raise errors.backward_twice(node, values[name])
    if name in values:
        return values[name]
    raise AttributeError(f"'{node.op_name}' object has no attribute '_saved_{name}'")


def attribute_names(node: Node) -> list[str]:
    """The names of all ``_saved_*`` and ``_raw_saved_*`` of ``node``."""
    raw = [f"_raw_saved_{slot}" for slot in node.slots]
    return [*raw, *(f"_saved_{slot}" for slot in node.slots), *(f"_saved_{name}" for name, _ in _constants(node))]


def _constants(node: Node) -> Iterator[tuple[str, Any]]:
    for name in node.consts:
        value = getattr(node, "c_" + name)
        if name.endswith("_shape"):
            yield name.removesuffix("_shape") + "_sym_sizes", tuple(value)
            if node.op_name.startswith("Mean"):
                yield name.removesuffix("_shape") + "_sym_numel", math.prod(value)
            continue
        shown = _NAMES.get((node.op_name, name), name)
        yield shown, value if isinstance(value, Freed) else _in_form(node, name, value)
    if node.op_name in _NUMBERS_AS_TENSORS and not node.slots:
        yield "self", None  # the gradient of the number, which would need it, is not wanted
    for name in _FACTORS.get(node.op_name, ()):
        if name not in node.consts:
            yield name, 1


def _in_form(node: Node, name: str, value: Any) -> Any:
    """A kept value as PyTorch shows it."""
    if name == "dim" and node.op_name in _SEVERAL_DIMS:
        return value or None if isinstance(value, tuple) else (value,)
    if name == "reduction":
        return _REDUCTIONS.get(value, value)
    if name == "indices":
        return tuple(wrap(copied(i)) if hasattr(i, "dtype") else None for i in value)
    if name in ("self", "other") and node.op_name in _NUMBERS_AS_TENSORS:
        return wrap(np.asarray(value))
    return value
