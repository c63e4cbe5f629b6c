"""How tensors print: what ``set_printoptions`` sets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any


@dataclass
class Options:
    """Digits behind the point, elements from which on a tensor is abbreviated, shown at each edge then, width of a line."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None
    """Whether to write exponents; where that is needed with ``None``."""


OPTIONS = Options()
_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set those of the :class:`Options` that are given, after those of a profile: ``default``, ``short`` or ``full``.

    ``sci_mode`` is set in every call, as in PyTorch.
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    wanted = {**_PROFILES.get(profile or "", {}), **{name: v for name, v in given.items() if v is not None}}
    for name, value in {**wanted, "sci_mode": sci_mode}.items():
        setattr(OPTIONS, name, value)


def get_printoptions() -> dict[str, Any]:
    """The options as arguments of :func:`set_printoptions`."""
    return asdict(OPTIONS)


@contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Options of :func:`set_printoptions` that hold inside only."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)
