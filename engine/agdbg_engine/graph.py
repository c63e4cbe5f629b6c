"""``autograd.graph``: what works on the graph itself and on what its nodes save."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from . import events
from .current import current
from .grad_mode import set_multithreading_enabled
from .gradient_edge import GradientEdge, get_gradient_edge
from .hooks.multi import register_multi_grad_hook
from .missing import missing
from .node import Node
from .saved.hooks import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks
from .saved.mutation import allow_mutation_on_saved_tensors
from .saved.strict import refuse, strict_saved_tensors
from .sites import caller
from .storage import InferenceStorage
from .stream_mismatch import set_warn_on_accumulate_grad_stream_mismatch
from .tensor import Tensor

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "region_activation_memory_budget",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_multithreading_enabled",
    "set_warn_on_accumulate_grad_stream_mismatch",
    "strict_saved_tensors",
]  # fmt: skip


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write to the memory of the tensors that the engine could not see (through a pointer, by another library)."""
    if isinstance(tensor, Tensor):
        tensor = (tensor,)
    elif not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    tensors = list(tensor)
    if not all(isinstance(t, Tensor) for t in tensors):
        raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
    if events.special & events.STRICT:
        for t in tensors:
            refuse(t, "increment_version")
    for t in tensors:
        if not isinstance(t._storage, InferenceStorage):  # has no version
            t._bump("increment_version", None, *caller())


def region_activation_memory_budget(budget: float) -> NoReturn:
    """Refuse: only PyTorch's compiler has a use for it, and raises this same :class:`RuntimeError` everywhere else.

    A ``budget`` that is no number from 0 to 1 is a :class:`TypeError` or a :class:`ValueError`.
    """
    name = "torch.autograd.graph.region_activation_memory_budget"
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        raise TypeError(f"{name}: expects a float, got {type(budget).__name__}")
    if not 0.0 <= budget <= 1.0:
        raise ValueError(f"{name}: must be in [0, 1], got {budget}")
    raise RuntimeError(f"{name} can only be used inside a torch.compile region; it has no effect in eager mode.")


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, __all__)


def _current_autograd_node() -> Node | None:
    """The node that runs in this thread; ``None`` outside of a pass."""
    return current.node
