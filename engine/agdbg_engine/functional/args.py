"""What the functions of :mod:`.functional` have in common: their arguments, their checks and PyTorch's words for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd import grad
from ..creation import zeros_like
from ..tensor import Tensor

Tensors = Tensor | tuple[Tensor, ...]
Grads = tuple[Tensor | None, ...]
Function = Callable[..., Any]

OUTPUTS = "outputs of the user-provided function"


def tensors(value: Any, what: str, name: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether ``value`` is a tuple, and it as a tuple of tensors; :class:`TypeError` for anything else.

    ``what`` is what function ``name`` calls the value.
    """
    is_tuple = isinstance(value, tuple)
    found: tuple[Any, ...] = value if isinstance(value, tuple) else (value,)
    for i, x in enumerate(found):
        if not isinstance(x, Tensor):
            which = f"value at index {i}" if is_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {which} has type {type(x)}."
            )
    return is_tuple, found


def unpacked(result: Sequence[Any], is_tuple: bool) -> Any:
    """``result`` in the form in which the user gave what it belongs to."""
    return result if is_tuple else result[0]


def prepared(inputs: tuple[Tensor, ...], create_graph: bool, need_graph: bool) -> tuple[Tensor, ...]:
    """New tensors on the memory of ``inputs``, so that the function's own use of the same tensors is told apart.

    They stay in the caller's graph under ``create_graph``; else they are leaves, for which gradients can be asked if
    ``need_graph``.
    """
    return tuple(
        x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_(need_graph) for x in inputs
    )


def finished(results: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """``results`` (tensors or tuples of them) without history unless the user asked for it."""
    if create_graph:
        return results
    return tuple(finished(r, create_graph) if isinstance(r, tuple) else r.detach() for r in results)


def vector(v: Any, like: tuple[Tensor, ...], is_tuple: bool, create_graph: bool, name: str) -> tuple[Tensor, ...]:
    """``v`` as a tuple of tensors of the sizes of ``like``; :class:`RuntimeError` when they differ."""
    found = prepared(tensors(v, "v", name)[1], create_graph, need_graph=False)
    if len(found) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(found)}."
            if is_tuple
            else "The given v should contain a single Tensor."
        )
    for i, (x, y) in enumerate(zip(found, like, strict=True)):
        if x.shape != y.shape:
            entry = f"Entry {i} in " if is_tuple else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {size(y)} but got {size(x)}.")
    return found


def check_single(ts: tuple[Tensor, ...], message: str) -> None:
    """Raise ``message`` unless there is one tensor with one element, for which no vector needs to be given."""
    if len(ts) != 1 or ts[0].numel() != 1:
        raise RuntimeError(message)


def size(t: Tensor) -> str:
    """The shape of ``t`` as PyTorch prints it."""
    return f"torch.Size({list(t.shape)})"


# ----- gradients -----


def gradients(
    outputs: Sequence[Tensor | None],
    inputs: tuple[Tensor, ...],
    grad_outputs: Sequence[Tensor] | None = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
) -> Grads:
    """:func:`.autograd.grad` that passes over outputs which are missing or constant."""
    given = (None,) * len(outputs) if grad_outputs is None else grad_outputs
    pairs = [(o, g) for o, g in zip(outputs, given, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outs, gs = zip(*pairs, strict=True)
    return grad(outs, inputs, gs, allow_unused=True, create_graph=create_graph, retain_graph=retain_graph)


class Stage:
    """What is being computed, for the errors of strict mode: what is missing, and what does not depend on the inputs."""

    def __init__(self, missing: str, constant: str) -> None:
        self.missing = missing
        self.constant = constant


_CONSTANT = (
    "The {} of the user-provided function is independent of input {{}}. This is not allowed in strict mode when "
    "create_graph=True."
)
BACK = Stage(
    "The output of the user-provided function is independent of input {}. This is not allowed in strict mode.",
    _CONSTANT.format("jacobian"),
)
BACK_TRICK = Stage(
    "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double "
    "backward trick to compute forward mode gradients. This is not allowed in strict mode.",
    _CONSTANT.format("jacobian"),
)
DOUBLE_BACK = Stage(
    "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode.",
    _CONSTANT.format("hessian"),
)
DOUBLE_BACK_TRICK = Stage(
    "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not allowed in "
    "strict mode as it prevents from using the double backward trick to replace forward mode AD.",
    _CONSTANT.format("hessian"),
)


def filled(
    grads: Grads, like: tuple[Tensor, ...], strict: bool, create_graph: bool, stage: Stage
) -> tuple[Tensor, ...]:
    """``grads`` with zeros where there is none; in strict mode an error says so instead."""
    found = []
    for i, (g, x) in enumerate(zip(grads, like, strict=True)):
        if g is None:
            if strict:
                raise RuntimeError(stage.missing.format(i))
            g = zeros_like(x)
        elif strict and create_graph and not g.requires_grad:
            raise RuntimeError(stage.constant.format(i))
        found.append(g)
    return tuple(found)


# ----- what strict mode demands -----

CONSTANT_OUTPUT = (
    "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode."
)
CONSTANT_GRADIENT = (
    "The gradient with respect to input {} is independent of the inputs of the user-provided function. This is not "
    "allowed in strict mode."
)
CONSTANT_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
    "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."
)


def check_dependent(found: Any, strict: bool, constant: str) -> None:
    """In strict mode every tensor of ``found`` must be there and require grad: ``constant`` is raised with its number."""
    if not strict:
        return
    for i, x in enumerate(found):
        if x is None:
            raise RuntimeError(BACK.missing.format(i))
        if not x.requires_grad:
            raise RuntimeError(constant.format(i))


def scalar_output(outputs: Any, strict: bool, name: str) -> tuple[Tensor]:
    """What a function given to ``name`` returned, checked to be a single tensor with one element."""
    is_tuple, found = tensors(outputs, OUTPUTS, name)
    check_dependent(found, strict, CONSTANT_OUTPUT)
    if is_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    check_single(found, f"The Tensor returned by the function given to {name} should contain a single element")
    return (found[0],)
