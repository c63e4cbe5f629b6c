"""Mixed precision (``torch.amp``): off, since there is no op here that runs in another dtype than that of its inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .grad_mode import _Decorator
from .missing import public_names

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

__getattr__ = public_names(__name__)


class autocast(_Decorator):
    """A context or decorator that does nothing with ``enabled=False``, and is a :class:`NotImplementedError` otherwise."""

    def __init__(
        self, device_type: str = "cpu", dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if enabled:
            raise NotImplementedError(
                "autocast is not supported: ops run in the dtype of their inputs. Write autocast(..., enabled=False), or cast with "
                "half()"
            )
        self._made_with = (device_type, dtype, enabled, cache_enabled)
        self.device, self.fast_dtype = device_type, np.dtype(dtype or np.float16)

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def clone(self) -> autocast:
        """A context like this one, for a call of a decorated function."""
        return type(self)(*self._made_with)


def is_autocast_available(device_type: str) -> bool:
    """Whether :class:`autocast` can be switched on for a kind of device: never."""
    return False


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """A decorator of ``forward`` of a custom Function, which stays as it is: nothing is cast where autocast is off."""
    return _as_it_is(fwd, device_type)


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """A decorator of ``backward``, as :func:`custom_fwd`."""
    return _as_it_is(bwd, device_type)


def _as_it_is(function: Any, device_type: Any) -> Any:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    return (lambda function: function) if function is None else function


class GradScaler:
    """Scales nothing with ``enabled=False``, and is a :class:`NotImplementedError` otherwise, as is :class:`autocast`."""

    def __init__(self, device: str = "cuda", *_: Any, enabled: bool = True, **options: Any) -> None:
        if enabled:
            raise NotImplementedError(
                "GradScaler is not supported, as autocast is not: write GradScaler(enabled=False)"
            )

    def scale(self, outputs: Any) -> Any:
        """``outputs`` as they are."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Nothing: no gradient is scaled."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step``."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Nothing: there is no scale."""

    def get_scale(self) -> float:
        """1."""
        return 1.0

    def is_enabled(self) -> bool:
        """Never."""
        return False

    def state_dict(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Nothing to load."""
