"""Tensors overwritten with random numbers (``x.normal_()`` and its like): recorded, with a gradient of zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import events, random
from ....backends import on_host
from ....dtype import cpp_type, scalar_type
from ....inside import check_write as check_captured
from ....tensor import Tensor
from ...explain import check_exponential, shape_error
from ...inplace import inplace
from ..declare import op, public


def on_device(numbers: Any, like: Any) -> Any:
    """What was drawn for ``like``, in its dtype."""
    return np.asarray(numbers, like.dtype) if on_host(like) else numbers.astype(like.dtype, copy=False)


def _normal(x: Any, mean: Any, std: Any, source: Any) -> Any:
    return on_device(random.normal(source, x.shape, x.dtype), x) * x.dtype.type(std) + x.dtype.type(mean)


def _uniform(x: Any, low: Any, high: Any, source: Any) -> Any:
    part = np.dtype(f"f{x.itemsize // 2}") if x.dtype.kind == "c" else x.dtype
    whole = 1 + 1j if x.dtype.kind == "c" else 1
    return on_device(random.uniform(source, x.shape, x.dtype), x) * part.type(high - low) + x.dtype.type(low * whole)


def _exponential(x: Any, rate: Any, source: Any) -> Any:
    return on_device(source.standard_exponential(x.shape) / rate, x)


def _cauchy(x: Any, median: Any, sigma: Any, source: Any) -> Any:
    return on_device(source.standard_cauchy(x.shape) * sigma + median, x)


def _log_normal(x: Any, mean: Any, std: Any, source: Any) -> Any:
    return on_device(source.lognormal(mean, std, x.shape), x)


def _geometric(x: Any, p: Any, source: Any) -> Any:
    return on_device(source.geometric(p, x.shape), x)


def _integers(x: Any, low: Any, high: Any, source: Any) -> Any:
    return on_device(random.integers(source, low, high, x.shape, x.dtype), x)


def _row(signature: str, node: str, value: Any) -> Any:
    return op(signature, node, self="zeros_of(self_shape, g)", jvp="zeros_of(self_shape, self_t)", value=value)


NORMAL = _row("normal_drawn(self, mean, std, source)", "NormalBackward0", _normal)
UNIFORM = _row("uniform_drawn(self, low, high, source)", "UniformBackward0", _uniform)
EXPONENTIAL = _row("exponential_drawn(self, rate, source)", "ExponentialBackward0", _exponential)
CAUCHY = _row("cauchy_drawn(self, median, sigma, source)", "CauchyBackward0", _cauchy)
LOG_NORMAL = _row("log_normal_drawn(self, mean, std, source)", "LogNormalBackward0", _log_normal)
GEOMETRIC = _row("geometric_drawn(self, p, source)", "GeometricBackward0", _geometric)
RANDOM = [_row(f"random_drawn_{i}(self, low, high, source)", f"RandomBackward{i}", _integers) for i in range(3)]


def written(self: Tensor, name: str, row: Any, *args: Any, generator: Any) -> Tensor:
    """``self`` overwritten in place with what ``row`` draws."""
    return inplace(self, name, row, (*args, random.generator(generator, self._a)))


def _floating(name: str, x: Tensor, kinds: str = "fc") -> None:
    if x.dtype.kind not in kinds:
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_type(x.dtype)}'")


def _shown(number: Any) -> str:
    return f"{number:g}"


@public("Tensor")
def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Normal numbers with ``mean`` and standard deviation ``std``, in place."""
    if std < 0:
        raise shape_error(f"normal expects std >= 0.0, but found std {_shown(std)}")
    _floating("normal_kernel_cpu", self)
    return written(self, "normal_", NORMAL, mean, std, generator=generator)


@public("Tensor")
def uniform_(self: Tensor, *limits: float, generator: Any = None, **named: float) -> Tensor:
    """Uniform numbers between ``from`` (0) and ``to`` (1), in place."""
    low, high = _limits("uniform_", limits, named, (0, 1))
    _floating("check_uniform_bounds", self)
    most = float(np.finfo(self.dtype).max) if self.dtype.kind == "f" else np.inf
    for name, value in (("from", low), ("to", high)):
        if not -most <= value <= most:
            raise shape_error(f"{name} is out of bounds for {cpp_type(self.dtype)}")
    if low > high:
        raise shape_error(
            f"uniform_ expects to return a [from, to) range, but found from={_shown(low)} > to={_shown(high)}"
        )
    return written(self, "uniform_", UNIFORM, low, high, generator=generator)


def _limits(op: str, given: tuple[Any, ...], named: dict[str, Any], default: tuple[Any, Any]) -> tuple[Any, Any]:
    """Arguments ``from`` and ``to``, which are no names in Python."""
    found = dict(zip(("from", "to"), given, strict=False))
    for name, value in named.items():
        if name not in ("from", "to") or name in found:
            raise TypeError(f"{op}() got an unexpected keyword argument '{name}'")
        found[name] = value
    if len(given) > 2:
        raise TypeError(f"{op}() takes 2 positional arguments but {len(given)} were given")
    return found.get("from", default[0]), found.get("to", default[1])


@public("Tensor")
def exponential_(self: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Exponential numbers with the rate ``lambd``, in place."""
    check_exponential(self.dtype)
    _positive("exponential_", "lambda", lambd)
    return written(self, "exponential_", EXPONENTIAL, lambd, generator=generator)


def _positive(op: str, name: str, value: Any) -> None:
    if not value > 0:
        raise shape_error(f"{op} expects {name} > 0.0, but found {name}={_shown(value)}")


@public("Tensor")
def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Tensor:
    """Cauchy numbers around ``median`` with the scale ``sigma``, in place."""
    _positive("cauchy_", "sigma", sigma)
    if self.dtype.kind != "f":
        kind = cpp_type(self.dtype)
        raise shape_error(
            f"Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified {kind}"
        )
    return written(self, "cauchy_", CAUCHY, median, sigma, generator=generator)


@public("Tensor")
def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: Any = None) -> Tensor:
    """Numbers whose logarithms are normal with ``mean`` and standard deviation ``std``, in place."""
    _positive("log_normal_", "std", std)
    _floating("log_normal_cpu", self, "f")
    return written(self, "log_normal_", LOG_NORMAL, mean, std, generator=generator)


@public("Tensor")
def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """How many attempts it takes to the first success, each of probability ``p``, in place."""
    if not 0 < p < 1:
        raise shape_error(f"geometric_ expects p to be in (0, 1), but got p={_shown(p)}")
    _floating("geometric_cpu", self, "iuf")
    return written(self, "geometric_", GEOMETRIC, p, generator=generator)


@public("Tensor")
def random_(self: Tensor, *limits: int, generator: Any = None, **named: Any) -> Tensor:
    """Integers in [``from``, ``to``), in place; with one number below that.

    Without ``to`` all that the dtype holds exactly: up to 2**24 in float32, the largest number of an integer dtype.
    """
    if events.special & events.TRANSFORM:
        check_captured(self, "random_", (*limits, *named.values()))
    if len(limits) == 1 and not named:
        limits, form = (0, *limits), 1
    else:
        form = 0 if limits or "from" in named else 1 if named else 2
    low, high = _limits("random_", limits, named, (0, None))
    _floating("random_kernel_cpu", self, "biuf")
    if high is None:
        high = _above(self.dtype)
    elif low >= high:
        raise shape_error(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return written(self, "random_", RANDOM[form], int(low), int(high), generator=generator)


def _above(dtype: Any) -> int:
    """One more than the largest integer that ``random_`` draws."""
    if dtype.kind == "b":
        return 2
    if dtype.kind in "iu":
        return min(int(np.iinfo(dtype).max) + 1, 2**63)
    return 2 ** (int(np.finfo(dtype).nmant) + 1) + 1
