"""What ``forward`` may say to its context, and what a Function has where the user wrote nothing."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

put = object.__setattr__
"""Set an attribute of a context in the engine's own code, without asking who does."""


class FunctionCtx:
    """The methods of the context of a custom Function. Each is to be called at most once, in ``forward`` or ``setup_context``.

    One made by itself holds what it is told, for tests of ``forward`` and ``backward`` without a graph.
    """

    __slots__ = ("__dict__",)

    def save_for_backward(self: Any, *tensors: Any) -> None:
        """Save inputs and outputs (or ``None``) for ``saved_tensors``, with a check for in-place writes.

        What is neither can be saved too, but no gradient flows through it in a double backward.
        """
        put(self, "to_save", tensors)

    def save_for_forward(self: Any, *tensors: Any) -> None:
        """Save tensors (or ``None``) for ``saved_tensors`` in ``jvp``."""
        from ..tensor import Tensor

        if not all(t is None or isinstance(t, Tensor) for t in tensors):
            raise AssertionError(
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx."
            )
        put(self, "saved_for_forward", tensors)

    def mark_dirty(self: Any, *args: Any) -> None:
        """Say which inputs were changed in place; all of them must be returned."""
        put(self, "dirty_tensors", args)

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Not needed any more: shared memory is known without."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that calls to "
            "`set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def mark_non_differentiable(self: Any, *args: Any) -> None:
        """Say which outputs have no gradient."""
        put(self, "non_differentiable", args)

    def set_materialize_grads(self: Any, value: bool) -> None:
        """Whether missing gradients and tangents come as zeros (the default) or as ``None``."""
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but expected (bool)"
            )
        put(self, "materialize_grads", value)


def no_setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
    """Prepare ``ctx`` for backward, where ``forward`` does not get it."""
    raise NotImplementedError("setup_context is not implemented.")


def no_backward(ctx: Any, *grad_outputs: Any) -> Any:
    """The gradients of all arguments of ``forward`` (``None`` for what is no tensor), given those of all outputs."""
    from .. import errors
    from ..node import Node

    raise errors.make(
        NotImplementedError,
        errors.Details("not-implemented", ctx if isinstance(ctx, Node) else None),
        "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.",
    )


def no_vmap(info: Any, in_dims: Any, *args: Any) -> NoReturn:
    """Run the Function over a batch: may be written for PyTorch's ``vmap``, and is never called here."""
    raise NotImplementedError(
        "To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule=True."
    )


def separate(cls: Any) -> bool:
    """Whether the context is set up by a function of its own."""
    return cls.setup_context is not no_setup_context
