"""What a function may not do while it is transformed: PyTorch's refusals, and which tensors were made inside.

The innermost transform of a thread is ``mode.transform``. It knows the tensors that were made while it is the innermost: all
others are captured, and a write to them would be lost on the transform.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import errors, events
from .grad_mode import mode
from .storage import InferenceStorage, unsaved

if TYPE_CHECKING:
    from .tangents import Level


class _Tensors:
    """Tensors, by their id, as long as they live: comparing them would be an op."""

    __slots__ = ("_refs",)

    def __init__(self) -> None:
        self._refs: dict[int, weakref.ref[Any]] = {}

    def add(self, t: Any) -> None:
        key, refs = id(t), self._refs
        refs[key] = weakref.ref(t, lambda _: refs.pop(key, None))

    def discard(self, t: Any) -> bool:
        """Whether it was there."""
        return self._refs.pop(id(t), None) is not None

    def alive(self) -> list[Any]:
        """Them all."""
        found = [ref() for ref in list(self._refs.values())]
        return [t for t in found if t is not None]

    def __contains__(self, t: Any) -> bool:
        return id(t) in self._refs


INPUTS: weakref.WeakSet[Any] = weakref.WeakSet()
"""The nodes of inputs of any transform: for PyTorch those are leaves."""

ORPHANS: weakref.WeakSet[Any] = weakref.WeakSet()
"""The nodes of inputs that require grad but have no history: what is computed from them does so too, as outside of a transform."""


class Inside:
    """A context in which a function is transformed; entering says so to everything in this thread."""

    def __init__(self, forward: bool = False, recording: bool = True) -> None:
        self.forward = forward
        """Whether the transform runs forward mode."""
        self.recording = recording
        """Whether its caller records: otherwise ops on captured tensors are not recorded inside either, for PyTorch."""
        self.column: int | None = None
        """Which of several runs of the function for one result this is: what one run writes the next would read."""
        self.outer: Inside | None = None
        self._made = _Tensors()
        self._views = _Tensors()
        """Those made inside on memory that was not."""
        self._captured: dict[int, Any] = {}
        """By its id the memory of inputs that the outer transform has captured."""
        self._arguments: dict[int, tuple[weakref.ref[Any], Any]] = {}
        """By its id an argument, and what it was outside."""
        self._given: dict[int, tuple[Any, Any]] = {}
        """By the id of the memory of an argument that memory, and what the argument was outside."""
        self._inputs: weakref.WeakSet[Any] = weakref.WeakSet()
        """The nodes of inputs that have a history."""
        self._leaves: weakref.WeakSet[Any] = weakref.WeakSet()
        """The nodes of other arguments that are leaves outside."""

        self.saves_inference = False
        """Whether an op may save an inference tensor."""
        self.counted: weakref.WeakSet[Any] = weakref.WeakSet()
        """The memory of inputs that are inference tensors outside, and here count the writes to them."""
        self.freed: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        """The nodes that a pass of this level has freed though they live on outside, and which pass."""

    def __enter__(self) -> Inside:
        self.outer = mode.transform
        mode.transform = self
        events.use(events.TRANSFORM)
        return self

    def __exit__(self, *exc: object) -> None:
        events.use(events.TRANSFORM, -1)
        mode.transform = self.outer
        if self.outer is not None:
            self.outer.take(self)

    def add(self, t: Any) -> None:
        """``t`` was made inside."""
        self._made.add(t)

    def take(self, ended: Inside) -> None:
        """What was made in a transform that ran inside, and has ended, was made inside as well."""
        for t in ended._made.alive():
            if id(t._storage) not in ended._captured:
                self._made.add(t)

    def add_input(self, t: Any, of: Any) -> None:
        """``t``, on the memory of ``of``, is what the transform runs backward for."""
        self.add_argument(t, of)
        if self.outer is not None and of not in self.outer:
            memory = t._shared_storage()
            self._captured[id(memory)] = memory
        if t._fn is not None:
            self._inputs.add(t._fn)
            INPUTS.add(t._fn)

    def holds(self, node: Any, leaf: Any) -> bool:
        """Whether what ``node`` made, or ``leaf`` where there is none, is part of the graph of this level."""
        return self.reached_from(node) if node is not None else leaf in self

    def add_leaf(self, t: Any) -> None:
        """``t`` is an argument that is a leaf outside, and so inside."""
        self._leaves.add(t._fn)

    def add_argument(self, t: Any, of: Any) -> None:
        """``t``, on the memory of ``of``, is an argument: a write to it is one to ``of``, which the outer may refuse."""
        self.add(t)
        self.give(t, of)
        if not self.forward:  # a dual is another view
            self._arguments[id(t)] = weakref.ref(t), of

    def outside(self, t: Any) -> Any:
        """What ``t`` itself is outside, if it is an argument: that has the same shape; ``None`` for what else there is."""
        ref, of = self._arguments.get(id(t), (None, None))
        return of if ref is not None and ref() is t else None

    def count(self, t: Any) -> None:
        """``t`` is an ordinary tensor on the memory of an inference tensor."""
        self.counted.add(t._storage)
        self.saves_inference = True

    def give(self, t: Any, of: Any) -> None:
        """``t`` has the memory of ``of``, an argument."""
        memory = t._shared_storage()
        self._given[id(memory)] = memory, of

    def has_history(self) -> bool:
        """Whether an input has a history outside, so that what is computed from it is part of that graph."""
        return bool(self._inputs)

    def is_given(self, t: Any) -> bool:
        """Whether ``t`` has the memory of an argument."""
        return id(t._storage) in self._given

    def source(self, t: Any) -> Any:
        """What the argument was outside that has the memory of ``t``; ``None`` for what was made inside."""
        return self._given.get(id(t._storage), (None, None))[1]

    def is_input(self, t: Any) -> bool:
        """Whether ``t`` is what the transform runs backward for, a leaf whatever its history outside, or another leaf."""
        return t._fn in self._inputs or t._fn in self._leaves

    def guard(self, level: Level, directions: list[Any]) -> None:
        """Let nobody write to those ``directions`` of ``level``, this transform's, that the outer one has captured."""
        for t in directions:
            if self.outer is not None and t not in self.outer:
                memory = t._shared_storage()
                level.captured[id(memory)] = memory

    def reached_from(self, node: Any) -> bool:
        """Whether an input or a leaf made inside is behind ``node``: only that has a history for PyTorch, whose transforms take all
        that is captured for constants.
        """
        stack, seen = [node], {node}
        while stack:
            n = stack.pop()
            if n in self._inputs or (n.leaf and n.variable in self):
                return True
            for producer in () if n.leaf else n.next_nodes():
                if producer is not None and producer not in seen:
                    seen.add(producer)
                    stack.append(producer)
        return False

    def discard(self, t: Any) -> None:
        """``t`` shares the memory of a tensor that was not made inside."""
        if self._made.discard(t):
            self._views.add(t)

    def computed(self, t: Any) -> bool:
        """Whether an op inside gave ``t``, be it on captured memory."""
        return t in self._made or t in self._views

    def __contains__(self, t: Any) -> bool:
        return t in self._made


def shares(out: Any, source: Any) -> None:
    """``out`` has the memory of ``source``: inside it is as captured as that."""
    inside = mode.transform
    if inside is not None and source not in inside:
        inside.discard(out)


def shares_silently(out: Any, source: Any) -> None:
    """As :func:`shares` for ``out`` with a version counter of its own: a write to it is one to what ``source`` was outside, too."""
    shares(out, source)
    inside = mode.transform
    if inside is not None and inside.is_given(source):
        inside.give(out, inside.source(source))


def everywhere(t: Any) -> Iterator[Any]:
    """``t`` and, if it is an argument, what it is outside, at each level."""
    inside = mode.transform
    yield t
    while inside is not None and (t := inside.outside(t)) is not None:
        yield t
        inside = inside.outer


def on_outside(t: Any, write: Callable[[Any], object]) -> None:
    """``write`` on what the argument ``t`` is outside, if it is one: as a write at that level, which may be recorded there."""
    inside = mode.transform
    outside = None if inside is None else inside.outside(t)
    if inside is None or outside is None:
        return
    recording, mode.transform = mode.grad, inside.outer
    mode.grad = recording and inside.recording
    try:
        write(outside)
    finally:
        mode.grad, mode.transform = recording, inside


def check_write(t: Any, name: str, args: tuple[Any, ...]) -> None:
    """Refuse the in-place op ``name`` on a captured tensor. The ``forward`` of a custom Function runs below all transforms."""
    _check_repeated(t, name)
    if mode.custom is not None:
        return
    inside, written = mode.transform, t
    while inside is not None and written is not None and written in inside:
        of = written if written._base is None else written._base
        if mode.grad and of in inside and (of._rg if of._fn is None else of._fn in inside._inputs):
            return  # refused as the leaf that it is for this level, and PyTorch asks the inner levels first
        written, inside = inside.source(written), inside.outer
    if inside is not None and written is not None:
        raise captured(name if inside is mode.transform else _MADE_OF.get(name, name), args)


def captured(name: str, args: tuple[Any, ...]) -> Exception:
    """PyTorch's error of the in-place op ``name`` on a captured tensor."""
    return errors.make(
        RuntimeError,
        errors.Details("other"),
        "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation "
        f"(aten::{name}{_overload(name, args)}) that would mutate a captured Tensor. This is not supported; please rewrite "
        "the function being transformed to explicitly accept the mutated Tensor(s) as inputs.",
    )


def registered_already(t: Any) -> bool:
    """Whether a hook on ``t``, made outside of a function that runs once for each column, was registered by the first run."""
    inside = mode.transform
    while inside is not None and t not in inside:
        if inside.column:
            return True
        inside = inside.outer
    return False


def check_data(t: Any, value: Any) -> None:
    """Refuse ``t.data = value`` where one of the two was made in a function that is transformed. In the ``forward`` of a custom
    Function there is no transform.
    """
    inside = mode.transform if mode.custom is None else None
    while inside is not None:
        if inside.computed(t) or inside.computed(value):
            raise RuntimeError("mutating directly with `.data` inside functorch transform is not allowed.")
        inside = inside.outer


def _check_repeated(t: Any, name: str) -> None:
    inside = mode.transform
    while inside is not None:
        if inside.column is not None and inside.is_given(t):
            raise RuntimeError(
                f"{name} would write to an argument of a function that func.jacfwd or func.hessian runs once for each column: the "
                "next run would read what this one has written. Let the function work on a clone() of it."
            )
        inside = inside.outer


_NUMBER_OR_TENSOR = frozenset((
    "fill_", "pow_", "masked_fill_", "eq_", "ne_", "lt_", "le_", "gt_", "ge_", "remainder_", "fmod_", "copysign_", "lerp_",
    "float_power_",
    "bitwise_and_", "bitwise_or_", "bitwise_xor_", "not_equal_", "less_", "less_equal_", "greater_", "greater_equal_",
))  # fmt: skip
_MADE_OF = {"swapaxes_": "transpose_", "swapdims_": "transpose_"}
"""What the innermost transform of PyTorch calls for a method, so that the outer ones see that."""
_ALWAYS = {
    "floor_divide_": ".Tensor",
    "scatter_reduce_": ".two",
    **dict.fromkeys(("add_", "sub_", "mul_", "div_", "multiply_", "subtract_", "divide_", "true_divide_"), ".Tensor"),
}
"""In arithmetic PyTorch makes numbers tensors before."""
_BY_LAST = {
    "index_fill_": (".int_Scalar", ".int_Tensor"),
    "scatter_": (".value", ".src"),
    "xlogy_": (".Scalar_Other", ".Tensor"),
}
"""By whether the last operand is a number."""


_DIVISIONS = frozenset(("div_", "divide_"))
_REDUCED = {".value": ".value_reduce", ".src": ".reduce"}
_LIMITS = frozenset(("clamp_", "clip_", "clamp_min_", "clamp_max_"))


def _overload(name: str, args: tuple[Any, ...]) -> str:
    """Which form of an op PyTorch calls for ``args``, those given by keyword at the end."""
    operands = [x for x in args if not isinstance(x, str)]
    is_number = bool(operands) and isinstance(operands[-1], int | float | complex)
    if name in _BY_LAST:
        form = _BY_LAST[name][not is_number]
        return form if len(operands) == len(args) else _REDUCED[form]  # scatter_ with reduce=
    if name in _NUMBER_OR_TENSOR:
        return ".Scalar" if is_number else ".Tensor"
    if name == "squeeze_" and args:
        return ".dims" if isinstance(args[0], tuple | list) else ".dim"
    if name in _LIMITS and not all(x is None or isinstance(x, int | float) for x in args):
        return ".Tensor"
    if name in _DIVISIONS and (len(operands) < len(args) or any(x is None for x in args)):  # rounding_mode=
        return ".Tensor_mode"
    if name == "bernoulli_":
        return ".float" if isinstance(args[0], int | float) else ".Tensor"
    if name == "random_":  # its limits, as they were given
        return {1: ".to", 2: ".from"}.get(len(args), "")
    if name == "round_" and args:
        return ".decimals"
    return _ALWAYS.get(name, "")


def is_dual(t: Any) -> bool:
    """Whether ``t`` is a dual of the innermost transform: none of those requires grad for PyTorch, whatever its primal does."""
    inside = mode.transform
    return (
        inside is not None and inside.forward and t._meta is not None and bool(t._meta.tangents) and inside.computed(t)
    )


def is_input(t: Any) -> bool:
    """Whether ``t`` is an input of a transform: of an outer one, too, where the inner transforms run forward mode on it."""
    level = mode.transform
    while level is not None:
        if level.is_input(t):
            return True
        level = level.outer
    return False


def is_recorded(t: Any) -> bool:
    """Whether ops on ``t`` are recorded: in transforms called under ``no_grad`` only what depends on inputs."""
    inside = mode.transform
    while inside is not None and not inside.recording and not inside.holds(t._fn, t):
        if inside.outer is None:
            return False
        inside = inside.outer
    return True


@contextmanager
def unchecked() -> Iterator[None]:
    """What is written meanwhile is written by an op of PyTorch's own, which may write to captured statistics."""
    before, mode.transform = mode.transform, None
    try:
        yield
    finally:
        mode.transform = before


def refuse(call: str) -> None:
    """Refuse ``call``, a method that changes what a tensor is for autograd."""
    if mode.transform is not None:
        also = " (or perhaps using torch.autograd.functional.* APIs)" if call == "requires_grad_()" else ""
        raise RuntimeError(
            f"You are attempting to call Tensor.{call}{also} inside of a function being transformed by a functorch transform. "
            "This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or "
            f"call {call} outside of a function being transformed instead."
        )


def refuse_backward() -> None:
    """Refuse ``backward()``."""
    if mode.transform is not None:
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp "
            "instead or call backward() outside of functorch transforms."
        )


def refuse_old_function() -> None:
    """Refuse a custom Function whose context is not set up by a function of its own."""
    if mode.transform is not None:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the "
            "setup_context staticmethod. For more details, please see "
            "https://pytorch.org/docs/main/notes/extending.func.html"
        )


def alive(node: Any, *levels: Inside) -> bool:
    """Whether a leaf that still requires grad and was made at none of ``levels``, or an orphan, can be reached from ``node``."""
    stack, seen = [node], {node}
    while stack:
        n = stack.pop()
        if n is None:
            continue
        if n in ORPHANS:
            return True
        if n.leaf:
            if n.variable._rg and not any(n.variable in level for level in levels):
                return True
            continue
        for producer in n.next_nodes():
            if producer not in seen:
                seen.add(producer)
                stack.append(producer)
    return False


def check_inference(node: Any) -> None:
    """Refuse ``node``, just born, if it saves an inference tensor of a level at which PyTorch records it, too.

    A tensor of an outer level is an ordinary one at the inner levels, which see it wrapped.
    """
    levels = []
    inside = mode.transform
    while inside is not None:
        levels.append(inside)
        inside = inside.outer
    if not any(level.saves_inference for level in levels):
        return
    saved = {getattr(getattr(node, "s_" + slot), "_storage", None) for slot in node.slots}
    for i, level in enumerate(levels):
        if any(storage in level.counted for storage in saved):
            _check_recorded_outside(node, levels, i + 1)
    for storage in saved:
        if isinstance(storage, InferenceStorage):
            made_at = storage.level()
            _check_recorded_outside(node, levels, levels.index(made_at) if made_at in levels else len(levels))


def _check_recorded_outside(node: Any, levels: list[Inside], first: int) -> None:
    """Refuse ``node``, which saves an inference tensor, if it is recorded at one of ``levels[first:]`` or outside of all."""
    recorded = any(level.reached_from(node) for level in levels[first:])
    if recorded or (levels[-1].recording and alive(node, *levels)):
        raise unsaved()
