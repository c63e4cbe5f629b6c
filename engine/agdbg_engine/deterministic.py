"""``use_deterministic_algorithms``: everything on the CPU is deterministic here, so that the switch only remembers its state."""

from __future__ import annotations

_on = False
_warn_only = False


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for results that are the same in every run, which those of the CPU are anyway."""
    global _on, _warn_only
    if not isinstance(mode, bool):
        raise TypeError(
            f"_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not {type(mode).__name__}"
        )
    _on, _warn_only = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Whether :func:`use_deterministic_algorithms` was asked for."""
    return _on


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether that was with ``warn_only``."""
    return _on and _warn_only
