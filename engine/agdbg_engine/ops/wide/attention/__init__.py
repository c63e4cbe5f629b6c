"""Attention: scaled dot products, and heads with projections around them."""

from . import dot_product, heads

__all__ = ["dot_product", "heads"]
