"""Whether all elements of an array are finite, for the many arrays of which they are: one test, which is right when it says yes.

The sum of the squares is finite only where every element is. Where it is not, the squares may merely have been too big: then
every element is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from agdbg_engine.backends import backend_of
from agdbg_engine.backward import Abandoned
from agdbg_engine.device import array_module
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.several import at_home
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native_finite import Finite
    from agdbg_engine.backward import BackwardPass

_ndarray, _vdot = np.ndarray, np.vdot
_SINGLE, _DOUBLE = np.dtype("f"), np.dtype("d")
_FEW = 4096
"""Up to so many elements are copied if they do not lie in a row."""


def all_finite(array: Any) -> bool:
    """Whether no element is NaN or infinite; true of what cannot be."""
    if type(array) is _ndarray:
        dtype = array.dtype
        if dtype is _SINGLE or dtype is _DOUBLE:
            if array.size <= _FEW or array.flags.forc:
                flat = array.ravel("K")
                if isfinite(_vdot(flat, flat)):  # unlike dot it gives no warning when it overflows
                    return True
        elif dtype.kind not in "fc":
            return True
    elif getattr(getattr(array, "dtype", None), "kind", "") not in "fc":
        return True
    return not array.size or _every_one(array)


@at_home
def _every_one(array: Any) -> bool:
    """Every element is looked at, on the device that has it: one number comes from there."""
    if not isinstance(array, np.ndarray | np.generic):
        counts = counted(array)
        if counts is not None:
            return not any(counts[:2])
    return bool(array_module(array).isfinite(array).all())


def counted(array: Any) -> tuple[int, int, int] | None:
    """How many elements of an array on a device are NaN and infinite, and where the first of them is, in one kernel; ``None``
    where there are no kernels.
    """
    try:
        found = backend_of(array).summary(array)
    except TypeError:  # an array library that is no device of the engine
        return None
    return None if found is None else (found.nans, found.infs, found.first_bad)


def looking(finite: Finite, bp: BackwardPass) -> Callable[[Node], None]:
    """What is to be called before each node of a pass runs: it abandons the node when the one before it has made something that
    may be bad, which is to be judged in full then.
    """
    came_in = bp.buffers.get
    ran: Node | None = None
    came: Any = None

    def before(node: Node) -> None:
        nonlocal ran, came
        if ran is not None and not _is_harmless(ran, came, bp):
            raise Abandoned
        ran, came = node, came_in(node)
        if node.leaf:
            finite.next(node)

    return before


def _is_harmless(node: Node, came: Any, bp: BackwardPass) -> bool:
    """Whether what a node that has run sent, or added to a leaf, is finite, or is what came in, seen in another way."""
    if isinstance(node, AccumulateGrad):
        grad = node.variable._grad
        return grad is None or all_finite(grad._a)
    waiting = bp.buffers.get
    keys = node.next_nodes() if node.nrs is None else [(n, nr) if nr else n for n, nr in node.edges()]
    checked = None if node.hooks is not None or node.user_code else came
    for key in keys:
        g = waiting(key)
        if g is None or g is checked:
            continue
        if type(g) is _ndarray:
            if g.base is not None and _is_view_of(g, checked):
                continue
            if g.dtype is _SINGLE and g.size <= _FEW:  # as all_finite does, without the call
                flat = g.ravel("K")
                if isfinite(_vdot(flat, flat)):
                    continue
        elif isinstance(g, Tensor):
            g = g._a
        if not all_finite(g):
            return False
    return True


def _is_view_of(g: Any, checked: Any) -> bool:
    base = g.base
    return type(checked) is _ndarray and (base is checked or base is checked.base)
