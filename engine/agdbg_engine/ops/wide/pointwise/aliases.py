"""PyTorch's other names for functions: by namespace what they stand for."""

from __future__ import annotations

from typing import Any

from ... import _generated as g
from ... import compare, elementwise, reduce
from ..declare import public

_OF_ARITHMETIC: dict[str, Any] = {
    "absolute": g.abs, "negative": g.neg, "multiply": elementwise.mul, "subtract": elementwise.sub,
    "divide": elementwise.div, "fix": g.trunc, "clip": elementwise.clamp,
}  # fmt: skip
_OF_COMPARISONS = {"greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne"}
for _name, _function in _OF_ARITHMETIC.items():
    public(f"torch.{_name} Tensor.{_name}", out=True, inplace=True)(_function)
for _name, _short in _OF_COMPARISONS.items():
    public("torch Tensor", out=True)(compare.named(_name, compare.OPERATORS[_short]))

IN_PLACE_FUNCTIONS = [
    "abs", "acos", "acosh", "addmv", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "as_strided",
    "asin", "asinh", "atan", "atanh", "ceil", "clamp", "clamp_max", "clamp_min", "clip", "conj_physical", "cos", "cosh",
    "deg2rad", "erf", "erfc", "exp", "exp2", "expm1", "fill", "fix", "floor", "frac", "gcd", "i0", "index_put", "lcm",
    "ldexp", "log", "log10", "log1p", "log2", "logit", "nan_to_num", "neg", "negative", "rad2deg", "reciprocal",
    "round", "rsqrt", "sigmoid", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc", "xlogy", "zero",
]  # fmt: skip
"""In-place methods that are functions as well: ``torch.exp_(x)``."""


@public("torch Tensor", out=True, inplace=True)
def true_divide(self: Any, other: Any) -> Any:
    """``self / other``; integers in the default dtype."""
    return elementwise.div(self, other)


public("special.expit", out=True)(g.sigmoid)
public("special", out=True)(g.expm1)
public("special", out=True)(g.log1p)
public("special", out=True)(elementwise.round)
public("special", out=True)(reduce.logsumexp)


@public("special")
def softmax(self: Any, dim: int, dtype: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along ``dim``."""
    return reduce.softmax(self, dim, dtype)


@public("special")
def log_softmax(self: Any, dim: int, *, dtype: Any = None) -> Any:
    """x - log(sum(exp(x))) along ``dim``."""
    return reduce.log_softmax(self, dim, dtype)
