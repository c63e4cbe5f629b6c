"""Losses."""

from . import (
    classes,
    classification,
    ctc,
    elements,
    embedding,
    linear_cross_entropy,
    margins,
    reduction,
    regression,
    top,
)

__all__ = [
    "classes",
    "classification",
    "ctc",
    "elements",
    "embedding",
    "linear_cross_entropy",
    "margins",
    "reduction",
    "regression",
    "top",
]
