"""Whether all elements of an array are finite, for the many arrays of which they are: one test, which is right when it says yes.

The sum of the squares is finite only where every element is. Where it is not, the squares may merely have been too big: then
every element is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import unwrap
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

_ndarray = np.ndarray
_vdot = unwrap(np.vdot)
"""Without a look for array types that have one of their own, which takes as long as the product of a small array."""
_SINGLE, _DOUBLE = np.dtype("f"), np.dtype("d")
_FEW = 4096
"""Up to so many elements are copied if they do not lie in a row."""


def all_finite(array: Any) -> bool:
    """Whether no element is NaN or infinite; true of what cannot be."""
    if type(array) is _ndarray:
        dtype = array.dtype
        if dtype is _SINGLE or dtype is _DOUBLE:
            if array.size <= _FEW:
                if isfinite(_vdot(array, array)):  # unlike dot it gives no warning when it overflows
                    return True
            elif array.flags.forc:
                flat = array.ravel("K")
                if isfinite(_vdot(flat, flat)):
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
    waiting = bp.buffers.get
    ran: Node | None = None
    came: Any = None

    def before(node: Node) -> None:
        nonlocal ran, came
        if ran is not None:
            if ran.arity == 2:
                first, second = ran.n0, ran.n1
            elif ran.arity == 1:
                first, second = ran.n0, None
            else:
                first = second = ran
            if first is ran or ran.nrs is not None or ran.hooks is not None or ran.user_code:
                if not _is_harmless(ran, came, bp):
                    raise Abandoned
            else:
                g = waiting(first)
                if g is not None and g is not came and not _is_fine(g, came):
                    raise Abandoned
                if second is not None and second is not first:
                    g = waiting(second)
                    if g is not None and g is not came and not _is_fine(g, came):
                        raise Abandoned
        ran, came = node, waiting(node)
        if node.leaf:
            finite.next(node)

    return before


def _is_harmless(node: Node, came: Any, bp: BackwardPass) -> bool:
    """Whether what a node that has run sent, or added to a leaf, is finite, or is what came in, seen in another way."""
    if isinstance(node, AccumulateGrad):
        grad = node.variable._gradient
        return grad is None or all_finite(grad._a)
    waiting = bp.buffers.get
    checked = None if node.hooks is not None or node.user_code else came
    sent = (waiting((n, nr) if nr else n) for n, nr in node.edges())
    return all(g is None or g is checked or _is_fine(g, checked) for g in sent)


def _is_fine(g: Any, checked: Any) -> bool:
    """Whether a gradient is finite, or is ``checked``, seen in another way."""
    if type(g) is _ndarray:
        if g.base is not None and _is_view_of(g, checked):
            return True
        if g.dtype is _SINGLE and g.size <= _FEW:  # as all_finite does, without the call
            return isfinite(_vdot(g, g)) or _every_one(g)
    elif isinstance(g, Tensor):
        g = g._a
    return all_finite(g)


def _is_view_of(g: Any, checked: Any) -> bool:
    base = g.base
    return type(checked) is _ndarray and (base is checked or base is checked.base)


def makes_bad(node: Node, out: Tensor) -> bool:
    """Whether what ``node``, which has just been built, has made has an element that is NaN or infinite."""
    array = out._a
    if (
        type(array) is _ndarray and array.dtype is _SINGLE and array.size <= _FEW
    ):  # as all_finite does, without the call
        return not (isfinite(_vdot(array, array)) or _every_one(array))
    return not all_finite(array)
