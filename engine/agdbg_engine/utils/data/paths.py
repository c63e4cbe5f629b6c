"""PyTorch's names of the files in ``utils.data``, from which scripts import: ``utils.data.sampler``, ``utils.data.dataset``."""

from __future__ import annotations

import sys
from types import ModuleType

from . import collate, datasets, loader, samplers

_FILES = {
    "dataloader": (loader, collate, datasets, samplers),
    "dataset": (datasets,),
    "sampler": (samplers,),
    "_utils.collate": (collate,),
    "_utils.worker": (loader,),
}
"""By file the modules here whose classes and functions it has (and more than in PyTorch)."""


def register(package: str) -> None:
    """Make every file importable below ``package``, and an attribute of it."""
    for path, parts in {"_utils": (), **_FILES}.items():
        made = ModuleType(f"{package}.{path}", f"PyTorch's place of names: ``utils.data.{path}``.")
        for part in parts:
            own = {n: v for n, v in vars(part).items() if getattr(v, "__module__", "") == part.__name__ and n[0] != "_"}
            vars(made).update(own)
        sys.modules[made.__name__] = made
        above, _, name = made.__name__.rpartition(".")
        setattr(sys.modules[above], name, made)
