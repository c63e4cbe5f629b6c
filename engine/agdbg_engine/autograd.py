"""``backward`` and ``grad``: the entry points of the backward engine."""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import anomaly as anomaly_mode
from . import errors, forward_ad, function, grad_mode, graph, inside, several
from .anomaly import detect_anomaly, set_detect_anomaly
from .backward import BackwardPass, Capture
from .creation import zeros_like
from .function import Function
from .grad_mode import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_grad_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .gradient_edge import GradientEdge
from .missing import missing
from .node import Node, edge, nowhere
from .overrides import overridable
from .saved.raw import SavedTensor
from .seeds import Root, as_tuple, gradients_for, no_grad_fn, seeds
from .sites import caller, user_stacklevel
from .tensor import Tensor, wrap
from .variable import Variable

__all__ = [
    "Function", "SavedTensor", "Variable", "anomaly_mode", "backward", "detect_anomaly", "enable_grad",
    "enforce_grad_layout_policy", "forward_ad", "function", "grad", "grad_mode", "graph", "inference_mode", "is_grad_enabled",
    "is_multithreading_enabled", "no_grad", "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable",
]  # fmt: skip

Roots = Root | Sequence[Root]

_LATER = {
    "functional": "functional",
    "gradcheck": "gradcheck",
    "gradgradcheck": "gradcheck",
    "GradcheckError": "gradcheck",
}
"""What is made of the functions here and so cannot be imported before them, by module."""


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise missing(__name__, name, [*__all__, *_LATER])
    import importlib

    found = importlib.import_module(f"agdbg_engine.{module}")
    return found if name == "functional" else getattr(found, name)


def variable(*args: Any, **kwargs: Any) -> None:
    """Not how a tensor is made any more: raises :class:`RuntimeError`."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


variable.Variable = Variable  # type: ignore[attr-defined]  # the name of a module in PyTorch, too


_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can "
    "cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this "
    "function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak."
)
_told: set[str] = set()
"""Warnings that come once in a process and have come."""


def backward(
    tensors: Roots,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Roots | dict[Any, Tensor] | None = None,
) -> None:
    """Add the gradients of ``tensors`` to the ``grad`` of the leaves (or of ``inputs`` only).

    Roots and inputs are tensors or gradient edges; an intermediate among the inputs retains its gradient. The saved tensors
    of the graph are freed unless ``retain_graph`` (by default ``create_graph``) is true. Raises :class:`RuntimeError` with
    PyTorch's text for a root that does not require grad, a non-scalar root without gradient, a graph freed before, a saved
    tensor modified in place.
    """
    inside.refuse_backward()
    _check_flags(retain_graph, create_graph)
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
                "`grad_tensors`."
            )
        grad_tensors = grad_variables
    wanted = None if inputs is None else _inputs(inputs, "backward")
    roots = as_tuple(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    bp = BackwardPass("backward", keep, create_graph, *caller())
    starts = seeds(roots, gradients_for(roots, grad_tensors), bp.tensors)
    targets = None if wanted is None else [_target(t) for t in wanted]
    if create_graph and "cycle" not in _told:
        _told.add("cycle")
        warnings.warn(_CYCLE, UserWarning, stacklevel=user_stacklevel())
    bp.start(starts, targets=targets)
    bp.run()


@functools.partial(overridable, public="torch.autograd", in_python=True)
def grad(
    outputs: Roots,
    inputs: Roots | dict[Any, Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of ``outputs`` with respect to ``inputs``, a tuple (a dict for a dict); nothing is accumulated.

    With ``is_grads_batched`` the first dimension of ``grad_outputs`` counts vectors, and of what is returned too: the graph
    is run once for each of them. An input that the outputs do not depend on is an error unless ``allow_unused``, which
    gives ``None`` for it, or ``materialize_grads``, which gives zeros.
    """
    _check_flags(retain_graph, create_graph, materialize_grads or allow_unused)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    roots = as_tuple(outputs)
    wanted = _inputs(inputs, "grad")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of "
            "the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    gradients = gradients_for(roots, grad_outputs, is_grads_batched)
    keep = create_graph if retain_graph is None else retain_graph
    unused = bool(allow_unused or materialize_grads)
    if is_grads_batched:
        found = _batched(roots, wanted, gradients, keep, create_graph, unused)
    else:
        found = _grad(roots, wanted, gradients, keep, create_graph, unused)
    if materialize_grads:
        found = _materialized(found, wanted, create_graph)
    return dict(zip(inputs, found, strict=True)) if type(inputs) is dict else found


def grad_of_level(
    transform: inside.Inside,
    roots: tuple[Root, ...],
    inputs: Sequence[Root],
    given: Sequence[Tensor | None],
    retain_graph: bool | None,
    create_graph: bool,
) -> Gradients:
    """:func:`grad` at the level of ``transform``, which the thread may have left; ``None`` for an input that is not used."""
    _check_flags(retain_graph, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    return _grad(roots, tuple(inputs), gradients_for(roots, given), keep, create_graph, True, transform)


def _check_flags(retain_graph: Any, create_graph: Any, unused: Any = False) -> None:
    """Flags are bools or integers, as in PyTorch; those that may be left out may be ``None`` too."""
    for flag in (create_graph, False if retain_graph is None else retain_graph, False if unused is None else unused):
        if not hasattr(flag, "__index__"):
            raise TypeError(f"'{type(flag).__name__}' object cannot be interpreted as an integer")
        if isinstance(flag, Tensor):
            operator.index(flag)


Gradients = tuple[Tensor | None, ...]


def _grad(
    roots: tuple[Root, ...], wanted: tuple[Root, ...], gradients: Any, keep: bool, create_graph: bool, unused: bool,
    transform: inside.Inside | None = None,
) -> Gradients:  # fmt: skip
    bp = BackwardPass("grad", keep, create_graph, *caller(), transform)
    starts = seeds(roots, gradients, bp.tensors)
    constants = _constants(roots, wanted)
    captures = [Capture(*_edge(t)) for t in wanted]
    bp.start(starts, captures)
    bp.run()
    for i in constants:
        captures[i].value = None
    if not unused:
        _check_used(captures)
    return tuple(c.value if c.value is None or isinstance(c.value, Tensor) else wrap(_own(c.value)) for c in captures)


_NO_GRAD = "One of the differentiated Tensors does not require grad"


def _constants(roots: tuple[Root, ...], wanted: tuple[Root, ...]) -> list[int]:
    """Which of ``wanted`` the function transform that runs has captured, so that nothing in it depends on them."""
    transform = grad_mode.mode.transform
    if transform is None:
        return []
    for i, t in enumerate(roots):
        if isinstance(t, Tensor) and not transform.reached_from(edge(t)):
            raise no_grad_fn(i, t)
    found = [i for i, t in enumerate(wanted) if isinstance(t, Tensor) and not transform.reached_from(_edge(t)[0])]
    if any(transform.computed(wanted[i]) for i in found):  # made inside of constants
        raise RuntimeError(_NO_GRAD)
    return found


def _batched(
    roots: tuple[Root, ...],
    wanted: tuple[Root, ...],
    gradients: list[Tensor | None],
    keep: bool,
    create_graph: bool,
    unused: bool,
) -> Gradients:
    """One pass for every entry of the gradients' first dimension, the results put together along a new one."""
    from .ops.lists import stack

    count = _batch_size(gradients)
    each = []
    for i in range(count):
        one = [None if g is None else g[i] for g in gradients]
        each.append(_grad(roots, wanted, one, keep or i < count - 1, create_graph, unused))
    return tuple(None if column[0] is None else stack(column) for column in zip(*each, strict=True))


def _batch_size(gradients: list[Tensor | None]) -> int:
    sizes = [g.shape[:1] for g in gradients if g is not None]
    if () in sizes:
        raise ValueError(
            "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of dimensionality 0 so "
            "expected in_dim to satisfy 0 <= in_dim < 0."
        )
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{[n for (n,) in sizes]} for the mapped dimension"
        )
    return sizes[0][0] if sizes else 0


def _materialized(found: Gradients, wanted: tuple[Root, ...], create_graph: bool) -> Gradients:
    if any(g is None and isinstance(t, GradientEdge) for g, t in zip(found, wanted, strict=True)):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return tuple(
        zeros_like(t, requires_grad=create_graph) if g is None and isinstance(t, Tensor) else g
        for g, t in zip(found, wanted, strict=True)
    )


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
    if isinstance(array, np.ndarray | np.generic):
        return np.array(array)
    with several.home((array,)):
        return array.copy()


# ----- inputs -----


def _inputs(inputs: Any, call: str) -> tuple[Root, ...]:
    if type(inputs) is dict:
        found = tuple(inputs.values())
    elif isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{call}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are not supported."
        )
    else:
        found = as_tuple(inputs)
    if not found:
        raise RuntimeError(f"`inputs` argument to `{call}()` cannot be empty.")
    return found


def _target(t: Any) -> Node:
    """The node whose run fills ``t.grad``."""
    if isinstance(t, Tensor):
        t.retain_grad()
    return _edge(t)[0]


def _edge(t: Any) -> tuple[Node, int]:
    """The node and output number where the gradient of ``t`` goes in."""
    if isinstance(t, GradientEdge):
        if not isinstance(t.node, Node):
            raise RuntimeError(
                f"GradientEdge's first object must be an autograd.graph.Node but got {type(t.node).__name__}"
            )
        if not 0 <= t.output_nr < getattr(t.node, "n_outputs", 1):
            raise IndexError(f"{t.node.name()} has no output {t.output_nr}")
        return t.node, t.output_nr
    if not isinstance(t, Tensor):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {errors.class_name(t)}")
    node = edge(t) or nowhere(t)
    if node is None:
        raise RuntimeError(_NO_GRAD)
    return node, t._nr
