"""A checkpoint whose backward is one node: it runs the function again with a graph and a backward pass through that."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .. import autograd
from ..current import current
from ..function import Function
from ..grad_mode import enable_grad, no_grad
from ..op_log import OpLog, logging
from ..random import drawing_from, rng_states
from ..sites import user_stacklevel
from ..tensor import Tensor
from .frame import compare
from .redrawing import drawn_from, drawn_since, tell_redrawn


def run_reentrant(function: Callable[..., Any], preserve: bool, args: tuple[Any, ...]) -> Any:
    """``function(*args)`` without a graph; its random numbers are drawn again in backward if ``preserve``."""
    return CheckpointFunction.apply(function, preserve, *args)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """``inputs`` with every tensor replaced by a leaf of the same memory that requires grad where the tensor does.

    :class:`RuntimeError` for anything but a tuple.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}\n"
            "put what you have into one: detach_variable((x,))"
        )
    return tuple([x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs])


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn when no tensor among ``inputs`` requires grad: a re-entrant checkpoint of them gives no gradients then."""
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        text = "None of the inputs have requires_grad=True. Gradients will be None"
        warnings.warn(text, UserWarning, stacklevel=user_stacklevel())


class CheckpointFunction(Function):
    """The node of a checkpointed call; its inputs are the function, whether to preserve random numbers, the arguments."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        """Run ``function`` without recording; of the arguments the tensors are saved."""
        check_backward_validity(args)
        ctx.function = function
        ctx.state = rng_states() if preserve else None  # no tensor: it is none that the function keeps
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(a for a in args if isinstance(a, Tensor)))
        ctx.log = OpLog(table_only=True)
        begun = None if preserve else drawn_from()
        with no_grad(), logging(ctx.log):
            found = function(*args)
        ctx.drawn_to = drawn_since(begun)
        return found

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the function again, with a graph, and the graph backward."""
        if _partial():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter "
                "to .backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without "
                "passing the `inputs` argument."
            )
        arguments = list(ctx.others)
        for place, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            arguments[place] = t
        arguments = list(detach_variable(tuple(arguments)))
        log = OpLog(table_only=True)
        with drawing_from(ctx.state), enable_grad(), logging(log):
            outputs = ctx.function(*arguments)
        tell_redrawn(ctx.drawn_to)
        compare(ctx.log, log, stopped=False)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        roots = [(o, g) for o, g in zip(outputs, grads, strict=False) if isinstance(o, Tensor) and o.requires_grad]
        if not roots:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        autograd.backward([o for o, _ in roots], [g for _, g in roots])
        return (None, None, *(a.grad if isinstance(a, Tensor) else None for a in arguments))


def _partial() -> bool:
    """Whether a pass that runs in this thread wants some gradients only, so that the leaves must not get theirs."""
    bp = current.bp
    while bp is not None:
        if bp._wanted is not None:
            return True
        bp = bp.parent
    return False
