"""Parametrizations of weights: by length and direction, by their largest singular value, and as orthogonal matrices."""

from __future__ import annotations

from typing import Any

from ... import ops
from ...grad_mode import no_grad
from ...missing import public_names
from ...random import randn
from ...tensor import Tensor
from ..convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..module import Module
from .orthogonal import orthogonal
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

__getattr__ = public_names(__name__)


class _WeightNorm(Module):
    """Lengths ``weight_g`` along all dimensions but one, and directions ``weight_v``."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def _lengths(self, v: Any) -> Any:
        if self.dim == -1:
            return (v * v).sum().sqrt()
        others = [d for d in range(v.ndim) if d != self.dim % v.ndim]
        return (v * v).sum(dim=others, keepdim=True).sqrt() if others else v.abs()

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_v * (weight_g / self._lengths(weight_v))

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        """Lengths and directions of ``weight``."""
        return self._lengths(weight), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Let a weight be made of its lengths, along all dimensions but ``dim``, and its directions (Salimans and Kingma, 2016)."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def from_old_names(state_dict: Any, prefix: str, *_: Any) -> None:
        old = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(from_old_names)
    return module


class _SpectralNorm(Module):
    """A weight over its largest singular value, which is followed by power iteration while training."""

    _u: Any
    _v: Any

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        n = weight.ndim
        if not -n <= dim < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{n}, {n - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim % n, eps
        if n > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight)
            for name, size in zip(("_u", "_v"), matrix.shape, strict=True):
                self.register_buffer(name, self._unit(randn(size, dtype=weight.dtype, device=weight.device)))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Any) -> Any:
        order = [self.dim, *(d for d in range(weight.ndim) if d != self.dim)]
        return weight.permute(*order).flatten(1)

    def _unit(self, x: Any, out: Any = None) -> Any:
        return ops.FUNCTIONS["div"](
            x, (x * x).sum().sqrt().clamp(min=self.eps), **({} if out is None else {"out": out})
        )

    @no_grad()
    def _iterate(self, matrix: Any, times: int) -> None:
        for _ in range(times):
            self._unit(matrix.detach().mv(self._v), out=self._u)
            self._unit(matrix.detach().t().mv(self._u), out=self._v)

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return self._unit(weight)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        return weight / self._u.clone().dot(matrix.mv(self._v.clone()))

    def right_inverse(self, value: Any) -> Any:
        """``value`` itself, as if its largest singular value were 1."""
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Let a weight be divided by its largest singular value (Miyato et al., 2018)."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d) else 0
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
