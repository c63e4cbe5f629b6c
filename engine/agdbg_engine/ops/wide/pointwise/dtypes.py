"""Questions about dtypes, in PyTorch's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dtype import category, get_default_dtype
from ....dtype import promote_types as promoted
from ....dtype import result_type as common
from ....tensor import Tensor
from ..declare import public


@public("torch")
def promote_types(type1: Any, type2: Any) -> np.dtype[Any]:
    """The common dtype of tensors of two dtypes."""
    _check_dtypes("promote_types", type1=type1, type2=type2)
    return promoted(np.dtype(type1), np.dtype(type2))


@public("torch")
def result_type(tensor1: Any, tensor2: Any) -> np.dtype[Any]:
    """The dtype of an arithmetic op of two tensors or numbers."""
    return common([_ranked(tensor1), _ranked(tensor2)])


def _ranked(x: Any) -> tuple[np.dtype[Any], int]:
    if isinstance(x, Tensor):
        return x.dtype, 2 if x.ndim else 1
    kinds = {bool: np.bool_, int: np.int64, complex: np.complex64}
    return np.dtype(kinds[type(x)]) if type(x) in kinds else get_default_dtype(), 0


@public("torch")
def can_cast(from_: Any, to: Any) -> bool:
    """Whether a result of dtype ``from_`` may be written into a tensor of dtype ``to``."""
    _check_dtypes("can_cast", from_=from_, to=to)
    return category(np.dtype(from_)) <= category(np.dtype(to))


def _check_dtypes(op: str, **given: Any) -> None:
    for i, (name, value) in enumerate(given.items()):
        if isinstance(value, str) or not isinstance(value, np.dtype | type):
            raise TypeError(
                f"{op}(): argument '{name}' (position {i + 1}) must be torch.dtype, not {type(value).__name__}"
            )
