"""Random numbers for samplers, as lists: drawn on the default device, of which the generator must be, as in PyTorch."""

from __future__ import annotations

from ...device import CPU, moved, resolved
from ...random import Generator, generator_on


def order(n: int, generator: Generator | None) -> list[int]:
    """A random order of 0 .. n - 1, fetched from its device once.

    :class:`RuntimeError` for a generator of another kind of device.
    """
    found: list[int] = moved(generator_on(resolved(None), generator).permutation(n), CPU).tolist()
    return found


def below(high: int, count: int, generator: Generator | None) -> list[int]:
    """``count`` integers in [0, ``high``), as :func:`order` gives them."""
    found: list[int] = moved(generator_on(resolved(None), generator).integers(0, high, (count,)), CPU).tolist()
    return found


def check(generator: Generator | None) -> None:
    """:class:`RuntimeError` unless numbers for the default device can be drawn from ``generator``."""
    generator_on(resolved(None), generator)
