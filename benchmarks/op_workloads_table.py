"""Calls that ``benchmarks/ops.py`` times, made from the op table: every public function that takes one to three tensors.

A function gets a row where it, with the first operands of :data:`FORMS` that both libraries accept, gives a floating tensor of
the same shape with a history on both sides; what needs other arguments is written out in the other files.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from op_workloads import BATCHES, IMAGES, SQUARE, VECTORS, Case

from agdbg_engine.ops.wide.declare import PUBLIC

Sizes = tuple[tuple[tuple[int, ...], ...], ...]

CUBES: Sizes = (((2, 3, 3),), ((8, 16, 16),), ((32, 32, 32),))
FORMS: tuple[tuple[Sizes, int, tuple[Any, ...]], ...] = (
    (VECTORS, 1, ()), (VECTORS, 2, ()), (VECTORS, 3, ()), (VECTORS, 1, (2,)), (BATCHES, 1, (1,)), (BATCHES, 1, (0, 1)),
    (SQUARE, 1, ()), (SQUARE, 2, ()), (SQUARE, 3, ()), (CUBES, 1, ()), (CUBES, 2, ()), (CUBES, 3, ()), (IMAGES, 1, ()),
    (IMAGES, 1, (2,)), (BATCHES, 1, ((1, -1),)),
)  # fmt: skip
"""Operands in the order in which they are tried: shapes by size, how many tensors of them, and what follows them."""

MOST = 16
"""How many times larger than an operand a result may be."""

SPACES = {"torch": "", "special": "special", "nn.functional": "nn.functional", "linalg": "linalg", "fft": "fft"}
"""Where functions are looked for, and what their rows are called after."""

LEFT_OUT = frozenset(
    [
        "save",
        "load",
        "set_num_threads",
        "einsum",
        "dropout",
        "alpha_dropout",
        "feature_alpha_dropout",
        "feature_dropout",
        "dropout1d",
        "dropout2d",
        "dropout3d",
        "rrelu",
        "bernoulli",
        "normal",
        "poisson",
        "multinomial",
        "gumbel_softmax",
        "fractional_max_pool2d",
        "fractional_max_pool3d",
        "empty_like",
        "empty_permuted",
        "rand_like",
        "randn_like",
        "randint_like",
        "dropout_",
        "native_dropout",
    ]
)
"""What draws numbers, which the two libraries do differently, or gives what nothing has been written to."""


def function(lib: Any, space: str, name: str) -> Any:
    """The function of a library; ``None`` where it has none."""
    for part in [p for p in space.split(".") if p] + [name]:
        lib = getattr(lib, part, None)
    return lib


def cases(torch: Any, agdbg: Any, known: set[str]) -> Iterator[Case]:
    """A case for each function whose name is not ``known``."""
    seen = set(known)
    for namespace, space in SPACES.items():
        for name in sorted(PUBLIC[namespace]):
            if name in seen or name.endswith("_") or name.startswith("_") or name in LEFT_OUT:
                continue
            found = fitting(torch, agdbg, space, name)
            if found is not None:
                seen.add(name)
                yield found


def fitting(torch: Any, agdbg: Any, space: str, name: str) -> Case | None:
    """The case of one function, with the first operands that fit."""
    functions = [function(lib, space, name) for lib in (agdbg, torch)]
    if None in functions or inspect.isclass(functions[0]):
        return None
    for sizes, count, rest in FORMS:
        for positive in (True, False):
            try:
                shapes = [
                    tuple(result(lib, f, sizes[at], count, rest, positive) for at in (0, 1))
                    for lib, f in zip((agdbg, torch), functions, strict=True)
                ]
            except Exception:  # of whatever kind: the function does not take these arguments
                continue
            if None not in shapes[0] and shapes[0] == shapes[1]:
                label = f"{space.replace('nn.functional', 'F')}.{name}" if space else name
                call = lambda lib, F, *x, n=name, s=space, r=rest: first(lib, function(lib, s, n)(*x, *r))  # noqa: E731 - it binds what the loop has now
                return Case(label, call, tuple((s[0],) * count for s in sizes), positive)
    return None


def first(lib: Any, out: Any) -> Any:
    """The first result, as real numbers."""
    out = out[0] if isinstance(out, tuple | list) else out
    return lib.view_as_real(out) if out.is_complex() else out


def result(lib: Any, f: Any, shapes: Any, count: int, rest: Any, positive: bool) -> tuple[int, ...] | None:
    """The shape of what ``f`` gives; ``None`` without a history, and where it is much larger than the operands."""
    rng = np.random.default_rng(0)
    made = (rng.random(shapes[0]) * 0.8 + 0.1 if positive else rng.standard_normal(shapes[0]) for _ in range(count))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = first(lib, f(*[lib.from_numpy(x.astype(np.float32)).requires_grad_() for x in made], *rest))
        if out.grad_fn is None or not 0 < out.numel() <= MOST * math.prod(shapes[0]):
            return None
        out.sum().backward()
    return tuple(out.shape)
