"""What forward mode does after an op, before an in-place write and after it: tangents of the result from those of the arguments.

An argument may have tangents at several levels, those of an inner level with tangents of the outer ones themselves. They
are worked off from the lowest (outermost) level up; while the tangent of a level is computed, ops see only lower levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from .. import events
from ..device import same_place
from ..dtype import is_differentiable
from ..forward_ad import refuse
from ..grad_mode import mode
from ..inside import captured
from ..meta import AutogradMeta
from ..node import AccumulateGrad, Node, edge
from ..saved import Packed
from ..saved.hooks import Hooked
from ..saved.strict import Locked
from ..storage import Storage
from ..tangents import ForwardGrad, below, forward_grad, levels_of, open_levels, set_through_view, tangents_of
from ..tangents import laid_out as _laid_out
from ..tensor import Tensor, check_inplace, check_memory, wrap
from ..view import set_output
from ..zero_tangent import Zero, filled
from .tangent_writes import written_by

# ----- out of place -----


def propagate(op: str, out: Tensor, arguments: tuple[Any, ...]) -> None:
    """Give ``out`` of the op ``op`` of the table its tangents; refused where the op has no formula for them."""
    from ._generated import JVPS

    if op not in JVPS:
        refuse(op, *arguments)
        return
    found: Any = JVPS[op]
    formula, places = found
    operands = [arguments[i] for i in places]
    levels = levels_of(operands)
    if not levels or not is_differentiable(out.dtype):
        return
    for level in levels:
        tangents = [_given(x, level, out) for x in operands]
        with below(level):
            primals = _primals(arguments, level)
            _set(out, level, formula(*primals, _standing_apart(out), *tangents), tangents, operands)
    if out._fn is not None:
        keep_tangents(out._fn, out)


def _standing_apart(out: Tensor) -> Tensor:
    """``out`` for a tangent formula: where its node is to become a part of the history of a base, with a node of its own,
    since the part leads to the base and no more to what the view was.
    """
    if not mode.writes_view or out._fn is None:
        return out
    apart = wrap(out._a)
    apart._storage, apart._rg, apart._nr, apart._meta = out._shared_storage(), out._rg, out._nr, out._meta
    apart._fn = out._fn.twin()
    if events.sink is not None:
        events.sink.node_born(apart._fn, apart)
    return apart


def _primals(arguments: tuple[Any, ...], level: int) -> Sequence[Any]:
    """``arguments`` for a formula, which may save them: without tangents of ``level`` and above, since its tangent has none."""
    if not mode.grad:  # it saves nothing, and a view may have lost its history
        return arguments
    made: dict[int, Tensor] = {}
    for x in arguments:
        if isinstance(x, Tensor) and id(x) not in made and any(other >= level for other in tangents_of(x)):
            made[id(x)] = _primal(x, level)
    return [made.get(id(x), x) for x in arguments]


def _primal(x: Tensor, level: int) -> Tensor:
    """``x`` with its history, and of its tangents those below ``level``."""
    primal = wrap(x._a)
    primal._storage = x._shared_storage()
    primal._meta = AutogradMeta()
    if x.requires_grad:
        node = edge(x)
        primal._rg, primal._nr = True, x._nr
        if isinstance(node, AccumulateGrad):
            primal._meta.accumulator = ref(node)
        else:
            primal._fn = node
    for other, tangent in tangents_of(x).items():
        if other < level:
            forward_grad(primal).set(other, tangent)
    return primal


def propagate_several(op: str, outs: Sequence[Tensor], arguments: tuple[Any, ...]) -> None:
    """As :func:`propagate` for an op with several results, whose formula gives one tangent each; ``None`` for those without."""
    from ._generated import JVPS

    if op not in JVPS:
        refuse(op, *arguments)
        return
    found: Any = JVPS[op]
    formula, places = found
    operands = [arguments[i] for i in places]
    for level in levels_of(operands):
        tangents = [_given(x, level, outs[0]) for x in operands]
        with below(level):
            for out, tangent in zip(outs, formula(*_primals(arguments, level), *outs, *tangents), strict=True):
                if tangent is not None and is_differentiable(out.dtype):
                    _set(out, level, tangent, tangents)
    for out in outs:
        _keep_in_several(out)


def _keep_in_several(out: Tensor) -> None:
    """Where the node of ``out``, one of several results, saved it, let the node have its tangents too."""
    if out._fn is None or out._meta is None or out._meta.tangents is None:
        return
    for slot in out._fn.slots:
        held = getattr(out._fn, "s_" + slot, None)
        if isinstance(held, SavedResult | Hooked | Locked) and held.is_output and held._nr == out._nr:
            held.tangents = out._meta.tangents


def _given(x: Any, level: int, out: Tensor) -> Any:
    """The tangent of an operand; numbers have none."""
    if not isinstance(x, Tensor):
        return Zero((), out.dtype, out.device)
    found = tangents_of(x).get(level)
    return Zero(x.shape, x.dtype, x.device) if found is None else found


def _set(out: Tensor, level: int, tangent: Any, given: Sequence[Any], operands: Sequence[Any] = ()) -> None:
    """Let ``tangent``, which the formula made of the tangents ``given``, be that of ``out``.

    They share memory only where ``out`` does with one of the ``operands``.
    """
    if isinstance(tangent, Zero):
        tangent = filled(Zero(out.shape, out.dtype, out.device, tangent.factors))
    elif tangent.shape != out.shape:
        tangent = tangent.expand(out.shape)
    if not _is_view(out):
        if _share_memory(tangent, given) and not _share_memory(out, operands):
            tangent = tangent.clone()  # nobody else's: it may be written to in place
        tangent = _laid_out(tangent, out)
    forward_grad(out).set(level, tangent)


def _share_memory(t: Tensor, others: Sequence[Any]) -> bool:
    """Whether ``t`` lies in the memory of one of the tensors among ``others``."""
    alike = (x._a for x in others if isinstance(x, Tensor) and same_place(x._a, t._a))
    return any(np.may_share_memory(t._a, a) for a in alike)


def _is_view(t: Tensor) -> bool:
    return t._meta is not None and t._meta.view is not None


# ----- ops on lists -----


def propagate_joined(out: Tensor, tensors: Sequence[Tensor], join: Callable[[list[Tensor]], Tensor]) -> None:
    """Give ``out``, the ``tensors`` joined by ``join``, its tangents: theirs joined, zeros for those without."""
    for level in levels_of(tensors):
        parts = [filled(_given(t, level, out)) for t in tensors]
        with below(level):
            _set(out, level, join(parts), parts)


def propagate_pieces(outs: Sequence[Tensor], x: Tensor, take: Callable[[Tensor], Sequence[Tensor]]) -> None:
    """Give ``outs``, the views that ``take`` takes of ``x``, their tangents: the same views of its tangent."""
    for level in levels_of((x,)):
        with below(level):
            for out, piece in zip(outs, take(tangents_of(x)[level]), strict=True):
                forward_grad(out).set(level, piece)


# ----- in place -----


def follow(twin: Tensor, t: Tensor, args: Sequence[Any] = ()) -> None:
    """Give ``twin``, which stands for ``t`` while an in-place op of ``args`` computes, what ``t`` and its tangents are before
    the write.
    """
    if not levels_of((t, *args)):
        return
    twin._a = t._a.copy()  # tangent formulas may save the twin, also where only other operands have tangents
    levels = levels_of((t,))
    if not levels:
        return
    twin._meta = AutogradMeta()
    for level in levels:
        with below(level):
            forward_grad(twin).set(level, tangents_of(t)[level].clone())


_UNREAD = frozenset(("copy_", "fill_", "zero_"))
"""Writes that do not read the tangent which they replace."""


def check_write(t: Tensor, name: str, args: Sequence[Any] = (), repeating: bool = False) -> None:
    """Refuse to write in place to ``t`` the op ``name`` of ``args`` where the tangents cannot follow; ``repeating`` as in
    :func:`check_inplace`.
    """
    for level in levels_of((t, *args)):
        old = tangents_of(t).get(level)
        if old is not None and id(old._storage) in open_levels[level].captured:
            raise captured(*written_by(name, tuple(args)))
        with below(level):
            if old is not None:
                if name not in _UNREAD:
                    edge(old)  # that of a view is found anew, as by the formula that is about to read the tangent
                check_inplace(old, (), repeating)
            elif repeating:  # a first tangent is copied into memory that is laid out like that of ``t``
                check_memory(t._a)


def write(t: Tensor, result: Tensor, again: Callable[[Tensor, int], object] | None = None) -> None:
    """``t`` was overwritten with ``result``: its tangents are too; a first one goes through to the base of a view.

    ``again`` writes to a tangent of ``t`` at a level; without it that of ``result`` is copied there. A ``result`` without one, as
    of a comparison, leaves zeros.
    """
    made = levels_of((result,))
    for level in levels_of((t, result)):
        old = tangents_of(t).get(level)
        with below(level):
            if old is None:
                set_through_view(t, level, tangents_of(result)[level])
            elif level not in made:
                overwrite(old, lambda x: x.zero_())
            elif again is None:
                overwrite(old, partial(_copy, tangents_of(result)[level]))
            else:
                overwrite(old, partial(_again, again, level))


def _copy(new: Tensor, tangent: Tensor) -> None:
    tangent.copy_(new)


def _again(again: Callable[[Tensor, int], object], level: int, tangent: Tensor) -> None:
    again(tangent, level)


def overwrite(tangent: Tensor, change: Callable[[Tensor], object]) -> None:
    """Let ``change`` write to ``tangent``, which its owner may have given to a transform from outside."""
    before, mode.transform = mode.transform, None
    try:
        change(tangent)
    finally:
        mode.transform = before


# ----- saved results -----


class SavedResult(Packed):
    """A saved result of an op with several: the bare buffer, so that there is no cycle, which of the results it is, and its
    tangents, if it has any.
    """

    __slots__ = ("_nr", "array", "tangents")
    is_output = True

    def __init__(self, out: Tensor) -> None:
        self.array = out._a
        self.real_storage = out._shared_storage()
        self.independent = False
        self._nr = out._nr
        self.tangents: ForwardGrad | None = None

    def seen(self) -> Any:
        """The buffer."""
        return self.array

    def unpack(self, node: Node, slot: str) -> Tensor:
        """The result with its history and its tangents."""
        t = wrap(self.array)
        t._storage, t._rg = self.real_storage, True
        set_output(t, node, self._nr)
        if self.tangents is not None:
            t._meta = t._meta or AutogradMeta()
            t._meta.tangents = self.tangents
        return t


class SavedDual(Packed):
    """Stands for a saved result that has tangents, which the bare buffer would lose; they end with their level."""

    __slots__ = ("_nr", "array", "tangents")

    def __init__(self, array: Any, storage: Storage | None, nr: int, tangents: ForwardGrad) -> None:
        self.array = array
        self.real_storage = storage
        self.independent = False
        self._nr = nr
        self.tangents = tangents

    def seen(self) -> Any:
        """The buffer."""
        return self.array

    def unpack(self, node: Node, slot: str) -> Tensor:
        """The result with its history and its tangents."""
        t = wrap(self.array)
        t._storage, t._rg = self.real_storage, True
        set_output(t, node, self._nr)
        t._meta = t._meta or AutogradMeta()
        t._meta.tangents = self.tangents
        return t


def keep_tangents(node: Node, out: Tensor) -> None:
    """Where ``node`` saved its result ``out``, let it have the tangents of ``out`` too."""
    if not any(node.outputs_saved) or out._meta is None or out._meta.tangents is None:
        return
    slot = "s_" + node.slots[node.outputs_saved.index(True)]
    held = getattr(node, slot, None)
    if isinstance(held, Hooked | Locked):
        held.tangents = out._meta.tangents
    if held is None or isinstance(held, Packed):
        return
    holding: Any = node  # a node that saves its result knows the storage of that
    made = SavedDual(held, holding.o_storage, out._nr, out._meta.tangents)
    setattr(node, slot, made)
    holding.o_storage = made
