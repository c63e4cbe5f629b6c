"""Optimizers that change every element of a parameter by its own gradient: all but L-BFGS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from .. import events
from ..creation import zeros_like
from ..device import same_place
from ..dtype import float64, get_default_dtype
from ..fused import Fused, updated
from ..grad_mode import enable_grad, set_grad_enabled
from ..ops.mixed_devices import mixed
from ..saved.mutation import before_write
from ..several import at_home
from ..sites import caller
from ..tensor import Tensor, check_memory, wrap
from .optimizer import Optimizer
from .vocabulary import Buffers, Tensors

State = dict[str, Any]
Group = dict[str, Any]


class Elementwise(Optimizer):
    """Base class: what a subclass defines is written once, in terms of a vocabulary ``F`` for buffers or tensors."""

    captured: ClassVar[str] = "params and state_steps"
    """What PyTorch's error calls that which a step with ``capturable=True`` needs on a GPU."""
    capturing: ClassVar[tuple[str, ...]] = ("cuda", "xpu", "hpu", "privateuseone", "xla")
    """Where that may be."""
    refuses_foreach: ClassVar[bool] = True
    """Whether PyTorch's step refuses ``foreach`` for steps that are recorded."""
    by_lists: ClassVar[bool] = True
    """Whether PyTorch updates lists of parameters on a GPU unless ``foreach`` says otherwise."""

    def start(self, p: Tensor, state: State, group: Group) -> None:
        """Fill the state of ``p``, which has none."""
        raise NotImplementedError

    def kept(self, group: Group) -> tuple[str, ...]:
        """The names of the state that has a value for every element."""
        raise NotImplementedError

    def prepare(self, F: Any, state: State, group: Group) -> Any:
        """Count the step, and the numbers that :meth:`rule` needs."""
        raise NotImplementedError

    def rule(self, F: Any, c: Any, p: Any, g: Any, *kept: Any) -> None:
        """Change ``p`` and what is kept in place; ``g`` (with sign and weight decay applied) stays as it is."""
        raise NotImplementedError

    def kernel(self, group: Group, c: Any) -> tuple[Fused, tuple[Any, ...]] | None:
        """What does :meth:`rule` in one launch on a device that has kernels, with the numbers that it takes of ``c``; ``None`` for
        nothing. Before those it takes the gradient, its sign and the weight decay: :data:`GRADIENT`."""
        return None

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient, in place; counts as a write to each of them."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        code, lasti = caller()
        op = f"{type(self).__name__}.step"
        for group in self.param_groups:
            if group.get("capturable"):
                self._check_capturable(group)
            if group.get("differentiable"):
                if group["foreach"] and self.refuses_foreach and any(p.grad is not None for p in group["params"]):
                    raise AssertionError("_foreach ops don't support autograd")
                with set_grad_enabled(bool(self.defaults["differentiable"])):
                    for p in group["params"]:
                        if p.grad is not None:
                            self._update_recorded(p, group)
                continue
            for p in group["params"]:
                if (grad := p._gradient) is not None:
                    if type(grad._a) is not np.ndarray or type(p._a) is not np.ndarray:
                        self._check_place(p, grad, group, "its gradient", _OLD_GRADIENT)
                    if events.special:
                        before_write(p, op)
                    check_memory(p._a)
                    for t in self._update(p, group):
                        t._shared_storage().wrote(op, code, lasti)  # instruments are told of parameters only
                    p._bump(op, None, code, lasti)
        return loss

    def _check_capturable(self, group: Group) -> None:
        """As PyTorch refuse ``capturable``, which is about graphs of kernels, for parameters that have none."""
        if any(p._gradient is not None and p.device.type not in self.capturing for p in group["params"]):
            raise AssertionError(
                f"If capturable=True, {self.captured} must be on supported devices: {list(self.capturing)}."
            )

    @at_home
    def _update(self, p: Tensor, group: Group) -> list[Tensor]:
        """Update the buffer of ``p``; gives the tensors of its state that have been written."""
        assert p._gradient is not None
        state = self.state[p]
        if not state:
            self.start(p, state, group)
        g = p._gradient._a
        decay = self._decay(Buffers, group)
        written = [state[name] for name in self.kept(group)]
        self._check_state(p, written, group)
        c = [n.item() if isinstance(n, np.generic) else n for n in self.prepare(Buffers, state, group)]
        if type(p._a) is not np.ndarray and (kernel := self.kernel(group, c)) is not None:
            formula, numbers = kernel
            if updated(formula, (signed(group), decay, *numbers), g, p._a, *[t._a for t in written]):
                return written
        if group["maximize"]:
            g = -g
        if decay != 0:
            g = g + decay * p._a
        arrays = (p._a, g, *[t._a for t in written])
        if p._a.dtype.kind == "c":  # real and imaginary parts are numbers of their own, on the same memory
            halves = [a.real for a in arrays], [a.imag for a in arrays]
            for block in (block for half in halves for block in blocks(*half)):
                self.rule(Buffers, c, *block)
        elif p._a.ndim > 0 and (p._a.size <= BLOCK or type(p._a) is not np.ndarray):
            self.rule(Buffers, c, *arrays)
        else:
            for block in blocks(*arrays):
                self.rule(Buffers, c, *block)
        return written

    def _check_state(self, p: Tensor, kept: Iterable[Tensor], group: Group) -> None:
        for t in kept:
            if type(t._a) is not np.ndarray or type(p._a) is not np.ndarray:
                self._check_place(p, t, group, "what was kept for it", _OLD_STATE)

    def _check_place(self, p: Tensor, other: Tensor, group: Group, what: str, fix: str) -> None:
        """PyTorch's error where ``other``, which is ``what``, was made before its parameter was moved to another device."""
        if same_place(other._a, p._a):
            return
        ours, theirs = p.device, other.device
        foreach = group.get("foreach")
        by_lists = self.by_lists and ours.type != "cpu" if foreach is None else foreach
        first = _NOT_ALIKE if by_lists else str(mixed(theirs, ours))
        raise RuntimeError(
            f"{first}\n  {type(self).__name__}.step: a parameter is on {ours}, but {what} lies on {theirs}, where it was {fix}"
        )

    def _update_recorded(self, p: Any, group: Group) -> None:
        """Update ``p`` by recorded ops: gradients flow to what its gradient, its options and its state depend on."""
        state = self.state[p]
        if not state:
            self.start(p, state, group)
        if (step := state.get("step")) is not None and step.requires_grad:
            raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
        g = -p.grad if group["maximize"] else p.grad
        decay = self._decay(Tensors, group)
        if isinstance(decay, Tensor):
            g = g + p.clone() * decay
        elif decay:
            g = g.add(p, alpha=decay)
        c = self.prepare(Tensors, state, group)
        copies = {name: state[name].clone() for name in self.kept(group)}  # saved, hence not to be written again
        values = [p, g, *copies.values()]
        if p._a.dtype.kind == "c":
            from .. import ops

            values = [ops.FUNCTIONS["view_as_real"](t) for t in values]
        self.rule(Tensors, c, *values)
        for name, t in copies.items():
            state[name].copy_(t)

    def _decay(self, F: Any, group: Group) -> Any:
        decay = group.get("weight_decay", 0) if "weight_decay" in self.defaults else 0  # Rprop leaves one unread
        return F.number(decay) if decay and not group.get("decoupled_weight_decay") else 0


_NOT_ALIKE = (
    "Tensors of the same index must be on the same device and the same dtype except `step` tensors that can be CPU and float32/64, "
    "and optimizer states that can be bfloat16 for mixed-precision training"
)

_OLD_STATE = (
    "at an earlier step. Make the optimizer after the model was moved, or move what it keeps by "
    "optimizer.load_state_dict(optimizer.state_dict())"
)
_OLD_GRADIENT = (
    "when that was computed. Set gradients to None (zero_grad()) when parameters are moved, and run backward again"
)

GRADIENT = "T h = T(sign) * g; if (decay != 0) h += T(decay) * p;"
"""The first statements of kernels: the gradient ``h`` with its sign and weight decay."""


def in_python(rule: Callable[..., None], count: int, *options: Any) -> Callable[..., None]:
    """What a kernel does, by the ``rule`` of an optimizer: of its ``count`` numbers and the ``options`` that it was made for."""

    def step(g: Any, sign: float, decay: float, *rest: Any) -> None:
        numbers, (p, *kept) = rest[:count], rest[count:]
        rule(None, Buffers, (*numbers, *options), p, sign * g + decay * p if decay else sign * g, *kept)

    return step


def doubles(names: str) -> str:
    """Numbers of a kernel as it declares them, after the gradient, its sign and the weight decay."""
    return ", ".join(["T g", *(f"float64 {name}" for name in ("sign", "decay", *names.split()))])


def signed(group: Group) -> float:
    """The sign that the gradient is taken with."""
    return -1.0 if group["maximize"] else 1.0


def scalar(value: float = 0.0) -> Tensor:
    """A number of the state: float32, unless floats are float64 by default."""
    return wrap(np.asarray(value, float64 if get_default_dtype() == float64 else np.float32))


def advanced(state: State) -> Any:
    """Count the step; how many there have been."""
    array = state["step"]._a
    array += 1
    return array.item()


def zeros(p: Tensor) -> Tensor:
    """State of the shape and dtype of ``p``."""
    return zeros_like(p)


BLOCK = 16384
"""Elements updated at a time: the temporaries of a block stay in the cache and need no fresh pages."""


def blocks(*arrays: Any) -> Iterator[tuple[Any, ...]]:
    """Matching flat pieces of arrays of one shape; the arrays themselves where they are small or not contiguous."""
    n = arrays[0].size
    if not arrays[0].ndim:
        yield tuple(a.reshape(1) for a in arrays)  # NumPy's results without dimensions cannot be written to
        return
    if n <= BLOCK or type(arrays[0]) is not np.ndarray or not all(a.flags.c_contiguous for a in arrays):
        yield arrays
        return
    flat = [a.reshape(-1) for a in arrays]
    for start in range(0, n, BLOCK):
        yield tuple(f[start : start + BLOCK] for f in flat)


# ----- checks of options -----


def check_one(lr: Any) -> None:
    """A learning rate is one number."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_rate(lr: Any) -> None:
    """A learning rate is one number, and not negative."""
    check_one(lr)
    at_least_zero("learning rate", lr)


def check_rate_of(lr: Any) -> None:
    """As :func:`check_rate`, in the words of PyTorch's newer optimizers."""
    check_one(lr)
    if not 0.0 <= lr:  # noqa: SIM300 - as below
        raise ValueError(f"Learning rate should be >= 0 but is: {lr}")


def at_least_zero(name: str, value: Any) -> None:
    """Raise :class:`ValueError` if ``value`` is negative or NaN."""
    if not 0.0 <= value:  # noqa: SIM300 - Python tells of the order, which is that of PyTorch
        raise ValueError(f"Invalid {name}: {value}")


def not_negative(name: str, value: Any) -> None:
    """Raise :class:`ValueError` if ``value`` is negative."""
    if value < 0.0:
        raise ValueError(f"Invalid {name}: {value}")


def check_betas(betas: Any) -> None:
    """Both from 0 to below 1."""
    for i in range(2):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def check_fused(defaults: dict[str, Any]) -> None:
    """What cannot be asked for together with ``fused``, which changes nothing here."""
    if defaults["fused"] and defaults["differentiable"]:
        raise RuntimeError("`fused` does not support `differentiable`")
    if defaults["fused"] and defaults["foreach"]:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
