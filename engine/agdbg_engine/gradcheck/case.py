"""What is being checked: a function, its inputs and outputs, the tolerances; and the error of a failed check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtype import is_differentiable
from ..tensor import Tensor

Function = Callable[..., Any]
Array = Any


class GradcheckError(RuntimeError):
    """Raised by :func:`.gradcheck.gradcheck` and :func:`.gradcheck.gradgradcheck`: the gradient is not right."""


@dataclass(frozen=True)
class Case:
    """One comparison of analytical with numerical derivatives."""

    func: Function
    inputs: tuple[Any, ...]
    """All arguments of ``func``, those that are no tensors or need no gradient too."""
    outputs: tuple[Any, ...]
    """All that ``func`` returned for them."""
    eps: float
    rtol: float
    atol: float
    nondet_tol: float
    check_grad_dtypes: bool
    forward: bool = False
    """Whether the analytical derivatives come from forward mode."""
    complex_indices: tuple[int, ...] = ()
    """The outputs (in forward mode: inputs) that are complex, of which only a part is considered."""
    part: str = "real"

    @property
    def wanted(self) -> list[int]:
        """Positions of the inputs that require grad."""
        return [i for i, x in enumerate(self.inputs) if isinstance(x, Tensor) and x.requires_grad]

    @property
    def wanted_inputs(self) -> list[Tensor]:
        """The inputs that require grad."""
        return [self.inputs[i] for i in self.wanted]

    @property
    def real_outputs(self) -> list[int]:
        """Positions of the outputs that have derivatives: floating and complex ones."""
        return [i for i, o in enumerate(self.outputs) if is_differentiable(o.dtype)]

    @property
    def differentiable(self) -> list[int]:
        """Positions of the outputs that require grad."""
        return [i for i in self.real_outputs if self.outputs[i].requires_grad]

    def mismatch(self, output: int, input: int, numerical: Any, analytical: Any) -> str:
        """PyTorch's message for derivatives of output ``output`` by input ``input`` that differ."""
        prefix = ""
        if (input if self.forward else output) in self.complex_indices:
            prefix = (
                f"While considering the {self.part} part of complex {'inputs' if self.forward else 'outputs'} only, "
            )
        mode = "computed with forward mode " if self.forward else ""
        return (
            f"{prefix}Jacobian {mode}mismatch for output {output} with respect to input {input},\n"
            f"numerical:{numerical!r}\nanalytical:{analytical!r}\n"
        )


def as_tuple(x: Any) -> tuple[Any, ...]:
    """``x`` as a tuple: a list or tuple of things, or one thing."""
    return tuple(x) if isinstance(x, list | tuple) else (x,)


def differentiable_outputs(x: Any) -> tuple[Tensor, ...]:
    """The outputs that require grad."""
    return tuple(o for o in as_tuple(x) if o.requires_grad)


def close(a: Array, b: Array, rtol: float, atol: float) -> bool:
    """Whether ``a`` equals ``b`` within ``atol + rtol * abs(b)`` everywhere; PyTorch's errors for what is no tolerance."""
    for name, position, value in (("rtol", 3, rtol), ("atol", 4, atol)):
        if not isinstance(value, int | float | np.number):
            raise TypeError(
                f"allclose(): argument '{name}' (position {position}) must be float, not {type(value).__name__}"
            )
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value:g}")
    return bool(np.allclose(a, b, rtol, atol))
