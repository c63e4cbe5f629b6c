"""``register_multi_grad_hook``: one hook for the gradients of several tensors, counted anew in every backward pass."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from .. import events
from ..current import current
from ..hooks import Quiet, RemovableHandle
from ..node import Node
from ..tensor import Tensor
from .tensor import live_accumulator, register

if TYPE_CHECKING:
    from ..backward import BackwardPass

Gradient = Tensor | None


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Gradient]], None] | Callable[[Tensor], None],
    *,
    mode: str = "all",
) -> RemovableHandle:
    """Call ``fn`` once per backward pass in which gradients of ``tensors`` are computed.

    ``all``: with a list of them, ``None`` for those that the pass does not need, when the last one is there. ``any``: with the
    first one. Raises :class:`ValueError` for another mode, :class:`AssertionError` for a tensor without history (``all``).
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        first = _First(fn)
        return MultiHandle([register(t, first, "multi") for t in tensors if t.requires_grad], first)
    wanted = _All([_Place(t) for t in tensors], fn)
    return MultiHandle([register(t, _Part(wanted, i), "multi") for i, t in enumerate(tensors)], wanted)


class MultiHandle(RemovableHandle):
    """Removes the hook from all its tensors."""

    def __init__(self, handles: list[RemovableHandle], counted: _Counted) -> None:
        self.handles = tuple(handles)
        counted.number = handles[0].id if handles else -1

    def remove(self) -> None:
        """Forget the hook; harmless when done twice."""
        for handle in self.handles:
            handle.remove()


class _Place:
    """Where the gradient of a tensor arrives: nothing is kept alive by it."""

    def __init__(self, t: Tensor) -> None:
        node = t.grad_fn
        if node is None and t._rg is not True:  # nor is it a leaf: a view made without recording has no gradient either
            raise AssertionError("Expected gradient function to be set")
        self._leaf = weakref.ref(t) if node is None else None
        self._node = None if node is None else weakref.ref(node)

    def node(self) -> Node | None:
        """The node; for a leaf the AccumulateGrad that it has now, since one lives no longer than its graphs."""
        if self._node is not None:
            return self._node()
        t = self._leaf() if self._leaf is not None else None
        return None if t is None else live_accumulator(t)


class _Counted:
    """The passes that are on their way, each with what the hook has seen in it."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.number = -1
        """That of the handle on the first tensor."""
        self._lock = threading.Lock()

    def call(self, argument: Any) -> None:
        """Call the user's function, and tell of it."""
        started = perf_counter_ns()
        self.fn(argument)
        bp = current.bp
        if events.sink is not None and bp is not None:
            told = events.HookFacts(self.number, self.fn, ns=perf_counter_ns() - started)
            events.sink.hook("fired", "multi", current.node, bp.code, bp.lasti, told)


class _First(_Counted, Quiet):
    """Mode ``any``: the same hook on every tensor."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__(fn)
        functools.update_wrapper(self, fn)
        self._done: weakref.WeakSet[BackwardPass] = weakref.WeakSet()

    def __call__(self, grad: Gradient) -> None:
        with self._lock:
            if _running() in self._done:
                return
            self._done.add(_running())
        self.call(grad)


class _All(_Counted):
    """Mode ``all``: what is known of the gradients."""

    def __init__(self, places: list[_Place], fn: Callable[..., Any]) -> None:
        super().__init__(fn)
        self._places = places
        self._passes: weakref.WeakKeyDictionary[BackwardPass, _Seen] = weakref.WeakKeyDictionary()

    def came(self, i: int, grad: Gradient) -> None:
        """The gradient of the tensor at index ``i`` is there."""
        bp = _running()
        with self._lock:
            seen = self._passes.get(bp)
            if seen is None:
                seen = self._passes[bp] = _Seen(len(self._places), self._expected(bp))
            seen.count += 1
            last = seen.count == seen.expected
            seen.gradients[i] = grad
        if last:
            self.call(seen.gradients)
            del self._passes[bp]

    def _expected(self, bp: BackwardPass) -> int:
        """How many of the tensors get a gradient in this pass.

        PyTorch does not count one that is the only root, so that the hook fires with its gradient alone, and again with the
        others (never, if there are no others). It is the same here.
        """
        planned = set(bp.order)
        if len(bp.roots) == 1:
            planned.discard(bp.roots[0][0])
        nodes = [n for place in self._places if (n := place.node()) in planned]
        if any(n is not None and n.leaf and n in bp._captured for n in nodes):
            raise RuntimeError(
                "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
                "currently not supported."
            )
        return len(nodes)


class _Seen:
    """The gradients of one pass."""

    def __init__(self, places: int, expected: int) -> None:
        self.gradients: list[Gradient] = [None] * places
        self.expected = expected
        self.count = 0


class _Part(Quiet):
    """The hook on one of the tensors."""

    def __init__(self, wanted: _All, i: int) -> None:
        self._wanted = wanted
        self._i = i

    def __call__(self, grad: Gradient) -> None:
        self._wanted.came(self._i, grad)


def _running() -> BackwardPass:
    if current.bp is None:
        raise AssertionError("expected this hook to be called inside a backward call")
    return current.bp
