"""Custom Functions: ops whose forward and backward are written by the user, on tensors.

The context that ``forward`` gets is the node itself, as in PyTorch: what ``forward`` puts on it ``backward`` finds there, and
``y.grad_fn`` shows it.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from .. import errors, events
from ..grad_mode import mode, tell_return
from ..inside import refuse_old_function
from ..missing import missing_attribute
from ..node import edge, new, next_seq
from ..tensor import Tensor
from .ctx import FunctionCtx, no_backward, no_setup_context, no_vmap, separate
from .facts import tell, versions_before
from .grads import like
from .names import OF_CONTEXTS
from .node import BackwardCFunction, DelayedError, Unborn
from .outputs import outputs_of

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "once_differentiable"]


class FunctionMeta(type):
    """Makes for every Function ``F`` the class of its nodes, ``FBackward``."""

    _backward_cls: type[BackwardCFunction]

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        super().__init__(name, bases, attrs)
        own = {"_forward_cls": cls, "op_name": name + "Backward", "__module__": __name__}
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), own)

    def __getattr__(cls, name: str) -> Any:
        """What contexts have can be looked at on the Function as well: here they are of a class of their own."""
        if name in OF_CONTEXTS:
            return inspect.getattr_static(BackwardCFunction, name)
        raise missing_attribute(f"type object '{cls.__name__}'", name)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base class of custom ops: define ``forward`` and ``backward`` as static methods and call :meth:`apply`.

    Either ``forward(ctx, *args)`` alone, or ``forward(*args)`` with ``setup_context(ctx, inputs, output)``.
    """

    boxed_grads_call: ClassVar[bool] = False
    """Whether ``backward`` gets its gradients as one list, from which it may take them away."""

    clear_saved_tensors_on_access: ClassVar[bool] = False
    """Whether ``ctx.saved_tensors`` may be read only once, and keeps nothing alive from then on."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke "
            "them on the class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Not how a Function is called: raises :class:`RuntimeError`."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
            "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result: a tensor or a tuple of anything; runs without recording."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    generate_vmap_rule: ClassVar[bool] = False
    """Without an effect here: there is no ``vmap``."""

    setup_context = staticmethod(no_setup_context)
    vmap = staticmethod(no_vmap)
    backward = vjp = staticmethod(no_backward)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of all outputs, given those of all arguments of ``forward`` (``None`` for what is no tensor)."""
        raise errors.make(
            NotImplementedError,
            errors.Details("not-implemented"),
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD.",
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call ``forward`` and record one node for it.

        Raises what ``forward`` raises, and PyTorch's errors for what ``ctx`` was told that does not fit.
        """
        apart = separate(cls)
        if not apart and events.special & events.TRANSFORM:
            refuse_old_function()
        if apart:
            args, kwargs = _bound(cls.forward, args, kwargs)
        inputs = (*args, *kwargs.values()) if kwargs else args
        tensors = [x for x in inputs if isinstance(x, Tensor)]
        ctx: BackwardCFunction = new(Unborn)
        ctx.set_up()
        if cls.clear_saved_tensors_on_access is not False:
            ctx.read_once(cls.clear_saved_tensors_on_access)
        executable = _connect(ctx, inputs, tensors)
        ctx.__class__ = cls._backward_cls
        before = mode.grad, mode.custom, mode.forward
        watched = None if events.sink is None else versions_before(tensors)
        if events.sink is not None:
            events.sink.function_began(ctx, "forward", ctx.code, ctx.lasti)
        mode.grad, mode.custom, mode.forward = False, ctx, False
        try:
            if apart:
                raw = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, inputs, raw)
            else:
                raw = cls.forward(ctx, *args, **kwargs)
        finally:
            mode.grad, mode.custom, mode.forward = before
            tell_return()
        if watched is not None:
            tell(ctx, inputs, watched, raw)
        return outputs_of(ctx, inputs, tensors, raw, executable)


def _connect(ctx: BackwardCFunction, inputs: tuple[Any, ...], tensors: list[Tensor]) -> bool:
    """Give a new node its edges if there is something to differentiate; whether there is."""
    needs = tuple([isinstance(x, Tensor) and x._rg is not False and x.requires_grad for x in inputs])
    ctx.needs_input_grad = needs
    if not (mode.grad and True in needs):
        return False
    ctx.next = tuple([edge(t) if t._rg else None for t in tensors])
    ctx.seq = next_seq()  # again: taking its place in a rewritten history may have made an input a younger node
    numbers = tuple([t._nr for t in tensors])
    ctx.nrs = numbers if any(numbers) else None
    ctx._wants = tuple([like(x) for x in inputs])
    return True


def _bound(forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """All arguments of ``forward``, defaults included: ``setup_context`` and ``backward`` count them."""
    if not kwargs and _counts_only(forward, len(args)):
        return args, kwargs
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _counts_only(forward: Any, count: int) -> bool:
    """Whether ``forward`` has just ``count`` parameters, all of them plain: the common case, in which there is nothing to bind."""
    code = getattr(forward, "__code__", None)
    if code is None or code.co_kwonlyargcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return False
    return bool(code.co_argcount == count)


ONCE = "trying to differentiate twice a function that was marked with @once_differentiable"


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a ``backward`` that cannot be differentiated: it runs without recording, and a second backward raises."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        recording = mode.grad
        mode.grad = False
        try:
            outputs = fn(ctx, *args, **kwargs)
        finally:
            mode.grad = recording
            tell_return()
        if not recording or not any(isinstance(x, Tensor) and x.requires_grad for x in args):
            return outputs
        several = isinstance(outputs, tuple)
        refused = _refused(ctx, outputs if several else (outputs,))
        return refused if several and len(refused) > 1 else refused[0]

    return wrapper


def _refused(ctx: Any, outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The outputs as results of a node that raises when it runs."""
    origin = ctx if isinstance(ctx, BackwardCFunction) else None
    node = DelayedError(errors.Details("once-differentiable", origin), ONCE, len(outputs))
    made = tuple(None if x is None else x.detach() for x in outputs)
    for i, t in enumerate(made):
        if t is not None:
            t._fn, t._nr, t._rg = node, i, True
    if events.sink is not None and any(t is not None for t in made):
        events.sink.node_born(node, next(t for t in made if t is not None))
        events.sink.outputs_made(node, [t for t in made if t is not None])
    return made


class InplaceFunction(Function):
    """Only for code that was written for it long ago: use :class:`Function`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
