"""Random numbers drawn on a device: a hash of a seed and a counter, so that the state is two integers and every draw one kernel.

The hash is SplitMix64 (Steele, Lea and Flood, 2014: "Fast splittable pseudorandom number generators"). The methods are those of
NumPy's ``Generator`` that the engine calls; results lie on the device.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from .device import device, module_of, moved, on
from .fused import fused

if TYPE_CHECKING:
    Shape = Any

F = TypeVar("F", bound=Callable[..., Any])
GAMMA, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_ALL = 2**64 - 1

_SCRAMBLE = f"z = (z ^ (z >> 30)) * {FIRST:#x}ULL; z = (z ^ (z >> 27)) * {SECOND:#x}ULL; z = z ^ (z >> 31);"
_MIX = f"unsigned long long z = seed + (n + 1) * {GAMMA:#x}ULL; {_SCRAMBLE}"


def mixed(seed: int) -> np.uint64:
    """The seed of the counters' hash: neighbouring seeds would share most of their numbers."""
    z = (seed + GAMMA) & _ALL
    z = ((z ^ (z >> 30)) * FIRST) & _ALL
    z = ((z ^ (z >> 27)) * SECOND) & _ALL
    return np.uint64(z ^ (z >> 31))


@fused("uint64 n, uint64 seed", "uint64 out", f"{_MIX} out = z;")
def hashed(n: Any, seed: Any) -> Any:
    """64 random bits for each counter ``n``."""
    one = n.dtype.type
    return scrambled((n + one(1)) * one(GAMMA) + one(seed))


def scrambled(z: Any) -> Any:
    """The last steps of the hash."""
    one = np.uint64
    z = (z ^ (z >> one(30))) * one(FIRST)
    z = (z ^ (z >> one(27))) * one(SECOND)
    return z ^ (z >> one(31))


@fused("uint64 n, uint64 seed", "float64 out", f"{_MIX} out = (z >> 11) * {2.0**-53!r};")
def uniform_of(n: Any, seed: Any) -> Any:
    """A number in [0, 1) for each counter ``n``."""
    return (hashed(n, seed) >> n.dtype.type(11)).astype(np.float64) * 2.0**-53


def _there(draw: F) -> F:
    """Let a method compute on the device that the numbers are for."""

    @functools.wraps(draw)
    def call(self: DeviceNumbers, *args: Any, **kwargs: Any) -> Any:
        with on(self.place):
            return draw(self, *args, **kwargs)

    return cast(F, call)


class DeviceNumbers:
    """Draws on one device."""

    def __init__(self, place: device, seed: int = 0, offset: int = 0) -> None:
        self.place = place
        self.seed = seed
        self.offset = offset
        """How many counters have been used."""

    def take(self, n: int) -> int:
        """Use up ``n`` counters; the first of them."""
        first, self.offset = self.offset, self.offset + n
        return first

    def _counters(self, shape: Shape) -> Any:
        n = math.prod(shape) if isinstance(shape, tuple) else shape
        first = self.take(n)
        return module_of(self.place).arange(first, first + n, dtype=np.uint64).reshape(shape)

    @_there
    def random(self, shape: Shape) -> Any:
        """Uniform numbers in [0, 1)."""
        return uniform_of(self._counters(shape), mixed(self.seed))

    @_there
    def uniform(self, low: float, high: float, shape: Shape) -> Any:
        """Uniform numbers in [``low``, ``high``)."""
        return self.random(shape) * (high - low) + low

    @_there
    def standard_normal(self, shape: Shape) -> Any:
        """Normal numbers (Box and Muller, 1958)."""
        size, turn = self.standard_exponential(shape), self.random(shape)
        return np.sqrt(size * 2.0) * np.cos(turn * (2 * math.pi))

    @_there
    def standard_exponential(self, shape: Shape) -> Any:
        """Exponential numbers of rate 1."""
        return -np.log1p(-self.random(shape))

    @_there
    def standard_cauchy(self, shape: Shape) -> Any:
        """Cauchy numbers around 0."""
        return np.tan((self.random(shape) - 0.5) * math.pi)

    @_there
    def lognormal(self, mean: float, sigma: float, shape: Shape) -> Any:
        """Exponentials of normal numbers."""
        return np.exp(self.standard_normal(shape) * sigma + mean)

    @_there
    def gumbel(self, size: Shape) -> Any:
        """Gumbel numbers around 0."""
        return -np.log(self.standard_exponential(size))

    @_there
    def geometric(self, p: float, shape: Shape) -> Any:
        """Attempts until the first success of probability ``p``."""
        return np.floor(self.standard_exponential(shape) / -math.log1p(-p)) + 1

    @_there
    def poisson(self, rates: Any) -> Any:
        """Poisson numbers of these ``rates``, as floats."""
        from .device_poisson import poisson_of

        return poisson_of(rates, self._counters(rates.shape), mixed(self.seed))

    @_there
    def integers(self, low: int, high: int, shape: Shape) -> Any:
        """Integers in [``low``, ``high``)."""
        found = hashed(self._counters(shape), mixed(self.seed))
        return (found % np.uint64(high - low)).astype(np.int64) + low

    @_there
    def permutation(self, n: int) -> Any:
        """A random order of 0 .. n - 1."""
        return hashed(self._counters((n,)), mixed(self.seed)).argsort()


class NumbersElsewhere(DeviceNumbers):
    """Draws on another device than that of ``source``, which has seed and counters."""

    def __init__(self, place: device, source: DeviceNumbers) -> None:
        super().__init__(place, source.seed)
        self._source = source

    def take(self, n: int) -> int:
        """As of the source."""
        return self._source.take(n)


class HostNumbers:
    """Draws for a device by NumPy, and copies: for what cannot draw itself. ``source`` has the numbers."""

    def __init__(self, place: device, source: np.random.Generator) -> None:
        self._place, self._source = place, source

    def __getattr__(self, name: str) -> Callable[..., Any]:
        draw = getattr(self._source, name)
        return lambda *args, **kwargs: moved(np.asarray(draw(*args, **kwargs)), self._place)
