"""The gradients that a pass starts with: those given by the user, checked, and ones for scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import errors
from .device import module_of, on
from .foreign import described, is_pytorchs, refuse
from .gradient_edge import GradientEdge, known
from .node import Node, edge
from .several import at_home
from .tensor import Tensor, wrap
from .validate import InputMetadata, metadata_of

Root = Tensor | GradientEdge
Seed = tuple[Node, int, Any]


def as_tuple(tensors: Any) -> tuple[Any, ...]:
    """A bare tensor or edge as a tuple of one."""
    one = isinstance(tensors, Tensor | GradientEdge) or is_pytorchs(type(tensors))  # which is refused as one
    return (tensors,) if one else tuple(tensors)


def gradients_for(roots: Sequence[Root], gradients: Any, batched: bool = False) -> list[Tensor | None]:
    """A gradient for every root as far as ``gradients`` go; raises PyTorch's errors for what does not fit.

    ``batched`` gradients have one dimension more, the first.
    """
    given = (None,) * len(roots) if gradients is None else as_tuple(gradients)
    made = [
        _ones(root) if g is None else _checked(i, root, g, batched)
        for i, (root, g) in enumerate(zip(roots, given, strict=False))
    ]
    if len(made) != len(roots):  # too many are no error in PyTorch
        raise RuntimeError(f"got {len(roots)} tensors and {len(made)} gradients")
    return made


def seeds(roots: Sequence[Root], gradients: Sequence[Tensor | None], as_tensors: bool) -> list[Seed]:
    """``(node, output number, gradient)`` of every root; buffers, or ``as_tensors``."""
    found: list[Seed] = []
    for i, (root, g) in enumerate(zip(roots, gradients, strict=True)):
        if isinstance(root, GradientEdge):
            node, nr = root.node, root.output_nr
        else:
            start = edge(root)
            if start is None:
                raise no_grad_fn(i, root)
            node, nr = start, root._nr
        assert g is not None  # only what requires no gradient has none
        found.append((node, nr, g if as_tensors else g._a))
    return found


def _metadata(root: Root) -> InputMetadata | None:
    return known(root) if isinstance(root, GradientEdge) else metadata_of(_tensor(root))


def _tensor(root: Any) -> Tensor:
    if not isinstance(root, Tensor):
        refuse(root, "backward", "tensors")
        raise AssertionError("Expected output to be a torch.Tensor")
    return root


# ----- made here -----


def _ones(root: Root) -> Tensor | None:
    if isinstance(root, GradientEdge):
        want = known(root)
        _check_scalar(want, root.node, None)
        assert want is not None
        with on(want.device):
            return wrap(module_of(want.device).ones(want.shape, want.dtype))
    t = _tensor(root)
    if not t.requires_grad:
        return None
    if t._a.size != 1 or t._a.dtype.kind != "f":
        _check_scalar(metadata_of(t), t._fn, t)
    return wrap(np.array(1, t._a.dtype, ndmin=t._a.ndim) if type(t._a) is np.ndarray else _ones_like(t._a))


_ones_like = at_home(np.ones_like)


def _check_scalar(want: InputMetadata | None, node: Node | None, t: Tensor | None) -> None:
    """Raise unless a gradient can be made: for one real element."""
    if want is None or any(n != 1 for n in want.shape):
        count = int(np.prod(want.shape)) if want is not None else 0
        raise errors.make(
            RuntimeError,
            errors.Details("non-scalar", node, storage=None if t is None else t._storage),
            "grad can be implicitly created only for scalar outputs",
            f"this one has {count} elements: reduce it first (.sum(), .mean()), or pass gradient= of its shape"
            if want is not None
            else "the shape there is not known: get the edge by get_gradient_edge(tensor), or pass the gradient",
        )
    if want.dtype.kind != "f":
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got torch.{want.dtype}")


# ----- given -----


def _checked(i: int, root: Root, g: Any, batched: bool) -> Tensor:
    want = _metadata(root)
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {described(g)}")
    first = g[0] if batched else g
    if want is None:
        return g
    if first.shape != want.shape:
        raise _mismatch(i, root, want, first, batched)
    if (want.dtype.kind == "c") != (g.dtype.kind == "c"):
        raise _refused(
            "other",
            root,
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of torch.{g.dtype} and output[{i}] has a dtype of torch.{want.dtype}.",
        )
    if g.device != want.device:
        raise _refused(
            "other", root, f"invalid gradient at index {i} - expected device {want.device} but got {g.device}"
        )
    return g if g.dtype == want.dtype else g.to(want.dtype)


def _mismatch(i: int, root: Root, want: InputMetadata, first: Tensor, batched: bool) -> Exception:
    size = f"torch.Size({list(want.shape)})"
    if not batched:
        return _refused(
            "shape",
            root,
            f"Mismatch in shape: grad_output[{i}] has a shape of torch.Size({list(first.shape)}) and output[{i}] has a shape of "
            f"{size}.",
        )
    if isinstance(root, GradientEdge):
        return _refused("other", root, "Batched grads are not supported with GradientEdge")
    return _refused(
        "shape",
        root,
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The sizes of "
        "the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was detected: "
        f"grad_output[{i}] has a shape of torch.Size({list(first.shape[1:])}) and output[{i}] has a shape of {size}. "
        "If you only want some tensors in `grad_output` to be considered batched, consider using vmap.",
    )


def _refused(kind: str, root: Root, text: str) -> Exception:
    """The error about a gradient that does not fit its root."""
    node = root.node if isinstance(root, GradientEdge) else root._fn
    return errors.make(RuntimeError, errors.Details(kind, node), text)


def no_grad_fn(i: int, t: Tensor) -> Exception:
    """The error for output ``i``, which has no history."""
    return errors.make(
        RuntimeError,
        errors.Details("no-grad-fn", storage=t._storage),
        f"element {i} of tensors does not require grad and does not have a grad_fn",
        "nothing it was computed from requires grad, or the path was cut by detach(), .data, no_grad or an integer op",
    )
