"""Optimizer: parameter groups, state, and the step that writes the parameters in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .. import events
from ..grad_mode import enable_grad
from ..nn.module import clear_grad
from ..saved.mutation import before_write
from ..sites import caller
from ..tensor import Tensor


class Optimizer:
    """Base class: subclasses define :meth:`update` of one parameter's buffer.

    ``params`` are tensors, ``(name, tensor)`` pairs or dicts with ``params`` and options of their own.
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got a Tensor"
            )
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Tensor, dict[str, Any]] = {}
        items = list(params)
        if not items:
            raise ValueError("optimizer got an empty parameter list")
        for group in items if isinstance(items[0], dict) else [{"params": items}]:
            self.add_param_group(dict(group))

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Add parameters with options of their own; only leaves can be optimised."""
        given = group["params"]
        tensors = [given] if isinstance(given, Tensor) else [p[1] if isinstance(p, tuple) else p for p in given]
        for p in tensors:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
        known = {p for g in self.param_groups for p in g["params"]}
        if known & set(tensors):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **group, "params": tensors})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters."""
        for group in self.param_groups:
            for p in group["params"]:
                clear_grad(p, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient, in place; counts as a write to each of them."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        code, lasti = caller()
        op = f"{type(self).__name__}.step"
        for group in self.param_groups:
            for p in group["params"]:
                if p._grad is not None:
                    if events.special:
                        before_write(p, op)
                    self.update(p._a, _decayed(p._a, p._grad._a, group), self.state.setdefault(p, {}), group)
                    p._bump(op, None, code, lasti)
        return loss

    def update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change buffer ``p`` in place by ``g``, its gradient with sign and weight decay applied (which stays as it is)."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """State and options, parameters by their number."""
        params = [p for g in self.param_groups for p in g["params"]]
        groups, start = [], 0
        for g in self.param_groups:
            n = len(g["params"])
            groups.append({**g, "params": list(range(start, start + n))})
            start += n
        return {"state": {i: self.state[p] for i, p in enumerate(params) if p in self.state}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take state and options back, by the parameters' order."""
        params = [p for g in self.param_groups for p in g["params"]]
        if [len(g["params"]) for g in state_dict["param_groups"]] != [len(g["params"]) for g in self.param_groups]:
            raise ValueError("loaded state dict has a different number of parameter groups or parameters")
        for mine, theirs in zip(self.param_groups, state_dict["param_groups"], strict=True):
            mine.update({k: v for k, v in theirs.items() if k != "params"})
        self.state = {params[i]: dict(s) for i, s in state_dict["state"].items()}


def _decayed(p: Any, g: Any, group: dict[str, Any]) -> Any:
    """The gradient that every optimiser starts from: turned round to maximise, weight decay added."""
    if group["maximize"]:
        g = -g
    return g + group["weight_decay"] * p if group["weight_decay"] else g


BLOCK = 16384
"""Elements updated at a time: the temporaries of a block stay in the cache and need no fresh pages."""


def blocks(*arrays: Any) -> Iterator[tuple[Any, ...]]:
    """Matching flat pieces of arrays of one shape; the arrays themselves where they are small or not contiguous."""
    n = arrays[0].size
    if n <= BLOCK or not all(a.flags.c_contiguous for a in arrays):
        yield arrays
        return
    flat = [a.reshape(-1) for a in arrays]
    for start in range(0, n, BLOCK):
        yield tuple(f[start : start + BLOCK] for f in flat)


def positive(name: str, value: float) -> float:
    """``value`` if it is not negative."""
    if value < 0:
        raise ValueError(f"Invalid {name}: {value}")
    return value
