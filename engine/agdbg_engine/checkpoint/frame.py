"""One checkpointed call without re-entrant backward: what its ops saved is thrown away and made again when needed.

While the function runs, every tensor that an op saves is replaced by an empty :class:`Holder`. The first holder that a
backward pass unpacks runs the function again, which fills all of them for that pass; each is emptied as it is unpacked.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from .. import errors, events
from ..current import current
from ..grad_mode import enable_grad, mode, no_grad
from ..op_log import Difference, OpLog, difference, logging
from ..saved.hooks import saved_tensors_hooks, unpack_again
from ..sites import caller, user_stacklevel
from ..tensor import Tensor
from .redrawing import tell_redrawn

_PREFIX = "torch.utils.checkpoint: "


class CheckpointError(RuntimeError):
    """The recomputation of a checkpointed function did not save what its first run saved."""


class StopRecomputation(BaseException):
    """All that is needed has been recomputed. No :class:`Exception`, so that the function cannot catch it by accident."""


class Holder:
    """Stands for a saved tensor; ``filled`` has it by run, with its version, while it is there."""

    __slots__ = ("__weakref__", "device", "dtype", "filled", "shape")

    def __init__(self, t: Tensor) -> None:
        self.shape, self.dtype, self.device = t.shape, t.dtype, t.device
        self.filled: weakref.WeakKeyDictionary[Run, tuple[Tensor, int] | None] = weakref.WeakKeyDictionary()


class Run:
    """One recomputation, for one backward pass."""

    def __init__(self) -> None:
        self.count = 0
        """How many tensors have been saved."""
        self.log = OpLog()
        self.done = False
        self.stopped = False


class SavedArgument:
    """A tensor argument, kept as an op keeps its inputs: checked for writes, packed by the hooks around."""

    def __init__(self, t: Tensor) -> None:
        self._storage = t._shared_storage()
        self._version = self._storage.version
        self._requires_grad = t.requires_grad
        self._is_leaf = t.is_leaf
        self._hooks = mode.saved_hooks[-1] if mode.saved_hooks else None
        with no_grad():
            self._value: Any = t if self._hooks is None else self._hooks.pack(t)

    @property
    def kept(self) -> Any:
        """The argument, or what the hooks around made of it."""
        return self._value

    def unpack(self) -> Tensor:
        """The argument; raises PyTorch's error when it was modified since."""
        if self._hooks is None:
            found: Tensor = self._value
            if not self._is_leaf and found._fn is None:
                raise errors.kept_detached("an argument of the checkpointed function")
            if not self._storage.version == self._version:
                raise errors.kept_modified(
                    found, self._storage, self._version, "an argument of the checkpointed function"
                )
            return found
        found = self._hooks.unpack(self._value)
        return (
            found if found.requires_grad == self._requires_grad else found.detach().requires_grad_(self._requires_grad)
        )

    def unpack_again(self, bp: Any) -> None:
        """``bp`` has gone back, and the argument will be wanted once more."""
        if self._hooks is not None:
            unpack_again(self._hooks.unpack, bp)


class Frame:
    """A checkpointed call: ``recompute`` runs its function again on the arguments."""

    def __init__(
        self, recompute: Callable[..., Any], arguments: tuple[Any, ...], early_stop: bool, check: bool, debug: bool
    ) -> None:
        self._recompute = recompute
        self._arguments = [SavedArgument(a) if isinstance(a, Tensor) else a for a in arguments]
        self._early_stop = early_stop
        self._check = check
        self._debug = debug
        self._holders: list[weakref.ref[Holder]] = []
        self._runs: weakref.WeakKeyDictionary[Any, Run] = weakref.WeakKeyDictionary()
        self._ignore_count = False
        self.drawn_to: Any = None
        """Where the generator was behind the first run, if that drew numbers that nobody keeps; known while somebody listens."""
        self.completed = False
        """Whether the first run is over."""
        self.log = OpLog(mode.op_log)

    def hooks(self) -> saved_tensors_hooks:
        """The hooks for the first run."""
        return saved_tensors_hooks(self._pack, self._unpack)

    # ----- first run -----

    def _pack(self, t: Tensor) -> Holder:
        holder = Holder(t)
        self._holders.append(weakref.ref(holder))
        return holder

    def keeps(self, holder: Holder) -> list[Any]:
        """What is in memory for ``holder``: the arguments that it would be computed from, and itself where it was."""
        filled = [found[0] for found in list(holder.filled.values()) if found is not None]
        return [*filled, *(a.kept for a in self._arguments if isinstance(a, SavedArgument))]

    def _unpack(self, holder: Holder) -> Tensor:
        run = self._run_of(current.bp)
        if not run.done:
            self._fill(run)
        found = holder.filled.get(run)
        if found is None:
            raise CheckpointError(
                f"{_PREFIX}Unpack is being triggered for a tensor that was already unpacked once. If you are calling "
                "ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with details on "
                "your use case."
            )
        holder.filled[run] = None
        t, version = found
        if t._version != version:
            raise errors.kept_modified(
                t, t._shared_storage(), version, "saved by the checkpointed function, which wrote to it afterwards"
            )
        return t

    def _run_of(self, bp: Any) -> Run:
        """The recomputation for pass ``bp``; one for this time only outside of a pass."""
        run = Run() if bp is None else self._runs.get(bp)
        if run is None:
            run = self._runs[bp] = Run()
        return run

    def unpack_again(self, bp: Any) -> None:
        """``bp`` has gone back over a node that had its tensors: they are computed once more when it runs again."""
        self._runs.pop(bp, None)
        for a in self._arguments:
            if isinstance(a, SavedArgument):
                a.unpack_again(bp)

    # ----- recomputation -----

    def _fill(self, run: Run) -> None:
        arguments = [a.unpack() if isinstance(a, SavedArgument) else a for a in self._arguments]
        hooks = saved_tensors_hooks(lambda t: self._repack(run, t), lambda t: t)
        try:
            with hooks, enable_grad(), logging(run.log):
                self._recompute(*arguments)
        except StopRecomputation:
            run.stopped = True
        run.done = True
        tell_redrawn(self.drawn_to)
        self._compare(run)

    def _repack(self, run: Run, t: Tensor) -> Tensor:
        plain = t.detach() if t.requires_grad else t
        index = run.count
        run.count += 1
        if index >= len(self._holders):
            if not self.completed:  # backward in the function itself: the first run has not saved everything yet
                self._ignore_count = True
                return plain
            self._fail(run, "trying to save more tensors during recomputation than during the original forward pass.")
        holder = self._holders[index]()
        if holder is not None:  # else a backward in the function has released it
            holder.filled[run] = (plain, plain._version)
        if self._early_stop and run.count == len(self._holders):
            raise StopRecomputation
        return plain

    def _compare(self, run: Run) -> None:
        """Raise :class:`CheckpointError` if the run saved other tensors than the first; warn if it ran other ops."""
        if self._ignore_count:
            return
        if run.count != len(self._holders):
            self._fail(
                run,
                "A different number of tensors was saved during the original forward and recomputation.",
                f"Number of tensors saved during forward: {len(self._holders)}",
                f"Number of tensors saved during recomputation: {run.count}.",
            )
        if not self._check:
            tell(self.log, run.log, run.stopped)
            return
        lines = [line for i, ref in enumerate(self._holders) for line in _other(i, ref(), run)]
        if lines:
            self._fail(
                run,
                "Recomputed values for the following tensors have different metadata than during the forward pass.",
                *lines,
            )
        compare(self.log if self.completed else run.log, run.log, run.stopped)

    def _fail(self, run: Run, text: str, *more: str) -> NoReturn:
        found = tell(self.log, run.log, run.stopped)
        lines = [*more, *(found.lines() if found is not None else ())]
        first_line = _PREFIX + text
        if self._debug:
            lines = [first_line, *lines, *_listing("the first run", self.log), *_listing("the recomputation", run.log)]
            first_line = " An error happened while unpacking tensors; dumping logs of latest computation"
        raise errors.make(CheckpointError, errors.Details("checkpoint"), first_line, *lines)


def _other(i: int, holder: Holder | None, run: Run) -> list[str]:
    """What is different about the tensor that the run put into ``holder``."""
    found = None if holder is None else holder.filled.get(run)
    if holder is None or found is None:
        return []
    then, now = ((x.shape, x.dtype, x.device) for x in (holder, found[0]))
    if then == now:
        return []
    return [
        f"tensor at position {i}:",
        f"saved metadata: {_described(*then)}",
        f"recomputed metadata: {_described(*now)}",
    ]


def _described(shape: Any, dtype: Any, device: Any) -> str:
    return f"{{'shape': torch.Size({list(shape)}), 'dtype': torch.{dtype}, 'device': device(type='{device.type}')}}"


def _listing(name: str, log: OpLog) -> list[str]:
    return [f"ops of {name}:", *(f"  {i + 1}: {entry}" for i, entry in enumerate(log.entries))]


def tell(first: OpLog, second: OpLog, stopped: bool) -> Difference | None:
    """Where the recomputation differs from the first run; instruments are told of the recomputation."""
    found = difference(first.entries, second.entries, stopped)
    if events.sink is not None:
        text = None if found is None else "\n".join(found.lines())
        events.sink.recomputed(len(second.entries), text, *caller())
    return found


def compare(first: OpLog, second: OpLog, stopped: bool) -> None:
    """Warn if a recomputation that saved the right kind of tensors ran other ops: the gradients are of another function."""
    found = tell(first, second, stopped)
    if found is not None:
        warnings.warn(
            "\n".join(
                (
                    "checkpoint: the recomputation ran other ops than the first run: gradients may be wrong",
                    *found.lines(),
                )
            ),
            UserWarning,
            stacklevel=user_stacklevel(),
        )
