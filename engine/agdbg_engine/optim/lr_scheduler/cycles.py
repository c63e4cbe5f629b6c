"""Schedules that go up and down, and the momentum down and up."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, callable_state, check_optimizer, one_for_each, set_value


class _WithMomentum(LRScheduler):
    """What both schedules know of momentum: that of SGD, or Adam's first beta."""

    use_beta1: bool

    def _start_momentum(self, base: list[Any], most: list[Any], last_epoch: int) -> None:
        """Note bounds in the groups, and set the first momentum."""
        for group, low, high in zip(self.optimizer.param_groups, base, most, strict=True):
            if last_epoch == -1:
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low

    def _find_momentum(self) -> None:
        """Which option it is; :class:`ValueError` where the optimizer has none."""
        if "momentum" not in self.optimizer.defaults and "betas" not in self.optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in self.optimizer.defaults

    def _set_momentum(self, group: dict[str, Any], value: Any) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_WithMomentum):
    """From ``base_lr`` to ``max_lr`` in ``step_size_up`` steps, back in ``step_size_down``, again and again (Smith, 2017)."""

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000, step_size_down: int | None = None,
        mode: str = "triangular", gamma: float = 1.0, scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle", cycle_momentum: bool = True, base_momentum: Any = 0.8, max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = one_for_each("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_value(group, "lr", lr)
        self.max_lrs = one_for_each("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (float(step_size_down) if step_size_down is not None else up)
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_ref: Any
        self._scale_fn_custom: Any = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._find_momentum()
            self.base_momentums = one_for_each("base_momentum", optimizer, base_momentum)
            self.max_momentums = one_for_each("max_momentum", optimizer, max_momentum)
            self._start_momentum(self.base_momentums, self.max_momentums, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        """Choose how the height of the cycles changes, unless the user's function says so."""
        if self._scale_fn_custom is not None:
            return
        if self.mode == "triangular":
            self._scale_fn_ref, self.scale_mode = _always, "cycle"
        elif self.mode == "triangular2":
            self._scale_fn_ref, self.scale_mode = _halved, "cycle"
        elif self.mode == "exp_range":
            self._scale_fn_ref, self.scale_mode = partial(_power, self.gamma), "iterations"

    def scale_fn(self, x: float) -> float:
        """The height of cycle, or at iteration, ``x``."""
        return (self._scale_fn_ref if self._scale_fn_custom is None else self._scale_fn_custom)(x)

    def get_lr(self) -> list[Any]:
        self._warn_if_outside()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        part = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        at = cycle if self.scale_mode == "cycle" else self.last_epoch
        bounds = zip(self.base_lrs, self.max_lrs, strict=True)
        rates = [low + (high - low) * part * self.scale_fn(at) for low, high in bounds]
        if self.cycle_momentum:
            momenta = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in momenta:
                self._set_momentum(group, high - (high - low) * part * self.scale_fn(at))
        return rates

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer and functions; of a callable object what it holds."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        custom = state.pop("_scale_fn_custom")
        return {**state, "_scale_fn_custom": None if custom is None else callable_state(custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        held = state_dict.pop("_scale_fn_custom")
        super().load_state_dict(state_dict)
        if held is not None:
            self._scale_fn_custom.__dict__.update(held)
        self._init_scale_fn()


def _always(x: float) -> float:
    return 1.0


def _halved(x: float) -> float:
    return 1 / (2.0 ** (x - 1))


def _power(gamma: float, x: float) -> float:
    return gamma**x


class OneCycleLR(_WithMomentum):
    """One cycle: up to ``max_lr``, then down far below the first rate (Smith and Topin, 2019)."""

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0,
        final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _count_steps(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            self._schedule_phases: list[dict[str, Any]] = []
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self._schedule_phases = _phases(pct_start * self.total_steps, self.total_steps - 1, three_phase)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        rates = one_for_each("max_lr", optimizer, max_lr)
        for group, lr in zip(optimizer.param_groups, rates, strict=True):
            if last_epoch == -1:
                group["initial_lr"] = lr / div_factor
                group["max_lr"] = lr
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._find_momentum()
            most = one_for_each("max_momentum", optimizer, max_momentum)
            self._start_momentum(one_for_each("base_momentum", optimizer, base_momentum), most, last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_if_outside()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        start: Any = 0.0
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        part = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(*ends, part))
        return rates

    def _between(self, start: Any, end: Any, part: float) -> Any:
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _count_steps(total: Any, epochs: Any, each: Any) -> int:
    if total is not None:
        _positive("total_steps", total)
        return int(total)
    if epochs is None or each is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    _positive("epochs", epochs)
    _positive("steps_per_epoch", each)
    return int(epochs * each)


def _positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")


def _phases(up: float, last: int, three: bool) -> list[dict[str, Any]]:
    ends = [float(up) - 1, float(2 * up) - 2, last] if three else [float(up) - 1, last]
    rates = ["initial_lr", "max_lr", "initial_lr", "min_lr"] if three else ["initial_lr", "max_lr", "min_lr"]
    momenta = ["max_momentum", "base_momentum", "max_momentum", "max_momentum"]
    return [
        {
            "end_step": end, "start_lr": rates[i], "end_lr": rates[i + 1], "start_momentum": momenta[i],
            "end_momentum": momenta[i + 1],
        }
        for i, end in enumerate(ends)
    ]  # fmt: skip
