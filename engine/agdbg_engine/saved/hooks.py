"""Hooks on saved tensors: what a pack hook made of a tensor stands in the slot, and an unpack hook makes a tensor of it again.

Unlike in PyTorch, hooks do not switch off the test for in-place writes where what they keep may lie in the memory of the saved
tensor; and what a hook keeps of a saved *output* makes no reference cycle where the engine can see it (the tensor itself, a
view of it, either of them in a tuple).
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import errors, events
from ..current import current
from ..device import device, device_of, may_pin
from ..dtype import is_differentiable
from ..errors import class_name
from ..grad_mode import mode, tell_return
from ..meta import AutogradMeta
from ..node import Node, edge
from ..saved import Packed
from ..sites import caller
from ..storage import Storage
from ..tangents import tangents_of
from ..tensor import Tensor, wrap
from ..validate import InputMetadata
from ..view import set_output
from . import fit, memory, strict

if TYPE_CHECKING:
    from ..backward import BackwardPass
    from ..tangents import ForwardGrad

MODIFIED_BY_PACK = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified by "
    "in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform in-place "
    "operations on the input to a pack hook."
)


def unpack_again(unpack_hook: Callable[[Any], Any], bp: BackwardPass) -> None:
    """``bp`` has gone back: if the hook is one of the engine's own that give something once in a pass, it is to give it again."""
    whose: Any = getattr(unpack_hook, "__self__", None)
    if hasattr(whose, "unpack_again"):
        whose.unpack_again(bp)


class Pair(NamedTuple):
    """A pair of hooks."""

    pack: Callable[[Tensor], Any]
    unpack: Callable[[Any], Tensor]
    guarded: bool = False
    """The engine's own, which keep the old values of what is written: nothing is to be checked."""


class Like(NamedTuple):
    """What error messages tell of a tensor that is not there."""

    shape: tuple[int, ...]
    dtype: Any
    place: device


class Hooked(Packed):
    """What stands in a slot whose tensor was packed by hooks: their product and what it takes to restore the tensor's history."""

    __slots__ = (
        "_counted", "_memory", "_nr", "array", "certain", "fn", "guarded", "hold", "is_output", "needs_grad", "tangents",
        "unpack_hook", "value",
    )  # fmt: skip

    def __init__(
        self, pair: Pair, shown: Tensor, fn: Node | None, nr: int, is_output: bool, storage: Storage | None
    ) -> None:
        """Pack ``shown``, output ``nr`` of ``fn`` (or of the node that saves it), whose writes ``storage`` counts."""
        self.unpack_hook = pair.unpack
        self.guarded = pair.guarded
        self.is_output = is_output
        self.fn, self._nr = fn, nr
        self.needs_grad = is_output or fn is not None
        self.tangents: ForwardGrad | None = None
        self.array = Like(shown._a.shape, shown._a.dtype, device_of(shown._a))
        self.hold: strict.Hold | None = None
        value = _packed(pair.pack, shown)
        self._counted = None if pair.guarded else storage
        self._memory = memory.Memory(shown._a)
        self.independent = pair.guarded or memory.independent(value, shown._a)
        self.certain = memory.shared(value, shown._a)
        self.real_storage = None if self.independent else storage
        self.value = _without_cycle(value, shown) if shown._fn is not None and is_output else value

    @property
    def calls_user(self) -> bool:
        """Whether the hooks are the user's."""
        return not self.guarded

    @property
    def grad_fn(self) -> Node | None:
        """The node that made the saved tensor."""
        return None if self.fn is None or self.fn.leaf else self.fn

    def arrays(self) -> Iterable[Any]:
        """Those in what the pack hook returned, and what the engine's own hooks keep for it elsewhere."""
        whose: Any = getattr(self.unpack_hook, "__self__", None)
        elsewhere = whose.keeps(self.value) if hasattr(whose, "keeps") else ()
        return memory.arrays_in((self.value, *elsewhere))

    def given(self, node: Node) -> Any:
        """What the unpack hook is given: what the pack hook returned."""
        return _with_cycle(self.value, node, self._nr) if self.is_output else self.value

    def unpack_again(self, bp: BackwardPass) -> None:
        """As the function: for hooks of the engine's own."""
        unpack_again(self.unpack_hook, bp)

    def unpack(self, node: Node, slot: str) -> Tensor:
        """What the unpack hook returns, with the history of the tensor; :class:`TypeError` where that is no tensor."""
        run, fit.state.run = fit.state.run, None
        if run is not None and self in run.given:
            fit.state.run = run
            return run.given[self]
        try:
            if not self.guarded and current.bp is not None and current.bp.before_unpack is not None:
                current.bp.before_unpack(slot)
            data: Any = self.unpack_hook(self.given(node))
        finally:
            fit.state.run = run
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {class_name(data)}"
            )
        self._check_memory(data, node, slot)
        if events.sink is not None:
            events.sink.saved_unpacked(node, node.slots.index(slot))
        t = self._restored(data, node)
        if run is not None:
            run.unpacked(self, t, node, slot)
        return t

    def late(self, storage: Storage) -> None:
        """As of any, and writes to it are found at unpack."""
        super().late(storage)
        if self._counted is None and not self.guarded:
            self._counted = storage

    def _check_memory(self, data: Tensor, node: Node, slot: str) -> None:
        """Raise if the memory of the saved tensor was written to since, and ``data`` lies in it.

        Or is a copy that was made of it too late: what hooks kept out of sight shows the same values as the memory now.
        """
        storage = self._counted
        if storage is None or storage.version == getattr(node, "v_" + slot):
            return
        if self._memory.holds(data._a) or (not self.independent and self._memory.copied_late(data._a)):
            raise errors.inplace_modified(node, slot, storage)

    def _restored(self, data: Tensor, node: Node) -> Tensor:
        """``data`` with the history and the tangents that the saved tensor has: another tensor on the same memory."""
        is_dual = self.tangents is not None and self.tangents.by_level
        if not self.needs_grad and not data.requires_grad and not is_dual:
            return data
        t = wrap(data._a)
        t._storage = data._shared_storage()
        t._nr, t._rg = self._nr, self.needs_grad
        if self.is_output:
            set_output(t, node, self._nr)
        elif self.fn is not None and self.fn.leaf:
            t._meta = AutogradMeta()
            t._meta.accumulator = weakref.ref(self.fn)  # type: ignore[arg-type]  # a leaf's node is an AccumulateGrad
            if not is_differentiable(t._a.dtype):
                raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        else:
            t._fn = self.fn
        if self.needs_grad and self.array != Like(t._a.shape, t._a.dtype, device_of(t._a)):
            from .. import pinned

            pinned.pin_unpacked(t, InputMetadata(*self.array))
        if is_dual:
            t._meta = t._meta or AutogradMeta()
            t._meta.tangents = self.tangents
        return t


def _packed(pack: Callable[[Tensor], Any], t: Tensor) -> Any:
    """What ``pack`` makes of ``t``, without recording; refused if it wrote to it."""
    before = mode.grad, t._version
    mode.grad = False
    try:
        value = pack(t)
    except Exception as error:
        if not hasattr(error, "details"):
            error.details = errors.Details("other")  # type: ignore[attr-defined]  # the user's own: ops leave it as it is
        raise
    finally:
        mode.grad = before[0]
        tell_return()
    if t._version != before[1]:
        raise errors.make(RuntimeError, errors.Details("other", storage=t._storage), MODIFIED_BY_PACK)
    return value


def held_tangents(t: Tensor) -> ForwardGrad | None:
    """The tangents that ``t`` has, which a hook does not see to: they are restored whatever it makes of the values."""
    return t._meta.tangents if tangents_of(t) and t._meta is not None else None


# ----- no cycles: a node must not hold its own output -----


def plain(t: Tensor) -> Tensor:
    """A tensor on the memory of ``t``, without its history."""
    plain = wrap(t._a)
    plain._storage = t._shared_storage()
    return plain


class _Own(NamedTuple):
    """Stands for the saved output itself in what a hook returned."""

    array: Any
    storage: Storage


def _without_cycle(value: Any, out: Tensor) -> Any:
    """``value`` without ``out``, which has the node that keeps ``value`` as its history."""
    if value is out:
        return _Own(out._a, out._shared_storage())
    if isinstance(value, Tensor) and value._base is not None and value._storage is out._storage:
        return plain(value)
    return _each(_without_cycle, value, out)


def _with_cycle(value: Any, node: Node, nr: int) -> Any:
    """``value`` with the output of ``node`` made anew where it was."""
    if isinstance(value, _Own):
        t = wrap(value.array)
        t._storage, t._rg = value.storage, True
        set_output(t, node, nr)
        return t
    return _each(_with_cycle, value, node, nr)


def _each(function: Callable[..., Any], value: Any, *args: Any) -> Any:
    """A tuple with ``function`` applied to its members; the same one when that changes none, as everything else."""
    if type(value) is not tuple:
        return value
    new = tuple(function(v, *args) for v in value)
    return value if all(a is b for a, b in zip(new, value, strict=True)) else new


# ----- what ops do -----


def keep(node: Node, out: Tensor) -> None:
    """``node``, just born, made ``out``: pack or lock what it saved, unless the op has still to write it."""
    if mode.born is not None:
        mode.born.append((node, out))
    else:
        keep_inputs(node)
        keep_output(node, out)


def deferred(function: Callable[..., Tensor], *args: Any) -> tuple[Tensor, list[tuple[Node, Tensor]]]:
    """``function(*args)`` and the nodes it made, with what they made, whose saved tensors are still to be packed or locked."""
    before, mode.born = mode.born, []
    try:
        result = function(*args)
        return result, mode.born
    finally:
        mode.born = before


def keep_inputs(node: Node) -> None:
    """Pack or lock the inputs that ``node`` saved, in the order of their names, as PyTorch does."""
    for slot, is_output in sorted(zip(node.slots, node.outputs_saved, strict=True)):
        value = getattr(node, "s_" + slot)
        if not is_output and isinstance(value, Tensor):
            setattr(node, "s_" + slot, kept(node, slot, value, is_output=False))


def keep_output(node: Node, out: Tensor) -> None:
    """Pack or lock the result ``out`` that ``node`` saved, if it did."""
    for slot, is_output in zip(node.slots, node.outputs_saved, strict=True):
        if is_output and not isinstance(getattr(node, "s_" + slot), Packed):
            made = kept(node, slot, out, is_output=True)
            if isinstance(made, Packed):
                setattr(node, "s_" + slot, made)
                node.o_storage = made  # type: ignore[attr-defined]  # nodes that save a result have it


def kept(node: Node, slot: str, t: Tensor, is_output: bool) -> Any:
    """What slot ``slot`` of ``node`` is to hold for ``t`` in this thread's modes; ``t`` itself when nobody wants otherwise."""
    made: Any = t
    if mode.saved_hooks:
        made = pack(node, slot, t, mode.saved_hooks[-1], is_output)
    if mode.strict and not (isinstance(made, Hooked) and made.independent):
        hold = strict.hold(node, slot, t)
        if isinstance(made, Hooked):
            made.hold = hold
        else:
            made = strict.Locked(t, hold, is_output)
    return made


def pack(node: Node, slot: str, t: Tensor, pair: Pair, is_output: bool) -> Hooked:
    """``t`` packed by ``pair`` for a slot of ``node``; instruments are told."""
    storage = t._shared_storage()
    shown = plain(t) if pair.guarded and is_output else t
    made = Hooked(pair, shown, None if is_output else edge(t), t._nr, is_output, storage)
    made.tangents = held_tangents(t)
    if not pair.guarded:
        fit.mark(node)
    if events.sink is not None:
        events.sink.saved_packed(node, node.slots.index(slot), *caller())
    return made


# ----- what users call -----


def push(pair: Pair) -> None:
    """Let ``pair`` be the hooks of this thread until :func:`pop`."""
    if not (callable(pair.pack) and callable(pair.unpack)):
        raise TypeError(_unfit("_push_saved_tensors_default_hooks"))
    if mode.hooks_refused is not None:
        raise RuntimeError(mode.hooks_refused)
    mode.saved_hooks = (*mode.saved_hooks, pair)
    events.use(events.SAVED_HOOKS)


def pop() -> None:
    """Forget this thread's latest hooks."""
    mode.saved_hooks = mode.saved_hooks[:-1]
    events.use(events.SAVED_HOOKS, -1)


def _unfit(function: str) -> str:
    return f"{function}(): incompatible function arguments. The following argument types are supported:"


class saved_tensors_hooks:
    """Inside, ops keep ``pack_hook(t)`` instead of a tensor ``t`` that they save, and get it back by ``unpack_hook``.

    Only the innermost pair of a thread is asked. Raises :class:`TypeError` for hooks that cannot be called, and the
    :class:`RuntimeError` of :class:`disable_saved_tensors_hooks` where they are disabled.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        push(Pair(self.pack_hook, self.unpack_hook))

    def __exit__(self, *exc: object) -> None:
        pop()


class save_on_cpu(saved_tensors_hooks):
    """Inside, saved tensors are kept on the CPU and go back to their device when they are needed.

    With ``pin_memory``, and a GPU, they are kept in pinned memory, so that nothing waits for the copies back.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_to_pinned if pin_memory else _to_cpu, _from_cpu)


def _to_cpu(t: Tensor) -> tuple[device, Tensor]:
    return t.device, t.to("cpu")


def _to_pinned(t: Tensor) -> tuple[device, Tensor]:
    here = t.to("cpu")
    return t.device, here.pin_memory() if may_pin() else here


def _from_cpu(packed: tuple[device, Tensor]) -> Tensor:
    where, t = packed
    return t.to(where, non_blocking=t.is_pinned())


class disable_saved_tensors_hooks(contextlib.ContextDecorator):
    """Inside, whoever wants hooks on saved tensors gets a :class:`RuntimeError` with ``error_message``.

    Raised at once where hooks are in use already. Hooks on a single saved tensor (``_raw_saved_*``) are not affected.
    """

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message
        self._before: list[str | None] = []

    def __enter__(self) -> None:
        if not isinstance(self.error_message, str):
            raise TypeError(_unfit("_saved_tensors_hooks_disable"))
        if mode.saved_hooks:
            raise RuntimeError(self.error_message)
        self._before.append(mode.hooks_refused)
        mode.hooks_refused = self.error_message

    def __exit__(self, *exc: object) -> None:
        mode.hooks_refused = self._before.pop()
