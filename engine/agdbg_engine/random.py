"""Random numbers: generators with a seed and tensors of numbers, which are NumPy's, so that a seed gives others than in PyTorch."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .backends import BACKENDS
from .creation import factory, leaf, shape_of
from .device import CPU, device, device_of, resolved
from .device_numbers import DeviceNumbers, HostNumbers, NumbersElsewhere
from .dtype import get_default_dtype, scalar_type
from .grad_mode import mode
from .layout import as_they_lie
from .missing import public_names
from .overrides import overridable
from .pinned_memory import pinnable
from .several import at_home
from .tensor import Tensor, wrap

__all__ = [
    "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
]  # fmt: skip

__getattr__ = public_names(__name__)

_BYTES = 48
"""Size of a state: the seed, the 128-bit state and increment of PCG64, and its spare 32 bits with a flag."""


class Generator:
    """A source of random numbers with a seed and a state of its own; arguments ``generator=`` take one."""

    __slots__ = ("_seed", "device", "numbers")

    numbers: Any
    """What draws: NumPy's generator, or the :class:`DeviceNumbers` of a device that draws itself."""

    def __init__(self, device: Any = CPU) -> None:
        self.device = resolved(device)
        self._begin(0)

    def _begin(self, seed: int) -> None:
        self._seed = seed
        self.numbers = DeviceNumbers(self.device, seed) if draws(self.device) else np.random.default_rng(seed)

    def manual_seed(self, seed: Any) -> Generator:
        """Begin anew with ``seed``; a negative one counts from 2**64. Returns the generator."""
        if isinstance(seed, str) or not hasattr(seed, "__int__"):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        number = int(seed)
        if not -(2**63) <= number < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._begin(number % 2**64)
        return self

    def seed(self) -> int:
        """Begin anew with a seed that nobody knows, and return it."""
        self.manual_seed(secrets.randbits(63))
        return self._seed

    def initial_seed(self) -> int:
        """The seed that the generator began with."""
        return self._seed

    def get_state(self) -> Tensor:
        """The state as a tensor of bytes, for :meth:`set_state`."""
        if isinstance(self.numbers, DeviceNumbers):
            return wrap(np.array([self._seed, self.numbers.offset], np.uint64).view(np.uint8))
        state: Any = self.numbers.bit_generator.state
        inner = state["state"]
        parts = (
            (self._seed, 8),
            (inner["state"], 16),
            (inner["inc"], 16),
            (state["has_uint32"], 4),
            (state["uinteger"], 4),
        )
        text = b"".join(int(value).to_bytes(size, "little") for value, size in parts)
        return wrap(np.frombuffer(text, np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on drawing from where the generator was when :meth:`get_state` gave ``new_state``."""
        if not isinstance(new_state, Tensor) or new_state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        text = new_state._a.tobytes()
        if isinstance(self.numbers, DeviceNumbers):
            if len(text) != 16:
                raise RuntimeError("RNG state is wrong size")
            self._seed, offset = (int.from_bytes(text[at : at + 8], "little") for at in (0, 8))
            self.numbers = DeviceNumbers(self.device, self._seed, offset)
            return self
        if len(text) != _BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_BYTES} but found the input RNG state size to be {len(text)}"
            )
        seed, state, inc, has, spare = (
            int.from_bytes(text[a:b], "little") for a, b in ((0, 8), (8, 24), (24, 40), (40, 44), (44, 48))
        )
        numbers = np.random.PCG64()
        numbers.state = {
            "bit_generator": "PCG64", "state": {"state": state, "inc": inc}, "has_uint32": has, "uinteger": spare,
        }  # fmt: skip
        self._seed, self.numbers = seed, np.random.Generator(numbers)
        return self

    def clone_state(self) -> Generator:
        """A generator in the same state."""
        return Generator(self.device).set_state(self.get_state())


def draws(place: device) -> bool:
    """Whether random numbers for a device are drawn there."""
    return place.type != "cpu" and BACKENDS[place.type].draws


default_generator = Generator()
"""What is drawn from where no generator is given, for the CPU and for devices that draw nothing themselves."""

_defaults: dict[str, Generator] = {}
"""The same for devices that draw, by name; made at the first draw."""


def default_for(place: device) -> Generator:
    """What numbers for ``place`` are drawn from where no generator is given."""
    if not draws(place):
        return default_generator
    found = _defaults.get(str(place))
    if found is None:
        found = _defaults[str(place)] = Generator(place).manual_seed(default_generator.initial_seed())
    return found


def manual_seed(seed: int) -> Generator:
    """Seed the engine's random numbers, on all devices."""
    for found in _defaults.values():
        found.manual_seed(int(seed))
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Begin anew, on all devices, with a seed that nobody knows, and return it."""
    found = default_generator.seed()
    manual_seed(found)
    return found


def initial_seed() -> int:
    """The seed of the engine's random numbers."""
    return default_generator.initial_seed()


def generator(given: Generator | None = None, like: Any = None) -> Any:
    """What draws: of ``given``, or else of everything here. With a buffer ``like``, results lie on its device.

    Refused where nothing random may happen.
    """
    return generator_on(CPU if like is None else device_of(like), given)


def generator_on(place: device, given: Generator | None = None) -> Any:
    """As :func:`generator`, with results on the device ``place``."""
    if mode.random_refused:
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
            "flags on vmap or perform the randomness operation out of vmap"
        )
    if given is not None and not isinstance(given, Generator):
        raise TypeError(f"argument 'generator' must be torch.Generator, not {type(given).__name__}")
    found = default_for(place) if given is None else given
    if found.device.type != place.type and (
        draws(place) or found.device != CPU
    ):  # the index does not matter, as in PyTorch
        raise RuntimeError(f"Expected a '{place.type}' device type for generator but found '{found.device.type}'")
    if isinstance(found.numbers, DeviceNumbers):
        return found.numbers if found.device == place else NumbersElsewhere(place, found.numbers)
    return found.numbers if place == CPU else HostNumbers(place, found.numbers)


def get_rng_state() -> Tensor:
    """The state of the engine's random numbers as a tensor of bytes, for :func:`set_rng_state`."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go on drawing from where the generator was when ``new_state`` was taken."""
    default_generator.set_state(new_state)


def rng_states() -> dict[str, Any]:
    """The states of the generators of all devices, as arrays by the devices' names."""
    generators = {str(CPU): default_generator, **_defaults}
    return {name: found.get_state()._a for name, found in generators.items()}


def _set_states(states: dict[str, Any]) -> None:
    """Go back to ``states``. A generator without one had drawn nothing by then: it begins anew, as it did at its first draw."""
    for name, state in states.items():
        found = default_generator if name == str(CPU) else _defaults.get(name) or default_for(device(name))
        found.set_state(wrap(state))
    for name in _defaults.keys() - states.keys():
        _defaults[name].manual_seed(default_generator.initial_seed())


@contextmanager
def drawing_from(states: dict[str, Any] | None) -> Iterator[None]:
    """Draw from ``states`` (of :func:`rng_states`) on inside, afterwards from where the generators were; nothing for ``None``."""
    if states is None:
        yield
        return
    with fork_rng():
        _set_states(states)
        yield


@contextmanager
def fork_rng(devices: Iterable[Any] | None = None, enabled: bool = True, **options: Any) -> Iterator[None]:
    """Whatever is drawn inside, afterwards the generators of all devices are where they were; ``devices`` changes nothing."""
    if not enabled:
        yield
        return
    before = rng_states()
    try:
        yield
    finally:
        _set_states(before)


# ----- numbers of a dtype -----


@at_home
def _as(found: Any, dtype: Any) -> Any:
    """What was drawn as ``dtype``; NumPy draws a number where the shape is that of one."""
    return found.astype(dtype, copy=False) if hasattr(found, "astype") else np.asarray(found, dtype)


@at_home
def _joined(parts: Any, dtype: Any) -> Any:
    """Complex numbers of their real and imaginary ``parts``, which lie along the last dimension."""
    return parts.view(dtype)[..., 0]


_at_most, _times = at_home(np.minimum), at_home(np.multiply)


def uniform(numbers: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Uniform numbers in [0, 1), also where ``dtype`` is short; complex ones in both parts."""
    if dtype.kind == "c":
        parts = np.dtype(f"f{dtype.itemsize // 2}")
        return _joined(uniform(numbers, (*shape, 2), parts), dtype)
    if dtype.kind in "biu":
        raise NotImplementedError(f"\"check_uniform_bounds\" not implemented for '{scalar_type(dtype)}'")
    found = _as(numbers.random(shape), dtype)
    if dtype == np.float64:
        return found
    return _at_most(found, np.nextafter(dtype.type(1), dtype.type(0)))  # rounding may have made 1 of it


def normal(numbers: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Standard normal numbers; complex ones have that variance in both parts together."""
    if dtype.kind == "c":
        parts = np.dtype(f"f{dtype.itemsize // 2}")
        return _joined(_times(normal(numbers, (*shape, 2), parts), parts.type(0.5**0.5)), dtype)
    if dtype.kind in "biu":
        raise NotImplementedError(f"\"normal_kernel_cpu\" not implemented for '{scalar_type(dtype)}'")
    return _as(numbers.standard_normal(shape), dtype)


def integers(numbers: Any, low: int, high: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Integers in [``low``, ``high``); PyTorch's errors where there are none or ``dtype`` cannot hold them."""
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype.kind == "c":
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if dtype.kind in "biu":
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        for name, value in (("from", low), ("to - 1", high - 1)):
            if not least <= value <= most:
                raise RuntimeError(f"{name} is out of bounds for {_NAMES.get(dtype.name, dtype.name)}")
    return _as(numbers.integers(low, high, shape), dtype)


_NAMES = {"uint8": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long"}


# ----- new tensors -----


@factory
def rand(
    *size: Any, generator: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Uniform random numbers in [0, 1)."""
    numbers = uniform(
        generator_on(resolved(device), generator), shape_of("rand", size), np.dtype(dtype or get_default_dtype())
    )
    return leaf(numbers, device, requires_grad)


@factory
def randn(
    *size: Any, generator: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Standard normal random numbers."""
    numbers = normal(
        generator_on(resolved(device), generator), shape_of("randn", size), np.dtype(dtype or get_default_dtype())
    )
    return leaf(numbers, device, requires_grad)


@factory
def randint(
    low: Any = None, high: Any = None, size: Any = None, *, generator: Any = None, dtype: Any = np.int64,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Random integers in [low, high), or below ``low`` when called as ``randint(high, size)``."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    low = 0 if low is None else low
    if not hasattr(low, "__index__") or not hasattr(high, "__index__") or size is None:
        kinds = ", ".join(type(x).__name__ for x in (low, high, size))
        raise TypeError(f"randint() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    numbers = integers(
        generator_on(resolved(device), generator),
        int(low),
        int(high),
        shape_of("randint", (size,)),
        np.dtype(dtype or np.int64),
    )
    return leaf(numbers, device, requires_grad)


@factory
def randperm(
    n: int, *, generator: Any = None, dtype: Any = np.int64, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A random order of 0 .. n - 1."""
    shape_of("randperm", (n,))
    dtype = np.dtype(dtype or np.int64)
    if dtype.kind in "bc":
        raise NotImplementedError(f"\"randperm\" not implemented for '{scalar_type(dtype)}'")
    if dtype.kind in "iu" and n - 1 > np.iinfo(dtype).max:
        raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow")
    return leaf(_as(generator_on(resolved(device), generator).permutation(n), dtype), device, requires_grad)


def _laid_out_like(t: Tensor, made: Callable[[tuple[int, ...]], Tensor], requires_grad: bool) -> Tensor:
    """What ``made`` makes in a shape, its dimensions in the order of those of ``t`` in memory."""
    if t._a.flags.c_contiguous:
        return made(t._a.shape).requires_grad_(requires_grad)
    axes, back = as_they_lie(t._a)
    new = made(tuple(t._a.shape[axis] for axis in axes))
    return leaf(new._a.transpose(back), new.device, requires_grad)


@overridable
@pinnable
def rand_like(
    t: Tensor, *, generator: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Uniform random numbers in the shape, dtype and layout of ``t``."""
    kind, place = dtype or t.dtype, device or t.device
    return _laid_out_like(t, lambda shape: rand(shape, generator=generator, dtype=kind, device=place), requires_grad)


@overridable
@pinnable
def randn_like(
    t: Tensor, *, generator: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Standard normal numbers in the shape, dtype and layout of ``t``."""
    kind, place = dtype or t.dtype, device or t.device
    return _laid_out_like(t, lambda shape: randn(shape, generator=generator, dtype=kind, device=place), requires_grad)


@overridable
@pinnable
def randint_like(
    t: Tensor,
    low: Any = None,
    high: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random integers in [low, high), or below ``low`` without ``high``, in the shape, dtype and layout of ``t``."""
    low, high = (0, low) if high is None else (low or 0, high)
    low, high = (int(x.item() if isinstance(x, Tensor) else x) for x in (low, high))
    kind, place = dtype or t.dtype, device or t.device
    return _laid_out_like(
        t, lambda shape: randint(low, high, shape, generator=generator, dtype=kind, device=place), requires_grad
    )
