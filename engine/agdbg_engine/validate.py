"""What comes out of a node must fit what went in: the checks on gradients that users made (custom Functions, ``grad_outputs``).

Gradients of the op table fit by construction and never come here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import errors
from .device import device, device_of

if TYPE_CHECKING:
    from .node import Node
    from .tensor import Tensor

Shape = tuple[int, ...]


class InputMetadata(NamedTuple):
    """What a gradient for a tensor must look like."""

    shape: Shape
    dtype: np.dtype[Any]
    device: device
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


def metadata_of(t: Tensor) -> InputMetadata:
    """What gradients for ``t`` must look like."""
    return of_buffer(t._a)


def of_buffer(array: Any) -> InputMetadata:
    """What gradients for a tensor on ``array`` must look like."""
    return InputMetadata(array.shape, array.dtype, device_of(array))


def output_metadata(node: Node) -> tuple[InputMetadata | None, ...]:
    """What is known about the outputs of ``node``: of ops of the table only what they saved tells."""
    count: int = getattr(node, "n_outputs", 1)
    found = list(_known(node))
    return (*found, *[None] * (count - len(found)))


def _known(node: Node) -> Iterator[InputMetadata]:
    if node.leaf:
        yield metadata_of(node.variable)
    elif any(node.outputs_saved) and not node.multi:
        saved = getattr(node, "s_" + node.slots[node.outputs_saved.index(True)])
        if hasattr(saved, "shape"):
            yield of_buffer(saved)


def validate_outputs(
    node: Node, grads: Sequence[Any], expected: Sequence[InputMetadata | None], names: Sequence[str] | None = None
) -> tuple[Any, ...]:
    """The gradients (tensors or ``None``) that ``node`` returned, made to fit ``expected``, one for each of its edges.

    Where broadcasting was forgotten they are summed down, and cast to the dtype. Raises PyTorch's :class:`RuntimeError`
    for a wrong number, an incompatible shape or device, a complex gradient of a real tensor; ``names`` are what the user calls
    the inputs. An expected ``None`` is an edge to nowhere, whose gradient does not matter.
    """
    if len(grads) != len(expected):
        raise _invalid(node, f"number of gradients - expected {len(expected)}, but got {len(grads)}")
    return tuple(
        g if g is None or want is None else fitted_to(node, i, g, want, names[i] if names and i < len(names) else None)
        for i, (g, want) in enumerate(zip(grads, expected, strict=True))
    )


def fitted_to(node: Node, i: int, g: Tensor, want: InputMetadata, name: str | None = None) -> Tensor:
    """The gradient ``g`` that ``node`` returned for its input ``i``, made to fit ``want``: see :func:`validate_outputs`."""
    from .ops.graph import sum_to

    more = [f"that is the gradient for argument '{name}' of shape {list(want.shape)}, {want.dtype}"] if name else []
    if g.shape != want.shape:
        if not is_expandable_to(want.shape, g.shape):
            got = f"got {list(g.shape)} but expected shape compatible with {list(want.shape)}"
            raise _invalid(node, f"gradient at index {i} - {got}", *more)
        g = sum_to(g, want.shape)
    if g.dtype != want.dtype:
        if not castable(g.dtype, want.dtype):
            raise errors.make(RuntimeError, errors.Details("invalid-gradient", node), _COMPLEX, *more)
        g = g.to(want.dtype)
    if g.device != want.device:
        raise _invalid(node, f"gradient at index {i} - expected device {want.device} but got {g.device}", *more)
    return g


def castable(given: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Whether a gradient of dtype ``given`` may be cast to ``wanted``: not complex to real, nor integers to complex."""
    return given.kind == "f" or (given.kind == "c") == (wanted.kind == "c")


_COMPLEX = (
    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got false.  "
    "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
)


def _invalid(node: Node, what: str, *more: str) -> Exception:
    return errors.make(
        RuntimeError,
        errors.Details("invalid-gradient", node),
        f"Function {node.name()} returned an invalid {what}",
        *more,
    )


def is_expandable_to(shape: Shape, wider: Shape) -> bool:
    """Whether a tensor of ``shape`` can be broadcast to ``wider``."""
    if len(shape) > len(wider):
        return False
    return all(s in (1, w) for s, w in zip(reversed(shape), reversed(wider), strict=False))
