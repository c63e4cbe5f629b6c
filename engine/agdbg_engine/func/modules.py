"""Modules for function transforms: several of a kind as one set of tensors, and without statistics that are written."""

from __future__ import annotations

from collections.abc import Sequence

from .. import nn
from ..nn.normalization import _BatchNorm
from ..ops import lists
from ..tensor import Tensor


def stack_module_state(models: Sequence[nn.Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """``(parameters, buffers)`` by name, each the tensors of all ``models`` along a new first dimension.

    The parameters are new leaves. Raises :class:`RuntimeError` for no models, and for such that are not all of one class, in
    one mode, or alike in what requires grad.
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return _stacked([dict(m.named_parameters()) for m in models]), _stacked([dict(m.named_buffers()) for m in models])


def _stacked(held: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: _leaf([tensors[name] for tensors in held], name) for name in held[0]}


def _leaf(tensors: list[Tensor], name: str) -> Tensor:
    wanted = {t.requires_grad for t in tensors}
    if len(wanted) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    whole = lists.stack(tensors)
    return whole.detach().requires_grad_() if True in wanted else whole


def replace_all_batch_norm_modules_(root: nn.Module) -> nn.Module:
    """``root``, in which all batch normalizations normalize by their batch alone: they track nothing any more."""
    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
