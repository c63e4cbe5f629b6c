"""Poisson numbers drawn on a device: every element has uniform numbers of its own, as many as it needs, in one kernel.

Rates below 10 by looking through the distribution (one uniform number), others by transformed rejection (Hormann 1993, "The
transformed rejection method for generating Poisson random variables": the method of NumPy and PyTorch too).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .backends import scipy_for
from .device_numbers import _ALL, _MIX, _SCRAMBLE, GAMMA, hashed, scrambled
from .fused import fused

_TERMS, _TRIES = 100, 64
"""So far the distribution is looked through, and so often a number is tried: more is as good as never needed."""

_BODY = f"""
    {_MIX}
    unsigned long long state = z;
    auto draw = [&]() {{ state += {GAMMA:#x}ULL; z = state; {_SCRAMBLE} return (double)(z >> 11) * 1.1102230246251565e-16; }};
    if (!(rate >= 10)) {{
        const double u = draw();
        double p = exp(-rate), s = p;
        int k = 0;
        while (u > s && k < {_TERMS}) {{ k++; p *= rate / k; s += p; }}
        out = rate >= 0 ? (double)k : rate;
    }} else {{
        const double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
        const double scale = log(1.1239 + 1.1328 / (b - 3.4)), quick = 0.9277 - 3.6224 / (b - 2), slope = log(rate);
        out = floor(rate);
        for (int i = 0; i < {_TRIES}; i++) {{
            const double u = draw() - 0.5, v = draw(), us = 0.5 - fabs(u);
            const double k = floor((2 * a / us + b) * u + rate + 0.43);
            if (us >= 0.07 && v <= quick) {{ out = k; break; }}
            if (k < 0 || (us < 0.013 && v > us)) continue;
            if (log(v) + scale - log(a / (us * us) + b) <= -rate + k * slope - lgamma(k + 1)) {{ out = k; break; }}
        }}
    }}
"""


@fused("float64 rate, uint64 n, uint64 seed", "float64 out", _BODY)
def poisson_of(rate: Any, n: Any, seed: Any) -> Any:
    """A Poisson number for each ``rate`` and counter ``n``; NaN for NaN."""
    state = hashed(n, seed)
    few = np.where(rate >= 0, _looked_through(np.minimum(rate, 10.0), _uniform(state, 1)), rate)
    return np.where(rate >= 10, _by_rejection(np.maximum(rate, 10.0), state), few)


def _uniform(state: Any, i: int) -> Any:
    """The ``i``-th number of every element."""
    found = scrambled(state + np.uint64(i * GAMMA & _ALL))
    return (found >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _looked_through(rate: Any, u: Any) -> Any:
    p = np.exp(-rate)
    s, k = p, np.zeros_like(rate)
    for i in range(1, _TERMS + 1):
        k = k + (u > s)
        p = p * (rate / i)
        s = s + p
    return k


def _by_rejection(rate: Any, state: Any) -> Any:
    b = 0.931 + 2.53 * np.sqrt(rate)
    a = -0.059 + 0.02483 * b
    scale, quick, slope = np.log(1.1239 + 1.1328 / (b - 3.4)), 0.9277 - 3.6224 / (b - 2), np.log(rate)
    gammaln = scipy_for(rate, "special").gammaln
    out, waiting = np.floor(rate), rate == rate
    for i in range(_TRIES):
        u, v = _uniform(state, 2 * i + 1) - 0.5, _uniform(state, 2 * i + 2)
        us = 0.5 - abs(u)
        k = np.floor((2 * a / us + b) * u + rate + 0.43)
        soon = (us >= 0.07) & (v <= quick)
        late = ~((k < 0) | ((us < 0.013) & (v > us)))
        late = late & (
            np.log(v) + scale - np.log(a / (us * us) + b) <= -rate + k * slope - gammaln(np.maximum(k, 0) + 1)
        )
        taken = waiting & (soon | late)
        out, waiting = np.where(taken, k, out), waiting & ~taken
    return out
