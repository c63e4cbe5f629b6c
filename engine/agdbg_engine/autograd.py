"""``backward`` and ``grad``: the entry points of the backward engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import errors
from .backward import BackwardPass, Capture
from .creation import zeros_like
from .grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .node import Node, edge
from .sites import caller
from .tensor import Tensor, wrap

__all__ = ["backward", "enable_grad", "grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]

Tensors = Tensor | Sequence[Tensor]


def backward(
    tensors: Tensors,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    *,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradients of ``tensors`` to the ``grad`` of the leaves (or of ``inputs`` only).

    The saved tensors of the graph are freed unless ``retain_graph`` (by default ``create_graph``) is true.
    Raises :class:`RuntimeError` with PyTorch's text for a root that does not require grad, a non-scalar root without
    gradient, a graph freed before, a saved tensor modified in place.
    """
    wanted = None if inputs is None else _as_tuple(inputs)
    if wanted == ():
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    seeds = _roots(_as_tuple(tensors), grad_tensors, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    bp = BackwardPass("backward", keep, create_graph, *caller())
    bp.start(seeds, targets=None if wanted is None else [_retained(t) for t in wanted])
    bp.run()


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``; nothing is accumulated."""
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    wanted = _as_tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    seeds = _roots(_as_tuple(outputs), grad_outputs, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    bp = BackwardPass("grad", keep, create_graph, *caller())
    captures = _captures(wanted)
    bp.start(seeds, captures)
    bp.run()
    if not (allow_unused or materialize_grads):
        _check_used(captures)
    found = [c.value if c.value is None or isinstance(c.value, Tensor) else wrap(_own(c.value)) for c in captures]
    if materialize_grads:
        found = [
            zeros_like(t, requires_grad=create_graph) if g is None else g for t, g in zip(wanted, found, strict=True)
        ]
    return tuple(found)


def _check_used(captures: list[Capture]) -> None:
    for i, c in enumerate(captures):
        if c.value is None:
            raise errors.make(
                RuntimeError,
                errors.Details("none-grad"),
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True "
                "if this is the desired behavior.",
            )


def _own(array: Any) -> Any:
    """A buffer that nobody else holds: a captured gradient may be an alias or broadcast."""
    return np.array(array) if isinstance(array, np.ndarray | np.generic) else array.copy()


def _as_tuple(tensors: Tensors) -> tuple[Tensor, ...]:
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _retained(t: Tensor) -> Node:
    """The node whose run fills ``t.grad``."""
    t.retain_grad()
    node = edge(t)
    if node is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return node


def _captures(inputs: tuple[Tensor, ...]) -> list[Capture]:
    captures = []
    for t in inputs:
        node = edge(t)
        if node is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        captures.append(Capture(node, t._nr))
    return captures


def _roots(roots: tuple[Tensor, ...], gradients: Any, create_graph: bool) -> list[tuple[Node, int, Any]]:
    """``(node, output number, gradient)`` of every root, checked."""
    given = (
        (None,) * len(roots)
        if gradients is None
        else (gradients,)
        if isinstance(gradients, Tensor)
        else tuple(gradients)
    )
    if len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    seeds = [_seed(i, t, g) for i, (t, g) in enumerate(zip(roots, given, strict=True))]
    found = []
    for i, (t, seed) in enumerate(zip(roots, seeds, strict=True)):
        node = edge(t)
        if node is None:
            raise _no_grad_fn(i, t)
        found.append((node, t._nr, seed if create_graph else seed._a))
    return found


def _seed(i: int, t: Tensor, g: Tensor | None) -> Tensor:
    if g is None:
        if t.requires_grad and t._a.size != 1:
            raise errors.make(
                RuntimeError,
                errors.Details("non-scalar", t._fn, storage=t._storage),
                "grad can be implicitly created only for scalar outputs",
                f"this one has {t._a.size} elements: reduce it first (.sum(), .mean()), or pass gradient= of its shape",
            )
        if t.requires_grad and t.dtype.kind != "f":
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got torch.{t.dtype}")
        return wrap(np.ones_like(t._a))
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if g.shape != t.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of torch.Size({list(g.shape)}) and output[{i}] has a shape of "
            f"torch.Size({list(t.shape)})."
        )
    return g if g.dtype == t.dtype else g.to(t.dtype)


def _no_grad_fn(i: int, t: Tensor) -> Exception:
    return errors.make(
        RuntimeError,
        errors.Details("no-grad-fn", storage=t._storage),
        f"element {i} of tensors does not require grad and does not have a grad_fn",
        "nothing it was computed from requires grad, or the path was cut by detach(), .data, no_grad or an integer op",
    )
