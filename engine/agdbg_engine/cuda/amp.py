"""Mixed precision under its older names: as :mod:`agdbg_engine.amp`, off."""

from __future__ import annotations

import warnings
from typing import Any

from .. import amp
from ..missing import public_names
from ..sites import user_stacklevel

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

__getattr__ = public_names(__name__)


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cuda', args...)` instead.",
        FutureWarning,
        stacklevel=user_stacklevel(),
    )


class autocast(amp.autocast):
    """:class:`agdbg_engine.amp.autocast` for a GPU."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        _deprecated("autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)

    def clone(self) -> autocast:
        """A context like this one, for a call of a decorated function: the warning has been given."""
        made = autocast.__new__(autocast)
        amp.autocast.__init__(made, *self._made_with)
        return made


class GradScaler(amp.GradScaler):
    """:class:`agdbg_engine.amp.GradScaler` for a GPU."""

    def __init__(self, *options: Any, enabled: bool = True, **named: Any) -> None:
        _deprecated("GradScaler")
        super().__init__("cuda", *options, enabled=enabled, **named)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """:func:`agdbg_engine.amp.custom_fwd` for a GPU."""
    _deprecated("custom_fwd")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """:func:`agdbg_engine.amp.custom_bwd` for a GPU."""
    _deprecated("custom_bwd")
    return amp.custom_bwd(bwd, device_type="cuda")
