"""Random numbers that depend on tensors: probabilities, means, rates, weights. Their gradients are zero, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import random
from ....device import CPU, array_module, on, resolved
from ....device_numbers import DeviceNumbers
from ....dtype import get_default_dtype, scalar_type
from ....errors import raise_if
from ....pinned_memory import pinnable
from ....several import at_home
from ....tensor import Tensor, wrap
from ...compare import no_gradient
from ...explain import broadcast_error, expand_error, shape_error
from ...kernel_names import no_kernel
from ...mixed_devices import refuse_apart
from ..declare import op, public
from ..indexing.reading import fetched, seen
from .random_ops import on_device, written

_ZERO: dict[str, Any] = {"self": "zeros_of(self_shape, g)", "jvp": "zeros_of(self_shape, self_t)"}


def _decided(x: Any, source: Any) -> Any:
    return _decided_by(x, x, source)


def _decided_by(x: Any, p: Any, source: Any) -> Any:
    return (source.random(x.shape) < p).astype(x.dtype)


def _counts(x: Any, source: Any) -> Any:
    if isinstance(source, DeviceNumbers):
        return source.poisson(x.astype(np.float64)).astype(x.dtype)
    return on_device(source.poisson(fetched(x).astype(np.float64)), x)


def _around(mean: Any, std: Any, source: Any) -> Any:
    like = mean if hasattr(mean, "dtype") else std
    shape = np.broadcast_shapes(getattr(mean, "shape", ()), getattr(std, "shape", ()))
    return (on_device(random.normal(source, shape, like.dtype), like) * std + mean).astype(like.dtype, copy=False)


BERNOULLI = op("bernoulli(self, source)", "BernoulliBackward0", **_ZERO, value=_decided)
BY_NUMBER = op("bernoulli_p(self, p, source)", "NotImplemented", value=_decided_by,
               self="not_implemented('derivative for aten::bernoulli is not implemented')")  # fmt: skip
OVER_NUMBER = op("bernoulli_drawn(self, p, source)", "BernoulliBackward2", **_ZERO, value=_decided_by)
OVER_TENSOR = op("bernoulli_drawn_by(self, p, source)", "BernoulliBackward1", **_ZERO, p="zeros_of(p_shape, g)",
                 value=_decided_by)  # fmt: skip
POISSON = op("poisson(self, source)", "PoissonBackward0", **_ZERO, value=_counts)
BY_MEAN = op("normal_mean(mean, std, source)", "NormalBackward1", mean="zeros_of(mean_shape, g)",
             jvp="zeros_of(mean_shape, mean_t)", value=_around)  # fmt: skip
BY_STD = op("normal_std(mean, std, source)", "NormalBackward2", std="zeros_of(std_shape, g)", jvp="zeros_of(std_shape, std_t)",
            value=_around)  # fmt: skip
BY_BOTH = op("normal_mean_std(mean, std, source)", "NormalBackward3", mean="zeros_of(mean_shape, g)",
             std="zeros_of(std_shape, g)", jvp="zeros_of(result_shape, result)", value=_around)  # fmt: skip


@at_home
def _check_probabilities(p: Tensor, own: bool = False) -> None:
    if p.dtype.kind != "f":
        raise no_kernel(f"bernoulli_tensor_cpu_{'self' if own and p.dtype.kind == 'c' else 'p'}_", p.dtype)
    if seen(~((p._a >= 0) & (p._a <= 1))):
        raise shape_error(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please "
            "report an enhancement request to PyTorch.)"
        )


def _check_probability(p: Any) -> None:
    if not 0 <= p <= 1:
        raise shape_error(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")


@public("torch Tensor", out=True)
def bernoulli(self: Tensor, p: Any = None, *, generator: Any = None) -> Tensor:
    """1 with the probability that ``self`` says, or ``p`` everywhere, else 0."""
    source = random.generator(generator, self._a)
    if p is None:
        _check_probabilities(self, own=True)
        out: Tensor = BERNOULLI(self, source)
        return out
    _check_probability(p)
    drawn: Tensor = BY_NUMBER(self, p, source)
    return drawn


@public("Tensor")
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """1 with probability ``p``, a number or a tensor that is broadcast, else 0, in place."""
    if not isinstance(p, Tensor):
        _check_probability(p)
        return written(self, "bernoulli_", OVER_NUMBER, p, generator=generator)
    raise_if(expand_error(p.dtype, p.shape, self.shape))
    _check_probabilities(p)
    return written(self, "bernoulli_", OVER_TENSOR, p, generator=generator)


@public("torch")
@at_home
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Poisson numbers with the rates ``input``."""
    if input.dtype.kind != "f":
        raise NotImplementedError(f"\"poisson_cpu\" not implemented for '{scalar_type(input.dtype)}'")
    if seen(~(input._a >= 0)):
        raise shape_error("invalid Poisson rate, expected rate to be non-negative")
    out: Tensor = POISSON(input, random.generator(generator, input._a))
    return out


@public("torch", out=True)
@pinnable
@at_home
def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers with ``mean`` and standard deviation ``std``: numbers with a ``size``, or tensors that are broadcast."""
    of_tensors = isinstance(mean, Tensor) or isinstance(std, Tensor)
    if of_tensors != (size is None):
        kinds = ", ".join(type(x).__name__ for x in (mean, std, size) if x is not None)
        raise TypeError(f"normal() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    lowest = std._a if isinstance(std, Tensor) else np.asarray(std)
    if isinstance(std, Tensor) and lowest.dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if lowest.dtype.kind != "c" and seen(~(lowest >= 0)):
        text = "all elements of std >= 0.0" if isinstance(std, Tensor) else f"std >= 0.0, but found std {std:g}"
        raise shape_error(f"normal expects {text}")
    if not of_tensors:
        kind = np.dtype(dtype or get_default_dtype())
        from ....creation import leaf, shape_of

        device = CPU if device is None else device  # a `with device(...)` says nothing here, as in PyTorch
        source = random.generator_on(resolved(device), generator)
        with on(resolved(device)):
            numbers = random.normal(source, shape_of("normal", (size,)), kind) * kind.type(std) + kind.type(mean)
        return leaf(numbers, device, requires_grad)
    if isinstance(mean, Tensor) and isinstance(std, Tensor):
        refuse_apart("normal", mean=mean, std=std)
        raise_if(broadcast_error([mean.shape, std.shape]))
        row = BY_BOTH
    else:
        row = BY_MEAN if isinstance(mean, Tensor) else BY_STD
    like = mean if isinstance(mean, Tensor) else std
    out: Tensor = row(mean, std, random.generator(generator, like._a))
    return out


@public("torch Tensor", out=True)
@at_home
def multinomial(self: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn with the weights of a vector or of every row, (num_samples,) or (rows, num_samples)."""
    no_gradient((self,))
    if self.ndim not in (1, 2):
        raise shape_error("prob_dist must be 1 or 2 dim")
    if self.dtype.kind != "f":
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {scalar_type(self.dtype)}")
    if num_samples <= 0:
        raise shape_error("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > self.shape[-1]:
        raise shape_error("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    weights = self._a.astype(np.float64)
    if seen(wrong := ~((weights >= 0) & (weights < np.inf))):
        if not replacement or num_samples == 1:
            raise shape_error("probability tensor contains either `inf`, `nan` or element < 0")
        entry = "< 0" if seen(wrong & ~(weights > 0)) else "= infinity or NaN"
        raise shape_error(f"invalid multinomial distribution (encountering probability entry {entry})")
    if seen(~(weights.sum(-1) > 0)):
        raise shape_error("invalid multinomial distribution (sum of probabilities <= 0)")
    source = random.generator(generator, weights)
    if replacement:
        return wrap(_with_replacement(weights, num_samples, source))
    waiting = source.standard_exponential(weights.shape) + np.finfo(np.float64).tiny
    order = np.argsort(-(weights / waiting), -1, kind="stable")  # who is first among exponential waiting times
    return wrap(order[..., :num_samples].copy())


def _with_replacement(weights: Any, n: int, source: Any) -> Any:
    """Places of uniform numbers among the sums of the weights, all rows in one search: every row has a stretch of 2."""
    rows = weights.reshape(-1, weights.shape[-1])
    sums = rows.cumsum(-1)
    xp = array_module(weights)
    number = xp.arange(len(rows))[:, None]
    ends = (sums / sums[:, -1:] + 2.0 * number).reshape(-1)
    drawn = xp.searchsorted(ends, source.random((len(rows), n)) + 2.0 * number, "right")
    drawn = drawn - number * rows.shape[1]
    drawn = np.where(drawn < rows.shape[1], drawn, rows.argmax(-1)[:, None])  # after rounding to the end
    return drawn.reshape(*weights.shape[:-1], n)
