"""PyTorch's warning about a leaf whose AccumulateGrad is on another stream than the node that sends it a gradient."""

from __future__ import annotations

import warnings

from .sites import user_stacklevel


class _State:
    enabled = True
    told = False


_state = _State()

TEXT = (
    "The AccumulateGrad node's stream does not match the stream of the node that produced the incoming gradient. This may incur "
    "unnecessary synchronization and break CUDA graph capture if the AccumulateGrad node's stream is the default stream. This "
    "mismatch is caused by an AccumulateGrad node created prior to the current iteration being kept alive. This can happen if the "
    "autograd graph is still being kept alive by tensors such as the loss, or if you are using DDP, which will stash a reference "
    "to the node. To resolve the mismatch, delete all references to the autograd graph or ensure that DDP initialization is "
    "performed under the same stream as subsequent forwards. If the mismatch is intentional, you can use "
    "torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False) to suppress this warning."
)
"""PyTorch's words."""


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Whether it is said, once in a program, that a leaf's AccumulateGrad adds on another stream than the one that sends to it.

    An AccumulateGrad is on the stream of the leaf's first use in a graph, as long as that graph is alive. The pass is right
    either way, as the second stream waits for the first. :class:`RuntimeError` for anything but a bool.
    """
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type(enabled).__name__}")
    _state.enabled = enabled


def wanted() -> bool:
    """Whether a mismatch would be told."""
    return _state.enabled and not _state.told


def tell() -> None:
    """There is one."""
    _state.told = True
    warnings.warn(TEXT, UserWarning, stacklevel=user_stacklevel())
