"""Function transforms: ``grad(f)`` is the function that computes the gradient of ``f``.

They nest to any depth, take nested tuples, lists and dicts of tensors, and may close over tensors that require grad.
A result requires grad only if something outside of the transform needs it to.

>>> import agdbg_engine as ag
>>> from agdbg_engine.func import grad
>>> grad(grad(lambda x: x**3))(ag.tensor(2.0))
tensor(12.)
"""

from __future__ import annotations

from typing import Any

from ..missing import missing
from .forward import jvp
from .jacobian import hessian, jacfwd, jacrev
from .linear import linearize
from .reverse import grad, grad_and_value, vjp

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
]


def __getattr__(name: str) -> Any:
    if name == "functional_call":  # modules are loaded when first used
        from ..nn.utils.stateless import functional_call

        return functional_call
    if name in ("replace_all_batch_norm_modules_", "stack_module_state"):
        from . import modules

        return getattr(modules, name)
    raise missing(__name__, name, __all__)
