"""``backends.cudnn`` and its like: flags that scripts set and ask for; as in PyTorch on a CPU they change nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

from . import backends


class _Flags(ModuleType):
    """A module of flags for a library that is not there."""

    def is_available(self) -> bool:
        """Never."""
        return False

    def is_built(self) -> bool:
        """Never."""
        return False

    def version(self) -> None:
        """None."""
        return None


def _module(name: str, **flags: Any) -> _Flags:
    made = _Flags(f"{backends.__name__}.{name}", f"Flags of {name}, which is not used here.")
    vars(made).update(flags)
    sys.modules[made.__name__] = made  # import agdbg_engine.backends.cudnn as cudnn
    setattr(backends, name, made)
    return made


cudnn = _module("cudnn", enabled=True, benchmark=False, deterministic=False, allow_tf32=True, benchmark_limit=10)
cuda = _module(
    "cuda",
    matmul=SimpleNamespace(
        allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True
    ),
)
mps = _module("mps")


@contextmanager
def _flags(
    enabled: bool = False, benchmark: bool = False, benchmark_limit: int = 10, deterministic: bool = False, allow_tf32: bool = True
) -> Iterator[None]:  # fmt: skip
    """Inside, the flags are those given; what is not given has PyTorch's default of this function."""
    given = {
        "enabled": enabled, "benchmark": benchmark, "benchmark_limit": benchmark_limit, "deterministic": deterministic,
        "allow_tf32": allow_tf32,
    }  # fmt: skip
    before = {name: getattr(cudnn, name) for name in given}
    vars(cudnn).update(given)
    try:
        yield
    finally:
        vars(cudnn).update(before)


vars(cudnn)["flags"] = _flags
