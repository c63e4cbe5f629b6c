"""Losses."""

from . import classes, classification, ctc, elements, embedding, margins, reduction, regression

__all__ = ["classes", "classification", "ctc", "elements", "embedding", "margins", "reduction", "regression"]
