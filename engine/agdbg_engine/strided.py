"""The layout of tensors; there is only one."""

from __future__ import annotations


class Strided:
    """The layout of tensors whose elements lie in memory by strides."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "torch.strided"

    def __reduce__(self) -> str:
        return "strided"


strided = Strided()
