"""What a function may not do while it is transformed: PyTorch's refusals, and which tensors were made inside.

The innermost transform of a thread is ``mode.transform``. It knows the tensors that were made while it is the innermost: all
others are captured, and a write to them would be lost on the transform.
"""

from __future__ import annotations

import weakref
from typing import Any

from . import errors, events
from .grad_mode import mode


class Inside:
    """A context in which a function is transformed; entering says so to everything in this thread."""

    def __init__(self) -> None:
        self._made: dict[int, weakref.ref[Any]] = {}
        """The tensors made inside by their id, as long as they live (comparing them would be an op)."""
        self._inputs: weakref.WeakSet[Any] = weakref.WeakSet()
        """The nodes of inputs that have a history."""

    def __enter__(self) -> Inside:
        self._outer = mode.transform
        mode.transform = self
        events.use(events.TRANSFORM)
        return self

    def __exit__(self, *exc: object) -> None:
        events.use(events.TRANSFORM, -1)
        mode.transform = self._outer

    def add(self, t: Any) -> None:
        """``t`` was made inside."""
        key = id(t)
        made = self._made
        made[key] = weakref.ref(t, lambda _: made.pop(key, None))

    def add_input(self, t: Any) -> None:
        """``t`` is what the transform differentiates for."""
        self.add(t)
        if t._fn is not None:
            self._inputs.add(t._fn)

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
        self._made.pop(id(t), None)

    def __contains__(self, t: Any) -> bool:
        return id(t) in self._made


def shares(out: Any, source: Any) -> None:
    """``out`` has the memory of ``source``: inside it is as captured as that."""
    inside = mode.transform
    if inside is not None and source not in inside:
        inside.discard(out)


def check_write(t: Any, name: str, args: tuple[Any, ...]) -> None:
    """Refuse the in-place op ``name`` on a captured tensor."""
    if mode.transform is not None and t not in mode.transform:
        raise errors.make(
            RuntimeError,
            errors.Details("other"),
            "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation "
            f"(aten::{name}{_overload(name, args)}) that would mutate a captured Tensor. This is not supported; please rewrite "
            "the function being transformed to explicitly accept the mutated Tensor(s) as inputs.",
        )


def _overload(name: str, args: tuple[Any, ...]) -> str:
    """Which form of an op PyTorch calls for ``args``: in arithmetic it makes numbers tensors before."""
    if name in ("add_", "sub_", "mul_", "div_"):
        return ".Tensor"
    if name in ("fill_", "pow_", "masked_fill_"):
        return ".Scalar" if isinstance(args[-1], int | float | complex) else ".Tensor"
    return ""


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
