"""LRScheduler: what all schedules of learning rates have in common."""

from __future__ import annotations

import functools
import types
import warnings
import weakref
from typing import Any

from ...grad_mode import no_grad
from ...tensor import Tensor
from ..optimizer import Optimizer

ORDER_URL = "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form is "
    "used instead of the new chainable form, where available. Please open an issue if you are unable to replicate your use "
    "case: https://github.com/pytorch/pytorch/issues/new/choose."
)


def values_of(optimizer: Optimizer, key: str) -> list[Any]:
    """The option ``key`` of every group; copies where it is a tensor, which schedulers write to."""
    found = [group[key] for group in optimizer.param_groups]
    return [value.detach().clone() if isinstance(value, Tensor) else value for value in found]


def set_value(group: dict[str, Any], key: str, value: Any) -> None:
    """Set an option of a group: in place where it is a tensor."""
    if isinstance(group[key], Tensor):
        with no_grad():
            group[key].fill_(value.reshape(()) if isinstance(value, Tensor) else value)
    else:
        group[key] = value


def one_for_each(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """``value`` for every group, or the values of a list that has one for each."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        value = [value] * groups
    elif len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups "
            f"has {groups}."
        )
    return [v.clone() if isinstance(v, Tensor) else v for v in value]


def check_optimizer(optimizer: Any) -> None:
    """Raise :class:`TypeError` for what is no optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


class LRScheduler:
    """Base class: a subclass defines :meth:`get_lr`, and may define ``_get_closed_form_lr`` for steps to a given epoch."""

    _get_lr_called_within_step = False
    _is_initial = False
    optimizer: Optimizer
    last_epoch: int
    base_lrs: list[Any]
    _last_lr: list[Any]
    _step_count: int

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                lr = group["lr"]
                group.setdefault("initial_lr", lr.detach().clone() if isinstance(lr, Tensor) else lr)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0."
                    "\nThis typically happens when:\n1. You're trying to resume training from a checkpoint but haven't "
                    "properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training run (not "
                    "recommended)"
                )
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the first rates."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take attributes back."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that were set last."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates of ``last_epoch``, one for each group."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Set the rates of the next epoch (or, deprecated, of ``epoch``); warns when called before the optimizer's step."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make "
                f"sure to call `optimizer.step()` before `lr_scheduler.step()`. See more details at {ORDER_URL}",
                UserWarning,
                stacklevel=3,
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call "
                "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result "
                f"in PyTorch skipping the first value of the learning rate schedule. See more details at {ORDER_URL}",
                UserWarning,
                stacklevel=3,
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to ``epoch``, and set the rates."""
        self._get_lr_called_within_step = True
        try:
            closed: Any = getattr(self, "_get_closed_form_lr", None)
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            rates = self.get_lr() if epoch is None or closed is None else closed()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _set(self, rates: list[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            set_value(group, "lr", lr)
        self._last_lr = values_of(self.optimizer, "lr")

    def _warn_if_outside(self) -> None:
        """For ``get_lr``: it is not meant to be called by the user."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def _kept(self) -> list[Any]:
        """The rates as they are."""
        return values_of(self.optimizer, "lr")

    def _scaled(self, factor: float) -> list[Any]:
        """The rates of now times ``factor``."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]


def _note_steps(optimizer: Any) -> None:
    """Let the optimizer note that its ``step`` has been called."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    function = optimizer.step.__func__
    known = weakref.ref(optimizer)

    @functools.wraps(function)
    def noting(*args: Any, **kwargs: Any) -> Any:
        me = known()
        assert me is not None
        me._opt_called = True
        return function(me, *args, **kwargs)

    noting._wrapped_by_lr_sched = True  # type: ignore[attr-defined]  # PyTorch's mark of a wrapped step
    optimizer.step = noting


def callable_state(fn: Any) -> Any:
    """What a callable object holds; ``None`` for functions, which a state cannot keep."""
    return None if isinstance(fn, types.FunctionType) else fn.__dict__.copy()
