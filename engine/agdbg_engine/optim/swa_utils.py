"""Averages of weights over the steps of a training, and the schedule and the statistics that go with them."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from ..creation import tensor
from ..grad_mode import no_grad
from ..missing import public_names
from ..nn import Module
from ..nn.normalization import _BatchNorm
from ..tensor import Tensor
from .lr_scheduler.base import LRScheduler, one_for_each
from .optimizer import Optimizer

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

__getattr__ = public_names(__name__)

Average = Callable[[Tensor, Tensor, Any], Tensor]
MultiAverage = Callable[[list[Tensor], list[Tensor], Any], None]


def get_swa_avg_fn() -> Average:
    """The mean of all: ``average(averaged, current, how many were averaged)``."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """``decay * averaged + (1 - decay) * current``."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_multi_avg_fn() -> MultiAverage:
    """:func:`get_swa_avg_fn` for lists, in place."""
    return _each(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """:func:`get_ema_avg_fn` for lists, in place."""
    return _each(get_ema_avg_fn(decay))


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _each(average: Average) -> MultiAverage:
    @no_grad()
    def update(averaged: list[Tensor], current: list[Tensor], num_averaged: Any) -> None:
        for a, c in zip(averaged, current, strict=True):
            a.copy_(average(a, c, num_averaged))

    return update


class AveragedModel(Module):
    """A copy of ``model`` whose parameters are averages of those that ``update_parameters(model)`` was given."""

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the copy makes of the arguments."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of ``model`` into the averages; the first time, and buffers unless averaged, copy them."""
        mine = [p.detach() for p in _averaged(self.module, self.use_buffers)]
        theirs = [
            p.detach().to(a.device) for a, p in zip(mine, _averaged(model, self.use_buffers), strict=False)
        ]  # fmt: skip
        if int(self.n_averaged) == 0:
            for a, p in zip(mine, theirs, strict=True):
                a.copy_(p)
        elif mine:
            update = self.multi_avg_fn or _each(self.avg_fn or get_swa_avg_fn())
            for averaged, current in _groups(mine, theirs):
                update(averaged, current, self.n_averaged.to(averaged[0].device))
        if not self.use_buffers:
            for b, given in zip(self.module.buffers(), model.buffers(), strict=True):
                b.detach().copy_(given.detach().to(b.device))
        self.n_averaged += 1


def _averaged(module: Module, use_buffers: bool) -> Iterable[Tensor]:
    return itertools.chain(module.parameters(), module.buffers() if use_buffers else ())


def _groups(mine: list[Tensor], theirs: list[Tensor]) -> Iterable[tuple[list[Tensor], list[Tensor]]]:
    """Both lists by device and dtype, as functions for lists want them."""
    found: dict[Any, tuple[list[Tensor], list[Tensor]]] = {}
    for a, p in zip(mine, theirs, strict=True):
        pair = found.setdefault((a.device, a.dtype), ([], []))
        pair[0].append(a)
        pair[1].append(p)
    return found.values()


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Set the running statistics of batch normalisation anew to those over all of ``loader``, whose batches may be lists."""
    momenta = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not momenta:
        return
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None  # an average over all batches
    was_training = model.training
    model.train()
    for batch in loader:
        given = batch[0] if isinstance(batch, list | tuple) else batch
        model(given if device is None else given.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Goes from the learning rates to ``swa_lr`` in ``anneal_epochs`` steps and stays there; ``anneal_strategy`` cos or linear."""

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos", last_epoch: int = -1
    ) -> None:  # fmt: skip
        for value, group in zip(one_for_each("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = value
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of the next step."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=2,
            )
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, alpha = self._anneal(step - 1), self._anneal(step)
        found = []
        for group in self.optimizer.param_groups:
            lr, goal = group["lr"], group["swa_lr"]
            start = goal if before == 1 else (lr - before * goal) / (1 - before)
            found.append(goal * alpha + start * (1 - alpha))
        return found

    def _anneal(self, step: int) -> float:
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t
