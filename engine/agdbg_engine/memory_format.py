"""Memory formats: whether a copy lies row by row or as the original does."""

from __future__ import annotations

from typing import Literal


class memory_format:
    """One of PyTorch's memory formats; only those that do not reorder dimensions have an effect here."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")


def order(wanted: memory_format | None) -> Literal["C", "K"]:
    """NumPy's name of the order of a copy: ``K`` as the original lies, ``C`` row by row."""
    return "C" if wanted is contiguous_format else "K"
