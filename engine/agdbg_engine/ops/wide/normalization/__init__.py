"""Normalisation: by layer, batch, group, instance, root mean square and length."""

from . import batch, functions, layer, moments

__all__ = ["batch", "functions", "layer", "moments"]
