"""Activation functions."""

from . import exponential, functions, pieces, smooth

__all__ = ["exponential", "functions", "pieces", "smooth"]
