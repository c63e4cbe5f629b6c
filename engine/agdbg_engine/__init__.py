"""The autograd engine of agdbg: names and semantics of PyTorch on NumPy (and later CuPy) storage.

>>> import agdbg_engine as ag
>>> x = ag.tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

from __future__ import annotations

import warnings
from typing import Any

from . import autograd, ops
from .anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from .autograd import grad
from .collector import tune_gc
from .creation import (
    as_tensor,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    ones,
    ones_like,
    tensor,
    zeros,
    zeros_like,
)
from .device import device
from .dtype import (
    ALIASES,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from .dtype import bool as bool
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .memory_format import contiguous_format, memory_format, preserve_format
from .random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    seed,
    set_rng_state,
)
from .ranges import arange, linspace, logspace
from .tensor import Parameter, Tensor

__version__ = "0.1.0"

# Division by zero, overflow and invalid values give inf and nan silently, as in PyTorch, without touching NumPy's
# error state, which belongs to the user.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"agdbg_engine\.")


def __getattr__(name: str) -> Any:
    if name in ("cuda", "fft", "func", "linalg", "masked", "nn", "optim", "signal", "special", "utils"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name in ops.FUNCTIONS:
        return globals().setdefault(name, ops.FUNCTIONS[name])  # found at once from now on
    if name in ALIASES:
        return ALIASES[name]
    raise AttributeError(f"module 'agdbg_engine' has no attribute '{name}'")


__all__ = [
    "Generator", "Parameter", "Tensor", "arange", "as_tensor", "autograd", "bool", "complex64", "complex128", "contiguous_format", "default_generator", "device", "empty",
    "empty_like", "enable_grad", "eye", "float16", "float32", "float64", "from_numpy", "full", "full_like",
    "get_default_dtype", "get_rng_state", "grad", "inference_mode", "initial_seed", "int8", "int16", "int32", "int64", "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled", "is_grad_enabled",
    "is_inference_mode_enabled", "linspace", "logspace", "manual_seed",
    "no_grad", "ones", "ones_like", "ops", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm",
    "seed", "set_anomaly_enabled", "set_default_dtype", "set_grad_enabled", "set_rng_state", "tensor", "tune_gc", "uint8", "zeros", "zeros_like",
]  # fmt: skip
