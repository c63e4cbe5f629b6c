"""GPUs by way of CuPy, as far as PyTorch's ``cuda`` module asks for them; CuPy is imported when the first device is used."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any

from .backends import Backend, register

__all__ = ["current_device", "device_count", "is_available", "manual_seed", "manual_seed_all", "synchronize"]

EXTRAS = "pip install 'agdbg[cuda12]' (CUDA 12) or 'agdbg[cuda13]' (CUDA 13)"


class Cuda(Backend):
    """The devices of CuPy."""

    def __init__(self) -> None:
        super().__init__("cuda", "cupy", lambda part: importlib.import_module(f"cupyx.scipy.{part}"))

    @property
    def module(self) -> Any:
        """CuPy; :class:`RuntimeError` where it or a GPU is missing."""
        return _cupy()

    def count(self) -> int:
        return device_count()

    def current(self) -> int:
        return current_device()

    def on(self, index: int) -> Any:
        return self.module.cuda.Device(index)

    def synchronize(self, index: int | None = None) -> None:
        self.module.cuda.Device(index).synchronize()


@functools.cache
def _cupy() -> Any:
    """CuPy with a usable GPU; the error says what to install and what was found."""
    if importlib.util.find_spec("cupy") is None:
        raise RuntimeError(f"device cuda needs CuPy, which is not installed: {EXTRAS}")
    try:
        cupy = importlib.import_module("cupy")
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # a library that does not load, no driver: whatever it is, it is to be told
        raise RuntimeError(
            f"device cuda cannot be used: CuPy is installed, but {type(error).__name__}: {error}. CuPy must fit the "
            f"CUDA version of the driver: {EXTRAS}"
        ) from error
    if not count:
        raise RuntimeError(f"device cuda cannot be used: CuPy {cupy.__version__} is installed, but it finds no GPU")
    return cupy


def is_available() -> bool:
    """Whether there is CuPy and a GPU that it can use."""
    try:
        _cupy()
    except RuntimeError:
        return False
    return True


def device_count() -> int:
    """How many GPUs there are; 0 without CuPy."""
    return int(_cupy().cuda.runtime.getDeviceCount()) if is_available() else 0


def current_device() -> int:
    """The number of the GPU that ``"cuda"`` without a number means."""
    return int(_cupy().cuda.runtime.getDevice())


def synchronize(device: Any = None) -> None:
    """Wait until the GPU has done all that it was asked for."""
    from .device import device as Device

    index = device if device is None or isinstance(device, int) else Device(device).index
    _cupy().cuda.Device(index).synchronize()


def manual_seed(seed: int) -> None:
    """Without a GPU nothing; with one the same as ``manual_seed``: the numbers for a GPU come from the CPU's generator."""
    from .random import default_generator

    seed = int(seed)
    if is_available():
        default_generator.manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """As :func:`manual_seed`: there is one generator for all."""
    manual_seed(seed)


register(Cuda())
