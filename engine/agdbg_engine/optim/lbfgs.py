"""L-BFGS: a quasi-Newton method that knows the curvature from its last steps (Nocedal, 1980)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

from .. import events, ops
from ..grad_mode import enable_grad, no_grad
from ..saved.mutation import before_write
from ..several import home
from ..sites import caller
from ..tensor import Tensor, wrap
from .axpy import by_blas, fits
from .elementwise import check_rate
from .line_search import strong_wolfe
from .optimizer import Optimizer

_KEPT = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")
"""What the state keeps from one step to the next, under PyTorch's names."""


class LBFGS(Optimizer):
    """Up to ``max_iter`` iterations a step, each of which calls the closure; one group of parameters only.

    ``line_search_fn`` may be ``"strong_wolfe"``; without one every iteration goes ``lr`` times the whole way.
    """

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        check_rate(lr)
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Iterate; gives the loss before the first iteration. The closure clears gradients, computes the loss and backward."""
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        with home(self.param_groups[0]["params"][:1]):
            return _Run(self, closure).run()


class _Run:
    """One call of ``step``."""

    def __init__(self, optimizer: LBFGS, closure: Callable[[], Any]) -> None:
        self.group = optimizer.param_groups[0]
        self.params: list[Any] = self.group["params"]
        self.state = optimizer.state[self.params[0]]
        self.site: tuple[CodeType, int] = caller()
        self._closure = closure
        self._op = f"{type(optimizer).__name__}.step"

    # ----- the function that is minimised -----

    def loss(self) -> Any:
        """The loss as the closure gives it."""
        with enable_grad():
            return self._closure()

    def gradient(self) -> Any:
        """All gradients in one vector, zeros for parameters that have none."""
        parts = []
        for p in self.params:
            g = p.grad if p.grad is not None else p.detach() * 0
            if g.is_complex():
                g = ops.FUNCTIONS["view_as_real"](g)
            parts.append(g.detach().reshape(-1))
        return ops.FUNCTIONS["cat"](parts, 0)

    def move(self, size: Any, direction: Any) -> None:
        """Add ``size * direction`` to the parameters."""
        start = 0
        for p in self.params:
            a = p._a.reshape(-1)
            flat = a.view(a.real.dtype) if a.dtype.kind == "c" else a
            moved = _plus(wrap(flat), wrap(direction._a[start : start + flat.size]), size)._a
            own = moved.astype(flat.dtype, copy=False)  # of parameters of several dtypes the direction has the widest
            self._write(p, own.view(a.dtype).reshape(p._a.shape))
            start += flat.size

    def _write(self, p: Any, array: Any) -> None:
        if events.special:
            before_write(p, self._op)
        p._a[...] = array
        p._bump(self._op, None, *self.site)

    def at(self, start: list[Any], size: Any, direction: Any) -> tuple[float, Any]:
        """Loss and gradient at a step of ``size`` from ``start``, where the parameters are afterwards again."""
        self.move(size, direction)
        loss = float(self.loss())
        gradient = self.gradient()
        for p, array in zip(self.params, start, strict=True):
            self._write(p, array)
        return loss, gradient

    # ----- iterations -----

    def run(self) -> Any:
        """Iterate until one of the limits is reached."""
        group, state = self.group, self.state
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = self.loss()
        loss, flat, evaluations = float(first), self.gradient(), 1
        state["func_evals"] += 1
        if self._flat_enough(flat):
            return first
        kept = {name: state.get(name) for name in _KEPT}
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            self._choose_direction(kept, flat)
            kept["prev_flat_grad"], kept["prev_loss"] = flat.clone(), loss
            lr = group["lr"].squeeze() if isinstance(group["lr"], Tensor) else group["lr"]
            kept["t"] = min(1.0, 1.0 / flat.abs().sum()) * lr if state["n_iter"] == 1 else lr
            direction = kept["d"]
            slope = flat.dot(direction)
            if slope > -group["tolerance_change"]:
                break
            last = n == group["max_iter"]
            loss, flat, used = self._advance(kept, loss, flat, slope, group["max_eval"] - evaluations, last)
            evaluations += used
            state["func_evals"] += used
            if last or evaluations >= group["max_eval"] or self._flat_enough(flat):
                break
            if (direction * kept["t"]).abs().max() <= group["tolerance_change"]:
                break
            if abs(loss - kept["prev_loss"]) < group["tolerance_change"]:
                break
        state.update(kept)
        return first

    def _flat_enough(self, flat: Any) -> bool:
        return bool(flat.abs().max() <= self.group["tolerance_grad"])

    def _advance(
        self, kept: dict[str, Any], loss: float, flat: Any, slope: Any, evaluations: int, last: bool
    ) -> tuple[float, Any, int]:
        """Move in the direction; loss and gradient there, and how often the closure was called."""
        search, direction = self.group["line_search_fn"], kept["d"]
        if search is None:
            self.move(kept["t"], direction)
            if last:
                return loss, flat, 0
            return float(self.loss()), self.gradient(), 1
        if search != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        start = [p._a.copy() for p in self.params]
        loss, flat, kept["t"], used = strong_wolfe(
            lambda size: self.at(start, size, direction), kept["t"], direction, loss, flat, slope, evaluations
        )
        self.move(kept["t"], direction)
        return loss, flat, used

    def _choose_direction(self, kept: dict[str, Any], flat: Any) -> None:
        """Downhill at first, then what the curvature along the last steps makes of it (the two-loop recursion)."""
        if self.state["n_iter"] == 1:
            kept.update(d=flat.neg(), old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return
        changes, steps, inverses = kept["old_dirs"], kept["old_stps"], kept["ro"]
        change, step = flat - kept["prev_flat_grad"], kept["d"] * kept["t"]
        curvature = change.dot(step)
        if curvature > 1e-10:
            if len(changes) == self.group["history_size"]:
                for history in (changes, steps, inverses):
                    history.pop(0)
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / curvature)
            kept["H_diag"] = curvature / change.dot(change)
        parts = self.state.setdefault("al", [None] * self.group["history_size"])
        found = flat.neg()
        for i in range(len(changes) - 1, -1, -1):
            parts[i] = steps[i].dot(found) * inverses[i]
            found = _plus(found, changes[i], -parts[i])
        found = found * kept["H_diag"]
        for i in range(len(changes)):
            found = _plus(found, steps[i], parts[i] - changes[i].dot(found) * inverses[i])
        kept["d"] = found


def _plus(x: Tensor, y: Tensor, factor: Any) -> Any:
    """``x + factor * y`` of two vectors, new. On the CPU BLAS computes it, which rounds once, as PyTorch's
    ``add_(y, alpha=factor)`` does: the error of a second rounding would grow from step to step.
    """
    a, b = x._a, y._a
    if not fits(a, b, float(factor)):
        return x + y * factor
    out = a.copy()
    by_blas(out, b, float(factor))
    return wrap(out)
